"""What the devices of a Transformer's plan say to each other in one step.

All amounts are of one device on the heaviest pipeline stage. They follow from the
exchanges that the splits of the contractions make necessary, but for pipelines and
experts, which move tokens rather than sum tensors.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import sympy as sp

from symscale.costs.collectives import (
    all_gather_words,
    all_reduce_words,
    all_to_all_words,
    reduce_scatter_words,
)
from symscale.costs.cost import Cost, cost
from symscale.costs.model import Parallelism
from symscale.costs.transformer.architecture import Experts, Stack
from symscale.costs.transformer.assembly import Assembly
from symscale.costs.transformer.component import ONE, Exchange, Place, Role, exchanges
from symscale.costs.transformer.stages import heaviest_stage

Phase = Literal["forward", "backward", "recomputation", "step"]
Collective = Literal[
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "point-to-point"
]
Within = Literal["", "experts"]
ZERO = sp.Integer(0)

WORDS = {
    "all-reduce": all_reduce_words,
    "reduce-scatter": reduce_scatter_words,
    "all-gather": all_gather_words,
    "all-to-all": all_to_all_words,
}
"""Words over the links, summed over the participants, by collective."""

PHASES = {"all-reduce": 2, "reduce-scatter": 1, "all-gather": 1, "all-to-all": 1}
"""Rounds of p - 1 messages that a ring takes."""


@dataclass(frozen=True)
class Communication:
    """One kind of communication of a device in a step.

    Attributes:
        parallelism: Over which devices.
        collective: How they share it.
        what: What is sent.
        phase: In which part of a step.
        payload: Words that the device takes part with, all calls of a step together.
        participants: Over how many devices.
        calls: How often in a step.
        hidden_behind: What can go on meanwhile; "" where all wait, so that it is serialized.
        place: Which stage has it.
        within: Which degree the participants belong to, where that is not the parallelism's
            own: experts' replicas.
        sent: Of a point-to-point payload, the share that leaves the device.
    """

    parallelism: Parallelism
    collective: Collective
    what: str
    phase: Phase
    payload: Cost
    participants: sp.Expr
    calls: sp.Expr
    hidden_behind: str = ""
    place: Place = "blocks"
    within: Within = ""
    sent: sp.Expr = ONE

    @property
    def serialized(self) -> bool:
        """Whether nothing else can be done meanwhile."""
        return not self.hidden_behind

    @property
    def sums(self) -> bool:
        """Whether what is sent is added up on the way."""
        return self.collective in ("all-reduce", "reduce-scatter")

    @property
    def words(self) -> Cost:
        """Words that the device sends over its links in a step.

        Of what a collective moves in all, each of p participants sends one p-th.
        """
        if self.collective == "point-to-point":
            return self.payload * self.sent
        moved = WORDS[self.collective](self.payload.expr, self.participants)
        return cost(moved / self.participants, "word")

    @property
    def messages(self) -> sp.Expr:
        """Messages that follow one another in a ring, in a step."""
        if self.collective == "point-to-point":
            return self.calls
        return self.calls * PHASES[self.collective] * (self.participants - 1)


def communications(model: Assembly) -> tuple[Communication, ...]:
    """Return all communication of a device of the heaviest stage in one step."""
    counts = heaviest_stage(model)
    found: list[Communication] = []
    for stack, blocks in zip(model.architecture.stacks, counts, strict=True):
        if blocks != 0:
            found += _of_blocks(model, stack, blocks)
    found += _of_ends(model)
    found += _data(model, counts)
    found += _pipeline(model)
    return tuple(_merged(found))


def _merged(found: Iterable[Communication]) -> Iterable[Communication]:
    """Add up entries that differ in their amounts only; drop those among one device."""
    table: dict[tuple[object, ...], Communication] = {}
    for entry in found:
        if entry.participants == 1:
            continue
        key = (
            entry.parallelism, entry.collective, entry.what, entry.phase, entry.participants,
            entry.hidden_behind, entry.place,
        )
        if key in table:
            old = table[key]
            entry = replace(
                entry, payload=old.payload + entry.payload, calls=old.calls + entry.calls
            )
        table[key] = entry
    return table.values()


def _of_blocks(model: Assembly, stack: Stack, blocks: sp.Expr) -> list[Communication]:
    found: list[Communication] = []
    for exchange in model.exchanges(stack):
        if exchange.of_tokens:
            found += _tensor(model, exchange, blocks)
            found += _context(model, exchange, blocks)
    if isinstance(stack.block.mlp, Experts):
        found += _expert(model, stack.block.mlp, blocks)
    return found


def _tensor(
    model: Assembly, exchange: Exchange, blocks: sp.Expr, place: Place = "blocks"
) -> list[Communication]:
    """Reductions of activations, or of their gradients, over a tensor-parallel group."""
    degree, plan = exchange.over("tensor"), model.plan
    payload = cost(exchange.payload * blocks, "word")
    calls = blocks * plan.m
    what = "gradients of inputs" if exchange.of_gradient else "outputs"
    phase: Phase = "backward" if exchange.of_gradient else "forward"
    phases: list[Phase] = [phase]
    if phase == "forward" and plan.recompute == "full" and place == "blocks":
        phases.append("recomputation")

    def entry(collective: Collective, name: str, when: Phase, hidden: str = "") -> Communication:
        return Communication(
            "tensor", collective, name, when, payload, degree, calls, hidden, place
        )

    if not plan.sequence_parallel:
        return [entry("all-reduce", what, when) for when in phases]
    found = []
    for when in phases:
        # The halves of the all-reduce: one after the product before, one before the next.
        found.append(entry("reduce-scatter", what, when))
        found.append(entry("all-gather", what, when))
    if exchange.weighted and exchange.of_gradient and place == "blocks":
        # The input was kept in parts; the gradient of the weights needs all of it.
        found.append(
            entry("all-gather", "kept inputs", "backward", "gradients of activations")
        )
    return found


def _context(model: Assembly, exchange: Exchange, blocks: sp.Expr) -> list[Communication]:
    """Keys and values round the ring of a sequence's parts, and their gradients back."""
    degree, plan = exchange.over("context"), model.plan
    payload = cost(exchange.payload * blocks, "word")
    calls, hidden = blocks * plan.m, "scores of attention"

    def entry(collective: Collective, what: str, phase: Phase) -> Communication:
        return Communication(
            "context", collective, what, phase, payload, degree, calls, hidden
        )

    found = [
        entry("all-gather", "keys and values", "forward"),
        entry("all-gather", "keys and values", "backward"),
        entry("reduce-scatter", "gradients of keys and values", "backward"),
    ]
    if plan.recompute == "full":
        found.append(entry("all-gather", "keys and values", "recomputation"))
    return found


