"""Variables that an optimum leaves free: eliminated exactly, and given a place.

Sums of monomials in the free variables are to be at most 1. A variable that only sums
rising in it contain may go to zero; where some fall in it as well, and either kind bounds
it purely (`x >= L`), it is put at its bounds in all of the other kind: the greatest lower
bound within a rising sum is the greatest of the sums. What is left are requirements on the
parameters: the exact projection, as by Fourier and Motzkin in logarithms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.sums.values import Requirement, total

_MOST_ROWS = 60
_MOST_PLACES = 16
_MOST_POWER = 3

Point = Mapping[sp.Symbol, Monomial]


@dataclass(frozen=True)
class Row:
    """A sum that is at most 1, or below it.

    Attributes:
        terms: Its terms.
        strict: Whether it is below 1.
    """

    terms: tuple[Monomial, ...]
    strict: bool = False


@dataclass(frozen=True)
class VariableRange:
    """Between what a free variable lies, given those that are named in its ends.

    Attributes:
        lower: It is at least each of these.
        upper: It is at most each of these.
        bounded: Whether other conditions than these hold it.
    """

    lower: tuple[Monomial, ...] = ()
    upper: tuple[Monomial, ...] = ()
    bounded: bool = False


@dataclass(frozen=True)
class SumPlace:
    """Values of the free variables that satisfy all sums where some requirements hold."""

    requirements: tuple[Requirement, ...]
    values: Point


@dataclass(frozen=True)
class SumProjection:
    """What sums of monomials say without their free variables.

    Attributes:
        requirements: What must hold for the variables to exist.
        ranges: Between what each variable lies.
        places: Values of the variables; for each parameters one of the places holds.
    """

    requirements: tuple[Requirement, ...]
    ranges: Mapping[sp.Symbol, VariableRange]
    places: tuple[SumPlace, ...]


@dataclass(frozen=True)
class _Step:
    """How a variable was eliminated: the rows that rise in it, and those that fall."""

    variable: sp.Symbol
    upper: tuple[Row, ...]
    lower: tuple[Row, ...]


class _TooHardError(Exception):
    """No variable is bounded purely, or there are too many rows."""


def project(
    rows: Sequence[Row], variables: Sequence[sp.Symbol], domain: Domain
) -> SumProjection | None:
    """Eliminate variables from sums that are to be at most 1; None where no way is known.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> x, b, d, a = symbols("N b K J")
        >>> capacity = Row((Monomial.of(a/d), Monomial.of(x/d)))
        >>> found = project([capacity, Row((Monomial.of(x/b),))], [x], Domain())
        >>> [r.pair for r in found.requirements], [m.expr for m in found.ranges[x].upper]
        ([(J, K)], [-J + K, b])
    """
    try:
        return _project(rows, variables, domain)
    except (_TooHardError, IndeterminateSignError):
        return None


def _project(
    rows: Sequence[Row], variables: Sequence[sp.Symbol], domain: Domain
) -> SumProjection:
    requirements: list[Requirement] = []
    left = list(variables)
    steps: list[_Step] = []
    current = fold(rows, left, requirements)
    while left:
        x, upper, lower = _next(current, left, domain)
        steps.append(_Step(x, tuple(upper), tuple(lower)))
        rest = [r for r in current if r not in upper and r not in lower]
        left.remove(x)
        rest += _eliminated(x, upper, lower)
        if len(rest) > _MOST_ROWS:
            raise _TooHardError
        current = fold(rest, left, requirements)
    ranges = {step.variable: _range(step) for step in steps}
    places = [SumPlace((), {})]
    for step in reversed(steps):
        places = [more for place in places for more in _placed(step, place)]
        if len(places) > _MOST_PLACES:
            raise _TooHardError
    return SumProjection(tuple(dict.fromkeys(requirements)), ranges, tuple(places))


def fold(
    rows: Sequence[Row], variables: Sequence[sp.Symbol], requirements: list[Requirement]
) -> list[Row]:
    """Rows with their constants taken to the other side, as requirements where that is all."""
    found: dict[Row, None] = {}
    for row in rows:
        table: dict[Monomial, list[Monomial]] = {}
        for term in row.terms:
            powers, coefficient = term.split(variables)
            table.setdefault(powers, []).append(coefficient)
        constants = table.pop(ONE, [])
        if constants:
            fixed = total(constants)
            strict = bool(table) or row.strict
            requirements.append(Requirement.of(fixed, ONE, "<" if strict else "<="))
            if not table:
                continue
            if not fixed.free_symbols and not requirements[-1].holds({}):
                continue  # nothing satisfies it, and the requirement says so
        room = total([ONE], constants) if constants else ONE
        terms = tuple(powers * total(parts) / room for powers, parts in table.items())
        found.setdefault(Row(terms, row.strict))
    return list(found)


def _next(
    rows: Sequence[Row], variables: Sequence[sp.Symbol], domain: Domain
) -> tuple[sp.Symbol, list[Row], list[Row]]:
    """The variable that is easiest to eliminate, with the rows that rise and fall in it."""
    best: tuple[int, sp.Symbol, list[Row], list[Row]] | None = None
    for x in variables:
        upper: list[Row] = []
        lower: list[Row] = []
        for row in rows:
            signs = {domain.sign(t.exponent(x)) for t in row.terms if t.exponent(x) != 0}
            if len(signs) > 1:
                break
            if signs:
                (upper if signs == {1} else lower).append(row)
        else:
            if not upper or not lower:
                return x, upper, lower
            if _pure(x, upper) or _pure(x, lower):
                cost = len(upper) * len(lower)
                if best is None or cost < best[0]:
                    best = cost, x, upper, lower
    if best is None:
        raise _TooHardError
    return best[1:]


def _powers(x: sp.Symbol, row: Row) -> set[sp.Expr]:
    return {t.exponent(x) for t in row.terms} - {sp.Integer(0)}


def _pure(x: sp.Symbol, rows: Sequence[Row]) -> bool:
    return all(len({t.exponent(x) for t in row.terms}) == 1 for row in rows)


def _eliminated(x: sp.Symbol, upper: list[Row], lower: list[Row]) -> Iterator[Row]:
    if not upper or not lower:
        for row in (*upper, *lower):  # x runs away, and what contains it vanishes
            kept = tuple(t for t in row.terms if t.exponent(x) == 0)
            if kept:
                yield Row(kept, strict=True)
        return
    pure, other = (lower, upper) if _pure(x, lower) else (upper, lower)
    for bound in pure:
        power = abs(bound.terms[0].exponent(x))
        inside = [t.split([x])[1] for t in bound.terms]
        for row in other:
            terms: list[Monomial] = []
            for term in row.terms:
                ours, rest = term.split([x])
                terms += _times(rest, inside, abs(ours.exponent(x)) / power)
            yield Row(tuple(terms), row.strict or bound.strict)


def _times(rest: Monomial, inside: Sequence[Monomial], power: sp.Expr) -> list[Monomial]:
    """The terms of `rest * sum(inside)**power`."""
    if power == 0:
        return [rest]
    if len(inside) == 1:
        return [rest * inside[0] ** power]
    if not (power.is_Integer and power <= _MOST_POWER):
        raise _TooHardError
    found = [rest]
    for _ in range(int(power)):
        found = [m * t for m in found for t in inside]
    return found


def _range(step: _Step) -> VariableRange:
    x = step.variable
    upper, lower = (
        tuple(b for row in rows for b in _bounds(x, row) if len(_powers(x, row)) == 1)
        for rows in (step.upper, step.lower)
    )
    return VariableRange(lower, upper, len(upper) + len(lower) < len(step.upper) + len(step.lower))


def _bounds(x: sp.Symbol, row: Row) -> list[Monomial]:
    """Bounds on a variable, all of which together suffice: exactly one where it is pure."""
    table: dict[sp.Expr, list[Monomial]] = {}
    for term in row.terms:
        powers, rest = term.split([x])
        table.setdefault(powers.exponent(x), []).append(rest)
    constants = table.pop(sp.Integer(0), [])
    room = total([ONE], constants) if constants else ONE
    share = Monomial.of(len(table))
    return [(room / (share * total(rest))) ** (1 / power) for power, rest in table.items()]


def _whole(step: _Step) -> bool:
    """Whether a variable stands to whole powers only."""
    rows = (*step.upper, *step.lower)
    return all(t.exponent(step.variable).is_Integer for r in rows for t in r.terms)


def _placed(step: _Step, place: SumPlace) -> Iterator[SumPlace]:
    """Give a variable a value that satisfies its rows, the later ones having theirs."""
    x = step.variable

    def bounds(rows: Sequence[Row]) -> list[Monomial]:
        there = [replace(r, terms=tuple(t.substitute(place.values) for t in r.terms)) for r in rows]
        return list(dict.fromkeys(b for row in there for b in _bounds(x, row)))

    def at(value: Monomial, *requirements: Requirement) -> SumPlace:
        return SumPlace((*place.requirements, *requirements), {**place.values, x: value})

    upper, lower = bounds(step.upper), bounds(step.lower)
    strict = any(r.strict for r in (*step.upper, *step.lower))
    if not upper and not lower:
        yield at(ONE)
    elif not strict and not (upper and lower) and not _whole(step):
        # The greatest or least bound itself: a sum of them has no root that is a product.
        for end in upper or lower:
            others = [b for b in upper or lower if b != end]
            yield at(end, *(Requirement.of(end, b) if upper else Requirement.of(b, end)
                            for b in others))
    elif not lower:
        inverse = total([u**-1 for u in upper])
        yield at((inverse * Monomial.of(2) if strict and len(upper) == 1 else inverse) ** -1)
    elif not upper:
        yield at(total(lower) * Monomial.of(2 if strict and len(lower) == 1 else 1))
    elif strict:
        if not (_pure(x, step.lower) and _pure(x, step.upper)):
            raise _TooHardError
        for low in lower:
            for high in upper:
                yield at(
                    (low * high) ** sp.Rational(1, 2),
                    *(Requirement.of(b, low) for b in lower if b != low),
                    *(Requirement.of(high, b) for b in upper if b != high),
                )
    else:
        ends, down = (lower, True) if _pure(x, step.lower) else (upper, False)
        for end in ends:
            others = [b for b in ends if b != end]
            yield at(end, *(Requirement.of(b, end) if down else Requirement.of(end, b)
                            for b in others))
