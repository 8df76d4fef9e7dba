"""Projected iterations as a document, as CSV and as JSON."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symscale.answers import Answer
from symscale.facts.machines.lumped import Machine
from symscale.measure.iterations.projection import Projected, Projection
from symscale.measure.machines.preset_file import Fit
from symscale.pages.formats.document import Block, Cell, Column, Document, Heading, Table, paragraph
from symscale.pages.of.fit import fits_tables
from symscale.pages.of.profile import time_text
from symscale.pages.page import Page
from symscale.studies.comp_vs_comm.future import Case

LENGTH = 2048


@dataclass(frozen=True, repr=False)
class ProjectedGrid(Answer):
    """The grid of future models, projected from a baseline.

    Attributes:
        projection: The cases.
        grid: The same cases as formulas have them.
        ks: How many times faster than the network arithmetic has become, as written.
        machine: Whose memory decides which cases fit.
        name: Of the baseline's file.
    """

    page = "project"
    projection: Projection
    grid: Sequence[Case]
    ks: tuple[str, ...]
    machine: Machine
    name: str


def projection_document(grid: ProjectedGrid) -> Document:
    """Operator models, shares with their errors, and the cost of profiling saved."""
    found, ks, hardware = grid.projection, grid.ks, grid.machine.title
    fitting = [case for case in found.cases if case.fits]
    base = found.baseline
    blocks: list[Block] = [
        paragraph(
            f"{len(found.cases)} cases projected from operators of one iteration; "
            f"{len(found.cases) - len(fitting)} do not fit the memory of {hardware}. Computation "
            "is divided by k; an error is one standard error, from the parameters of the operator "
            "models and the scatter of what they were fitted to."
        ),
        Heading("Operator models"),
        *fits_tables([
            Fit(j.model.operator, base.word_bytes, 0, 0, j, j)
            for operator, j in base.models.items() if operator is j.model.operator
        ], proportional=False),
        *(paragraph(f"Note: {note}.") for note in base.notes),
        Heading("Share of serialized communication"),
        _summary(found, ks),
    ]
    blocks += [_table(found, i, k) for i, k in enumerate(ks)]
    blocks += [Heading("What profiling would have cost"), paragraph(_cost(found, len(fitting)))]
    return Document("Projected iterations", tuple(blocks))


def _summary(found: Projection, ks: Sequence[str]) -> Table:
    columns = (
        Column("k", right=True), Column("median", right=True), Column("error", right=True),
        Column("least", right=True), Column("most", right=True),
        Column("with exposed", right=True), Column("cases with exposed", right=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for i, row in enumerate(summary(found)):
        rows.append((
            ks[i], _percent(row["median"]), _percent(row["error"]), _percent(row["least"]),
            _percent(row["most"]), _percent(row["communication"]), _percent(row["exposed"]),
        ))
    return Table(
        columns, tuple(rows),
        "Over all cases that fit. Error: the median of the cases' standard errors. With exposed: "
        "the median share of all communication that is not hidden, that of gradients included.",
    )


def summary(found: Projection) -> list[dict[str, float]]:
    """Shares over all cases that fit, for each k, as fractions."""
    fitting = [case for case in found.cases if case.fits]
    rows = []
    for i in range(len(found.ks)):
        shares = np.array([case.times[i].share for case in fitting])
        rows.append({
            "median": float(np.median(shares)), "least": float(shares.min()),
            "most": float(shares.max()),
            "error": float(np.median([case.errors[i] for case in fitting])),
            "communication": float(np.median([c.times[i].communication_share for c in fitting])),
            "exposed": float(np.mean([c.times[i].exposed_s > 0 for c in fitting])),
        })
    return rows


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def _table(found: Projection, i: int, k: str) -> Table:
    chosen = {
        (c.sizes.d_model, c.sizes.N_TP): c for c in found.cases
        if c.sizes.n_ctx == LENGTH and c.sizes.sequences == 1
    }
    degrees = sorted({degree for _, degree in chosen})
    rows: list[tuple[Cell, ...]] = [
        (str(width), *(_share(chosen[width, degree], i) for degree in degrees))
        for width in sorted({width for width, _ in chosen})
    ]
    columns = (
        Column("d_model", right=True), *(Column(f"TP {d}", right=True) for d in degrees)
    )
    return Table(
        columns, tuple(rows),
        f"Percent of a step at k = {k}, sequences of {LENGTH} tokens; * does not fit.",
    )


def _share(case: Projected, i: int) -> str:
    share, error = case.times[i].share * 100, case.errors[i] * 100
    return f"{share:.0f}±{error:.1f}" + ("" if case.fits else "*")


def _cost(found: Projection, fitting: int) -> str:
    base = found.baseline
    return (
        f"One iteration of {found.blocks} blocks of each of the {fitting} cases that fit would "
        f"take {found.runs_s:.4g} s on today's hardware, {found.device_s:.4g} s times devices; "
        f"the baseline took {time_text(base.seconds)} on each of {base.devices}. Time of the runs "
        f"not made over time of the baseline: {found.saved:.4g}; with devices counted "
        f"{found.device_s / base.seconds / base.devices:.4g}."
    )


def _rows(found: Projection, ks: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of all cases; times are those of one block, in seconds."""
    header = ["d_model", "sequences", "n_ctx", "N_TP", "N_DP", "fits"]
    names = ("compute_s", "serialized_s", "overlapped_s", "exposed_s", "step_s", "share",
             "share_error", "communication_share")
    header += [f"{name}_k{k}" for k in ks for name in names]
    rows = []
    for case in found.cases:
        s = case.sizes
        row: list[Any] = [s.d_model, s.sequences, s.n_ctx, s.N_TP, s.N_DP,
                          "yes" if case.fits else "no"]
        for times, error in zip(case.times, case.errors, strict=True):
            row += [times.compute_s, times.serialized_s, times.overlapped_s, times.exposed_s,
                    times.step_s, times.share, error, times.communication_share]
        rows.append(row)
    return header, rows


