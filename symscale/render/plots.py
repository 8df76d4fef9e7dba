"""Plots; the one module that draws."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import sympy as sp

from symscale.errors import InputError
from symscale.render import formula
from symscale.studies.problem_answer import ProblemAnswer
from symscale.studies.sweep import NOTHING, Axis, Regions, Segment, boundary

FORMATS = (".pdf", ".svg", ".png")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
_GRID = 241
_STYLE: Any = {
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "figure.dpi": 150,
    "svg.hashsalt": "symscale", "pdf.fonttype": 42, "figure.constrained_layout.use": True,
}


def check_format(path: Path) -> None:
    """Refuse a file name whose ending is no format of plots.

    Raises:
        InputError: If it is not .pdf, .svg or .png.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"--plot {path}: name a file that ends in {', '.join(FORMATS)}")


def _figure() -> tuple[Any, Any]:
    mpl.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.2))
    return figure, figure.subplots()


def save(figure: Any, path: Path) -> None:
    """Write a figure, the same bytes each time."""
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
    figure.savefig(path, metadata=metadata[path.suffix.lower()])


def _label(axis: Axis) -> str:
    entry = axis.quantity.entry
    unit = f" [{entry.unit}]" if entry.unit != "1" else ""
    return f"${entry.latex}$, {entry.meaning}{unit}" if entry.meaning else f"${entry.latex}${unit}"


def _colours(found: ProblemAnswer) -> dict[str, str]:
    names = [p.name for p in found.pieces]
    table = {n: _COLOURS[k % len(_COLOURS)] for k, n in enumerate(names)}
    return {**table, NOTHING: "#DDDDDD"}


def line_plot(
    found: ProblemAnswer, axis: Axis, segments: Sequence[Segment], path: Path
) -> None:
    """Draw the optimum against a parameter, each piece in its colour, cliffs marked."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure()
        colours = _colours(found)
        pieces = {p.name: p for p in found.pieces}
        for segment in segments:
            piece = pieces.get(segment.name)
            xs = Axis(axis.quantity, segment.low, segment.high).grid(60)
            if piece is None:
                axes.axvspan(float(segment.low), float(segment.high), color="#EEEEEE",
                             label=NOTHING)
                continue
            axes.plot(xs, _curve(found, piece.expr, axis, xs), color=colours[segment.name], lw=2,
                      label=_short(segment.name))
        for segment in segments[:-1]:
            text = f"{float(segment.high):.4g}"
            if segment.boundary is not None:
                text = f"${axis.quantity.entry.latex} = {formula.latex(segment.boundary)}$"
            axes.axvline(float(segment.high), color="#444444", lw=0.8, ls="--",
                         label=text)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(_label(axis))
        unit = f" [{found.problem.unit}]" if found.problem.unit != "1" else ""
        axes.set_ylabel(f"optimum of ${formula.latex(found.problem.objective)}${unit}")
        axes.set_title(found.problem.title.replace("$", r"\$"))
        figure.legend(fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def region_plot(found: ProblemAnswer, first: Axis, second: Axis, path: Path) -> None:
    """Draw where each piece rules over two parameters, boundaries in the legend."""
    import numpy as np

    with mpl.rc_context(_STYLE):
        from matplotlib.colors import ListedColormap
        from matplotlib.lines import Line2D

        figure, axes = _figure()
        regions = Regions(found, [first, second])
        names, colours = regions.names, _colours(found)
        xs, ys = first.grid(_GRID), second.grid(_GRID)
        grid = regions.index(xs[None, :], ys[:, None])
        axes.pcolormesh(
            xs, ys, grid, cmap=ListedColormap([colours[n] for n in names]),
            vmin=-0.5, vmax=len(names) - 0.5, alpha=0.55, shading="nearest", rasterized=True,
        )
        for k, name in enumerate(names):
            where = np.argwhere(grid == k)
            if len(where):
                centre = where[len(where) // 2] if len(where) < 3 else where.mean(axis=0)
                if grid[int(centre[0]), int(centre[1])] != k:
                    centre = where[len(where) // 2]
                axes.text(xs[int(centre[1])], ys[int(centre[0])], _short(name),
                          ha="center", va="center", fontsize=8, wrap=True)
        handles = _boundaries(found, (first, second), axes, regions, grid, Line2D)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(float(first.low), float(first.high))
        axes.set_ylim(float(second.low), float(second.high))
        axes.set_xlabel(_label(first))
        axes.set_ylabel(_label(second))
        axes.set_title(found.problem.title.replace("$", r"\$"))
        if handles:
            figure.legend(handles=handles, fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def _curve(found: ProblemAnswer, expr: sp.Expr, axis: Axis, xs: Any) -> Any:
    """A formula along an axis, the other parameters at their values."""
    import numpy as np

    fixed = {s: v for s, v in found.values.items() if s != axis.symbol}
    compiled = sp.lambdify([axis.symbol], expr.xreplace(fixed).evalf(17), "numpy", cse=True)
    with np.errstate(all="ignore"):  # what is not finite is not drawn
        return np.broadcast_to(compiled(xs), xs.shape)


def _boundaries(
    found: ProblemAnswer, plane: tuple[Axis, Axis], axes: Any, regions: Regions, grid: Any,
    line: Any,
) -> list[Any]:
    """Draw the boundaries that have a closed form in the second parameter."""
    first, second = plane
    handles = []
    pairs = {
        (int(min(a, b)), int(max(a, b)))
        for a, b in zip(grid[:-1].ravel(), grid[1:].ravel(), strict=True)
        if a != b
    }
    styles = ("-", "--", ":", "-.")
    for index, pair in enumerate(sorted(pairs)):
        closed = _closed_boundary(found, plane, regions, grid, pair)
        if closed is None:
            continue
        style = styles[index % len(styles)]
        xs = first.grid(120)
        axes.plot(xs, _curve(found, closed, first, xs), color="black", lw=1, ls=style)
        text = f"${second.quantity.entry.latex} = {formula.latex(closed)}$"
        handles.append(line([], [], color="black", lw=1, ls=style, label=text))
    return handles


def _closed_boundary(
    found: ProblemAnswer, plane: tuple[Axis, Axis], regions: Regions, grid: Any,
    pair: tuple[int, int],
) -> Any:
    """The boundary of two pieces solved for the second parameter, found where it crosses."""
    first, second = plane
    xs, ys = first.grid(_GRID), second.grid(_GRID)
    for j in range(grid.shape[1]):
        for i in range(grid.shape[0] - 1):
            if {int(grid[i, j]), int(grid[i + 1, j])} != set(pair):
                continue
            low, high = float(ys[i]), float(ys[i + 1])
            below = regions.names[int(grid[i, j])]
            for _ in range(60):
                middle = math.sqrt(low * high)
                same = regions.name(float(xs[j]), middle) == below
                low, high = (middle, high) if same else (low, middle)
            here = sp.Rational(repr(float(xs[j])))
            at = replace(found, values={**found.values, first.symbol: here})
            one, other = (regions.names[k] for k in pair)
            return boundary(at, one, other, second.symbol, high)
    return None


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."
