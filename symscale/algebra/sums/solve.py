"""The least sum of monomials under sums of monomials at most 1, in closed form.

There is one in these cases: the objective, or the one constraint that is a
sum, is minimised over the variables by choosing which monomial constraints bind;
what remains has a stationary point in closed form when its exponents admit one
weighting that balances them (zero degree of difficulty, constants aside). The
problem is convex in logarithms, so a point that satisfies the optimality
conditions is the optimum: each piece carries them as its region.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy as sp

from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.products.limit import split_fraction
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.stationary import as_monomial, solve_monomials, stationary

MAX_ACTIVE_SETS = 4000

Values = Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class SumPiece:
    """A closed form of the optimum, valid where its conditions hold.

    Attributes:
        expr: The optimum.
        binding: The constraints that bind.
        point: The optimal variables.
        conditions: Pairs (left, right): left <= right must hold.
    """

    expr: sp.Expr
    binding: tuple[str, ...]
    point: Mapping[sp.Symbol, sp.Expr]
    conditions: tuple[tuple[sp.Expr, sp.Expr], ...]

    def holds(self, values: Values) -> bool:
        """Whether the conditions hold at given parameters, to 25 digits."""
        at = dict(values)
        return all(
            _at_most(left.xreplace(at), right.xreplace(at)) for left, right in self.conditions
        )


@dataclass(frozen=True)
class _Target:
    """What is minimised over the free variables: `sum(terms)**power`.

    Attributes:
        terms: The terms.
        power: The power.
        scaling: Where a sum binds: by which powers the variables change together so
            that the sum becomes 1 while the terms stay as they are.
        objective: What all terms share, on top of the sum that binds.
    """

    terms: tuple[Monomial, ...]
    power: sp.Expr = sp.Integer(1)
    scaling: Mapping[sp.Symbol, sp.Expr] | None = None
    objective: Monomial = ONE


def closed_forms(program: GeometricProgram) -> tuple[tuple[SumPiece, ...], bool]:
    """Find closed forms of the optimum.

    Returns:
        The pieces, and whether together they cover all parameters: every choice of
        binding constraints either has a closed form or cannot be optimal.
    """
    scalars = scalars_for(program.exponent_symbols, program.domain)
    equalities = _independent(program, scalars)
    room = len(program.variables) - len(equalities)
    bounds = [c for c in program.constraints if c.relation == "<=" and len(c.terms) == 1]
    sums = [c for c in program.constraints if len(c.terms) > 1]
    # At most one sum, the objective or a constraint, is dealt with at a time.
    complete = len(sums) + (len(program.objective) > 1) < 2 or room == 0
    complete = complete or (len(program.objective) == 1 and room == 1)
    choices = (None, *sums) if len(program.objective) == 1 else (None,)
    pieces: list[SumPiece] = []
    tried = 0
    for size in range(min(len(bounds), room) + 1):
        for choice in choices:
            if choice is not None and size == room:
                continue
            for active in combinations(bounds, size):
                tried += 1
                if tried > MAX_ACTIVE_SETS:
                    return tuple(pieces), False
                try:
                    piece, closed = _piece(program, choice, equalities, active, scalars)
                except IndeterminateSignError:
                    piece, closed = None, False
                complete = complete and closed
                if piece is not None:
                    pieces.append(piece)
    return tuple(pieces), complete


def _independent(program: GeometricProgram, scalars: Scalars) -> list[SumConstraint]:
    """Equalities of which none follows from others; the rest restrict the parameters."""
    one = scalars.convert(sp.Integer(1))
    kept: list[SumConstraint] = []
    rows: list[list[Any]] = []
    for constraint in program.constraints:
        if constraint.relation == "==":
            row = [scalars.convert(constraint.terms[0].exponent(x)) for x in program.variables]
            if not echelon([*rows, row], one).null_operations:
                kept.append(constraint)
                rows.append(row)
    return kept


def _piece(
    program: GeometricProgram,
    bound_sum: SumConstraint | None,
    equalities: Sequence[SumConstraint],
    active: Sequence[SumConstraint],
    scalars: Scalars,
) -> tuple[SumPiece | None, bool]:
    """The optimum with a choice of constraints tight; and whether this choice is settled."""
    variables, chosen = program.variables, (*equalities, *active)
    one = scalars.convert(sp.Integer(1))
    rows = [[scalars.convert(c.terms[0].exponent(x)) for x in variables] for c in chosen]
    form = echelon(rows, one) if rows else None
    if form is not None and form.null_operations:
        return None, True  # dependent: another choice covers it
    eliminated = solve_monomials(
        variables, form, [c.terms[0].split(variables)[1] ** -1 for c in chosen], scalars
    )
    target = _Target(program.objective)
    if bound_sum is not None:
        scaled, closed = _scaled(program.objective[0], bound_sum, variables, eliminated, scalars)
        if scaled is None:
            return None, closed
        target = scaled
    merged = _merged(target.terms, variables, eliminated)
    constant = merged.pop(ONE, sp.Integer(0))
    least_sum, closed = stationary(merged, variables, eliminated, scalars)
    if least_sum is None:
        return None, closed
    balanced, free_point, free = least_sum
    least = balanced + constant
    point = {
        x: eliminated[x].substitute(free_point) if x in eliminated else free_point[x]
        for x in variables
    }
    if target.scaling is not None:
        size = as_monomial(least) / target.objective.substitute(point)
        point = {x: m * size ** target.scaling[x] for x, m in point.items()}
        free -= 1
    others = [c for c in program.constraints if c not in chosen and c is not bound_sum]
    # A sum may hold elsewhere than where free variables were set to 1.
    settled = free == 0 or all(len(c.terms) == 1 for c in others)
    values = [t.substitute(point).expr for t in target.terms]
    conditions = _feasible(others, point)
    optimal = _multiplier_conditions(target.terms, values, variables, chosen, active, scalars)
    if conditions is None or optimal is None:
        return None, settled or optimal is None
    value = least**target.power
    names = tuple(c.name for c in ((bound_sum,) if bound_sum else ()) + tuple(active))
    piece = SumPiece(
        1 / value if program.inverse else value, names,
        {x: m.expr for x, m in point.items()}, (*conditions, *optimal),
    )
    return piece, settled


def _merged(
    terms: Sequence[Monomial],
    variables: Sequence[sp.Symbol],
    eliminated: Mapping[sp.Symbol, Monomial],
) -> dict[Monomial, sp.Expr]:
    """The coefficients of a sum by powers of the variables that are left."""
    merged: dict[Monomial, sp.Expr] = {}
    for term in terms:
        powers, coefficient = term.substitute(eliminated).split(variables)
        merged[powers] = merged.get(powers, sp.Integer(0)) + coefficient.expr
    return merged


def _scaled(
    objective: Monomial,
    constraint: SumConstraint,
    variables: Sequence[sp.Symbol],
    eliminated: Mapping[sp.Symbol, Monomial],
    scalars: Scalars,
) -> tuple[_Target | None, bool]:
    """Minimise a monomial where a sum is 1, as the least product of the two.

    Along some direction d of the logarithms every term of the sum falls alike, by
    exp(-1), and the objective grows, by exp(g). Then objective**(1/g) * sum does not
    change along d, and its least value to the power g is the least objective.

    Returns:
        The target, or None; and whether the question is settled.
    """
    one = scalars.convert(sp.Integer(1))
    merged = list(_merged(constraint.terms, variables, eliminated))
    form = echelon([[scalars.convert(p.exponent(x)) for x in variables] for p in merged], one)
    if any(sum(operation[1:], operation[0]) for operation in form.null_operations):
        return None, False  # no such direction
    left, _ = objective.substitute(eliminated).split(variables)
    rest, used = form.reduce([scalars.convert(left.exponent(x)) for x in variables])
    if any(rest):
        return None, True  # the objective improves without changing the sum
    gain = -sum(used[1:], used[0])
    if not gain or scalars.sign(scalars.clear([gain, one])[0]) <= 0:
        return None, True  # the sum does not hold the objective back
    power = field_to_expr(scalars, gain)
    scaling = dict.fromkeys(variables, sp.Integer(0))
    for pivot, operation in zip(form.pivots, form.operations, strict=True):
        scaling[variables[pivot]] = -field_to_expr(scalars, sum(operation[1:], operation[0]))
    for x, monomial in eliminated.items():
        scaling[x] = sp.Add(*(scaling[s] * monomial.exponent(s) for s in variables))
    shared = objective ** (1 / power)
    return _Target(tuple(shared * t for t in constraint.terms), power, scaling, shared), True


def _feasible(
    others: Sequence[SumConstraint], point: Mapping[sp.Symbol, Monomial]
) -> list[tuple[sp.Expr, sp.Expr]] | None:
    """Conditions for the other constraints to hold at the point; None if they never do."""
    conditions: list[tuple[sp.Expr, sp.Expr]] = []
    for constraint in others:
        terms = [t.substitute(point).expr for t in constraint.terms]
        pair = (
            _plainest(terms[0], sp.Integer(1)) if len(terms) == 1
            else (sp.Add(*terms), sp.Integer(1))
        )
        for left, right in (pair, pair[::-1]) if constraint.relation == "==" else (pair,):
            if left.free_symbols or right.free_symbols:
                conditions.append((left, right))
            elif not _at_most(left, right):
                return None
    return conditions


def _at_most(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether one number is at most another, to 25 digits."""
    low, high = (sp.N(side, 30) for side in (left, right))
    return bool(low <= high * (1 + sp.Float("1e-25", 30)))