def _expert(model: Assembly, mlp: Experts, blocks: sp.Expr) -> list[Communication]:
    """Tokens to their experts and back, and the same for the gradients."""
    plan = model.plan
    tokens = model.tokens * mlp.active * mlp.capacity / (plan.token_degree * plan.kept_split)
    payload = cost(tokens * model.architecture.d_model * blocks, "word")
    phases: list[Phase] = ["forward", "backward"]
    if plan.recompute == "full":
        phases.append("recomputation")
    return [
        Communication(
            "expert", "all-to-all", what, phase, payload, plan.N_EP, blocks * plan.m
        )
        for phase in phases
        for what in ("tokens to experts", "tokens from experts")
    ]


def _of_ends(model: Assembly) -> list[Communication]:
    """Reductions of the embedding and of the logits, which split the vocabulary."""
    found: list[Communication] = []
    for component in model.components:
        for exchange in () if component.layered else exchanges(component.contractions):
            # Logits are not summed up over their contracted width.
            if not exchange.parameters and exchange.over("tensor") != 1:
                found += _tensor(model, exchange, ONE, component.role.place)
    architecture, plan = model.architecture, model.plan
    if architecture.tied and architecture.head:
        table = architecture.vocabulary * architecture.d_model / plan.N_TP
        found.append(
            Communication(
                "pipeline", "all-reduce", "gradient of the tied embedding", "step",
                cost(table, "word"), sp.Min(2, plan.N_PP), ONE, "", "both ends",
            )
        )
    return found


def _data(model: Assembly, counts: tuple[sp.Expr, ...]) -> list[Communication]:
    """Gradients, and with sharding weights, over the replicas."""
    plan = model.plan
    amounts: dict[tuple[sp.Expr, Within, Place], tuple[sp.Expr, sp.Expr]] = {}

    def add(
        words: sp.Expr, degree: sp.Expr, within: Within, calls: sp.Expr, place: Place = "blocks"
    ) -> None:
        key = (degree, within, place)
        old_words, old_calls = amounts.get(key, (ZERO, ZERO))
        amounts[key] = (old_words + words, sp.Max(old_calls, calls) if old_calls else calls)

    for stack, blocks in zip(model.architecture.stacks, counts, strict=True):
        for component in model.of_stack(stack):
            experts = component.role is Role.EXPERTS
            degree = plan.token_degree / plan.N_EP if experts else plan.token_degree
            within: Within = "experts" if experts else ""
            add(component.parameters_per_device * blocks, degree, within, blocks)
    for component in model.components:
        if not component.layered:
            place = component.role.place
            add(component.parameters_per_device, plan.token_degree, "", ONE, place)
    found = []
    for (degree, within, place), (words, calls) in amounts.items():
        found += _replicas(model, words, degree, within, calls, place)
    return found


def _replicas(
    model: Assembly, words: sp.Expr, degree: sp.Expr, within: Within, calls: sp.Expr,
    place: Place,
) -> list[Communication]:
    plan = model.plan
    kind = f" of {within}" if within else ""

    def entry(
        collective: Collective, what: str, phase: Phase, hidden: str, times: sp.Expr = ONE
    ) -> Communication:
        return Communication(
            "data", collective, what + kind, phase, cost(words * times, "word"), degree,
            calls * times, hidden, place, within,
        )

    backward = "backward pass of the blocks still to come"
    if plan.zero == 0:
        return [entry("all-reduce", "gradients", "backward", backward)]
    # Sharded gradients are reduced each time they are made, whole ones once.
    times = plan.m if plan.zero >= 2 else ONE
    found = [entry("reduce-scatter", "gradients", "backward", backward, times)]
    if plan.zero < 3:
        return [*found, entry("all-gather", "weights", "step", "forward pass of the next step")]
    found.append(entry("all-gather", "weights", "forward", "blocks before", plan.m))
    found.append(entry("all-gather", "weights", "backward", "blocks before", plan.m))
    return found


def _pipeline(model: Assembly) -> list[Communication]:
    """The residual stream from stage to stage, and its gradient back."""
    plan = model.plan
    words = model.tokens * model.architecture.d_model / (plan.token_degree * plan.kept_split)
    phases: tuple[tuple[Phase, str], ...] = (
        ("forward", "activations"), ("backward", "gradients of activations"),
    )
    chunks = plan.v * plan.N_PP
    return [
        Communication(
            "pipeline", "point-to-point", what, phase, cost(words * plan.v, "word"), plan.N_PP,
            plan.m * plan.v, "other microbatches", sent=(chunks - 1) / chunks,
        )
        for phase, what in phases
        if plan.N_PP != 1
    ]
