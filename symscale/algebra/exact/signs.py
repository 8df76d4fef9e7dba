"""Signs of parameter expressions: what bounds on the parameters fix, and what they leave open."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError

Bounds = Mapping[sp.Symbol, sp.Rational]
_NONE: Bounds = {}


class OpenSignError(FormulaError):
    """Bounds on the parameters leave a sign open.

    Attributes:
        expr: The expression in question.
    """

    expr: sp.Expr = sp.Integer(0)

    @classmethod
    def of(cls, expr: sp.Expr) -> "OpenSignError":
        """The error about an expression."""
        names = ", ".join(sorted(map(str, expr.free_symbols)))
        error = cls(f"the sign of {expr} is open; give bounds on {names}")
        error.expr = expr
        return error


def sign_over(expr: sp.Expr, lower: Bounds, upper: Bounds = _NONE) -> int:
    """Return the sign of an expression in positive parameters: -1, 0 or 1.

    Each parameter runs over all values above its lower bound, by default 0, and below its
    upper one, if there is one. The expression is expanded in the excess over the bounds, or
    in the share of the way between two; if all coefficients have one sign, so has it.

    Raises:
        FormulaError: If the bounds leave the sign open.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> N, L = symbols("N L")
        >>> sign_over(N - 1, {N: sp.Integer(1)}), sign_over(-L, {})
        (1, -1)
        >>> sign_over(1 - L, {}, {L: sp.Integer(1)}), sign_over(1 - L**N, {}, {L: sp.Integer(1)})
        (1, 1)
    """
    if expr == 0:
        return 0
    if expr.is_positive:
        return 1
    if expr.is_negative:
        return -1
    shown = expr
    expr, lower, upper = _without_symbolic_powers(expr, lower, upper)
    shifts: dict[Any, Any] = {s: s + bound for s, bound in lower.items() if bound}
    shifts |= {s: (lower.get(s, 0) + bound * s) / (1 + s) for s, bound in upper.items()}
    shifted = expr.xreplace(shifts)
    numerator, denominator = (sp.expand(part) for part in sp.fraction(sp.together(shifted)))
    signs = {_sign_of_sum(part) for part in (numerator, denominator)}
    if None in signs:
        raise OpenSignError.of(shown)
    first, second = _sign_of_sum(numerator), _sign_of_sum(denominator)
    return (first or 0) * (second or 0)


def _without_symbolic_powers(
    expr: sp.Expr, lower: Bounds, upper: Bounds
) -> tuple[sp.Expr, Bounds, Bounds]:
    """An expression with symbols for powers such as a**g, below 1 where a is and g positive."""
    places: dict[Any, Any] = {}
    least, most = dict(lower), dict(upper)
    for power in sorted(expr.atoms(sp.Pow), key=str):
        base, exponent = power.base, power.exp
        if exponent.is_Integer or not (base.is_Symbol or base.is_Rational):
            continue
        rises = _sign_of_exponent(exponent, lower, upper)
        low, high = (base, base) if base.is_Rational else (lower.get(base, 0), upper.get(base, 2))
        if rises and (low >= 1 or high <= 1):
            place = places[power] = sp.Dummy(positive=True)
            (least if bool(low >= 1) is (rises > 0) else most)[place] = sp.Integer(1)
    return expr.xreplace(places), least, most


def _sign_of_exponent(exponent: sp.Expr, lower: Bounds, upper: Bounds) -> int:
    """The sign of an exponent where it is known, else 0."""
    try:
        return 0 if exponent.atoms(sp.Pow) else sign_over(exponent, lower, upper)
    except FormulaError:
        return 0


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


def positive_monomial(expr: sp.Expr, lower: Bounds = _NONE, upper: Bounds = _NONE) -> Monomial:
    """Read an expression that is known to be positive as a monomial.

    Its sums become atoms, signed so that they are positive: by the bounds where these tell,
    else so that the product is what it was, which leaves nothing open where there is one sum.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> E, L = symbols("E L")
        >>> positive_monomial((1 - E)*L).atoms, positive_monomial((1 - E)*(1 - L)).atoms
        ((1 - E, L), (E - 1, L - 1))
    """
    result = Monomial(())
    sign, open_sums = 1, []
    for factor in sp.Mul.make_args(sp.factor_terms(expr)):
        base, exponent = factor.as_base_exp()
        if base.is_Add and not base.is_positive:
            side = _known_sign(base, lower, upper)
            if side is None:
                side = -1 if base.could_extract_minus_sign() and exponent.is_integer else 1
                open_sums.append((base * side, exponent))
            else:
                result = result * _power(base * side, exponent)
            sign *= side if exponent.is_odd else 1
        elif factor.is_Rational:
            sign *= 1 if factor > 0 else -1
            result = result * Monomial.of(abs(factor))
        else:
            result = result * Monomial.of(factor)
    for base, exponent in open_sums:
        if sign < 0 and exponent.is_odd:  # one of them was signed wrongly
            base, sign = -base, 1
        result = result * _power(base, exponent)
    return result


def _power(base: sp.Expr, exponent: sp.Expr) -> Monomial:
    return Monomial.from_powers({base: exponent})


def _known_sign(base: sp.Expr, lower: Bounds, upper: Bounds) -> int | None:
    """The sign of a sum where bounds tell it; one that may vanish counts as positive."""
    if not base.free_symbols & (lower.keys() | upper.keys()):
        return None
    try:
        return sign_over(base, lower, upper) or None
    except FormulaError:
        return None
