"""Units, numbers and quantities: exact values, round trips, and texts that are refused."""

import ast
import sys
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling import examples
from symscale.errors import InputError, ParseError, UnitError, printable
from symscale.language import units
from symscale.language.symbols import NOTATION
from symscale.language.units import (
    DIMENSIONLESS,
    Quantity,
    Unit,
    format_unit,
    is_quantity_text,
    parse_number,
    parse_quantity,
    parse_unit,
)

BASES = ("FLOP", "J", "USD", "byte", "s", "token", "word")
DAY = 24 * 60 * 60


def of(base: str, scale: Fraction | int = 1, power: int = 1) -> Unit:
    return Unit(((base, Fraction(power)),), Fraction(scale))


NAMED = {
    **{name: of(name) for name in BASES},
    "1": DIMENSIONLESS,
    "%": Unit((), Fraction(1, 100)),
    "ms": of("s", Fraction(1, 1000)),
    "us": of("s", Fraction(1, 10**6)),
    "\u00b5s": of("s", Fraction(1, 10**6)),
    "\u03bcs": of("s", Fraction(1, 10**6)),
    "ns": of("s", Fraction(1, 10**9)),
    "min": of("s", 60),
    "h": of("s", 3600),
    "d": of("s", DAY),
    "wk": of("s", 7 * DAY),
    "mo": of("s", Fraction(36525, 1200) * DAY),
    "y": of("s", Fraction(36525, 100) * DAY),
    "Hz": of("s", 1, -1),
    "MHz": of("s", 10**6, -1),
    "GHz": of("s", 10**9, -1),
    "B": of("byte"),
    "kB": of("byte", 10**3),
    "MB": of("byte", 10**6),
    "GB": of("byte", 10**9),
    "TB": of("byte", 10**12),
    "PB": of("byte", 10**15),
    "EB": of("byte", 10**18),
    "Gbyte": of("byte", 10**9),
    "KiB": of("byte", 2**10),
    "MiB": of("byte", 2**20),
    "GiB": of("byte", 2**30),
    "TiB": of("byte", 2**40),
    "PiB": of("byte", 2**50),
    "Gibyte": of("byte", 2**30),
    "bit": of("byte", Fraction(1, 8)),
    "Gbit": of("byte", Fraction(10**9, 8)),
    "Mword": of("word", 10**6),
    "ktoken": of("token", 10**3),
    "Ttoken": of("token", 10**12),
    "kFLOP": of("FLOP", 10**3),
    "TFLOP": of("FLOP", 10**12),
    "EFLOP": of("FLOP", 10**18),
    "ZFLOP": of("FLOP", 10**21),
    "YFLOP": of("FLOP", 10**24),
    "MAC": of("FLOP", 2),
    "TMAC": of("FLOP", 2 * 10**12),
    "kJ": of("J", 1000),
    "MJ": of("J", 10**6),
    "kWh": of("J", 3_600_000),
    "MWh": of("J", 3_600_000_000),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_units(name: str) -> None:
    unit = parse_unit(name)
    assert unit == NAMED[name]
    assert parse_unit(str(unit)) == unit
    assert parse_unit(f" ( {name} ) ") == unit


@pytest.mark.parametrize("name", sorted(NOTATION))
def test_units_of_the_notation(name: str) -> None:
    assert str(parse_unit(NOTATION[name].unit)) == NOTATION[name].unit


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("FLOP/s", "FLOP/s"),
        ("TFLOP / s", "TFLOP/s"),
        ("GB/ms", "TB/s"),
        ("byte*word^-1", "byte/word"),
        ("token**2/s", "token^2/s"),
        ("token·s", "s*token"),
        ("token⋅s", "s*token"),
        ("token/byte/s", "token/(byte*s)"),
        ("token/(byte*s)", "token/(byte*s)"),
        ("1/s", "1/s"),
        ("Hz", "1/s"),
        ("1/h", "1/h"),
        ("s/s", "1"),
        ("s^0", "1"),
        ("1", "1"),
        ("J^(1/2)/s^(-3/2)", "J^(1/2)*s^(3/2)"),
        ("(byte/s)^2", "byte^2/s^2"),
        ("(GB^2)^(1/2)", "GB"),
        ("USD/h", "USD/h"),
        ("\u00b5s", "us"),
        ("MFLOP/d", "625/54 FLOP/s"),
        ("GB/byte", "1000000000"),
        ("s/GB", "s/GB"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_unit(text)) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("FLOPs", "FLOP is a count and FLOP/s a rate; write FLOP or FLOP/s"),
        ("FLOPS", "FLOP is a count and FLOP/s a rate; write FLOP or FLOP/s"),
        ("TFLOPS", "FLOP is a count and FLOP/s a rate; write TFLOP or TFLOP/s"),
        ("tflops/s", "write TFLOP or TFLOP/s"),
        ("Gb/s", "write Gbit/s or GB/s"),
        ("Gbps", "write Gbit/s or GB/s"),
        ("GBps", "write Gbit/s or GB/s"),
        ("KB", "write kbit or kB"),
        ("GBB/s", "did you mean GB, GiB, Gbit?"),
        ("tokens", "did you mean token"),
        ("days", "write d"),
        ("sec", "write s"),
        ("kW", "write kJ/s"),
        ("Ki", "unknown unit 'Ki'"),
        ("s^13", "a power beyond 12"),
        ("s^(1/13)", "a power beyond 12"),
        ("(s^4)^4", "a power beyond 12"),
        ("GB^(1/2)", "is not exact"),
        ("((((EB^12)^12)^12)^12)^12", "is too large"),
        ("x" * 61, "more than 60 characters"),
        ("", "is not a unit"),
        ("s s", "is not a unit"),
        ("2/s", "is not a unit"),
        ("11", "is not a unit"),
        ("s/", "is not a unit"),
        ("*s", "is not a unit"),
        ("(s", "is not a unit"),
        ("s)", "is not a unit"),
        ("()", "is not a unit"),
        ("s^", "is not a unit"),
        ("s^2^2", "is not a unit"),
        ("s^0.5", "is not a unit"),
        ("s^(1/0)", "is not a unit"),
        ("s_t", "is not a unit"),
        ("s\x00", "is not a unit"),
        ("s;s", "is not a unit"),
    ],
)
def test_no_unit(text: str, says: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_unit(text)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


def test_units_that_do_not_fit() -> None:
    assert not parse_unit("GB/s").fits(parse_unit("FLOP/s"))
    with pytest.raises(UnitError, match=r"^GB/s does not fit TFLOP/s$"):
        parse_unit("GB/s").factor_to(parse_unit("TFLOP/s"))


@pytest.mark.parametrize(
    ("dimensions", "scale"),
    [
        ((("s", Fraction(1)), ("byte", Fraction(1))), Fraction(1)),
        ((("s", Fraction(1)), ("s", Fraction(1))), Fraction(1)),
        ((("s", Fraction(0)),), Fraction(1)),
        ((), Fraction(0)),
    ],
)
def test_units_are_canonical(
    dimensions: tuple[tuple[str, Fraction], ...], scale: Fraction
) -> None:
    with pytest.raises(UnitError):
        Unit(dimensions, scale)


def test_roots_of_scales() -> None:
    assert parse_unit("MB") ** Fraction(1, 2) == Unit((("byte", Fraction(1, 2)),), Fraction(1000))
    assert parse_unit("ms") ** Fraction(-2, 3) == Unit((("s", Fraction(-2, 3)),), Fraction(100))
    for power in (Fraction(1, 2), Fraction(1, 10**9)):
        with pytest.raises(UnitError, match="not exact"):
            parse_unit("GB") ** power
    with pytest.raises(UnitError, match="too large"):
        parse_unit("GB") ** 10**9


powers = st.fractions(-12, 12, max_denominator=12).filter(lambda p: abs(p.numerator) <= 12)
plain_units = st.dictionaries(st.sampled_from(BASES), powers, max_size=3).map(
    lambda d: Unit(tuple(sorted((k, p) for k, p in d.items() if p)), Fraction(1))
)
named_units = st.sampled_from(sorted(NAMED)).map(parse_unit)


@examples(50)
@given(plain_units)
def test_unit_text_round_trip(unit: Unit) -> None:
    text = format_unit(unit.dimensions)
    assert text == str(unit)
    if len(text) <= units.MAX_UNIT_LENGTH:
        assert parse_unit(text) == unit


@examples(50)
@given(named_units, named_units, st.integers(-3, 3))
def test_unit_algebra(one: Unit, other: Unit, power: int) -> None:
    product = one * other
    assert product == other * one
    assert product / other == one
    assert product**power == one**power * other**power
    assert (one / one).is_dimensionless
    assert one.factor_to(one * Unit((), Fraction(2))) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("-5", -5),
        ("+5", 5),
        ("4_000_000", 4_000_000),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("4e6", 4_000_000),
        ("4E-3", Fraction(4, 1000)),
        ("-1.25e+2", -125),
        ("1/3", Fraction(1, 3)),
        ("-6/4", Fraction(-3, 2)),
        (" 2 ", 2),
        ("1e300", 10**300),
        ("1e-300", Fraction(1, 10**300)),
        ("9" * 100, 10**100 - 1),
        ("1e000000300", 10**300),
    ],
)
def test_numbers(text: str, value: Fraction | int) -> None:
    assert parse_number(text) == value
    assert parse_quantity(text) == Quantity(Fraction(value), None)
    assert is_quantity_text(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *[(text, "is not a number") for text in (
            "", " ", "nan", "inf", "-inf", "infinity", "0x10", "1j", "1__0", "_1", "1_", "1 2",
            "--1", "1e", "e5", "1e5.5", "1/2/3", "1/-3", "1 / 3", "1.5/2", "1/3e5", "²", "٣", "1,5",
            "1\x00", "." , "1;2", "True",
        )],
        ("1/0", "divides by zero"),
        ("0/000", "divides by zero"),
        ("9" * 101, "more than 100 digits"),
        ("0." + "0" * 200 + "1", "more than 100 digits"),
        ("1/" + "3" * 100, "more than 100 digits"),
        ("1e" + "0" * 101, "more than 100 digits"),
        ("1e301", "decimal exponent beyond 300"),
        ("1e-301", "decimal exponent beyond 300"),
        ("1e999", "'1e999' has a decimal exponent beyond 300"),
        ("0e9999999999", "decimal exponent beyond 300"),
    ],
)  # fmt: skip
def test_no_number(text: str, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_number(text)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["1e" + "9" * 50, "9" * 10**6, "1e" + "9" * 10**6, "1_" * 10**6])
def test_a_refused_number_is_not_built(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ParseError):
            parse_number(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


@examples(50)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40))
def test_decimals_are_exact(number: object) -> None:
    text = str(number)
    if "E" not in text or abs(int(text.split("E")[1])) <= units.MAX_DECIMAL_EXPONENT:
        assert parse_number(text) == Fraction(text)


