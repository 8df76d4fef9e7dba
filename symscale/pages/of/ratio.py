"""Ratios of computation to communication as a document and as JSON."""

from typing import Any

import sympy as sp

from symscale.language.symbols import NOTATION, notation
from symscale.pages.formats.code import ClosedForms
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
from symscale.pages.of.cost import shown, taken, value
from symscale.pages.page import Page
from symscale.studies.comp_vs_comm.answer import Ratio, RatioAnswer


def ratios_document(answer: RatioAnswer) -> Document:
    """Edge, slack, share and the rest: formulas, leading terms, growth, numbers."""
    architecture = answer.request.model.architecture
    blocks: list[Block] = [paragraph(*_subject(answer))]
    blocks += taken(answer.request.defaults("ratio"))
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
            if sp.cancel(growth.leading - ratio.cost.expr) != 0:  # both are quotients of sums
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
                 "ep": value(plan.N_EP), "sequence_parallel": plan.sequence_parallel,
                 "recompute": plan.recompute, "mask": plan.mask,
                 "defaults": list(answer.request.defaults("ratio"))},
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


def line(answer: RatioAnswer) -> str:
    """Say the answer in a line."""
    values = ", ".join(
        f"{r.name} = {float(r.value):.4g}" for r in answer.ratios if r.value is not None
    )
    name = answer.request.model.architecture.name
    return f"{name}, {values[:200] or f'{len(answer.ratios)} ratios in closed form'}"


def _functions(answer: RatioAnswer) -> ClosedForms:
    from symscale.pages.of.functions import ratio_functions

    return ratio_functions(answer)


PAGES = (Page(RatioAnswer, ratios_document, ratios_data, line, functions=_functions),)
