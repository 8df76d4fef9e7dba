"""Printing: formulas that read back, numbers to the digits stated, tables, pages that compile."""

import ast
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import mpmath as mp
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from commands import ANSWERS, MACHINE, answer
from latex import NAMES, compile_latex, joined
from sampling import examples
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import TooLargeError
from symscale.facts.machines.lumped import machine_names
from symscale.language.parsing import parse_expression
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.formats import json as data
from symscale.pages.formats import latex, markdown, text
from symscale.pages.formats.document import (
    Block,
    Cases,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formulas import exponents, formula

NAMED = {name: entry.symbol for name, entry in NOTATION.items()}
BASES = [e.symbol for e in NOTATION.values() if not e.exponent]
ALPHA = symbol("alpha")
WIDE = (
    ("limits", "--set", "alpha=0.3271"),
    ("limits", "--full", "--set", "alpha=0.2"),
    ("cliffs", "--set", "alpha=0.3271"),
    ("limits", "--set", "b_0=sqrt(2)*1e6"),
    ("limits", "--set", "b_0=1.23456789e300*sqrt(E)"),
    ("limits", "--set", "alpha=0.4995"),
    ("limits", "--hardware", "h100-sxm-infinite-network-and-ll", "--full"),
    ("hardware", "h100-sxm-superpod"),
    ("derive", "utilization-cliffs"),
    ("derive", "matrix-product"),
)


printed = cache(answer)


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


# Formulas as text read back

RATIONALS = st.builds(sp.Rational, st.integers(-12, 12), st.sampled_from([1, 1, 1, 2, 3, 4, 9]))
SYMBOLIC = st.sampled_from(
    [
        2 * ALPHA, 1 - 2 * ALPHA, -ALPHA, ALPHA / 2 - sp.Rational(1, 4), 2 / (1 - 2 * ALPHA),
        -2 * ALPHA / (1 - 2 * ALPHA), ALPHA + symbol("alpha_L"),
        -4 / (1 - 2 * ALPHA), (1 - ALPHA) / (3 - 6 * ALPHA),
    ]
)  # fmt: skip
COEFFICIENTS = st.one_of(
    st.integers(1, 50),
    st.integers(1, 10**30),
    st.builds(lambda a, b: a * 10**b, st.integers(1, 999), st.integers(0, 60)),
)


@st.composite
def monomials(draw: st.DrawFn, exponents: st.SearchStrategy[sp.Expr]) -> Monomial:
    """A coefficient, perhaps under a root, times powers of some symbols."""
    root = draw(st.sampled_from([1, 1, 2, 3, 4]))
    # The reader refuses roots of numbers with large prime factors.
    numbers = COEFFICIENTS if root == 1 else st.integers(1, 10_000)
    top, bottom = draw(numbers), draw(numbers)
    found = Monomial.of(sp.Rational(top, bottom)) ** sp.Rational(1, root)
    for base in draw(st.lists(st.sampled_from(BASES), max_size=5, unique=True)):
        found = found * Monomial.of(base) ** draw(exponents)
    return found


def with_stars(shown: str) -> str:
    """Put * where the text leaves a product to a space."""
    spaced = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", shown)
    return spaced.replace(" ", "")


def read_back(shown: str) -> Monomial:
    """Read a text by Python's syntax tree, numbers exactly, into exponents of primes and names."""
    source = with_stars(shown).replace("^", "**")
    return product(ast.parse(source, mode="eval").body, source)


def segment_of(source: str, node: ast.expr) -> str:
    segment = ast.get_source_segment(source, node)
    assert segment is not None
    return segment


def product(node: ast.expr, source: str) -> Monomial:
    match node:
        case ast.Constant():
            return Monomial.of(sp.Rational(str(Fraction(segment_of(source, node)))))
        case ast.Name(id=name):
            return Monomial.of(NAMED[name])
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return product(left, source) * product(right, source)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return product(left, source) / product(right, source)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return product(left, source) ** parse_expression(segment_of(source, right), NAMED)
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            return product(inner, source) ** sp.Rational(1, 2)
    raise AssertionError(f"not expected in a monomial: {ast.dump(node)}")


@examples(40)
@given(monomials(RATIONALS))
def test_monomials_read_back(monomial: Monomial) -> None:
    shown = formula.text(monomial)
    assert read_back(shown) == monomial, shown
    if monomial.atoms:
        assert formula.text(monomial.expr) == shown
    assert Monomial.of(parse_expression(with_stars(shown), NAMED)) == monomial


@examples(25)
@given(monomials(st.one_of(RATIONALS, SYMBOLIC)))
def test_monomials_with_symbols_in_exponents_read_back(monomial: Monomial) -> None:
    assert (read_back(formula.text(monomial)) / monomial).is_one


@examples(25)
@given(monomials(st.one_of(RATIONALS, SYMBOLIC)))
def test_sympy_texts_read_back(monomial: Monomial) -> None:
    shown = formula.sympy_text(monomial)
    assert (read_back(shown) / monomial).is_one, shown


@examples(25)
@given(monomials(RATIONALS), st.sampled_from([7, 50, 1000, sp.Rational(5000, 1729), 10**5]))
def test_long_numbers_are_powers(monomial: Monomial, power: sp.Expr) -> None:
    """Nothing is multiplied out that would fill a page; what is printed is still exact."""
    raised = monomial ** sp.sympify(power)
    for shown in (formula.text(raised), formula.sympy_text(raised), formula.latex(raised)):
        assert len(shown) < 3000
    assert read_back(formula.text(raised)) == read_back(formula.sympy_text(raised)) == raised
    assert balanced(formula.latex(raised))


def balanced(shown: str) -> bool:
    """Whether braces and brackets close in order, and \\left and \\right come in pairs."""
    opened: list[str] = []
    plain = shown.replace(r"\{", "").replace(r"\}", "")
    for c in plain:
        if c in "{([":
            opened.append(c)
        elif c in "})]" and (not opened or opened.pop() + c not in ("{}", "()", "[]")):
            return False
    return not opened and shown.count(r"\left") == shown.count(r"\right")


@examples(25)
@given(monomials(st.one_of(RATIONALS, SYMBOLIC)))
def test_latex_is_balanced(monomial: Monomial) -> None:
    shown = formula.latex(monomial)
    assert balanced(shown), shown
    assert "**" not in shown
    for atom in monomial.atoms:
        assert NOTATION[str(atom)].latex in shown
    assert not re.search(r"\^\{-", shown)


@examples(25)
@given(monomials(RATIONALS), monomials(RATIONALS))
def test_conditions_keep_their_meaning(one: Monomial, other: Monomial) -> None:
    """A ratio that is at most 1 becomes A <= B: the same, up to a positive power."""
    ratio = one / other
    condition = formula.condition(ratio)
    again = condition.left / condition.right
    if ratio.is_one:
        assert again.is_one
        return
    atom = ratio.powers[0][0]
    power = again.exponent(atom) / ratio.exponent(atom)
    assert power > 0
    assert ratio**power == again
    left, right = formula.text(condition).split(" <= ")
    assert (read_back(left), read_back(right)) == (condition.left, condition.right)


@pytest.mark.parametrize(
    ("value", "shown", "tex"),
    [
        (sp.Integer(1), "1", "1"),
        (sp.Rational(1, 3), "1/3", "1/3"),
        (-symbol("L"), "-L", "- L"),
        (symbol("L") ** -1, "1 / L", r"\frac{1}{L}"),
        (sp.sqrt(symbol("L")), "sqrt(L)", r"\sqrt{L}"),
        (sp.sqrt(2), "sqrt(2)", r"\sqrt{2}"),
        (symbol("C") / symbol("W_net") / 3, "C / (3 W_net)", r"\frac{C}{3\, W_{\mathrm{net}}}"),
        (12 * 10**20 * symbol("L"), "1.2e21 L", r"1.2 \cdot 10^{21}\, L"),
        (1234567 * symbol("L"), "1234567 L", r"1234567\, L"),
        (symbol("L") ** ALPHA, "L^alpha", r"L^{\alpha}"),
        (sp.Max(symbol("L"), 2, evaluate=False), "max(2, L)", r"\max\left( 2,\; L \right)"),
        (symbol("N_TP") - 1, "N_TP - 1", r"N_{\mathrm{TP}} - 1"),
    ],
)
def test_formulas(value: sp.Expr, shown: str, tex: str) -> None:
    assert formula.text(value) == shown
    assert formula.latex(value) == tex


@examples(40)
@given(st.one_of(RATIONALS, SYMBOLIC))
def test_exponents_read_back(exponent: sp.Expr) -> None:
    shown = exponents.exponent_text(exponent)
    assert sp.simplify(parse_expression(shown, NAMED) - exponent) == 0


# Numbers


def shown_value(number: Number) -> Decimal:
    mantissa, exponent = number.parts
    assert re.fullmatch(r"-?\d+(\.\d*[1-9])?", mantissa), mantissa
    return Decimal(mantissa).scaleb(exponent)


SIZES = st.builds(
    lambda sign, mantissa, exponent: sign * Decimal(mantissa).scaleb(exponent - 15),
    st.sampled_from([1, -1]),
    st.integers(10**15, 10**16 - 1),
    st.integers(-300, 299),
)


@examples(150)
@given(SIZES, st.integers(1, 14))
def test_numbers_to_the_digits_stated(value: Decimal, digits: int) -> None:
    """Rounding moves by half of the last digit at most, and no longer text would do."""
    number = float(value)
    for form in (number, sp.Rational(str(Fraction(number)))):
        shown = shown_value(Number(form, digits=digits))
        half = Decimal("0.5000001").scaleb(Decimal(number).adjusted() + 1 - digits)
        assert abs(shown - Decimal(number)) <= half
        mantissa, exponent = Number(form, digits=digits).parts
        figures = mantissa.lstrip("-").replace(".", "").strip("0")
        assert len(figures) <= digits
        if exponent:
            assert re.match(r"-?[1-9](\.|$)", mantissa)
            assert not -4 <= exponent < 5
        else:
            assert len(mantissa) <= digits + 7


@examples(25)
@given(st.integers(-(10**5), 10**5), st.integers(5, 12))
def test_small_whole_numbers_are_exact(value: int, digits: int) -> None:
    for form in (sp.Integer(value), float(value), mp.mpf(value)):
        if abs(value) < 10**5:
            assert Number(form, digits=digits).parts == (str(value), 0)


@pytest.mark.parametrize(
    ("value", "digits", "parts"),
    [
        (0, 5, ("0", 0)),
        (0.0, 5, ("0", 0)),
        (-0.0, 5, ("0", 0)),
        (sp.Rational(1, 3), 5, ("0.33333", 0)),
        (9.9999996, 5, ("10", 0)),
        (999999.96, 5, ("1000000", 0)),
        (9999999.6, 5, ("1", 7)),
        (0.00009999999, 5, ("0.0001", 0)),
        (sp.Integer(10) ** 400, 5, ("1", 400)),
        (sp.Integer(10) ** -400, 5, ("1", -400)),
        (mp.mpf("1.5e5000"), 5, ("1.5", 5000)),
        (5e-324, 2, ("4.9", -324)),
        (7889400, 8, ("7889400", 0)),
    ],
)
def test_numbers(value: float, digits: int, parts: tuple[str, int]) -> None:
    assert Number(value, digits=digits).parts == parts


def test_numbers_in_each_form() -> None:
    number = Number(1.5e28, "FLOP")
    assert text.inline(number) == "1.5e28 FLOP"
    assert latex.inline(number) == r"$1.5 \times 10^{28}$~FLOP"
    assert markdown.inline(number) == r"$1.5 \times 10^{28}$ FLOP"
    assert [m.inline(Number(2, "1")) for m in (text, latex, markdown)] == ["2", "$2$", "2"]


def test_json_numbers() -> None:
    assert data.number(mp.mpf("1.5")) == 1.5
    assert data.number(sp.Rational(1, 3)) == 1 / 3
    assert data.number(0.0) == 0.0
    assert data.number(mp.mpf("-1e308")) == -1e308
    for value in (mp.mpf("1e309"), mp.mpf("-1e309"), mp.mpf("1e-400"), sp.Integer(10) ** 400):
        with pytest.raises(TooLargeError, match=r"e[+-]"):
            data.number(value)
    with pytest.raises(ValueError, match="JSON"):
        data.dump({"x": float("nan")})


# Documents

HOSTILE = (
    r"\input{/etc/passwd} $x$ 50% a_b #1 {x} ~ ^ & < > | [a](b) `code` *bold* <b> \\ -- \" '",
    "a\\\\*b",
    "µs × é ü Ω 漢 \u202e",
    "x" * 300,
    "$$$$",
    "\\",
    "| a | b |",
    "",
)


@pytest.fixture(scope="module")
def hostile() -> Document:
    """A document whose every text is hostile."""
    C, T = symbols("C T")
    blocks: list[Block] = [Heading("Calm")]
    for k, words in enumerate(HOSTILE):
        blocks += [
            Heading(words or "none", 2 + k % 2),
            paragraph(words, Formula(C**2), words, Number(1.5e30, words[:40]), "."),
            Equation(sp.Le(T, C, evaluate=False), words[:40]),
            Cases(T, "min", (C, Monomial.of(C**2))),
            Table(
                (Column(words[:20]), Column("b", wrap=True), Column("c", right=True)),
                ((words[:20], [words, Formula(C)], Number(k)),),
                words,
            ),
        ]
    blocks.append(
        Table((Column("n"), Column("")), tuple((str(k), "[*] x") for k in range(30)), "long")
    )
    return Document(HOSTILE[0], tuple(blocks))


def test_hostile_texts_compile(
    hostile: Document, need_program: Callable[[str], str], tmp_path: Path
) -> None:
    """Nothing is read as a command; words of 300 letters may stick out."""
    calm = [b for b in hostile.blocks if "x" * 100 not in repr(b)]
    compile_latex(
        need_program("pdflatex"), latex.render(Document(hostile.title, tuple(calm))), tmp_path
    )
    body = latex.body(hostile)
    assert r"\input" not in body
    assert "/etc/passwd" in body


def test_hostile_texts_keep_markdown_tables(hostile: Document) -> None:
    check_tables(markdown.render(hostile))


@pytest.mark.parametrize("width", [1, 10, 40, 80, 300])
def test_hostile_texts_as_text(hostile: Document, width: int) -> None:
    assert text.render(hostile, width).endswith("\n")


@examples(25)
@given(st.text(max_size=40))
def test_any_text_is_escaped(words: str) -> None:
    escaped = latex.escape(words)
    left = re.sub(r"\\text[a-z]+\{\}|\\ensuremath\{\\[a-z]+\}|\\[{}$&#%_]|\{[\[*]\}", "", escaped)
    assert not set(left) & set("\\{}$&#%_~^")
    assert "\n" not in escaped
    assert re.sub(r"\\(.)", r"\1", markdown.escape(words)) == re.sub(r"\\(.)", r"\1", words) or (
        "\\" in words
    )
    assert unescaped(markdown.escape(words), "|") == 0


def unescaped(line: str, character: str) -> int:
    """How often a character stands in a line without a backslash before it."""
    return len(re.sub(r"\\.", "", line).split(character)) - 1


# What every command prints


def tables_of(markdown_text: str) -> Iterator[list[str]]:
    rows: list[str] = []
    for line in [*markdown_text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            yield rows
            rows = []


def check_tables(markdown_text: str) -> int:
    """Check that all rows of each table have one number of cells; return how many tables."""
    count = 0
    for rows in tables_of(markdown_text):
        bars = {unescaped(row, "|") for row in rows}
        assert len(bars) == 1, rows[0]
        assert len(rows) >= 3
        assert re.fullmatch(r"\|( -{3}:? \|)+", rows[1]), rows[1]
        assert all(row.endswith(" |") for row in rows if row != rows[1])
        count += 1
    return count


@pytest.mark.parametrize("arguments", [*ANSWERS, *WIDE], ids=" ".join)
def test_markdown(arguments: tuple[str, ...]) -> None:
    shown = printed(*arguments, "--format", "markdown")
    assert check_tables(shown) >= 1
    assert shown.count("$$") % 2 == 0
    for line in shown.splitlines():
        if line != "$$":
            assert unescaped(line, "$") % 2 == 0, line
    for display in re.findall(r"\$\$\n(.*?)\n\$\$", shown, re.DOTALL):
        assert balanced(display.replace(r"\right.", r"\right)").replace(r"\left\{", r"\left(")) or (
            r"\begin{aligned}" in display
        )
    for words in re.findall(r"\\text\{((?:[^{}\\]|\\.)*)\}", shown):
        assert unescaped(words, "_") == 0


@pytest.mark.parametrize("arguments", [*ANSWERS, *WIDE], ids=" ".join)
def test_text_fits_eighty_columns(arguments: tuple[str, ...]) -> None:
    """But for single words that no line could hold."""
    for line in printed(*arguments).splitlines():
        assert len(line) <= 80 or " " not in line.strip(), line
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [40, 57, 132])
def test_text_fits_other_terminals(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in ANSWERS:
        if "--full" not in arguments:
            for line in answer(*arguments).splitlines():
                assert len(line) <= width or " " not in line.strip(), (arguments, line)


def test_long_titles_are_wrapped() -> None:
    shown = text.render(Document("word " * 60, (Heading("name " * 60),)), 80)
    assert max(len(line) for line in shown.splitlines()) <= 80


ALL = [
    *ANSWERS,
    *WIDE,
    ("limits", "--full"),
    *(("limits", "--hardware", name, "--set", "tau=9us") for name in machine_names()),
    ("hardware", "--generations"),
    *(("hardware", name) for name in machine_names()),
    *(("derive", name) for name in NAMES),
]


def test_latex_of_every_command_compiles(
    need_program: Callable[[str], str], tmp_path: Path
) -> None:
    """All in one document, to start the program once; a second test finds which it was."""
    shown = (answer(*arguments, "--format", "latex") for arguments in dict.fromkeys(ALL))
    compile_latex(need_program("pdflatex"), joined(shown), tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [("limits",), ("limits", "--hardware", "h100-sxm"), ("limits", "--full"), ("derive", NAMES[0])],
    ids=" ".join,
)
def test_latex_of_a_command_compiles_alone(
    arguments: tuple[str, ...], need_program: Callable[[str], str], tmp_path: Path
) -> None:
    compile_latex(need_program("pdflatex"), answer(*arguments, "--format", "latex"), tmp_path)


def test_titles_of_a_users_file_compile(
    need_program: Callable[[str], str], tmp_path: Path
) -> None:
    title = r"\\input{x} 50% $a_b$ & #1 Ω é \\\\"
    path = tmp_path / "own.toml"
    path.write_text(MACHINE.replace("Bench", title), encoding="utf-8")
    for command in (("hardware", str(path)), ("limits", "--hardware", str(path))):
        compile_latex(need_program("pdflatex"), answer(*command, "--format", "latex"), tmp_path)


def test_the_reader_of_these_tests() -> None:
    """It puts stars only where a product is meant."""
    assert with_stars("27 b_0^2 t_d^2 / (2560 C^4 E)") == "27*b_0^2*t_d^2/(2560*C^4*E)"
    assert with_stars("(2 alpha/(1 - 2 alpha))") == "(2*alpha/(1-2*alpha))"
    assert with_stars("sqrt(L) sqrt(2)") == "sqrt(L)*sqrt(2)"
    rng = Random(1)
    for _ in range(20):
        powers: dict[sp.Expr, sp.Expr] = {
            s: sp.Rational(rng.randrange(1, 9), rng.choice((1, 2))) for s in BASES[:4]
        }
        assert read_back(formula.text(Monomial.from_powers(powers))).table == powers
