"""Covers in one number: as few tangents as there can be, each between two cuts.

The least sum is convex in the logarithm of the number, so a tangent is within a share of it on
an interval. From the left, the tangent that is just near enough at the last cut reaches
farthest: no cover has fewer. What the last of so many leaves over is given to all of them, as
room for shares of small denominators.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from symscale.algebra.tangents.convex import Array, Solution
from symscale.algebra.tangents.normal import NormalForm
from symscale.algebra.tangents.rounding import DENOMINATORS, Rounding, TangentBound
from symscale.errors import NoAnswerError

_GRID = 4  # points solved for each unit of the logarithm
_FEWEST, _MOST_POINTS = 60, 1200
_PER_CELL = 16
_HALVINGS = 24
_CUTS = (0.3, 0.03, 0.003)  # how fine cuts are, in the logarithm
_SPARE = 5e-5  # of the share, for the corners' points
Progress = Callable[[str], None]


@dataclass(frozen=True)
class LineCover:
    """Tangents from left to right, and the cuts between them from 0 to 1."""

    tangents: tuple[TangentBound, ...]
    touches: tuple[float, ...]
    cuts: tuple[Fraction, ...]


class _Curve:
    """The least sum between two ends, solved on a grid and interpolated between."""

    def __init__(self, form: NormalForm, low: float, high: float, progress: Progress) -> None:
        self.form, self.low, self.high = form, low, high
        count = int(np.clip((high - low) * _GRID, _FEWEST, _MOST_POINTS))
        self.grid = np.linspace(low, high, count)
        values, slopes = [], []
        for k, y in enumerate(self.grid):
            progress(f"{k} of {count} points solved")
            found = self.solve(y)
            values.append(found.value)
            slopes.append(float(found.shares @ form.slopes[:, 0]))
        fine = np.linspace(low, high, (count - 1) * _PER_CELL + 1)
        self.values, self.slopes = _hermite(
            self.grid, np.array(values), np.array(slopes), fine
        )
        self.fine = fine

    def solve(self, y: float) -> Solution:
        """The optimum there."""
        return self.form.solve(np.array([y]))

    def gaps(self, y: float) -> Array:
        """On the fine grid, by how much the tangent at a place is below."""
        value, slope = (np.interp(y, self.fine, v) for v in (self.values, self.slopes))
        return np.asarray(self.values - value - slope * (self.fine - y))

    def next(self, left: float, most: float) -> tuple[float, float]:
        """Where the tangent that reaches farthest from a cut touches, and how far it reaches."""
        low, high = left, self.high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            near = np.interp(left, self.fine, self.gaps(middle)) <= most
            low, high = (middle, high) if near else (low, middle)
        gaps = self.gaps(low)
        beyond = np.flatnonzero((gaps > most) & (self.fine > low))
        if not len(beyond):
            return low, self.high
        k = int(beyond[0])
        part = (most - gaps[k - 1]) / (gaps[k] - gaps[k - 1]) if k else 0.0
        return low, float(self.fine[k - 1] + part * (self.fine[k] - self.fine[k - 1]))

    def places(self, most: float, limit: int) -> list[tuple[float, float]]:
        """Touching points and right ends from left to right; at most so many."""
        found: list[tuple[float, float]] = []
        left = self.low
        while len(found) < limit:
            touch, right = self.next(left, most)
            found.append((touch, right))
            if right >= self.high or right <= left:
                break
            left = right
        return found


def _hermite(x: Array, values: Array, slopes: Array, at: Array) -> tuple[Array, Array]:
    """Values and slopes between places, from those at them: cubics."""
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    h = x[1] - x[0]
    t = (at - x[k]) / h
    a, b, c, d = values[k], h * slopes[k], values[k + 1], h * slopes[k + 1]
    second, third = 3 * (c - a) - 2 * b - d, 2 * (a - c) + b + d
    inside = a + t * (b + t * (second + t * third))
    return inside, (b + t * (2 * second + 3 * t * third)) / h


def line_cover(
    form: NormalForm, low: float, high: float, share: float, most: int, progress: Progress
) -> LineCover:
    """Cover an interval of the logarithm of the one number.

    Args:
        form: The program.
        low: The interval's lower end.
        high: Its upper end.
        share: How near the tangents must be.
        most: How many there may be.
        progress: Told how far it is.

    Raises:
        InfeasibleError: If no point satisfies the constraints somewhere between.
        NoAnswerError: If more would be needed, or the search does not converge.
    """
    curve = _Curve(form, low, high, progress)
    room = float(np.log1p(share)) - _SPARE
    for reserve in (0.0, 0.02, 0.1, 0.3):
        places = curve.places(room * (1 - reserve), most)
        if places[-1][1] < high:
            needed = f"more than {most} pieces are needed"
            raise NoAnswerError(f"{needed}; {most} reach {_part(places, curve):.0%} of the way")
        least, enough = 0.0, room * (1 - reserve)
        for _ in range(_HALVINGS // 2):  # the nearest that as many tangents can be
            middle = (least + enough) / 2
            fits = curve.places(middle, len(places))[-1][1] >= high
            least, enough = (least, middle) if fits else (middle, enough)
        places = curve.places(enough, len(places))
        progress(f"{len(places)} pieces; their shares are rounded")
        for fine in _CUTS:
            cut = 10 ** math.ceil(math.log10((high - low) / fine))
            found = _rounded(curve, places, room, cut)
            if found is not None:
                return found
    raise NoAnswerError("no shares of small denominators are near enough")


def _part(places: list[tuple[float, float]], curve: _Curve) -> float:
    return (places[-1][1] - curve.low) / (curve.high - curve.low)


def _rounded(
    curve: _Curve, places: list[tuple[float, float]], room: float, cut: int
) -> LineCover | None:
    """The tangents with rounded shares and cuts; None where they would not reach."""
    length = curve.high - curve.low
    inner = [Fraction(round((right - curve.low) / length * cut), cut) for _, right in places[:-1]]
    cuts = [Fraction(0), *inner, Fraction(1)]
    if len(set(cuts)) < len(cuts):
        return None
    ends = [curve.low + float(c) * length for c in cuts]
    values = [curve.solve(y).value for y in ends]
    tangents = []
    for k, (touch, _) in enumerate(places):
        at = [curve.form.offsets(np.array([y])) for y in ends[k : k + 2]]
        needed = [v - room for v in values[k : k + 2]]
        try:
            shares = curve.solve(min(touch, curve.high)).shares
            tangent = Rounding(curve.form.table, shares).nearest(at, needed, DENOMINATORS)
        except NoAnswerError:
            return None
        if any(n > tangent.at(b) for n, b in zip(needed, at, strict=True)):
            return None
        tangents.append(tangent)
    return LineCover(tuple(tangents), tuple(t for t, _ in places), tuple(cuts))
