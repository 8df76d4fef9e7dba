"""Simulated curves as documents, as JSON and as CSV."""

import re
from pathlib import Path
from typing import Any

from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, number
from symscale.pages.page import Page
from symscale.simulator.sparse_mlp.curve import LINEAR_SHARE
from symscale.simulator.sparse_mlp.parameters import device_values
from symscale.simulator.sparse_mlp.shapes import BATCH_RULES
from symscale.simulator.tables.curves import CURVE_COLUMNS, END, LAST, Row, csv_text
from symscale.simulator.tables.runs import Assumptions, SimulatedCurves, SimulatedRun
from symscale.version import __version__

_DAY_S = 86400


def curves_document(found: SimulatedCurves) -> Document:
    """Curves of utilization, one after another."""
    runs = found.runs
    wide = runs[0].assumptions.wide
    blocks: list[Block] = [
        paragraph(
            f"For each model the smallest cluster{'' if wide else ' E 2^k'} that finishes in "
            "time, and its best plan. Splits are data x tensor x pipeline x expert."
        )
    ]
    for text in dict.fromkeys(t for run in runs for t in assumption_texts(run.assumptions)):
        blocks.append(paragraph(text))
    for run in runs:
        blocks += [Heading(f"{run.title(runs)} ({run.machine.name})"), *_curve(run)]
    return Document("Utilization of the best plans", tuple(blocks))


def _spaced(rule: str) -> str:
    """A rule with room around its products, where a line may end."""
    return re.sub(r"(?<![* ])\*(?![* ])", " * ", rule)


def assumption_texts(assumed: Assumptions) -> list[str]:
    """What was assumed, in sentences."""
    rules = assumed.rules
    batch = BATCH_RULES.get(rules.batch, rules.batch)
    named = f" ({rules.batch})" if rules.batch in BATCH_RULES else ""
    texts = [
        f"Rules: L near {_spaced(rules.depth)}; E near {_spaced(rules.experts)}; "
        f"D = {_spaced(rules.data)}; b near {_spaced(batch)}{named}, in sequences of 2048 tokens."
    ]
    if assumed.duration_s is not None:
        texts.append(f"Time allowed: {assumed.duration_s / _DAY_S:.6g} days.")
    texts.append(
        "Wide space: every split, microbatch count, interleaving and schedule; memory counts "
        "activations, computed again where only that makes room."
        if assumed.wide
        else "Published space: see docs/simulator.md; memory leaves out activations."
    )
    if assumed.as_published:
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


def curves_data(found: SimulatedCurves) -> dict[str, Json]:
    """Curves of utilization as JSON data."""
    runs = found.runs
    return {
        "title": "Utilization of the best plans",
        "curves": [
            {
                "hardware": run.machine.name,
                "title": run.title(runs),
                "assumptions": assumptions_data(run.assumptions),
                "end_of_linear_scaling_flop": _flop(_marked(run, END)),
                "last_feasible_run_flop": _flop(_marked(run, LAST)),
                "points": [
                    {n: row[n] for n in (*CURVE_COLUMNS, "mark") if n != "hardware"}
                    for row in run.rows
                ],
            }
            for run in runs
        ],
        "version": __version__,
    }


def _flop(row: Row | None) -> float | None:
    return None if row is None else number(row["compute_flop"])


def assumptions_data(assumptions: Assumptions) -> dict[str, Json]:
    """What was assumed, as JSON data."""
    rules = assumptions.rules
    return {
        "depth": rules.depth, "experts": rules.experts, "data": rules.data,
        "batch": BATCH_RULES.get(rules.batch, rules.batch), "duration_s": assumptions.duration_s,
        "as_published": assumptions.as_published,
        "space": "wide" if assumptions.wide else "published",
    }  # fmt: skip


def curves_csv(found: SimulatedCurves) -> str:
    """The rows of all curves as CSV."""
    rows = [row for run in found.runs for row in run.rows]
    return csv_text(rows, (*CURVE_COLUMNS, "mark"))


def _draw(found: SimulatedCurves, path: Path) -> None:
    from symscale.pages.figures.curves import curve_plot

    curve_plot(found.runs, path)


def _line(found: SimulatedCurves) -> str:
    points = sum(len(run.rows) for run in found.runs)
    names = ", ".join(dict.fromkeys(run.machine.name for run in found.runs))
    return f"{names[:150]}, {points} point{'' if points == 1 else 's'}"


PAGES = (
    Page(SimulatedCurves, curves_document, curves_data, _line, figure=_draw, table=curves_csv),
)
