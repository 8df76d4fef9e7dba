"""Optima of one program at many parameters, with the shares that prove them: in floats.

In logarithms a program is convex: the least of a logarithm of a sum of exponentials, under
others that are at most 0. An interior-point method finds the variables and multipliers
together; each multiplier times the weights of its sum's terms are the terms' shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.recession import reduce
from symscale.errors import InfeasibleError, NoAnswerError

Array = np.ndarray
_STEPS = 120
_CLOSE = 1e-10
_ROUGHLY = 1e-3  # how near the least excess of sums is found
_CLEARLY = 1e-2  # a logarithm of a sum that must be so much above 0
_BALANCED = 1e-4
_NOWHERE = "no point satisfies the constraints at these parameters"
_CLOSE_ENOUGH = 1e-6  # where the steps cannot be solved for any more
_FARTHEST = 8.0  # by which a logarithm moves in a step
_RIDGE = 1e-11
_TOWARDS = 0.1  # the part of a gap that a step aims at
_SHORTENED = 8  # how often a step is halved
_LARGEST = 1e8
_PATIENCE = 10  # steps that move little and leave most of what is off are given up after
_LITTLE, _MOVED = 0.9, 0.1


@dataclass(frozen=True)
class Solution:
    """An optimum in logarithms.

    Attributes:
        value: The logarithm of the least sum.
        point: The logarithms of the variables.
        shares: Of each term, of the objective first; they prove that nothing is less.
    """

    value: float
    point: Array
    shares: Array


@dataclass
class _LogSums:
    """Sums of exponentials in logarithms, of which the first is to be least.

    Attributes:
        slopes: For each term the exponents of the variables.
        sizes: How many terms each sum has.
        equal: Of each sum but the first whether it must be 1, not at most 1.
    """

    slopes: Array
    sizes: Array
    equal: Array

    @cached_property
    def starts(self) -> Array:
        """The first row of each sum."""
        return np.cumsum([0, *self.sizes[:-1]])

    @cached_property
    def which(self) -> Array:
        """The sum that each row belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def free(self) -> Array:
        """Whether a row's share may have any sign."""
        return np.concatenate([[False], self.equal])[self.which]


class TermTable(_LogSums):
    """A program's terms as rows of exponents, the objective's first.

    Attributes:
        program: The program.
        terms: Its terms.
        powers: Exponents of the parameters.
        numbers: Logarithms of the terms' numeric factors.
        atoms: The parameters, sums that stand as factors among them.
        rays: Shares of constraints' terms that showed at some parameters that no point
            satisfies these: where they prove that a sum exceeds 1, none does.
    """

    def __init__(self, program: GeometricProgram) -> None:
        """Read a program without symbols in exponents."""
        sums = [program.objective, *(c.terms for c in program.constraints)]
        terms = [t for part in sums for t in part]
        coefficients = [t.split(program.variables)[1] for t in terms]
        super().__init__(
            _exponents(terms, program.variables), np.array([len(part) for part in sums]),
            np.array([c.relation == "==" for c in program.constraints], bool),
        )
        atoms = tuple(sorted({a for c in coefficients for a in c.atoms}, key=str))
        self.program, self.terms, self.atoms = program, terms, atoms
        self.powers = _exponents(coefficients, atoms)
        self.numbers = np.array([logarithm_of(c.coefficient) for c in coefficients])
        self.rays: list[Array] = []

    @property
    def equalities(self) -> list[int]:
        """Which sums must be 1."""
        return [int(k) + 1 for k in np.flatnonzero(self.equal)]

    @cached_property
    def kept(self) -> "tuple[Array, TermTable]":
        """The rows that do not vanish for ever as variables run away, as a table."""
        reduced = reduce(self.program).program
        names = {c.name: c.terms for c in reduced.constraints}
        sums = [(self.program.objective, reduced.objective)]
        sums += [(c.terms, names.get(c.name, ())) for c in self.program.constraints]
        stays = [t in left for terms, left in sums for t in terms]
        return np.array(stays, bool), TermTable(reduced)

    def logarithms(self, values: Mapping[sp.Symbol, sp.Rational]) -> Array:
        """The logarithms of the parameters.

        Raises:
            FormulaError: If a sum that stands as a factor is not positive there.
        """
        return np.array([logarithm_of(Monomial.from_powers({a: sp.Integer(1)}), values)
                         for a in self.atoms])

    def offsets(self, parameters: Array) -> Array:
        """The logarithms of the coefficients."""
        return np.asarray(self.numbers + self.powers @ parameters)

    def bound(self, shares: Array, offsets: Array) -> Array:
        """The logarithm of the bound that shares prove; rows of shares give several."""
        sums = np.add.reduceat(shares, self.starts, axis=-1)
        sums = np.where(np.concatenate([[False], self.equal]), 1.0, sums)
        own = np.where(self.free, 1.0, shares)
        return np.asarray(
            shares @ offsets - _entropy(own).sum(axis=-1) + _entropy(sums).sum(axis=-1)
        )

    def solve(self, offsets: Array) -> Solution:
        """The optimum at given coefficients.

        Raises:
            InfeasibleError: If no point satisfies the constraints.
            NoAnswerError: If the search does not converge.
        """
        rows, table = self.kept
        if not len(table.program.objective):
            raise NoAnswerError("nothing bounds the objective")
        own = offsets[rows]
        if any(table.bound(ray, own) > _CLEARLY for ray in table.rays):
            raise InfeasibleError(_NOWHERE)
        found = _walk(table, own, _CLOSE_ENOUGH, 0)
        if found is None:
            table.require_feasible(own)
            found = _walk(table, own, _CLOSE_ENOUGH, _SHORTENED)
        if found is None:
            raise NoAnswerError("the numerical search did not converge")
        shares = np.zeros(len(self.terms))
        shares[rows] = found.shares
        return Solution(found.value, found.point, shares)

    def require_feasible(self, offsets: Array) -> None:
        """Raise if no point satisfies the constraints, and keep the shares that show it.

        Raises:
            InfeasibleError: If none does.
        """
        excess, ray = _least_excess(self, offsets)
        if excess > _CLEARLY:
            if ray is not None and abs(ray @ self.slopes).max(initial=0.0) < _BALANCED:
                self.rays.append(ray)
            raise InfeasibleError(_NOWHERE)


