"""Units of whole expressions: every sum, comparison and exponent is checked."""

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from symscale.errors import UnitError
from symscale.language.units import DIMENSIONLESS, Unit


def unit_of(expr: sp.Basic, units: Mapping[sp.Symbol, Unit]) -> Unit:
    """Return the unit of an expression; numbers have none.

    Args:
        expr: The expression.
        units: The unit of each symbol.

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
            unit = unit * unit_of(factor, units)
        return unit
    if isinstance(expr, sp.Pow):
        return _power(expr, units)
    if expr.is_Add or isinstance(expr, sp.Max | sp.Min):
        return _common(expr, units)
    raise UnitError(f"{expr} has no unit that is known")


def _power(expr: sp.Pow, units: Mapping[sp.Symbol, Unit]) -> Unit:
    base, exponent = unit_of(expr.base, units), expr.exp
    if not unit_of(exponent, units).is_dimensionless:
        raise UnitError(f"the exponent {exponent} has the unit {unit_of(exponent, units)}")
    if base.is_dimensionless:
        return DIMENSIONLESS
    if not isinstance(exponent, sp.Rational):
        raise UnitError(f"{expr.base} is in {base}, and its exponent {exponent} is no number")
    return base ** Fraction(int(exponent.p), int(exponent.q))


def _common(expr: sp.Basic, units: Mapping[sp.Symbol, Unit]) -> Unit:
    """The unit that all terms share."""
    terms = sorted(expr.args, key=str)
    first = unit_of(terms[0], units)
    for term in terms[1:]:
        other = unit_of(term, units)
        if not first.fits(other):
            verb = "adds" if expr.is_Add else "compares"
            raise UnitError(f"{_short(expr)} {verb} {first} ({_short(terms[0])}) and {other} "
                            f"({_short(term)})")
    return first


def _short(expr: sp.Basic) -> str:
    text = str(expr)
    return text if len(text) <= 60 else text[:57] + "..."
