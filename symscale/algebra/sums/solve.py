"""The least sum of monomials under sums of monomials at most 1, in closed form.

There is one where the constraints that bind, put into one another (`active`), leave as
many terms as determine their shares. The problem is convex in logarithms, so a point that
satisfies the optimality conditions is the optimum: each piece carries them as its region.

Terms that vanish as variables run away are left out before (`recession`), and variables
that the optimum leaves free are eliminated from the region afterwards (`projection`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import sympy as sp

from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, scalars_for
from symscale.algebra.sums.active import balanced, merged, put_together
from symscale.algebra.sums.optimum import multipliers, optimum_of
from symscale.algebra.sums.piece import Along, Beyond, SumPiece
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.projection import (
    Row,
    SumProjection,
    fold,
    project,
)
from symscale.algebra.sums.recession import Direction, RecessionReduction, reduce, shrinking
from symscale.algebra.sums.values import Requirement, Signed, sides_of, total

MAX_ACTIVE_SETS = 4000
MAX_CHOICES = 40_000


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
        beyond: Solves what has more terms than determine it.
    """

    program: GeometricProgram
    left: GeometricProgram
    reduction: RecessionReduction
    requirements: tuple[Requirement, ...]
    equalities: tuple[SumConstraint, ...]
    scalars: Scalars
    beyond: Beyond | None


def candidates(
    program: GeometricProgram, beyond: Beyond | None = None
) -> tuple[tuple[SumPiece, ...], bool]:
    """Find closed forms of the optimum, whether or not they rule anywhere.

    Args:
        program: The program.
        beyond: What solves systems that have one term more than determines them.

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
    equalities = _independent(left, scalars)
    search = _Search(program, left, reduction, requirements, equalities, scalars, beyond)
    pieces: list[SumPiece] = []
    complete = True
    for tried, active in enumerate(_choices(search)):
        if tried >= MAX_ACTIVE_SETS or active is None:
            return tuple(pieces), False
        try:
            piece, closed = _piece(search, active)
        except IndeterminateSignError:
            piece, closed = None, False
        complete = complete and closed
        if piece is not None:
            pieces.append(piece)
    return tuple(pieces), complete


def _choices(search: _Search) -> Iterator[tuple[SumConstraint, ...] | None]:
    """Constraints that may all hold the objective at once; None where there are too many."""
    room = len(search.program.variables) - len(search.equalities)
    bounds = [c for c in search.left.constraints if c.relation == "<="]
    level = [c.terms[0] for c in search.equalities]
    symbols = search.program.exponent_symbols
    looked = 0
    for size in range(min(len(bounds), room) + 1):
        for active in combinations(bounds, size):
            looked += 1
            if looked > MAX_CHOICES:
                yield None
                return
            terms = [*search.left.objective, *(t for c in active for t in c.terms)]
            if balanced(terms, level, search.program.variables, search.program.domain, symbols):
                yield active


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
    table = merged(program.objective, program.variables, {})
    objective = tuple(powers * coefficient for powers, coefficient in table.items())
    left = replace(program, objective=objective, constraints=tuple(kept))
    return left, tuple(requirements)


def _independent(
    program: GeometricProgram, scalars: Scalars
) -> tuple[SumConstraint, ...]:
    """Equalities of which none follows from others; the rest restrict the parameters."""
    kept: list[SumConstraint] = []
    one = scalars.convert(sp.Integer(1))
    for c in program.constraints:
        if c.relation == "==":
            rows = [[scalars.convert(k.terms[0].exponent(x)) for x in program.variables]
                    for k in (*kept, c)]
            if not echelon(rows, one).null_operations:
                kept.append(c)
    return tuple(kept)


def _piece(
    search: _Search, active: Sequence[SumConstraint]
) -> tuple[SumPiece | None, bool]:
    """The optimum with a choice of constraints tight; and whether this choice is settled."""
    names = {c.name for c in (*search.equalities, *active)}
    kept = search.reduction.program
    chosen = [c for c in kept.constraints if c.name in names]
    chosen.sort(key=lambda c: c.relation != "==")
    system = put_together(search.program.variables, kept.objective, chosen, search.scalars)
    if system is None:
        return None, True  # dependent: another choice covers it
    found, closed = optimum_of(system, search.scalars)
    rooms, along = system.requirements, None
    if found is None and not closed and search.beyond is not None:
        further = search.beyond(search.program, system, search.scalars)
        if further is not None:
            found, closed, along = further.optimum, True, further.along
            rooms = (*rooms, *further.requirements)
    if found is None:
        return None, closed
    worth = multipliers(system, found, kept.objective, chosen, search.program.domain)
    signs: list[tuple[SumConstraint, Requirement]] = []
    for c in active:
        if worth[c.name].negative and not worth[c.name].positive:
            return None, True  # it would push the wrong way whatever the parameters are
        needed = worth[c.name].needed
        if needed is not None:
            signs.append((c, needed))
    return _ruling(
        search, active, found.value, found.values, found.free, signs, rooms, worth, along
    )


def _ruling(
    search: _Search,
    binding: Sequence[SumConstraint],
    least: Monomial,
    point: Mapping[sp.Symbol, Monomial],
    free: Sequence[sp.Symbol],
    optimal: Sequence[tuple[SumConstraint, Requirement]],
    rooms: Sequence[Requirement],
    worth: Mapping[str, Signed],
    along: Along | None,
) -> tuple[SumPiece | None, bool]:
    """The piece of a point that is stationary, where it is feasible and optimal."""
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
    requirements = [*search.requirements, *rooms, *projection.requirements]
    signs = [replace(r, relation="<") if c.name in strict else r for c, r in optimal]
    requirements += signs
    verdicts = {
        r: r.settled if along is None or r.settled is not None else along.settled(r)
        for r in requirements
    }
    found = [r for r, verdict in verdicts.items() if verdict is not True]
    if False in verdicts.values():
        return None, True
    places = [
        replace(p, values={**p.values, **{x: m.substitute(p.values) for x, m in point.items()}})
        for p in projection.places
    ]
    names = tuple(c.name for c in binding)
    direction = reduction.direction if infimum else {}
    value = least**-1 if search.program.inverse else least
    found = _strictly(found, [value, *(m for p in places for m in p.values.values())])
    return SumPiece(
        value, names, tuple(found), tuple(places), projection.ranges,
        "infimum" if infimum else "optimal", direction, shrink, tuple(signs), worth,
        along=along,
    ), True


def _strictly(
    requirements: Sequence[Requirement], monomials: Sequence[Monomial]
) -> list[Requirement]:
    """Requirements without the equality at which a difference in a formula would vanish."""
    positive = set()
    for atom in {a for m in monomials for a in m.atoms if a.is_Add}:
        above, below = sides_of(atom)
        if above and below:
            positive.add(Requirement.of(total(below), total(above)).ratio)
    return [
        replace(r, relation="<") if r.relation == "<=" and r.ratio in positive else r
        for r in requirements
    ]


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