def _exponents(terms: list[Monomial], atoms: tuple[sp.Expr, ...]) -> Array:
    return np.array(
        [[float(t.exponent(a)) for a in atoms] for t in terms]
    ).reshape(len(terms), len(atoms))


def logarithm_of(
    monomial: Monomial, values: Mapping[sp.Symbol, sp.Rational] | None = None
) -> float:
    """The logarithm of a product of powers at given parameters."""
    return float(monomial.logarithm(values or {}))


def _entropy(x: Array) -> Array:
    return np.asarray(np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0))


class _Sums:
    """The sums of a rows at a point: logarithms, weights of terms, gradients."""

    def __init__(self, rows: _LogSums, offsets: Array, x: Array) -> None:
        y = rows.slopes @ x + offsets
        top = np.maximum.reduceat(y, rows.starts)
        parts = np.exp(y - top[rows.which])
        total = np.add.reduceat(parts, rows.starts)
        self.logs = top + np.log(total)
        self.weights = parts / total[rows.which]
        self.gradients = np.add.reduceat(self.weights[:, None] * rows.slopes, rows.starts)

    def excess(self, equal: Array) -> float:
        """By how much the constraint that is violated most is."""
        off = np.where(equal, abs(self.logs), self.logs)[1:]
        return float(off.max(initial=0.0))


