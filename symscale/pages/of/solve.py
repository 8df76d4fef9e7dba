"""Answers to problems of one's own as documents."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.pages.formats.code import ClosedForms
from symscale.pages.formats.document import (
    Block,
    Cases,
    Cell,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Inline,
    Number,
    Table,
    between,
    paragraph,
)
from symscale.pages.formats.references import References
from symscale.pages.formulas import exponents
from symscale.pages.formulas.names import typeset_as
from symscale.pages.of.solve_curves import curve_blocks, draw_curve, share_here
from symscale.pages.of.solve_data import (
    Sweeps,
    problem_data,
    strongest_first,
    value_of,
)
from symscale.pages.of.solve_given import given, own_words
from symscale.pages.of.solve_numbers import at_the_optimum
from symscale.pages.of.solve_tangents import cover_blocks, law_blocks, scaling_blocks
from symscale.pages.page import Certificates, Page
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece, AnswerPlace, FreeVariable, number_of
from symscale.problems.sweep import Axis, Segment, SweptAnswer


def problem_document(found: ProblemAnswer, sweeps: Sweeps) -> Document:
    """A problem's answer: optimum, pieces, variables, sensitivity, what was given, sources."""
    blocks: list[Block] = [Heading("Answer"), *_headline(found)]
    blocks += [*law_blocks(found), *cover_blocks(found)]
    for piece in found.pieces:
        blocks += _piece(found, piece)
    blocks += _bounds(found)
    blocks += _variables(found)
    blocks += _elasticities(found)
    blocks += at_the_optimum(found)
    blocks += scaling_blocks(found)
    for axis, segments in sweeps.items():
        blocks += _sweep(found, axis, segments)
    problem = found.problem
    references = References(own_words(problem))
    blocks += [*given(found, references), *references.blocks()]
    symbols = {q.entry.name: q.entry for q in (*problem.variables, *problem.parameters)}
    return Document(problem.title, tuple(blocks), problem.own_names, symbols)


def _function(found: ProblemAnswer) -> Literal["min", "max"]:
    return "min" if found.problem.sense == "maximize" else "max"


def _headline(found: ProblemAnswer) -> list[Block]:
    problem = found.problem
    verb = "Maximize" if problem.sense == "maximize" else "Minimize"
    blocks: list[Block] = [paragraph(f"{verb} ", Formula(problem.objective), ".")]
    if len(found.pieces) > 1 and found.limit is not None:
        blocks.append(
            Cases(problem.objective, _function(found), [p.expr for p in found.pieces])
        )
    ruling = found.ruling
    if ruling is not None:
        value = ruling.value(found.values)
        assert value is not None  # noqa: S101  # a ruling piece has all its numbers
        shown = Number(value, problem.unit)
        if ruling.status == "optimal":
            blocks.append(paragraph("Here the optimum is ", shown, f": {ruling.name}."))
        else:
            bound = "greatest lower" if problem.sense == "minimize" else "least upper"
            blocks.append(
                paragraph(f"Here the {bound} bound is ", shown, f": {ruling.name}. ",
                          *_approach(ruling.direction), ".")
            )
        if found.limit is None and len(found.pieces) > 1:
            blocks.append(_equation(found, ruling))
            if ruling.curve is not None:
                blocks += share_here(found, ruling, ruling.curve)
    if found.numerical is not None:
        blocks.append(
            paragraph(
                "The numerical optimum, found without the closed form, is ",
                Number(found.numerical.value, problem.unit), ".",
            )
        )
    reduction = found.reduction
    if reduction is not None and not reduction.program.objective:
        blocks.append(paragraph("Where a point is feasible nothing bounds the objective: it "
                                "improves for ever ", *_moves(reduction.direction), "."))
    elif reduction is not None and reduction.loses_objective and not found.pieces:
        blocks.append(paragraph("No point attains a best value. ",
                                *_approach(reduction.direction), "."))
    if found.limit is not None:
        return blocks
    what = "closed-form bounds follow" if found.law is None else "a local law follows"
    if not found.pieces:
        blocks.append(paragraph(f"No closed form was found; {what}."))
    elif not found.complete:
        what = "bounds follow as well" if found.law is None else what
        blocks.append(paragraph(f"The closed forms do not cover all parameters; {what}."))
    return blocks


def _approach(direction: Mapping[sp.Symbol, sp.Rational]) -> list[Inline]:
    return ["It is approached ", *_moves(direction), ", and no point attains it"]


def _moves(direction: Mapping[sp.Symbol, sp.Rational]) -> list[Inline]:
    """How variables change together, in words."""
    words: list[Inline] = []
    several = len(direction) > 1
    for x, power in direction.items():
        words += [" and " if words else "as ", Formula(x), " grows" if power > 0 else " falls"]
        words += [f" as t^({power})"] if several else []
    return [*words, " with one and the same growing t"] if several else words


