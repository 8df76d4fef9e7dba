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
    merged: Mapping[Monomial, sp.Expr],
    variables: Sequence[sp.Symbol],
    eliminated: Mapping[sp.Symbol, Monomial],
    scalars: Scalars,
) -> tuple[tuple[sp.Expr, dict[sp.Symbol, Monomial], int] | None, bool]:
    """The least value of a sum of monomials over the variables left, and where it is attained.

    Returns:
        Value, point, and how many variables are free, or None; and whether the
        question is settled.
    """
    left = [x for x in variables if x not in eliminated]
    if not merged:
        return (sp.Integer(0), dict.fromkeys(left, ONE), len(left)), True
    one = scalars.convert(sp.Integer(1))
    matrix = [[scalars.convert(p.exponent(x)) for x in left] for p in merged]
    form = echelon(matrix, one)
    balance = form.null_operations
    if not balance:
        return None, True
    if len(balance) > 1:
        return None, False
    ring = scalars.clear(balance[0])
    if not all(ring) or len({scalars.sign(w) for w in ring}) != 1:
        return None, True  # no weights that are all positive balance the exponents
    total = sum(ring[1:], ring[0])
    weights = [scalars.to_expr(w, total) for w in ring]
    value: sp.Expr = sp.Integer(1)
    for coefficient, weight in zip(merged.values(), weights, strict=True):
        value *= (coefficient / weight) ** weight
    value_monomial = as_monomial(value)
    # All terms are known, w_i times the value; solve them for the variables.
    known = [
        value_monomial * as_monomial(w) / as_monomial(c)
        for c, w in zip(merged.values(), weights, strict=True)
    ]
    solved = solve_monomials(left, form, known, scalars)
    free = {x: ONE for x in left if x not in solved}
    return (value, {**free, **{x: m.substitute(free) for x, m in solved.items()}}, len(free)), True


def as_monomial(expr: sp.Expr) -> Monomial:
    """A positive expression as a monomial; sums in it become atoms."""
    powers: dict[sp.Expr, sp.Expr] = {}
    result = ONE
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if base.is_Add:
            powers[base] = powers.get(base, sp.Integer(0)) + exponent
        elif base.is_Mul:
            result = result * as_monomial(base) ** exponent
        else:
            result = result * Monomial.of(factor)
    return result * Monomial.from_powers(powers)