class _Iterate:
    """Variables, slacks and multipliers on the way to an optimum, and how far they are off."""

    def __init__(
        self, rows: _LogSums, offsets: Array, x: Array, s: Array | None = None,
        z: Array | None = None, y: Array | None = None,
    ) -> None:
        equal = np.concatenate([[False], rows.equal])
        at_most = ~equal
        at_most[0] = False
        self.rows, self.offsets, self.x = rows, offsets, x
        self.equal, self.at_most = equal, at_most
        self.sums = sums = _Sums(rows, offsets, x)
        self.z = np.ones(int(at_most.sum())) if z is None else z
        self.y = np.zeros(int(equal.sum())) if y is None else y
        self.s = np.maximum(-sums.logs[at_most], 1.0 if s is None else s)
        self.jacobian, self.level = sums.gradients[at_most], sums.gradients[equal]
        self.dual = sums.gradients[0] + self.jacobian.T @ self.z + self.level.T @ self.y
        self.primal, self.even = sums.logs[at_most] + self.s, sums.logs[equal]
        self.gap = float(self.s @ self.z) / len(self.s) if len(self.s) else 0.0
        self.size = float(max(
            abs(part).max(initial=0.0) for part in (self.dual, self.primal, self.even)
        ))

    def merit(self, target: float) -> float:
        """How far it is from the optimum whose slacks times multipliers are the target."""
        parts = (self.dual, self.primal, self.even, self.s * self.z - target)
        return float(np.sqrt(sum(part @ part for part in parts)))

    def solution(self) -> Solution:
        """What it is if it is near enough."""
        factor = np.zeros(len(self.at_most))
        factor[0], factor[self.at_most], factor[self.equal] = 1.0, self.z, self.y
        shares = factor[self.rows.which] * self.sums.weights
        return Solution(float(self.sums.logs[0]), self.x, shares)

    def next(self, shortened: int) -> "_Iterate | None":
        """A step of Newton's method, halved so often until it helps; None if there is none."""
        rows, sums, n = self.rows, self.sums, len(self.x)
        s, z, ties = self.s, self.z, len(self.y)
        factor = np.zeros(len(self.at_most))
        factor[0], factor[self.at_most] = 1.0, z
        heights = factor[rows.which] * sums.weights
        hessian = rows.slopes.T @ (heights[:, None] * rows.slopes)
        hessian -= sums.gradients.T @ (factor[:, None] * sums.gradients)
        hessian += self.jacobian.T @ ((z / s)[:, None] * self.jacobian) + _RIDGE * np.eye(n)
        matrix = np.block([[hessian, self.level.T], [self.level, -_RIDGE * np.eye(ties)]])
        target = self.gap * (_TOWARDS if self.size < max(1e3 * self.gap, _CLOSE) else 1.0)
        slack = z * s - target
        off = -self.dual - self.jacobian.T @ ((z * self.primal - slack) / s)
        try:
            step = np.linalg.solve(matrix, np.concatenate([off, -self.even]))
        except np.linalg.LinAlgError:
            return None
        dx, dy = step[:n], step[n:]
        ds = -self.primal - self.jacobian @ dx
        dz = (-slack - z * ds) / s
        length = min(1.0, _FARTHEST / max(abs(dx).max(initial=0.0), 1e-300))
        for value, change in ((s, ds), (z, dz)):
            falling = change < 0
            if falling.any():
                length = min(length, 0.98 * float((-value[falling] / change[falling]).min()))
        before = self.merit(target)
        for _ in range(max(shortened, 1)):
            found = _Iterate(
                rows, self.offsets, self.x + length * dx, s + length * ds, z + length * dz,
                self.y + length * dy,
            )
            if found.merit(target) <= (1 - 0.01 * length) * before:
                break
            length /= 2
        return found


def _walk(rows: _LogSums, offsets: Array, enough: float, shortened: int) -> Solution | None:
    """A primal-dual interior-point method from a start that need not be feasible.

    Args:
        rows: The sums.
        offsets: Logarithms of the coefficients.
        enough: How near it must come.
        shortened: How often a step that does not help is halved; 0 for full steps.
    """
    at = before = _Iterate(rows, offsets, _start(rows, offsets))
    for k in range(_STEPS):
        if max(at.size, at.gap) < _CLOSE or (len(at.s) and at.gap < _CLOSE / 100):
            break
        after = at.next(shortened)
        if after is None:
            break
        at = after
        if not np.isfinite(at.size) or max(
            abs(at.x).max(initial=0.0), at.z.max(initial=0.0) * 100
        ) > _LARGEST:
            return None
        if k % _PATIENCE == 0:
            stuck = at.size > _LITTLE * before.size and at.size > enough
            if k and stuck and abs(at.x - before.x).max(initial=0.0) < _MOVED:
                return None
            before = at
    if max(at.size, at.gap) > enough or at.sums.excess(at.equal) > enough / 100:
        return None
    return at.solution()


def _start(rows: _LogSums, offsets: Array) -> Array:
    """The point at which all terms are nearest to 1."""
    n = rows.slopes.shape[1]
    matrix = rows.slopes.T @ rows.slopes + 1e-3 * np.eye(n)
    return np.asarray(-np.linalg.solve(matrix, rows.slopes.T @ offsets))


def _least_excess(rows: _LogSums, offsets: Array) -> tuple[float, Array | None]:
    """By how much the sums must exceed 1 at least, in logarithms, and shares that show it."""
    level = rows.free & (rows.which > 0)
    if level.any():
        slopes = rows.slopes[level]
        off = slopes @ np.linalg.lstsq(slopes, -offsets[level], rcond=None)[0] + offsets[level]
        if abs(off).max() > _CLEARLY:
            return float("inf"), None
    first = rows.sizes[0]
    lift = -(~rows.free[first:]).astype(float)
    excess = np.eye(1, rows.slopes.shape[1] + 1, rows.slopes.shape[1])
    inside = np.hstack([rows.slopes[first:], lift[:, None]])
    lifted = _LogSums(
        np.vstack([excess, inside, -excess]),  # not needed below -1: so it has a least value
        np.concatenate([[1], rows.sizes[1:], [1]]), np.concatenate([rows.equal, [False]]),
    )
    start = np.concatenate([[0.0], offsets[first:], [-1.0]])
    found = _walk(lifted, start, _ROUGHLY, 0) or _walk(lifted, start, _ROUGHLY, _SHORTENED)
    if found is None:
        return 0.0, None
    shares = np.concatenate([np.zeros(first), found.shares[1:-1]])
    return float(found.point[-1]), shares
