"""Points that attain a piece's bound, as monomials, and the certificates they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from symscale.algebra import simplex
from symscale.algebra.certificate import Certificate
from symscale.algebra.elimination import echelon
from symscale.algebra.limit import Limit, Piece
from symscale.algebra.loglinear import exponent_matrix, field_to_expr
from symscale.algebra.monomial import ONE, Monomial
from symscale.algebra.program import Program
from symscale.algebra.regions import find_witness, logarithm
from symscale.algebra.scalars import scalars_for
from symscale.errors import FormulaError

Values = Mapping[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class OptimalPoint:
    """A point that attains a bound.

    Attributes:
        values: Each variable as a monomial in the parameters.
        tight: The constraints that determine it, all satisfied with equality.
        conditions: It is feasible where each of these monomials is at most 1.
        free: Variables that may take other values at the same optimum: the constraints
            that bind do not fix them, or fix only products of them.
    """

    values: Mapping[sp.Symbol, Monomial]
    tight: tuple[str, ...]
    conditions: tuple[Monomial, ...]
    free: frozenset[sp.Symbol]


def optimal_point(program: Program, values: Values) -> OptimalPoint:
    """Find a point that attains the optimum at given parameters, and around them.

    The basis of an exact linear program at `values` is lifted to monomials, so the
    point is a formula; its conditions say where that formula stays feasible.

    Raises:
        FormulaError: If the program has no finite optimum at `values`.
    """
    at = program.substitute(values)
    matrix, bounds, owners = [], [], []
    for index, constraint in enumerate(at.constraints):
        variables, rest = constraint.ratio.split(program.variables)
        if rest.free_symbols:
            names = ", ".join(sorted(map(str, rest.free_symbols)))
            raise FormulaError(f"no value for {names}")
        row = [_exact(variables.exponent(x)) for x in program.variables]
        for sign in (1, -1) if constraint.is_equality else (1,):
            matrix.append([sign * x for x in row])
            bounds.append(-sign * logarithm(rest))
            owners.append(index)
    sense = 1 if program.sense == "maximize" else -1
    goal = [_exact(sense * at.objective.exponent(x)) for x in program.variables]
    found = simplex.maximize(goal, matrix, bounds)
    if found.status != "optimal":
        raise FormulaError(f"the program is {found.status} at these parameters")
    forcing = {owners[i] for i, y in enumerate(found.multipliers) if y > 0}
    forcing |= {i for i, c in enumerate(program.constraints) if c.is_equality}
    return _lift(program, sorted({owners[i] for i in found.basis}), sorted(forcing))


def _lift(program: Program, tight: list[int], forcing: list[int]) -> OptimalPoint:
    """Solve the tight constraints for the variables, as monomials in the parameters.

    Args:
        program: The program.
        tight: Constraints that are tight at the point.
        forcing: Those that are tight at every optimal point: equalities, and
            inequalities with a positive multiplier.
    """
    scalars = scalars_for(program.exponent_symbols, program.domain)
    one = scalars.convert(sp.Integer(1))
    rows = exponent_matrix(program, scalars)
    form = echelon([rows[i] for i in tight], one)
    parts = [program.constraints[i].ratio.split(program.variables)[1] for i in tight]
    values = dict.fromkeys(program.variables, ONE)
    for pivot, operation in zip(form.pivots, form.operations, strict=True):
        value = ONE
        for part, weight in zip(parts, operation, strict=True):
            if weight:
                value = value / part ** field_to_expr(scalars, weight)
        values[program.variables[pivot]] = value
    fixed = echelon([rows[i] for i in forcing], one)
    free = set(program.variables) - {
        program.variables[pivot]
        for row, pivot in zip(fixed.rows, fixed.pivots, strict=True)
        if not any(x for k, x in enumerate(row) if k != pivot)
    }
    conditions = []
    for index, constraint in enumerate(program.constraints):
        ratio = constraint.ratio.substitute(values)
        if index in tight or ratio.is_one or not ratio.free_symbols:
            continue
        conditions.append(ratio)
    names = tuple(program.constraints[i].name for i in tight)
    return OptimalPoint(values, names, tuple(dict.fromkeys(conditions)), frozenset(free))


def certify(limit: Limit, piece: Piece, values: Values | None = None) -> Certificate:
    """Make the certificate of a piece.

    Args:
        limit: The limit.
        piece: One of its pieces.
        values: Parameters at which it rules; by default the piece's own witness.

    Raises:
        FormulaError: If no parameters are given and the piece has no witness.
    """
    witness = values if values is not None else piece.witness
    if witness is None:
        raise FormulaError(f"no parameters are known at which {piece.name!r} rules")
    point = optimal_point(limit.program, witness)
    return Certificate(
        limit.program, piece.name, piece.bound, piece.multipliers, point.values,
        point.conditions, dict(witness),
    )


def certify_at(
    limit: Limit, piece: Piece, point: Mapping[sp.Symbol, Monomial]
) -> Certificate | None:
    """Make the certificate of a piece with a point that is known to attain it.

    Returns:
        The certificate, or None where no parameters were found at which the point is
        feasible.
    """
    program = limit.program
    conditions = []
    for constraint in program.constraints:
        ratio = constraint.ratio.substitute(point)
        if not ratio.is_one and ratio.free_symbols and ratio not in conditions:
            conditions.append(ratio)
    domain = program.domain
    witness, _ = find_witness(
        [c**-1 for c in conditions], domain.at_least_one, program.parameters, domain
    )
    if witness is None or any(s not in witness for s in program.parameters):
        return None
    return Certificate(
        program, piece.name, piece.bound, piece.multipliers, dict(point), tuple(conditions),
        witness,
    )


def _exact(exponent: Any) -> Fraction:
    return Fraction(int(exponent.p), int(exponent.q))
