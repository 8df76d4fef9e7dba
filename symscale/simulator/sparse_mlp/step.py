r"""A step of training: its products, its traffic, its bubbles; and its memory.

Every quantity is an expression in the notation. `parts` gives them one by one, and
`step_time` puts them together; `complete_step_time` is all of it in one expression.

Example:
    >>> step_time(Schedule()).expr
    l_DP + l_PP + l_TP + t_DP + Max(t_mm, t_PP + t_TP)/(1 - f_idle)
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from symscale.costs.contraction import Contraction
from symscale.costs.cost import Cost, cost, total
from symscale.costs.pipeline import bubble_fraction
from symscale.costs.sparse_mlp.model import SparseMLP, sparse_mlp
from symscale.language.symbols import notation, symbol, symbols
from symscale.simulator.extremes import greatest
from symscale.simulator.sparse_mlp import network
from symscale.simulator.sparse_mlp.device import (
    STREAMS,
    TiledProduct,
    least_product_time,
    product_time,
    streams,
)


@dataclass(frozen=True)
class Schedule:
    """What overlaps in a step, and how its pipeline runs.

    Attributes:
        overlap_tensor: Whether tensor-parallel traffic hides behind arithmetic.
        overlap_transfers: Whether transfers between blocks do.
        overlap_data: Whether the gradient reduction hides behind all the rest.
        zero_bubble: Whether the pipeline has no bubble: v = 1 and m >= 2 N_PP.
        recompute: Whether activations are computed again in the backward pass.
        as_published: Whether latency is left out with `zero_bubble`, as the published
            program does, by a statement that comes too late to act.
    """

    overlap_tensor: bool = True
    overlap_transfers: bool = True
    overlap_data: bool = False
    zero_bubble: bool = False
    recompute: bool = False
    as_published: bool = False


OVERLAPPED = Schedule()
"""What the published curves assume: all hides behind arithmetic but the gradient reduction."""


def block_products(model: SparseMLP) -> tuple[TiledProduct, ...]:
    """The six products of a block: for each of two matrices, forward and two gradients.

    Example:
        >>> for p in block_products(sparse_mlp())[:2]: print(p.d_out, p.d_in, p.n)
        d_ff/N_TP_ff d_model/N_TP_model b/(E*N_DP*m)
        d_model/N_TP_model d_ff/N_TP_ff b/(E*N_DP*m)
    """
    return tuple(p for c in model.contractions for p in _products(c, model.plan.m))


def _products(contraction: Contraction, microbatches: sp.Expr) -> list[TiledProduct]:
    """The products of one contraction, by where each of its dimensions occurs."""
    (weights,) = (t for t in contraction.operands if t.parameters)
    (inputs,) = (t for t in contraction.operands if not t.parameters)
    output = contraction.output

    def length(letters: set[str]) -> sp.Expr:
        shards = (contraction.dimensions[x] for x in sorted(letters))
        return sp.Mul(*(d.length / d.split for d in shards))

    out = length(set(weights.letters) & set(output.letters) - set(inputs.letters))
    contracted = length(set(weights.letters) & set(inputs.letters) - set(output.letters))
    tokens = length(set(inputs.letters) & set(output.letters) - set(weights.letters))
    n = tokens / microbatches
    shapes = {"forward": (out, contracted), "activation gradient": (contracted, out),
              "weight gradient": (out, contracted)}  # fmt: skip
    return [
        TiledProduct(*shapes[phase], n, phase == "weight gradient") for phase in contraction.passes
    ]


def block_time(distributed: bool) -> Cost:
    """Seconds of the products of a block and expert on one microbatch.

    Args:
        distributed: Whether multiprocessors reach each other's memory.
    """
    products = block_products(sparse_mlp())
    return total([product_time(p, distributed) for p in products], "s")


def product_streams(distributed: bool) -> dict[str, Cost]:
    """Seconds of a step that each stream of the products would take alone.

    Args:
        distributed: Whether multiprocessors reach each other's memory.
    """
    each = [streams(p, distributed) for p in block_products(sparse_mlp())]
    return {n: total([s[n] for s in each], "s") * block_repeats() for n in STREAMS}


def least_block_time() -> Cost:
    """A time that the products of a block are never below, whatever the tiles."""
    return total([least_product_time(p) for p in block_products(sparse_mlp())], "s")


def block_repeats() -> sp.Expr:
    """How often a device does the products of a block and expert in a step.

    Example:
        >>> block_repeats()
        E*L*m/(N_EP*N_PP)
    """
    model = sparse_mlp()
    plan = model.plan
    return model.L / plan.N_PP * model.E / plan.N_EP * plan.m


def bubble() -> Cost:
    """Share of a step in which a pipeline waits, without a zero-bubble schedule.

    With fewer microbatches than stages, each of the v rounds but one waits for the
    microbatches that are missing.

    Example:
        >>> bubble().expr.subs(dict(zip(symbols("N_PP m v"), (4, 4, 1))))
        3/7
    """
    stages, m, v = symbols("N_PP m v")
    missing = (v - 1) * greatest(sp.Integer(0), stages - m)
    return cost(bubble_fraction(stages + missing, m, v), "1")


PARTS = ("t_mm", "t_TP", "t_PP", "t_DP", "l_TP", "l_PP", "l_DP", "f_idle")
"""The parts of a step, as symbols of the notation."""


def parts(tiers: int, block: Cost | None = None) -> dict[str, Cost]:
    """Every part of a step.

    Args:
        tiers: Tiers of the network.
        block: Time of the products of a block; by default the symbol t_block.
    """
    block = block or cost(symbol("t_block"), "s")
    return {
        "t_mm": block * block_repeats(),
        "t_TP": network.tensor_time(tiers),
        "t_PP": network.transfer_time(tiers),
        "t_DP": network.data_time(tiers),
        "l_TP": network.tensor_latency(tiers),
        "l_PP": network.transfer_latency(tiers),
        "l_DP": network.data_latency(tiers),
        "f_idle": bubble(),
    }


def symbolic_parts() -> dict[str, Cost]:
    """Every part of a step as a symbol of its own."""
    return {name: cost(symbol(name), notation(name).unit) for name in PARTS}


def with_recomputation(schedule: Schedule) -> dict[str, sp.Expr]:
    """By how much each part grows if activations are computed again.

    The forward pass, a third of the arithmetic and half of what activations move,
    happens twice.
    """
    if not schedule.recompute:
        return dict.fromkeys(PARTS, sp.Integer(1))
    arithmetic, traffic = sp.Rational(4, 3), sp.Rational(3, 2)
    return {
        **dict.fromkeys(PARTS, sp.Integer(1)), "t_mm": arithmetic,
        **dict.fromkeys(("t_TP", "t_PP", "l_TP", "l_PP"), traffic),
    }  # fmt: skip


def step_time(schedule: Schedule, of: Mapping[str, Cost] | None = None) -> Cost:
    """Seconds of a step.

    Args:
        schedule: The schedule.
        of: Its parts; by default each is a symbol.

    Example:
        >>> step_time(Schedule(zero_bubble=True)).expr
        l_DP + t_DP + Max(t_mm, l_PP + l_TP, t_PP + t_TP)
    """
    growth = with_recomputation(schedule)
    at = {n: c.expr * growth[n] for n, c in (of or symbolic_parts()).items()}
    hidden, shown = sp.Integer(0), sp.Integer(0)
    for name, overlaps in (("t_TP", schedule.overlap_tensor), ("t_PP", schedule.overlap_transfers)):
        if overlaps:
            hidden += at[name]
        else:
            shown += at[name]
    latency = at["l_TP"] + at["l_PP"]
    together = [at["t_mm"]] + ([hidden] if hidden != 0 else [])
    if schedule.zero_bubble:
        if not schedule.as_published:
            together.append(latency)
        pipeline = greatest(*together) + shown
    else:
        pipeline = (greatest(*together) + shown) / (1 - at["f_idle"]) + latency
    if schedule.overlap_data:
        whole = greatest(pipeline, at["t_DP"]) + at["l_DP"]
    else:
        whole = pipeline + at["t_DP"] + at["l_DP"]
    return cost(whole, "s")


def complete_step_time(tiers: int, schedule: Schedule, distributed: bool) -> Cost:
    """Seconds of a step as one expression, down to the tiles of its products.

    Args:
        tiers: Tiers of the network.
        schedule: The schedule.
        distributed: Whether multiprocessors reach each other's memory.
    """
    return step_time(schedule, parts(tiers, block_time(distributed)))


def utilization(step: Cost | None = None) -> Cost:
    """Arithmetic of the model over what all devices could do at their peak rate.

    Args:
        step: Time of a step; by default the symbol t_step.

    Example:
        >>> utilization().expr
        12*L*b*d_ff*d_model/(C*N*t_step)
    """
    rate = cost(symbol("C"), "FLOP/s") * symbol("N")
    return sparse_mlp().training_flop / (rate * (step or _step()))


def training_time(step: Cost | None = None) -> Cost:
    """Seconds of a run: a step for every batch of its D tokens.

    Args:
        step: Time of a step; by default the symbol t_step.

    Example:
        >>> training_time().expr
        D*t_step/b
    """
    return (step or _step()) * cost(symbol("D"), "token") / cost(symbol("b"), "token")


def _step() -> Cost:
    return cost(symbol("t_step"), "s")


GRADIENT_AND_MOMENTS = 4
"""Words of state for a parameter that all replicas hold together, shared out among them."""


def state_words() -> Cost:
    """Words of parameters and optimizer in all devices together.

    Each replica has the parameters; gradient and state of the optimizer, four words a
    parameter, are shared out among replicas.

    Example:
        >>> sp.factor(state_words().expr)
        2*E*L*d_ff*d_model*(N_DP + 4)
    """
    return sparse_mlp().parameter_words * (symbol("N_DP") + GRADIENT_AND_MOMENTS)


def live_microbatches(zero_bubble: bool) -> sp.Expr:
    """Microbatches whose activations the first stage of a pipeline keeps.

    Example:
        >>> live_microbatches(True)
        2*N_PP - 1
    """
    stages = symbol("N_PP")
    return 2 * stages - 1 if zero_bubble else stages


def activation_words(schedule: Schedule) -> Cost:
    """Words of activations in all devices together; recomputed, what a stage receives."""
    model = sparse_mlp()
    live = live_microbatches(schedule.zero_bubble)
    if schedule.recompute:
        received = model.tokens * model.d_model * model.plan.N_PP
        return cost(received * live / model.plan.m, "word")
    return model.activation_words(live)
