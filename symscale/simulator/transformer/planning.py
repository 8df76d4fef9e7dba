"""The best plan of a Transformer on a cluster, by trying every one that fits."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from symscale.costs.switches import USUAL, Recomputation, Switches
from symscale.costs.transformer.architecture import Architecture, Experts, FeedForward
from symscale.costs.transformer.plan import DEGREES, Plan, whole
from symscale.errors import InfeasibleError, InputError
from symscale.facts.machines.lumped import Machine
from symscale.simulator.transformer.step import (
    COMPONENTS,
    ClusterClass,
    class_of_machine,
    step_time,
)
from symscale.simulator.transformer.tiers import Array, split_plans
from symscale.simulator.transformer.work import TransformerWork, Work

MOST_DEVICES = 2**40
MOST_DOUBLINGS = 20
MOST_INTERLEAVING = 12
MICROBATCHES = (1, 2, 4, 8, 16, 32)
RECOMPUTATIONS: tuple[Recomputation, ...] = ("none", "selective", "full")


@dataclass(frozen=True)
class Question:
    """What is to be trained on what.

    Attributes:
        architecture: The model, its sizes numbers.
        context: Tokens of a sequence.
        sequences: Sequences of a batch.
        devices: Devices of the cluster.
        plan: The switches, and the degrees that are fixed; None for those to be found.
        recompute: What is computed again; None for what is found best.
        defaults: Names of the switches that nobody set.
    """

    architecture: Architecture
    context: int
    sequences: int
    devices: int
    plan: Plan[int | None]
    recompute: Recomputation | None = None
    defaults: tuple[str, ...] = ()

    @property
    def fixed(self) -> dict[str, int]:
        """The degrees that are fixed, by name."""
        return {name: n for name, n in self.plan.degrees.items() if n is not None}


def searched(switches: Switches = USUAL, **fixed: int) -> Plan[int | None]:
    """Return the plan whose degrees are to be found, but for those that are fixed.

    Example:
        >>> searched(N_TP=8).degrees["N_TP"], searched().N_DP is None
        (8, True)
    """
    return Plan(*map(fixed.get, DEGREES), **vars(switches))


@dataclass(frozen=True)
class PlannedStep:
    """A plan with its time.

    Attributes:
        plan: The plan.
        by_tier: Each degree over the tiers, innermost first.
        seconds: Time of a step.
        components: Its components, seconds.
        bubble: Share of the step that fills and drains the pipeline.
        mfu: Model FLOP utilization.
        memory_bytes: What a device holds.
        network_bytes: What a device sends over all links.
    """

    plan: Plan[int]
    by_tier: dict[str, tuple[int, ...]]
    seconds: float
    components: dict[str, float]
    bubble: float
    mfu: float
    memory_bytes: float
    network_bytes: float

    @property
    def binds(self) -> str:
        """The component that takes longest."""
        return max(self.components, key=lambda name: self.components[name])


def best_transformer_plans(
    question: Question, machine: Machine, cluster: ClusterClass | None = None, count: int = 1
) -> list[PlannedStep]:
    """Return the fastest plans that fit, the best first.

    Every degree of tensor, context, data, pipeline and expert parallelism that divides what
    it splits, microbatches of 1 to 32 sequences, interleaving up to 12, and no, selective
    or full recomputation. Ties go to less traffic.

    Args:
        question: What is to be trained.
        machine: On what.
        cluster: Its rates; by default those of its data sheet.
        count: How many plans.

    Raises:
        InfeasibleError: If no plan fits: what fails, and the smallest cluster that would do.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.facts.models.zoo import load_model
        >>> asked = Question(load_model("llama-2-7b"), 4096, 256, 64, searched())
        >>> best = best_transformer_plans(asked, load_machine("a100-sxm"))[0]
        >>> best.plan.N_TP, best.plan.recompute
        (2, 'none')
    """
    cluster = cluster or class_of_machine(machine)
    capacity = float(machine.memory_capacity_bytes)
    sizes = [tier.size for tier in machine.tiers]
    rows = _candidates(question)
    if not len(rows.m):
        raise InfeasibleError(_nothing_divides(question))
    found: list[PlannedStep] = []
    least = float("inf")
    for recompute in (question.recompute,) if question.recompute else RECOMPUTATIONS:
        if question.plan.fused_attention and recompute == "selective" != question.recompute:
            continue  # scores are not kept anyway
        plans = replace(rows, recompute=recompute)
        work = TransformerWork(question.architecture, question.context, plans.switches)
        amounts = work.of(plans, question.sequences, sizes)
        least = min(least, float(amounts.memory_bytes.min()))
        found += _fitting(plans, amounts, cluster, capacity, sizes, count)
    if not found:
        raise InfeasibleError(_does_not_fit(question, machine, least))
    found.sort(key=lambda plan: (plan.seconds, plan.network_bytes))
    return found[:count]


def _fitting(
    plans: Plan[Array], work: Work, cluster: ClusterClass, capacity: float,
    sizes: Sequence[int | None], count: int,
) -> list[PlannedStep]:
    times = step_time(work, plans.devices, cluster)
    sent = (
        work.serialized_bytes + work.transfer_bytes + work.context_bytes + work.gradient_bytes
    ).sum(axis=0)
    fits = np.flatnonzero(work.memory_bytes <= capacity)
    order = fits[np.lexsort((sent[fits], times.total[fits]))][:count]
    tiers = split_plans(plans, sizes)
    return [
        PlannedStep(
            Plan(*(int(degree[i]) for degree in plans.degrees.values()), **vars(plans.switches)),
            {name: tuple(int(x) for x in tiers[name][:, i])
             for name in ("N_TP", "N_CP", "N_DP", "N_PP", "N_EP")},
            float(times.total[i]),
            {name: float(np.broadcast_to(times.components[name], plans.m.shape)[i])
             for name in COMPONENTS},
            float(np.broadcast_to(times.bubble, plans.m.shape)[i]), float(times.mfu[i]),
            float(work.memory_bytes[i]), float(sent[i]),
        )
        for i in order
    ]


def _candidates(question: Question) -> Plan[Array]:
    """Every plan that divides what it splits, as arrays."""
    rows = np.array(list(_degrees(question)), dtype=np.int64).reshape(-1, len(DEGREES))
    return Plan(*rows.T, **vars(question.plan.switches))


def _degrees(question: Question) -> Iterator[tuple[int, ...]]:
    """The degrees of every plan, in the order of `DEGREES`."""
    fixed, architecture = question.fixed, question.architecture
    layers = int(architecture.layers)
    zero_bubble = question.plan.schedule == "zero-bubble"
    for tp in _wanted("N_TP", tensor_degrees(architecture), fixed):
        contexts = _wanted("N_CP", _divisors(question.context, 64), fixed)
        for cp, pp in product(contexts, _wanted("N_PP", range(1, layers + 1), fixed)):
            dp, rest = divmod(question.devices, tp * cp * pp)
            if rest or dp < 1 or question.sequences % dp:
                continue
            if fixed.get("N_DP", dp) != dp:
                continue
            share = question.sequences // dp
            for ep in _wanted("N_EP", _expert_degrees(architecture, dp), fixed):
                for size in MICROBATCHES:
                    m, uneven = divmod(share, size)
                    if uneven or fixed.get("m", m) != m:
                        continue
                    if zero_bubble and pp > 1 and m < 2 * pp:
                        continue
                    for v in _wanted("v", _interleavings(layers, pp, m, zero_bubble), fixed):
                        yield dp, tp, pp, cp, ep, m, v


def _wanted(name: str, values: Iterable[int], fixed: dict[str, int]) -> list[int]:
    return [x for x in values if fixed.get(name, x) == x]


def _divisors(number: int, most: int) -> list[int]:
    return [d for d in range(1, min(number, most) + 1) if number % d == 0]


def tensor_degrees(architecture: Architecture) -> list[int]:
    """Return the degrees that divide heads and widths; key and value heads may repeat.

    Example:
        >>> from symscale.facts.models.zoo import load_model
        >>> tensor_degrees(load_model("llama-3.1-405b"))
        [1, 2, 4, 8, 16, 32, 64, 128]
    """
    heads = [whole(s.block.attention.heads) or 1 for s in architecture.stacks]
    kv = [whole(s.block.attention.kv_heads) or 1 for s in architecture.stacks]
    widths = []
    for stack in architecture.stacks:
        mlp = stack.block.mlp
        dense = [mlp] if isinstance(mlp, FeedForward) else [mlp.expert, *filter(None, [mlp.shared])]
        widths += [whole(part.width) or 1 for part in dense]
    return [
        d for d in range(1, min(heads) + 1)
        if all(n % d == 0 for n in (*heads, *widths))
        and all(n % d == 0 or d % n == 0 for n in kv)
    ]


def _expert_degrees(architecture: Architecture, dp: int) -> list[int]:
    counts = [
        whole(s.block.mlp.experts) or 1 for s in architecture.stacks
        if isinstance(s.block.mlp, Experts)
    ]
    if not counts:
        return [1]
    return [d for d in range(1, min(counts) + 1) if dp % d == 0 and all(n % d == 0 for n in counts)]


def _interleavings(layers: int, pp: int, m: int, zero_bubble: bool) -> list[int]:
    """Chunks of a stage: one, or as many as divide its blocks where microbatches fill them."""
    if pp == 1 or zero_bubble or layers % pp or m % pp:
        return [1]
    return [v for v in range(1, MOST_INTERLEAVING + 1) if (layers // pp) % v == 0]


def _nothing_divides(question: Question) -> str:
    fixed = "".join(f", {name} = {value}" for name, value in question.fixed.items())
    return (
        f"no plan of {question.architecture.name} fills {question.devices} devices with "
        f"{question.sequences} sequences{fixed}: data parallelism must divide the sequences, "
        "tensor parallelism heads and widths; try another number of devices or sequences"
    )


def _does_not_fit(question: Question, machine: Machine, least: float) -> str:
    capacity = float(machine.memory_capacity_bytes)
    devices = f"{question.devices} device{'s' * (question.devices != 1)}"
    text = (
        f"memory: {question.architecture.name} needs at least {least / 1e9:.4g} GB a device on "
        f"{devices}, and {machine.title} has {capacity / 1e9:.4g} GB"
    )
    smallest = _smallest_cluster(question, machine)
    return text + (f"; {smallest} devices would do" if smallest else "; no cluster would do")


def _smallest_cluster(question: Question, machine: Machine) -> int | None:
    """The smallest doubling of the cluster on which some plan fits."""
    sizes = [tier.size for tier in machine.tiers]
    work = TransformerWork(
        question.architecture, question.context,
        replace(question.plan.switches, recompute=question.recompute or "full"),
    )
    devices = question.devices
    for _ in range(MOST_DOUBLINGS):
        devices *= 2
        if devices > MOST_DEVICES:
            return None
        rows = _candidates(replace(question, devices=devices))
        if len(rows.m):
            held = work.of(rows, question.sequences, sizes).memory_bytes
            if held.min() <= float(machine.memory_capacity_bytes):
                return devices
    return None


def check_devices(devices: int) -> None:
    """Raise unless a number of devices is sensible.

    Raises:
        InputError: If it is not.
    """
    if not 1 <= devices <= MOST_DEVICES:
        raise InputError(f"--devices {devices}: give a number from 1 to 2^40")


def context_of(architecture: Architecture, wanted: int | None) -> int:
    """Return the tokens of a sequence: those wanted, or the model's.

    Raises:
        InputError: If the model has none, or learned fewer positions.
    """
    length = whole(architecture.context) if wanted is None else wanted
    if length is None:
        raise InputError(f"{architecture.name} has no length of its own; give --seq")
    rows = whole(architecture.position_entries)
    if architecture.positions == "learned" and rows and length > rows:
        raise InputError(
            f"--seq {length} is more than the {rows} positions that {architecture.name} has "
            f"learned; at most {rows}"
        )
    if not 1 <= length <= 10**9:
        raise InputError(f"--seq {length}: give a length from 1 to 1e9")
    return length
