"""Measured runs beside computed ones: as a document, as JSON, and as a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symscale.answers import Answer
from symscale.compare.measured import UNITS, ComparedRun, PlanChoice, Summary, choices, summary
from symscale.compare.published import MemoryRow, RunSet
from symscale.language.sources import load_sources
from symscale.measure.runs.classes import CalibratedClass
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
from symscale.pages.formats.json import Json
from symscale.pages.formats.references import References
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class OwnRuns(Answer):
    """A user's runs, computed.

    Attributes:
        file: Where they come from, printable.
        rows: The comparisons.
        classes: The classes on which they were computed.
        notes: What was assumed.
        at_bound: Constants of a class fitted to these runs that ended at the data sheet.
    """

    page = "validate"
    file: str
    rows: tuple[ComparedRun, ...]
    classes: tuple[CalibratedClass, ...]
    notes: tuple[str, ...]
    at_bound: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[ComparedRun, ...]:
        """The rows that no fit saw; all, where it saw all."""
        return tuple(row for row in self.rows if not row.seen) or self.rows


@dataclass(frozen=True, repr=False)
class PublishedRuns(Answer):
    """The published runs, computed.

    Attributes:
        sets: The sets of runs.
        memory: The published memory.
    """

    page = "validate"
    sets: tuple[RunSet, ...]
    memory: tuple[MemoryRow, ...]


def percent(share: float | None, signed: bool = True) -> str:
    """A fraction in percent.

    Example:
        >>> percent(-0.0312), percent(0.05, signed=False), percent(None)
        ('-3.1 %', '5.0 %', '')
    """
    if share is None:
        return ""
    return f"{share * 100:+.1f} %" if signed else f"{share * 100:.1f} %"


def _rank(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


# Documents


def published_document(found: PublishedRuns) -> Document:
    """All published runs: a summary, the classes, every row, memory, what is left out."""
    sets, memory = found.sets, found.memory
    references = References()
    counted = [row for s in sets if s.counted for row in s.unseen]
    whole = summary(counted)
    blocks: list[Block] = [
        paragraph(
            f"{whole.runs} published runs that no fit saw: mean absolute difference "
            f"{percent(whole.mape, signed=False)}, worst {percent(whole.worst, signed=False)}, "
            f"bias {percent(whole.bias)}. Differences are computed over published, less one."
        ),
        Heading("Summary"), _sets(sets, references),
    ]
    blocks += [paragraph(f"{s.title}: {s.note}.") for s in sets]
    blocks += _classes(list({s.cluster.name: s.cluster for s in sets}.values()))
    for s in sets:
        blocks += [Heading(s.title), _rows(s.rows)]
        blocks += _choices(choices(s.rows))
    blocks += [Heading("Memory of a device"), _memory(memory)]
    blocks.append(
        paragraph(
            f"From {references.cite('korthikanti-2022')}. Absolute amounts equal the authors' own "
            "formulas for the blocks, so they check formulas; percentages were measured. "
            "Parameters and optimizer contain the embedding here."
        )
    )
    blocks.append(_left_out())
    blocks += references.blocks()
    return Document("Published runs, and what the formulas say of them", tuple(blocks))


def own_document(own: OwnRuns) -> Document:
    """A user's runs: a summary, the class, every row."""
    whole = summary(own.judged)
    ranks = _rank(whole.rank_correlation)
    fitted = any(row.seen for row in own.rows)
    alone = all(row.seen for row in own.rows)
    which = ", all of which the fit saw" if alone else " that the fit did not see" if fitted else ""
    blocks: list[Block] = [
        paragraph(
            f"{whole.runs} {'run' if whole.runs == 1 else 'runs'} of {own.file}{which}: mean "
            f"absolute difference {percent(whole.mape, signed=False)}, worst "
            f"{percent(whole.worst, signed=False)}, bias {percent(whole.bias)}"
            + (f", rank correlation within a model {ranks}" if ranks else "")
            + ". Differences are computed over published, less one."
        ),
    ]
    blocks += [paragraph(f"Assumed: {note}.") for note in own.notes]
    if own.at_bound:
        blocks.append(paragraph(
            f"At an end of what is tried (the data sheet's rate, say): {', '.join(own.at_bound)}. "
            "These runs do not tell it apart from what else takes time; more plans, unlike each "
            "other, would."
        ))
    blocks += _classes(own.classes)
    blocks += [Heading("Runs"), _rows(own.rows), *_choices(choices(own.rows)), _left_out()]
    return Document("Runs, and what the formulas say of them", tuple(blocks))


