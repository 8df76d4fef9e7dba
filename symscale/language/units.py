"""Units and numbers with units, exact: every factor is a rational, never a float.

The base dimensions are FLOP, word, byte, token, s, J and USD. FLOP is a count
and FLOP/s a rate. Text from a user is read by a small grammar with limits.

Example:
    >>> parse_quantity("100GB/s").to(parse_unit("byte/s"))
    Fraction(100000000000, 1)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symscale.errors import ParseError, UnitError, printable, unknown_name

MAX_UNIT_LENGTH = 60  # characters
MAX_UNIT_POWER = 12  # numerator and denominator of a power
MAX_SCALE_BITS = 4096  # of a power of a scale
MAX_DIGITS = 100  # of a number, and of its exponent
MAX_DECIMAL_EXPONENT = 300  # up or down


def format_unit(dimensions: Iterable[tuple[str, Fraction]]) -> str:
    """Return the canonical text of a product of powers of names.

    Example:
        >>> format_unit([("s", Fraction(-1)), ("token", Fraction(2))])
        'token^2/s'
    """
    above: list[str] = []
    below: list[str] = []
    for name, power in dimensions:
        size = abs(power)
        exponent = str(size) if size.denominator == 1 else f"({size})"
        (above if power > 0 else below).append(name if size == 1 else f"{name}^{exponent}")
    text = "*".join(above) or "1"
    if len(below) > 1:
        return f"{text}/({'*'.join(below)})"
    return "/".join([text, *below])


@dataclass(frozen=True)
class Unit:
    """A unit: a product of powers of base dimensions, times an exact factor.

    Attributes:
        dimensions: Pairs of base name and power, sorted by name, no power zero.
        scale: How many base units it is, such as 10^9 for GB.

    Example:
        >>> parse_unit("GB") / parse_unit("ms") == parse_unit("TB/s")
        True
    """

    dimensions: tuple[tuple[str, Fraction], ...]
    scale: Fraction

    def __post_init__(self) -> None:
        names = [name for name, _ in self.dimensions]
        if names != sorted(set(names)) or not all(p for _, p in self.dimensions) or self.scale <= 0:
            raise UnitError("a unit has sorted dimensions, no power zero and a positive scale")

    def __mul__(self, other: "Unit") -> "Unit":
        powers = dict(self.dimensions)
        for name, power in other.dimensions:
            powers[name] = powers.get(name, Fraction(0)) + power
        kept = tuple(sorted((name, power) for name, power in powers.items() if power))
        return Unit(kept, self.scale * other.scale)

    def __truediv__(self, other: "Unit") -> "Unit":
        return self * other**-1

    def __pow__(self, exponent: int | Fraction) -> "Unit":
        power = Fraction(exponent)
        if not power:
            return DIMENSIONLESS
        raised = tuple((name, p * power) for name, p in self.dimensions)
        return Unit(raised, _scale_power(self.scale, power))

    @property
    def is_dimensionless(self) -> bool:
        """Whether it counts nothing, as "1" and "%" do."""
        return not self.dimensions

    def fits(self, other: "Unit") -> bool:
        """Return whether both measure the same thing, whatever their scales.

        Example:
            >>> parse_unit("GB/s").fits(parse_unit("bit/d"))
            True
        """
        return self.dimensions == other.dimensions

    def factor_to(self, other: "Unit") -> Fraction:
        """Return how many of `other` one of this unit is.

        Raises:
            UnitError: If the two do not fit.

        Example:
            >>> parse_unit("d").factor_to(parse_unit("h"))
            Fraction(24, 1)
        """
        if not self.fits(other):
            raise UnitError(f"{self} does not fit {other}")
        return self.scale / other.scale

    def __str__(self) -> str:
        text = format_unit(self.dimensions)
        if self.scale == 1:
            return text
        for name, unit in _NAMED.items():
            # The scale may sit in one factor: GB/s or 1/h, not 1000000000 byte/s.
            for base, power in self.dimensions:
                whole = unit.dimensions == ((base, Fraction(1)),) and abs(power) <= MAX_UNIT_POWER
                if whole and power.denominator == 1 and unit.scale**power.numerator == self.scale:
                    return format_unit((name if b == base else b, p) for b, p in self.dimensions)
        if not self.dimensions:
            return "%" if self.scale == _NAMED["%"].scale else str(self.scale)
        return f"{self.scale} {text}"


def _scale_power(scale: Fraction, power: Fraction) -> Fraction:
    if scale == 1:
        return scale
    bits = max(scale.numerator.bit_length(), scale.denominator.bit_length())
    if bits * abs(power) > MAX_SCALE_BITS:
        of = printable(str(scale))
        raise UnitError(f"the power {power} of a unit of scale {of!r} is too large")
    top = _integer_root(scale.numerator, power.denominator)
    bottom = _integer_root(scale.denominator, power.denominator)
    if top is None or bottom is None:
        of = printable(str(scale))
        raise UnitError(f"the power {power} of a unit of scale {of!r} is not exact")
    return Fraction(top, bottom) ** power.numerator


def _integer_root(number: int, degree: int) -> int | None:
    if degree > number.bit_length():
        return 1 if number == 1 else None
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < number else (low, middle)
    return low if low**degree == number else None


DIMENSIONLESS = Unit((), Fraction(1))
"""The unit of a pure number."""

_DECIMAL = {prefix: Fraction(1000) ** k for k, prefix in enumerate("kMGTPEZY", 1)}
_BINARY = {f"{prefix}i": Fraction(1024) ** k for k, prefix in enumerate("KMGTP", 1)}
_DAY = Fraction(86400)
# Name, decimal prefixes, scale, base and its power. The first name of a scale is printed.
_TABLE = [
    ("%", "", Fraction(1, 100), "", 0),
    ("FLOP", "kMGTPEZY", Fraction(1), "FLOP", 1),
    ("MAC", "kMGTPEZY", Fraction(2), "FLOP", 1),
    ("word", "kMGT", Fraction(1), "word", 1),
    ("token", "kMGT", Fraction(1), "token", 1),
    ("B", "kMGTPE", Fraction(1), "byte", 1),
    ("byte", "kMGTPE", Fraction(1), "byte", 1),
    ("bit", "kMGTPE", Fraction(1, 8), "byte", 1),
    ("s", "", Fraction(1), "s", 1),
    ("ms", "", Fraction(1, 10**3), "s", 1),
    ("us", "", Fraction(1, 10**6), "s", 1),
    ("\u00b5s", "", Fraction(1, 10**6), "s", 1),  # the micro sign
    ("\u03bcs", "", Fraction(1, 10**6), "s", 1),  # the Greek letter
    ("ns", "", Fraction(1, 10**9), "s", 1),
    ("min", "", Fraction(60), "s", 1),
    ("h", "", Fraction(3600), "s", 1),
    ("d", "", _DAY, "s", 1),
    ("wk", "", 7 * _DAY, "s", 1),
    ("mo", "", _DAY * 1461 / 48, "s", 1),
    ("y", "", _DAY * 1461 / 4, "s", 1),
    ("Hz", "kMGT", Fraction(1), "s", -1),
    ("J", "kMG", Fraction(1), "J", 1),
    ("kWh", "", Fraction(3_600_000), "J", 1),
    ("MWh", "", Fraction(3_600_000_000), "J", 1),
    ("USD", "", Fraction(1), "USD", 1),
]


def _named() -> Iterator[tuple[str, Unit]]:
    for name, prefixes, scale, base, power in _TABLE:
        dimensions = ((base, Fraction(power)),) if base else ()
        yield name, Unit(dimensions, scale)
        for prefix in prefixes:
            yield prefix + name, Unit(dimensions, scale * _DECIMAL[prefix])
        for prefix in _BINARY if name in ("B", "byte") else ():
            yield prefix + name, Unit(dimensions, scale * _BINARY[prefix])


_NAMED = dict(_named())
BASE_UNITS = ("FLOP", "word", "byte", "token", "s", "J", "USD")
"""The units of which all others are multiples, powers and products."""


def is_unit(name: str) -> bool:
    """Return whether a name is that of a unit."""
    return name in _NAMED


_SPELLED = {
    "sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hr": "h",
    "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "wk", "weeks": "wk",
    "month": "mo", "months": "mo", "yr": "y", "year": "y", "years": "y", "percent": "%",
    "W": "J/s", "kW": "kJ/s", "MW": "MJ/s",
}  # fmt: skip


def _unknown_unit(name: str, text: str) -> UnitError:
    if flop := re.fullmatch(r"([kMGTPEZY]?)flops?", name, re.IGNORECASE):
        count = flop[1].upper().replace("K", "k") + "FLOP"
        return UnitError(
            f"unknown unit {name!r}: FLOP is a count and FLOP/s a rate; write {count} or {count}/s"
        )
    if bits := re.fullmatch(r"([kKmMGTPE]?)[bB](ps)?", name):
        prefix, rate = bits[1].replace("K", "k").replace("m", "M"), "/s" if bits[2] else ""
        ways = " or ".join(text.strip().replace(name, prefix + b + rate) for b in ("bit", "B"))
        return UnitError(f"unknown unit {name!r}: bits or bytes? write {ways}")
    if name in _SPELLED:
        return UnitError(f"unknown unit {name!r}; write {_SPELLED[name]}")
    return UnitError(str(unknown_name("unit", name, _NAMED)))


_TOKEN = re.compile(
    r"\s*(%|[^\W\d_]+|[*/()]|1(?![0-9])|"  # a name, an operator, a bracket, the number one
    r"\^\s*(?:[+-]?[0-9]+|\([+-]?[0-9]+(?:/[1-9][0-9]*)?\)))\s*"  # a power: ^2, ^-1, ^(1/2)
)


def _product(tokens: list[str], text: str) -> Unit:
    """Read a product off the end of `tokens`, which are in reverse."""
    unit, operator = DIMENSIONLESS, "*"
    while True:
        factor = _factor(tokens, text)
        if tokens and tokens[-1][0] == "^":
            power = Fraction(tokens.pop().strip("^() "))
            if max(abs(power.numerator), power.denominator) > MAX_UNIT_POWER:
                raise UnitError(f"{printable(text)!r} has a power beyond {MAX_UNIT_POWER}")
            factor **= power
        unit = unit * factor if operator == "*" else unit / factor
        if not tokens or tokens[-1] not in ("*", "/"):
            return unit
        operator = tokens.pop()


def _factor(tokens: list[str], text: str) -> Unit:
    name = tokens.pop() if tokens else ""
    if name == "(":
        unit = _product(tokens, text)
        if tokens and tokens.pop() == ")":
            return unit
    elif name == "1":
        return DIMENSIONLESS
    elif name in _NAMED:
        return _NAMED[name]
    elif name[:1].isalpha():
        raise _unknown_unit(name, text)
    raise _not_a_unit(text)


def _not_a_unit(text: str) -> UnitError:
    return UnitError(f"{printable(text)!r} is not a unit; write such as FLOP/s, token^2 or J^(1/2)")


def parse_unit(text: str) -> Unit:
    """Read a unit: names with powers, multiplied and divided, with brackets where wanted.

    Raises:
        UnitError: If it is not a unit; the text says what to write.

    Example:
        >>> str(parse_unit("byte / word**1")), str(parse_unit("MB*s^(1/2)/1"))
        ('byte/word', 'MB*s^(1/2)')
    """
    if len(text) > MAX_UNIT_LENGTH:
        raise UnitError(f"the unit {printable(text)!r} has more than {MAX_UNIT_LENGTH} characters")
    plain = text.replace("**", "^").replace("·", "*").replace("⋅", "*")
    tokens: list[str] = _TOKEN.findall(plain)[::-1]
    # What the pattern skipped is no token; what is left over has no operator before it.
    if _TOKEN.sub("", plain):
        raise _not_a_unit(text)
    unit = _product(tokens, text)
    if tokens:
        raise _not_a_unit(text)
    if any(abs(power) > MAX_UNIT_POWER for _, power in unit.dimensions):
        raise UnitError(f"{printable(text)!r} has a power beyond {MAX_UNIT_POWER}")
    return unit


@dataclass(frozen=True)
class Quantity:
    """A number with the unit that was written behind it.

    Attributes:
        value: The number, exact.
        unit: The unit, or None where none was written.

    Example:
        >>> parse_quantity("90d").to(parse_unit("wk"))
        Fraction(90, 7)
    """

    value: Fraction
    unit: Unit | None

    def to(self, unit: Unit) -> Fraction:
        """Return the number of `unit` it is; one without a unit is in `unit` already.

        Raises:
            UnitError: If the units do not fit.

        Example:
            >>> parse_quantity("50%").to(DIMENSIONLESS)
            Fraction(1, 2)
        """
        return self.value if self.unit is None else self.value * self.unit.factor_to(unit)


_DIGITS = "[0-9]++(?:_[0-9]++)*+"  # possessive: a megabyte of digits is matched in place
# A fraction is one of whole numbers: 1/3e5 is an expression, not a third.
_NUMBER = re.compile(
    rf"[+-]?(?:{_DIGITS}/{_DIGITS}(?![0-9_.]|[eE][+-]?[0-9])|"
    rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?)"
)
# What may follow a number: a name, "%", a bracket, or "1/" after a space, never an operator.
_TAIL = re.compile(r"\s*(?:[^\W\d_]|%|\()|\s+1\s*/\s*[^\W\d_]|$")


def _value(number: str) -> Fraction:
    mantissa, _, exponent = number.replace("_", "").lower().partition("e")
    if max(sum(map(str.isdigit, mantissa)), len(exponent.lstrip("+-"))) > MAX_DIGITS:
        raise ParseError(f"the number {printable(number)!r} has more than {MAX_DIGITS} digits")
    # Compared before the power of ten is built: 1e999999999 would fill the memory.
    if abs(int(exponent or "0")) > MAX_DECIMAL_EXPONENT:
        raise ParseError(
            f"the number {printable(number)!r} has a decimal exponent beyond {MAX_DECIMAL_EXPONENT}"
        )
    try:
        return Fraction(mantissa) * Fraction(10) ** int(exponent or "0")
    except ZeroDivisionError:
        raise ParseError(f"the number {printable(number)!r} divides by zero") from None


def parse_number(text: str) -> Fraction:
    """Read a number exactly: an integer, a decimal, scientific notation, or a fraction.

    Raises:
        ParseError: If it is not a number, or beyond the limits on digits and exponent.

    Example:
        >>> parse_number("0.1"), parse_number("4_000e3"), parse_number("1/3")
        (Fraction(1, 10), Fraction(4000000, 1), Fraction(1, 3))
    """
    if not _NUMBER.fullmatch(text.strip()):
        raise ParseError(f"{printable(text)!r} is not a number; write such as 4e6, 0.1 or 1/3")
    return _value(text.strip())


def parse_quantity(text: str) -> Quantity:
    """Read a number with or without a unit behind it, such as "4e6", "90d" or "2 byte/word".

    Raises:
        ParseError: If it does not begin with a number.
        UnitError: If what follows is not a unit.

    Example:
        >>> parse_quantity("4EFLOP") == parse_quantity("4 EFLOP")
        True
    """
    number = _NUMBER.match(text.strip())
    if not number or not is_quantity_text(text):
        raise ParseError(f"{printable(text)!r} is not a number or one with a unit, such as 100GB/s")
    tail = text.strip()[number.end() :]
    return Quantity(_value(number[0]), parse_unit(tail) if tail else None)


def is_quantity_text(text: str) -> bool:
    """Return whether `parse_quantity` is to read a text, rather than the parser of expressions.

    It is where the text begins with a number, and nothing follows but a name,
    "%", a bracket, or "1/" and a name. No expression looks like that.

    Example:
        >>> [is_quantity_text(t) for t in ("100GB/s", "-5", "4e6*sqrt(E)", "1/L")]
        [True, True, False, False]
    """
    number = _NUMBER.match(text.strip())
    return number is not None and _TAIL.match(text.strip(), number.end()) is not None
