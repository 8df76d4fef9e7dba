"""Memory of a device: weights, gradients, optimizer states, activations."""

import sympy as sp

from symscale.costs.cost import Cost, cost, total
from symscale.costs.memory import Memory, Recipe
from symscale.costs.transformer.assembly import Assembly
from symscale.costs.transformer.component import ONE, Component, Role
from symscale.costs.transformer.plan import Plan
from symscale.costs.transformer.stages import heaviest_stage
from symscale.errors import FormulaError
from symscale.language.symbols import symbol

ZERO = sp.Integer(0)


def live_microbatches(plan: Plan[sp.Expr]) -> sp.Expr:
    """Microbatches whose activations the first stage holds at once, in stages' worth.

    1F1B starts N_PP of them before the first is over. Interleaving holds
    1 + (N_PP - 1)/(N_PP v) times as much; a zero-bubble schedule 2 N_PP - 1. Never more
    than m; where a count is a symbol, m is taken to be enough.

    Example:
        >>> live_microbatches(Plan(N_PP=sp.Integer(8), m=sp.Integer(64),
        ...     v=sp.Integer(2)))
        23/2
    """
    p, v = plan.N_PP, plan.v
    if plan.schedule == "zero-bubble":
        live = 2 * p - 1
    elif v == 1 or p == 1:
        live = p
    else:
        live = p + (p - 1) / v
    if live.is_Rational and plan.m.is_Rational:
        return sp.Min(live, plan.m)
    return live


def kept_bytes_of_block(component: Component, plan: Plan[sp.Expr]) -> sp.Expr:
    """Bytes that a device keeps of one block of a component, for one microbatch.

    Recomputation and fused kernels keep less; see `block_activation_bytes`.
    """
    without_core = plan.fused_attention or plan.recompute != "none"
    kept = [k for k in component.kept if not (k.core and without_core)]
    parts = plan.token_degree * plan.m
    return sp.Add(*(k.words * k.bytes_each / (parts * k.split) for k in kept))


def block_activation_bytes(model: Assembly, stack: int = 0) -> Cost:
    """Bytes that a device keeps of one block of a stack, for one microbatch.

    With full recomputation that is the block's input alone.
    """
    plan = model.plan
    if plan.recompute == "full":
        return _block_input(model)
    parts = model.of_stack(model.architecture.stacks[stack])
    return cost(sp.Add(*(kept_bytes_of_block(c, plan) for c in parts)), "byte")


def _block_input(model: Assembly) -> Cost:
    plan = model.plan
    words = model.tokens * model.architecture.d_model / (plan.token_degree * plan.m)
    return cost(words * symbol("w") / plan.kept_split, "byte")


def fullest_device(model: Assembly, recipe: Recipe) -> Memory:
    """Return the memory of the device that needs most.

    The first stage holds the embedding and most activations, the last stage the
    logits. Where sizes are symbols, the blocks alone are counted with the first
    stage's activations, and the embedding with them.
    """
    first = _memory(model, recipe, first=True)
    if model.plan.N_PP == 1:
        return first
    last = _memory(model, recipe, first=False)
    sizes = first.total.expr, last.total.expr
    if all(size.is_Rational for size in sizes) and sizes[1] > sizes[0]:
        return last
    return first


def _memory(model: Assembly, recipe: Recipe, *, first: bool) -> Memory:
    plan, counts = model.plan, heaviest_stage(model)
    only = plan.N_PP == 1
    replicas, expert_replicas = plan.token_degree, plan.token_degree / plan.N_EP
    held: list[tuple[sp.Expr, sp.Expr]] = []
    for stack, blocks in zip(model.architecture.stacks, counts, strict=True):
        for c in model.of_stack(stack):
            degree = expert_replicas if c.role is Role.EXPERTS else replicas
            held.append((c.parameters_per_device * blocks, degree))
    kept = ZERO
    for c in _ends(model, first, only):
        once = c.tied and only  # a tied table lies on a device once
        held.append((c.vectors_per_device if once else c.parameters_per_device, replicas))
        kept += kept_bytes_of_block(c, plan)
    live = live_microbatches(plan) if first else ONE
    kept *= live
    recomputed = ZERO
    for i, blocks in enumerate(counts):
        kept += block_activation_bytes(model, i).expr * blocks * live
        if plan.recompute == "full":
            parts = model.of_stack(model.architecture.stacks[i])
            working = sp.Add(*(sp.Add(*_working(c, plan)) for c in parts))
            recomputed = working if recomputed == 0 else sp.Max(recomputed, working)

    def sharded(bytes_each: int, from_stage: int) -> Cost:
        return total(
            [
                cost(count * bytes_each / (degree if plan.zero >= from_stage else ONE), "byte")
                for count, degree in held
            ],
            "byte",
        )

    return Memory(
        sharded(recipe.weights, 3), sharded(recipe.gradients, 2), sharded(recipe.optimizer, 1),
        cost(kept, "byte"), cost(recomputed, "byte"),
        "only" if only else "first" if first else "last",
    )


def _working(component: Component, plan: Plan[sp.Expr]) -> list[sp.Expr]:
    parts = plan.token_degree * plan.m
    kept = [k for k in component.kept if not (k.core and plan.fused_attention)]
    return [k.words * k.bytes_each / (parts * k.split) for k in kept]


def _ends(model: Assembly, first: bool, only: bool) -> list[Component]:
    """The components outside the blocks that a stage has."""
    place = "first stage" if first else "last stage"
    ends = [c for c in model.components if not c.layered]
    return [c for c in ends if only or c.role.place == place]


def block_memory(model: Assembly, recipe: Recipe, stack: int = 0) -> Cost:
    """Bytes of a device that holds one block and one microbatch in flight.

    The least that tensor parallelism must make fit, however deep the pipeline is.

    Args:
        model: The model with its plan.
        recipe: Bytes of a parameter.
        stack: Which stack the block is of.
    """
    parts = model.of_stack(model.architecture.stacks[stack])
    held = sp.Add(*(c.parameters_per_device for c in parts))
    kept = block_activation_bytes(model, stack)
    return cost(held * recipe.bytes, "byte") + kept


def split_by_tensor_degree(amount: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return A and B of an amount A/N_TP + B.

    If A/N_TP + B is to be at most M_cap, N_TP must be at least A/(M_cap - B), with B < M_cap.

    Example:
        >>> N_TP, L = symbol("N_TP"), symbol("L")
        >>> split_by_tensor_degree(3 * L / N_TP + 2)
        (3*L, 2)
    """
    degree = symbol("N_TP")
    expanded = sp.expand(amount)
    split = expanded.coeff(degree, -1)
    rest = sp.expand(expanded - split / degree)
    if rest.has(degree) or split.has(degree):
        raise FormulaError(f"{amount} is not of the form A/N_TP + B")
    return split, rest
