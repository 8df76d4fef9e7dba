"""Where parameters live: bounds on them, and open intervals for exponent symbols.

The solver must know the signs of polynomials in the exponent symbols. `sign`
decides them exactly: by the signs of coefficients after the domain is mapped
onto the positive orthant, or, with one symbol, by counting roots.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError


class IndeterminateSignError(FormulaError):
    """A polynomial in the exponents changes its sign within the domain.

    Attributes:
        polynomial: The polynomial in question.
    """

    def __init__(self, polynomial: sp.Expr) -> None:
        """Keep the polynomial that has no single sign."""
        super().__init__(f"the sign of {polynomial} is not the same over the exponents' domain")
        self.polynomial = polynomial


class ChangesFormError(FormulaError):
    """An answer has not the same form over all of the exponents' domain.

    Attributes:
        breaks: Exponents, and where within their intervals the form changes.
    """

    breaks: tuple[tuple[sp.Symbol, sp.Rational], ...] = ()


@dataclass(frozen=True)
class Interval:
    """An open interval; None stands for no bound.

    Example:
        >>> Interval(None, sp.Rational(1, 2)).sample()
        -1/2
    """

    lower: sp.Rational | None
    upper: sp.Rational | None

    def __contains__(self, value: sp.Expr) -> bool:
        return bool(
            (self.lower is None or value > self.lower)
            and (self.upper is None or value < self.upper)
        )

    def sample(self, position: sp.Rational = sp.Rational(1, 2)) -> sp.Rational:
        """Return a rational inside, at `position` of the way where both ends are finite."""
        if self.lower is None and self.upper is None:
            return sp.Integer(0)
        if self.lower is None:
            return self.upper - position * 2
        if self.upper is None:
            return self.lower + position * 2
        return self.lower + (self.upper - self.lower) * position

    def __str__(self) -> str:
        low = "-oo" if self.lower is None else str(self.lower)
        high = "oo" if self.upper is None else str(self.upper)
        return f"({low}, {high})"


@dataclass(frozen=True)
class Domain:
    """The domain of a program's parameters.

    Attributes:
        at_least_one: Monomials in the parameters that are at least 1, such as `E`.
        exponents: The open interval of each exponent symbol.
    """

    at_least_one: tuple[Monomial, ...] = ()
    exponents: Mapping[sp.Symbol, Interval] = field(default_factory=dict)

    def sample(self, position: sp.Rational = sp.Rational(1, 2)) -> dict[sp.Symbol, sp.Rational]:
        """Return a rational value within the interval of every exponent symbol."""
        return {s: interval.sample(position) for s, interval in self.exponents.items()}

    def sign(self, expr: sp.Expr) -> int:
        """Return the sign of a rational function of the exponent symbols: -1, 0 or 1.

        Raises:
            IndeterminateSignError: If it is not the same over the whole domain.

        Example:
            >>> from symscale.language.symbols import symbol
            >>> alpha = symbol("alpha")
            >>> Domain(exponents={alpha: Interval(None, sp.Rational(1, 2))}).sign(1 - 2*alpha)
            1
        """
        if not expr.is_polynomial():
            above, below = sp.fraction(sp.together(expr))
            return self.sign(above) * self.sign(below)
        polynomial = sp.expand(expr)
        if not polynomial.free_symbols:
            return int(sp.sign(polynomial))
        coefficients = self._orthant_coefficients(polynomial)
        signs = {int(sp.sign(c)) for c in coefficients if c != 0}
        if len(signs) == 1:
            return signs.pop()
        if len(polynomial.free_symbols) == 1 and not self._roots(polynomial):
            s: Any = next(iter(polynomial.free_symbols))
            inside = self.exponents.get(s, Interval(None, None)).sample()
            return int(sp.sign(polynomial.subs(s, inside)))
        raise IndeterminateSignError(polynomial)

    def _orthant_coefficients(self, polynomial: sp.Expr) -> list[sp.Expr]:
        """Coefficients after each symbol is mapped onto (0, oo); positive factors are dropped."""
        s: Any
        for s in sorted(polynomial.free_symbols, key=str):
            interval = self.exponents.get(s, Interval(None, None))
            low, high = interval.lower, interval.upper
            if low is None and high is None:
                return [sp.Integer(1), sp.Integer(-1)]
            if low is not None and high is not None:
                image = (low + high * s) / (1 + s)
            else:
                image = low + s if low is not None else high - s
            polynomial = sp.expand(sp.fraction(sp.together(polynomial.subs(s, image)))[0])
        return sp.Poly(polynomial, *sorted(polynomial.free_symbols, key=str)).coeffs() if (
            polynomial.free_symbols
        ) else [polynomial]

    def _roots(self, polynomial: sp.Expr) -> list[sp.Expr]:
        """Its real roots inside the domain, for a polynomial in one symbol."""
        s: Any = next(iter(polynomial.free_symbols))
        interval = self.exponents.get(s, Interval(None, None))
        return [r for r in sp.Poly(polynomial, s).real_roots() if r in interval]

    def split_at(self, polynomial: sp.Expr) -> tuple["Domain", ...]:
        """Return the cells into which a polynomial's roots divide the domain.

        Raises:
            FormulaError: If it has several symbols or an irrational root there.
        """
        if len(polynomial.free_symbols) != 1:
            raise IndeterminateSignError(polynomial)
        s: Any = next(iter(polynomial.free_symbols))
        roots = sorted(set(self._roots(polynomial)))
        if not all(r.is_Rational for r in roots):
            raise FormulaError(
                f"the answer changes form at {', '.join(map(str, roots))}; give {s} a number"
            )
        interval = self.exponents.get(s, Interval(None, None))
        ends: list[Any] = [interval.lower, *roots, interval.upper]
        return tuple(
            Domain(self.at_least_one, {**self.exponents, s: Interval(low, high)})
            for low, high in pairwise(ends)
        )