def _piece(found: ProblemAnswer, piece: AnswerPiece) -> list[Block]:
    mark = " (rules here)" if found.ruling is piece else ""
    blocks: list[Block] = [Heading(f"{piece.name}{mark}", 3)]
    blocks.append(_equation(found, piece))
    blocks += curve_blocks(found, piece)
    rows: list[tuple[Cell, ...]] = []
    value = value_of(found, piece)
    if value is not None:
        rows.append(("value", Number(value, found.problem.unit)))
    rows.append(("binding", ", ".join(piece.binding) or "nothing: an interior optimum"))
    if piece.multipliers is not None:
        parts: list[Inline] = []
        for name, power in piece.multipliers.items():
            parts += [", " if parts else "", f"{name}: ", Formula(exponents.tidy_exponent(power))]
        rows.append(("multipliers", parts))
    if piece.region:
        rows.append(("rules where", _all(piece.region)))
    if piece.status == "infimum":
        rows.append(("no optimum", _approach(piece.direction)))
    blocks.append(Table((Column(""), Column("", wrap=True, share=0.75)), tuple(rows)))
    return blocks


def _equation(found: ProblemAnswer, piece: AnswerPiece) -> Equation:
    kinds: dict[str, Any] = {"minimize": sp.Gt, "maximize": sp.Lt}
    kind = sp.Eq if piece.status == "optimal" else kinds[found.problem.sense]
    return Equation(kind(found.problem.objective, piece.expr, evaluate=False))


def _all(relations: Sequence[Relational]) -> list[Inline]:
    words: list[Inline] = []
    for relation in relations:
        words += ["; " if words else "", Formula(relation)]
    return words


def _bounds(found: ProblemAnswer) -> list[Block]:
    bounds = found.bounds
    if bounds is None or (found.exact and found.complete) or found.law is not None:
        return []
    objective = found.problem.objective
    maximum = found.problem.sense == "maximize"
    blocks: list[Block] = [Heading("Bounds")]
    if bounds.loose.pieces:
        kind = sp.Le if maximum else sp.Ge
        blocks.append(Equation(kind(objective, bounds.loose.expr, evaluate=False)))
    if bounds.loose.pieces and bounds.tight.pieces and not bounds.nowhere:
        reached: list[Inline] = ["some point reaches ", Formula(bounds.tight.expr), " or "]
        reached += ["more" if maximum else "less"]
        where = [" where ", *_all(bounds.region), "; elsewhere this says nothing of one"]
        blocks.append(
            paragraph(
                "No point does better, since a sum is at least its largest term; and ", *reached,
                *(where if bounds.region else []),
                ", since a sum of k terms is at most k times that. The two differ by at most the "
                "factor ", Formula(bounds.factor), ".",
            )
        )
    elif bounds.loose.pieces:
        blocks.append(paragraph("No point does better, since a sum is at least its largest term."))
    if found.has_numbers:
        blocks.append(_numbers(found))
    return blocks


def _numbers(found: ProblemAnswer) -> Block:
    """The two bounds and the numerical optimum between them."""
    unit, rows = found.problem.unit, []
    below, above = found.enclosure
    best = None if found.numerical is None else found.numerical.value
    for name, value in (("lower bound", below), ("numerical optimum", best),
                        ("upper bound", above)):
        shown: Cell = "none here" if value is None else Number(value, unit)
        rows.append((name, shown))
    if below is not None and above is not None:
        rows.append(("factor between the bounds", Number(above / below)))
    return Table((Column("at these numbers", wrap=True), Column("value")), tuple(rows))


def _variables(found: ProblemAnswer) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for q in found.problem.variables:
        for piece in found.pieces:
            rules = found.ruling is piece
            if q.symbol in piece.free:
                ends = piece.free[q.symbol]
                there = _between(ends, found.values, q.entry.unit) if rules else ""
                rows.append((Formula(q.symbol), piece.name, _anything(ends), there))
                continue
            places = [p for p in piece.places or (AnswerPlace((), piece.point),)
                      if q.symbol in p.point]
            if len({p.point[q.symbol] for p in places}) == 1:
                places = [AnswerPlace((), places[0].point)]
            for place in places:
                expr = place.point[q.symbol]
                optimum: list[Inline] = [Formula(expr)]
                optimum += [" where ", *_all(place.region)] if place.region else []
                here = rules and place.holds(found.values)
                value = piece.number(expr, found.values) if here else None
                shown: Cell = "" if value is None else Number(value, q.entry.unit)
                rows.append((Formula(q.symbol), piece.name, optimum, shown))
    if not rows:
        return []
    columns = (
        Column("variable"), Column("piece", wrap=True, share=0.25),
        Column("optimum", wrap=True, share=0.4), Column("value"),
    )
    blocks: list[Block] = [Heading("Variables"), Table(columns, tuple(rows))]
    for piece in found.pieces:
        if piece.fixed:
            products = _all([sp.Eq(*pair, evaluate=False) for pair in piece.fixed])
            blocks.append(paragraph(f"Where '{piece.name}' rules, the variables that are free "
                                    "go along with each other: ", *products, "."))
    return blocks


