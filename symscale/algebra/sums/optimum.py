"""The optimum of constraints that bind, put into one another, and what each is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr
from symscale.algebra.sums.active import ActiveSystem, Elimination, Held, Table, held
from symscale.algebra.sums.program import SumConstraint
from symscale.algebra.sums.values import Signed, positive_number, signed, total


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
    powers: list[Monomial] = []
    start = count
    for table in inner.sums.values():
        end = start + len(table)
        power = scalars.to_expr(sum(ring[start + 1:end], ring[start]), whole)
        varying = varying * positive_number(power) ** power
        powers.append(positive_number(power))
        start = end
    found = Weighted(tuple(positive_number(w) for w in weights), tuple(powers))
    return optimum_with(system, holding, varying, found, scalars), True


@dataclass(frozen=True)
class Weighted:
    """Weights that balance the exponents of all terms.

    Attributes:
        terms: Of the terms, the objective's first; these add up to 1.
        sums: Of the constraints that are sums, the sum of the weights of each.
    """

    terms: tuple[Monomial, ...]
    sums: tuple[Monomial, ...]

    def shares(self, tables: Sequence[Table], count: int) -> list[Monomial]:
        """What of its sum each term is, the first `count` of them of the objective."""
        wholes = [ONE] * count
        for whole, table in zip(self.sums, tables, strict=True):
            wholes += [whole] * len(table)
        return [w / whole for w, whole in zip(self.terms, wholes, strict=True)]


def optimum_with(
    system: ActiveSystem, holding: Held | None, varying: Monomial, weights: Weighted,
    scalars: Scalars, dropped: int | None = None,
) -> SystemOptimum:
    """The optimum of a system from the weights of its terms.

    Args:
        system: The system.
        holding: The same with what a sum says of the objective in its place, if one does.
        varying: The least of the objective's varying part.
        weights: Those of the terms.
        scalars: What exponents are made of.
        dropped: A term whose value follows from those of the others.
    """
    inner = system if holding is None else holding.system
    count = len(inner.objective)
    least = total([m for m in (varying, inner.offset) if m is not None])
    shares = weights.shares(list(inner.sums.values()), count)
    shares = [s * varying for s in shares[:count]] + shares[count:]
    coefficients = [c for t in (inner.objective, *inner.sums.values()) for c in t.values()]
    values = [(p, s / c) for p, s, c in zip(inner.terms, shares, coefficients, strict=True)]
    worth = {n: varying * p for n, p in zip(inner.sums, weights.sums, strict=True)}
    last = None if dropped is None else values[dropped]
    if holding is None:
        values.sort(key=lambda value: value == last)
        return _solved(system, values, worth, least, scalars)
    ((objective, _),) = system.objective.items()
    root = objective ** (1 / holding.gain)
    assert inner.offset is not None  # noqa: S101  # that is what makes it hold
    parts = dict(zip(inner.objective, shares, strict=False)) | {ONE: inner.offset}
    own: list[tuple[Monomial, Monomial]] = []
    for p, c in system.sums[holding.name].items():
        inside = (root * p).split(system.variables)[0]
        own.append((p, parts[inside] / (least * c)))
        if last is not None and dropped is not None and dropped < count and inside == last[0]:
            last = own[-1]
    value = least**holding.gain
    factor = value * positive_number(holding.gain)
    worth = {n: m * factor / least for n, m in worth.items()} | {holding.name: factor}
    values = sorted([*own, *values[count:]], key=lambda value: value == last)
    return _solved(system, values, worth, value, scalars)


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
