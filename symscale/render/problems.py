"""Answers to problems of one's own as documents and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import mpmath as mp
import sympy as sp

import symscale
from symscale.render import formula
from symscale.render.data import Json, formula_data, number, powers
from symscale.render.document import (
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
from symscale.studies.problem import Problem, Quantity, Relation
from symscale.studies.problem_answer import (
    AnswerPiece,
    ProblemAnswer,
    number_of,
    rounded_neighbours,
)
from symscale.studies.sweep import Axis, Segment

Sweeps = Mapping[Axis, Sequence[Segment]]


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
    value = _value(found, piece)
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


def _value(found: ProblemAnswer, piece: AnswerPiece) -> mp.mpf | None:
    """A piece's value: beyond its region only where it still is a bound, without sums."""
    if piece.multipliers is None and found.has_numbers and found.ruling is not piece:
        return None
    return piece.value(found.values)


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
    return blocks


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
        for s, slope in _sorted(piece.elasticities(found.values)):
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


def _sorted(table: Mapping[sp.Symbol, sp.Expr]) -> list[tuple[sp.Symbol, sp.Expr]]:
    """The strongest first; expressions last."""

    def strength(item: tuple[sp.Symbol, sp.Expr]) -> tuple[float, str]:
        slope = item[1]
        return (-abs(float(slope)) if slope.is_number else 1.0, str(item[0]))

    return sorted(table.items(), key=strength)


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
        (r.name, Formula(_spelled(problem, r)), "; ".join(t for t in (r.reason, r.source) if t))
        for r in problem.all_relations
    )
    blocks.append(Table(columns, relations))
    return blocks


def _spelled(problem: Problem, relation: Relation) -> sp.Basic:
    """A relation with built-in names spelled out."""
    left, right = (problem.spelled_out(e) for e in (relation.left, relation.right))
    return replace(relation, left=left, right=right).relational


def _meaning(q: Quantity) -> str:
    unit = "" if q.entry.unit == "1" else f" [{q.entry.unit}]"
    source = f" ({q.entry.source})" if q.entry.source else ""
    return f"{q.entry.meaning}{unit}{source}"


def problem_data(found: ProblemAnswer, sweeps: Sweeps) -> dict[str, Json]:
    """A problem's answer as JSON data: the keys of `limits`, and more."""
    problem, ruling = found.problem, found.ruling
    value = None if ruling is None else ruling.value(found.values)
    numerical = found.numerical
    data: dict[str, Json] = {
        "problem": "problem",
        "title": problem.title,
        "objective": {
            **formula_data(problem.objective), "sense": problem.sense, "unit": problem.unit,
        },
        "parameters": [_parameter_data(found, q) for q in problem.parameters],
        "constraints": [
            {
                "name": r.name, **formula_data(_spelled(problem, r)), "reason": r.reason,
                "source": r.source,
            }
            for r in problem.all_relations
        ],
        "pieces": [_piece_data(found, p) for p in found.pieces],
        "limit": {
            "value": None if value is None else number(value),
            "unit": problem.unit,
            "piece": None if ruling is None else ruling.name,
        },
        "variables": {q.entry.name: _variable_data(found, q) for q in problem.variables},
        "exact": found.exact,
        "factor": None if found.factor is None else _factor(found.factor),
        "bounds": _bounds_data(found),
        "numerical": None
        if numerical is None
        else {
            "value": numerical.value,
            "point": {
                q.entry.name: numerical.point[q.symbol] for q in problem.variables
            },
        },
    }
    if sweeps:
        data["sweeps"] = [
            {
                "parameter": axis.quantity.entry.name,
                "unit": axis.quantity.entry.unit,
                "segments": [
                    {
                        "piece": s.name, "from": number(s.low), "to": number(s.high),
                        "upper_end": None if s.boundary is None else formula_data(s.boundary),
                    }
                    for s in segments
                ],
            }
            for axis, segments in sweeps.items()
        ]
    data["symscale_version"] = symscale.__version__
    return data


def _factor(factor: sp.Expr) -> Json:
    at = number_of(factor, {})
    return str(factor) if at is None else number(at)


def _parameter_data(found: ProblemAnswer, q: Quantity) -> Json:
    value = found.values.get(q.symbol)
    return {
        "name": q.entry.name,
        "value": None if value is None else number(value),
        "unit": q.entry.unit,
        "meaning": q.entry.meaning,
        "source": q.entry.source,
    }


def _piece_data(found: ProblemAnswer, piece: AnswerPiece) -> Json:
    value = _value(found, piece)
    elasticities: dict[str, Json] = {}
    for s, slope in _sorted(piece.elasticities(found.values)):
        at = number_of(slope, {}) if slope.is_Float else None
        text = formula.exponent_text(slope) if slope.is_Rational else str(slope)
        elasticities[str(s)] = text if at is None else number(at)
    return {
        "name": piece.name,
        **formula_data(piece.expr),
        "value": None if value is None else number(value),
        "unit": found.problem.unit,
        "binding": list(piece.binding),
        "multipliers": None if piece.multipliers is None else powers(piece.multipliers),
        "elasticities": elasticities,
        "region": [
            {**formula_data(sp.Le(left, right, evaluate=False)), "otherwise": other}
            for left, right, other in piece.conditions
        ],
        "rules": None if not found.has_numbers else found.ruling is piece,
    }


def _variable_data(found: ProblemAnswer, q: Quantity) -> Json:
    by_piece: dict[str, Json] = {}
    for piece in found.pieces:
        if q.symbol in piece.point:
            expr = piece.point[q.symbol]
            value = number_of(expr, found.values)
            by_piece[piece.name] = {
                **formula_data(expr), "value": None if value is None else number(value),
            }
    ruling = found.ruling
    shown = ruling or (found.pieces[0] if len(found.pieces) == 1 else None)
    chosen = by_piece.get(shown.name) if shown is not None else None
    nothing: dict[str, Json] = {"latex": None, "sympy": None, "value": None}
    entry: dict[str, Json] = {
        "unit": q.entry.unit,
        "meaning": q.entry.meaning,
        "optimum": {**(chosen if isinstance(chosen, dict) else nothing), "by_piece": by_piece},
    }
    if q.integer and ruling is not None:
        entry["integer"] = [
            {"value": whole, "objective": number(value)}
            for whole, value in rounded_neighbours(found, ruling).get(q.symbol, [])
        ]
    return entry


def _bounds_data(found: ProblemAnswer) -> Json:
    if found.bounds is None or not (found.bounds.loose.pieces and found.bounds.tight.pieces):
        return None
    maximum = found.problem.sense == "maximize"
    loose, tight = formula_data(found.bounds.loose.expr), formula_data(found.bounds.tight.expr)
    below, above = (tight, loose) if maximum else (loose, tight)
    return {"lower": below, "upper": above, "factor": _factor(found.bounds.factor)}
