"""Plots; the one module that draws."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import sympy as sp

from symscale.errors import InputError
from symscale.pages.formulas import formula
from symscale.problems.answer import ProblemAnswer
from symscale.problems.sweep import NOTHING, UNKNOWN, Axis, Regions, Segment, boundary

FORMATS = (".pdf", ".svg", ".png")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
"""Colours that colour-blind readers tell apart (Okabe and Ito)."""

LONGEST_LABEL = 60
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
    return new_figure((1.0,), 4.2)


def new_figure(panels: Sequence[float], height: float) -> tuple[Any, Any]:
    """Make a figure of panels above one another that share their x axis.

    Args:
        panels: Their relative heights.
        height: Height of the figure, inches.

    Returns:
        The figure, and its axes: one, or an array where there are several panels.
    """
    mpl.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, height))
    ratios = {"height_ratios": list(panels)}
    return figure, figure.subplots(len(panels), 1, sharex=True, gridspec_kw=ratios)


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the one style of all figures."""
    with mpl.rc_context(_STYLE):
        yield


def colour(index: int) -> str:
    """A colour that those who see few colours can tell from the others.

    Example:
        >>> colour(0) == colour(8)
        True
    """
    return COLOURS[index % len(COLOURS)]


@contextmanager
def drawing(
    shared: bool = True,
) -> Iterator[Callable[[int, int, tuple[float, float]], tuple[Any, Any]]]:
    """Give a function that makes a figure of rows and columns of panels, in the one style.

    Args:
        shared: Whether the panels share their y axis.
    """
    mpl.use("Agg")
    from matplotlib.figure import Figure

    def make(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
        figure = Figure(figsize=size)
        panels = figure.subplots(rows, columns, squeeze=False, sharey=shared)
        return figure, panels.ravel()

    with mpl.rc_context(_STYLE):
        yield make


def save(figure: Any, *paths: Path) -> None:
    """Write a figure into files, the same bytes each time; it is laid out once."""
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a letter that no font has is drawn as a box
            figure.savefig(path, metadata=metadata[path.suffix.lower()])
        figure.set_layout_engine("none")


def label_of(title: str) -> str:
    r"""Return a title from a file, short enough for a figure, in which no formula begins.

    Example:
        >>> print(label_of("A $ machine"))
        A \$ machine
    """
    return _plain(title if len(title) <= LONGEST_LABEL else title[: LONGEST_LABEL - 3] + "...")


def _label(axis: Axis) -> str:
    entry = axis.quantity.entry
    unit = f" [{entry.unit}]" if entry.unit != "1" else ""
    meaning = f", {_plain(entry.meaning)}" if entry.meaning else ""
    return f"${entry.latex}${meaning}{unit}"


def _colours(found: ProblemAnswer) -> dict[str, str]:
    names = [p.name for p in found.pieces]
    table = {n: COLOURS[k % len(COLOURS)] for k, n in enumerate(names)}
    return {**table, NOTHING: "#DDDDDD", UNKNOWN: "#DDDDDD"}


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
                             label=segment.name)
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
        axes.set_title(_plain(found.problem.title))
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
                _name_region(axes, where, grid, k, xs, ys, _short(name))
        handles = _boundaries(found, (first, second), axes, regions, grid, Line2D)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(float(first.low), float(first.high))
        axes.set_ylim(float(second.low), float(second.high))
        axes.set_xlabel(_label(first))
        axes.set_ylabel(_label(second))
        axes.set_title(_plain(found.problem.title))
        if handles:
            figure.legend(handles=handles, fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def _name_region(
    axes: Any, where: Any, grid: Any, index: int, xs: Any, ys: Any, name: str
) -> None:
    """Write a region's name into it, from its near edge where that is the plot's."""
    row, column = (int(c) for c in where.mean(axis=0))
    if grid[row, column] != index:
        row, column = (int(c) for c in where[len(where) // 2])
    side = "left" if column < len(xs) / 5 else "right" if column > 4 * len(xs) / 5 else "center"
    if side != "center":
        inside = where[where[:, 0] == row][:, 1]
        column = int(inside.min() if side == "left" else inside.max())
    axes.annotate(
        name, (xs[column], ys[row]), xytext=({"left": 3, "right": -3}.get(side, 0), 0),
        textcoords="offset points", ha=side, va="center", fontsize=8,
    )


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
    """Draw the boundaries that have a closed form, each where its two pieces meet."""
    import numpy as np

    handles: dict[str, Any] = {}
    seen: set[tuple[int, int]] = set()
    styles = ("-", "--", ":", "-.")
    for turned in (False, True):  # solved for the second parameter, or else for the first
        along, across = plane[::-1] if turned else plane
        table = grid.T if turned else grid
        for pair in sorted(_neighbours(table) - seen):
            meets = _meeting(table, pair)
            columns = np.nonzero(meets.any(axis=0))[0]
            column = int(columns[len(columns) // 2])
            cell = (int(np.nonzero(meets[:, column])[0][0]), column)
            closed = _closed_boundary(found, (along, across), regions, cell, turned, pair)
            if closed is None:
                continue
            seen.add(pair)
            text = f"${across.quantity.entry.latex} = {formula.latex(closed)}$"
            style = styles[len(handles) % len(styles)]
            if text in handles:
                style = handles[text].get_linestyle()
            xs = along.grid(_GRID)[columns[0] : columns[-1] + 1]
            points = (xs, _curve(found, closed, along, xs))
            axes.plot(*(points[::-1] if turned else points), color="black", lw=1, ls=style)
            handles.setdefault(text, line([], [], color="black", lw=1, ls=style, label=text))
    return list(handles.values())


def _neighbours(table: Any) -> set[tuple[int, int]]:
    """The pairs that lie above one another somewhere in a table of regions."""
    return {
        (int(min(a, b)), int(max(a, b)))
        for a, b in zip(table[:-1].ravel(), table[1:].ravel(), strict=True)
        if a != b
    }


def _meeting(table: Any, pair: tuple[int, int]) -> Any:
    """Where the two lie above one another."""
    low, high = table[:-1], table[1:]
    one, other = pair
    return ((low == one) & (high == other)) | ((low == other) & (high == one))


def _closed_boundary(
    found: ProblemAnswer, plane: tuple[Axis, Axis], regions: Regions, cell: tuple[int, int],
    turned: bool, pair: tuple[int, int],
) -> Any:
    """The boundary of two pieces solved for a parameter, found where it crosses a column."""
    along, across = plane
    here = float(along.grid(_GRID)[cell[1]])
    low, high = (float(v) for v in across.grid(_GRID)[cell[0] : cell[0] + 2])

    def name(value: float) -> str:
        return regions.name(value, here) if turned else regions.name(here, value)

    below = name(low)
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if name(middle) == below else (low, middle)
    at = replace(found, values={**found.values, along.symbol: sp.Rational(repr(here))})
    one, other = (regions.names[k] for k in pair)
    return boundary(at, one, other, across.symbol, high)


def _short(name: str) -> str:
    return _plain(name if len(name) <= 40 else name[:37] + "...")


def _plain(text: str) -> str:
    """A text in which no formula begins."""
    return text.replace("$", r"\$")
