"""Covers of many points: few tangents, each near enough at some, until fresh points are too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from symscale.algebra.tangents.convex import Array
from symscale.algebra.tangents.normal import NormalForm
from symscale.algebra.tangents.rounding import DENOMINATORS, Rounding, TangentBound
from symscale.errors import InfeasibleError, NoAnswerError

Progress = Callable[[str], None]
_MOST_JUDGED = 40  # points that a tangent must be near, of those where it is the best


@dataclass
class Tangents:
    """Tangents of a program, rounded, and what they are worth at points.

    Attributes:
        form: The program.
        most: How many there may be.
        bounds: The tangents.
        touches: The logarithms of the numbers at which each was taken.
    """

    form: NormalForm
    most: int
    bounds: list[TangentBound] = field(default_factory=list)
    touches: list[Array] = field(default_factory=list)

    def add(
        self, shares: Array, touch: Array, at: Sequence[Array], needed: Sequence[float]
    ) -> bool:
        """Add the tangent of some shares if, rounded, it reaches what is needed at points.

        Raises:
            NoAnswerError: If there are as many as there may be.
        """
        if len(self.bounds) >= self.most:
            raise NoAnswerError(f"more than {self.most} pieces are needed")
        offsets = [self.form.offsets(y) for y in at]
        try:
            bound = Rounding(self.form.table, shares).nearest(offsets, needed, DENOMINATORS)
        except NoAnswerError:
            return False
        self.bounds.append(bound)
        self.touches.append(touch)
        return True

    def values(self, points: Array) -> Array:
        """For each tangent a row: the logarithm of what it bounds the least sum by."""
        form = self.form
        rows = np.array([b.row for b in self.bounds]).reshape(len(self.bounds), -1)
        levels = np.array([b.level for b in self.bounds]) + rows @ form.table.numbers
        return np.asarray(levels[:, None] + rows @ form.slopes @ points.T)

    def keep(self, used: Sequence[int]) -> None:
        """Leave out all but some."""
        self.bounds = [self.bounds[k] for k in used]
        self.touches = [self.touches[k] for k in used]


@dataclass(frozen=True)
class Solved:
    """Optima at points where there are some.

    Attributes:
        points: The logarithms of the numbers.
        values: The logarithms of the least sums.
        shares: Of each point the shares.
        missed: How many points have none.
    """

    points: Array
    values: Array
    shares: Array
    missed: int


def solve_at(form: NormalForm, points: Array, progress: Progress, what: str) -> Solved:
    """Solve at points.

    Raises:
        InfeasibleError: If no point satisfies the constraints at any of them.
    """
    kept, found = [], []
    for k, y in enumerate(points):
        progress(f"{what}: {k} of {len(points)} points solved")
        try:
            found.append(form.solve(y))
        except NoAnswerError:
            continue
        kept.append(y)
    if not kept:
        raise InfeasibleError("no point of the box satisfies the constraints")
    return Solved(
        np.array(kept), np.array([s.value for s in found]), np.array([s.shares for s in found]),
        len(points) - len(kept),
    )


def cover_points(tangents: Tangents, solved: Solved, room: float, part: float) -> None:
    """Add tangents until each point has one near enough, as few as a greedy choice finds.

    Args:
        tangents: What they are added to.
        solved: The points.
        room: How near, in logarithms.
        part: Which part of that the choice uses; the rest is for the rounding of shares.

    Raises:
        NoAnswerError: If more tangents would be needed than there may be.
    """
    form = tangents.form
    offsets = form.offsets(np.zeros(len(form.scaling.numbers)))
    levels = form.table.bound(solved.shares, offsets)
    values = levels[:, None] + solved.shares @ form.slopes @ solved.points.T
    near = solved.values - values <= part * room
    chosen = _greedy(near)
    if len(chosen) > tangents.most:
        reached = near[chosen[: tangents.most]].any(axis=0).sum()
        raise NoAnswerError(
            f"more than {tangents.most} pieces are needed: so many reach {reached} of "
            f"{len(solved.points)} points"
        )
    best = np.array(chosen)[values[chosen].argmax(axis=0)]
    for k in chosen:
        own = np.flatnonzero(best == k)
        own = _outer(own, solved.points) if len(own) else np.array([k])
        needed = [float(v) - room for v in solved.values[own]]
        tangents.add(solved.shares[k], solved.points[k], list(solved.points[own]), needed)


def _outer(own: Array, points: Array) -> Array:
    """The outermost of some points: what is near enough at these is so between them."""
    if len(own) <= _MOST_JUDGED:
        return own
    directions = np.random.default_rng(len(own)).normal(size=(points.shape[1], _MOST_JUDGED))
    return np.unique(own[(points[own] @ directions).argmax(axis=0)])


def _greedy(near: Array) -> list[int]:
    """Rows that together cover all columns: each time the one that covers most of the rest."""
    left = np.ones(near.shape[1], bool)
    chosen: list[int] = []
    while left.any():
        k = int((near & left).sum(axis=1).argmax())
        chosen.append(k)
        left &= ~near[k]
    for k in list(chosen):  # those that later ones made needless
        rest = [c for c in chosen if c != k]
        if rest and near[rest].any(axis=0).all():
            chosen = rest
    return chosen
