"""The numbers that the solver computes with: rationals, or functions of exponents.

Vertices of the dual program are exact. Without exponent symbols their entries
are rationals and the work is done on integers; with them, on polynomials whose
signs the domain decides. Both look the same to the algorithms.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

import sympy as sp
from sympy.polys.fields import field as polynomial_field

from symscale.algebra.exact.domain import Domain
from symscale.errors import FormulaError


class Scalars(Protocol):
    """What the algorithms need: a field, and the ring of its numerators."""

    one: Any

    def convert(self, expr: sp.Expr) -> Any:
        """Read an expression as a field element."""

    def to_expr(self, numerator: Any, denominator: Any) -> sp.Expr:
        """Return the quotient of two ring elements as an expression."""

    def clear(self, row: Sequence[Any]) -> list[Any]:
        """Multiply a row of field elements by a nonzero factor that puts it into the ring."""

    def sign(self, value: Any) -> int:
        """Return the sign of a ring element: -1, 0 or 1."""

    def reduce(self, row: list[Any]) -> list[Any]:
        """Divide ring elements by a common positive factor."""


class Rationals:
    """Fractions over integers."""

    one = 1

    def convert(self, expr: Any) -> Fraction:
        """Read a rational expression."""
        return Fraction(int(expr.p), int(expr.q))

    def to_expr(self, numerator: int, denominator: int) -> sp.Expr:
        """Return a SymPy rational."""
        return sp.Rational(numerator, denominator)

    def clear(self, row: Sequence[Fraction]) -> list[int]:
        """Multiply by the least common denominator."""
        scale = math.lcm(*(x.denominator for x in row))
        return [int(x * scale) for x in row]

    def sign(self, value: int) -> int:
        """Sign of an integer."""
        return (value > 0) - (value < 0)

    def reduce(self, row: list[int]) -> list[int]:
        """Divide by the greatest common divisor."""
        common = math.gcd(*row)
        return row if common <= 1 else [x // common for x in row]


class Functions:
    """Rational functions of exponent symbols over a domain."""

    def __init__(self, symbols: Sequence[sp.Symbol], domain: Domain) -> None:
        """Make the field of functions of `symbols`."""
        self._field = polynomial_field(list(symbols), sp.QQ)[0]
        self.one = self._field.ring.one
        self._domain = domain
        self._signs: dict[Any, int] = {}

    def convert(self, expr: sp.Expr) -> Any:
        """Read a rational function.

        Raises:
            FormulaError: If it is none.
        """
        try:
            return self._field.from_expr(expr)
        except ValueError:
            raise FormulaError(f"exponent {expr} is no rational function") from None

    def to_expr(self, numerator: Any, denominator: Any) -> sp.Expr:
        """Return the quotient in canonical form."""
        return (self._field(numerator) / self._field(denominator)).as_expr()

    def clear(self, row: Sequence[Any]) -> list[Any]:
        """Multiply by the least common denominator, which must have no zero in the domain."""
        scale = reduce(lambda x, y: x.lcm(y), (x.denom for x in row), self.one)
        self.sign(scale)
        return [x.numer * scale.quo(x.denom) for x in row]

    def sign(self, value: Any) -> int:
        """Sign over the whole domain.

        Raises:
            IndeterminateSignError: If it is not the same everywhere.
        """
        if not value:
            return 0
        if value not in self._signs:
            self._signs[value] = self._domain.sign(value.as_expr())
        return self._signs[value]

    def reduce(self, row: list[Any]) -> list[Any]:
        """Divide by the greatest common divisor, its sign made positive."""
        common = reduce(lambda x, y: x.gcd(y), row)
        if not common or common == self.one:
            return row
        if self.sign(common) < 0:
            common = -common
        return [x.quo(common) for x in row]


def scalars_for(symbols: Sequence[sp.Symbol], domain: Domain) -> Scalars:
    """Return rationals where there are no exponent symbols, else functions of them."""
    return Functions(symbols, domain) if symbols else Rationals()


def field_to_expr(scalars: Scalars, value: Any) -> sp.Expr:
    """Return a field element (or a plain integer) as an expression."""
    if isinstance(value, int):
        return sp.Integer(value)
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return scalars.to_expr(value.numer, value.denom)
