"""A cost: a SymPy expression with its unit."""

from dataclasses import dataclass

import sympy as sp

from symscale.answers import Shown
from symscale.errors import UnitError
from symscale.language.units import Unit, parse_unit


@dataclass(frozen=True)
class Cost(Shown):
    """An amount that depends on symbols, such as the FLOP of a layer.

    Sums and comparisons of unlike units are errors; products and quotients
    multiply and divide the units.

    Attributes:
        expr: The amount in base units of `unit`.
        unit: Its unit.

    Raises:
        UnitError: By +, - and comparisons, if the units do not fit.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, C = symbols("b C")
        >>> (cost(6*b, "FLOP") / cost(C, "FLOP/s")).unit == parse_unit("s")
        True
    """

    expr: sp.Expr
    unit: Unit

    def __add__(self, other: "Cost") -> "Cost":
        self.require_same_unit(other)
        return Cost(self.expr + other.expr, self.unit)

    def __sub__(self, other: "Cost") -> "Cost":
        self.require_same_unit(other)
        return Cost(self.expr - other.expr, self.unit)

    def __mul__(self, other: "Cost | sp.Expr | int") -> "Cost":
        if isinstance(other, Cost):
            return Cost(self.expr * other.expr, self.unit * other.unit)
        return Cost(self.expr * other, self.unit)

    __rmul__ = __mul__

    def __truediv__(self, other: "Cost | sp.Expr | int") -> "Cost":
        if isinstance(other, Cost):
            return Cost(self.expr / other.expr, self.unit / other.unit)
        return Cost(self.expr / other, self.unit)

    def with_expr(self, expr: sp.Expr) -> "Cost":
        """Return a cost of the same unit with another expression, a rewritten one."""
        return Cost(expr, self.unit)

    def require_same_unit(self, other: "Cost") -> None:
        """Raise unless the other cost has the same unit.

        Raises:
            UnitError: If it has another; the text names both.
        """
        if self.unit != other.unit:
            raise UnitError(
                f"{self.expr} is in {self.unit}, {other.expr} in {other.unit}: "
                "they cannot be added or compared"
            )


def cost(expr: sp.Expr | int, unit: str) -> Cost:
    """Make a cost from an expression and the text of its unit.

    Example:
        >>> cost(12, "word").unit == parse_unit("word")
        True
    """
    return Cost(sp.Integer(expr) if isinstance(expr, int) else expr, parse_unit(unit))


def total(costs: list[Cost], unit: str) -> Cost:
    """Sum costs; `unit` is the unit of the sum, an empty one included.

    Raises:
        UnitError: If a term has another unit.
    """
    result = cost(0, unit)
    for term in costs:
        result = result + term
    return result
