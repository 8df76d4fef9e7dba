"""Expressions from text: what is read, exactly, and that nothing else is, at any size."""

import math
import random
import re
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from sampling import examples
from symscale.errors import InputError, ParseError, UnknownNameError
from symscale.language import parsing
from symscale.language.parsing import Relation, parse_assignment, parse_expression, parse_relation
from symscale.language.symbols import NOTATION, symbols

NAMES: dict[str, sp.Expr] = {name: entry.symbol for name, entry in NOTATION.items()}
b, D, E, L, T, T_0, alpha = symbols("b D E L T T_0 alpha")
half, third = sp.Rational(1, 2), sp.Rational(1, 3)


def read(text: str) -> sp.Expr:
    return parse_expression(text, NAMES)


def refusal(text: str) -> str:
    """Return the message of the error that a text gives."""
    with pytest.raises(InputError) as caught:
        read(text)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 300
    return message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("b", b),
        ("((b))", b),
        (" b\n+\r\n\tL\u00a0", b + L),
        ("b+L-E", b + L - E),
        ("b-L-E", b - L - E),
        ("b-(L-E)", b - L + E),
        ("b/L/E", b / (L * E)),
        ("b/(L/E)", b * E / L),
        ("b*L/E*D", b * L * D / E),
        ("2*b^3", 2 * b**3),
        ("b^2*L", b**2 * L),
        ("b**2*L", b**2 * L),
        ("b^L*E", b**L * E),
        ("-b^2", -(b**2)),
        ("(-b)^2", b**2),
        ("(-b)^3", -(b**3)),
        ("b^-1", 1 / b),
        ("b^-L*E", E * b**-L),
        ("b^2^3", b**8),
        ("b**2^3", b**8),
        ("(b^2)^3", b**6),
        ("-2^2", sp.Integer(-4)),
        ("2^-2", sp.Rational(1, 4)),
        ("--b", b),
        ("b--L", b + L),
        ("b*-L", -b * L),
        ("+b", b),
        ("0.1", sp.Rational(1, 10)),
        ("1e-3*b", b / 1000),
        (".5*b", b / 2),
        ("2.*b", 2 * b),
        ("1_000", sp.Integer(1000)),
        ("007", sp.Integer(7)),
        ("1/3", third),
        ("2*(b+L)", 2 * b + 2 * L),
        ("(b+L)/2", b / 2 + L / 2),
        ("(b-L)*(b-L)", (b - L) ** 2),
        ("b-b", sp.Integer(0)),
        ("0*b", sp.Integer(0)),
        ("0^0", sp.Integer(1)),
        ("0^2", sp.Integer(0)),
        ("sqrt(b)", sp.sqrt(b)),
        ("sqrt(4*b)", 2 * sp.sqrt(b)),
        ("sqrt(b^2)", b),
        ("sqrt(b*L/E)", sp.sqrt(b * L / E)),
        ("sqrt(b+L)", sp.sqrt(b + L)),
        ("sqrt(b-L)", sp.sqrt(b - L)),
        ("sqrt(b/(E-1))", sp.sqrt(b) / sp.sqrt(E - 1)),
        ("sqrt(1/(b-L))", 1 / sp.sqrt(b - L)),
        ("sqrt((b-L)^3)", (b - L) ** (3 * half)),
        ("(b*(E-1))^(1/3)", b**third * (E - 1) ** third),
        ("b**0.3271", b ** sp.Rational(3271, 10000)),
        ("T^(1/3)*T^(2/3)", T),
        ("(T/T_0)^alpha", (T / T_0) ** alpha),
        ("((T/T_0)^alpha)^(1/alpha)", T / T_0),
        ("2^b*3^b", 6**b),
        ("sqrt(alpha)", sp.sqrt(alpha)),
        ("4^0.5", sp.Integer(2)),
        ("(8/27)^(2/3)", sp.Rational(4, 9)),
        ("sqrt(12)", 2 * sp.sqrt(3)),
        ("sqrt(2/3)", sp.sqrt(6) / 3),
        ("sqrt(2)*sqrt(2)", sp.Integer(2)),
        ("12^(1/3) - 2^(2/3)*3^(1/3)", sp.Integer(0)),
        ("(6e23)^(1/3)", 20_000_000 * sp.cbrt(3) * sp.cbrt(25)),
        ("sqrt((1e20+1)^2)", sp.Integer(10**20 + 1)),
        ("2^1000", sp.Integer(2**1000)),
        ("max(b, L)", sp.Max(b, L)),
        ("min(b, L, 3)", sp.Min(3, b, L)),
        ("max(1, b, 3, 1/2)", sp.Max(3, b)),
        ("max(1, 2, 3/2)", sp.Integer(2)),
        ("min(1/2, 1/3)", third),
        ("max(b, b)", b),
        ("max(b, min(L, E))^2", sp.Max(b, sp.Min(L, E)) ** 2),
    ],
)
def test_what_is_read(text: str, value: sp.Expr) -> None:
    assert read(text) == value


