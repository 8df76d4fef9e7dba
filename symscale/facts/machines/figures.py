"""Figures: what a machine's file states, each with unit, direction, condition and source.

A figure that lacks one of them is refused, because mixing one direction with
both, or a sparse rate with a dense one, changes a result by a factor of two
and nothing else would notice.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from symscale.errors import InputError, SymscaleError, printable, refusal
from symscale.language.tables import TypedNumber, check_keys, read_source, read_table, read_text
from symscale.language.units import parse_number, parse_unit

UNLIMITED = "unlimited"
DIRECTIONS = ("one-way", "both")

# No machine has a figure beyond these, whatever the unit; they keep a slip of
# the keyboard such as 1e300 from becoming an integer that fills the memory.
_LEAST, _MOST = Fraction(1, 10**30), Fraction(10**30)
_CONDITION = re.compile(r"(dense|sparse)\s*,\s*(?=.*\d).+", re.IGNORECASE)


@dataclass(frozen=True)
class FigureSpec:
    """What a figure of a given name has to be.

    Attributes:
        name: Its key in a file.
        unit: The unit in which symscale computes with it.
        example: A unit in which data sheets print it.
        bandwidth: Whether it needs a direction.
        rate: Whether it counts arithmetic and needs a condition.
        whole: Whether only whole numbers make sense.
        at_most: The largest value that makes sense, where there is one.
        unlimited: Whether "unlimited" may stand for its value.
    """

    name: str
    unit: str
    example: str
    bandwidth: bool = False
    rate: bool = False
    whole: bool = False
    at_most: int | None = None
    unlimited: bool = False

    @property
    def shape(self) -> str:
        """What to write into a file for it, in the form of an inline table.

        Example:
            >>> TIER_FIGURES["latency"].shape
            '{ value = ..., unit = "us", source = "..." }'
        """
        more = ', direction = "both"' if self.bandwidth else ""
        more += ', condition = "dense, 16 bit"' if self.rate else ""
        return f'{{ value = ..., unit = "{self.example}"{more}, source = "..." }}'


def _table(*specs: FigureSpec) -> Mapping[str, FigureSpec]:
    return MappingProxyType({spec.name: spec for spec in specs})


DEVICE_FIGURES = _table(
    FigureSpec("flop_rate", "FLOP/s", "FLOP/s", rate=True),
    FigureSpec("flop_per_clock_per_thread", "FLOP", "FLOP", rate=True),
    FigureSpec("threads_per_multiprocessor", "1", "1", whole=True),
    FigureSpec("multiprocessors", "1", "1", whole=True),
    FigureSpec("clock", "Hz", "MHz"),
    FigureSpec("sustained_fraction", "1", "1", at_most=1),
    FigureSpec("register_bytes", "byte", "byte"),
    FigureSpec("processing_blocks", "1", "1", whole=True),
    FigureSpec("l2_capacity", "byte", "MiB"),
    FigureSpec("l2_bandwidth", "byte/s", "GB/s", bandwidth=True),
    FigureSpec("memory_bandwidth", "byte/s", "GB/s", bandwidth=True),
    FigureSpec("memory_capacity", "byte", "GB"),
    FigureSpec("product_latency", "s", "us"),
)
"""The figures of one device, by name."""

TIER_FIGURES = _table(
    FigureSpec("bandwidth", "byte/s", "GB/s", bandwidth=True, unlimited=True),
    FigureSpec("latency", "s", "us"),
)
"""The figures of a network tier, by name."""


def decimal_text(value: Fraction) -> str:
    """Return a number as a short decimal, exact where it has at most twelve places.

    Example:
        >>> decimal_text(Fraction(9, 8)), decimal_text(Fraction(3352))
        ('1.125', '3352')
    """
    for places in range(13):
        scaled = value * 10**places
        if scaled.denominator == 1 and abs(scaled) < 10**15:
            whole, rest = divmod(scaled.numerator, 10**places)
            return f"{whole}.{rest:0{places}d}" if places else str(whole)
    return f"{float(value):.6g}"


@dataclass(frozen=True)
class Figure:
    """One fact about a machine, as its source prints it.

    Attributes:
        name: Which figure it is, such as "memory_bandwidth".
        value: The number as printed; None where it is unlimited.
        unit: The unit as printed.
        direction: For a bandwidth "one-way", or "both" (two directions added up).
        condition: What it holds for, such as "dense, 16 bit".
        source: A key of `symscale.language.sources`, or a user's own words.
        note: What else to know.

    Example:
        >>> link = Figure("bandwidth", Fraction(900), "GB/s", "both", None, "nvidia-h100-datasheet")
        >>> int(link.si), int(link.one_way)
        (900000000000, 450000000000)
    """

    name: str
    value: Fraction | None
    unit: str
    direction: str | None
    condition: str | None
    source: str
    note: str = ""

    @property
    def unlimited(self) -> bool:
        """Whether it has no bound."""
        return self.value is None

    @property
    def text(self) -> str:
        """Number and unit as printed.

        Example:
            >>> Figure("latency", Fraction(9, 8), "us", None, None, "our bench").text
            '1.125 us'
        """
        if self.value is None:
            return UNLIMITED
        return decimal_text(self.value) + ("" if self.unit == "1" else f" {self.unit}")

    @property
    def si(self) -> Fraction:
        """The value as printed, in base units: byte, s, FLOP, Hz.

        Raises:
            InputError: If it is unlimited.
        """
        if self.value is None:
            raise InputError(f"{self.name} is unlimited, so it has no value to compute with")
        spec = DEVICE_FIGURES.get(self.name) or TIER_FIGURES[self.name]
        return self.value * parse_unit(self.unit).factor_to(parse_unit(spec.unit))

    @property
    def one_way(self) -> Fraction:
        """A bandwidth in one direction, byte/s: half of a figure that counts both.

        Raises:
            InputError: If it is unlimited or no bandwidth.
        """
        if self.direction is None:
            raise InputError(f"{self.name} is no bandwidth, so it has no direction")
        return self.si / 2 if self.direction == "both" else self.si

    @property
    def both_ways(self) -> Fraction:
        """A bandwidth summed over both directions, byte/s.

        Raises:
            InputError: If it is unlimited or no bandwidth.
        """
        return 2 * self.one_way


def _read_value(value: object, spec: FigureSpec, where: str) -> Fraction | None:
    remedy = 'write a plain number, such as 3352 or "3352", and its unit under unit'
    if isinstance(value, TypedNumber | str):
        text = value.text.replace("_", "") if isinstance(value, TypedNumber) else value.strip()
        if text == UNLIMITED:
            if spec.unlimited:
                return None
            raise refusal(where, "cannot be unlimited", "only the bandwidth of a tier can")
        if len(text) > 80:
            raise refusal(where, "value is too long", remedy)
        try:
            number = parse_number(text)
        except SymscaleError:
            raise refusal(where, f"value {printable(text)!r} is not a number", remedy) from None
    elif isinstance(value, int) and not isinstance(value, bool):
        number = Fraction(value)
    else:
        raise refusal(where, "value is not a number", remedy)
    if number <= 0:
        raise refusal(where, "value is not above zero", "write what the source prints")
    if not _LEAST <= number <= _MOST:
        raise refusal(where, "value lies outside 1e-30 to 1e30", "check the unit")
    return number


def _read_unit(table: Mapping[str, object], spec: FigureSpec, where: str) -> str:
    text = read_text(table, "unit", where)
    if text is None:
        raise refusal(where, "has no unit", f'add unit = "{spec.example}"')
    try:
        fits = len(text) <= 60 and parse_unit(text).fits(parse_unit(spec.unit))
    except SymscaleError as error:
        raise refusal(where, printable(str(error)), f'here "{spec.example}" fits') from None
    if not fits:
        shown = printable(text, 60)
        raise refusal(where, f"unit {shown!r} does not fit", f'write one such as "{spec.example}"')
    return text


def _read_direction(table: Mapping[str, object], spec: FigureSpec, where: str) -> str | None:
    direction = read_text(table, "direction", where)
    choices = 'direction = "one-way" or "both" (two directions added up)'
    if spec.bandwidth and direction is None:
        raise refusal(where, "has no direction", f"add {choices}")
    if not spec.bandwidth and direction is not None:
        raise refusal(where, "has a direction but is no bandwidth", "remove it")
    if direction is not None and direction not in DIRECTIONS:
        shown = printable(direction, 60)
        raise refusal(where, f"direction {shown!r} is unknown", f"write {choices}")
    return direction


def _check_range(value: Fraction, spec: FigureSpec, where: str) -> None:
    if spec.whole and value.denominator != 1:
        raise refusal(where, "value is not a whole number", "write a count")
    if spec.at_most is not None and value > spec.at_most:
        raise refusal(where, f"value is above {spec.at_most}", "write a fraction such as 0.7")


def read_figure(value: object, spec: FigureSpec, where: str, packaged: bool) -> Figure:
    """Read one figure from its table.

    Args:
        value: What stands under its key.
        spec: What it has to be.
        where: File and key, for the error.
        packaged: Whether the file ships with symscale, so that its sources must be known keys.

    Raises:
        InputError: If something is missing or wrong.
    """
    table = read_table(value, where, f'{{ value = ..., unit = "{spec.example}", source = "..." }}')
    check_keys(table, ("value", "unit", "direction", "condition", "source", "note"), where)
    if "value" not in table:
        raise refusal(where, "has no value", "add value = ...")
    number = _read_value(table["value"], spec, where)
    unit = _read_unit(table, spec, where)
    if number is not None:
        _check_range(number * parse_unit(unit).factor_to(parse_unit(spec.unit)), spec, where)
    direction = _read_direction(table, spec, where)
    condition = read_text(table, "condition", where)
    if spec.rate and (condition is None or not _CONDITION.fullmatch(condition)):
        problem = "has no condition" if condition is None else "condition is not understood"
        raise refusal(
            where, problem, 'write condition = "dense, 16 bit": dense or sparse, and the precision'
        )
    where_from = read_source(table, where, packaged)
    note = read_text(table, "note", where) or ""
    return Figure(spec.name, number, unit, direction, condition, where_from, note)
