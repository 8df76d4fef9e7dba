"""The exact simplex method: every answer carries its own proof, and HiGHS agrees."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest
from scipy.optimize import linprog

from sampling import Sample, sample
from symscale.algebra.exact.simplex import LinearOptimum, maximize

Vector = list[Fraction]


@dataclass(frozen=True)
class LinearProgram:
    """max objective.x under matrix x <= bounds."""

    objective: Vector
    matrix: list[Vector]
    bounds: Vector


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def combination(program: LinearProgram, weights: Sequence[Fraction]) -> Vector:
    """The rows, each times its weight, added."""
    columns = range(len(program.objective))
    return [dot(weights, [row[k] for row in program.matrix]) for k in columns]


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """Rank by elimination with fractions."""
    work, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(work)) if work[i][column]), None)
        if pivot is None:
            continue
        work[found], work[pivot] = work[pivot], work[found]
        for i in range(found + 1, len(work)):
            factor = work[i][column] / work[found][column]
            work[i] = [x - factor * y for x, y in zip(work[i], work[found], strict=True)]
        found += 1
    return found


def verify(program: LinearProgram, found: LinearOptimum) -> None:
    """Verify what was found by the proof that it carries, with fractions."""
    if found.status == "unbounded":
        assert all(dot(row, found.point) <= 0 for row in program.matrix)
        assert dot(program.objective, found.point) > 0
        return
    assert len(found.multipliers) == len(program.matrix)
    assert all(y >= 0 for y in found.multipliers)
    if found.status == "infeasible":
        assert combination(program, found.multipliers) == [0] * len(program.objective)
        assert dot(program.bounds, found.multipliers) < 0
        return
    rows = zip(program.matrix, program.bounds, strict=True)
    slack = [bound - dot(row, found.point) for row, bound in rows]
    assert all(s >= 0 for s in slack)
    assert combination(program, found.multipliers) == program.objective
    assert dot(program.bounds, found.multipliers) == dot(program.objective, found.point)
    assert all(slack[j] == 0 for j in found.basis)
    assert {j for j, y in enumerate(found.multipliers) if y} <= set(found.basis)
    basis = [program.matrix[j] for j in found.basis]
    assert rank(basis) == len(basis)
    assert rank(basis) == rank(program.matrix)


def random_program(random: Random) -> tuple[str, LinearProgram]:
    """Draw a program of one of several kinds."""
    kind = random.choice(("plain", "planted", "degenerate", "equality", "contradiction"))
    unknowns, rows = random.randint(1, 4), random.randint(0, 7)

    def number() -> Fraction:
        return Fraction(random.randint(-4, 4), random.choice((1, 1, 1, 2, 3)))

    matrix = [[number() for _ in range(unknowns)] for _ in range(rows)]
    bounds = [number() for _ in range(rows)]
    weights = [Fraction(random.randint(0, 3)) for _ in range(rows)]
    if kind != "plain":
        point = [number() for _ in range(unknowns)]
        slack = (0,) if kind == "degenerate" else (0, 1, 3)
        bounds = [dot(row, point) + random.choice(slack) for row in matrix]
    if kind in ("equality", "contradiction") and rows:
        j = random.randrange(rows)
        gap = 0 if kind == "equality" else 1
        matrix.append([-2 * x for x in matrix[j]])
        bounds.append(-2 * bounds[j] - gap)
        weights.append(Fraction(0))
    objective = [number() for _ in range(unknowns)]
    if kind in ("planted", "degenerate", "equality"):
        columns = range(unknowns)
        objective = [dot(weights, [row[k] for row in matrix]) for k in columns]
    return kind, LinearProgram(objective, matrix, bounds)


def programs(those: Sample) -> Iterator[tuple[str, LinearProgram]]:
    random = Random(those.seeds.start + 11)
    for _ in those.seeds:
        yield random_program(random)


def test_every_answer_proves_itself() -> None:
    seen: Counter[str] = Counter()
    degenerate, those = 0, sample(500)
    for kind, program in programs(those):
        found = maximize(program.objective, program.matrix, program.bounds)
        verify(program, found)
        seen[found.status] += 1
        degenerate += kind == "degenerate" and len(program.matrix) > len(program.objective)
    assert min(seen[s] for s in ("optimal", "unbounded", "infeasible")) >= those.least(50), seen
    assert degenerate >= those.least(30)


def test_the_optimum_is_that_of_highs() -> None:
    """A free direction means either unbounded or infeasible; the optimum is a number."""
    compared, those = 0, sample(130)
    for _, program in programs(those):
        if not program.matrix:
            continue
        found = maximize(program.objective, program.matrix, program.bounds)
        result = linprog(
            [-float(x) for x in program.objective],
            A_ub=[[float(x) for x in row] for row in program.matrix],
            b_ub=[float(x) for x in program.bounds],
            bounds=(None, None),
            method="highs",
        )
        assert (result.status == 0) == (found.status == "optimal")
        if found.status == "optimal":
            value = float(dot(program.objective, found.point))
            assert math.isclose(-result.fun, value, rel_tol=1e-8, abs_tol=1e-8)
            compared += 1
        elif found.status == "infeasible":
            assert result.status in (2, 4)
    assert compared >= those.least(45)


def fractions(text: str) -> Vector:
    return [Fraction(x) for x in text.split()]


def test_a_program_that_cycles_without_a_rule() -> None:
    """Beale's: with the steepest column it returns to where it began, six pivots later."""
    third = fractions("0 0 1")
    columns = ["1 0 0", "0 1 0", "0 0 1", "1/4 1/2 0", "-8 -12 0", "-1 -1/2 1", "9 3 0"]
    cost = fractions("0 0 0 -3/4 20 -1/2 6")
    program = LinearProgram(third, [fractions(column) for column in columns], cost)
    found = maximize(program.objective, program.matrix, program.bounds)
    verify(program, found)
    assert dot(program.objective, found.point) == Fraction(-5, 4)


@pytest.mark.parametrize(("goal", "status"), [(0, "optimal"), (1, "unbounded"), (-1, "unbounded")])
def test_no_constraints(goal: int, status: str) -> None:
    program = LinearProgram([Fraction(goal), Fraction(0)], [], [])
    found = maximize(program.objective, program.matrix, program.bounds)
    assert found.status == status
    verify(program, found)


def test_a_contradiction_in_one_row() -> None:
    """The row 0 <= -1 alone is the proof."""
    zero, one = Fraction(0), Fraction(1)
    program = LinearProgram([zero], [[zero], [one]], [-one, one])
    found = maximize(program.objective, program.matrix, program.bounds)
    assert found.status == "infeasible"
    verify(program, found)
