"""Answers as JSON: stable keys, numbers as numbers, exponents as strings of exact rationals."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Condition, Limit, Piece
from symscale.errors import TooLargeError
from symscale.pages.formulas import exponents, formula

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


def dump(data: Json) -> str:
    """Print JSON, indented, in ASCII; a number that JSON cannot carry is an error."""
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def number(value: mp.mpf | sp.Rational | float) -> float:
    """Return a plain float.

    Raises:
        TooLargeError: If it is beyond what a float can hold.
    """
    result = float(value)
    if math.isinf(result) or (result == 0) != (value == 0):
        size = mp.nstr(mp.mpf(value), 4)
        raise TooLargeError(f"JSON has no number as large or small as {size}; use --format text")
    return result


def formula_data(value: sp.Basic | Monomial) -> dict[str, Json]:
    """A formula as LaTeX and as SymPy's text."""
    return {"latex": formula.latex(value), "sympy": formula.sympy_text(value)}


def limit_text(limit: Limit) -> str:
    """The optimum, the least or greatest of its pieces, as SymPy writes it."""
    pieces = [formula.sympy_text(piece.bound) for piece in limit.pieces]
    outer = "Min" if limit.program.sense == "maximize" else "Max"
    return pieces[0] if len(pieces) == 1 else f"{outer}({', '.join(pieces)})"


def powers(table: Mapping[Any, sp.Expr]) -> dict[str, Json]:
    """Names and their exponents, as strings."""
    return {str(name): exponents.exponent_text(e) for name, e in table.items()}


def numbers(table: Mapping[Any, Any]) -> dict[str, Json]:
    """Names and their numbers; null where one is not known, or still a formula."""
    return {
        str(name): None if value is None or getattr(value, "free_symbols", None)
        else number(value)
        for name, value in table.items()
    }


def condition_data(condition: Condition) -> dict[str, Json]:
    """A condition of a region."""
    relation = formula.condition_of(condition)
    entry: dict[str, Json] = {
        "latex": formula.latex(relation), "sympy": formula.sympy_text(relation)
    }
    if condition.against:
        entry["otherwise"] = condition.against
    if condition.multipliers:
        entry["constraints"] = list(condition.binding)
        entry["multipliers"] = powers(condition.multipliers)
    return entry


def piece_data(
    piece: Piece, unit: str, value: mp.mpf | None, rules: bool | None
) -> dict[str, Json]:
    """A piece of a limit.

    Args:
        piece: The piece.
        unit: Unit of the objective.
        value: Its value, where all parameters have one.
        rules: Whether it rules, where that is known.
    """
    return {
        "name": piece.name,
        **formula_data(piece.bound),
        "value": None if value is None else number(value),
        "unit": unit,
        "binding": list(piece.binding),
        "multipliers": powers(piece.multipliers),
        "elasticities": powers(piece.elasticities),
        "elasticity_values": numbers(piece.elasticities),
        "region": [condition_data(c) for c in piece.region],
        "exponent_conditions": [f"{p} > 0" for p in piece.exponent_conditions],
        "rules": rules,
    }


def constraints_data(limit: Limit) -> list[Json]:
    """The constraints of a program with reason and source."""
    return [
        {
            "name": c.name,
            "latex": formula.latex(c.relational),
            "sympy": formula.sympy_text(c.relational),
            "reason": c.reason,
            "source": c.source,
        }
        for c in limit.program.constraints
    ]
