"""Ratios of computation to communication as a document and as JSON."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import sympy as sp

import symscale
from symscale.language.symbols import NOTATION, notation
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number
from symscale.pages.of.cost import shown
from symscale.pages.of.cost_data import value
from symscale.studies.comp_vs_comm.answer import Ratio, RatioAnswer
from symscale.studies.comp_vs_comm.future import Case


def ratios_document(answer: RatioAnswer) -> Document:
    """Edge, slack, share and the rest: formulas, leading terms, growth, numbers."""
    architecture = answer.request.model.architecture
    blocks: list[Block] = [paragraph(*_subject(answer))]
    if answer.nothing_waits:
        blocks.append(paragraph(
            "No communication is serialized under this plan: its share is 0 whatever k is, and "
            "there is no edge. Tensor or expert parallelism would have one."
        ))
    grown = False
    for ratio in answer.ratios:
        blocks.append(Heading(_title(ratio)))
        blocks.append(paragraph(f"{ratio.meaning[0].upper()}{ratio.meaning[1:]}."))
        blocks.append(Equation(ratio.cost.expr))
        rows: list[tuple[Cell, ...]] = []
        growth = ratio.growth
        if growth is not None and growth.leading is not None and growth.theta is not None:
            if sp.simplify(growth.leading - ratio.cost.expr) != 0:
                rows.append(("leading order", Formula(growth.leading)))
                grown = True
            if growth.theta not in (0, 1):
                grown = True
                rows.append(("grows like", Formula(growth.theta)))
        unit = str(ratio.cost.unit)
        rows.append(("unit", unit if unit != "1" else "a pure number"))
        if ratio.value is not None:
            rows.append(("value", Number(sp.Rational(ratio.value), "" if unit == "1" else unit)))
        blocks.append(Table((Column(""), Column("", wrap=True, share=0.7)), tuple(rows)))
    if grown:
        blocks.append(paragraph(
            "Leading order and growth: as the sizes, the batch and the degrees in a formula grow "
            "beyond all bounds. Numbers do not."
        ))
    blocks.append(Heading("Symbols"))
    blocks.append(_symbols(answer))
    blocks += [paragraph(f"Taken: {note}.") for note in answer.notes]
    return Document(f"Computation against communication: {architecture.title}", tuple(blocks))


def _title(ratio: Ratio) -> str:
    if ratio.k is not None:
        return f"{ratio.name} at k = {ratio.k}"
    if ratio.target is not None:
        return f"k at which the share is {float(ratio.target):g}"
    return ratio.name


def _subject(answer: RatioAnswer) -> list[str | Formula | Number]:
    model = answer.request.model
    parts: list[str | Formula | Number] = [f"{model.architecture.title}, blocks only; "]
    parts += ["tensor parallelism ", Formula(model.plan.N_TP), ", data parallelism "]
    parts += [Formula(model.plan.N_DP)]
    for name, degree in (("context", model.plan.N_CP), ("expert", model.plan.N_EP)):
        if degree != 1:
            parts += [f", {name} parallelism ", Formula(degree)]
    parts += [", sequences of ", Formula(model.context), " tokens"]
    if answer.machine is not None and answer.tier is not None:
        parts.append(f", on {answer.machine.title}, link of tier {answer.tier.name}")
    return [*parts, "."]


def _symbols(answer: RatioAnswer) -> Table:
    used: set[Any] = set().union(*(r.cost.expr.free_symbols for r in answer.ratios))
    rows: list[tuple[Cell, ...]] = []
    for entry in NOTATION.values():
        if entry.symbol in used:
            known = answer.values.get(entry.symbol)
            rows.append((
                Formula(entry.symbol), entry.meaning, entry.unit,
                "" if known is None else shown(known),
            ))
    columns = (Column("symbol"), Column("meaning", wrap=True, share=0.5), Column("unit"),
               Column("value", right=True))
    return Table(columns, tuple(rows))


def ratios_data(answer: RatioAnswer) -> dict[str, Any]:
    """Edge, slack, share and the rest with stable keys."""
    named = {r.name: ratio_data(r) for r in answer.ratios if r.k is None and r.target is None}
    plan = answer.request.model.plan
    return {
        "model": answer.request.model.architecture.name,
        "hardware": None if answer.machine is None else answer.machine.name,
        "tier": None if answer.tier is None else answer.tier.name,
        "plan": {"tp": value(plan.N_TP), "dp": value(plan.N_DP), "cp": value(plan.N_CP),
                 "ep": value(plan.N_EP)},
        "tokens_per_sequence": value(answer.request.model.context),
        "edge": None, "edge-word": None,
        **named,
        "share": _shares(answer, "share"),
        "share_with_latency": _shares(answer, "share with latency"),
        "crossing": [
            {"share": value(r.target), **ratio_data(r)}
            for r in answer.ratios if r.target is not None
        ],
        "contention": value(answer.contention),
        "parameters": {
            str(s): {"value": value(v), "unit": notation(s).unit, "meaning": notation(s).meaning}
            for s, v in sorted(answer.values.items(), key=lambda pair: str(pair[0]))
        },
        "assumed": list(answer.notes),
        "symscale_version": symscale.__version__,
    }


def _shares(answer: RatioAnswer, name: str) -> list[Json]:
    return [
        {"k": value(r.k), **ratio_data(r)}
        for r in answer.ratios if r.name == name and r.k is not None
    ]


def ratio_data(ratio: Ratio) -> dict[str, Json]:
    """One ratio: its formula, leading term, class and number."""
    growth = ratio.growth
    leading = None if growth is None else growth.leading
    theta = None if growth is None else growth.theta
    return {
        "meaning": ratio.meaning,
        **formula_data(ratio.cost.expr),
        "unit": str(ratio.cost.unit),
        "leading": None if leading is None else str(leading),
        "theta": None if theta is None else str(theta),
        "value": None if ratio.value is None else number(sp.Rational(ratio.value)),
    }


def sweep_rows(cases: Sequence[Case], ks: Sequence[object]) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of the grid of future cases."""
    header = ["d_model", "sequences", "n_ctx", "N_TP", "edge_flop_per_byte",
              "slack_flop_per_byte", *(f"share_k{k}" for k in ks), "block_memory_bytes", "fits"]
    rows = [
        [c.d_model, c.sequences, c.n_ctx, c.N_TP, c.edge, c.slack, *c.shares, c.memory_bytes,
         "yes" if c.fits else "no"]
        for c in cases
    ]
    return header, rows


