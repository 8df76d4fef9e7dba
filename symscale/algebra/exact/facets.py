"""Which of many conditions on products of powers are needed, and which follow from others.

In logarithms a condition is a row of exponents, r . x + c <= 0, with c the logarithm of its
number. From a point that is inside of all, a ray meets first a condition that is needed. What
no ray finds is asked of a linear program over the needed ones (Clarkson): it follows from
some of them, or the program's point shows another one that is needed. Everything is guessed
in floating point, and believed only if

- needed: there is a point at which all others hold and it does not, by margins far beyond
  rounding;
- implied: whole numbers, multipliers of other conditions, give its row exactly, and its
  number exactly or by such a margin.

What is neither is left to the caller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from symscale.algebra.exact.wide_cone import Integers, exact_product

Floats: TypeAlias = npt.NDArray[np.float64]
_Indices: TypeAlias = npt.NDArray[np.int64]
_CLEAR = 1e-9  # of the size of a sum's terms: what is above is no rounding
_TINY = 1e-9
_NEAR = 1e-6
_DIVISORS = 60  # of multipliers that are tried before they are solved for
_MOST_RAYS = 400


@dataclass(frozen=True)
class Conditions:
    """Conditions r . x + n . logs <= 0.

    Attributes:
        rows: The whole exponents of what is unknown, a row each.
        numbers: Those of numbers.
        logs: The logarithms of these numbers.
    """

    rows: Integers
    numbers: Integers
    logs: Floats

    def constants(self) -> Floats:
        """The logarithm of each condition's number."""
        return self.numbers.astype(np.float64) @ self.logs


@dataclass
class Decided:
    """What is known of conditions.

    Attributes:
        needed: Those that do not follow from the others, with a point that shows it.
        implied: Those that follow from needed ones.
        unknown: The others.
    """

    needed: dict[int, Floats] = field(default_factory=dict)
    implied: set[int] = field(default_factory=set)
    unknown: list[int] = field(default_factory=list)


def needed_of(
    conditions: Conditions, inside: Floats, given: int = 0, others: Sequence[Floats] = ()
) -> Decided:
    """Decide which conditions are needed, beside the first ones, which are given.

    Args:
        conditions: The conditions, no two of which say the same.
        inside: A point at which all hold, none with equality.
        given: How many of the first are not asked for.
        others: Points towards which it is worth to look first, each beyond some condition.

    Example:
        >>> rows = np.array([[1, 0], [0, 1], [1, 1], [1, 2]])  # x, y, x + y, x + 2 y <= 1
        >>> conditions = Conditions(rows, np.full((4, 1), -1), np.array([1.0]))
        >>> found = needed_of(conditions, np.array([-1.0, -1.0]))
        >>> sorted(found.needed), sorted(found.implied), found.unknown
        ([0, 1, 3], [2], [])
    """
    return _FacetSearch(conditions, inside, given).run(others)


def inside_of(conditions: Conditions) -> Floats | None:
    """A point at which all conditions hold by margins beyond rounding; None if none is found."""
    rows, constants = conditions.rows.astype(np.float64), conditions.constants()
    size = rows.shape[1]
    if not len(rows):
        return np.zeros(size)
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    matrix = np.concatenate([np.hstack([rows, norms]), np.eye(1, size + 1, size)])
    guess = guess_optimum(np.eye(1, size + 1, size)[0], matrix, np.append(-constants, 1.0))
    if guess is None or guess.status != "optimal":
        return None
    point = guess.point[:-1]
    sizes = 1 + np.abs(rows) @ np.abs(point) + np.abs(constants)
    return point if (rows @ point + constants < -_CLEAR * sizes).all() else None


