"""Formulas broken over lines mean the same."""

import re

import pytest
import sympy as sp

from symscale.language.parsing import parse_expression
from symscale.language.symbols import symbols
from symscale.pages.formulas import formula
from symscale.pages.formulas.breaking import breakable, width

b, L, w, m, v, E, C = symbols("b L w m v E C")


def read_back(tex: str) -> sp.Expr:
    """Read a broken formula: products are the spaces at which a line may end."""
    text = tex.replace(r" / \penalty800 ", "/").replace(r"\,\penalty800 ", "*")
    text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"(\1/\2)", text)
    text = re.sub(r"\^\{(\d+)\}", r"**\1", text)
    assert not set("\\{") & set(text), text
    names: dict[str, sp.Symbol] = {str(s): s for s in (b, L, w, m, v, E, C)}
    found = parse_expression(text.replace(" ", ""), names)
    assert isinstance(found, sp.Expr)
    return found


@pytest.mark.parametrize(
    "expr",
    [
        2 * b * L * w / (m * v),
        (b + L) ** 2 * w / ((m + 1) * (v - 1)),
        (b + L * w + 3) / (m * (v + E)) - sp.Rational(2, 3),
        b * (L * w * m + 2) / C + E * L * b * w / (v * m) - C * b * w * m / L,
        1 / (b * L * w * m),
        (b - m * v * L) / (C - b * L * w) ** 2,
    ],
    ids=str,
)
def test_a_broken_formula_means_the_same(expr: sp.Expr) -> None:
    broken = breakable(formula.latex(expr))
    assert r"\left" not in broken
    assert sp.simplify(read_back(broken) - expr) == 0


def test_what_cannot_be_broken_stays() -> None:
    cases = r"x = \min \left\{ \begin{aligned} & a \end{aligned} \right."
    assert breakable(cases) == cases
    assert breakable(r"\frac{2}{3}") == r"\frac{2}{3}"


def test_a_factor_after_a_fraction_stays_out_of_the_denominator() -> None:
    tex = r"\frac{a b c d}{e} f"
    assert breakable(tex).startswith(r"\frac{a b c d}{e}")


def test_widths_grow_with_what_is_written() -> None:
    assert width("a b") < width("a b c") < width("a + b + c")
    assert width("x_{a b c d}") < width("x a b c d")
    assert width(r"\frac{a}{b c d e}") > width(r"\frac{a}{b}")
