"""Units of whole expressions: every sum, comparison and exponent is checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from symscale.errors import UnitError
from symscale.language.units import DIMENSIONLESS, Unit

_COUNTS = frozenset({"FLOP", "token", "word"})


@dataclass(frozen=True)
class CountedLiteral:
    """A number that stands for a count of FLOP: the 4 in `4*c^2*d/C` with C in FLOP/s.

    Attributes:
        number: The number.
        unit: The unit that it takes.
        term: The term in which it stands.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> from symscale.language.units import parse_unit
        >>> str(CountedLiteral(sp.Integer(4), parse_unit("FLOP/token"), 4*symbol("b")))
        '4 FLOP/token'
    """

    number: sp.Rational
    unit: Unit
    term: sp.Expr

    def __str__(self) -> str:
        return f"{self.number} {self.unit}"


def unit_of(
    expr: sp.Basic, units: Mapping[sp.Symbol, Unit], counted: list[CountedLiteral] | None = None
) -> Unit:
    """Return the unit of an expression; numbers have none.

    Args:
        expr: The expression.
        units: The unit of each symbol.
        counted: Where it is given, a number in a term that lacks FLOP, and that only, may stand
            for a count of FLOP; it is added here.

    Raises:
        UnitError: If unlike units are added or compared, or a quantity with a unit is
            raised to a power that is no number.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> from symscale.language.units import parse_unit
        >>> b, C = symbols("b C")
        >>> str(unit_of(2*b/C, {b: parse_unit("FLOP"), C: parse_unit("FLOP/s")}))
        's'
    """
    if isinstance(expr, sp.Symbol):
        return units[expr]
    if expr.is_number:
        return DIMENSIONLESS
    if expr.is_Mul:
        unit = DIMENSIONLESS
        for factor in expr.args:
            unit = unit * unit_of(factor, units, counted)
        return unit
    if isinstance(expr, sp.Pow):
        return _power(expr, units, counted)
    if expr.is_Add or isinstance(expr, sp.Max | sp.Min):
        return _common(expr, units, counted)
    raise UnitError(f"{expr} has no unit that is known")


def compare_units(
    left: sp.Expr, right: sp.Expr, units: Mapping[sp.Symbol, Unit], counted: list[CountedLiteral]
) -> None:
    """Raise unless two sides measure the same thing, numbers counting FLOP where they have to.

    Raises:
        UnitError: If they do not; the text names both units.
    """
    first, second = (unit_of(side, units, counted) for side in (left, right))
    if first.fits(second) or left == 0 or right == 0:
        return
    for side, needed in ((right, first / second), (left, second / first)):
        if _counts(needed) and _count(side, needed, counted):
            return
    hint = _hint(first / second) or _hint(second / first)
    raise UnitError(f"the left side is in {first}, the right in {second}{hint}")


def _power(
    expr: sp.Pow, units: Mapping[sp.Symbol, Unit], counted: list[CountedLiteral] | None
) -> Unit:
    base, exponent = unit_of(expr.base, units, counted), expr.exp
    if not unit_of(exponent, units).is_dimensionless:
        raise UnitError(f"the exponent {exponent} has the unit {unit_of(exponent, units)}")
    if base.is_dimensionless:
        return DIMENSIONLESS
    if not isinstance(exponent, sp.Rational):
        raise UnitError(f"{expr.base} is in {base}, and its exponent {exponent} is no number")
    return base ** Fraction(int(exponent.p), int(exponent.q))


def _common(
    expr: sp.Basic, units: Mapping[sp.Symbol, Unit], counted: list[CountedLiteral] | None
) -> Unit:
    """The unit that all terms share."""
    terms = sorted(expr.args, key=str)
    found = [unit_of(term, units, counted) for term in terms]
    first = found[0]
    if counted is not None:  # the terms that lack no FLOP say what the others need
        first = max(found, key=lambda unit: dict(unit.dimensions).get("FLOP", Fraction(0)))
    for term, other in zip(terms, found, strict=True):
        if first.fits(other):
            continue
        needed = first / other
        if counted is None or not _counts(needed) or not _count(term, needed, counted):
            one = terms[found.index(first)]
            verb = "adds" if expr.is_Add else "compares"
            hint = "" if counted is None else _hint(needed)
            raise UnitError(f"{_short(expr)} {verb} {first} ({_short(one)}) and {other} "
                            f"({_short(term)}){hint}")
    return first


def _counts(needed: Unit) -> bool:
    """Whether what a side lacks is FLOP, perhaps for each token or word."""
    powers = dict(needed.dimensions)
    return powers.get("FLOP", 0) > 0 and powers.keys() <= _COUNTS


def _count(expr: Any, needed: Unit, counted: list[CountedLiteral]) -> bool:
    """Let the numbers of an expression count what it lacks; False where it has none."""
    if expr.is_Add or isinstance(expr, sp.Max | sp.Min):
        return all(_count(term, needed, counted) for term in sorted(expr.args, key=str))
    number, rest = expr.as_coeff_Mul()
    if number.is_Rational and abs(number) != 1:
        counted.append(CountedLiteral(number, Unit(needed.dimensions, Fraction(1)), expr))
        return True
    sums = [f for f in sp.Mul.make_args(rest) if f.is_Add or isinstance(f, sp.Max | sp.Min)]
    return len(sums) == 1 and _count(sums[0], needed, counted)


def _hint(needed: Unit) -> str:
    if not _counts(needed):
        return ""
    unit = Unit(needed.dimensions, Fraction(1))
    return f"; if FLOP are counted, write the number with its unit, such as 2 {unit}*..."


def _short(expr: sp.Basic) -> str:
    text = str(expr)
    return text if len(text) <= 60 else text[:57] + "..."