@examples(50)
@given(st.fractions(max_denominator=10**30).filter(lambda q: abs(q) < 10**60))
def test_fractions_round_trip(value: Fraction) -> None:
    assert parse_number(str(value)) == value


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("90d", 90, "d"),
        ("100GB/s", 100, "GB/s"),
        ("100 GB/s", 100, "GB/s"),
        ("9us", 9, "us"),
        ("9 \u03bcs", 9, "us"),
        ("4e6token", 4_000_000, "token"),
        ("4e6 token", 4_000_000, "token"),
        ("2 byte/word", 2, "byte/word"),
        ("50%", 50, "%"),
        ("4EFLOP", 4, "EFLOP"),
        ("4e6FLOP", 4_000_000, "FLOP"),
        ("4e6EFLOP", 4_000_000, "EFLOP"),
        ("4E2EFLOP", 400, "EFLOP"),
        ("1.5e-3 h", Fraction(15, 10**4), "h"),
        ("1/3 s", Fraction(1, 3), "s"),
        ("-2.5J", Fraction(-5, 2), "J"),
        ("5 1/s", 5, "1/s"),
        ("3 (byte/s)", 3, "byte/s"),
    ],
)
def test_quantities(text: str, value: Fraction | int, unit: str) -> None:
    assert is_quantity_text(text)
    assert parse_quantity(text) == Quantity(Fraction(value), parse_unit(unit))


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "b", "-b", "4e6*sqrt(E)", "1/L", "5/s", "2^3", "-2^2", "2**3", "1+1", "4 -2",
     "1/3*L", "1/3e5", "1__0", "- 5", "(5)", "2 3", "5 2/s", "²", "max(1, 2)", "1,2"],
)  # fmt: skip
def test_expressions_are_no_quantities(text: str) -> None:
    assert not is_quantity_text(text)
    with pytest.raises(ParseError, match="is not a number or one with a unit"):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["100 GBB/s", "5parsec", "0x10", "4 if x", "2e", "4 token*", "2L"])
