"""Numbers and amounts that a user gives to an option, read exactly."""

from fractions import Fraction
from typing import TYPE_CHECKING

from symscale.errors import InputError, SymscaleError, printable
from symscale.language.units import parse_number, parse_quantity, parse_unit

if TYPE_CHECKING:
    import sympy as sp

MOST_VALUES = 20
MOST_NUMBER = 10**15  # of a numerator or denominator


def numbers(option: str, text: str) -> "tuple[sp.Expr, ...]":
    """Read a list of numbers, separated by commas, exactly.

    Raises:
        InputError: If one is no number, or they are too many or too long.
    """
    import sympy as sp

    parts = text.split(",")
    if len(parts) > MOST_VALUES:
        raise InputError(f"{option}: {len(parts)} values are too many; at most {MOST_VALUES}")
    found = []
    for part in parts:
        try:
            number = sp.Rational(parse_number(part.strip()))
        except SymscaleError as error:
            raise error.with_context(option) from None
        if max(abs(number.p), number.q) > MOST_NUMBER:
            raise InputError(
                f"{option}: {part.strip()[:20]} is beyond what is exact here; "
                "at most 15 digits, from 1e-15 to 1e15"
            )
        found.append(number)
    return tuple(found)


def one_number(option: str, text: str) -> "sp.Expr":
    """Read one number, exactly.

    Raises:
        InputError: If it is no number.
    """
    found = numbers(option, text)
    if len(found) != 1:
        raise InputError(f"{option} takes one number")
    return found[0]


def growths(text: str) -> "tuple[sp.Expr, ...]":
    """Read --flop-vs-bw: factors above 0.

    Raises:
        InputError: If one is no number above 0.
    """
    ks = numbers("--flop-vs-bw", text)
    if any(not k.is_positive for k in ks):
        raise InputError(f"--flop-vs-bw {text}: arithmetic grows by factors above 0")
    return ks


def amount(option: str, text: str, unit: str, example: str = "") -> Fraction:
    """Read a quantity in a unit, which has to be written where an example has one.

    Raises:
        InputError: If it is no such quantity above zero.
    """
    try:
        quantity = parse_quantity(text)
        if quantity.unit is None and example:
            raise InputError(f"it has no unit; write {example}, say")
        value = quantity.to(parse_unit(unit))
    except SymscaleError as error:
        raise error.with_context(f"{option} {printable(text)}") from None
    if value <= 0:
        raise InputError(f"{option} {printable(text)}: it is not above zero")
    return value
