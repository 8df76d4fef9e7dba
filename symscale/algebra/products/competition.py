"""Where each of many bounds is the tightest: in logarithms, faces of one polyhedron.

Below all bounds of a maximum lies a polyhedron in the parameters and one unknown more, the
optimum; a piece rules somewhere if its bound is needed for it, and its region has a condition
for each face beside its own. See `facets` for how both are decided.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from symscale.algebra.exact.facets import Conditions, Floats, inside_of, needed_of
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.wide_cone import Integers, whole_array
from symscale.algebra.products.limit import Condition
from symscale.algebra.products.program import Program

_FARTHEST = 200.0
_CLEAR = 1e-6
_HALF_OF_64_BITS = 1 << 30  # a difference of two products of numbers below fits


@dataclass(frozen=True)
class _ExponentTable:
    """Monomials as whole exponents over one divisor each; of numbers in the last columns."""

    atoms: tuple[sp.Expr, ...]
    numbers: tuple[sp.Expr, ...]

    @classmethod
    def of(cls, monomials: Sequence[Monomial]) -> "_ExponentTable":
        found = dict.fromkeys(a for m in monomials for a, _ in m.powers)
        numbers = tuple(a for a in found if a.is_Integer)
        return cls(tuple(a for a in found if not a.is_Integer), numbers)

    def rows(self, monomials: Sequence[Monomial]) -> tuple[list[list[int]], list[int]]:
        """The exponents times the least divisor that makes them whole, and the divisor."""
        places = {a: k for k, a in enumerate([*self.atoms, *self.numbers])}
        rows, divisors = [], []
        for monomial in monomials:
            powers: list[tuple[Any, Any]] = list(monomial.powers)
            divisor = math.lcm(*(int(e.q) for _, e in powers))
            row = [0] * len(places)
            for atom, e in powers:
                row[places[atom]] = int(e.p) * (divisor // int(e.q))
            rows.append(row)
            divisors.append(divisor)
        return rows, divisors

    def conditions(self, rows: Sequence[Sequence[int]], extra: Sequence[int] = ()) -> Conditions:
        """Rows as conditions, with one unknown more where there are exponents of it."""
        whole = whole_array(rows, len(self.atoms) + len(self.numbers))
        count = len(self.atoms)
        exponents: Integers = whole[:, :count]
        if extra:
            column = np.array(extra, dtype=object if whole.dtype == object else np.int64)
            exponents = np.concatenate([exponents, column[:, None]], axis=1)
        logs = np.array([math.log(int(n)) for n in self.numbers])
        return Conditions(exponents, whole[:, count:], logs)


@dataclass(frozen=True)
class Competition:
    """Which of many bounds are the tightest somewhere, and where.

    Attributes:
        lost: Bounds that are nowhere so.
        inside: For others the logarithms of parameters at which they are.
    """

    program: Program
    table: _ExponentTable = field(repr=False)
    exponents: Mapping[Monomial, tuple[list[int], int]] = field(repr=False)
    declared: list[list[int]] = field(repr=False)
    feasible: list[list[int]] = field(repr=False)
    lost: frozenset[Monomial]
    inside: Mapping[Monomial, Floats]

    def among(self, bounds: Sequence[Monomial]) -> "Rivals":
        """Some of the bounds, each of which is the tightest somewhere among them."""
        rows, divisors = zip(*(self.exponents[m] for m in bounds), strict=True)
        width = len(self.table.atoms) + len(self.table.numbers)
        whole, by = whole_array(rows, width), whole_array([divisors], len(bounds))[0]
        if max(abs(whole).max(initial=0), by.max()) >= _HALF_OF_64_BITS:
            whole, by = whole.astype(object), by.astype(object)
        return Rivals(self, {m: k for k, m in enumerate(bounds)}, whole, by)

    def witness(self, bound: Monomial) -> dict[sp.Symbol, sp.Rational] | None:
        """Parameters at which a bound is clearly the tightest, where they are not extreme."""
        point = self.inside.get(bound)
        if point is None or not (np.abs(point) < _FARTHEST).all():
            return None
        if not all(a.is_Symbol for a in self.table.atoms):
            return None
        texts = [f"{math.exp(x):.4g}" for x in point]
        logs = np.array([math.log(float(t)) for t in texts])
        sense = 1 if self.program.sense == "maximize" else -1
        own, divisor = self.exponents[bound]
        rows = [*self.declared, *self.feasible]
        for other, (row, by) in self.exponents.items():
            if other != bound and other not in self.lost:
                pairs = zip(own, row, strict=True)
                rows.append([sense * (x * by - y * divisor) for x, y in pairs])
        conditions = self.table.conditions(rows)
        exponents = conditions.rows.astype(np.float64)
        constants = conditions.constants()
        sizes = 1 + np.abs(constants) + np.abs(exponents) @ np.abs(logs)
        if not (exponents @ logs + constants < -_CLEAR * sizes).all():
            return None
        values: dict[Any, sp.Rational] = dict.fromkeys(self.program.parameters, sp.Integer(1))
        return values | {a: sp.Rational(t) for a, t in zip(self.table.atoms, texts, strict=True)}


@dataclass(frozen=True)
class Rivals:
    """Bounds that compete, and where each is the tightest.

    Attributes:
        competition: What is known of them.
        places: Their places in the arrays.
        rows: Their whole exponents.
        divisors: What these are to be divided by.
    """

    competition: Competition
    places: Mapping[Monomial, int] = field(repr=False)
    rows: Integers = field(repr=False)
    divisors: Integers = field(repr=False)

    @cached_property
    def _points(self) -> list[Floats]:
        return [known for m in self.places if (known := self.competition.inside.get(m)) is not None]

    def region(self, bound: Monomial) -> list[tuple[Monomial | int, bool]]:
        """The conditions under which a bound is the tightest, without what follows.

        Returns:
            For each the bound that is tighter elsewhere, or the number of a condition of
            feasibility; and whether it may follow yet from the others.
        """
        known, own = self.competition, self.places[bound]
        sense = 1 if known.program.sense == "maximize" else -1
        ratios = self.rows[own] * self.divisors[:, None] - self.rows * self.divisors[own]
        ratios[own] = 0
        common = np.gcd.reduce(ratios, axis=1)
        common[common == 0] = 1
        primitive = map(tuple, (sense * ratios // common[:, None]).tolist())
        against: dict[tuple[int, ...], Monomial | int] = {}
        for other, row in zip(self.places, primitive, strict=True):
            if other != bound:
                against.setdefault(row, other)
        declared = [_primitive(row) for row in known.declared]
        for known_row in declared:
            against.pop(known_row, None)
        for index, exponents in enumerate(known.feasible):
            against.setdefault(_primitive(exponents), index)
        rows = [*declared, *against]
        decided = needed_of(
            known.table.conditions(rows), known.inside[bound], given=len(declared),
            others=self._points,
        )
        kept = sorted([*decided.needed, *decided.unknown])
        return [(against[rows[k]], k not in decided.needed) for k in kept]


def compete(
    program: Program, feasible: Sequence[Condition], bounds: Sequence[Monomial]
) -> Competition | None:
    """Decide which bounds are the tightest somewhere where a program is feasible.

    Args:
        program: The program.
        feasible: The conditions of feasibility, none of which holds only with equality.
        bounds: Different bounds of its objective.

    Returns:
        What was found; None where no parameters were found at which all conditions are
        strict.
    """
    declared = [m**-1 for m in program.domain.at_least_one]
    primitive = [c.primitive for c in feasible]
    table = _ExponentTable.of([*declared, *primitive, *bounds])
    given, _ = table.rows([*declared, *primitive])
    base = inside_of(table.conditions(given))
    if base is None:
        return None
    sense = 1 if program.sense == "maximize" else -1
    rows, divisors = table.rows(bounds)
    flipped = [[-sense * x for x in row] for row in rows]
    extra = [*(0 for _ in given), *(sense * d for d in divisors)]
    conditions = table.conditions([*given, *flipped], extra)
    levels = table.conditions(rows)
    values = levels.rows.astype(np.float64) @ base + levels.constants()
    least = float((sense * values / np.array(divisors, dtype=np.float64)).min()) - 1
    decided = needed_of(conditions, np.append(base, sense * least), given=len(given))
    return Competition(
        program, table,
        {m: (row, d) for m, row, d in zip(bounds, rows, divisors, strict=True)},
        given[: len(declared)], given[len(declared) :],
        frozenset(bounds[k - len(given)] for k in decided.implied),
        {bounds[k - len(given)]: point[:-1] for k, point in decided.needed.items()},
    )


def _primitive(row: Sequence[int]) -> tuple[int, ...]:
    common = math.gcd(*row) or 1
    return tuple(x // common for x in row)