def _multiplier_conditions(
    target: Sequence[Monomial],
    values: Sequence[sp.Expr],
    variables: Sequence[sp.Symbol],
    chosen: Sequence[SumConstraint],
    active: Sequence[SumConstraint],
    scalars: Scalars,
) -> list[tuple[sp.Expr, sp.Expr]] | None:
    """Conditions for the multipliers of active constraints to be nonnegative.

    At an optimum sum_i T_i a_i + sum_k mu_k h_k = 0, with a_i the exponents of the
    terms, T_i their values and h_k the exponents of the tight constraints. So each
    mu_k is a combination of the T_i.
    """
    if not active:
        return []
    one = scalars.convert(sp.Integer(1))
    rows = [[scalars.convert(c.terms[0].exponent(x)) for x in variables] for c in chosen]
    form = echelon(rows, one)
    conditions = []
    for constraint in active:
        position = list(chosen).index(constraint)
        positive: list[sp.Expr] = []
        negative: list[sp.Expr] = []
        for term, value in zip(target, values, strict=True):
            _, used = form.reduce([scalars.convert(term.exponent(x)) for x in variables])
            weight = field_to_expr(scalars, used[position])
            if weight == 0:
                continue
            sign = scalars.sign(scalars.clear([used[position], one])[0])
            # mu = -weight * value
            (negative if sign > 0 else positive).append(abs(weight) * value)
        if negative and not positive:
            return None
        if not negative:
            continue
        left, right = _plainest(sp.Add(*negative), sp.Add(*positive))
        if left.free_symbols or right.free_symbols:
            conditions.append((left, right))
        elif not _at_most(left, right):
            return None  # it would push the wrong way whatever the parameters are
    return conditions


def _plainest(left: sp.Expr, right: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The same comparison without what both sides share, where both are monomials."""
    if left.is_Add or right.is_Add:
        return left, right
    ratio = as_monomial(left) / as_monomial(right)
    above, below = split_fraction(ratio ** (1 / ratio.content))
    return above.expr, below.expr
