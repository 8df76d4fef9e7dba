"""An exact linear program over rationals: max o.x under A x <= c, x free.

It is solved through its dual (min c.y, A'y = o, y >= 0) by the two-phase simplex
method with Bland's rule, on whole numbers over one divisor. One run gives the optimum,
the multipliers y, a point x that attains it, and where there is none the proof: a
direction in which the objective grows for ever, or multipliers that show a contradiction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Row = Sequence[Fraction]


@dataclass(frozen=True)
class LinearOptimum:
    """What `maximize` found.

    Attributes:
        status: "optimal", "unbounded" (or infeasible: the direction shows that no
            bound on the objective follows from the constraints) or "infeasible".
        point: The optimal x; for "unbounded" the free direction.
        multipliers: The optimal y; for "infeasible" the contradiction's.
        basis: Rows of A that determine the point.
    """

    status: Literal["optimal", "unbounded", "infeasible"]
    point: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    basis: tuple[int, ...]


def maximize(objective: Row, matrix: Sequence[Row], bounds: Row) -> LinearOptimum:
    """Maximise objective.x under matrix x <= bounds, x free in sign.

    Example:
        >>> one = Fraction(1)
        >>> found = maximize([one], [[Fraction(2)]], [Fraction(3)])
        >>> found.status, found.point
        ('optimal', (Fraction(3, 2),))
    """
    unknowns, rows = len(objective), len(matrix)
    # Tableau of the dual: one row an unknown x, one column a multiplier y, then one
    # artificial column an x, then the right-hand side. Signs make the latter nonnegative,
    # and scales make all whole; an artificial variable is scaled along with its row.
    scales = [
        math.lcm(o.denominator, *(row[i].denominator for row in matrix)) * (-1 if o < 0 else 1)
        for i, o in enumerate(objective)
    ]
    tableau = _Tableau(
        [
            [*(_whole(s * row[i]) for row in matrix), *(int(k == i) for k in range(unknowns)),
             _whole(s * objective[i])]
            for i, s in enumerate(scales)
        ],
        [rows + i for i in range(unknowns)],
    )
    common = math.lcm(*scales)
    tableau.price([0] * rows + [common // abs(s) for s in scales])
    tableau.optimize(rows + unknowns)
    if any(row[-1] > 0 for row, j in zip(tableau.rows, tableau.basis, strict=True) if j >= rows):
        return LinearOptimum("unbounded", tableau.prices(rows, scales, common), (), ())
    tableau.drive_out(rows)
    common = math.lcm(*(Fraction(b).denominator for b in bounds))
    tableau.price([_whole(common * b) for b in bounds] + [0] * unknowns)
    entering = tableau.optimize(rows)
    y = [Fraction(0)] * rows
    for row, j in zip(tableau.rows, tableau.basis, strict=True):
        if j < rows:
            y[j] = Fraction(row[-1] if entering is None else -row[entering], tableau.divisor)
    if entering is not None:
        y[entering] = Fraction(1)
        return LinearOptimum("infeasible", (), tuple(y), ())
    x = tableau.prices(rows, scales, common)
    basis = tuple(sorted(j for j in tableau.basis if j < rows))
    return LinearOptimum("optimal", x, tuple(y), basis)


class _Tableau:
    """A tableau of whole numbers over one divisor, with a row of reduced costs."""

    def __init__(self, rows: list[list[int]], basis: list[int]) -> None:
        self.rows = rows
        self.basis = basis
        self.divisor = 1
        self.cost: Sequence[int] = ()
        self.reduced: list[int] = []

    def price(self, cost: Sequence[int]) -> None:
        """Set the cost of each column, and find the reduced costs."""
        self.cost = cost
        self.reduced = [self.divisor * c for c in cost]
        for row, j in zip(self.rows, self.basis, strict=True):
            if cost[j]:
                self.reduced = [
                    r - cost[j] * x if x else r for r, x in zip(self.reduced, row, strict=False)
                ]

    def optimize(self, columns: int) -> int | None:
        """Pivot until no column improves; return one along which the cost falls for ever."""
        while True:
            entering = next((j for j in range(columns) if self.reduced[j] < 0), None)
            if entering is None:
                return None
            leaving = None
            for i, row in enumerate(self.rows):
                if row[entering] > 0:
                    least = self.rows[leaving] if leaving is not None else row
                    first, second = row[-1] * least[entering], least[-1] * row[entering]
                    if leaving is None or (first, self.basis[i]) < (second, self.basis[leaving]):
                        leaving = i
            if leaving is None:
                return entering
            self.pivot(leaving, entering)

    def pivot(self, place: int, column: int) -> None:
        """Bring a column into the basis; every division is without remainder."""
        chosen = self.rows[place]
        if chosen[column] < 0:
            chosen = self.rows[place] = [-x for x in chosen]
        pivot, divisor = chosen[column], self.divisor
        for i, row in enumerate(self.rows):
            if i != place:
                self.rows[i] = _combined(row, chosen, column, pivot, divisor)
        self.reduced = _combined(self.reduced, chosen, column, pivot, divisor)
        self.divisor = pivot
        self.basis[place] = column

    def drive_out(self, rows: int) -> None:
        """Pivot artificial columns out of the basis; rows where none can go are redundant."""
        for i, j in enumerate(self.basis):
            if j >= rows:
                column = next((k for k in range(rows) if self.rows[i][k]), None)
                if column is not None:
                    self.pivot(i, column)

    def prices(self, rows: int, scales: Sequence[int], common: int) -> tuple[Fraction, ...]:
        """The simplex prices: the primal point x, read off the artificial columns."""
        costly = [(self.cost[j], row) for row, j in zip(self.rows, self.basis, strict=True)
                  if self.cost[j]]
        return tuple(
            Fraction(s * sum(c * row[rows + k] for c, row in costly), self.divisor * common)
            for k, s in enumerate(scales)
        )


def _combined(
    row: list[int], chosen: list[int], column: int, pivot: int, divisor: int
) -> list[int]:
    """A row without a column: what it is of the new divisor."""
    factor = row[column]
    if not factor:
        return row if pivot == divisor else [x * pivot // divisor for x in row]
    return [
        (x * pivot - factor * y) // divisor for x, y in zip(row, chosen, strict=False)
    ]


def _whole(value: Fraction) -> int:
    return value.numerator
