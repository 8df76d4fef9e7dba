"""Exponents as text: with plain denominators, or as the decimals that they were written as."""

from decimal import Decimal

import sympy as sp


def tidy_exponent(exponent: sp.Expr) -> sp.Expr:
    """Return an exponent with its denominator positive where the exponent symbols are 0.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> alpha = symbol("alpha")
        >>> tidy_exponent(-2/(2*alpha - 1))
        2/(1 - 2*alpha)
    """
    if exponent.is_Rational:
        return exponent
    numerator, denominator = sp.fraction(exponent)
    if denominator.subs(dict.fromkeys(denominator.free_symbols, 0)).is_negative:
        numerator, denominator = -numerator, -denominator
    return sp.expand(numerator) / sp.expand(denominator)


def decimal_text(exponent: sp.Expr) -> str | None:
    """An exponent as a decimal, where it must have been written as one: 0.33, but not 1/4.

    Example:
        >>> decimal_text(sp.Rational(33, 100)), decimal_text(sp.Rational(7, 5))
        ('0.33', None)
    """
    if not isinstance(exponent, sp.Rational) or exponent.q <= 10 or exponent.q % 5:
        return None
    digits = next((k for k in range(2, 7) if 10**k % exponent.q == 0), None)
    return None if digits is None else f"{Decimal(int(exponent.p)) / Decimal(int(exponent.q)):f}"


def exponent_text(exponent: sp.Expr) -> str:
    """Return an exponent as text that reads back exactly, such as `-1/4`."""
    return str(tidy_exponent(exponent))
