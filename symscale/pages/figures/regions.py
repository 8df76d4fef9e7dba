"""Draws sweeps of problems: curves of the optimum, and maps of the regions of its pieces."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sympy as sp

from symscale.pages.figures.drawing import (
    COLOURS,
    colour_map,
    legend_line,
    new_figure,
    plain,
    save,
    styled,
)
from symscale.pages.formulas import formula
from symscale.problems.answer import ProblemAnswer
from symscale.problems.sweep import NOTHING, UNKNOWN, Axis, Regions, Segment, boundary

_GRID = 241


def _label(axis: Axis) -> str:
    entry = axis.quantity.entry
    unit = f" [{entry.unit}]" if entry.unit != "1" else ""
    meaning = f", {plain(entry.meaning)}" if entry.meaning else ""
    return f"${entry.latex}${meaning}{unit}"


def _colours(found: ProblemAnswer) -> dict[str, str]:
    names = [p.name for p in found.pieces]
    table = {n: COLOURS[k % len(COLOURS)] for k, n in enumerate(names)}
    return {**table, NOTHING: "#DDDDDD", UNKNOWN: "#DDDDDD"}


def line_plot(
    found: ProblemAnswer, axis: Axis, segments: Sequence[Segment], path: Path
) -> None:
    """Draw the optimum against a parameter, each piece in its colour, cliffs marked."""
    with styled():
        figure, axes = new_figure((1.0,), 4.2)
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
        axes.set_title(plain(found.problem.title))
        figure.legend(fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def region_plot(found: ProblemAnswer, first: Axis, second: Axis, path: Path) -> None:
    """Draw where each piece rules over two parameters, boundaries in the legend."""
    import numpy as np

    with styled():
        figure, axes = new_figure((1.0,), 4.2)
        regions = Regions(found, [first, second])
        names, colours = regions.names, _colours(found)
        xs, ys = first.grid(_GRID), second.grid(_GRID)
        grid = regions.index(xs[None, :], ys[:, None])
        axes.pcolormesh(
            xs, ys, grid, cmap=colour_map([colours[n] for n in names]),
            vmin=-0.5, vmax=len(names) - 0.5, alpha=0.55, shading="nearest", rasterized=True,
        )
        for k, name in enumerate(names):
            where = np.argwhere(grid == k)
            if len(where):
                _name_region(axes, where, grid, k, xs, ys, _short(name))
        handles = _boundaries(found, (first, second), axes, regions, grid)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(float(first.low), float(first.high))
        axes.set_ylim(float(second.low), float(second.high))
        axes.set_xlabel(_label(first))
        axes.set_ylabel(_label(second))
        axes.set_title(plain(found.problem.title))
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
    found: ProblemAnswer, plane: tuple[Axis, Axis], axes: Any, regions: Regions, grid: Any
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
            handles.setdefault(text, legend_line(color="black", lw=1, ls=style, label=text))
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
    return plain(name if len(name) <= 40 else name[:37] + "...")
