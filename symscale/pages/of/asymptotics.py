"""How a ratio behaves asymptotically, as a document and as JSON data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.algebra.growth.behaviour import Behaviour, LimitValue
from symscale.algebra.growth.crossing import Range
from symscale.algebra.growth.leading import Dropped
from symscale.algebra.growth.paths import Assumption
from symscale.answers import Answer
from symscale.costs.cost import Cost
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Inline,
    Paragraph,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data
from symscale.pages.page import Page
from symscale.studies.comp_vs_comm.growth import RatioAsymptotics

_MOST_PROOFS = 12  # terms whose proof is shown
_MOST_CONSTANTS = 30


@dataclass(frozen=True, repr=False)
class NamedCosts(Answer):
    """Costs and ratios, to be listed.

    Attributes:
        costs: The costs by name.
        meanings: What each is.
    """

    page = "asymptotics"
    costs: Mapping[str, Cost]
    meanings: Mapping[str, str]


def costs_document(found: NamedCosts) -> Document:
    """The costs and ratios that have names."""
    rows = tuple((name, str(c.unit), found.meanings[name]) for name, c in found.costs.items())
    columns = (Column("name"), Column("unit"), Column("meaning", wrap=True, share=0.6))
    ask = paragraph("Ask for one, or for a quotient: symscale asymptotics compute/serialized")
    return Document("Costs and ratios", (Table(columns, rows), ask))


def costs_data(found: NamedCosts) -> dict[str, Json]:
    """The costs and ratios that have names, as JSON data."""
    return {
        "ratios": [
            {"name": name, "unit": str(c.unit), "meaning": found.meanings[name],
             **formula_data(c.expr)}
            for name, c in found.costs.items()
        ]
    }


def asymptotics_document(found: RatioAsymptotics) -> Document:
    """The behaviour of a ratio."""
    blocks: list[Block] = [
        paragraph(f"The ratio, in {found.cost.unit}:"), Equation(found.cost.expr), _setting(found),
    ]  # fmt: skip
    answer = found.asymptotics
    name = str(answer.exponent)
    if found.path:
        blocks += [paragraph("Along the path it is"), Equation(answer.expr)]
    for piece in answer.pieces:
        if piece.where is not None:
            blocks.append(Heading(piece.where.text(name) or f"All {name}"))
        blocks += _piece(piece, name)
    for where, reason in answer.outside:
        blocks.append(paragraph(f"There is no growth with {where.text(name)}: {reason}."))
    blocks += [paragraph(f"Note: {note}.") for note in found.notes]
    if found.expectation is not None and answer.verdict is not None:
        blocks.append(Heading("Expectation"))
        words = {True: "holds", False: "does not hold", None: "is undetermined"}
        expected = _class(found.expectation.relation, found.expectation.expr)
        verdict = answer.verdict
        blocks.append(paragraph(expected, f" {words[verdict.holds]}: {verdict.reason}."))
    return Document(f"Asymptotics of {found.ratio}", tuple(blocks))


def _class(relation: str, expr: sp.Expr) -> Formula:
    return Formula(sp.Function(relation)(expr))


def _listed(symbols: Sequence[sp.Basic]) -> list[Inline]:
    parts: list[Inline] = []
    for symbol in symbols:
        parts += [", ", Formula(symbol)] if parts else [Formula(symbol)]
    return parts


def _setting(found: RatioAsymptotics) -> Paragraph:
    parts: list[Inline] = []
    if found.path:
        equations = [sp.Eq(s, e, evaluate=False) for s, e in found.path.items()]
        parts += ["Along ", *_listed(equations), ". "]
    if found.growth.assumptions:
        parts.append("With ")
        for k, one in enumerate(found.growth.assumptions):
            parts += [", " if k else "", Formula(one.left), " = ",
                      _class(one.relation, one.right.expr)]  # fmt: skip
        parts.append(". ")
    if found.growth.growing:
        growing = _listed(found.growth.growing)
        many = len(found.growth.growing) > 1
        parts += ["As ", *growing, " grow beyond all bounds. " if many else
                  " grows beyond all bounds. "]  # fmt: skip
    else:
        parts.append("Nothing grows. ")
    others = found.growth.varying[len(found.growth.growing) :]
    if others:
        parts += [*_listed(others), " stay above constants. " if len(others) > 1 else
                  " stays above a constant. "]  # fmt: skip
    for symbol, value in found.growth.supposed:
        least = found.growth.lower[symbol]
        parts += [Formula(sp.Eq(symbol, value.expr, evaluate=False)), f" is at least {least}. "]
    if found.constants:
        parts += ["Constant: ", *_listed(found.constants[:_MOST_CONSTANTS]), "."]
    return Paragraph(tuple(parts))


def _piece(piece: Behaviour, exponent: str) -> list[Block]:
    blocks: list[Block] = []
    if piece.leading is not None and piece.theta is not None:
        blocks += [
            paragraph("Leading term:"), Equation(piece.leading),
            paragraph("Class: ", _class("Theta", piece.theta)),
        ]  # fmt: skip
    if piece.conditions:
        blocks.append(paragraph("Provided that ", *_listed(piece.conditions), "."))
    blocks.append(_limit(piece.limit))
    if piece.dropped:
        blocks.append(_proofs(piece.dropped, piece.where, exponent))
    if len(piece.dropped) > _MOST_PROOFS:
        rest = len(piece.dropped) - _MOST_PROOFS
        blocks.append(paragraph(f"{rest} more terms vanish; --format json lists them all."))
    return blocks


def _limit(limit: LimitValue) -> Paragraph:
    if limit.kind == "undetermined":
        return paragraph(f"Limit: undetermined; {limit.reason}.")
    if limit.kind == "infinity":
        return paragraph("Limit: ", "minus " if limit.value == -sp.oo else "", "infinity.")
    return paragraph("Limit: ", Formula(limit.value if limit.value is not None else sp.Integer(0)))


def _proofs(dropped: Sequence[Dropped], where: Range | None, exponent: str) -> Table:
    rows = []
    for one in dropped[:_MOST_PROOFS]:
        against: list[Inline] = []
        for term, weight in one.against:
            against += [", " if against else "", Formula(term)]
            if weight != 1:
                against += [" (", Formula(weight), ")"]
        because: list[Inline] = []
        for reason, weight in one.because:
            because.append(("; " if because else "") + reason)
            if weight != 1:
                because += [" (", Formula(weight), ")"]
        if one.where is not None and one.where != where:
            because.append(f", for {one.where.text(exponent)}")
        rows.append((Formula(one.full), tuple(against), tuple(because)))
    columns = (
        Column("vanishes"), Column("against", wrap=True), Column("because", wrap=True, share=0.5),
    )  # fmt: skip
    caption = "Terms that vanish against others of their sum; weights other than 1 in brackets"
    return Table(columns, tuple(rows), caption)


def asymptotics_data(found: RatioAsymptotics) -> dict[str, Json]:
    """The behaviour of a ratio as JSON data.

    `leading`, `theta` and `limit` are those of the only piece, or null where there are
    several.
    """
    answer = found.asymptotics
    name = str(answer.exponent)
    pieces = [_piece_data(piece, name) for piece in answer.pieces]
    only = pieces[0] if len(pieces) == 1 else {}
    verdict, expected = answer.verdict, found.expectation
    outside: list[Json] = [
        {"where": where.text(name), "reason": reason} for where, reason in answer.outside
    ]
    return {
        "ratio": found.ratio,
        "unit": str(found.cost.unit),
        "along": [{"symbol": str(s), **formula_data(e)} for s, e in found.path.items()],
        "assume": [_assumption_data(one) for one in found.growth.assumptions],
        "in": [str(s) for s in found.growth.growing],
        "above_constants": [str(s) for s in found.growth.varying[len(found.growth.growing) :]],
        "supposed": [
            {"symbol": str(s), **formula_data(m), "at_least": str(found.growth.lower[s])}
            for s, m in found.growth.supposed
        ],
        "constant": [str(s) for s in found.constants],
        "expression": formula_data(found.cost.expr),
        "on_path": formula_data(answer.expr),
        "leading": only.get("leading"),
        "theta": only.get("theta"),
        "limit": only.get("limit"),
        "conditions": only.get("conditions"),
        "exponent": None if answer.exponent is None else name,
        "pieces": list(pieces),
        "outside": outside,
        "expectation": None if verdict is None or expected is None else {
            "text": expected.text,
            "relation": expected.relation,
            "class": formula_data(expected.expr),
            "holds": verdict.holds,
            "reason": verdict.reason,
        },
        "notes": list(found.notes),
    }  # fmt: skip


def _assumption_data(one: Assumption) -> dict[str, Json]:
    return {
        "left": formula_data(one.left), "relation": one.relation, "right": formula_data(one.right),
    }  # fmt: skip


def _piece_data(piece: Behaviour, exponent: str) -> dict[str, Json]:
    limit: dict[str, Json] = {"kind": piece.limit.kind}
    value = piece.limit.value
    limit["value"] = None if value is None else formula_data(value)
    limit["reason"] = piece.limit.reason
    limit["bounded"], limit["bounded_below"] = piece.limit.bounded, piece.limit.bounded_below
    verdict = piece.verdict
    return {
        "where": None if piece.where is None else piece.where.text(exponent),
        "leading": None if piece.leading is None else formula_data(piece.leading),
        "theta": None if piece.theta is None else formula_data(piece.theta),
        "limit": limit,
        "conditions": [formula_data(c) for c in piece.conditions],
        "holds": None if verdict is None else verdict.holds,
        "dropped": [_dropped_data(one, exponent) for one in piece.dropped],
    }


def _dropped_data(one: Dropped, exponent: str) -> dict[str, Json]:
    return {
        **formula_data(one.full),
        "term": formula_data(one.term),
        "against": [{**formula_data(term), "weight": str(weight)} for term, weight in one.against],
        "because": [{"reason": reason, "weight": str(weight)} for reason, weight in one.because],
        "where": None if one.where is None else one.where.text(exponent),
    }


def _line(found: RatioAsymptotics) -> str:
    first, *others = found.asymptotics.pieces
    more = f" and {len(others)} other cases" if others else ""
    return f"{found.ratio} = Theta({first.theta}){more}"[:200]


PAGES = (
    Page(NamedCosts, costs_document, costs_data),
    Page(RatioAsymptotics, asymptotics_document, asymptotics_data, _line),
)
