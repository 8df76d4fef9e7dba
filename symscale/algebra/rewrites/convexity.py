"""Checks that a point is where a sum of products of powers is least; it imports no solver.

In the logarithms of its variables such a sum is convex, if every coefficient is
positive. So a point where all its derivatives vanish is its minimum, and the only
one in one variable that occurs in it.
"""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import positive_monomial, sign_over
from symscale.algebra.products.limit import Condition
from symscale.algebra.rewrites.rewrite import Minimum, Rewrite
from symscale.errors import CheckFailedError, FormulaError


def check_minimum(rewrite: Rewrite) -> None:
    """Verify exactly that the right side of a rewrite is the minimum of its left side.

    Raises:
        CheckFailedError: If a term is not positive or no product of powers, a derivative
            does not vanish, or the value or the second derivative is another one.
    """
    if rewrite.minimum is None or rewrite.relation != ">=":
        raise CheckFailedError("it is no minimum")
    stated = tuple(sp.Eq(x, p, evaluate=False) for x, p in rewrite.minimum.point.items())
    if rewrite.equality != stated:
        raise CheckFailedError("it is said to be equal at another point")
    try:
        _check(rewrite, rewrite.minimum)
    except FormulaError as error:
        raise CheckFailedError(str(error)) from error


def _check(rewrite: Rewrite, minimum: Minimum) -> None:
    terms = terms_of(rewrite.before, minimum)
    point = {x: positive_monomial(p) for x, p in minimum.point.items()}
    if any(p.free_symbols & minimum.point.keys() for p in point.values()):
        raise CheckFailedError("the point contains a variable")
    values = [t.substitute(point) for t in terms]
    unit = values[-1]
    shares = [(v / unit).expr for v in values]
    for x in minimum.point:
        powers = [t.exponent(x) for t in terms]
        if not any(powers):
            raise CheckFailedError(f"{x} does not occur in it")
        slope = [a * share for a, share in zip(powers, shares, strict=True)]
        if not _vanishes(sp.Add(*slope)):
            raise CheckFailedError(f"its derivative by {x} does not vanish at the point")
    if not _equals(rewrite.after, shares, unit):
        raise CheckFailedError("its value at the point is another one")
    for bound in minimum.bounds:
        limit = positive_monomial(bound).substitute(point)
        if not limit.is_one and Condition(limit).relational not in rewrite.admissible:
            raise CheckFailedError(f"it is not said where {bound} is at most 1")
    if minimum.curvature is not None:
        (x,) = minimum.point
        bent = [t.exponent(x) ** 2 * share for t, share in zip(terms, shares, strict=True)]
        if not _equals(minimum.curvature, bent, unit):
            raise CheckFailedError("its second derivative at the point is another one")


def terms_of(expr: sp.Expr, minimum: Minimum) -> list[Monomial]:
    """The terms of a sum by powers of the variables, each with its positive coefficient.

    Raises:
        CheckFailedError: If a coefficient is not positive, or an exponent varies.
    """
    variables = set(minimum.point)
    collected: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(expr)):
        coefficient, powers = term.as_independent(*variables, as_Add=False)
        collected[powers] = collected.get(powers, sp.Integer(0)) + coefficient
    terms = []
    for powers, coefficient in collected.items():
        if coefficient == 0:
            continue
        if sign_over(sp.factor_terms(coefficient), minimum.lower) <= 0:
            raise CheckFailedError(f"the coefficient {coefficient} is not positive")
        part = Monomial.of(powers)
        if set(part.atoms) - variables or part.exponent_symbols & variables:
            raise CheckFailedError(f"{powers} is no product of powers of the variables")
        terms.append(positive_monomial(coefficient) * part)
    if not terms:
        raise CheckFailedError("it is no sum")
    return sorted(terms, key=lambda t: (bool(t.split(variables)[0].powers), str(t)))


def _equals(claimed: sp.Expr, shares: list[sp.Expr], unit: Monomial) -> bool:
    """Whether an expression is a sum of shares of a monomial.

    Powers with symbols in exponents cancel where the expression is divided by the
    monomial first; that takes terms that are monomials themselves.
    """
    parts = sp.Add.make_args(claimed)
    if claimed.has(sp.Pow) and all(t.is_positive for t in parts):
        ratios = [(positive_monomial(t) / unit).expr for t in parts]
        return _vanishes(sp.Add(*ratios) - sp.Add(*shares))
    return _vanishes(claimed - sp.Add(*shares) * unit.expr)


def _vanishes(expr: sp.Expr) -> bool:
    return bool(sp.simplify(expr) == 0)


def derivative_at(
    expr: sp.Expr, x: sp.Symbol, order: int, values: Mapping[Any, sp.Expr], digits: int
) -> tuple[sp.Expr, sp.Expr]:
    """The derivative of a sum by log x at numbers, by differentiation, and a measure of size.

    Returns:
        The derivative, and the sum of the absolute values of its terms.
    """
    derived = expr
    for _ in range(order):
        derived = x * sp.diff(derived, x)
    parts = [t.evalf(digits, subs=dict(values)) for t in sp.Add.make_args(sp.expand(derived))]
    return sp.Add(*parts), sp.Add(*(abs(p) for p in parts))
