"""Terms that vanish for ever: what is left of a program when variables run away.

If along a direction no term grows and some vanish, the infimum is that of the program
without these, provided the constraints that lost terms can be satisfied with room to spare.
After one such reduction nothing more vanishes (of each term either it falls along some
direction, or a multiplier of it is positive in some dual point), so the infimum of what is
left is attained.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.monomial import Monomial, canonical_exponent
from symscale.algebra.sums.program import GeometricProgram, SumConstraint

Direction = Mapping[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class RecessionReduction:
    """A program without the terms that vanish along a direction.

    Attributes:
        program: What is left; without objective where that vanishes as a whole.
        direction: By which powers the variables change together; empty if nothing vanishes.
        loses_objective: Whether terms of the objective vanish.
        lossy: The constraints left that lost terms: strictly below 1 without these.
        settled: Whether it is known for all exponents that nothing else vanishes.
    """

    program: GeometricProgram
    direction: Direction = field(default_factory=dict)
    loses_objective: bool = False
    lossy: frozenset[str] = frozenset()
    settled: bool = True


def reduce(program: GeometricProgram) -> RecessionReduction:
    """Leave out every term that can vanish while no term grows.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.language.symbols import symbols
        >>> x, a, c = symbols("N J K")
        >>> terms = Monomial.of(a/x), Monomial.of(c)
        >>> found = reduce(GeometricProgram((x,), terms, (), Domain()))
        >>> found.direction, [t.expr for t in found.program.objective]
        ({N: 1}, [K])
    """
    sample = program.domain.sample()
    rows = [_row(t, program, sample) for t in _inequalities(program)]
    level = [_row(c.terms[0], program, sample) for c in program.constraints if c.relation == "=="]
    direction = _steepest(rows, level, len(program.variables))
    moves = {
        x: sp.Rational(v.numerator, v.denominator)
        for x, v in zip(program.variables, direction, strict=True) if v
    }
    settled = not program.exponent_symbols
    if not moves:
        return RecessionReduction(program, settled=settled)
    try:
        return _without(program, moves, settled)
    except IndeterminateSignError:
        return RecessionReduction(program, settled=False)


def slope(term: Monomial, direction: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The power with which a term changes along a direction."""
    parts = [term.exponent(x) * power for x, power in direction.items()]
    return canonical_exponent(sp.Add(*parts))


def shrinking(
    program: GeometricProgram, lossy: frozenset[str], tight: frozenset[str] | None = None
) -> Direction | None:
    """A direction along which all of some constraints' terms grow, and no other's fall.

    Backwards along it these constraints become strict and the others stay; with `tight`
    only the constraints named there must.
    """
    sample = program.domain.sample()
    size = len(program.variables)
    matrix: list[list[Fraction]] = []
    bounds: list[Fraction] = []
    for c in program.constraints:
        if tight is not None and c.name not in tight and c.relation != "==":
            continue
        for term in c.terms:
            row = _row(term, program, sample)
            matrix.append([-x for x in row])
            bounds.append(Fraction(-1 if c.name in lossy else 0))
            if c.relation == "==":
                matrix.append(row)
                bounds.append(Fraction(0))
    spread = [[Fraction(s * int(i == k)) for i in range(size)] + [Fraction(-int(i == k))
              for i in range(size)] for k in range(size) for s in (1, -1)]
    matrix = [row + [Fraction(0)] * size for row in matrix] + spread
    bounds += [Fraction(0)] * len(spread)
    goal = [Fraction(0)] * size + [Fraction(-1)] * size
    found = simplex.maximize(goal, matrix, bounds)
    if found.status != "optimal":
        return None
    return {
        x: sp.Rational(v.numerator, v.denominator)
        for x, v in zip(program.variables, found.point, strict=False) if v
    }


def _inequalities(program: GeometricProgram) -> list[Monomial]:
    at_most = [c for c in program.constraints if c.relation == "<="]
    return [*program.objective, *(t for c in at_most for t in c.terms)]


def _row(term: Monomial, program: GeometricProgram, sample: Mapping[Any, Any]) -> list[Fraction]:
    exponents = [sp.Rational(term.exponent(x).subs(sample)) for x in program.variables]
    return [Fraction(int(e.p), int(e.q)) for e in exponents]


def _steepest(
    rows: list[list[Fraction]], level: list[list[Fraction]], size: int
) -> list[Fraction]:
    """A direction along which as many rows as possible fall, and none grows; whole numbers."""
    falling = [row for row in rows if any(row)]
    count = len(falling)
    zero, one = Fraction(0), Fraction(1)
    matrix: list[list[Fraction]] = []
    bounds: list[Fraction] = []
    for k, row in enumerate(falling):
        unit = [one if i == k else zero for i in range(count)]
        matrix += [[*row, *unit], [zero] * size + unit, [zero] * size + [-x for x in unit]]
        bounds += [zero, one, zero]
    for row in level:
        for sign in (1, -1):
            matrix.append([sign * x for x in row] + [zero] * count)
            bounds.append(zero)
    found = simplex.maximize([zero] * size + [one] * count, matrix, bounds)
    if found.status != "optimal" or not any(found.point[size:]):
        return [zero] * size
    point = found.point[:size]
    scale = Fraction(math.lcm(*(x.denominator for x in point)))
    whole = [x * scale for x in point]
    divisor = math.gcd(*(int(x) for x in whole)) or 1
    return [x / divisor for x in whole]


def _without(program: GeometricProgram, direction: Direction, settled: bool) -> RecessionReduction:
    def kept(terms: tuple[Monomial, ...]) -> tuple[Monomial, ...]:
        signs = [program.domain.sign(slope(t, direction)) for t in terms]
        if any(s > 0 for s in signs):
            raise IndeterminateSignError(sp.Integer(0))
        return tuple(t for t, s in zip(terms, signs, strict=True) if not s)

    objective = kept(program.objective)
    constraints: list[SumConstraint] = []
    lossy: set[str] = set()
    for c in program.constraints:
        left = kept(c.terms)
        if c.relation == "==" and not left:
            raise IndeterminateSignError(sp.Integer(0))
        if left:
            constraints.append(replace(c, terms=left))
            if len(left) < len(c.terms):
                lossy.add(c.name)
    return RecessionReduction(
        replace(program, objective=objective, constraints=tuple(constraints)), direction,
        len(objective) < len(program.objective), frozenset(lossy), settled,
    )
