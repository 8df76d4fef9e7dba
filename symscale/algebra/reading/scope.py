"""What a relation is read with: which symbols are sought, and what is known of the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import OpenSignError, positive_monomial, sign_over
from symscale.errors import FormulaError


@dataclass(frozen=True)
class Scope:
    """What a relation is read with.

    Attributes:
        variables: The unknowns.
        lower: Lower bounds of parameters.
        fresh: Makes an auxiliary variable.
        upper: Upper bounds of parameters.
        known: Sums of parameters that are at least zero.
    """

    variables: frozenset[sp.Symbol]
    lower: Mapping[sp.Symbol, sp.Rational]
    fresh: Callable[[], sp.Symbol]
    upper: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)
    known: tuple[sp.Expr, ...] = ()

    def sign(self, expr: sp.Expr) -> int:
        """The sign of an expression in the parameters; that of a product by its factors."""
        found = 1
        for factor in sp.Mul.make_args(expr):
            base, exponent = factor.as_base_exp()
            sign = self._sign_of_sum(base) if base.is_Add else 0
            found *= (sign if exponent.is_odd else abs(sign)) if sign else (
                sign_over(factor, self.lower, self.upper)
            )
        return found

    def _sign_of_sum(self, base: sp.Expr) -> int:
        """The sign of a sum, by bounds or by what is known to be at least zero."""
        try:
            return sign_over(base, self.lower, self.upper)
        except OpenSignError:
            for known in self.known:
                ratio = _ratio(base, known)
                if ratio is not None:
                    return sign_over(ratio, self.lower, self.upper)
            raise

    def monomial(self, expr: sp.Expr) -> Monomial:
        """A positive expression in the parameters as a monomial."""
        result, rest = Monomial(()), sp.Integer(1)
        for factor in sp.Mul.make_args(sp.factor_terms(expr)):
            base, exponent = factor.as_base_exp()
            if self.known and base.is_Add and not base.is_positive:
                sign = self.sign(base)
                result = result * Monomial.from_powers({base * sign: exponent})
                rest = rest * sign if exponent.is_odd else rest
            else:
                rest = rest * factor
        return result * positive_monomial(rest, self.lower, self.upper)

    def varies(self, expr: sp.Expr) -> bool:
        """Whether an expression contains an unknown."""
        return bool(expr.free_symbols & self.variables)

    def product(self, expr: sp.Expr) -> Monomial:
        """A positive product of powers of unknowns and parameters as a monomial.

        Raises:
            FormulaError: If it is none, or not known to be positive.
        """
        coefficient, powers = expr.as_independent(*self.variables, as_Add=False)
        if self.sign(coefficient) <= 0:
            raise FormulaError(f"{coefficient} is not positive")
        return self.monomial(coefficient) * Monomial.of(powers)


def _ratio(one: sp.Expr, other: sp.Expr) -> sp.Expr | None:
    """The product of powers by which one polynomial is another; None where it is none."""
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    if not (one.is_polynomial(*symbols) and other.is_polynomial(*symbols)):
        return None
    first, second = sp.Poly(one, *symbols), sp.Poly(other, *symbols)
    if len(first.terms()) != len(second.terms()):
        return None
    (powers, number), (below, divisor) = first.terms()[0], second.terms()[0]
    ratio = sp.Mul(number / divisor, *(s ** (p - b) for s, p, b in zip(
        symbols, powers, below, strict=True)))
    return ratio if sp.expand(other * ratio - one) == 0 else None
