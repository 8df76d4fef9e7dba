"""Long formulas in LaTeX, broken at their relation and between terms."""

import re

import sympy as sp

from symscale.algebra.monomial import Monomial
from symscale.render import formula
from symscale.render.formula import AtMost

LINE = 88  # of a formula, in widths of a letter
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|[^\\{}^_\s]")
_NO_WIDTH = frozenset((r"\left", r"\right", r"\,", r"\;", r"\!", r"\:", r"\limits"))
_SCRIPT = 0.65  # width of an index or exponent over that of the line


def latex_lines(value: sp.Basic | Monomial | AtMost, width: int = LINE) -> list[str]:
    """Return a formula as LaTeX, broken at its relation and its terms where it is long.

    Args:
        value: The formula.
        width: Letters that fit a line, about.

    Example:
        >>> from symscale.symbols import symbols
        >>> b, L = symbols("b L")
        >>> latex_lines(sp.Eq(b, L + 1, evaluate=False), width=3)
        ['b =', 'L', '+ 1']
    """
    whole = formula.latex(value)
    if not isinstance(value, sp.core.relational.Relational) or seen_width(whole) <= width:
        return [whole]
    sign = formula.SIGNS["latex"][type(value)]
    left = _broken(value.lhs, width)
    left[-1] += f" {sign}"
    right = _broken(value.rhs, width)
    if len(left) == 1 and seen_width(left[0]) + seen_width(right[0]) <= width:
        return [f"{left[0]} {right[0]}", *right[1:]]
    return [*left, *right]


def seen_width(text: str) -> float:
    r"""About how many letters wide LaTeX is: a fraction as wide as its wider part.

    Example:
        >>> seen_width(r"\frac{1}{a b c}"), seen_width(r"d_{\mathrm{ff}} = 4")
        (3.0, 5.3)
    """
    tokens = [t for t in _TOKEN.findall(text) if not t.isspace()]
    return round(_width(tokens, 0, len(tokens))[0], 6)


def _width(tokens: list[str], start: int, end: int, once: bool = False) -> tuple[float, int]:
    """Width of tokens, up to an end, a closing brace, or after one item; and where it ends."""
    total, place = 0.0, start
    while place < end and tokens[place] != "}":
        word = tokens[place]
        place += 1
        if word == "{":
            inside, place = _width(tokens, place, end)
            place += 1
            total += inside
        elif word in (r"\frac", r"\dfrac", r"\tfrac"):
            above, place = _width(tokens, place, end, once=True)
            below, place = _width(tokens, place, end, once=True)
            total += max(above, below)
        elif word in ("^", "_"):
            script, place = _width(tokens, place, end, once=True)
            total += _SCRIPT * script
        elif word in (r"\mathrm", r"\text", r"\operatorname", *_NO_WIDTH):
            continue
        elif word in ("+", "-", "=", r"\le", r"\ge"):
            total += 2
        else:
            total += 1
        if once:
            break
    return total, place


def _broken(side: sp.Expr, width: int) -> list[str]:
    """The terms of a sum, as many on a line as fit."""
    if not isinstance(side, sp.Add):
        return [formula.latex(side)]
    printed = formula.latex(side)
    if seen_width(printed) <= width:
        return [printed]
    lines: list[str] = []
    for term in side.as_ordered_terms():
        piece = formula.latex(term)
        if lines:
            piece = piece if piece.startswith("-") else f"+ {piece}"
        if lines and seen_width(lines[-1]) + seen_width(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines
