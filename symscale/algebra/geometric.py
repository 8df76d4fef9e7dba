"""Geometric programs: the least sum of monomials under sums of monomials at most 1.

Closed forms where there are some: the objective, or the one constraint that is a
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

import mpmath as mp
import sympy as sp

from symscale.algebra.domain import Domain, IndeterminateSignError
from symscale.algebra.elimination import echelon
from symscale.algebra.limit import split_fraction
from symscale.algebra.loglinear import field_to_expr
from symscale.algebra.monomial import ONE, Monomial
from symscale.algebra.posynomial import SumConstraint
from symscale.algebra.scalars import Scalars, scalars_for

MAX_ACTIVE_SETS = 4000

Values = Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class GeometricProgram:
    """The least sum of monomials under constraints.

    Attributes:
        variables: The unknowns.
        objective: The terms of the sum.
        constraints: The constraints.
        domain: Where the parameters live.
        inverse: Whether the optimum asked for is one over the least sum.
    """

    variables: tuple[sp.Symbol, ...]
    objective: tuple[Monomial, ...]
    constraints: tuple[SumConstraint, ...]
    domain: Domain
    inverse: bool = False

    @property
    def exponent_symbols(self) -> tuple[sp.Symbol, ...]:
        """The symbols that stand in exponents."""
        found = set().union(*(t.exponent_symbols for t in self.objective))
        for constraint in self.constraints:
            found |= set().union(*(t.exponent_symbols for t in constraint.terms))
        return tuple(sorted(found, key=str))

    @property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """Every symbol that is no variable."""
        found = set().union(*(t.free_symbols for t in self.objective))
        for constraint in self.constraints:
            found |= set().union(*(t.free_symbols for t in constraint.terms))
        return tuple(sorted(found - set(self.variables), key=str))


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
        with mp.workdps(30):
            for left, right in self.conditions:
                low = sp.N(left.xreplace(dict(values)), 30)
                high = sp.N(right.xreplace(dict(values)), 30)
                if low > high * (1 + sp.Float("1e-25", 30)):
                    return False
        return True


@dataclass(frozen=True)
class _Target:
    """What is minimised: `sum(terms)**power`, under monomial constraints.

    Attributes:
        terms: The terms.
        power: The power.
        solved: A variable that the sum determines, and its power of the sum.
        name: The constraint that is the sum, or "".
    """

    terms: tuple[Monomial, ...]
    power: sp.Expr
    solved: tuple[sp.Symbol, sp.Expr] | None
    name: str


def closed_forms(program: GeometricProgram) -> tuple[tuple[SumPiece, ...], bool]:
    """Find closed forms of the optimum.

    Returns:
        The pieces, and whether together they cover all parameters: every choice of
        binding constraints either has a closed form or cannot be optimal.
    """
    target = _target(program)
    if target is None:
        return (), False
    rest = [c for c in program.constraints if c.name != target.name]
    variables = [
        x for x in program.variables if target.solved is None or x != target.solved[0]
    ]
    scalars = scalars_for(program.exponent_symbols, program.domain)
    equalities = [c for c in rest if c.relation == "=="]
    bounds = [c for c in rest if c.relation == "<="]
    pieces: list[SumPiece] = []
    complete, tried = True, 0
    for size in range(min(len(bounds), len(variables)) + 1):
        for active in combinations(bounds, size):
            tried += 1
            if tried > MAX_ACTIVE_SETS:
                return tuple(pieces), False
            chosen = (*equalities, *active)
            try:
                piece, closed = _piece(program, target, variables, chosen, active, rest, scalars)
            except IndeterminateSignError:
                piece, closed = None, False
            complete = complete and closed
            if piece is not None:
                pieces.append(piece)
    return tuple(pieces), complete


def _target(program: GeometricProgram) -> _Target | None:
    """Find the one sum to be minimised; None where there are several."""
    sums = [c for c in program.constraints if len(c.terms) > 1]
    if len(program.objective) > 1:
        if sums:
            return None
        return _Target(program.objective, sp.Integer(1), None, "")
    if len(sums) != 1:
        return None
    (constraint,), (objective,) = sums, program.objective
    others = [t for c in program.constraints if c is not constraint for t in c.terms]
    for t in program.variables:
        powers = {term.exponent(t) for term in constraint.terms}
        gain = objective.exponent(t)
        if len(powers) != 1 or any(o.exponent(t) != 0 for o in others):
            continue
        fall = -powers.pop()
        if not (fall.is_positive and gain.is_positive):
            continue
        # objective = rest * t**gain, and t**fall = sum: minimise (rest**(fall/gain) * sum).
        rest = objective / Monomial.of(t) ** gain
        scale = rest ** (fall / gain) * Monomial.of(t) ** fall
        terms = tuple(scale * term for term in constraint.terms)
        return _Target(terms, gain / fall, (t, 1 / fall), constraint.name)
    return None


def _piece(
    program: GeometricProgram,
    target: _Target,
    variables: Sequence[sp.Symbol],
    chosen: Sequence[SumConstraint],
    active: Sequence[SumConstraint],
    rest: Sequence[SumConstraint],
    scalars: Scalars,
) -> tuple[SumPiece | None, bool]:
    """The stationary point with `chosen` tight; and whether this choice is settled."""
    one = scalars.convert(sp.Integer(1))
    rows = [[scalars.convert(c.terms[0].exponent(x)) for x in variables] for c in chosen]
    form = echelon(rows, one) if rows else None
    if form is not None and form.null_operations:
        return None, True  # dependent: another choice covers it
    eliminated = _solve_monomials(
        variables, form, [c.terms[0].split(variables)[1] ** -1 for c in chosen], scalars
    )
    merged: dict[Monomial, sp.Expr] = {}
    for term in target.terms:
        powers, coefficient = term.substitute(eliminated).split(variables)
        merged[powers] = merged.get(powers, sp.Integer(0)) + coefficient.expr
    constant = merged.pop(ONE, sp.Integer(0))
    stationary, closed = _stationary(merged, variables, scalars)
    if stationary is None:
        return None, closed
    balanced, free_point = stationary
    point = {
        x: eliminated[x].substitute(free_point) if x in eliminated else free_point.get(x, ONE)
        for x in variables
    }
    least = balanced + constant
    expressions = {x: m.expr for x, m in point.items()}
    terms = [t.substitute(point).expr for t in target.terms]
    conditions = _feasible(rest, chosen, point)
    optimal = _multiplier_conditions(target.terms, terms, variables, chosen, active, scalars)
    if conditions is None or optimal is None:
        return None, True
    value = least**target.power
    if target.solved is not None:
        solved, power = target.solved
        scale = _solved_scale(program, target, solved)
        expressions[solved] = (least / scale.substitute(point).expr) ** power
    binding = tuple(c.name for c in active)
    binding = (target.name, *binding) if target.name else binding
    expr = 1 / value if program.inverse else value
    return SumPiece(expr, binding, expressions, (*conditions, *optimal)), True


def _solved_scale(program: GeometricProgram, target: _Target, solved: sp.Symbol) -> Monomial:
    """What the sum was multiplied by, beside the solved variable's power."""
    constraint = next(c for c in program.constraints if c.name == target.name)
    fall = -constraint.terms[0].exponent(solved)
    return target.terms[0] / constraint.terms[0] / Monomial.of(solved) ** fall


