"""What an optimum depends on: multipliers, elasticities, slack, shares of terms.

Multipliers of the program in logarithms solve the linear system of stationarity,
gradient of the objective + sum of multiplier x gradient of each binding sum = 0. Where
they are not unique their ranges, and those of the elasticities, are linear programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.optimize import linprog, nnls

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.numeric import LogProgram, LogSum, NumericalOptimum, in_logarithms
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import NoAnswerError

_BINDS = 1e-6  # below 1 by at most this much, in logarithms, a sum binds
_STEPS = 12  # of Newton
_STATIONARY = 1e-5  # residual beyond which nothing is said
_APART = 1e-6  # ends of a range nearer to each other are one number


@dataclass(frozen=True)
class Span:
    """A number, or where it is not unique the ends between which it may lie.

    Attributes:
        low: The least.
        high: The greatest.
    """

    low: float
    high: float

    @property
    def unique(self) -> bool:
        """Whether it is one number."""
        return self.high - self.low <= _APART * (1 + abs(self.low))


@dataclass(frozen=True)
class Sensitivities:
    """What an optimum depends on.

    Attributes:
        multipliers: For each constraint that binds d log optimum / d log of its room:
            by which share the optimum changes as its greater side grows by a share.
        elasticities: For each parameter d log optimum / d log parameter. A span has the
            slopes to both sides, where these differ.
        slack: For each constraint that does not bind, the factor by which its lesser side
            may grow.
        shares: Of the terms of each sum that binds, and of the objective.
        residual: Of stationarity, in logarithms.
    """

    multipliers: Mapping[str, Span]
    elasticities: Mapping[sp.Symbol, Span]
    slack: Mapping[str, float]
    shares: Mapping[str, tuple[float, ...]]
    residual: float

    @property
    def unique(self) -> bool:
        """Whether all multipliers are."""
        return all(span.unique for span in self.multipliers.values())


def sensitivities(
    program: GeometricProgram,
    values: Mapping[sp.Symbol, sp.Rational],
    optimum: NumericalOptimum,
) -> Sensitivities:
    """Find what an optimum depends on.

    Raises:
        NoAnswerError: If the point is not stationary, as where the optimum is not attained.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.sums.numeric import minimize
        >>> from symscale.language.symbols import symbols
        >>> x, a = symbols("N J")
        >>> program = GeometricProgram(
        ...     (x,), (Monomial.of(x), Monomial.of(a/x)), (), Domain())
        >>> values = {a: sp.Integer(4)}
        >>> found = sensitivities(program, values, minimize(program, values))
        >>> round(found.elasticities[a].low, 9)
        0.5
    """
    rows = in_logarithms(program, values)
    x = np.log([optimum.point[v] for v in program.variables])
    at_most = [c for c in program.constraints if c.relation == "<="]
    equal = [c for c in program.constraints if c.relation == "=="]
    active = [k for k, s in enumerate(rows.sums) if s.log(x) > -_BINDS]
    x, dual, residual = _polished(rows, active, x)
    if residual > _STATIONARY:
        raise NoAnswerError("the numerical optimum is not stationary: no multipliers there")
    n = len(active)
    gradients = [rows.sums[k].gradient(x) for k in active]
    system = np.array([*gradients, *(e.slopes[0] for e in rows.equal)]).reshape(-1, len(x)).T
    sign = 1.0 if program.inverse else -1.0

    def span(constant: float, weights: np.ndarray) -> Span:
        return _span(system, n, dual, constant, weights)

    multipliers = {
        c.name: span(0.0, sign * np.eye(len(dual))[k])
        for k, c in enumerate([*(at_most[k] for k in active), *equal])
    }
    bound = [(at_most[k].terms, rows.sums[k]) for k in active]
    bound += [(c.terms, e) for c, e in zip(equal, rows.equal, strict=True)]
    elasticities = {}
    for p in program.parameters:
        own = _pull(program.objective, rows.objective, x, p, values)
        pulls = np.array([_pull(terms, part, x, p, values) for terms, part in bound])
        elasticities[p] = span(-sign * own, -sign * pulls)
    shares = {"objective": rows.objective, **{at_most[k].name: rows.sums[k] for k in active}}
    return Sensitivities(
        multipliers, elasticities,
        {
            c.name: float(np.exp(-s.log(x)))
            for k, (c, s) in enumerate(zip(at_most, rows.sums, strict=True)) if k not in active
        },
        {
            name: tuple(float(w) for w in part.weights(x))
            for name, part in shares.items() if len(part.offsets) > 1
        },
        residual,
    )


def _pull(
    terms: tuple[Monomial, ...], part: LogSum, x: np.ndarray, p: sp.Symbol,
    values: Mapping[sp.Symbol, sp.Rational],
) -> float:
    """The slope of log sum in log parameter: shares of its terms times their exponents."""
    total = 0.0
    for term, share in zip(terms, part.weights(x), strict=True):
        for atom, power in term.powers:
            if p in atom.free_symbols:
                slope = (p * sp.diff(atom, p) / atom).xreplace(dict(values))
                total += float(share) * float(sp.N(sp.Mul(power, slope).xreplace(dict(values))))
    return total


def _duals(
    rows: LogProgram, active: list[int], x: np.ndarray
) -> tuple[np.ndarray, float]:
    """Multipliers by nonnegative least squares, and what is left of stationarity."""
    level = [row for e in rows.equal for row in e.slopes]
    columns = [*(rows.sums[k].gradient(x) for k in active), *level, *(-row for row in level)]
    target = -rows.objective.gradient(x)
    if not columns:
        return np.zeros(0), float(np.linalg.norm(target))
    found, left = nnls(np.array(columns).T, target)
    n, m = len(active), len(level)
    return np.concatenate([found[:n], found[n:n + m] - found[n + m:]]), float(left)


def _polished(
    rows: LogProgram, active: list[int], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """A point and its multipliers after Newton's steps on what holds with equality.

    Sums with no multiplier are left out of the steps, and bind only if they still do.
    """
    best = (x, *_duals(rows, active, x))
    dual = best[1]
    n = len(active)
    keep = [k for k in range(n) if dual[k] > 1e-7]
    y = np.concatenate([dual[keep], dual[n:]])
    for _ in range(_STEPS):
        parts = [rows.sums[active[k]] for k in keep]
        jacobian = np.array(
            [*(s.gradient(x) for s in parts), *(row for e in rows.equal for row in e.slopes)]
        ).reshape(-1, len(x))
        bend = rows.objective.bend(x)
        for s, size in zip(parts, y, strict=False):
            bend = bend + size * s.bend(x)
        gaps = [*(s.log(x) for s in parts), *(t for e in rows.equal for t in e.terms(x))]
        stationary = rows.objective.gradient(x) + jacobian.T @ y
        corner = np.zeros((len(y), len(y)))
        matrix = np.block([[bend, jacobian.T], [jacobian, corner]])
        step = np.linalg.lstsq(matrix, -np.concatenate([stationary, gaps]), rcond=1e-11)[0]
        x, y = x + step[: len(x)], y + step[len(x):]
        if not np.isfinite(x).all() or rows.excess(x) > 10 * _BINDS:
            break
        found, left = _duals(rows, active, x)
        if left < best[2] and rows.excess(x) < _BINDS:
            best = x, found, left
        if abs(step).max(initial=0.0) < 1e-14:
            break
    return best


def _span(
    system: np.ndarray, n: int, dual: np.ndarray, constant: float, weights: np.ndarray
) -> Span:
    """Between what a linear function lies of all multipliers that balance the gradients."""
    here = constant + float(weights @ dual) if len(dual) else constant
    if np.linalg.matrix_rank(system, tol=1e-7) == len(dual):
        return Span(here, here)
    ends = []
    for way in (1.0, -1.0):
        found = linprog(
            way * weights, A_eq=system, b_eq=system @ dual,
            bounds=[(0.0, None)] * n + [(None, None)] * (len(dual) - n),
        )
        ends.append(way * found.fun if found.status == 0 else -way * np.inf)
    span = Span(constant + ends[0], constant + ends[1])
    return Span(here, here) if span.unique else span