class _FacetSearch:
    def __init__(self, conditions: Conditions, inside: Floats, given: int) -> None:
        self.exact = conditions
        self.rows = conditions.rows.astype(np.float64)
        self.sizes = np.abs(self.rows)
        self.constants = conditions.constants()
        numbers = np.abs(conditions.numbers.astype(np.float64))
        self.weights = 1 + numbers @ np.abs(conditions.logs)
        self.inside, self.given = inside, given
        self.gaps = -self.constants - self.rows @ inside
        self.live = np.ones(len(self.rows), dtype=np.bool_)  # not shown to follow
        self.found = Decided()
        self.random = np.random.default_rng(1)

    def run(self, others: Sequence[Floats]) -> Decided:
        count, size = self.rows.shape
        open_ones = set(range(self.given, count))
        if (self.gaps <= 0).any() or not size or not open_ones:
            return Decided(unknown=sorted(open_ones))
        self._shoot(self.rows[self.given : self.given + _MOST_RAYS])
        self._shoot(self.random.standard_normal((2 * size, size)))
        if others:
            towards = np.array(others[:_MOST_RAYS]) - self.inside
            self._shoot(towards[towards.any(axis=1)])
        open_ones -= self.found.needed.keys()
        while open_ones:
            asked = min(open_ones)
            known = np.array([*range(self.given), *sorted(self.found.needed)], dtype=np.int64)
            decided = self._asked(asked, known, np.array(sorted(open_ones)))
            open_ones -= set(decided)
            # Where the ray met another one, that is known now, and this is asked again.
            if asked in open_ones and not self.found.needed.keys() & set(decided):
                open_ones.remove(asked)
                self.found.unknown.append(asked)
        return self.found

    def _asked(self, asked: int, known: _Indices, open_ones: _Indices) -> list[int]:
        """Ask whether one follows from those that are needed; return what is decided by it."""
        row = self.rows[asked]
        guess = guess_optimum(row, self.rows[known], -self.constants[known])
        if guess is None:
            return []
        excess = row @ guess.point + self.constants[asked]
        size = self.weights[asked] + np.abs(row) @ np.abs(guess.point)
        if guess.status == "optimal" and excess <= _NEAR * size:
            implied = self._implied(known[guess.basis], open_ones)
            self.found.implied.update(implied)
            self.live[implied] = False
            return implied
        towards = guess.point - (self.inside if guess.status == "optimal" else 0.0)
        shaken = self.random.standard_normal((10, len(towards)))
        shaken = towards + 1e-4 * np.linalg.norm(towards) * shaken
        return self._shoot(towards[None]) or self._shoot(shaken)

    def _shoot(self, directions: Floats) -> list[int]:
        """The conditions that rays from inside meet first."""
        live = np.flatnonzero(self.live)
        rates = self.rows[live] @ directions.T
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(rates > _TINY, self.gaps[live, None] / rates, np.inf)
        if len(live) < 2:
            times = np.vstack([times, np.full_like(times, np.inf)])
        two = np.argpartition(times, 1, axis=0)[:2]
        found = []
        for k, direction in enumerate(directions):
            first, second = sorted(two[:, k], key=lambda i: times[i, k])
            start, end = times[first, k], times[second, k]
            if not math.isfinite(start) or first >= len(live):
                continue
            met = int(live[first])
            if met < self.given or met in self.found.needed:
                continue
            beyond = (start + end) / 2 if math.isfinite(end) else 2 * start + 1
            point = self.inside + beyond * direction
            if self._alone(met, point):
                self.found.needed[met] = point
                found.append(met)
        return found

    def _alone(self, one: int, point: Floats) -> bool:
        """Whether clearly one fails at a point, and all others hold."""
        excess = self.rows @ point + self.constants
        clear = _CLEAR * (self.weights + self.sizes @ np.abs(point))
        hold = (excess < -clear) | ~self.live
        hold[one] = excess[one] > clear[one]
        return bool(hold.all())

    def _implied(self, basis: _Indices, asked: _Indices) -> list[int]:
        """Which follow from independent conditions, shown by whole numbers."""
        rows = self.rows[basis]
        weights = self.rows[asked] @ np.linalg.pinv(rows)
        fits = np.abs(weights @ rows - self.rows[asked]).max(axis=1, initial=0.0) < _NEAR
        fits &= (weights > -_NEAR).all(axis=1)
        asked, weights = asked[fits], weights[fits]
        found: list[int] = []
        for divisor in range(1, _DIVISORS + 1):
            whole = np.rint(weights * divisor)
            near = (np.abs(whole - weights * divisor) < _NEAR).all(axis=1)
            if near.any():
                found += self._shown(basis, asked[near], whole[near].astype(np.int64), divisor)
                asked, weights = asked[~near], weights[~near]
            if not len(asked):
                return found
        columns, inverse, divisor = _inverse(self.exact.rows[basis].tolist())
        whole = exact_product(self.exact.rows[asked][:, columns], inverse)
        return found + self._shown(basis, asked, whole, divisor)

    def _shown(
        self, basis: _Indices, asked: _Indices, weights: Integers, divisor: int
    ) -> list[int]:
        """Those whose power is a product of powers of others, times a number of at most 1."""
        exact, scale = self.exact, np.array([[divisor]], dtype=object)
        row, number = (
            exact_product(weights, part[basis]) - scale * part[asked].astype(object)
            for part in (exact.rows, exact.numbers)
        )
        holds = (weights >= 0).all(axis=1) & (row == 0).all(axis=1)
        powers = -number.astype(np.float64)
        logs = powers @ exact.logs
        sizes = 1 + np.abs(powers) @ np.abs(exact.logs)
        holds &= (number == 0).all(axis=1) | (logs < -_CLEAR * sizes)
        return [int(i) for i in asked[holds.astype(np.bool_)]]


