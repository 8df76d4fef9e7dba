"""What is learnt at a numerical optimum, as blocks of a document and as JSON."""

import math
from typing import TYPE_CHECKING

from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Formula,
    Heading,
    Inline,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json
from symscale.problems.answer import ProblemAnswer

if TYPE_CHECKING:
    from symscale.algebra.optimum.integers import IntegerOptimum, WholePoint
    from symscale.algebra.optimum.sensitivity import Sensitivities, Span

_SHOWN = 4  # corners of whole numbers in a document


def at_the_optimum(found: ProblemAnswer) -> list[Block]:
    """What binds and by how much it matters, slack, shares, whole numbers."""
    blocks: list[Block] = []
    seen = found.sensitivities
    if seen is not None:
        blocks += _constraints(seen)
        blocks += _parameters(found, seen)
        blocks += _shares(seen)
    if found.integers is not None:
        blocks += _whole(found, found.integers)
    return [Heading("At the optimum"), *blocks] if blocks else []


def _constraints(seen: "Sensitivities") -> list[Block]:
    rows: list[tuple[Cell, ...]] = [
        (name, "binds", _power(span)) for name, span in seen.multipliers.items()
    ]
    rows += [(name, [Number(factor), " times"], "0") for name, factor in seen.slack.items()]
    if not rows:
        return []
    columns = (
        Column("constraint", wrap=True, share=0.4), Column("room left"),
        Column("power", wrap=True, share=0.3),
    )
    note = (
        "The optimum changes by this power of the room in a constraint, its greater side; "
        "what is left is by how many times the lesser side may grow."
    )
    if not seen.unique:
        note += " Several multipliers do: a power with two ends differs to the two sides."
    return [Table(columns, tuple(rows), note)]


def _parameters(found: ProblemAnswer, seen: "Sensitivities") -> list[Block]:
    if found.ruling is not None and seen.unique:
        return []  # the table of the piece's own elasticities says it
    rows: list[tuple[Cell, ...]] = [
        (Formula(s), _power(span))
        for s, span in sorted(
            seen.elasticities.items(), key=lambda item: (-abs(item[1].high), str(item[0]))
        )
    ]
    note = "By which power the optimum changes with a parameter, at these numbers."
    columns = Column("parameter"), Column("power", wrap=True, share=0.4)
    return [Table(columns, tuple(rows), note)] if rows else []


def _shares(seen: "Sensitivities") -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name, shares in seen.shares.items():
        cell: list[Inline] = []
        for share in shares:
            cell += [", " if cell else "", Number(100 * share, "", 4), " %"]
        rows.append((name, cell))
    columns = Column("sum", wrap=True, share=0.4), Column("shares", wrap=True, share=0.5)
    note = "Shares of the terms, in their order in the canonical form."
    return [Table(columns, tuple(rows), note)] if rows else []


def _power(span: "Span") -> Cell:
    if span.unique:
        return Number(_tidy(span.low), "", 5)
    words: list[Inline] = []
    for word, end in (("from ", span.low), (" to ", span.high)):
        words += [word, Number(_tidy(end), "", 5) if math.isfinite(end) else "any"]
    return words


def _tidy(value: float) -> float:
    """A number without what rounding leaves of nothing."""
    return 0.0 if abs(value) < 1e-9 else value


def _whole(found: ProblemAnswer, whole: "IntegerOptimum") -> list[Block]:
    many = f"{whole.candidates} candidate{'' if whole.candidates == 1 else 's'}"
    if whole.best is None:
        end = (
            f"No whole numbers satisfy the constraints: {many} excluded." if whole.proved
            else f"No feasible whole numbers were found; not shown after {many} that none are."
        )
        return [paragraph(end)]
    words: list[Inline] = ["The best whole numbers: ", *_at(found, whole.best), ". "]
    words += [
        f"No whole numbers do better: {many} examined or excluded." if whole.proved
        else f"It is the best found; not shown to be the best after {many}."
    ]
    blocks: list[Block] = [paragraph(*words)]
    others = [c for c in whole.corners if c.numbers != whole.best.numbers]
    if others:
        around: list[Inline] = ["Around the optimum besides: "]
        for k, corner in enumerate(others[:_SHOWN]):
            around += ["; " if k else "", *_at(found, corner)]
        blocks.append(paragraph(*around, "."))
    return blocks


def _at(found: ProblemAnswer, point: "WholePoint") -> list[Inline]:
    words: list[Inline] = []
    for x, number in point.numbers.items():
        words += [", " if words else "", Formula(x), f" = {number}"]
    return [*words, " with ", Number(point.value, found.problem.unit)]


def numerical_data(found: ProblemAnswer) -> Json:
    """The numerical optimum, and what is learnt there, as JSON."""
    numerical, seen = found.numerical, found.sensitivities
    if numerical is None:
        return None
    data: dict[str, Json] = {
        "value": numerical.value,
        "point": {
            q.entry.name: numerical.point[q.symbol] for q in found.problem.variables
        },
        "binding": None if seen is None else list(seen.multipliers),
        "multipliers": None if seen is None
        else {name: _span(span) for name, span in seen.multipliers.items()},
        "unique": None if seen is None else seen.unique,
        "elasticities": None if seen is None
        else {str(s): _span(span) for s, span in seen.elasticities.items()},
        "slack": None if seen is None
        else {name: _finite(factor) for name, factor in seen.slack.items()},
        "shares": None if seen is None
        else {name: list(shares) for name, shares in seen.shares.items()},
    }
    whole = found.integers
    if whole is not None:
        best = None if whole.best is None else _corner(whole.best)
        data["integer"] = {
            **(best or {"value": None, "point": None}),
            "proved": whole.proved,
            "candidates": whole.candidates,
            "corners": [_corner(corner) for corner in whole.corners],
        }
    return data


def _corner(point: "WholePoint") -> dict[str, Json]:
    return {"value": point.value, "point": {str(x): n for x, n in point.numbers.items()}}


def _span(span: "Span") -> Json:
    return {"low": _finite(span.low), "high": _finite(span.high)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
