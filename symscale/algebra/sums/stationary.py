"""The least value of a sum of monomials over free variables, where it has a closed form.

It has one where the exponents admit a single weighting that balances them: then each
term is its weight times the value, and the terms are solved for the variables.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr
from symscale.algebra.sums.values import as_sum


def solve_monomials(
    variables: Sequence[sp.Symbol],
    form: Any,
    values: Sequence[Monomial],
    scalars: Scalars,
) -> dict[sp.Symbol, Monomial]:
    """Variables in pivot columns as monomials in the others, from `prod(x**row) = value`."""
    if form is None:
        return {}
    solved: dict[sp.Symbol, Monomial] = {}
    for row, pivot, operation in zip(form.rows, form.pivots, form.operations, strict=True):
        value = ONE
        for weight, given in zip(operation, values, strict=True):
            if weight:
                value = value * given ** field_to_expr(scalars, weight)
        for k, x in enumerate(variables):
            if k != pivot and row[k]:
                value = value / Monomial.of(x) ** field_to_expr(scalars, row[k])
        solved[variables[pivot]] = value
    return solved


def stationary(
    merged: Mapping[Monomial, Monomial], left: Sequence[sp.Symbol], scalars: Scalars
) -> tuple[tuple[Monomial | None, dict[Monomial, Monomial]] | None, bool]:
    """The least value of a sum of monomials over the variables left.

    Args:
        merged: The coefficients by powers of these variables.
        left: The variables.
        scalars: What the exponents are made of.

    Returns:
        The value, None for a sum of nothing, and each term's value at the point that
        attains it; or None; and whether the question is settled.
    """
    if not merged:
        return (None, {}), True
    one = scalars.convert(sp.Integer(1))
    matrix = [[scalars.convert(p.exponent(x)) for x in left] for p in merged]
    balance = echelon(matrix, one).null_operations
    if not balance:
        return None, True
    if len(balance) > 1:
        return None, False
    ring = scalars.clear(balance[0])
    if not all(ring) or len({scalars.sign(w) for w in ring}) != 1:
        return None, True  # no weights that are all positive balance the exponents
    whole = sum(ring[1:], ring[0])
    weights = [scalars.to_expr(w, whole) for w in ring]
    value = ONE
    for coefficient, weight in zip(merged.values(), weights, strict=True):
        value = value * (coefficient / positive_number(weight)) ** weight
    parts = {p: value * positive_number(w) for p, w in zip(merged, weights, strict=True)}
    return (value, parts), True


def positive_number(weight: sp.Expr) -> Monomial:
    """A positive rational function of exponents as a monomial."""
    return Monomial.of(weight) if weight.is_Rational else as_sum(sp.factor(weight))
