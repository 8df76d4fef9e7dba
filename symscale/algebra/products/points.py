"""Points that are feasible in all of a region: one formula, or one for each part."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any, TypeAlias

import sympy as sp

from symscale.algebra.exact import simplex
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.elimination import Echelon, echelon, is_number
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.regions import find_witness, logarithm
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.products.attained import Values, lift, optimal_point
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.dual import exponent_matrix
from symscale.algebra.products.program import Constraint, Program
from symscale.errors import SymscaleError

_MOST_BASES = 60
_FEW_BASES = 8  # with exponent symbols, where each takes long
_MOST_PARTS = 16
_MOST_UNKNOWNS = 120
_MOST_MISSING = 2  # constraints that may be chosen in all ways
_ZERO = Fraction(0)


@dataclass(frozen=True)
class RegionPoint:
    """A point that is feasible in all of a region.

    Attributes:
        values: Each variable as a monomial in the parameters.
        slacks: For each constraint that is not tight: the powers of the region's conditions
            whose product, with a number that is at most 1, it is.
        conditions: What the region assumes beyond where its piece rules; each monomial is
            at most 1. Empty where the point is valid in all of that.
        witness: Parameters within.
    """

    values: Mapping[sp.Symbol, Monomial]
    slacks: Mapping[str, Mapping[str, sp.Expr]]
    conditions: tuple[Monomial, ...] = ()
    witness: Values | None = None


@dataclass(frozen=True)
class PointSplit:
    """Two cases: a monomial is at most 1, or it is at least 1.

    Attributes:
        ratio: The monomial.
        yes: Where it is at most 1.
        no: Where it is at least 1.
    """

    ratio: Monomial
    yes: "PointTree"
    no: "PointTree"


PointTree: TypeAlias = RegionPoint | PointSplit


def points_in(tree: PointTree | None) -> list[RegionPoint]:
    """All points of a tree."""
    if tree is None:
        return []
    return [tree] if isinstance(tree, RegionPoint) else points_in(tree.yes) + points_in(tree.no)


def region_point(
    program: Program, tight: Sequence[str], premises: Premises, witness: Values | None
) -> PointTree | None:
    """Find one formula of a point that is feasible in all of a region, or one for each part.

    A point that is optimal at a witness is tried first, then others with other tight
    constraints, then a linear program over the point's exponents and all slacks together.
    Where there is no such formula the region is divided by what the first lacks.

    Args:
        program: The program.
        tight: Constraints that must hold with equality, besides equalities.
        premises: The region, and the parameters' domain.
        witness: Parameters in the region.

    Returns:
        The points, or None where none were found.

    Example:
        >>> from symscale.algebra.products.program import at_most
        >>> from symscale.language.symbols import symbols
        >>> N, J, K = symbols("N J K")
        >>> program = Program("demo", "", "maximize", Monomial.of(J), (N,), (
        ...     at_most("least", J, N, ""), at_most("most", N, K, "")))
        >>> found = region_point(
        ...     program, (), Premises({"J <= K": Monomial.of(J/K)}, program.domain), None)
        >>> found.values[N].expr, found.slacks
        (J, {'most': {'J <= K': 1}})
    """
    forced = tuple(
        i for i, c in enumerate(program.constraints) if c.is_equality or c.name in tight
    )
    return _divided(program, forced, premises, witness, (), _MOST_PARTS)


def _divided(
    program: Program, forced: tuple[int, ...], premises: Premises, witness: Values | None,
    assumed: tuple[Monomial, ...], parts: int,
) -> PointTree | None:
    """A point for a region, or else for each part of it.

    Args:
        program: The program.
        forced: The constraints that are tight.
        premises: The region.
        witness: Parameters within.
        assumed: What of the region's conditions divides it from the rest.
        parts: How many parts there may be.
    """
    fewest: list[Monomial] | None = None
    for values in _candidates(program, forced, premises, witness):
        if not all(_defined(m, premises.domain) for m in values.values()):
            continue
        slacks, failing = slacks_of(program.constraints, values, premises)
        if not failing:
            return RegionPoint(values, slacks, assumed, witness)
        if fewest is None or len(failing) < len(fewest):
            fewest = failing if all(m.free_symbols for m in failing) else fewest
    if fewest is None or parts < 2:
        return None
    ratio = fewest[0]
    found: list[PointTree] = []
    for side in (ratio, ratio**-1):
        name = f"part {len(premises.given)}"
        inside = Premises({**premises.given, name: side}, premises.domain, premises.equal)
        within = _inside(program, inside)
        part = _divided(program, forced, inside, within, (*assumed, side), parts // 2)
        if part is None:
            return None
        found.append(part)
    return PointSplit(ratio, *found)


def _inside(program: Program, premises: Premises) -> Values | None:
    """Parameters strictly within a region."""
    tied = premises.equal
    strict = [m**-1 for n, m in premises.given.items() if n not in tied]
    weak = [m**s for n, m in premises.given.items() if n in tied for s in (1, -1)]
    found, _ = find_witness(strict, weak, program.parameters, program.domain)
    if found is None or any(s not in found for s in program.parameters):
        return None
    return found


def slacks_of(
    constraints: Sequence[Constraint], values: Mapping[sp.Symbol, Monomial], premises: Premises
) -> tuple[dict[str, dict[str, sp.Expr]], list[Monomial]]:
    """For each constraint that is not tight at a point, why it holds; and those not shown."""
    found: dict[str, dict[str, sp.Expr]] = {}
    failing: list[Monomial] = []
    for constraint in constraints:
        ratio = constraint.ratio.substitute(values)
        if ratio.is_one:
            continue
        powers = premises.powers(ratio)
        if powers is None or (constraint.is_equality and not premises.equal.issuperset(powers)):
            failing.append(ratio)
        else:
            found[constraint.name] = powers
    return found, list(dict.fromkeys(failing))


def _defined(monomial: Monomial, domain: Domain) -> bool:
    """Whether no exponent divides by what vanishes within the exponents' domain."""
    try:
        return all(
            domain.sign(sp.fraction(sp.together(e))[1]) != 0
            for _, e in monomial.powers if not e.is_Rational
        )
    except IndeterminateSignError:
        return False


