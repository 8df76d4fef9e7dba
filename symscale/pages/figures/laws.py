"""Plots of curves: an optimum against the one dimensionless number that decides it."""

from collections.abc import Sequence
from pathlib import Path

import sympy as sp

from symscale.algebra.curves.shape import CurvePoint
from symscale.pages.figures.drawing import colour, label_of, new_figure, save, styled
from symscale.pages.formulas import formula


def law_plot(
    title: str, number: sp.Symbol, expr: sp.Expr, points: Sequence[CurvePoint],
    here: CurvePoint | None, path: Path,
) -> None:
    """Draw the value over its limit at small numbers, that limit, and the one at large numbers.

    Args:
        title: Of the problem.
        number: The symbol of the dimensionless number.
        expr: Its formula.
        points: The curve.
        here: The point at the parameters given.
        path: Of the figure.
    """
    name = f"${formula.latex(number)}$"
    xs = [float(p.number) for p in points]
    ys = [float(p.over_low or 0) for p in points]
    with styled():
        figure, panel = new_figure((1,), 3.6)
        panel.plot(xs, ys, color=colour(0), lw=1.8, label="optimum")
        panel.plot(xs, [1.0] * len(xs), color=colour(1), lw=1.1, ls="--",
                   label=f"limit at small {name}")  # fmt: skip
        ends = [(x, y / float(p.over_high)) for x, y, p in zip(xs, ys, points, strict=True)
                if p.over_high]  # fmt: skip
        if ends:
            panel.plot(*zip(*ends, strict=True), color=colour(2), lw=1.1, ls="-.",
                       label=f"limit at large {name}")  # fmt: skip
        if here is not None:
            panel.plot([float(here.number)], [float(here.over_low or 0)], color=colour(3),
                       marker="o", ls="", label=f"here, {name} = {float(here.number):.3g}")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(min(ys) / 1.3, max(ys) * 1.3)
        panel.set_xlabel(f"{name} $= {formula.latex(expr)}$")
        panel.set_ylabel(f"optimum over its limit at small {name}")
        panel.set_title(label_of(title), fontsize=9)
        panel.legend(fontsize=8)
        save(figure, path)
