"""The best plans of a Transformer as a document and as JSON."""

from collections.abc import Sequence
from typing import Any

from symscale.facts.machines.lumped import Machine
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.of.cost import taken
from symscale.pages.page import Page
from symscale.simulator.transformer.answer import TransformerPlans
from symscale.simulator.transformer.planning import PlannedStep

LABELS = {
    "N_DP": "data", "N_TP": "tensor", "N_PP": "pipeline", "N_CP": "context", "N_EP": "expert",
}


def transformer_plan_document(found: TransformerPlans) -> Document:
    """The best plan, its time by component, what binds, and the runners-up."""
    question, machine, plans = found.question, found.machine, found.plans
    training_tokens, cluster = found.training_tokens, found.cluster
    best = plans[0]
    architecture = question.architecture
    tokens = question.sequences * question.context
    blocks: list[Block] = [
        paragraph(
            f"{architecture.title} ({architecture.name}); a step of {question.sequences} sequences "
            f"of {question.context} tokens."
        ),
        paragraph(
            "Utilization (MFU) ", Number(best.mfu, digits=4), "; a step takes ",
            Number(best.seconds, "s", 4), f". What binds: {best.binds}. Rates: {cluster.source}.",
        ),
    ]
    if training_tokens is not None:
        days = training_tokens / tokens * best.seconds / 86400
        blocks.append(
            paragraph("A run of ", Number(training_tokens, "token", 4), " takes ",
                      Number(days, "d", 4), ".")
        )
    blocks += [
        Heading("Plan"), _degrees(best, machine), paragraph(f"{_schedule(best)}."),
    ]
    words = best.plan.words
    blocks += taken({name: words[name] for name in question.defaults if name in words})
    blocks += [Heading("Time of a step"), _times(best)]
    blocks.append(paragraph(
        f"Of the step {best.bubble * 100:.1f} % fills and drains the pipeline; it is contained in "
        "the components."
    ))
    capacity = float(machine.memory_capacity_bytes)
    blocks += [
        Heading("Memory of a device"),
        paragraph(Number(best.memory_bytes / 1e9, "GB", 4), " of ",
                  Number(capacity / 1e9, "GB", 4), ", activations counted."),
    ]
    if len(plans) > 1:
        blocks += [Heading("Runners-up"), _runners_up(plans[1:])]
    return Document(
        f"Best plan for {question.devices} x {machine.title} ({machine.name})", tuple(blocks)
    )


def _degrees(step: PlannedStep, machine: Machine) -> Table:
    columns = [Column("split"), *(Column(t.name, right=True) for t in machine.tiers),
               Column("in all", right=True)]
    rows: list[tuple[Cell, ...]] = []
    for name, label in LABELS.items():
        rows.append((label, *map(str, step.by_tier[name]), str(step.plan.degrees[name])))
    return Table(tuple(columns), tuple(rows))


def _schedule(step: PlannedStep) -> str:
    found = step.plan
    parts = [f"{found.m} microbatches"]
    if found.v > 1:
        parts.append(f"interleaving {found.v}")
    parts.append("zero-bubble schedule" if found.schedule == "zero-bubble" else "1F1B")
    parts.append(f"recomputation: {found.recompute}")
    if found.sequence_parallel and found.N_TP > 1:
        parts.append("sequence parallelism")
    if found.fused_attention:
        parts.append("fused attention")
    parts.append(f"sharding stage {found.zero}, recipe {found.recipe}")
    return "; ".join(parts)


def _times(step: PlannedStep) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, Number(seconds * 1e3, digits=4), f"{seconds / step.seconds * 100:.1f} %")
        for name, seconds in step.components.items()
    ]
    rows.append(("step", Number(step.seconds * 1e3, digits=4), "100.0 %"))
    columns = (Column("component"), Column("ms", right=True), Column("of the step", right=True))
    return Table(columns, tuple(rows))


def _runners_up(plans: Sequence[PlannedStep]) -> Table:
    columns = [*(Column(label, right=True) for label in LABELS.values()), Column("m", right=True),
               Column("v", right=True), Column("recompute"), Column("MFU", right=True)]
    rows: list[tuple[Cell, ...]] = [
        (*(str(step.plan.degrees[name]) for name in LABELS), str(step.plan.m),
         str(step.plan.v), step.plan.recompute, f"{step.mfu:.4f}")
        for step in plans
    ]
    return Table(tuple(columns), tuple(rows))


def transformer_plan_data(found: TransformerPlans) -> dict[str, Any]:
    """The best plans with stable keys."""
    question, machine, plans = found.question, found.machine, found.plans
    training_tokens, cluster = found.training_tokens, found.cluster
    tokens = question.sequences * question.context
    return {
        "model": question.architecture.name,
        "hardware": machine.name,
        "devices": question.devices,
        "batch": {"tokens": tokens, "sequences": question.sequences,
                  "tokens_per_sequence": question.context},
        "class": {
            "name": cluster.name, "source": cluster.source, "flop_rate": cluster.flop_rate,
            "memory_rate": cluster.memory_rate, "link_rates": [
                None if rate == float("inf") else rate for rate in cluster.link_rates
            ],
            "block_overhead_s": cluster.block_overhead_s, "overlap": cluster.overlap,
        },
        "switches": {
            name: switch for name, switch in vars(question.plan.switches).items()
            if name != "recompute"
        },
        "defaults": list(question.defaults),
        "plans": [
            {
                "degrees": step.plan.degrees,
                "by_tier": {name: list(parts) for name, parts in step.by_tier.items()},
                "recompute": step.plan.recompute,
                "step_s": step.seconds,
                "components_s": step.components,
                "binds": step.binds,
                "bubble": step.bubble,
                "mfu": step.mfu,
                "memory_bytes": step.memory_bytes,
                "network_bytes": step.network_bytes,
                "training_s": None if training_tokens is None
                else training_tokens / tokens * step.seconds,
            }
            for step in plans
        ],
    }


def _line(found: TransformerPlans) -> str:
    plan, name = found.best.plan, found.question.architecture.name
    return (
        f"{name} on {found.question.devices} x {found.machine.name}, tp {plan.N_TP}, cp "
        f"{plan.N_CP}, dp {plan.N_DP}, pp {plan.N_PP}; {found.best.seconds:.4g} s, MFU "
        f"{found.best.mfu:.3f}"
    )


PAGES = (Page(TransformerPlans, transformer_plan_document, transformer_plan_data, _line),)
