"""What the device that sets the pace does in a step of a Transformer, for many plans at once.

The cost expressions of `symscale.costs` are compiled to NumPy, one block of each kind
and the two ends apart; pipelines and tiers are put together from them with numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from symscale.costs.memory import RECIPES, Recipe
from symscale.costs.model import Parallelism
from symscale.costs.switches import Switches
from symscale.costs.transformer.architecture import Architecture, Stack
from symscale.costs.transformer.communication import PHASES, Communication, communications
from symscale.costs.transformer.component import Component, Role
from symscale.costs.transformer.memory import kept_bytes_of_block
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.costs.transformer.stages import block_order, stage_sizes
from symscale.errors import InputError
from symscale.language.symbols import symbols
from symscale.simulator.compiled import Compiled
from symscale.simulator.transformer.tiers import Array, over_tiers, split_plans
from symscale.simulator.transformer.traffic import (
    core_traffic,
    elementwise_traffic,
    gradient_traffic,
    loss_traffic,
)

ONE = sp.Integer(1)
WORD = sp.Integer(2)


@dataclass(frozen=True)
class Work:
    """What the pace-setting device does in a step; arrays with one entry a plan.

    All but the last three lie on the critical path: microbatches times its blocks, and
    the filling of the pipeline.

    Attributes:
        flop: FLOP of matrix products, with what is computed again.
        traffic_bytes: Bytes of memory that norms, softmax, dropout, nonlinearities and the
            summing of gradients read and write.
        core_bytes: Bytes of scores that attention's products read and write, none if fused.
        block_passes: Blocks, times microbatches, that it passes.
        serialized_bytes: Bytes over each tier's links that all else waits for.
        transfer_bytes: Bytes over each tier's links between pipeline stages.
        context_bytes: Bytes over each tier's links of keys and values in a ring.
        core_flop: FLOP of scores and context, of `flop`, behind which the ring hides.
        gradient_bytes: Bytes over each tier's links of gradients and sharded weights.
        optimizer_bytes: Bytes of memory that the optimizer reads and writes.
        memory_bytes: Bytes that a device holds.
        model_flop: FLOP of the step over all devices, nothing counted twice.
        bubble: Share of the critical path that fills and drains the pipeline.
    """

    flop: Array
    traffic_bytes: Array
    core_bytes: Array
    block_passes: Array
    serialized_bytes: Array
    transfer_bytes: Array
    context_bytes: Array
    core_flop: Array
    gradient_bytes: Array
    optimizer_bytes: Array
    memory_bytes: Array
    model_flop: Array
    bubble: Array


class TransformerWork:
    """The work of a model's plans, compiled.

    Example:
        >>> from symscale.facts.models.zoo import load_model
        >>> work = TransformerWork(load_model("gpt-3"), 2048, Switches(recompute="full"))
        >>> one = np.array([1])
        >>> plan = Plan(one, 8 * one, 8 * one, one, one, m=64 * one, v=3 * one)
        >>> found = work.of(plan, 64, [8, None])
        >>> f"{found.flop[0]:.4e}"
        '3.0966e+15'
    """

    def __init__(
        self, architecture: Architecture, context: int, switches: Switches | None = None
    ) -> None:
        """Compile the expressions of a model whose sizes are numbers.

        Raises:
            InputError: If a size is a formula.
        """
        self.architecture = architecture
        self.context = context
        self.switches = switches or Switches()
        self.recipe: Recipe = RECIPES[self.switches.recipe]
        order = block_order(architecture)
        if order is None:
            raise InputError(f"{architecture.name} has sizes that are symbols; give each a number")
        self._order = order
        self._kv_heads = int(architecture.stacks[0].block.attention.kv_heads)
        self._blocks = [self._compile_block(stack) for stack in architecture.stacks]
        self._ends = self._compile_ends()
        model = self._model(architecture)
        per_token = model.training_flop.expr / model.tokens
        # What is left of the batch, where a product is done once for all sequences, is small.
        self._model_flop = float(per_token.subs(dict.fromkeys(per_token.free_symbols, 1)))

    def _model(self, architecture: Architecture) -> Transformer:
        b, N_DP, N_TP, N_CP, N_EP, m = symbols("b N_DP N_TP N_CP N_EP m")
        kv = architecture.stacks[0].block.attention.kv_heads
        plan = Plan(
            N_DP, N_TP, ONE, N_CP, N_EP, m, ONE, kv_split=sp.Min(N_TP, kv),
            **vars(self.switches),
        )
        return Transformer(architecture, b, sp.Integer(self.context), plan)

    def _compile_block(self, stack: Stack) -> Compiled:
        """One block of a stack: what a device does, sends and holds in a step."""
        one = replace(self.architecture, stacks=(replace(stack, blocks=ONE),), order=())
        model = self._model(one)
        parts = model.of_stack(one.stacks[0])
        again = ONE if self.switches.recompute == "none" else sp.Rational(4, 3)
        core = [
            again * c.per_device(c.training_flop).expr for p in parts for c in p.core
        ]
        entries = [e for e in communications(model) if e.place == "blocks"]
        return Compiled(
            {
                "flop": model.layer_flop_per_device.expr,
                "core": sp.Add(*core),
                "traffic": elementwise_traffic(model, one.stacks[0])
                + gradient_traffic(_held(parts), model.plan.m, self.recipe),
                "core traffic": core_traffic(model, one.stacks[0]),
                "kept": _kept(parts, model.plan),
                "block input": _input_bytes(model),
                "dense": _held(p for p in parts if p.role is not Role.EXPERTS),
                "experts": _held(p for p in parts if p.role is Role.EXPERTS),
                **_payloads(entries, model.plan.repeats_of_kv, self.recipe),
            }
        )

    def _compile_ends(self) -> Compiled:
        """Embedding and logits."""
        model = self._model(self.architecture)
        first = [c for c in model.components if c.role.place == "first stage"]
        last = [c for c in model.components if c.role.place == "last stage"]
        entries = [e for e in communications(model) if e.place != "blocks"]
        return Compiled(
            {
                "flop": sp.Add(*(c.training_flop_per_device.expr for c in last)),
                "traffic": loss_traffic(model)
                + gradient_traffic(_held(last), model.plan.m, self.recipe),
                "first parameters": _held(first),
                "last parameters": _held(last),
                "first kept": _kept(first, model.plan),
                "last kept": _kept(last, model.plan),
                **_payloads(
                    [e for e in entries if e.parallelism == "tensor"], ONE, self.recipe
                ),
            }
        )

    def of(
        self, plans: Plan[Array], sequences: Array, tier_sizes: Sequence[int | None]
    ) -> Work:
        """Return the work of plans on a machine whose tiers join so many units each.

        Args:
            plans: The degrees of the plans; their switches are those that were compiled.
            sequences: Sequences of a batch, of all plans or of each.
            tier_sizes: Units that each tier joins, innermost first; None for the last.
        """
        length = len(plans.N_TP)
        tokens = np.broadcast_to(sequences, (length,)) * self.context
        values = {"b": tokens.astype(float), **{
            name: degree.astype(float) for name, degree in plans.degrees.items()
        }}
        counts = self._stage_counts(plans.N_PP)
        blocks = [_full(c(values), length) for c in self._blocks]
        ends = _full(self._ends(values), length)
        tiers = split_plans(plans, tier_sizes, self._kv_heads)
        m, p, v = plans.m, plans.N_PP, plans.v
        fill = np.zeros(length) if self.switches.schedule == "zero-bubble" else (p - 1) / v
        path = (m + fill) / m  # of the amounts of a step, which count m microbatches

        def layered(name: str) -> Array:
            return sum(n * x[name] for n, x in zip(counts, blocks, strict=True))

        def sent(table: dict[str, Array], kind: str) -> Array:
            return sum(
                over_tiers(table[key], key.split("/")[1], key.split("/")[2], tiers)
                for key in table if key.split("/")[0] == kind
            ) + np.zeros((len(tier_sizes), length))

        def layered_sent(kind: str) -> Array:
            return sum(n * sent(x, kind) for n, x in zip(counts, blocks, strict=True))

        # Stages that hold fewer blocks have time for the logits, where blocks do not divide.
        spare = 1 - len(self._order) // p / sum(counts)
        exposed = 1 - np.minimum(spare * layered("flop") / np.maximum(ends["flop"], 1), 1)
        return Work(
            flop=path * layered("flop") + exposed * ends["flop"],
            traffic_bytes=path * layered("traffic") + exposed * ends["traffic"],
            core_bytes=path * layered("core traffic"),
            block_passes=(m + fill) * sum(counts),
            serialized_bytes=path * layered_sent("wait") + sent(ends, "wait"),
            transfer_bytes=self._transfers(plans, tokens, tiers, m + fill),
            context_bytes=path * layered_sent("ring"),
            core_flop=path * layered("core"),
            gradient_bytes=layered_sent("gradients")
            + self._end_gradients(plans, tiers, ends["first parameters"]),
            optimizer_bytes=self._optimizer(plans, layered("dense"), layered("experts"), ends),
            memory_bytes=self._memory(plans, counts, blocks, ends),
            model_flop=self._model_flop * tokens,
            bubble=fill / (m + fill),
        )

    def _stage_counts(self, stages: Array) -> list[Array]:
        """Blocks of each stack on the stage with most arithmetic, for every plan."""
        unique, inverse = np.unique(stages, return_inverse=True)
        rows = np.array([_heaviest(self._order, int(n), len(self._blocks)) for n in unique])
        return [rows[inverse, i].astype(float) for i in range(len(self._blocks))]

    def _transfers(
        self, plans: Plan[Array], tokens: Array, tiers: dict[str, Array], passes: Array
    ) -> Array:
        """The residual stream to the next stage and its gradient back, at every chunk.

        The devices of a tensor-parallel group hold the same tokens and send a part each.
        """
        words = tokens * float(self.architecture.d_model)
        bytes_each = 2 * words / (plans.N_DP * plans.N_CP * plans.m * plans.N_TP)
        outermost = tiers["N_PP"].shape[0] - 1 - np.argmax(tiers["N_PP"][::-1] > 1, axis=0)
        found = np.zeros_like(tiers["N_PP"], dtype=float)
        rows = np.arange(len(plans.N_TP))
        found[outermost, rows] = 2 * bytes_each * passes * plans.v * (plans.N_PP > 1)
        return found

    def _end_gradients(
        self, plans: Plan[Array], tiers: dict[str, Array], parameters: Array
    ) -> Array:
        bytes_each = self.recipe.gradients + (
            self.recipe.gradients if self.switches.zero == 0 else int(WORD)
        )
        return over_tiers(bytes_each * parameters, "data", "ring", tiers)

    def _optimizer(
        self, plans: Plan[Array], dense: Array, experts: Array, ends: dict[str, Array]
    ) -> Array:
        r = self.recipe
        replicas = plans.N_DP * plans.N_CP if self.switches.zero >= 1 else 1
        apart = plans.N_EP if self.switches.zero >= 1 else 1
        held = (dense + ends["first parameters"]) / replicas + experts * apart / replicas
        # Gradients and states are read, states and weights written.
        return held * (r.gradients + 2 * r.optimizer + r.weights)

    def _memory(
        self, plans: Plan[Array], counts: list[Array], blocks: list[dict[str, Array]],
        ends: dict[str, Array],
    ) -> Array:
        s, r, p, v = self.switches, self.recipe, plans.N_PP, plans.v
        replicas = plans.N_DP * plans.N_CP

        def states(dense: Array, experts: Array) -> Array:
            total = 0.0
            for size, stage in ((r.weights, 3), (r.gradients, 2), (r.optimizer, 1)):
                shared = s.zero >= stage
                total = total + size * (
                    dense / (replicas if shared else 1)
                    + experts / (replicas / plans.N_EP if shared else 1)
                )
            return total

        live = 2 * p - 1 if s.schedule == "zero-bubble" else p + np.where(v > 1, (p - 1) / v, 0)
        live = np.minimum(live, plans.m)
        pairs = list(zip(counts, blocks, strict=True))
        dense = sum(n * x["dense"] for n, x in pairs)
        held = states(dense, sum(n * x["experts"] for n, x in pairs))
        name = "block input" if s.recompute == "full" else "kept"
        kept = sum(n * x[name] for n, x in pairs)
        working = np.maximum.reduce([x["kept"] for _, x in pairs]) if s.recompute == "full" else 0
        alone = p == 1
        held = held + working
        embedding = states(ends["first parameters"], 0)
        first = held + embedding + (kept + ends["first kept"]) * live
        last = held + states(ends["last parameters"], 0) + kept + ends["last kept"]
        both = first + states(ends["last parameters"], 0) + ends["last kept"]
        if self.architecture.tied:  # one table, not two
            both = first + ends["last kept"]
        return np.where(alone, both, np.maximum(first, last))


def _held(parts: Iterable[Component]) -> sp.Expr:
    """Parameters that a device holds of components, one block each."""
    return sp.Add(*(p.parameters_per_device for p in parts))


def _kept(parts: Sequence[Component], plan: Plan[sp.Expr]) -> sp.Expr:
    """Bytes of one microbatch that a device keeps, as recomputation and kernels let it."""
    (w,) = symbols("w")
    base = replace(plan, recompute="none" if plan.recompute == "full" else plan.recompute)
    return sp.Add(*(kept_bytes_of_block(c, base) for c in parts)).xreplace({w: WORD})


def _input_bytes(model: Transformer) -> sp.Expr:
    plan = model.plan
    words = model.tokens * model.architecture.d_model / (plan.token_degree * plan.m)
    return words * WORD / plan.kept_split


GROUPS: Mapping[Parallelism, str] = {"tensor": "N_TP", "context": "N_CP", "expert": "N_EP"}


def _payloads(
    entries: Sequence[Communication], repeats: sp.Expr, recipe: Recipe
) -> dict[str, sp.Expr]:
    """Bytes of payload times rounds, by what waits, over which degree, in which pattern.

    Gradients of weights are summed as the recipe holds them, all else as 16-bit words.
    """
    found: dict[str, sp.Expr] = {}
    for entry in entries:
        # Of tensor parallelism only what products wait for costs time of its own.
        hides = entry.parallelism == "tensor" and not entry.serialized
        if entry.parallelism == "pipeline" or hides:
            continue
        kind = "wait" if entry.serialized else "ring" if entry.parallelism == "context" else (
            "gradients"
        )
        if entry.parallelism == "tensor" and entry.participants == repeats:
            group = "kv"  # heads that are repeated within the group
        else:
            group = entry.within or GROUPS.get(entry.parallelism, "data")
        pattern = "all-to-all" if entry.collective == "all-to-all" else "ring"
        key = f"{kind}/{group}/{pattern}"
        summed = entry.parallelism == "data" and entry.sums
        size = recipe.gradients if summed else WORD
        rounds = PHASES[entry.collective]
        found[key] = found.get(key, sp.Integer(0)) + entry.payload.expr * size * rounds
    return found


@lru_cache(maxsize=4096)
def _heaviest(order: tuple[int, ...], stages: int, kinds: int) -> tuple[int, ...]:
    """Blocks of each kind on the fullest stage; ties go to the kinds that come last.

    Later kinds are the heavier ones in the models that have several (experts after
    dense blocks).
    """
    best: tuple[int, ...] = (0,) * kinds
    start = 0
    for size in stage_sizes(len(order), stages):
        part = order[start : start + size]
        start += size
        counts = tuple(part.count(i) for i in range(kinds))
        if (sum(counts), counts[::-1]) > (sum(best), best[::-1]):
            best = counts
    return best


def _full(values: dict[str, Any], length: int) -> dict[str, Array]:
    return {k: np.broadcast_to(np.asarray(x, dtype=float), (length,)) for k, x in values.items()}
