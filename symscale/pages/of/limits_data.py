"""The largest training run as JSON; `cliffs` shares its parts."""

from typing import Literal

import sympy as sp

from symscale.language.symbols import notation
from symscale.pages.formats.json import (
    Json,
    condition_data,
    constraints_data,
    formula_data,
    limit_text,
    number,
    piece_data,
)
from symscale.pages.formulas.formula import sympy_text
from symscale.studies.training.answer import FullLimitsAnswer, LimitsAnswer


def _parameters_data(answer: LimitsAnswer) -> list[Json]:
    return [
        {
            "name": p.name,
            "value": None if p.number is None else number(p.number),
            "expression": None
            if p.value is None or p.number is not None
            else sympy_text(p.value),
            "unlimited": p.unlimited,
            "unit": p.unit,
            "meaning": notation(p.name).meaning,
            "source": p.source,
        }
        for p in answer.parameters.values()
    ]


def common_data(answer: LimitsAnswer) -> dict[str, Json]:
    """What limits and cliffs have in common, as JSON data."""
    ruling = answer.ruling
    pieces: list[Json] = [
        piece_data(
            piece,
            answer.unit,
            answer.value_of(piece),
            None if ruling is None else piece.name == ruling.name,
        )
        for piece in answer.limit.pieces
    ]
    (objective,) = answer.program.objective.atoms
    limit: dict[str, Json] = {
        "value": None if ruling is None or answer.values is None
        else number(ruling.at(answer.values)),
        "unit": answer.unit,
        "piece": None if ruling is None else ruling.name,
        "sympy": limit_text(answer.limit),
    }
    data: dict[str, Json] = {
        "problem": answer.program.name,
        "title": answer.program.title,
        "objective": {
            "symbol": str(objective), "sense": answer.program.sense, "unit": answer.unit,
            "meaning": notation(objective).meaning,
        },
        "hardware": None if answer.machine is None else answer.machine.name,
        "level": None if answer.lumped is None else answer.lumped.level,
        "parameters": _parameters_data(answer),
        "constraints": constraints_data(answer.limit),
        "pieces": pieces,
        "feasibility": [condition_data(c) for c in answer.limit.feasibility],
        "limit": limit,
    }
    point, values = answer.point, answer.values
    if point is not None and values is not None:
        data["point"] = {
            str(x): {
                **formula_data(point.values[x]),
                "value": number(point.values[x].evaluate(values)),
                "unit": notation(x).unit,
                "fixed": x not in answer.free,
                "at_least": _ends(answer, x, "least"),
                "at_most": _ends(answer, x, "most"),
            }
            for x in answer.program.variables
        }
        data["fixed_products"] = [
            {
                **formula_data(f.product),
                "equals": {**formula_data(f.value), "value": number(f.value.evaluate(values))},
            }
            for f in answer.fixed
        ]
    return data


def _ends(answer: LimitsAnswer, x: sp.Symbol, side: Literal["least", "most"]) -> Json:
    """What bounds a variable on one side among all runs that attain the limit."""
    if x not in answer.free or answer.values is None:
        return []
    return [
        {**formula_data(m), "value": number(m.evaluate(answer.values))}
        for m in getattr(answer.free[x], side)
    ]


def limits_data(answer: LimitsAnswer) -> dict[str, Json]:
    """The largest training run as JSON data."""
    data = common_data(answer)
    if isinstance(answer, FullLimitsAnswer):
        reduced = answer.reduced
        data["reduced_limit"] = {
            "value": None if reduced.ruling is None or reduced.values is None
            else number(reduced.ruling.at(reduced.values)),
            "unit": answer.unit,
            "piece": None if reduced.ruling is None else reduced.ruling.name,
        }
        data["bounds_that_make_the_difference"] = list(answer.responsible)
    return data
