"""Points that attain a piece's bound, as monomials."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.regions import logarithm
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.products.dual import exponent_matrix
from symscale.algebra.products.program import Program
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
    return lift(program, sorted({owners[i] for i in found.basis}), sorted(forcing))


def lift(program: Program, tight: list[int], forcing: list[int]) -> OptimalPoint:
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
    # Exponents are kept in the field, where sums are cheap, and become expressions once.
    tables = [
        {atom: scalars.convert(e) for atom, e in c.ratio.powers if atom not in program.variables}
        for c in program.constraints
    ]
    exponents: dict[sp.Symbol, _Table] = {x: {} for x in program.variables}
    for pivot, operation in zip(form.pivots, form.operations, strict=True):
        for i, weight in zip(tight, operation, strict=True):
            _add(exponents[program.variables[pivot]], tables[i], -weight)
    values = {x: _monomial(scalars, table) for x, table in exponents.items()}
    fixed = echelon([rows[i] for i in forcing], one)
    free = set(program.variables) - {
        program.variables[pivot]
        for row, pivot in zip(fixed.rows, fixed.pivots, strict=True)
        if not any(x for k, x in enumerate(row) if k != pivot)
    }
    conditions = []
    for index, (table, row) in enumerate(zip(tables, rows, strict=True)):
        if index in tight:
            continue
        for x, weight in zip(program.variables, row, strict=True):
            _add(table, exponents[x], weight)
        ratio = _monomial(scalars, table)
        if not ratio.is_one and ratio.free_symbols:
            conditions.append(ratio)
    names = tuple(program.constraints[i].name for i in tight)
    return OptimalPoint(values, names, tuple(dict.fromkeys(conditions)), frozenset(free))


_Table: TypeAlias = dict[sp.Expr, Any]


def _add(table: _Table, other: _Table, weight: Any) -> None:
    """Multiply a monomial, as exponents in a field, by another one's power."""
    if weight:
        for atom, exponent in other.items():
            table[atom] = table[atom] + weight * exponent if atom in table else weight * exponent


def _monomial(scalars: Scalars, table: _Table) -> Monomial:
    return Monomial.from_powers({atom: field_to_expr(scalars, e) for atom, e in table.items()})


def _exact(exponent: Any) -> Fraction:
    return Fraction(int(exponent.p), int(exponent.q))
