"""The best plans of a sparse MLP as a document and as JSON."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import notation, symbol
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Formula,
    Heading,
    Number,
    Paragraph,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, number
from symscale.pages.of.simulate import assumption_texts, assumptions_data
from symscale.pages.page import Page
from symscale.simulator.sparse_mlp.curve import Point
from symscale.simulator.sparse_mlp.parameters import WORD_BYTES, device_values
from symscale.simulator.sparse_mlp.planning import binding, components
from symscale.simulator.sparse_mlp.step import PARTS
from symscale.simulator.tables.curves import MONTH_S
from symscale.simulator.tables.runs import MLPPlans
from symscale.version import __version__

_DAY_S = 86400
_NAMES = {
    "N_DP": "data", "N_TP_model": "tensor, d_model", "N_TP_ff": "tensor, d_ff",
    "N_PP": "pipeline", "N_EP": "expert",
}  # fmt: skip


def plan_document(found: MLPPlans) -> Document:
    """The best plan of a model on a cluster, and the runners-up."""
    machine, points = found.machine, found.points
    best = points[0]
    shape = best.plan.problem.shape
    model = ("d_model", shape.d_model), ("d_ff", shape.d_ff), ("L", shape.layers), (
        "E", shape.experts), ("b", shape.batch_tokens), ("D", shape.run_tokens)  # fmt: skip
    sizes: list[Any] = []
    for name, value in model:
        unit = notation(name).unit
        sizes += [Formula(symbol(name)), " = ", Number(value, unit, 8), ", "]
    blocks: list[Block] = [
        paragraph("Model: ", *sizes[:-1], "."),
        *(paragraph(text) for text in assumption_texts(found.assumptions)),
        paragraph(
            "Utilization (MFU) ", Number(best.utilization, digits=4), "; a run of ",
            Number(shape.training_flop, "FLOP", 4), " takes ",
            Number(best.training_s / _DAY_S, "days", 4), ". What binds: ", binding(best), ".",
        ),
        Heading("Plan"),
        _degrees_table(machine, best),
        paragraph(_schedule_text(best)),
        Heading("Time of a step"),
        _components_table(best),
        _streams(best),
        Heading("Memory of a device"),
        _memory(machine, best),
    ]  # fmt: skip
    if len(points) > 1:
        blocks += [Heading("Runners-up"), _runners_up(points[1:])]
    title = f"Best plan for {best.plan.problem.devices} x {machine.title} ({machine.name})"
    return Document(title, tuple(blocks))


def _schedule_text(point: Point) -> str:
    plan = point.plan
    if prod(plan.degrees["N_PP"]) == 1:
        schedule = "no pipeline"
    elif plan.schedule.zero_bubble:
        schedule = "zero-bubble schedule"
    elif plan.interleaving > 1:
        schedule = f"interleaved 1F1B, {plan.interleaving} chunks a stage"
    else:
        schedule = "1F1B"
    again = "; activations are computed again" if plan.schedule.recompute else ""
    return f"Schedule: {schedule}; {plan.microbatches} microbatches{again}."


def _degrees_table(machine: Machine, point: Point) -> Table:
    columns = (
        Column("split"), *(Column(t.name, right=True) for t in machine.tiers),
        Column("in all", right=True),
    )  # fmt: skip
    rows = tuple(
        (_NAMES[name], *(str(d) for d in degrees), str(prod(degrees)))
        for name, degrees in point.plan.degrees.items()
    )
    return Table(columns, rows)


def _components_table(point: Point) -> Table:
    columns = (
        Column("component"), Column("ms", right=True), Column("of the step", right=True),
        Column(""),
    )  # fmt: skip
    step = point.plan.step_s
    rows = [
        (
            c.name, Number(c.seconds * 1e3, digits=4), f"{100 * c.seconds / step:.1f} %",
            "binds" if c.binds else "hidden" if c.hidden and c.seconds else "",
        )
        for c in components(point)
    ]  # fmt: skip
    rows.append(("step", Number(step * 1e3, digits=4), "100.0 %", ""))
    return Table(columns, tuple(rows))


def _streams(point: Point) -> Paragraph:
    parts = [
        f"{name} {100 * seconds / point.plan.step_s:.1f} %"
        for name, seconds in point.streams.items()
    ]
    return paragraph("In the matrix products, alone: ", ", ".join(parts), " of the step.")


def _memory(machine: Machine, point: Point) -> Paragraph:
    devices = point.plan.problem.devices
    capacity = device_values(machine)["S_mem"] * WORD_BYTES
    return paragraph(
        "Parameters and optimizer ", Number(point.state_bytes / devices / 1e9, "GB", 4),
        " of ", Number(capacity / 1e9, "GB", 4), "; activations ",
        Number(point.activation_bytes / devices / 1e9, "GB", 4), ".",
    )  # fmt: skip


def _runners_up(points: Sequence[Point]) -> Table:
    columns = (
        Column("data"), Column("tensor"), Column("pipeline"), Column("expert"),
        Column("m", right=True), Column("v", right=True), Column("U", right=True),
    )  # fmt: skip
    rows = []
    for point in points:
        degrees = {n: "x".join(map(str, d)) for n, d in point.plan.degrees.items()}
        rows.append(
            (
                degrees["N_DP"], f"{degrees['N_TP_model']} * {degrees['N_TP_ff']}",
                degrees["N_PP"], degrees["N_EP"], str(point.plan.microbatches),
                str(point.plan.interleaving), f"{point.utilization:.4f}",
            )
        )  # fmt: skip
    return Table(columns, tuple(rows))


def plan_data(found: MLPPlans) -> dict[str, Json]:
    """The best plan of a model on a cluster, and the runners-up, as JSON data."""
    machine, points = found.machine, found.points
    best = points[0]
    shape = best.plan.problem.shape
    return {
        "title": "Best plan",
        "hardware": machine.name,
        "devices": best.plan.problem.devices,
        "model": {
            "name": "sparse-mlp", "d_model": shape.d_model, "d_ff": shape.d_ff,
            "layers": shape.layers, "experts": shape.experts,
            "batch_tokens": shape.batch_tokens, "run_tokens": number(shape.run_tokens),
            "parameters": number(shape.parameters), "training_flop": number(shape.training_flop),
        },
        "assumptions": assumptions_data(found.assumptions),
        "memory_capacity_bytes": device_values(machine)["S_mem"] * WORD_BYTES,
        "best": _point_data(machine, best),
        "runners_up": [_point_data(machine, p) for p in points[1:]],
        "version": __version__,
    }  # fmt: skip


def _point_data(machine: Machine, point: Point) -> dict[str, Json]:
    plan, devices = point.plan, point.plan.problem.devices
    tiers = [t.name for t in machine.tiers]
    degrees: dict[str, Json] = {
        name: {"total": prod(d), **_by_tier(tiers, d)} for name, d in plan.degrees.items()
    }
    return {
        "utilization": number(point.utilization),
        "training_s": number(point.training_s),
        "months": number(point.training_s / MONTH_S),
        "step_s": number(plan.step_s),
        "degrees": degrees,
        "microbatches": plan.microbatches,
        "interleaving": plan.interleaving,
        "zero_bubble": plan.schedule.zero_bubble,
        "recompute": plan.schedule.recompute,
        "binds": binding(point),
        "components": [
            {"name": c.name, "seconds": number(c.seconds), "hidden": c.hidden, "binds": c.binds}
            for c in components(point)
        ],
        "parts": {name: number(point.parts[name]) for name in PARTS},
        "product_streams_s": {name: number(s) for name, s in point.streams.items()},
        "state_bytes_per_device": number(point.state_bytes / devices),
        "activation_bytes_per_device": number(point.activation_bytes / devices),
    }


def _by_tier(tiers: Sequence[str], degrees: Sequence[int]) -> Mapping[str, Json]:
    return {"by_tier": dict(zip(tiers, degrees, strict=True))}


PAGES = (Page(MLPPlans, plan_document, plan_data),)
