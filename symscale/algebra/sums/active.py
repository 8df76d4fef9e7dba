"""A choice of constraints that bind, put into one another.

Each is an equation: a sum of monomials that is 1. One that has become a single monomial,
beside constants, gives a variable; put in, it may turn others into such. Only exponents
decide in which order, so it is the same for all parameters. What is left has as many terms
as it has: with as many as determine their shares the optimum has a closed form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr
from symscale.algebra.sums.program import SumConstraint
from symscale.algebra.sums.recession import slope
from symscale.algebra.sums.values import Requirement, total
from symscale.errors import FormulaError

Table = Mapping[Monomial, Monomial]
"""The coefficients of a sum by powers of variables."""


@dataclass(frozen=True)
class Elimination:
    """A constraint that gave a variable.

    Attributes:
        name: Its name.
        variable: The variable.
        exponents: Those of the monomial that was left of it, by variable.
        room: What its constants leave for that monomial.
    """

    name: str
    variable: sp.Symbol
    exponents: Mapping[sp.Symbol, sp.Expr]
    room: Monomial


@dataclass(frozen=True)
class ActiveSystem:
    """What is left of an objective and constraints that bind.

    Attributes:
        variables: Those that are left.
        offset: The objective's constant part; None where it has none.
        objective: The rest of the objective.
        sums: Constraints that are sums still, each equal to 1, constants divided out.
        rooms: What the constants of each of these leave of 1.
        values: The variables that were eliminated, by those left.
        requirements: That each room is positive.
        eliminations: The constraints that gave variables, in order.
    """

    variables: tuple[sp.Symbol, ...]
    offset: Monomial | None
    objective: Table
    sums: Mapping[str, Table]
    rooms: Mapping[str, Monomial]
    values: Mapping[sp.Symbol, Monomial]
    requirements: tuple[Requirement, ...]
    eliminations: tuple[Elimination, ...]

    @property
    def terms(self) -> tuple[Monomial, ...]:
        """Powers of all terms, the objective's first."""
        return (*self.objective, *(p for table in self.sums.values() for p in table))

    def balances(self, scalars: Scalars) -> list[list[Any]]:
        """A basis of the weightings under which the exponents of all terms cancel.

        One more than the degree of difficulty, unless nothing is left to minimise.
        """
        one = scalars.convert(sp.Integer(1))
        rows = [[scalars.convert(p.exponent(x)) for x in self.variables] for p in self.terms]
        return echelon(rows, one).null_operations


def put_together(
    variables: Sequence[sp.Symbol],
    objective: Sequence[Monomial],
    chosen: Sequence[SumConstraint],
    scalars: Scalars,
) -> ActiveSystem | None:
    """Put constraints that bind into one another; None where no parameters allow it in general.

    Example:
        >>> from symscale.algebra.exact.scalars import Rationals
        >>> from symscale.language.symbols import symbols
        >>> N, T, J, K = symbols("N T J K")
        >>> one = SumConstraint("one", (Monomial.of(J/N),), "<=", "")
        >>> two = SumConstraint("two", (Monomial.of(N*K), Monomial.of(J/T)), "<=", "")
        >>> system = put_together((N, T), (Monomial.of(T),), (one, two), Rationals())
        >>> system.values[T].expr, [r.pair for r in system.requirements]
        (J/(-J*K + 1), [(J*K, 1)])
    """
    pending = {c.name: c.terms for c in chosen}
    left = list(variables)
    values: dict[sp.Symbol, Monomial] = {}
    requirements: list[Requirement] = []
    eliminations: list[Elimination] = []
    done = False
    sums: dict[str, Table] = {}
    rooms: dict[str, Monomial] = {}
    while not done:
        done = True
        sums, rooms = {}, {}
        for name, terms in list(pending.items()):
            table = merged(terms, variables, values)
            constant = table.pop(ONE, None)
            if not table:
                return None
            room = _room(constant)
            if room is None:
                return None
            if len(table) > 1:
                rooms[name] = room
                sums[name] = {p: c / room for p, c in table.items()}
                continue
            ((powers, coefficient),) = table.items()
            x = _pivot(powers, scalars)
            e = powers.exponent(x)
            value = (room / (coefficient * powers / Monomial.from_powers({x: e}))) ** (1 / e)
            values = {y: m.substitute({x: value}) for y, m in values.items()} | {x: value}
            if constant is not None:
                requirements.append(Requirement.of(constant, ONE, "<"))
            exponents = {y: powers.exponent(y) for y in variables}
            eliminations.append(Elimination(name, x, exponents, room))
            left.remove(x)
            del pending[name]
            done = False
    requirements += [
        Requirement.of(constant, ONE, "<") for name, terms in pending.items()
        if (constant := merged(terms, variables, values).get(ONE)) is not None
    ]
    table = merged(objective, variables, values)
    offset = table.pop(ONE, None)
    return ActiveSystem(
        tuple(left), offset, table, sums, rooms, values,
        tuple(dict.fromkeys(r for r in requirements if r.settled is None)), tuple(eliminations),
    )


def merged(
    terms: Sequence[Monomial], variables: Sequence[sp.Symbol],
    values: Mapping[sp.Symbol, Monomial],
) -> dict[Monomial, Monomial]:
    """The coefficients of a sum by powers of the variables that are left."""
    table: dict[Monomial, list[Monomial]] = {}
    for term in terms:
        powers, coefficient = term.substitute(values).split(variables)
        table.setdefault(powers, []).append(coefficient)
    return {powers: total(parts) for powers, parts in table.items()}


