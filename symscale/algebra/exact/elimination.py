"""Gaussian elimination over any field: equalities out, points in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Vector = list[Any]


@dataclass(frozen=True)
class Echelon:
    """The reduced row echelon form of a matrix, with the row operations.

    Attributes:
        rows: Nonzero rows, each with a 1 in its pivot column.
        pivots: The pivot column of each row.
        operations: For each row, the combination of input rows that it is.
        null_operations: Combinations of input rows that vanish.
        divisors: The pivots divided by that are no plain numbers.
    """

    rows: list[Vector]
    pivots: list[int]
    operations: list[Vector]
    null_operations: list[Vector]
    divisors: Vector

    def reduce(self, vector: Sequence[Any]) -> tuple[Vector, Vector]:
        """Remove the pivot columns from a vector.

        Returns:
            The reduced vector, and the combination of input rows subtracted.
        """
        reduced = list(vector)
        count = len(self.operations[0]) if self.operations else 0
        used: Vector = [0] * count
        for row, pivot, operation in zip(self.rows, self.pivots, self.operations, strict=True):
            factor = vector[pivot]
            if factor:
                reduced = [x - factor * y if y else x for x, y in zip(reduced, row, strict=True)]
                used = [x + factor * y if y else x for x, y in zip(used, operation, strict=True)]
        return reduced, used


def echelon(
    matrix: Sequence[Sequence[Any]], one: Any, avoid: Sequence[int] | None = None
) -> Echelon:
    """Bring a matrix of field elements to reduced row echelon form.

    Among the possible pivots of a row a plain number is preferred, since it is
    nonzero whatever the exponents are, and then a column that is seldom to avoid.

    Args:
        matrix: Rows of field elements.
        one: The field's 1.
        avoid: For each column how unwelcome a pivot there is.
    """
    count = len(matrix)
    work = [
        (list(row), [one if i == k else one - one for k in range(count)])
        for i, row in enumerate(matrix)
    ]
    rows: list[Vector] = []
    operations: list[Vector] = []
    pivots: list[int] = []
    null: list[Vector] = []
    divisors: Vector = []
    for i in range(count):
        row, operation = work[i]
        columns = [j for j, x in enumerate(row) if x]
        if not columns:
            null.append(operation)
            continue
        pivot = min(columns, key=lambda j: (not is_number(row[j]), avoid[j] if avoid else 0, j))
        if not is_number(row[pivot]):
            divisors.append(row[pivot])
        inverse = one / row[pivot]
        row = [x * inverse for x in row]
        operation = [x * inverse for x in operation]
        work[i + 1 :] = [_without(r, o, row, operation, pivot) for r, o in work[i + 1 :]]
        earlier = [
            _without(r, o, row, operation, pivot) for r, o in zip(rows, operations, strict=True)
        ]
        rows = [r for r, _ in earlier] + [row]
        operations = [o for _, o in earlier] + [operation]
        pivots.append(pivot)
    return Echelon(rows, pivots, operations, null, divisors)


def _without(
    row: Vector, operation: Vector, pivot_row: Vector, pivot_operation: Vector, pivot: int
) -> tuple[Vector, Vector]:
    factor = row[pivot]
    if not factor:
        return row, operation
    return (
        [x - factor * y for x, y in zip(row, pivot_row, strict=True)],
        [x - factor * y for x, y in zip(operation, pivot_operation, strict=True)],
    )


def is_number(value: Any) -> bool:
    """Whether a field element is a plain number."""
    numerator = getattr(value, "numer", None)
    if numerator is None:
        return True
    return bool(numerator.is_ground and value.denom.is_ground)
