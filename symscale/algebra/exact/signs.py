"""Signs of parameter expressions: what bounds on the parameters fix, and what they leave open."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError


def sign_over(expr: sp.Expr, lower: Mapping[sp.Symbol, sp.Rational]) -> int:
    """Return the sign of an expression in positive parameters: -1, 0 or 1.

    Each parameter runs over all values above its lower bound, by default 0. The
    expression is expanded in the excess over the bounds; if all coefficients have
    one sign, so has the expression.

    Raises:
        FormulaError: If the bounds leave the sign open.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> N, L = symbols("N L")
        >>> sign_over(N - 1, {N: sp.Integer(1)}), sign_over(-L, {})
        (1, -1)
    """
    if expr == 0:
        return 0
    if expr.is_positive:
        return 1
    if expr.is_negative:
        return -1
    shifts: dict[Any, Any] = {s: s + bound for s, bound in lower.items() if bound}
    shifted = expr.subs(shifts)
    numerator, denominator = (sp.expand(part) for part in sp.fraction(sp.together(shifted)))
    signs = {_sign_of_sum(part) for part in (numerator, denominator)}
    if None in signs:
        names = ", ".join(sorted(map(str, expr.free_symbols)))
        raise FormulaError(f"the sign of {expr} is open; give bounds on {names}")
    first, second = _sign_of_sum(numerator), _sign_of_sum(denominator)
    return (first or 0) * (second or 0)


def _sign_of_sum(expr: sp.Expr) -> int | None:
    """The common sign of all terms, or None."""
    signs = set()
    for term in sp.Add.make_args(expr):
        if term.is_positive:
            signs.add(1)
        elif term.is_negative:
            signs.add(-1)
        elif term != 0:
            return None
    return signs.pop() if len(signs) == 1 else None


def positive_monomial(expr: sp.Expr) -> Monomial:
    """Read an expression that is known to be positive as a monomial.

    Its sums become atoms: the caller has shown that they are positive.
    """
    powers: dict[sp.Expr, sp.Expr] = {}
    result = Monomial(())
    for factor in sp.Mul.make_args(sp.factor_terms(expr)):
        base, exponent = factor.as_base_exp()
        if base.is_Add and not base.is_positive:
            if base.could_extract_minus_sign() and exponent.is_odd:
                base = -base  # factors come in pairs of negative sign, since all is positive
            powers[base] = powers.get(base, sp.Integer(0)) + exponent
        elif factor == -1:
            continue
        elif factor.is_Rational:
            result = result * Monomial.of(abs(factor))
        else:
            result = result * Monomial.of(factor)
    return result * Monomial.from_powers(powers)