def sweep_csv(cases: Sequence[Case], ks: Sequence[object]) -> str:
    """Return the grid of future cases as CSV."""
    header, rows = sweep_rows(cases, ks)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[repr(x) if isinstance(x, float) else x for x in row] for row in rows])
    return stream.getvalue()


def sweep_data(cases: Sequence[Case], ks: Sequence[object], machine: str) -> dict[str, Any]:
    """Return the grid of future cases as JSON."""
    return {
        "hardware": machine,
        "k": [float(str(k)) if "/" not in str(k) else float(sp.Rational(str(k))) for k in ks],
        "cases": [
            {
                "d_model": c.d_model, "sequences": c.sequences, "n_ctx": c.n_ctx, "N_TP": c.N_TP,
                "edge": c.edge, "slack": c.slack, "share": list(c.shares),
                "block_memory_bytes": c.memory_bytes, "fits": c.fits,
            }
            for c in cases
        ],
        "symscale_version": symscale.__version__,
    }


def sweep_document(cases: Sequence[Case], ks: Sequence[object], title: str) -> Document:
    """Return a summary of the grid: shares by width and degree, for sequences of 2K."""
    blocks: list[Block] = [
        paragraph(
            f"{len(cases)} cases on {title}; {sum(not c.fits for c in cases)} do not fit: not even "
            "one block's states and activations are held by a device. The share of serialized "
            "communication does not depend on the batch."
        )
    ]
    length = 2048
    chosen = {(c.d_model, c.N_TP): c for c in cases if c.n_ctx == length and c.sequences == 1}
    widths = sorted({width for width, _ in chosen})
    degrees = sorted({degree for _, degree in chosen})
    columns = (Column("d_model", right=True),
               *(Column(f"TP {degree}", right=True) for degree in degrees))
    for i, k in enumerate(ks):
        rows: list[tuple[Cell, ...]] = []
        for width in widths:
            cells = [
                f"{chosen[width, d].shares[i] * 100:.0f} %"
                + ("" if chosen[width, d].fits else "*")
                for d in degrees
            ]
            rows.append((str(width), *cells))
        caption = (
            f"Share of serialized communication at k = {k}, sequences of {length} tokens; "
            "* does not fit."
        )
        blocks.append(Table(columns, tuple(rows), caption))
    return Document("Future models on future hardware", tuple(blocks))