@pytest.mark.parametrize("name", sorted(NOTATION))
def test_every_symbol_is_a_name(name: str) -> None:
    assert read(name) == NOTATION[name].symbol


def test_names_stand_for_what_they_are_given() -> None:
    names = {"x": b + L, "τ": E, "µ": D, "net.W": T, "max": L}
    assert parse_expression("2*x", names) == 2 * b + 2 * L
    assert parse_expression("τ^2*µ", names) == E**2 * D
    assert parse_expression("net.W/x", names) == T / (b + L)
    assert parse_expression("max(max, 1)", names) == sp.Max(1, L)


def test_the_roots_of_large_numbers_stay_small() -> None:
    value = read("(T/6e23)^0.3271")
    assert value.free_symbols == {T}
    assert max(abs(n.p) for n in value.atoms(sp.Rational)) < 10**9
    assert math.isclose(float(value.subs(T, sp.Float(6e23))), 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no or more than"),
        (" \n", "no or more than"),
        ("x", "unknown symbol 'x'"),
        ("w_net", "did you mean W_net"),
        ("sqrt", "unknown symbol 'sqrt'"),
        ("b/0", "'b/0': division by zero"),
        ("b/(L-L)", "'b/(L-L)': division by zero"),
        ("2 + 0^-1", "'0^-1': division by zero"),
        ("1/(sqrt(2)*sqrt(3)-sqrt(6))", "division by zero"),
        ("1/(sqrt(2)+sqrt(3)-sqrt(5+2*sqrt(6)))", "a sum of roots"),
        ("sqrt(2-sqrt(2))", "a sum of roots"),
        ("sqrt(-1)", "'sqrt(-1)': a root or other real power of what is not positive"),
        ("sqrt(0)", "not positive"),
        ("(-8)^(1/3)", "not positive"),
        ("(-2)^alpha", "not positive"),
        ("0^b", "not positive"),
        ("sqrt(-b)", "not positive"),
        ("(-b)^alpha", "not positive"),
        ("sqrt((b-L)^2)", "unknown signs"),
        ("sqrt((b-L)*(E-D))", "unknown signs"),
        ("sqrt((b-L)/(E-D))", "unknown signs"),
        ("((b-L)^2)^alpha", "unknown signs"),
        ("2^sqrt(2)", "the exponent is neither rational nor has a name"),
        ("2^1001", "'2^1001': the exponent is beyond 1000"),
        ("2^(1/1001)", "the exponent is beyond 1000"),
        ("b^1001", "the exponent is beyond 1000"),
        ("b^(1/1000001)", "the exponent is beyond 1000"),
        ("(b^1000)^1000", "an exponent beyond 1000 arises"),
        ("b^600*b^600", "an exponent beyond 1000 arises"),
        ("20^1000", "more than 4096 bits"),
        ("(2^1000)^1000", "more than 4096 bits"),
        ("((2*b)^1000)^1000", "more than 4096 bits"),
        ("(sqrt(2)^1000)^1000", "more than 4096 bits"),
        ("*".join(["1e300"] * 5), "more than 4096 bits"),
        ("2^1000*2^1000*2^1000*(2^1000*b+2^1000*L)*2^500", "more than 4096 bits"),
        ("sqrt(1e99+1)", "name the number"),
        ("(2^1000)^b", "more than 512 bits"),
        ("1/(b*(2*b+1)^100+1)", "too high a degree"),
        ("b L", "cannot read 'b L' from 'L' on"),
        ("b +", "cannot read"),
        ("(b", "cannot read"),
        ("b)", "cannot read"),
        ("[b)", "cannot read"),
        ("b***2", "cannot read"),
        ("50%", "cannot read"),
        ("b;L", "cannot read 'b;L' from ';L' on"),
        ("import os", "cannot read"),
        ("b = L", "a single =; a relation has <=, >= or =="),
        ("2b", "'2b' is not a number; a product is written with *"),
        ("2 b", "cannot read"),
        ("1 if", "cannot read"),
        ("1or 2", "'1or' is not a number"),
        ("0x10", "'0x10' is not a number"),
        ("1j", "'1j' is not a number"),
        ("1e", "'1e' is not a number"),
        ("1.2.3", "'1.2.3' is not a number"),
        ("1__0", "'1__0' is not a number"),
        ("b.5", "'.5' is not a number"),
        ("1e999", "'1e999' has a decimal exponent beyond 300"),
        ("9" * 101, "more than 100 digits"),
        ("2(b)", "not allowed in an expression (call): '2(b)'"),
        ("1 .real", "not allowed in an expression (attribute): '1 .real'"),
        ("b.L", "not allowed in an expression (attribute): 'b.L'"),
        ("b[0]", "(subscript): 'b[0]'"),
        ("b[0:1]", "(subscript)"),
        ("lambda: 0", "(lambda): 'lambda: 0'"),
        ("1,2", "(tuple): '1,2'"),
        ("()", "(tuple)"),
        ("[b]", "(list)"),
        ("{b}", "(set)"),
        ("{b: L}", "(dict)"),
        ("[x for x in ()]", "(list comp): '[x for x in ()]'"),
        ("{x for x in ()}", "(set comp)"),
        ("max(b for b in b)", "(generator exp)"),
        ("L if b else E", "(if exp): 'L if b else E'"),
        ("(b := L)", "(named expr)"),
        ("await b", "(await)"),
        ("b < L", "(compare): 'b < L'"),
        ("2 + (b == L)", "(compare): 'b == L'"),
        ("b and L", "(and)"),
        ("not b", "(not)"),
        ("~b", "(invert)"),
        ("b % L", "(mod)"),
        ("b // L", "(floor div)"),
        ("b @ L", "(mat mult)"),
        ("b & L", "(bit and)"),
        ("b << L", "(l shift)"),
        ("True", "(constant): 'True'"),
        ("None", "(constant)"),
        ("...", "(constant)"),
        ("exp(b)", "(call): 'exp(b)'"),
        ("sqrt(b)(L)", "(call)"),
        ("max(b, key=L)", "(call): 'max(b, key=L)'"),
        ("max(**b)", "(call)"),
        ("max(*b)", "(starred): '*b'"),
        ("sqrt()", "sqrt takes one value, not 0"),
        ("sqrt(b, L)", "sqrt takes one value, not 2"),
        ("max(b)", "max takes two values or more, not 1"),
        ("min()", "min takes two values or more, not 0"),
        ("'b'", "is not allowed"),
        ('f"{1}"', "is not allowed"),
        ("b#L", "'#' (U+0023) is not allowed: '#L'"),
        ("b\\\nL", "is not allowed"),
        ("b\x00", "is not allowed"),
        ("b\ud800", "is not allowed"),
        ("b?", "is not allowed"),
        ("b × L", "'×' (U+00D7) is not allowed: '× L'; write *"),
        ("b \u2212 L", "write -"),
        ("\u0441", "unknown symbol 'с', not all of it ASCII: с is U+0441"),
        ("\u217c", "U+217C"),
        ("b\u00b2", "U+00B2"),
        ("\uff11", "is not allowed"),
        ("b__L", "two underscores"),
        ("().__class__", "the name '__class__' is not allowed"),
        ("__import__('os').system('x')", "the name '__import__' is not allowed"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    message = refusal(text)
    if not says.startswith(("not allowed", "(")):
        assert says in message
        return
    kind, _, quoted = says.rpartition("): ") if "): " in says else (says[:-1], "", "")
    assert f"{kind})" in message
    assert message.startswith(quoted)


def test_the_kind_of_error() -> None:
    with pytest.raises(UnknownNameError):
        read("x")
    for text in ("lambda: 0", "1/0", "1e999", "b b", "é"):
        with pytest.raises(ParseError):
            read(text)


@contextmanager
def bounded(seconds: float = 5, mebibytes: float = 50) -> Iterator[None]:
    """Fail where the block needs more of this thread's time, or more memory.

    Tracing memory makes the time several times longer, so a second is allowed
    five; what these texts would take without the limits is hours.
    """
    tracemalloc.start()
    start = time.thread_time()
    try:
        yield
        assert time.thread_time() - start < seconds
        assert tracemalloc.get_traced_memory()[1] < mebibytes * 2**20
    finally:
        tracemalloc.stop()


def nested(template: str, times: int) -> str:
    """Put a template into itself."""
    text = "b"
    for _ in range(times):
        text = template.replace("#", text)
    return text


REFUSED = {
    "import": "__import__('os').system('x')",
    "tower": "9**9**9**9",
    "caret tower": "9^9^9^9",
    "long tower": "2**" * 2000 + "2",
    "chained powers": "(((2**64)**64)**64)**64",
    "negative power": "2**-10000",
    "power of a fraction": "(1/3)**(10**9)",
    "exponent": "1e999",
    "long exponent": "1e" + "9" * 5000,
    "digits": "9" * 9000,
    "brackets": "(" * 100_000,
    "some brackets": "(" * 5000 + ")" * 5000,
    "a few brackets": "(" * 101 + "1" + ")" * 101,
    "square brackets": "[" * 150 + "]" * 150,
    "calls": "sqrt(" * 150 + "b" + ")" * 150,
    "too many signs": "-" * 5000 + "1",
    "signs": "-" * 4000 + "1",
    "nots": "not " * 2000 + "b",
    "lambdas": "lambda:" * 1400 + "b",
    "conditions": "b if b else " * 800 + "b",
    "subscripts": "b" + "[b]" * 2000,
    "attributes": "b" + ".b" * 2000,
    "called": "b" + "()" * 4000,
    "comparisons": "b<" * 2000 + "b",
    "too many terms": "1+" * 4000 + "1",
    "megabytes": "b+" * 10**6 + "b",
    "product of large numbers": "*".join(["9^999"] * 1250),
    "sum of large denominators": "+".join(f"1/{10**90 + k}" for k in range(90)),
    "roots of large numbers": "+".join(f"({10**90 + k})^0.997" for k in range(90)),
    "product of roots": "*".join(f"sqrt({k})" for k in range(2, 400)),
    "roots of roots": nested("(1+#)^0.5", 45),
    "alternating roots": nested("sqrt(L/(b-#))", 12).replace("b-b", "b-1"),
    "continued fraction": nested("1/(sqrt(2)+#)", 30),
    "nested polynomial": nested("(b*#+1)^1000", 8),
    "nested powers": nested("(L-b)^(#)", 40),
    "numbers to a power": "(2^1000)^b*(3^1000)^b",
    "bits hidden in a root": nested("(#*2^1000)^(1/2)", 12) + "^1000",
    "division of roots": "1/(" + "+".join(f"sqrt({k})" for k in range(2, 200)) + ")",
}
ACCEPTED = {
    "brackets": "(" * 100 + "1" + ")" * 100,
    "signs": "-" * 100 + "1",
    "terms": "1+" * 2499 + "1",
    "factors": "1*" * 2499 + "1",
    "quotients": "1/" * 2499 + "1",
    "product of fractional powers": "*".join(f"{k}^(1/{1000 - k})" for k in range(2, 40)),
    "sum of roots": "+".join(f"sqrt({k})" for k in range(2, 600)),
    "sum of roots of names": "+".join(f"sqrt((b-{k})/L)" for k in range(2, 400)),
    "maximum of many": "max(" + ",".join(f"b^{k}*L-{k}" for k in range(2, 500)) + ")",
    "nested maxima": nested("max(L,b-#)", 45),
    "fractions": nested("1/(1-#)", 6),
    "doubled": nested("2*(L+#)", 45),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    with bounded():
        refusal(text)


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_large_texts_within_the_limits(text: str) -> None:
    with bounded(seconds=20):
        read(text)


def test_a_long_sum() -> None:
    rng = random.Random(0)
    terms = [(rng.randrange(1, 999), rng.choice([b, D, E, L])) for _ in range(1250)]
    text = "+".join(f"{k:3}*{x}" for k, x in terms)
    assert len(text) < parsing.MAX_LENGTH
    assert read(text) == sum(k * x for k, x in terms)


def test_limits_are_as_stated() -> None:
    assert read("b" + " " * (parsing.MAX_LENGTH - 1)) == b
    assert "more than 10000 characters" in refusal("b" + " " * parsing.MAX_LENGTH)
    operands = parsing.MAX_NODES // 2
    assert read("1+" * (operands - 1) + "1") == operands
    assert "more than 5000 names and operators" in refusal("1+" * operands + "1")


def test_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    for text in ("1 if", "1or 2", "1(2)", "1[2]", "b is 1", "0x", "'\\d'", "(1)(2)", "1in b"):
        refusal(text)
    assert capfd.readouterr() == ("", "")


# What Python itself makes of the same text, with fractions for numbers, is the other route.

spaces = st.sampled_from(["", "", " ", "\n"])


@st.composite
def arithmetic(draw: st.DrawFn, depth: int = 4) -> str:
    """Draw arithmetic in every order of operators, with as few brackets as may be."""

    def atom() -> str:
        if depth == 0 or draw(st.integers(0, 2)):
            return draw(st.integers(0, 12).map(str))
        return f"({draw(arithmetic(depth=depth - 1))})"

    def power() -> str:
        tails = ["", "0", "1", "2", "3", "-1", "-2", "0^2", "2^1", "2**3", "3^0^2", "1^-1", "-2^2"]
        sign = draw(st.sampled_from(["", "", "", "-", "+", "--"]))
        tail = draw(st.sampled_from(tails))
        return sign + atom() + (draw(st.sampled_from(["^", "**"])) + tail if tail else "")

    operators = draw(st.lists(st.sampled_from("+-*/"), max_size=4))
    return power() + "".join(draw(spaces) + op + draw(spaces) + power() for op in operators)


def python_value(text: str) -> Fraction:
    code = re.sub(r"\d+", r"F(\g<0>)", text.replace("^", "**").replace("\n", " "))
    return Fraction(eval(code, {"F": Fraction, "__builtins__": {}}))  # noqa: S307 - our own text


@examples(50)
@given(arithmetic())
def test_arithmetic_is_what_python_makes_of_it(text: str) -> None:
    try:
        value = python_value(text)
    except ZeroDivisionError:
        assert re.search("division by zero|exponent|bits", refusal(text))
        return
    assume(max(value.numerator.bit_length(), value.denominator.bit_length()) < 1000)
    try:
        assert read(text) == sp.Rational(value)
    except ParseError as error:
        assert re.search("exponent|bits", str(error))  # noqa: PT017 - a step was too large


@st.composite
def formula(draw: st.DrawFn, depth: int = 4) -> str:
    """Draw a formula in three symbols, bracketed throughout."""
    if depth == 0:
        return draw(st.sampled_from(["b", "L", "alpha", "2", "0.5", "(1/3)", "7"]))
    one = f"({draw(formula(depth=depth - 1))})"
    kind = draw(st.sampled_from(["+", "-", "*", "/", "^", "sqrt", "max", "min"]))
    if kind == "^":
        return one + "^" + draw(st.sampled_from(["2", "3", "0.5", "(-1)", "(-2/3)", "alpha"]))
    if kind == "sqrt":
        return f"sqrt{one}"
    other = f"({draw(formula(depth=draw(st.integers(0, depth - 1))))})"
    return f"{kind}({one}, {other})" if kind in ("max", "min") else one + kind + other


POINT = {"b": 3.3, "L": 1.7, "alpha": 0.37}


@examples(50)
@given(formula())
def test_formulas_have_the_value_that_python_gives_them(text: str) -> None:
    try:
        value = read(text)
    except ParseError:
        assume(False)
    functions = {"sqrt": lambda x: x**0.5, "max": max, "min": min, "__builtins__": {}}
    try:
        expected = eval(text.replace("^", "**"), functions, POINT)  # noqa: S307 - our own text
    except (ZeroDivisionError, OverflowError, TypeError):  # TypeError: compares complex numbers
        assume(False)
    assume(not isinstance(expected, complex) and 1e-9 < abs(expected) < 1e100)
    variables = [NAMES[name] for name in POINT]
    found = sp.lambdify(variables, value, "mpmath")(*map(sp.Float, POINT.values()))
    assert abs(complex(found) - expected) <= 1e-6 * abs(expected)


pieces = st.sampled_from(
    ["b", "L", "x", "2", "0.5", "1e400", "+", "-", "*", "/", "^", "**", "(", ")", "[", "]", "{",
     "}", ",", ".", ":", "=", "==", "<=", "<", ">", "!", "@", "%", "&", "|", "~", " ", "\n", "#",
     "'", '"', "\\", "sqrt", "max", "lambda", "if", "else", "for", "in", "not", "and", "is", "f'",
     "__", "é", "²", "×", "\x00", "None", "yield", "await", "async", "import", ";", "`", "$", "?"]
)  # fmt: skip


@examples(50)
@given(st.text(max_size=40) | st.lists(pieces, max_size=12).map("".join))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    for parse in (parse_expression, parse_relation):
        try:
            parse(text, NAMES)
        except InputError as error:
            assert str(error).isprintable()  # noqa: PT017 - reading may also succeed
            assert len(str(error)) < 300  # noqa: PT017


@examples(50)
@given(st.lists(st.sampled_from(["b", "2", "+", "*", "^", "(", ")", "L", "sqrt", " "]), max_size=9))
def test_carets_are_powers(parts: list[str]) -> None:
    assume(not any(one == other == "*" for one, other in pairwise(parts)))
    text = "".join(parts)
    try:
        value = read(text.replace("^", "**"))
    except InputError:
        with pytest.raises(InputError):
            read(text)
    else:
        assert read(text) == value


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("b <= L", Relation(b, "<=", L)),
        ("2*b>=L^2", Relation(2 * b, ">=", L**2)),
        ("b == max(L, 1) ", Relation(b, "==", sp.Max(1, L))),
        ("(b <= L)", Relation(b, "<=", L)),
        ("1 <= 2", Relation(sp.Integer(1), "<=", sp.Integer(2))),
    ],
)
def test_relations(text: str, relation: Relation) -> None:
    assert parse_relation(text, NAMES) == relation


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("b", "compares nothing; write such as N_DP <= b"),
        ("b < L", "one comparison, by <=, >= or =="),
        ("b > L", "one comparison, by <=, >= or =="),
        ("b != L", "one comparison, by <=, >= or =="),
        ("b is L", "one comparison, by <=, >= or =="),
        ("b in L", "one comparison, by <=, >= or =="),
        ("b <= L <= E", "one comparison, by <=, >= or =="),
        ("b = L", "a single =; a relation has <=, >= or =="),
        ("b =< L", "a single =; a relation has <=, >= or =="),
        ("b \u2264 L", "write <="),
        ("b <= (L <= E)", "not allowed"),
        ("b <= L and L <= E", "compares nothing"),
        ("b <= x", "unknown symbol 'x'"),
        ("b <= 1/0", "'1/0': division by zero"),
        ("b <=", "cannot read"),
        ("", "no or more than"),
    ],
)
def test_no_relation(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_relation(text, NAMES)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("W_net=100GB/s", ("W_net", "100GB/s")),
        (" b = 4e6 token ", ("b", "4e6 token")),
        ("b=max(L, 1)", ("b", "max(L, 1)")),
        ("τ=9us", ("τ", "9us")),
    ],
)
def test_assignments(text: str, pair: tuple[str, str]) -> None:
    assert parse_assignment(text) == pair


@pytest.mark.parametrize(
    "text",
    ["", "=", "b", "b=", "=1", "b= ", "b==1", "b = = 1", "b<=1", "2=1", "b L=1", "b.c=1", "-b=1"],
)  # fmt: skip
def test_no_assignment(text: str) -> None:
    with pytest.raises(ParseError, match="write name=value, such as W_net=100GB/s"):
        parse_assignment(text)
