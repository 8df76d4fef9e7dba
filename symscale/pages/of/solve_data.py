"""Answers to problems of one's own as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import mpmath as mp
import sympy as sp

from symscale.pages.formats.json import Json, formula_data, number, numbers, powers
from symscale.pages.formulas import exponents
from symscale.pages.formulas.names import typeset_as
from symscale.pages.of.solve_curves import curve_data
from symscale.pages.of.solve_numbers import numerical_data
from symscale.pages.of.solve_tangents import cover_data, law_data, scaling_data
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece, number_of
from symscale.problems.problem import Problem, ProblemSymbol, WrittenRelation
from symscale.problems.sweep import Axis, Segment

Sweeps = Mapping[Axis, Sequence[Segment]]


def value_of(found: ProblemAnswer, piece: AnswerPiece) -> mp.mpf | None:
    """A piece's value: beyond its region only where it still is a bound, without sums."""
    if piece.multipliers is None and found.has_numbers and found.ruling is not piece:
        return None
    return piece.value(found.values)


def strongest_first(table: Mapping[sp.Symbol, sp.Expr]) -> list[tuple[sp.Symbol, sp.Expr]]:
    """The strongest first; expressions last."""

    def strength(item: tuple[sp.Symbol, sp.Expr]) -> tuple[float, str]:
        slope = item[1]
        return (-abs(float(slope)) if slope.is_number else 1.0, str(item[0]))

    return sorted(table.items(), key=strength)


def spelled(problem: Problem, relation: WrittenRelation) -> sp.Basic:
    """A relation with built-in names spelled out."""
    left, right = (problem.spelled_out(e) for e in (relation.left, relation.right))
    return replace(relation, left=left, right=right).relational


def problem_data(found: ProblemAnswer, sweeps: Sweeps) -> dict[str, Json]:
    """A problem's answer as JSON data: the keys of `limits`, and more."""
    with typeset_as(found.problem.own_names):
        return _data(found, sweeps)


def _data(found: ProblemAnswer, sweeps: Sweeps) -> dict[str, Json]:
    problem, ruling = found.problem, found.ruling
    value = None if ruling is None else ruling.value(found.values)
    data: dict[str, Json] = {
        "problem": "problem",
        "title": problem.title,
        "objective": {
            **formula_data(problem.objective), "sense": problem.sense, "unit": problem.unit,
            "counted": _counted(problem, "objective"),
        },
        "parameters": [_parameter_data(found, q) for q in problem.parameters],
        "constraints": [
            {
                "name": r.name, **formula_data(spelled(problem, r)), "reason": r.reason,
                "source": r.source, "counted": _counted(problem, r.name),
            }
            for r in problem.all_relations
        ],
        "taken_positive": [formula_data(e) for e in problem.divisors],
        "pieces": [_piece_data(found, p) for p in found.pieces],
        "limit": {
            "value": None if value is None else number(value),
            "unit": problem.unit,
            "piece": None if ruling is None else ruling.name,
        },
        "variables": {q.entry.name: _variable_data(found, q) for q in problem.variables},
        "status": found.status,
        "exact": found.exact,
        "factor": None if found.factor is None else _factor(found.factor),
        "bounds": _bounds_data(found),
        "dimensionless": scaling_data(found),
        "local_law": law_data(found),
        "cover": cover_data(found),
        "numerical": numerical_data(found),
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
    return data


def _counted(problem: Problem, name: str) -> Json:
    """The numbers of a constraint, or of the objective, that stand for a count of FLOP."""
    return [str(literal) for literal in problem.counted_literals.get(name, ())]


def _factor(factor: sp.Expr) -> Json:
    at = number_of(factor, {})
    return str(factor) if at is None else number(at)


def _parameter_data(found: ProblemAnswer, q: ProblemSymbol) -> Json:
    value = found.values.get(q.symbol)
    return {
        "name": q.entry.name,
        "value": None if value is None else number(value),
        "unit": q.entry.unit,
        "meaning": q.entry.meaning,
        "source": q.entry.source,
    }


def _piece_data(found: ProblemAnswer, piece: AnswerPiece) -> Json:
    value = value_of(found, piece)
    slopes = dict(strongest_first(piece.elasticities(found.values)))
    exact = piece.slopes
    return {
        "name": piece.name,
        **formula_data(piece.expr),
        "value": None if value is None else number(value),
        "unit": found.problem.unit,
        "binding": list(piece.binding),
        "multipliers": None if piece.multipliers is None else powers(piece.multipliers),
        "elasticities": {str(s): exponents.exponent_text(exact[s]) for s in slopes},
        "elasticity_values": numbers({s: number_of(e, {}) for s, e in slopes.items()}),
        "region": [
            {**formula_data(relation), "otherwise": other}
            for relation, (*_, other) in zip(piece.region, piece.conditions, strict=True)
        ],
        "curve": curve_data(found, piece),
        "status": piece.status,
        "direction": powers(piece.direction),
        "free": {
            str(x): {
                "at_least": [formula_data(e) for e in ends.lower],
                "at_most": [formula_data(e) for e in ends.upper],
            }
            for x, ends in piece.free.items()
        },
        "fixed_products": [
            {**formula_data(product), "equals": formula_data(value)}
            for product, value in piece.fixed
        ],
        "points": [
            {
                "region": [formula_data(relation) for relation in place.region],
                "point": {str(x): formula_data(e) for x, e in place.point.items()},
            }
            for place in piece.places
        ],
        "rules": None if not found.has_numbers else found.ruling is piece,
    }


def _variable_data(found: ProblemAnswer, q: ProblemSymbol) -> Json:
    by_piece: dict[str, Json] = {}
    for piece in found.pieces:
        if q.symbol in piece.point:
            expr = piece.point[q.symbol]
            value = piece.number(expr, found.values)
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
        "optimum": {
            **(chosen if isinstance(chosen, dict) else nothing),
            "unique": None if shown is None else q.symbol not in shown.free,
            "by_piece": by_piece,
        },
    }
    return entry


def _bounds_data(found: ProblemAnswer) -> Json:
    bounds = found.bounds
    if bounds is None or bounds.nowhere or not (bounds.loose.pieces and bounds.tight.pieces):
        return None
    maximum = found.problem.sense == "maximize"
    loose, tight = formula_data(bounds.loose.expr), formula_data(bounds.tight.expr)
    loose["region"] = []
    tight["region"] = [formula_data(relation) for relation in bounds.region]
    below, above = (tight, loose) if maximum else (loose, tight)
    for side, value in zip((below, above), found.enclosure, strict=True):
        side["value"] = None if value is None else number(value)
    return {"lower": below, "upper": above, "factor": _factor(bounds.factor)}
