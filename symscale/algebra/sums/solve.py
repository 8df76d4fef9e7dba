"""The least sum of monomials under sums of monomials at most 1, in closed form.

There is one in these cases: the objective, or the one constraint that is a
sum, is minimised over the variables by choosing which monomial constraints bind;
what remains has a stationary point in closed form when its exponents admit one
weighting that balances them (zero degree of difficulty, constants aside). The
problem is convex in logarithms, so a point that satisfies the optimality
conditions is the optimum: each piece carries them as its region.

Terms that vanish as variables run away are left out before (`recession`), and variables
that the optimum leaves free are eliminated from the region afterwards (`projection`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import without_rational
from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.elimination import Echelon, echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.projection import (
    Row,
    SumProjection,
    fold,
    project,
)
from symscale.algebra.sums.recession import Direction, RecessionReduction, reduce, shrinking
from symscale.algebra.sums.stationary import positive_number, solve_monomials, stationary
from symscale.algebra.sums.values import Requirement, total

MAX_ACTIVE_SETS = 4000


@dataclass(frozen=True)
class _Search:
    """What all choices of binding constraints share.

    Attributes:
        program: The program.
        left: What is left of it, constants folded.
        reduction: What was left out.
        requirements: What the constants must satisfy.
        equalities: Equalities of which none follows from others.
        scalars: What exponents are made of.
    """

    program: GeometricProgram
    left: GeometricProgram
    reduction: RecessionReduction
    requirements: tuple[Requirement, ...]
    equalities: tuple[SumConstraint, ...]
    scalars: Scalars

    def row(self, monomial: Monomial) -> list[Any]:
        """The exponents of the variables."""
        return [self.scalars.convert(monomial.exponent(x)) for x in self.program.variables]

    def form(self, monomials: Sequence[Monomial]) -> Echelon:
        """The reduced rows of exponents."""
        return echelon([self.row(m) for m in monomials], self.scalars.convert(sp.Integer(1)))

    def sign(self, value: Any) -> int:
        """The sign of an element of the field."""
        return self.scalars.sign(self.scalars.clear([value, self.scalars.convert(_ONE)])[0])


@dataclass(frozen=True)
class _Target:
    """What is minimised: `sum(terms)**power`; terms of a sum that binds share a factor."""

    terms: tuple[Monomial, ...]
    power: sp.Expr = sp.Integer(1)
    shared: Monomial = ONE


_ONE = sp.Integer(1)


def candidates(program: GeometricProgram) -> tuple[tuple[SumPiece, ...], bool]:
    """Find closed forms of the optimum, whether or not they rule anywhere.

    Returns:
        The pieces, and whether together they cover all parameters at which there is a
        bound: every choice of binding constraints either has a closed form or cannot be
        optimal. Where nothing bounds the objective there are no pieces.
    """
    reduction = reduce(program)
    if not reduction.program.objective:
        return (), True
    left, requirements = _constants_folded(reduction.program)
    scalars = scalars_for(program.exponent_symbols, program.domain)
    search = _Search(program, left, reduction, requirements, (), scalars)
    search = replace(search, equalities=_independent(search))
    room = len(program.variables) - len(search.equalities)
    bounds = [c for c in left.constraints if c.relation == "<=" and len(c.terms) == 1]
    sums = [c for c in left.constraints if len(c.terms) > 1]
    # At most one sum, the objective or a constraint, is dealt with at a time.
    complete = len(sums) + (len(left.objective) > 1) < 2 or room == 0
    complete = complete or (len(left.objective) == 1 and room == 1)
    choices = (None, *sums) if len(left.objective) == 1 else (None,)
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
                    piece, closed = _piece(search, choice, active)
                except IndeterminateSignError:
                    piece, closed = None, False
                complete = complete and closed
                if piece is not None:
                    pieces.append(piece)
    return tuple(pieces), complete


def _constants_folded(
    program: GeometricProgram,
) -> tuple[GeometricProgram, tuple[Requirement, ...]]:
    """Each sum without its constant terms, which take room from the others."""
    requirements: list[Requirement] = []
    kept: list[SumConstraint] = []
    for c in program.constraints:
        if c.relation == "==":
            kept.append(c)
            continue
        rows = fold([Row(c.terms)], program.variables, requirements)
        kept += [replace(c, terms=row.terms) for row in rows]
    table = _merged(program.objective, program.variables, {})
    objective = tuple(powers * coefficient for powers, coefficient in table.items())
    left = replace(program, objective=objective, constraints=tuple(kept))
    return left, tuple(requirements)


def _independent(search: _Search) -> tuple[SumConstraint, ...]:
    """Equalities of which none follows from others; the rest restrict the parameters."""
    kept: list[SumConstraint] = []
    for c in search.left.constraints:
        if c.relation == "==" and not search.form([k.terms[0] for k in (*kept, c)]).null_operations:
            kept.append(c)
    return tuple(kept)


def _piece(
    search: _Search, bound_sum: SumConstraint | None, active: Sequence[SumConstraint]
) -> tuple[SumPiece | None, bool]:
    """The optimum with a choice of constraints tight; and whether this choice is settled."""
    variables, scalars = search.program.variables, search.scalars
    chosen = [c.terms[0] for c in (*search.equalities, *active)]
    form = search.form(chosen) if chosen else None
    if form is not None and form.null_operations:
        return None, True  # dependent: another choice covers it
    inverses = [c.split(variables)[1] ** -1 for c in chosen]
    eliminated = solve_monomials(variables, form, inverses, scalars)
    target, closed = _target(search, bound_sum, eliminated)
    if target is None:
        return None, closed
    merged = _merged(target.terms, variables, eliminated)
    constant = merged.pop(ONE, None)
    left = [x for x in variables if x not in eliminated]
    least_sum, closed = stationary(merged, left, scalars)
    if least_sum is None:
        return None, closed
    balanced, parts = least_sum
    least = total([m for m in (balanced, constant) if m is not None])
    if constant is not None:
        parts[ONE] = constant
    # Each term's value is known, and so are the variables, up to those that are free.
    over = least if bound_sum is not None else ONE
    rows, values = [*chosen], [*inverses]
    beside = target.shared.substitute(eliminated).split(variables)[1]
    for term in target.terms:
        powers = term.substitute(eliminated).split(variables)[0]
        coefficient = merged.get(powers, constant) or ONE
        rows.append((term / target.shared).substitute(eliminated).split(variables)[0])
        values.append(parts[powers] * beside / (over * coefficient))
    solved = solve_monomials(variables, search.form(rows), values, scalars)
    free = [x for x in variables if x not in solved]
    point = {x: solved.get(x, Monomial.of(x)) for x in variables}
    own_terms = [t / target.shared if bound_sum is not None else t for t in target.terms]
    return _ruling(
        search, (*((bound_sum,) if bound_sum else ()), *active), least**target.power, point, free,
        _multipliers(
            search, target.terms, [t.substitute(point) for t in own_terms], chosen, active
        ),
    )


def _ruling(
    search: _Search,
    binding: Sequence[SumConstraint],
    least: Monomial,
    point: Mapping[sp.Symbol, Monomial],
    free: Sequence[sp.Symbol],
    multipliers: Sequence[tuple[SumConstraint, Requirement]] | None,
) -> tuple[SumPiece | None, bool]:
    """The piece of a point that is stationary, where it is feasible and optimal."""
    if multipliers is None:
        return None, True
    reduction = search.reduction
    lost = {c.name for c in binding} & reduction.lossy
    infimum = reduction.loses_objective or bool(lost)
    shrink = _shrink(search, binding) if infimum and reduction.lossy else {}
    if shrink is None:
        return None, False
    projection = _others(search, binding, point, free, infimum)
    if projection is None:
        return None, False
    strict = set() if reduction.loses_objective else lost
    requirements = [*search.requirements, *projection.requirements]
    signs = [replace(r, relation="<") if c.name in strict else r for c, r in multipliers]
    requirements += signs
    found = [r for r in dict.fromkeys(requirements) if r.settled is not True]
    if any(r.settled is False for r in found):
        return None, True
    places = [
        replace(p, values={**p.values, **{x: m.substitute(p.values) for x, m in point.items()}})
        for p in projection.places
    ]
    names = tuple(c.name for c in binding)
    direction = reduction.direction if infimum else {}
    value = least**-1 if search.program.inverse else least
    return SumPiece(
        value, names, tuple(found), tuple(places), projection.ranges,
        "infimum" if infimum else "optimal", direction, shrink, tuple(signs),
    ), True


def _shrink(search: _Search, binding: Sequence[SumConstraint]) -> Direction | None:
    """How constraints that lost terms become strict: all of them, or those that bind."""
    reduced, lossy = search.reduction.program, search.reduction.lossy
    found = shrinking(reduced, lossy)
    if found is None:
        names = frozenset(c.name for c in binding)
        found = shrinking(reduced, lossy & names, names)
    return found


def _others(
    search: _Search,
    binding: Sequence[SumConstraint],
    point: Mapping[sp.Symbol, Monomial],
    free: Sequence[sp.Symbol],
    infimum: bool,
) -> SumProjection | None:
    """What the constraints that do not bind need, without the free variables.

    Where the value is attained these are the program's own; where it is only approached,
    what is left of them.
    """
    names = {c.name for c in (*binding, *search.equalities)}
    source = search.left if infimum else search.program
    rows: list[Row] = []
    equal: list[Requirement] = []
    for c in (c for c in source.constraints if c.name not in names):
        terms = tuple(t.substitute(point) for t in c.terms)
        if c.relation == "==":
            equal.append(Requirement.of(terms[0], ONE, "=="))
        else:
            rows.append(Row(terms, infimum and c.name in search.reduction.lossy))
    found = project(rows, free, search.program.domain)
    if found is None or not equal:
        return found
    return replace(found, requirements=(*equal, *found.requirements))


def _merged(
    terms: Sequence[Monomial],
    variables: Sequence[sp.Symbol],
    eliminated: Mapping[sp.Symbol, Monomial],
) -> dict[Monomial, Monomial]:
    """The coefficients of a sum by powers of the variables that are left."""
    merged: dict[Monomial, list[Monomial]] = {}
    for term in terms:
        powers, coefficient = term.substitute(eliminated).split(variables)
        merged.setdefault(powers, []).append(coefficient)
    return {powers: total(parts) for powers, parts in merged.items()}


def _target(
    search: _Search, bound_sum: SumConstraint | None, eliminated: Mapping[sp.Symbol, Monomial]
) -> tuple[_Target | None, bool]:
    """What is minimised: the objective, or, where a sum is 1, the product of the two.

    Along some direction d of the logarithms every term of the sum falls alike, by
    exp(-1), and the objective grows, by exp(g). Then objective**(1/g) * sum does not
    change along d, and its least value to the power g is the least objective.

    Returns:
        The target, or None; and whether the question is settled.
    """
    if bound_sum is None:
        return _Target(search.left.objective), True
    variables, scalars = search.program.variables, search.scalars
    form = search.form(list(_merged(bound_sum.terms, variables, eliminated)))
    if any(sum(operation[1:], operation[0]) for operation in form.null_operations):
        return None, False  # no such direction
    objective = search.left.objective[0]
    rest, used = form.reduce(search.row(objective.substitute(eliminated).split(variables)[0]))
    if any(rest):
        return None, True  # the objective improves without changing the sum
    gain = -sum(used[1:], used[0])
    if not gain or search.sign(gain) <= 0:
        return None, True  # the sum does not hold the objective back
    power = field_to_expr(scalars, gain)
    shared = objective ** (1 / power)
    return _Target(tuple(shared * t for t in bound_sum.terms), power, shared), True


def _multipliers(
    search: _Search,
    target: Sequence[Monomial],
    values: Sequence[Monomial],
    chosen: Sequence[Monomial],
    active: Sequence[SumConstraint],
) -> list[tuple[SumConstraint, Requirement]] | None:
    """What the multipliers of active constraints need to be nonnegative; None: never.

    At an optimum sum_i T_i a_i + sum_k mu_k h_k = 0, with a_i the exponents of the
    terms, T_i their values and h_k the exponents of the tight constraints. So each
    mu_k is a combination of the T_i.
    """
    found: list[tuple[SumConstraint, Requirement]] = []
    form = search.form(chosen)
    for position, constraint in enumerate(active, len(chosen) - len(active)):
        table: dict[Monomial, Any] = {}
        for term, value in zip(target, values, strict=True):
            _, used = form.reduce(search.row(term))
            number, rest = without_rational(value)
            table[rest] = table.get(rest, 0) + search.scalars.convert(number) * used[position]
        positive: list[Monomial] = []
        negative: list[Monomial] = []
        for rest, weight in table.items():
            if weight:
                sign = search.sign(weight)
                size = positive_number(sign * field_to_expr(search.scalars, weight))
                # mu = -weight * value
                (negative if sign > 0 else positive).append(size * rest)
        if negative and not positive:
            return None
        if negative:
            needed = Requirement.of(total(negative), total(positive))
            if needed.settled is False:
                return None  # it would push the wrong way whatever the parameters are
            if needed.settled is None:
                found.append((constraint, needed))
    return found
