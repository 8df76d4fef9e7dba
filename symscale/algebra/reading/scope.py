"""What a relation is read with: which symbols are sought, and what is known of the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import positive_monomial, sign_over
from symscale.errors import FormulaError


@dataclass(frozen=True)
class Scope:
    """What a relation is read with.

    Attributes:
        variables: The unknowns.
        lower: Lower bounds of parameters.
        fresh: Makes an auxiliary variable.
        upper: Upper bounds of parameters.
    """

    variables: frozenset[sp.Symbol]
    lower: Mapping[sp.Symbol, sp.Rational]
    fresh: Callable[[], sp.Symbol]
    upper: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)

    def sign(self, expr: sp.Expr) -> int:
        """The sign of an expression in the parameters; that of a product by its factors."""
        found = 1
        for factor in sp.Mul.make_args(expr):
            base, exponent = factor.as_base_exp()
            sign = sign_over(base, self.lower, self.upper) if base.is_Add else 0
            found *= (sign if exponent.is_odd else abs(sign)) if sign else (
                sign_over(factor, self.lower, self.upper)
            )
        return found

    def monomial(self, expr: sp.Expr) -> Monomial:
        """A positive expression in the parameters as a monomial."""
        return positive_monomial(expr, self.lower, self.upper)

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
