"""Answers to problems of one's own as documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import sympy as sp

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
    paragraph,
)
from symscale.pages.formulas import formula
from symscale.pages.of.solve_data import (
    Sweeps,
    problem_data,
    spelled,
    strongest_first,
    value_of,
)
from symscale.pages.page import Certificates, Page
from symscale.problems.answer import (
    AnswerPiece,
    ProblemAnswer,
    number_of,
    rounded_neighbours,
)
from symscale.problems.problem import ProblemSymbol
from symscale.problems.sweep import Axis, Segment, SweptAnswer


def problem_document(found: ProblemAnswer, sweeps: Sweeps) -> Document:
    """A problem's answer: optimum, pieces, variables, sensitivity, what was given."""
    blocks: list[Block] = [*_headline(found)]
    for piece in found.pieces:
        blocks += _piece(found, piece)
    blocks += _bounds(found)
    blocks += _variables(found)
    blocks += _elasticities(found)
    for axis, segments in sweeps.items():
        blocks += _sweep(found, axis, segments)
    blocks += _given(found)
    return Document(found.problem.title, tuple(blocks))


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
        blocks.append(
            paragraph("Here the optimum is ", Number(value, problem.unit), f": {ruling.name}.")
        )
    if found.numerical is not None:
        blocks.append(
            paragraph(
                "The numerical optimum, found without the closed form, is ",
                Number(found.numerical.value, problem.unit), ".",
            )
        )
    if not found.attained:
        blocks.append(
            paragraph("No point attains a best value: variables run away as it is approached.")
        )
    elif not found.pieces:
        blocks.append(paragraph("No closed form was found; closed-form bounds follow."))
    elif found.limit is None and not found.complete:
        blocks.append(
            paragraph("The closed forms do not cover all parameters; bounds follow as well.")
        )
    return blocks


def _piece(found: ProblemAnswer, piece: AnswerPiece) -> list[Block]:
    mark = " (rules here)" if found.ruling is piece else ""
    blocks: list[Block] = [Heading(f"{piece.name}{mark}", 3)]
    blocks.append(Equation(sp.Eq(found.problem.objective, piece.expr, evaluate=False)))
    rows: list[tuple[Cell, ...]] = []
    value = value_of(found, piece)
    if value is not None:
        rows.append(("value", Number(value, found.problem.unit)))
    rows.append(("binding", ", ".join(piece.binding) or "nothing: an interior optimum"))
    if piece.multipliers is not None:
        parts: list[Inline] = []
        for name, power in piece.multipliers.items():
            parts += [", " if parts else "", f"{name}: ", Formula(formula.tidy_exponent(power))]
        rows.append(("multipliers", parts))
    if piece.conditions:
        conditions: list[Inline] = []
        for left, right, _ in piece.conditions:
            conditions += ["; " if conditions else "", Formula(sp.Le(left, right, evaluate=False))]
        rows.append(("rules where", conditions))
    blocks.append(Table((Column(""), Column("", wrap=True, share=0.75)), tuple(rows)))
    return blocks


def _bounds(found: ProblemAnswer) -> list[Block]:
    if found.bounds is None or (found.exact and found.complete):
        return []
    objective = found.problem.objective
    loose, tight = found.bounds.loose, found.bounds.tight
    maximum = found.problem.sense == "maximize"
    below, above = (tight, loose) if maximum else (loose, tight)
    blocks: list[Block] = [Heading("Bounds")]
    if loose.pieces and tight.pieces:
        blocks += [
            Equation(sp.Le(below.expr, objective, evaluate=False)),
            Equation(sp.Le(objective, above.expr, evaluate=False)),
            paragraph(
                "A sum of k terms lies between its largest term and k times that. The two bounds "
                "differ by at most the factor ", Formula(found.bounds.factor), ".",
            ),
        ]
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
            if q.symbol not in piece.point:
                continue
            expr = piece.point[q.symbol]
            value = number_of(expr, found.values) if found.ruling is piece else None
            rows.append(
                (
                    Formula(q.symbol), piece.name, Formula(expr),
                    "" if value is None else Number(value, q.entry.unit),
                )
            )
    if not rows:
        return []
    columns = (
        Column("variable"), Column("piece", wrap=True, share=0.25),
        Column("optimum", wrap=True, share=0.4), Column("value"),
    )
    blocks: list[Block] = [Heading("Variables"), Table(columns, tuple(rows))]
    ruling = found.ruling
    if ruling is not None:
        for x, entries in rounded_neighbours(found, ruling).items():
            words: list[Inline] = [Formula(x), " must be whole; beside its optimum: "]
            for index, (whole, value) in enumerate(entries):
                words += ["; " if index else "", f"{x} = {whole} gives ",
                          Number(value, found.problem.unit)]
            blocks.append(paragraph(*words, "."))
    return blocks


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


def _given(found: ProblemAnswer) -> list[Block]:
    problem = found.problem
    blocks: list[Block] = [Heading("Given")]
    rows: list[tuple[Cell, ...]] = []
    for q in (*problem.variables, *problem.parameters):
        value: Cell = "variable" if q in problem.variables else "symbolic"
        if q.symbol in found.values:
            value = Number(found.values[q.symbol], q.entry.unit, 7)
        rows.append((Formula(q.symbol), value, _meaning(q)))
    blocks.append(
        Table((Column("symbol"), Column("value"), Column("meaning", wrap=True, share=0.6)),
              tuple(rows))
    )
    columns = (
        Column("constraint", wrap=True, share=0.2), Column("relation", wrap=True, share=0.45),
        Column("because", wrap=True, share=0.27),
    )
    relations = tuple(
        (r.name, Formula(spelled(problem, r)), "; ".join(t for t in (r.reason, r.source) if t))
        for r in problem.all_relations
    )
    blocks.append(Table(columns, relations))
    return blocks


def _meaning(q: ProblemSymbol) -> str:
    unit = "" if q.entry.unit == "1" else f" [{q.entry.unit}]"
    source = f" ({q.entry.source})" if q.entry.source else ""
    return f"{q.entry.meaning}{unit}{source}"


def line(found: ProblemAnswer) -> str:
    """Say the answer in a line."""
    problem, count = found.problem, len(found.pieces)
    end = f"{count} piece{'' if count == 1 else 's'}" if count else "no closed form"
    if found.value is None:
        return f"{problem.title[:60]}, {end}"
    return f"{problem.title[:60]}, {problem.objective} = {float(found.value):.5g}; {end}"


def certificates(found: ProblemAnswer) -> Certificates:
    """The proof of each piece, and what they do not prove."""
    from symscale.problems.proofs import prove

    proofs = prove(found)
    notes = []
    if proofs.missing:
        notes.append(f"no certificate of these closed forms: {', '.join(proofs.missing)}")
    if proofs.loose:
        notes.append(
            "where no closed form is certified, the certificates prove the loose bound, in "
            "which sums are replaced by their largest terms"
        )
    return Certificates(found.problem.title, proofs.certificates, tuple(notes))


def _draw(found: SweptAnswer, path: Path) -> None:
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
        functions=_functions,
        certificates_of=certificates,
    ),
)
