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
from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr
from symscale.algebra.sums.program import SumConstraint
from symscale.algebra.sums.recession import slope
from symscale.algebra.sums.values import Requirement, Signed, positive_number, signed, total
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


@dataclass(frozen=True)
class SystemOptimum:
    """The optimum of a system that has as many terms as determine it.

    Attributes:
        value: The least objective, offset included.
        values: The variables; those that are free stand for themselves.
        free: The variables that are left free.
        worth: Of each sum left, what its multiplier is times its room.
    """

    value: Monomial
    values: Mapping[sp.Symbol, Monomial]
    free: tuple[sp.Symbol, ...]
    worth: Mapping[str, Monomial]


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


def optimum_of(system: ActiveSystem, scalars: Scalars) -> tuple[SystemOptimum | None, bool]:
    """The optimum of a system, where its terms have one weighting that balances exponents.

    Then each term is its weight's share, `value = offset + prod (c_i/d_i)^d_i prod l_k^l_k`
    with d_i the weights, the objective's adding up to 1, and l_k their sum in constraint k.

    Returns:
        The optimum, or None; and whether the question is settled: the system has no closed
        form of this kind where it is not, and cannot be optimal where it is.
    """
    if not system.objective:
        if system.sums or system.offset is None:
            return None, True  # what binds beside would not be needed
        free = {x: Monomial.of(x) for x in system.variables}
        return SystemOptimum(
            system.offset, {**free, **system.values}, system.variables, {}
        ), True
    holding = held(system, scalars)
    inner = system if holding is None else holding.system
    balances = inner.balances(scalars)
    if len(balances) != 1:
        return None, not balances
    ring = scalars.clear(balances[0])
    if not all(ring) or len({scalars.sign(w) for w in ring}) != 1:
        return None, True
    count = len(inner.objective)
    whole = sum(ring[1:count], ring[0])
    weights = [scalars.to_expr(w, whole) for w in ring]
    varying = ONE
    coefficients = [c for t in (inner.objective, *inner.sums.values()) for c in t.values()]
    for c, weight in zip(coefficients, weights, strict=True):
        varying = varying * (c / positive_number(weight)) ** weight
    powers: dict[str, Monomial] = {}
    places, start = [], count
    for name, table in inner.sums.items():
        end = start + len(table)
        power = scalars.to_expr(sum(ring[start + 1:end], ring[start]), whole)
        varying = varying * positive_number(power) ** power
        powers[name] = positive_number(power)
        places += [powers[name]] * len(table)
        start = end
    least = total([m for m in (varying, inner.offset) if m is not None])
    shares = [positive_number(w) for w in weights]
    shares = [s * varying for s in shares[:count]] + [
        s / p for s, p in zip(shares[count:], places, strict=True)
    ]
    values = [(p, s / c) for p, s, c in zip(inner.terms, shares, coefficients, strict=True)]
    worth = {n: varying * p for n, p in powers.items()}
    if holding is None:
        return _solved(system, values, worth, least, scalars), True
    ((objective, _),) = system.objective.items()
    root = objective ** (1 / holding.gain)
    parts = dict(zip(inner.objective, shares, strict=False)) | {ONE: inner.offset}
    own = [
        (p, parts[(root * p).split(system.variables)[0]] / (least * c))
        for p, c in system.sums[holding.name].items()
    ]
    value = least**holding.gain
    factor = value * positive_number(holding.gain)
    worth = {n: m * factor / least for n, m in worth.items()} | {holding.name: factor}
    return _solved(system, [*own, *values[count:]], worth, value, scalars), True


def _solved(
    system: ActiveSystem,
    values: Sequence[tuple[Monomial, Monomial]],
    worth: Mapping[str, Monomial],
    value: Monomial,
    scalars: Scalars,
) -> SystemOptimum:
    """The optimum with its point, from the values of products of powers of the variables."""
    rows = [[scalars.convert(p.exponent(x)) for x in system.variables] for p, _ in values]
    form = echelon(rows, scalars.convert(sp.Integer(1)))
    solved = solve_monomials(system.variables, form, [v for _, v in values], scalars)
    free = tuple(x for x in system.variables if x not in solved)
    point = {x: solved.get(x, Monomial.of(x)) for x in system.variables}
    point |= {x: m.substitute(point) for x, m in system.values.items()}
    return SystemOptimum(value, point, free, worth)