def projection_csv(grid: ProjectedGrid) -> str:
    """Return all cases as CSV."""
    header, rows = _rows(grid.projection, grid.ks)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows])
    return stream.getvalue()


def projection_data(grid: ProjectedGrid) -> dict[str, Any]:
    """Return all cases as JSON."""
    found = grid.projection
    base = found.baseline
    return {
        "k": list(found.ks),
        "summary": summary(found),
        "blocks": found.blocks,
        "baseline_s": base.seconds,
        "baseline_devices": base.devices,
        "runs_not_made_s": found.runs_s,
        "runs_not_made_device_s": found.device_s,
        "profiling_cost_saved": found.saved,
        "notes": list(base.notes),
        "cases": [
            {
                "d_model": c.sizes.d_model, "sequences": c.sizes.sequences,
                "n_ctx": c.sizes.n_ctx, "N_TP": c.sizes.N_TP, "N_DP": c.sizes.N_DP,
                "fits": c.fits,
                "share": [t.share for t in c.times],
                "share_error": list(c.errors),
                "communication_share": [t.communication_share for t in c.times],
                "compute_s": [t.compute_s for t in c.times],
                "serialized_s": [t.serialized_s for t in c.times],
                "overlapped_s": [t.overlapped_s for t in c.times],
                "exposed_s": [t.exposed_s for t in c.times],
                "step_s": [t.step_s for t in c.times],
            }
            for c in found.cases
        ],
    }


def _draw(found: ProjectedGrid, path: Path) -> None:
    from symscale.pages.figures.shares import projected_share_plot

    projected_share_plot(found.projection, found.grid, found.ks, found.name, path)


PAGES = (
    Page(
        ProjectedGrid, projection_document, projection_data, figure=_draw, table=projection_csv,
    ),
)
