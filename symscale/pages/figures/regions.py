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
from symscale.problems.sweep import (
    INFEASIBLE,
    MAP_POINTS,
    NOTHING,
    UNBOUNDED,
    UNKNOWN,
    Axis,
    OptimumMap,
    Regions,
    Segment,
    boundary,
    optimum_map,
)

_GRID = MAP_POINTS
_EMPTY = (NOTHING, INFEASIBLE, UNBOUNDED)
_CONTOUR = "#8B0000"
_LEVELS = 6
_FLAT = 1e-9
_TAIL = 0.01


def _label(axis: Axis) -> str:
    entry = axis.quantity.entry
    unit = f" [{entry.unit}]" if entry.unit != "1" else ""
    meaning = f", {plain(entry.meaning)}" if entry.meaning else ""
    return f"${entry.latex}${meaning}{unit}"


def _colours(found: ProblemAnswer) -> dict[str, str]:
    names = [p.name for p in found.pieces]
    table = {n: COLOURS[k % len(COLOURS)] for k, n in enumerate(names)}
    return {**table, NOTHING: "#FFFFFF", UNKNOWN: "#BBBBBB", **dict.fromkeys(_EMPTY, "#FFFFFF")}


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
        axes.set_ylabel(_optimum_label(found))
        axes.set_title(plain(found.problem.title))
        figure.legend(fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def region_plot(found: ProblemAnswer, first: Axis, second: Axis, path: Path) -> None:
    """Draw where each piece rules over two parameters, and contours of the optimum.

    Boundaries are in the legend. Where no closed form rules, contours are numerical.
    """
    import numpy as np

    with styled():
        figure, axes = new_figure((1.0,), 4.2)
        regions = Regions(found, [first, second])
        drawn = optimum_map(found, regions, (first, second))
        names, colours, xs, ys = drawn.names, _colours(found), drawn.xs, drawn.ys
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(float(first.low), float(first.high))
        axes.set_ylim(float(second.low), float(second.high))
        axes.pcolormesh(
            xs, ys, drawn.shown, cmap=colour_map([colours[n] for n in names]),
            vmin=-0.5, vmax=len(names) - 0.5, alpha=0.55, shading="nearest", rasterized=True,
        )
        for k, name in enumerate(names):
            here = drawn.shown == k
            where = np.argwhere(here)
            if not len(where):
                continue
            if name in _EMPTY and len(where) < here.size:
                axes.contourf(xs, ys, here, levels=[0.5, 1.5], colors="none", hatches=["///"])
            _name_region(axes, where, drawn.shown, k, xs, ys, _short(name))
        handles = _boundaries(found, (first, second), axes, regions, drawn.ruling)
        handles += contours(axes, drawn, _optimum_label(found))
        axes.set_xlabel(_label(first))
        axes.set_ylabel(_label(second))
        axes.set_title(plain(found.problem.title))
        if handles:
            figure.legend(handles=handles, fontsize=8, loc="outside lower center", ncols=2)
        save(figure, path)


def contours(axes: Any, drawn: OptimumMap, label: str) -> list[Any]:
    """Draw lines of equal optimum with their numbers; return what stands in the legend."""
    import numpy as np

    known = drawn.logs[np.isfinite(drawn.logs)]
    if not len(known):
        return []
    if known.max() - known.min() < _FLAT:
        return [legend_line(lw=0, label=f"{label}: {math.exp(known[0]):.4g}")]
    # Some optima grow without limit at an edge, where lines would crowd.
    low, high = (math.exp(x) for x in np.quantile(known, (_TAIL, 1 - _TAIL)))
    levels = contour_levels(low, high)
    if not levels:
        levels = [math.exp(float(np.median(known)))]
    lines = axes.contour(
        drawn.xs, drawn.ys, np.ma.masked_invalid(drawn.logs), levels=np.log(levels),
        colors=_CONTOUR, linewidths=0.8, linestyles="solid",
    )
    texts = {at: f"{level:.4g}" for at, level in zip(lines.levels, levels, strict=True)}
    for text in axes.clabel(lines, fmt=texts, fontsize=7):
        text.set_bbox({"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.5})
    return [legend_line(color=_CONTOUR, lw=0.8, label=label)]


def contour_levels(low: float, high: float) -> list[float]:
    """Round numbers strictly between two, about six of them; none where the two are nearly one.

    Example:
        >>> contour_levels(0.9, 1200)
        [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]
        >>> contour_levels(1.05, 1.62)
        [1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
    """
    if high <= low * (1 + _FLAT):
        return []
    decades = math.log10(high / low)
    if decades < 1:
        rough = (high - low) / _LEVELS
        tens = 10.0 ** math.floor(math.log10(rough))
        step = next(m for m in (1, 2, 5, 10) if m * tens >= rough) * tens
        found = [k * step for k in range(math.floor(low / step), math.ceil(high / step) + 1)]
    else:
        stride = max(1, round(decades / _LEVELS))
        steps = (1, 2, 5) if decades < 2.5 else (1, 3) if decades < 5 else (1,)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        found = [
            float(f"{m}e{n}") for n in range(first, last + 1) if n % stride == 0 for m in steps
        ]
    return [level for level in (float(f"{x:.6g}") for x in found) if low < level < high]


def _optimum_label(found: ProblemAnswer) -> str:
    unit = f" [{found.problem.unit}]" if found.problem.unit != "1" else ""
    return f"optimum of ${formula.latex(found.problem.objective)}${unit}"


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