def solve_monomials(
    variables: Sequence[sp.Symbol], form: Any, values: Sequence[Monomial], scalars: Scalars
) -> dict[sp.Symbol, Monomial]:
    """Variables in pivot columns as monomials in the others, from `prod(x**row) = value`."""
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


_Slopes = dict[sp.Symbol, dict[Monomial, sp.Expr]]
"""By variable, how a sum changes with its logarithm: coefficients of monomials."""


def multipliers(
    system: ActiveSystem,
    found: SystemOptimum,
    objective: Sequence[Monomial],
    chosen: Sequence[SumConstraint],
    domain: Domain,
) -> dict[str, Signed]:
    """What each constraint that binds is worth: how much less the objective would be.

    At the optimum `sum_i T_i a_i + sum_k m_k sum_j t_kj h_kj = 0`, with T_i and t_kj the
    values of terms and a_i and h_kj their exponents. The constraints that gave variables
    come in the order in which they did, each free of the variables of those before it, so
    the equations are solved from the last to the first.
    """
    steps = system.eliminations
    slopes = {c.name: _slopes(c.terms, found.values, system) for c in chosen}
    goal = _slopes(objective, found.values, system)
    known: dict[str, Terms] = {}
    for name, product in found.worth.items():
        worth = product / system.rooms[name]
        known[name] = ((sp.Integer(1), worth),)
        for x, table in slopes[name].items():
            for m, c in table.items():
                _add(goal.setdefault(x, {}), c, m * worth)
    needs = _reduced(goal, steps)
    parts = {s.name: _reduced(slopes[s.name], steps[:k]) for k, s in enumerate(steps)}
    for k in reversed(range(len(steps))):
        step, table = steps[k], {}
        for m, c in needs.get(k, {}).items():
            _add(table, -c, m / step.room)
        for later in steps[k + 1:]:
            for m, c in parts[later.name].get(k, {}).items():
                for d, n in known[later.name]:
                    _add(table, -c * d, m * n / step.room)
        known[step.name] = tuple((c, m) for m, c in table.items())
    return {name: signed(terms, domain) for name, terms in known.items()}


def _slopes(
    terms: Sequence[Monomial], values: Mapping[sp.Symbol, Monomial], system: ActiveSystem
) -> _Slopes:
    variables = (*system.variables, *system.values)
    found: _Slopes = {}
    for term in terms:
        at = term.substitute(values)
        for x in variables:
            e = term.exponent(x)
            if e != 0:
                _add(found.setdefault(x, {}), e, at)
    return found


def _add(table: dict[Monomial, sp.Expr], coefficient: sp.Expr, monomial: Monomial) -> None:
    rest = sp.cancel(table.get(monomial, sp.Integer(0)) + coefficient)
    if rest == 0:
        table.pop(monomial, None)
    else:
        table[monomial] = rest


def _reduced(
    slopes: _Slopes, steps: Sequence[Elimination]
) -> dict[int, dict[Monomial, sp.Expr]]:
    """How often the monomial of each step is contained, one after the other."""
    left = {x: dict(table) for x, table in slopes.items()}
    found: dict[int, dict[Monomial, sp.Expr]] = {}
    for k, step in enumerate(steps):
        table = left.pop(step.variable, {})
        if not table:
            continue
        pivot = step.exponents[step.variable]
        found[k] = {m: sp.cancel(c / pivot) for m, c in table.items()}
        for y, e in step.exponents.items():
            if e != 0 and y != step.variable:
                for m, c in found[k].items():
                    _add(left.setdefault(y, {}), -c * e, m)
    return found


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
