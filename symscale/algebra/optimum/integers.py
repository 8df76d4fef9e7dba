"""The best whole numbers: corners around the continuous optimum, then branch and bound.

Every box of whole numbers that is left out has a relaxation, the problem with real
variables in the box, that is infeasible or no better than the best point found.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product

import numpy as np
import sympy as sp

from symscale.algebra.sums.numeric import LogProgram, LogSum, in_logarithms, least
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import InfeasibleError, NoAnswerError

MAX_CANDIDATES = 100_000
_CORNERS = 10  # variables whose corners are all looked at: 2^10 of them
_WHOLE = 1e-7  # a number this near to a whole one, relatively, is whole
_BETTER = 1e-9  # of a logarithm: what gains less is no better


@dataclass(frozen=True)
class WholePoint:
    """Whole numbers, and the optimum with these fixed.

    Attributes:
        numbers: Of each integer variable.
        value: The optimum of the rest.
    """

    numbers: Mapping[sp.Symbol, int]
    value: float


@dataclass(frozen=True)
class IntegerOptimum:
    """The best whole numbers.

    Attributes:
        best: The best that was found; None if no whole numbers are feasible, or none
            was found.
        corners: The feasible corners of the box around the continuous optimum, the best first.
        candidates: How many boxes of whole numbers, single points among them, were examined.
        proved: Whether none is better, or none feasible.
    """

    best: WholePoint | None
    corners: tuple[WholePoint, ...]
    candidates: int
    proved: bool


def best_integers(
    program: GeometricProgram,
    values: Mapping[sp.Symbol, sp.Rational],
    integer: Sequence[sp.Symbol],
    limit: int = MAX_CANDIDATES,
) -> IntegerOptimum:
    """Find the best whole numbers of at least 1.

    Args:
        program: The program.
        values: Its parameters.
        integer: The variables that must be whole.
        limit: The most candidates to examine.

    Raises:
        InfeasibleError: If no point is feasible, whole or not.
        UnboundedError: If there is no least value.
        NoAnswerError: If the search for the continuous optimum does not converge.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.exact.monomial import Monomial
        >>> from symscale.language.symbols import symbols
        >>> (x,) = symbols("N")
        >>> terms = Monomial.of(x), Monomial.of(7/x)
        >>> best_integers(GeometricProgram((x,), terms, (), Domain()), {}, (x,)).best.numbers
        {N: 3}
    """
    rows = in_logarithms(program, values)
    search = _BranchAndBound(rows, [program.variables.index(x) for x in integer], limit)
    search.run()
    sign = -1.0 if program.inverse else 1.0

    def point(numbers: tuple[int, ...], size: float) -> WholePoint:
        return WholePoint(dict(zip(integer, numbers, strict=True)), float(np.exp(sign * size)))

    corners = sorted(search.corners.items(), key=lambda item: (item[1], item[0]))
    best = None if search.best is None else point(search.best, search.size)
    return IntegerOptimum(
        best, tuple(point(*item) for item in corners), search.candidates, search.proved
    )


_Box = tuple[tuple[int, int | None], ...]


@dataclass
class _BranchAndBound:
    """Branch and bound over boxes of whole numbers."""

    rows: LogProgram
    places: list[int]
    limit: int
    best: tuple[int, ...] | None = None
    size: float = np.inf
    candidates: int = 0
    proved: bool = True
    corners: dict[tuple[int, ...], float] = field(default_factory=dict)
    known: dict[_Box, tuple[float, np.ndarray] | None] = field(default_factory=dict)

    def run(self) -> None:
        """Corners first, then boxes, that with the best relaxation first."""
        root: _Box = ((1, None),) * len(self.places)
        self._corners(least(self.rows))
        order = count()
        first = self._relaxed(root)
        queue = [] if first is None else [(first[0], next(order), root, first[1])]
        while queue:
            bound, _, box, x = heapq.heappop(queue)
            if bound >= self.size - _BETTER:
                break
            if self.candidates >= self.limit:
                self.proved = False
                break
            self._try(tuple(max(1, round(t)) for t in x), box)
            if bound >= self.size - _BETTER:
                break
            for part in _split(box, x):
                found = self._relaxed(part)
                if found is not None and found[0] < self.size - _BETTER:
                    heapq.heappush(queue, (found[0], next(order), part, found[1]))

    def _corners(self, x: np.ndarray) -> None:
        at = np.exp([x[k] for k in self.places])
        ends = [sorted({max(1, int(np.floor(t * (1 + _WHOLE)))),
                        max(1, int(np.ceil(t * (1 - _WHOLE))))}) for t in at]
        if len(ends) > _CORNERS:
            return
        for numbers in product(*ends):
            found = self._try(numbers)
            if found is not None:
                self.corners[numbers] = found

    def _try(self, numbers: tuple[int, ...], box: _Box | None = None) -> float | None:
        """Fix all whole numbers, within a box if one is given."""
        if box is not None:
            numbers = tuple(
                min(max(n, low), n if high is None else high)
                for n, (low, high) in zip(numbers, box, strict=True)
            )
        found = self._relaxed(tuple((n, n) for n in numbers))
        if found is None:
            return None
        if found[0] < self.size - (_BETTER if self.best else 0.0):
            self.best, self.size = numbers, found[0]
        return found[0]

    def _relaxed(self, box: _Box) -> tuple[float, np.ndarray] | None:
        """The least logarithm of the objective in a box and where; None if it is infeasible."""
        if box not in self.known:
            self.candidates += 1
            self.known[box] = self._solved(box)
        found = self.known[box]
        if found is not None and all(low == high for low, high in box):
            numbers = tuple(low for low, _ in box)
            if found[0] < self.size - (_BETTER if self.best else 0.0):
                self.best, self.size = numbers, found[0]
        return found

    def _solved(self, box: _Box) -> tuple[float, np.ndarray] | None:
        sums, equal = list(self.rows.sums), list(self.rows.equal)
        names = list(self.rows.names)
        for k, (low, high) in zip(self.places, box, strict=True):
            axis = np.eye(self.rows.variables)[k: k + 1]
            if low == high:
                equal.append(LogSum(axis, np.array([-np.log(low)])))
                continue
            sums.append(LogSum(-axis, np.array([np.log(low)])))
            names.append("at least")
            if high is not None:
                sums.append(LogSum(axis, np.array([-np.log(high)])))
                names.append("at most")
        inside = self.rows._replace(sums=sums, equal=equal, names=names)
        try:
            x = least(inside)
        except InfeasibleError:
            return None
        except NoAnswerError:
            self.proved = False  # not known: neither a point nor a reason to leave it out
            return None
        return self.rows.objective.log(x), np.exp([x[k] for k in self.places])


def _split(box: _Box, point: np.ndarray) -> Iterator[_Box]:
    """Boxes that hold the same whole numbers, without reals about the relaxation's point.

    Along the variable that is the farthest from whole; where all are whole, along the first
    that is not fixed: its number, below it, above it.
    """
    x = [float(value) for value in point]
    wide = [k for k, (low, high) in enumerate(box) if low != high]
    if not wide:
        return
    k = max(wide, key=lambda k: abs(x[k] - round(x[k])) / max(x[k], 1.0))
    low, high = box[k]
    near = max(low, round(x[k]))
    if abs(x[k] - near) > _WHOLE * max(x[k], 1.0):
        down = max(low, int(np.floor(x[k])))
        parts = [(low, down), (down + 1, high)]
    else:
        parts = [(low, near - 1), (near, near), (near + 1, high)]
    for first, last in parts:
        if last is None or first <= last:
            yield (*box[:k], (first, last), *box[k + 1:])