def _solve_monomials(
    variables: Sequence[sp.Symbol],
    form: Any,
    values: Sequence[Monomial],
    scalars: Scalars,
) -> dict[sp.Symbol, Monomial]:
    """Variables in pivot columns as monomials in the others, from `prod(x**row) = value`."""
    if form is None:
        return {}
    solved: dict[sp.Symbol, Monomial] = {}
    for row, pivot, operation in zip(form.rows, form.pivots, form.operations, strict=True):
        value = ONE
        for weight, given in zip(operation, values, strict=True):
            if weight:
                value = value * given ** field_to_expr(scalars, weight)
        for k, x in enumerate(variables):
            if k != pivot and row[k]:
                value = value / Monomial.of(x) ** field_to_expr(scalars, row[k])
        solved[variables[pivot]] = value
    return solved


def _stationary(
    merged: Mapping[Monomial, sp.Expr], variables: Sequence[sp.Symbol], scalars: Scalars
) -> tuple[tuple[sp.Expr, dict[sp.Symbol, Monomial]] | None, bool]:
    """The least value of a sum of monomials over free variables, and where it is attained.

    Returns:
        Value and point, or None; and whether the question is settled.
    """
    if not merged:
        return (sp.Integer(0), {}), True
    one = scalars.convert(sp.Integer(1))
    powers = list(merged)
    matrix = [[scalars.convert(p.exponent(x)) for x in variables] for p in powers]
    balance = echelon(matrix, one).null_operations
    if not balance:
        return None, True
    if len(balance) > 1:
        return None, False
    ring = scalars.clear(balance[0])
    signs = {scalars.sign(w) for w in ring if w}
    if len(signs) != 1 or not all(ring):
        return None, len(signs) != 1
    total = sum(ring[1:], ring[0])
    weights = [scalars.to_expr(w, total) for w in ring]
    value: sp.Expr = sp.Integer(1)
    for coefficient, weight in zip(merged.values(), weights, strict=True):
        value *= (coefficient / weight) ** weight
    value_monomial = _as_monomial(value)
    # All terms are known, w_i times the value; solve them for the variables.
    known = [
        value_monomial * _as_monomial(w) / _as_monomial(c)
        for c, w in zip(merged.values(), weights, strict=True)
    ]
    form = echelon(matrix, one)
    solved = _solve_monomials(variables, form, known, scalars)
    free = {x: ONE for x in variables if x not in solved}
    return (value, {**free, **{x: m.substitute(free) for x, m in solved.items()}}), True


def _as_monomial(expr: sp.Expr) -> Monomial:
    """A positive expression as a monomial; sums in it become atoms."""
    powers: dict[sp.Expr, sp.Expr] = {}
    result = ONE
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if base.is_Add:
            powers[base] = powers.get(base, sp.Integer(0)) + exponent
        elif base.is_Mul:
            result = result * _as_monomial(base) ** exponent
        else:
            result = result * Monomial.of(factor)
    return result * Monomial.from_powers(powers)


def _feasible(
    rest: Sequence[SumConstraint],
    chosen: Sequence[SumConstraint],
    point: Mapping[sp.Symbol, Monomial],
) -> list[tuple[sp.Expr, sp.Expr]] | None:
    """Conditions for the other constraints to hold at the point; None if they never do."""
    conditions = []
    for constraint in rest:
        if constraint in chosen:
            continue
        ratio = constraint.terms[0].substitute(point)
        if ratio.free_symbols:
            conditions.append(_plainest(ratio.expr, sp.Integer(1)))
        elif ratio.compare_one() > 0:
            return None
    return conditions


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
        if not positive:
            return None if negative else []
        if negative:
            conditions.append(_plainest(sp.Add(*negative), sp.Add(*positive)))
    return conditions


def _plainest(left: sp.Expr, right: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The same comparison without what both sides share, where both are monomials."""
    if left.is_Add or right.is_Add:
        return left, right
    ratio = _as_monomial(left) / _as_monomial(right)
    above, below = split_fraction(ratio ** (1 / ratio.content))
    return above.expr, below.expr
