"""Covers of a box in several numbers: rectangles with a tangent near enough at all corners.

The least sum less a tangent is convex in the logarithms of the numbers, so that it is
nowhere on a rectangle more than at its corners.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from symscale.algebra.tangents.convex import Array, Solution
from symscale.algebra.tangents.normal import NormalForm, Place
from symscale.algebra.tangents.samples import Tangents, cover_points, solve_at
from symscale.errors import NoAnswerError

Progress = Callable[[str], None]
_SAMPLES = {2: 15, 3: 7, 4: 5}  # a side, of the grid of points that are covered first
_PART = 0.75  # of the share that these use: what is left lets rectangles overlap
_LATE = 0.9  # of the share, from which on a rectangle's middle needs a tangent of its own
_MOST_CORNERS = {2: 4000, 3: 1500, 4: 1500}
_SMALLEST = Fraction(1, 2**12)
_SPARE = 5e-5  # of the share, for the corners' points


@dataclass(frozen=True)
class Cell:
    """A rectangle cut in two.

    Attributes:
        number: Which number is cut.
        at: Where, from 0 to 1 of the whole box.
        below: The tangent below the cut, or a further cut.
        above: The same above it.
    """

    number: int
    at: Fraction
    below: "Cell | int"
    above: "Cell | int"


@dataclass(frozen=True)
class CellCover:
    """Tangents, and the rectangles on which each is near enough."""

    tangents: Tangents
    tree: Cell | int
    corners: tuple[Place, ...]


def cell_cover(
    form: NormalForm, low: Array, high: Array, share: float, most: int, progress: Progress
) -> CellCover:
    """Cover a box in two to four numbers.

    Args:
        form: The program.
        low: The logarithms of the least numbers.
        high: Those of the greatest.
        share: How near the tangents must be.
        most: How many there may be.
        progress: Told how far it is.

    Raises:
        InfeasibleError: If no point satisfies the constraints somewhere in the box.
        NoAnswerError: If more would be needed, or it takes too many corners.
    """
    return _Cells(form, low, high, share, most, progress).cover()


class _Cells:
    def __init__(
        self, form: NormalForm, low: Array, high: Array, share: float, most: int,
        progress: Progress,
    ) -> None:
        self.low, self.high, self.progress = low, high, progress
        self.form, self.size = form, len(low)
        self.room = float(np.log1p(share)) - _SPARE
        self.tangents = Tangents(form, most)
        self.solved: dict[Place, Solution] = {}
        self.corners: set[Place] = set()
        self.used: set[int] = set()

    def cover(self) -> CellCover:
        """The tangents and the tree of rectangles."""
        for place in product((Fraction(0), Fraction(1)), repeat=self.size):
            self.at(place)  # where there is none at a corner, there is nothing to prove
        sides = [np.linspace(a, b, _SAMPLES[self.size])
                 for a, b in zip(self.low, self.high, strict=True)]
        points = np.array(np.meshgrid(*sides)).reshape(self.size, -1).T
        solved = solve_at(self.form, points, self.progress, "grid")
        cover_points(self.tangents, solved, self.room, _PART)
        whole = ((Fraction(0), Fraction(1)),) * self.size
        tree = self.cell(whole)
        used = sorted(self.used)
        self.tangents.keep(used)
        return CellCover(
            self.tangents, _renumbered(tree, {k: i for i, k in enumerate(used)}),
            tuple(sorted(self.corners)),
        )

    def where(self, place: Place) -> Array:
        """The logarithms of the numbers at a place."""
        return np.asarray(self.low + np.array([float(u) for u in place]) * (self.high - self.low))

    def at(self, place: Place) -> Solution:
        """The optimum at a place."""
        if place not in self.solved:
            if len(self.solved) > _MOST_CORNERS[self.size]:
                raise NoAnswerError("the box takes too many rectangles")
            self.progress(f"{len(self.solved)} corners, {len(self.tangents.bounds)} pieces")
            self.solved[place] = self.form.solve(self.where(place))
        return self.solved[place]

    def cell(self, sides: tuple[tuple[Fraction, Fraction], ...]) -> Cell | int:
        """A rectangle's tangent, or how it is cut."""
        corners = list(product(*sides))
        values = np.array([self.at(c).value for c in corners])
        points = np.array([self.where(c) for c in corners])
        gaps = values - self.tangents.values(points)
        best = int(gaps.max(axis=1).argmin())
        if gaps[best].max() <= self.room:
            self.corners.update(corners)
            self.used.add(best)
            return best
        middle = tuple((a + b) / 2 for a, b in sides)
        here = self.at(middle)
        lacks = here.value - self.tangents.values(self.where(middle)[None, :]).max()
        if lacks > _LATE * self.room:
            self.tangents.add(
                here.shares, self.where(middle), [self.where(middle)], [here.value - self.room / 4]
            )
            return self.cell(sides)
        shape = gaps[best].reshape((2,) * self.size)
        change = [float(abs(np.diff(shape, axis=k)).max()) for k in range(self.size)]
        wide = [k for k, (a, b) in enumerate(sides) if b - a > _SMALLEST]
        if not wide:
            raise NoAnswerError("the box takes too many rectangles")
        k = max(wide, key=lambda k: change[k])
        low, high = sides[k]
        halves = [
            self.cell((*sides[:k], half, *sides[k + 1 :]))
            for half in ((low, middle[k]), (middle[k], high))
        ]
        return Cell(k, middle[k], *halves)


def _renumbered(tree: Cell | int, new: dict[int, int]) -> Cell | int:
    if isinstance(tree, int):
        return new[tree]
    return Cell(
        tree.number, tree.at, _renumbered(tree.below, new), _renumbered(tree.above, new)
    )
