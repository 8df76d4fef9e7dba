"""Long formulas in LaTeX, broken at their relation and between terms."""

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.pages.formulas import formula
from symscale.pages.formulas.breaking import width
from symscale.pages.formulas.formula import Compared

LINE = 405.0  # points of a display, beside the number of an equation


def latex_lines(value: sp.Basic | Monomial | Compared, room: float = LINE) -> list[str]:
    """Return a formula as LaTeX, broken at its relation and its terms where it is long.

    Args:
        value: The formula.
        room: Points that fit a line.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = symbols("b L")
        >>> latex_lines(sp.Eq(b, L + 1, evaluate=False), room=3)
        ['b =', 'L', '+ 1']
    """
    whole = formula.latex(value)
    if not isinstance(value, sp.core.relational.Relational) or width(whole) <= room:
        return [whole]
    sign = formula.SIGNS["latex"][type(value)]
    left = _broken(value.lhs, room)
    left[-1] += f" {sign}"
    right = _broken(value.rhs, room)
    if len(left) == 1 and width(left[0]) + width(right[0]) <= room:
        return [f"{left[0]} {right[0]}", *right[1:]]
    return [*left, *right]


def _broken(side: sp.Expr, room: float) -> list[str]:
    """The terms of a sum, as many on a line as fit."""
    if not isinstance(side, sp.Add):
        return [formula.latex(side)]
    printed = formula.latex(side)
    if width(printed) <= room:
        return [printed]
    lines: list[str] = []
    for term in side.as_ordered_terms():
        piece = formula.latex(term)
        if lines:
            piece = piece if piece.startswith("-") else f"+ {piece}"
        if lines and width(lines[-1]) + width(piece) <= room:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines
