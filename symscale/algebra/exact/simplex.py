"""An exact linear program over rationals: max o.x under A x <= c, x free.

It is solved through its dual (min c.y, A'y = o, y >= 0) by the two-phase simplex
method with Bland's rule. One run gives the optimum, the multipliers y, a point x
that attains it, and where there is none the proof: a direction in which the
objective grows for ever, or multipliers that show a contradiction.
"""

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
    # artificial column an x, then the right-hand side. Signs make the latter nonnegative.
    flip = [-1 if o < 0 else 1 for o in objective]
    tableau = [
        [flip[i] * matrix[j][i] for j in range(rows)]
        + [Fraction(int(k == i)) for k in range(unknowns)]
        + [flip[i] * objective[i]]
        for i in range(unknowns)
    ]
    basis = [rows + i for i in range(unknowns)]
    phase_one = [Fraction(0)] * rows + [Fraction(1)] * unknowns
    _optimize(tableau, basis, phase_one, rows + unknowns)
    infeasibility = sum(
        (tableau[i][-1] for i in range(unknowns) if basis[i] >= rows), Fraction(0)
    )
    if infeasibility > 0:
        x = _prices(tableau, basis, phase_one, rows, flip)
        return LinearOptimum("unbounded", x, (), ())
    _drive_out(tableau, basis, rows)
    phase_two = [Fraction(b) for b in bounds] + [Fraction(0)] * unknowns
    entering = _optimize(tableau, basis, phase_two, rows)
    y = [Fraction(0)] * rows
    if entering is not None:
        y[entering] = Fraction(1)
        for i, j in enumerate(basis):
            if j < rows:
                y[j] = -tableau[i][entering]
        return LinearOptimum("infeasible", (), tuple(y), ())
    for i, j in enumerate(basis):
        if j < rows:
            y[j] = tableau[i][-1]
    x = _prices(tableau, basis, phase_two, rows, flip)
    return LinearOptimum("optimal", x, tuple(y), tuple(sorted(j for j in basis if j < rows)))


def _optimize(
    tableau: list[list[Fraction]], basis: list[int], cost: Row, columns: int
) -> int | None:
    """Pivot until no column improves; return a column along which the cost falls for ever."""
    reduced = _reduced_costs(tableau, basis, cost, columns)
    while True:
        entering = next((j for j in range(columns) if reduced[j] < 0), None)
        if entering is None:
            return None
        leaving, least = None, None
        for i, row in enumerate(tableau):
            if row[entering] > 0:
                ratio = row[-1] / row[entering]
                if least is None or (ratio, basis[i]) < (least, basis[leaving or 0]):
                    leaving, least = i, ratio
        if leaving is None:
            return entering
        _pivot(tableau, leaving, entering)
        basis[leaving] = entering
        factor, row = reduced[entering], tableau[leaving]
        reduced = [r - factor * row[j] if row[j] else r for j, r in enumerate(reduced)]


def _reduced_costs(
    tableau: list[list[Fraction]], basis: list[int], cost: Row, columns: int
) -> list[Fraction]:
    reduced = [Fraction(cost[j]) for j in range(columns)]
    for i, j in enumerate(basis):
        if cost[j]:
            reduced = [r - cost[j] * tableau[i][k] for k, r in enumerate(reduced)]
    return reduced


def _pivot(tableau: list[list[Fraction]], row: int, column: int) -> None:
    pivot = tableau[row][column]
    tableau[row] = [x / pivot if x else x for x in tableau[row]]
    for i, other in enumerate(tableau):
        if i != row and other[column]:
            factor = other[column]
            tableau[i] = [
                x - factor * y if y else x for x, y in zip(other, tableau[row], strict=True)
            ]


def _drive_out(tableau: list[list[Fraction]], basis: list[int], rows: int) -> None:
    """Pivot artificial columns out of the basis; rows where none can go are redundant."""
    for i, j in enumerate(basis):
        if j >= rows:
            column = next((k for k in range(rows) if tableau[i][k]), None)
            if column is not None:
                _pivot(tableau, i, column)
                basis[i] = column


def _prices(
    tableau: list[list[Fraction]], basis: list[int], cost: Row, rows: int, flip: list[int]
) -> tuple[Fraction, ...]:
    """The simplex prices: the primal point x, read off the artificial columns."""
    return tuple(
        flip[k]
        * sum(
            (cost[j] * tableau[i][rows + k] for i, j in enumerate(basis) if cost[j]), Fraction(0)
        )
        for k in range(len(tableau))
    )
