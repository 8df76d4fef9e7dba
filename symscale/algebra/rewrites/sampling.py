"""Random points of a region, and expressions at them, for checks that find what algebra misses."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from symscale.algebra.rewrites.rewrite import Relation
from symscale.errors import CheckFailedError
from symscale.language.symbols import NOTATION

DIGITS = 30
TOLERANCE = sp.Float("1e-20", DIGITS)
_TRIES = 20_000


def sample(
    symbols: Iterable[sp.Basic], conditions: tuple[sp.Basic, ...], rng: random.Random, label: str
) -> dict[sp.Symbol, sp.Expr]:
    """Draw a point of a region: positive values, log-uniform, that satisfy the conditions.

    Degrees and sizes are drawn from their least value up; exponents from (-0.4, 0.4), or
    from (0.05, 0.9) where they are positive.

    Raises:
        CheckFailedError: If no such point is found.
    """
    for _ in range(_TRIES):
        ordered = sorted((s for s in symbols if isinstance(s, sp.Symbol)), key=str)
        point = {s: _draw(s, rng) for s in ordered}
        if all(c.subs(list(point.items())) == sp.true for c in conditions):
            return point
    raise CheckFailedError(f"{label}: found no point of the region {conditions}")


def _draw(s: sp.Symbol, rng: random.Random) -> sp.Expr:
    entry = NOTATION.get(s.name)
    if entry is not None and entry.exponent and entry.positive:
        return sp.Float(rng.uniform(0.05, 0.9), DIGITS)
    if entry is not None and entry.exponent:
        return sp.Float(rng.uniform(-0.4, 0.4), DIGITS)
    if entry is not None and entry.lower is not None:
        return sp.Float(entry.lower * 10 ** rng.uniform(0, 7), DIGITS)
    return sp.Float(10 ** rng.uniform(-6, 6), DIGITS)


def value_of(expr: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """An expression at a point, to 30 digits."""
    known: dict[Any, Any] = dict(point)
    return expr.evalf(DIGITS, subs=known) if expr.free_symbols else sp.N(expr, DIGITS)


def holds(left: sp.Expr, relation: Relation, right: sp.Expr) -> bool:
    """Whether numbers of 30 digits stand in a relation, up to rounding."""
    slack = TOLERANCE * (abs(left) + abs(right))
    if relation == "==":
        return bool(abs(left - right) <= slack)
    return bool(left <= right + slack if relation == "<=" else left >= right - slack)


def shown(point: Mapping[sp.Symbol, sp.Expr]) -> str:
    """A point as text."""
    return ", ".join(f"{s} = {float(v):.6g}" for s, v in point.items())
