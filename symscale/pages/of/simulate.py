"""Simulated plans and curves as documents and data."""

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import symscale
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
from symscale.simulator.sparse_mlp.curve import LINEAR_SHARE, Point
from symscale.simulator.sparse_mlp.parameters import WORD_BYTES, device_values
from symscale.simulator.sparse_mlp.planning import binding, components
from symscale.simulator.sparse_mlp.shapes import BATCH_RULES
from symscale.simulator.sparse_mlp.step import PARTS
from symscale.simulator.tables.curves import CURVE_COLUMNS, END, LAST, MONTH_S, Row
from symscale.simulator.tables.runs import Assumptions, SimulatedRun

_DAY_S = 86400
_NAMES = {
    "N_DP": "data", "N_TP_model": "tensor, d_model", "N_TP_ff": "tensor, d_ff",
    "N_PP": "pipeline", "N_EP": "expert",
}  # fmt: skip


def curves_document(runs: Sequence[SimulatedRun]) -> Document:
    """Curves of utilization, one after another."""
    wide = runs[0].assumptions.wide
    blocks: list[Block] = [
        paragraph(
            f"For each model the smallest cluster{'' if wide else ' E 2^k'} that finishes in "
            "time, and its best plan. Splits are data x tensor x pipeline x expert."
        )
    ]
    for text in dict.fromkeys(t for run in runs for t in _assumptions(run.assumptions)):
        blocks.append(paragraph(text))
    for run in runs:
        blocks += [Heading(f"{run.title(runs)} ({run.machine.name})"), *_curve(run)]
    return Document("Utilization of the best plans", tuple(blocks))


def _spaced(rule: str) -> str:
    """A rule with room around its products, where a line may end."""
    return re.sub(r"(?<![* ])\*(?![* ])", " * ", rule)


def _assumptions(assumptions: Assumptions) -> list[str]:
    rules = assumptions.rules
    batch = BATCH_RULES.get(rules.batch, rules.batch)
    named = f" ({rules.batch})" if rules.batch in BATCH_RULES else ""
    texts = [
        f"Rules: L near {_spaced(rules.depth)}; E near {_spaced(rules.experts)}; "
        f"D = {_spaced(rules.data)}; b near {_spaced(batch)}{named}, in sequences of 2048 tokens."
    ]
    if assumptions.duration_s is not None:
        texts.append(f"Time allowed: {assumptions.duration_s / _DAY_S:.6g} days.")
    texts.append(
        "Wide space: every split, microbatch count, interleaving and schedule; memory counts "
        "activations, computed again where only that makes room."
        if assumptions.wide
        else "Published space: see docs/simulator.md; memory leaves out activations."
    )
    if assumptions.as_published:
        texts.append("As published: zero-bubble schedules leave out the latency of a step.")
    return texts


def _curve(run: SimulatedRun) -> list[Block]:
    columns = (
        Column("T [FLOP]"), Column("d_model", right=True), Column("devices", right=True),
        Column("U", right=True), Column("months", right=True), Column("splits"),
        Column("", wrap=True, share=0.15),
    )  # fmt: skip
    rows = tuple(
        (
            Number(row["compute_flop"], digits=4), str(row["d_model"]), str(row["N"]),
            f"{row['utilization']:.4f}", f"{row['months']:.2f}",
            "x".join(str(row[name]) for name in ("N_DP", "N_TP", "N_PP", "N_EP")), row["mark"],
        )
        for row in run.rows
    )  # fmt: skip
    blocks: list[Block] = [Table(columns, rows)] if rows else []
    return [*blocks, *(paragraph(*text) for text in _marks(run))]


def _marks(run: SimulatedRun) -> list[tuple[Any, ...]]:
    if not run.rows:
        return [("No cluster finishes the first of these models in time.",)]
    share = LINEAR_SHARE * device_values(run.machine)["C_s"] / device_values(run.machine)["C"]
    texts: list[tuple[Any, ...]] = []
    end, last = _marked(run, END), _marked(run, LAST)
    if end is not None:
        texts.append(
            ("Linear scaling ends at ", Number(end["compute_flop"], "FLOP", 3),
             f": utilization falls to {share:.3g} or less there for the first time.")
        )  # fmt: skip
    else:
        texts.append((f"Linear scaling does not end here: utilization is above {share:.3g}.",))
    if last is not None:
        texts.append(
            ("The largest run that finishes in time takes ",
             Number(last["compute_flop"], "FLOP", 3), ".")
        )  # fmt: skip
    return texts


def _marked(run: SimulatedRun, mark: str) -> Row | None:
    return next((row for row in run.rows if mark in row["mark"]), None)


def curves_data(runs: Sequence[SimulatedRun]) -> dict[str, Json]:
    """Curves of utilization as JSON data."""
    return {
        "title": "Utilization of the best plans",
        "curves": [
            {
                "hardware": run.machine.name,
                "title": run.title(runs),
                "assumptions": _assumptions_data(run.assumptions),
                "end_of_linear_scaling_flop": _flop(_marked(run, END)),
                "last_feasible_run_flop": _flop(_marked(run, LAST)),
                "points": [
                    {n: row[n] for n in (*CURVE_COLUMNS, "mark") if n != "hardware"}
                    for row in run.rows
                ],
            }
            for run in runs
        ],
        "version": symscale.__version__,
    }


def _flop(row: Row | None) -> float | None:
    return None if row is None else number(row["compute_flop"])


def _assumptions_data(assumptions: Assumptions) -> dict[str, Json]:
    rules = assumptions.rules
    return {
        "depth": rules.depth, "experts": rules.experts, "data": rules.data,
        "batch": BATCH_RULES.get(rules.batch, rules.batch), "duration_s": assumptions.duration_s,
        "as_published": assumptions.as_published,
        "space": "wide" if assumptions.wide else "published",
    }  # fmt: skip


def plan_document(
    machine: Machine, points: Sequence[Point], assumptions: Assumptions
) -> Document:
    """The best plan of a model on a cluster, and the runners-up."""
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
        *(paragraph(text) for text in _assumptions(assumptions)),
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


def plan_data(
    machine: Machine, points: Sequence[Point], assumptions: Assumptions
) -> dict[str, Json]:
    """The best plan of a model on a cluster, and the runners-up, as JSON data."""
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
        "assumptions": _assumptions_data(assumptions),
        "memory_capacity_bytes": device_values(machine)["S_mem"] * WORD_BYTES,
        "best": _point_data(machine, best),
        "runners_up": [_point_data(machine, p) for p in points[1:]],
        "version": symscale.__version__,
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