def _left_out() -> Block:
    return paragraph(
        "Left out: stragglers, failures, data loading, checkpoints. See docs/accuracy.md."
    )


def _sets(sets: Sequence[RunSet], references: References) -> Table:
    columns = (
        Column("published", wrap=True, share=0.3), Column("class"), Column("runs", right=True),
        Column("mean", right=True), Column("worst", right=True), Column("bias", right=True),
        Column("rank", right=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for s in sets:
        found = s.judged
        rows.append((
            f"{s.title} {references.cite(s.source)}", s.cluster.name,
            f"{found.runs} of {len(s.rows)}", percent(found.mape, signed=False),
            percent(found.worst, signed=False), percent(found.bias),
            _rank(summary(s.rows).rank_correlation),
        ))
    return Table(columns, tuple(rows), "Of the runs that no fit saw; ranks of all.")


def _classes(classes: Sequence[CalibratedClass]) -> list[Block]:
    columns = (
        Column("class"), Column("products", right=True), Column("memory", right=True),
        Column("node", right=True), Column("cluster", right=True),
        Column("a block", right=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for c in classes:
        links = c.rates.link_rates
        rows.append((
            c.name, Number(c.rates.flop_rate / 1e12, "TFLOP/s", 4),
            Number(c.rates.memory_rate / 1e9, "GB/s", 4), Number(links[0] / 1e9, "GB/s", 4),
            "" if len(links) < 2 else Number(links[-1] / 1e9, "GB/s", 4),
            Number(c.rates.block_overhead_s * 1e3, "ms", 4),
        ))
    caption = "Rates that a device sustains; links in one direction."
    told = [paragraph(f"{c.name}: {c.title}; {c.fitted}.") for c in classes]
    return [Heading("Cluster classes"), Table(columns, tuple(rows), caption), *told]


def _rows(rows: Sequence[ComparedRun]) -> Table:
    columns = [
        Column("row"), Column("model"), Column("plan", wrap=True, share=0.28),
        Column("published", right=True), Column("computed", right=True),
        Column("difference", right=True),
    ]
    fitted = any(row.seen for row in rows)
    if fitted:
        columns.append(Column("fit"))
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        unit = UNITS[row.run.metric]
        cells.append((
            row.run.where.removeprefix("row "), row.run.model, row.run.plan_text,
            Number(row.run.published, unit, 5), Number(row.computed, unit, 4),
            percent(row.difference), *(["seen" if row.seen else ""] if fitted else []),
        ))
    return Table(tuple(columns), tuple(cells))


def _choices(found: Sequence[PlanChoice]) -> list[Block]:
    if not found:
        return []
    columns = (
        Column("model"), Column("runs", right=True), Column("rank", right=True),
        Column("predicted best", wrap=True, share=0.4), Column("it took", right=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (c.model, str(c.runs), _rank(c.rank_correlation), c.chosen.plan_text, percent(c.excess))
        for c in found
    )
    caption = "Rank correlation within a model; how much longer than the best its choice took."
    return [Table(columns, rows, caption)]


def _memory(rows: Sequence[MemoryRow]) -> Table:
    columns = (
        Column("model"), Column("plan", wrap=True, share=0.22),
        Column("what", wrap=True, share=0.16),
        Column("published", right=True), Column("computed", right=True),
        Column("difference", right=True),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (
            r.model, r.plan, r.what, f"{r.published:.2f} {r.unit}", f"{r.computed:.2f} {r.unit}",
            percent(r.difference),
        )
        for r in rows
    )
    return Table(columns, cells)


# JSON


def published_data(found: PublishedRuns) -> dict[str, Any]:
    """All published runs; the summary is of those that no fit saw."""
    sets, memory = found.sets, found.memory
    counted = [row for s in sets if s.counted for row in s.unseen]
    return {
        **_summary(summary(counted)),
        "rows": [_row(row, s.name) for s in sets if s.counted for row in s.rows],
        "sets": [
            {
                "name": s.name, "title": s.title, "source": s.source,
                "where": load_sources()[s.source].where, "class": s.cluster.name,
                "counted": s.counted, "note": s.note, **_summary(s.judged),
                "all": _summary(summary(s.rows)), "choices": _choice_data(choices(s.rows)),
                "rows": [_row(row, s.name) for row in s.rows],
            }
            for s in sets
        ],
        "memory": [
            {
                "model": r.model, "plan": r.plan, "what": r.what, "unit": r.unit,
                "published": r.published, "computed": r.computed,
                "relative_difference": r.difference, "measured": r.measured,
            }
            for r in memory
        ],
        "classes": _class_data(list({s.cluster.name: s.cluster for s in sets}.values())),
    }


def own_data(own: OwnRuns) -> dict[str, Any]:
    """A user's runs; the summary is of those that no fit saw, where one was made."""
    return {
        **_summary(summary(own.judged)),
        "rows": [_row(row, own.file) for row in own.rows],
        "choices": _choice_data(choices(own.rows)),
        "classes": _class_data(own.classes),
        "assumed": list(own.notes),
        "at_bound": list(own.at_bound),
    }


def _summary(found: Summary) -> dict[str, Json]:
    return {
        "runs": found.runs, "mape": found.mape, "worst": found.worst, "bias": found.bias,
        "rank_correlation": found.rank_correlation,
    }


def _row(row: ComparedRun, name: str) -> dict[str, Json]:
    run = row.run
    return {
        "set": name, "row": run.where, "model": run.model, "plan": run.plan_text,
        "devices": run.plan.devices, "metric": run.metric, "unit": UNITS[run.metric],
        "published": run.published, "computed": row.computed,
        "relative_difference": row.difference, "class": row.cluster, "seen": row.seen,
    }


def _choice_data(found: Sequence[PlanChoice]) -> list[Json]:
    return [
        {
            "model": c.model, "runs": c.runs, "rank_correlation": c.rank_correlation,
            "predicted_best": c.chosen.plan_text, "measured_best": c.best.plan_text,
            "excess": c.excess,
        }
        for c in found
    ]


def _class_data(classes: Sequence[CalibratedClass]) -> list[Json]:
    return [
        {
            "name": c.name, "title": c.title, "hardware": c.machine.name, "fitted": c.fitted,
            "source": c.source, "flop_rate": c.rates.flop_rate,
            "memory_rate": c.rates.memory_rate, "link_rates": list(c.rates.link_rates),
            "block_overhead_s": c.rates.block_overhead_s, "overlap": c.rates.overlap,
        }
        for c in classes
    ]


def _draw_own(own: OwnRuns, path: Path) -> None:
    from symscale.pages.figures.parity import parity_plot

    parity_plot([(Path(own.file).name, own.rows)], path)


def _draw_published(found: PublishedRuns, path: Path) -> None:
    from symscale.pages.figures.parity import parity_plot

    groups = [(f"{s.name}, class {s.cluster.name}", s.rows) for s in found.sets if s.counted]
    parity_plot(groups, path)


PAGES = (
    Page(OwnRuns, own_document, own_data, figure=_draw_own),
    Page(PublishedRuns, published_document, published_data, figure=_draw_published),
)
