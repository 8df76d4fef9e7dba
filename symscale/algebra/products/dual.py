"""The dual of a program: the products of its constraints that bound it, or must be at most 1."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import sympy as sp

from symscale.algebra.exact.cone import extreme_rays
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.elimination import Echelon, echelon, is_number
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.products.program import Program

Multipliers: TypeAlias = tuple[sp.Expr, ...]
"""A vertex or ray of the dual: the power of each constraint, equalities included."""


def dual_of_cell(
    program: Program,
    cell: Domain,
    max_rays: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Multipliers], list[Multipliers]]:
    """Find the vertices and rays of a program's dual, with its exponents in a cell.

    Raises:
        TooLargeError: If more than `max_rays` rays are needed on the way.
        IndeterminateSignError: If a decision changes within the cell.
    """
    scalars = scalars_for(program.exponent_symbols, cell)
    dual = _reduced_dual(program, scalars)
    found = extreme_rays(
        dual.equations, len(dual.inequalities) + 1, scalars, max_rays=max_rays, progress=progress
    )
    vertices = [_multipliers(program, dual, ray.entries) for ray in found if ray.entries[-1]]
    rays = [_multipliers(program, dual, ray.entries) for ray in found if not ray.entries[-1]]
    for operation in dual.form.null_operations:
        weights = [sp.Integer(0)] * len(program.constraints)
        for i, value in zip(dual.equalities, operation, strict=True):
            weights[i] = field_to_expr(scalars, value)
        rays += [tuple(weights), tuple(-w for w in weights)]
    return vertices, rays


class _ReducedDual(NamedTuple):
    """The dual without the multipliers of equalities, which follow from the others."""

    scalars: Scalars
    equalities: list[int]  # their positions among the constraints
    inequalities: list[int]
    form: Echelon  # of the equalities
    used: list[list[Any]]  # what was subtracted from each inequality, and from the objective
    equations: list[list[Any]]  # of the inequalities' multipliers, and a scale


def _reduced_dual(program: Program, scalars: Scalars) -> _ReducedDual:
    sense = 1 if program.sense == "maximize" else -1
    equalities = [i for i, c in enumerate(program.constraints) if c.is_equality]
    inequalities = [i for i, c in enumerate(program.constraints) if not c.is_equality]
    matrix = exponent_matrix(program, scalars)
    objective = [
        scalars.convert(sense * program.objective.exponent(x)) for x in program.variables
    ]
    # Eliminating a column with symbolic exponents would spread them over the others.
    symbolic = [sum(not is_number(row[k]) for row in matrix) for k in range(len(objective))]
    form = echelon([matrix[i] for i in equalities], scalars.convert(sp.Integer(1)), symbolic)
    for divisor in form.divisors:
        scalars.sign(divisor.numer)  # it must not vanish
    reduced = [form.reduce(row) for row in (*(matrix[i] for i in inequalities), objective)]
    *rows, goal = (row for row, _ in reduced)
    equations = [
        scalars.clear([row[k] for row in rows] + [-goal[k]])
        for k in range(len(program.variables))
        if k not in form.pivots
    ]
    used = [used for _, used in reduced]
    return _ReducedDual(scalars, equalities, inequalities, form, used, equations)


def _multipliers(program: Program, dual: _ReducedDual, entries: Sequence[Any]) -> Multipliers:
    """The powers of all constraints, from a ray's entries: for the inequalities, and a scale."""
    scalars = dual.scalars
    *y, scale = entries
    weights = [sp.Integer(0)] * len(program.constraints)
    divisor = scale or _one_of(y)
    for i, value in zip(dual.inequalities, y, strict=True):
        if value:
            weights[i] = scalars.to_expr(value, divisor)
    if not dual.form.operations:
        return tuple(weights)
    *used, goal_used = dual.used
    for position, i in enumerate(dual.equalities):
        total = field_to_expr(scalars, goal_used[position]) if scale else sp.Integer(0)
        for row, j in zip(used, dual.inequalities, strict=True):
            if row[position] and weights[j] != 0:
                total -= weights[j] * field_to_expr(scalars, row[position])
        weights[i] = sp.cancel(total) if total.free_symbols else total
    return tuple(weights)


def exponent_matrix(program: Program, scalars: Scalars) -> list[list[Any]]:
    """The exponents of the variables in each constraint's ratio, as field elements."""
    return [
        [scalars.convert(constraint.ratio.exponent(x)) for x in program.variables]
        for constraint in program.constraints
    ]


def _one_of(entries: Sequence[Any]) -> Any:
    """A divisor that makes a ray's largest integer entry readable: its first nonzero entry."""
    first = next(x for x in entries if x)
    return abs(first) if isinstance(first, int) else first