def test_quantities_with_a_wrong_unit(text: str) -> None:
    assert is_quantity_text(text)
    with pytest.raises(UnitError):
        parse_quantity(text)


def test_quantity_in_a_unit() -> None:
    assert parse_quantity("400Gbit/s").to(parse_unit("GB/s")) == 50
    assert parse_quantity("50%").to(DIMENSIONLESS) == Fraction(1, 2)
    assert parse_quantity("7").to(parse_unit("GB/s")) == 7
    assert parse_quantity("1y").to(parse_unit("mo")) == 12
    with pytest.raises(UnitError, match=r"^d does not fit byte$"):
        parse_quantity("7d").to(parse_unit("byte"))


@examples(50)
@given(
    st.integers(-(10**30), 10**30) | st.decimals(-(10**9), 10**9, places=4),
    st.sampled_from(["", " ", "  "]),
    st.sampled_from(sorted(set(NAMED) - {"1"})),
    st.sampled_from(["", "/s", "^2", "/(word*s)", "*J^(1/2)"]),
)
def test_quantity_round_trip(number: object, space: str, name: str, rest: str) -> None:
    quantity = parse_quantity(f"{number}{space}{name}{rest}")
    assert quantity == Quantity(Fraction(str(number)), parse_unit(name + rest))


@examples(50)
@given(st.text() | st.text("0123456789eE._+-*/^()% kGTBbFLOPsdµ\n", max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    for read in (parse_unit, parse_number, parse_quantity):
        try:
            read(text)
        except InputError as error:
            assert str(error).isprintable()  # noqa: PT017 - reading may also succeed
            assert len(str(error)) < 250  # noqa: PT017
        else:
            assert read is parse_unit or is_quantity_text(text)


def test_what_is_printed_is_short() -> None:
    assert printable("a" * 40) == "a" * 40
    assert printable("a" * 41) == "a" * 37 + "..."
    assert printable("a\nb\x1b[31m").isprintable()


def test_units_need_only_the_standard_library() -> None:
    tree = ast.parse(Path(units.__file__).read_text(encoding="utf-8"))
    modules = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
    }
    assert modules - {"symscale.errors"} <= sys.stdlib_module_names | {"collections.abc"}