def _inverse(rows: list[list[int]]) -> tuple[list[int], Integers, int]:
    """Columns in which independent rows are invertible, and the inverse over one divisor."""
    count, width = len(rows), len(rows[0])
    work = [[*row, *(int(i == k) for k in range(count))] for i, row in enumerate(rows)]
    columns: list[int] = []
    divisor = 1
    for i in range(count):
        column = next((j for j in range(width) if work[i][j]), None)
        if column is None:  # they were independent only in floating point
            return [], np.zeros((0, count), dtype=object), 1
        pivot = work[i][column]
        for k in range(count):
            if k != i:
                factor = work[k][column]
                work[k] = [
                    (x * pivot - factor * y) // divisor
                    for x, y in zip(work[k], work[i], strict=True)
                ]
        columns.append(column)
        divisor = pivot
    sign = 1 if divisor > 0 else -1
    inverse = np.array([[sign * x for x in row[width:]] for row in work], dtype=object)
    return columns, inverse, sign * divisor


@dataclass(frozen=True)
class Guess:
    """The optimum of a linear program, in floating point.

    Attributes:
        status: "optimal", or "unbounded": or infeasible.
        point: The optimal point; for "unbounded" a direction in which nothing stops it.
        basis: Rows that determine the optimal value.
    """

    status: str
    point: Floats
    basis: _Indices


def guess_optimum(objective: Floats, matrix: Floats, bounds: Floats) -> Guess | None:
    """Guess the greatest objective . x under matrix x <= bounds; None where that fails.

    The tableau is that of `simplex.maximize`, through the dual, with the steepest column.

    Example:
        >>> found = guess_optimum(np.array([1.0]), np.array([[2.0]]), np.array([3.0]))
        >>> found.status, found.point.tolist()
        ('optimal', [1.5])
    """
    rows, size = matrix.shape
    signs = np.where(objective < 0, -1.0, 1.0)
    tableau = np.hstack([matrix.T, np.eye(size), objective[:, None]])
    tableau[:, :rows] *= signs[:, None]
    tableau[:, -1] *= signs
    basis = np.arange(rows, rows + size)
    cost = np.append(np.zeros(rows), np.ones(size))
    if not _pivoted(tableau, basis, cost, rows):
        return None
    left = basis >= rows
    if (tableau[left, -1] > _NEAR).any():
        direction = cost[basis] @ tableau[:, rows:-1] * signs
        return Guess("unbounded", direction, basis[:0])
    for i in map(int, np.flatnonzero(left)):
        column = int(np.abs(tableau[i, :rows]).argmax()) if rows else 0
        if rows and abs(tableau[i, column]) > _NEAR:
            _pivot(tableau, basis, i, column)
    cost = np.append(bounds, np.zeros(size))
    if not _pivoted(tableau, basis, cost, rows):
        return None
    point = cost[basis] @ tableau[:, rows:-1] * signs
    return Guess("optimal", point, basis[basis < rows])


def _pivoted(tableau: Floats, basis: _Indices, cost: Floats, columns: int) -> bool:
    """Pivot until no column improves; tell whether that was reached."""
    reduced = np.append(cost, 0.0) - cost[basis] @ tableau
    for _ in range(50 + 4 * len(cost)):
        column = int(reduced[:columns].argmin()) if columns else 0
        if not columns or reduced[column] >= -_TINY:
            return True
        entries = tableau[:, column]
        able = np.flatnonzero(entries > _TINY)
        if not len(able):
            return False
        place = int(able[(tableau[able, -1] / entries[able]).argmin()])
        _pivot(tableau, basis, place, column)
        reduced = reduced - reduced[column] * tableau[place]
    return False


def _pivot(tableau: Floats, basis: _Indices, place: int, column: int) -> None:
    tableau[place] /= tableau[place, column]
    factors = tableau[:, column].copy()
    factors[place] = 0.0
    tableau -= factors[:, None] * tableau[place]
    basis[place] = column
