"""The numerical optimum at many points of two parameters, as maps of it need it."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import sympy as sp

from symscale.algebra.sums.numeric import LogProgram, LogSum, in_logarithms, least
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError, InfeasibleError, NoAnswerError, UnboundedError

KINDS = ("optimal", "infeasible", "unbounded")
Point = Callable[[int, int], Mapping[sp.Symbol, sp.Rational]]
_DEEPEST = 1.0  # natural logarithm by which constraints are asked to be slack
_ROUNDING = 1e-9
_NO_POINT = 1.0  # the excess where equalities alone leave no point


def searched(
    program: GeometricProgram, at: Point, unknown: np.ndarray, logs: np.ndarray, step: int
) -> np.ndarray:
    """Search a grid where the optimum is unknown, at each `step`-th point of both its sides.

    Between these points the logarithm of the optimum is interpolated, and so is the edge
    of what is feasible.

    Args:
        program: What is minimized.
        at: Numbers of all parameters in a row and column of the grid.
        unknown: Where the optimum is unknown.
        logs: Natural logarithms of the optimum elsewhere; filled in where it is found.
        step: It divides the grid's sides.

    Returns:
        For each point a position in KINDS.
    """
    coarse = logs[::step, ::step].copy()
    points = {
        (i, j): at(i * step, j * step) for i, j in np.ndindex(coarse.shape)
        if unknown[max(0, (i - 1) * step + 1): (i + 1) * step,
                   max(0, (j - 1) * step + 1): (j + 1) * step].any()
    }
    kinds, excess = {}, {}
    near: np.ndarray | None = None
    relaxed: np.ndarray | None = None
    for c, point in points.items():
        if np.isfinite(coarse[c]):
            continue
        rows = _rows(program, point)
        if rows is None:
            excess[c] = np.nan
            continue
        relaxed, excess[c] = _least_excess(rows, relaxed)
        if excess[c] > _ROUNDING:
            kinds[c] = "infeasible"
            continue
        near, coarse[c], kinds[c] = _sampled(program, rows, near)
    logs[unknown] = _between(coarse, step)[unknown]
    found = np.zeros(logs.shape, dtype=int)
    for position, kind in enumerate(KINDS):
        if not position or kind not in kinds.values():
            continue
        sign = np.full(coarse.shape, np.nan)
        for c in points:
            sign[c] = 1.0 if kinds.get(c) == kind else -1.0
        if kind == "infeasible":
            for c in _beside_another(sign, points):
                if c not in excess:
                    rows = in_logarithms(program, points[c])
                    relaxed, excess[c] = _least_excess(rows, relaxed)
                sign[c] = excess[c]
        there = unknown & (_between(sign, step) > 0)
        found[there] = position
        logs[there] = np.nan
    return found


def _beside_another(
    sign: np.ndarray, points: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The points of which one in a cell with them has the other sign."""
    return [
        (i, j) for i, j in points
        if (sign[max(0, i - 1): i + 2, max(0, j - 1): j + 2] == -sign[i, j]).any()
    ]


def kinds_at(
    program: GeometricProgram, points: Iterable[Mapping[sp.Symbol, sp.Rational]]
) -> list[str]:
    """What kind of optimum there is at each point: one of KINDS, or "" if that is not found.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.exact.monomial import Monomial
        >>> from symscale.language.symbols import symbols
        >>> N, P = symbols("N P")
        >>> kinds_at(GeometricProgram((N,), (Monomial.of(P*N),), (), Domain()), [{P: 4}])
        ['unbounded']
    """
    every = (_rows(program, point) for point in points)
    return ["" if rows is None else _sampled(program, rows, None)[2] for rows in every]


def _rows(
    program: GeometricProgram, point: Mapping[sp.Symbol, sp.Rational]
) -> LogProgram | None:
    """The program in logarithms; None where a coefficient is 0 or less."""
    try:
        return in_logarithms(program, point)
    except FormulaError:
        return None


def _sampled(
    program: GeometricProgram, rows: LogProgram, near: np.ndarray | None
) -> tuple[np.ndarray | None, float, str]:
    """The optimal variables, the logarithm of the optimum, and its kind."""
    try:
        best = least(rows, near)
    except InfeasibleError:
        return near, np.nan, "infeasible"
    except UnboundedError:
        return near, np.nan, "unbounded"
    except NoAnswerError:
        return near, np.nan, ""
    size = rows.objective.log(best)
    return best, -size if program.inverse else size, KINDS[0]


def _between(coarse: np.ndarray, step: int) -> np.ndarray:
    """Values on the whole grid from those on the coarse one, bilinearly."""
    sides = [np.arange((n - 1) * step + 1) / step for n in coarse.shape]
    (row, up), (column, right) = (
        (low := np.minimum(side.astype(int), n - 2), side - low)
        for side, n in zip(sides, coarse.shape, strict=True)
    )

    def blend(first: np.ndarray, second: np.ndarray, weight: np.ndarray) -> np.ndarray:
        inner = first * (1 - weight) + second * weight
        return np.where(weight == 0, first, np.where(weight == 1, second, inner))

    rows = blend(coarse[row], coarse[row + 1], up[:, None])
    return blend(rows[:, column], rows[:, column + 1], right[None, :])


def _least_excess(
    rows: LogProgram, near: np.ndarray | None
) -> tuple[np.ndarray | None, float]:
    """The logarithm of the least factor within which all constraints can hold, at least -1.

    Feasible points are where it is at most 0. It is convex in the parameters' logarithms
    where coefficients are products of powers, so that its zero can be interpolated.
    """
    n = rows.variables

    def lifted(part: LogSum, slope: float) -> LogSum:
        return part._replace(slopes=np.insert(part.slopes, n, slope, axis=1))

    last = np.eye(n + 1)[n:]
    floor = LogSum(-last, np.array([-_DEEPEST]))
    relaxed = LogProgram(
        LogSum(last, np.zeros(1)), [*rows.names, "floor"],
        [*(lifted(s, -1.0) for s in rows.sums), floor], [lifted(e, 0.0) for e in rows.equal],
    )
    try:
        best = least(relaxed, near)
    except NoAnswerError:
        return near, _NO_POINT
    return best, float(best[-1])