def _room(constant: Monomial | None) -> Monomial | None:
    """What is left of 1; None where it is not positive whatever the parameters are."""
    if constant is None:
        return ONE
    if Requirement.of(constant, ONE, "<").settled is False:
        return None
    try:
        return total([ONE], [constant])
    except FormulaError:
        return None


def _pivot(powers: Monomial, scalars: Scalars) -> Any:
    """The variable to solve for: one whose exponent is a number, if there is one."""
    for x, e in powers.powers:
        if e.is_Rational:
            return x
    x, e = powers.powers[0]
    if not _sign(scalars.convert(e), scalars):
        raise IndeterminateSignError(e)
    return x


def _sign(value: Any, scalars: Scalars) -> int:
    """The sign of an element of the field, over the whole domain."""
    return scalars.sign(scalars.clear([value, scalars.convert(sp.Integer(1))])[0])


@dataclass(frozen=True)
class Held:
    """A system whose objective is one product that a sum holds, and what the sum says of it.

    Where every term of a sum falls alike along a direction, by exp(-1), and the objective
    grows, by exp(g), the sum says `objective**(1/g) = sum of objective**(1/g)*term`, whose
    terms do not change along it. It is used where one of these is a constant.

    Attributes:
        system: With these terms in place of the objective, and without the sum.
        name: Of the sum.
        gain: The exponent g.
    """

    system: ActiveSystem
    name: str
    gain: sp.Expr


def held(system: ActiveSystem, scalars: Scalars) -> Held | None:
    """The sum that holds a one-term objective beside a constant, if there is one.

    Example:
        >>> from symscale.algebra.exact.scalars import Rationals
        >>> from symscale.language.symbols import symbols
        >>> N, T, J, K = symbols("N T J K")
        >>> time = SumConstraint("time", tuple(Monomial.of(t/T) for t in (J, K*N, 1/N)), "<=", "")
        >>> system = put_together((N, T), (Monomial.of(T),), (time,), Rationals())
        >>> found = held(system, Rationals())
        >>> found.name, found.gain, found.system.offset.expr, len(found.system.objective)
        ('time', 1, J, 2)
    """
    if len(system.objective) != 1 or system.offset is not None:
        return None
    ((powers, coefficient),) = system.objective.items()
    for name, table in system.sums.items():
        gain = _gain(powers, name, system, scalars)
        if gain is None:
            continue
        root = (powers * coefficient) ** (1 / gain)
        terms = merged([root * p * c for p, c in table.items()], system.variables, {})
        offset = terms.pop(ONE, None)
        if offset is None:
            continue
        rest = {n: t for n, t in system.sums.items() if n != name}
        return Held(replace(system, offset=offset, objective=terms, sums=rest), name, gain)
    return None


def _gain(
    objective: Monomial, name: str, system: ActiveSystem, scalars: Scalars
) -> sp.Expr | None:
    """By what the objective grows where a sum's terms all fall by 1 and no other changes."""
    one = scalars.convert(sp.Integer(1))

    def row(powers: Monomial, fall: bool) -> list[Any]:
        return [*(scalars.convert(powers.exponent(x)) for x in system.variables),
                one if fall else one - one]

    rows = [row(p, n == name) for n, table in system.sums.items() for p in table]
    form = echelon(rows, one)
    if any(pivot == len(system.variables) for pivot in form.pivots):
        return None  # no such direction
    rest, _ = form.reduce(row(objective, False))
    if any(rest[:-1]):
        return None  # the objective changes without any sum
    gain = -rest[-1] * one
    return field_to_expr(scalars, -gain) if _sign(-gain, scalars) > 0 else None


def balanced(
    terms: Sequence[Monomial], level: Sequence[Monomial], variables: Sequence[sp.Symbol],
    domain: Domain, symbols: Sequence[sp.Symbol],
) -> bool:
    """Whether positive weights of terms may exist under which their exponents cancel.

    They do not where along some direction no term grows and one falls (Stiemke): then the
    constraints these terms are of do not all hold the objective, whatever the parameters.

    Args:
        terms: All terms of the objective and of the constraints that bind.
        level: Those of equalities, whose weight may have either sign.
        variables: The variables.
        domain: Where the parameters live.
        symbols: Those that stand in exponents.
    """
    sample = domain.sample() if symbols else {}
    rows = [_row(t, variables, sample) for t in terms]
    goal = [-sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    if not any(goal):
        return True
    matrix = [*rows, goal]
    bounds = [Fraction(0)] * len(rows) + [Fraction(1)]
    for t in level:
        row = _row(t, variables, sample)
        matrix += [row, [-x for x in row]]
        bounds += [Fraction(0)] * 2
    found = simplex.maximize(goal, matrix, bounds)
    if sum(g * x for g, x in zip(goal, found.point, strict=True)) <= 0:
        return True
    direction = {
        x: sp.Rational(v.numerator, v.denominator)
        for x, v in zip(variables, found.point, strict=True) if v
    }
    if not symbols:
        return False
    try:
        signs = [domain.sign(slope(t, direction)) for t in terms]
        tied = [domain.sign(slope(t, direction)) for t in level]
    except IndeterminateSignError:
        return True
    return any(s > 0 for s in signs) or not any(signs) or any(tied)


def _row(
    term: Monomial, variables: Sequence[sp.Symbol], sample: Mapping[Any, Any]
) -> list[Fraction]:
    exponents = [sp.Rational(term.exponent(x).subs(sample)) for x in variables]
    return [Fraction(int(e.p), int(e.q)) for e in exponents]