def _between(ends: FreeVariable, values: Mapping[sp.Symbol, sp.Rational], unit: str) -> Cell:
    """Between what numbers a variable lies that the optimum leaves free."""
    lower, upper = (
        [v for e in side if (v := number_of(e, values)) is not None]
        for side in (ends.lower, ends.upper)
    )
    if ends.bounded or len(lower) < len(ends.lower) or len(upper) < len(ends.upper):
        return ""
    return between(lower, upper, unit)


def _anything(ends: FreeVariable) -> list[Inline]:
    """Between what a variable lies that the optimum leaves free."""
    words: list[Inline] = ["anything" if ends.lower or ends.upper else "anything above 0"]
    for side, word in ((ends.lower, " from "), (ends.upper, " up to ")):
        if side:
            many = {" from ": "the greatest of ", " up to ": "the least of "}[word]
            words += [" to " if word == " up to " and ends.lower else word]
            words += [many] if len(side) > 1 else []
            for k, end in enumerate(side):
                words += [", " if k else "", Formula(end)]
    return [*words, " within its constraints" if ends.bounded else ""]


def _elasticities(found: ProblemAnswer) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for piece in found.pieces:
        for s, slope in strongest_first(piece.elasticities(found.values)):
            shown: Cell = Number(slope, "", 5) if slope.is_Float else Formula(slope)
            rows.append((piece.name, Formula(s), shown))
    if not rows:
        return []
    columns = (
        Column("piece", wrap=True, share=0.3), Column("parameter"),
        Column("power", wrap=True, share=0.4),
    )
    note = "By which power the optimum changes with a parameter, the strongest first."
    return [Heading("Elasticities"), Table(columns, tuple(rows), note)]


def _sweep(found: ProblemAnswer, axis: Axis, segments: Sequence[Segment]) -> list[Block]:
    unit = axis.quantity.entry.unit
    rows: list[tuple[Cell, ...]] = []
    for segment in segments:
        closed: Cell = "" if segment.boundary is None else Formula(segment.boundary)
        rows.append(
            (segment.name, Number(segment.low, unit), Number(segment.high, unit), closed)
        )
    columns = (
        Column("piece", wrap=True, share=0.25), Column("from"), Column("to"),
        Column("upper end", wrap=True, share=0.35),
    )
    return [Heading(f"Sweep of {axis.quantity.entry.name}"), Table(columns, tuple(rows))]


def line(found: ProblemAnswer) -> str:
    """Say the answer in a line."""
    problem, count = found.problem, len(found.pieces)
    end = f"{count} piece{'' if count == 1 else 's'}" if count else "no closed form"
    if found.value is None:
        return f"{problem.title[:60]}, {end}"
    return f"{problem.title[:60]}, {problem.objective} = {float(found.value):.5g}; {end}"


def certificates(found: ProblemAnswer) -> Certificates:
    """What the kernel shows of the closed forms and bounds."""
    return Certificates(found.theorems)


def _draw(found: SweptAnswer, path: Path) -> None:
    with typeset_as(found.answer.problem.own_names):
        _draw_sweep(found, path)


def _draw_sweep(found: SweptAnswer, path: Path) -> None:
    from symscale.pages.figures.regions import line_plot, region_plot

    first, *second = found.axes
    if second:
        region_plot(found.answer, first, second[0], path)
    else:
        line_plot(found.answer, first, found.segments, path)


def _functions(found: ProblemAnswer) -> ClosedForms:
    from symscale.pages.of.functions import problem_functions

    return problem_functions(found)


PAGES = (
    Page(
        SweptAnswer,
        lambda found: problem_document(found.answer, found.sweeps),
        lambda found: problem_data(found.answer, found.sweeps),
        lambda found: line(found.answer),
        figure=_draw,
        functions=lambda found: _functions(found.answer),
        certificates_of=lambda found: certificates(found.answer),
    ),
    Page(
        ProblemAnswer,
        lambda found: problem_document(found, {}),
        lambda found: problem_data(found, {}),
        line,
        figure=draw_curve,
        functions=_functions,
        certificates_of=certificates,
    ),
)