def _candidates(
    program: Program, forced: tuple[int, ...], premises: Premises, witness: Values | None
) -> Iterator[Mapping[sp.Symbol, Monomial]]:
    if witness is not None:
        with suppress(SymscaleError):  # a coefficient is not positive there
            yield optimal_point(program, witness).values
    scalars = scalars_for(program.exponent_symbols, program.domain)
    form = echelon(
        [exponent_matrix(program, scalars)[i] for i in forced], scalars.convert(sp.Integer(1))
    )
    missing = len(program.variables) - len(form.pivots)
    others = [i for i in range(len(program.constraints)) if i not in forced]
    if 0 < missing <= _MOST_MISSING:
        most = _MOST_BASES if not program.exponent_symbols else _FEW_BASES
        for chosen in islice(combinations(others, missing), most):
            yield lift(program, sorted([*forced, *chosen]), list(forced)).values
    found = _Together(program, forced, form, scalars, premises).point()
    if found is not None:
        yield found


class _Together:
    """The linear program over a point's exponents and the slacks' powers.

    What the forced constraints leave open is one unknown monomial for each variable that
    is not determined; each constraint that depends on one must be a product of powers of the
    region's monomials and of a number.
    """

    def __init__(
        self, program: Program, forced: tuple[int, ...], form: Echelon, scalars: Scalars,
        premises: Premises,
    ) -> None:
        self.program, self.premises, self.scalars = program, premises, scalars
        self.base = lift(program, list(forced), list(forced)).values
        self.open = [k for k in range(len(program.variables)) if k not in form.pivots]
        self.form = form
        self.rest: list[tuple[Monomial, list[Any]]] = []  # of the constraints that depend on them
        rows = exponent_matrix(program, scalars)
        for i, constraint in enumerate(program.constraints):
            row = form.reduce(rows[i])[0] if form.operations else rows[i]
            if i not in forced and any(row[k] for k in self.open):
                self.rest.append(
                    (constraint.ratio.substitute(self.base), [row[k] for k in self.open])
                )

    def point(self) -> dict[sp.Symbol, Monomial] | None:
        """The point, or None where there is none."""
        if not self.open:
            return dict(self.base)
        sample = dict(self.program.domain.sample())
        free = self._free_exponents(sample)
        if free is None:
            return None
        return self._put(self._with_numbers(free))

    def _put(self, free: Sequence[Monomial]) -> dict[sp.Symbol, Monomial]:
        """The point with monomials for the variables that are open."""
        values = dict(self.base)
        for k, monomial in zip(self.open, free, strict=True):
            values[self.program.variables[k]] = values[self.program.variables[k]] * monomial
            for row, pivot in zip(self.form.rows, self.form.pivots, strict=True):
                if row[k]:
                    x = self.program.variables[pivot]
                    values[x] = values[x] * monomial ** (-field_to_expr(self.scalars, row[k]))
        return values

    def _free_exponents(self, sample: dict[Any, Any]) -> list[Monomial] | None:
        """The open variables without their numbers: solved at a sample, then for all exponents."""
        names = list(self.premises.given)
        given = [self.premises.given[n] for n in names]
        every = [*given, *(m for m, _ in self.rest)]
        atoms = list(dict.fromkeys(a for m in every for a in m.atoms))
        size, count = len(self.open) * len(atoms), len(self.rest)
        if size + count * len(given) > _MOST_UNKNOWNS:
            return None
        convert = self.scalars.convert
        columns: list[list[Any]] = []  # of the equations, one for each constraint and atom
        for f in range(len(self.open)):
            for a in range(len(atoms)):
                column = [convert(sp.Integer(0))] * (count * len(atoms))
                for k, (_, row) in enumerate(self.rest):
                    column[k * len(atoms) + a] = row[f]
                columns.append(column)
        for k in range(count):
            for m in given:
                column = [convert(sp.Integer(0))] * (count * len(atoms))
                for a, atom in enumerate(atoms):
                    column[k * len(atoms) + a] = -convert(m.exponent(atom))
                columns.append(column)
        goal = [-convert(m.exponent(atom)) for m, _ in self.rest for atom in atoms]
        support = self._support(columns, goal, size, sample, names, given)
        if support is None:
            return None
        chosen = [columns[j] for j in support]
        used: list[Any] = []
        if chosen:
            rest, used = echelon(chosen, convert(sp.Integer(1))).reduce(goal)
            if any(rest):
                return None
        tables: list[dict[sp.Expr, sp.Expr]] = [{} for _ in self.open]
        for j, value in zip(support, used, strict=True):
            if j < size and value:
                tables[j // len(atoms)][atoms[j % len(atoms)]] = field_to_expr(self.scalars, value)
        return [Monomial.from_powers(t) for t in tables]

    def _support(
        self, columns: list[list[Any]], goal: list[Any], size: int, sample: dict[Any, Any],
        names: Sequence[str], given: Sequence[Monomial],
    ) -> list[int] | None:
        """Which unknowns are not zero in a solution at sample exponents."""
        opened, count = len(self.open), len(self.rest)
        matrix = [[self._number(x, sample) for x in column] for column in columns]
        width = len(columns) + opened  # the logarithms of the open variables' numbers come last
        rows: list[list[Fraction]] = []
        bounds: list[Fraction] = []
        for e, value in enumerate(goal):
            row = [column[e] for column in matrix] + [_ZERO] * opened
            at = self._number(value, sample)
            rows += [row, [-x for x in row]]
            bounds += [at, -at]
        logs = [logarithm(self._at(m, sample).coefficient) for m in given]
        for k, (ratio, exponents) in enumerate(self.rest):
            row = [_ZERO] * width
            for g, log in enumerate(logs):
                row[size + k * len(given) + g] = -log
            for f in range(opened):
                row[len(columns) + f] = self._number(exponents[f], sample)
            rows.append(row)
            bounds.append(-logarithm(self._at(ratio, sample).coefficient))
            for g, name in enumerate(names):
                if name not in self.premises.equal:
                    unit = [_ZERO] * width
                    unit[size + k * len(given) + g] = Fraction(-1)
                    rows.append(unit)
                    bounds.append(_ZERO)
        # The fewest powers are wanted; of the dual's rows none may be without bound.
        objective = [_ZERO] * width
        for k in range(count):
            for g, name in enumerate(names):
                if name not in self.premises.equal:
                    objective[size + k * len(given) + g] = Fraction(-1)
        found = simplex.maximize(objective, rows, bounds)
        if found.status != "optimal":
            return None
        return [j for j, x in enumerate(found.point[: len(columns)]) if x]

    def _with_numbers(self, free: list[Monomial]) -> list[Monomial]:
        """The open variables with numbers at which all constraints hold, where there are some."""
        values = self._put(free)
        rows, numbers = [], []
        for constraint in self.program.constraints:
            found = self.premises.reduced(constraint.ratio.substitute(values))
            exponents = [
                e for r, e in self.rest if r == constraint.ratio.substitute(self.base)
            ]
            if found is None or not exponents:
                continue
            if found[1].exponent_symbols or not all(map(is_number, exponents[0])):
                return free
            rows.append([self._number(x, {}) for x in exponents[0]])
            numbers.append(found[1])
        if all(n.compare_one() <= 0 for n in numbers):
            return free
        found_point = simplex.maximize(
            [_ZERO] * len(self.open), rows, [-logarithm(n) for n in numbers]
        )
        if found_point.status != "optimal":
            return free
        form = echelon([rows[i] for i in found_point.basis], Fraction(1))
        result = list(free)
        for pivot, operation in zip(form.pivots, form.operations, strict=True):
            number = ONE
            for i, weight in zip(found_point.basis, operation, strict=True):
                number = number * numbers[i] ** sp.Rational(-weight.numerator, weight.denominator)
            result[pivot] = result[pivot] * number
        return result

    def _number(self, value: Any, sample: dict[Any, Any]) -> Fraction:
        if isinstance(value, Fraction | int):
            return Fraction(value)
        expr: Any = field_to_expr(self.scalars, value).subs(sample)
        return Fraction(int(expr.p), int(expr.q))

    def _at(self, monomial: Monomial, sample: dict[Any, Any]) -> Monomial:
        return monomial.substitute(sample) if sample else monomial
