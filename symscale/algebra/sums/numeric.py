"""The numerical optimum of a geometric program: a convex problem in logarithms.

It uses SciPy and no closed form, so that it checks them. SciPy takes a second to
import: who asks for a number imports this module then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from scipy.optimize import linprog
from scipy.optimize import minimize as slsqp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError

_REACH = 600.0  # natural logarithms of variables stay within it, beyond the coefficients'
_EXCESS = 1e-9  # of the logarithm of a sum that is to be at most 1
_LARGEST = 700.0  # logarithm that a float can hold
_RESTARTS = 6  # searches in a row, each from the point of the last


@dataclass(frozen=True)
class NumericalOptimum:
    """An optimum found numerically.

    Attributes:
        value: The optimum asked for.
        point: The variables.
    """

    value: float
    point: Mapping[sp.Symbol, float]


def minimize(
    program: GeometricProgram, values: Mapping[sp.Symbol, sp.Rational]
) -> NumericalOptimum:
    """Find the optimum at given parameters.

    A linear program over the largest terms gives a start, or shows that there is no
    optimum; sequential quadratic programming does the rest.

    Raises:
        InfeasibleError: If no point satisfies the constraints.
        UnboundedError: If there is no least value.
        NoAnswerError: If the search does not converge.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.language.symbols import symbols
        >>> (x,) = symbols("N")
        >>> terms = Monomial.of(x), Monomial.of(4/x)
        >>> round(minimize(GeometricProgram((x,), terms, (), Domain()), {}).value, 6)
        4.0
    """
    rows = in_logarithms(program, values)
    return _verdict(program, rows, least(rows))


def least(rows: "LogProgram", near: np.ndarray | None = None) -> np.ndarray:
    """Where a program in logarithms is least; raises as `minimize` does.

    The search begins at `near` where that is given: the optimum of a program with the same
    exponents, which then is not found to be unbounded or infeasible by this one's own start.
    """
    best = None if near is None else _polish(rows, near)
    if best is not None:
        return best
    for start in _starts(rows):
        best = _polish(rows, start)
        if best is not None:
            return best
    raise NoAnswerError("the numerical search did not converge")


class LogSum(NamedTuple):
    """A sum of monomials in logarithms: for each term a row of exponents, and an offset."""

    slopes: np.ndarray
    offsets: np.ndarray

    def terms(self, x: np.ndarray) -> np.ndarray:
        """The logarithms of the terms."""
        return np.asarray(self.slopes @ x + self.offsets)

    def log(self, x: np.ndarray) -> float:
        """The logarithm of the sum."""
        y = self.terms(x)
        top = y.max()
        return float(top + np.log(np.exp(y - top).sum()))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Of the logarithm of the sum."""
        y = self.terms(x)
        weight = np.exp(y - y.max())
        return np.asarray(weight @ self.slopes / weight.sum())

    def weights(self, x: np.ndarray) -> np.ndarray:
        """The shares of the terms."""
        y = self.terms(x)
        weight = np.exp(y - y.max())
        return np.asarray(weight / weight.sum())

    def bend(self, x: np.ndarray) -> np.ndarray:
        """The second derivatives of the logarithm of the sum."""
        weight = self.weights(x)
        mean = weight @ self.slopes
        return np.asarray((self.slopes.T * weight) @ self.slopes - np.outer(mean, mean))


class LogProgram(NamedTuple):
    """A program in logarithms of its variables: sums at most 0, equalities at 0."""

    objective: LogSum
    names: list[str]
    sums: list[LogSum]
    equal: list[LogSum]

    @property
    def variables(self) -> int:
        """How many there are."""
        return int(self.objective.slopes.shape[1])

    def excess(self, x: np.ndarray) -> float:
        """By how much the constraint that is violated most is."""
        return max(
            [s.log(x) for s in self.sums]
            + [float(abs(e.terms(x)).max()) for e in self.equal] + [0.0]
        )


def in_logarithms(
    program: GeometricProgram, values: Mapping[sp.Symbol, sp.Rational]
) -> LogProgram:
    """A program at given parameters, in logarithms of its variables."""
    def logarithms(terms: tuple[Monomial, ...]) -> LogSum:
        slopes, offsets = [], []
        for term in terms:
            powers, coefficient = term.substitute(values).split(program.variables)
            slopes.append([float(powers.exponent(x)) for x in program.variables])
            offsets.append(float(sp.log(coefficient.expr).evalf(20)) if coefficient.powers else 0.0)
        return LogSum(np.array(slopes).reshape(-1, len(program.variables)), np.array(offsets))

    at_most = [c for c in program.constraints if c.relation == "<="]
    return LogProgram(
        logarithms(program.objective),
        [c.name for c in at_most],
        [logarithms(c.terms) for c in at_most],
        [logarithms(c.terms) for c in program.constraints if c.relation == "=="],
    )


def _starts(rows: LogProgram) -> list[np.ndarray]:
    """Feasible points, if possible with every sum at most 1 by a wide margin.

    Raises:
        InfeasibleError: If there is none.
        UnboundedError: If the largest term of the objective has no lower bound.
    """
    n = rows.variables
    every = (rows.objective, *rows.sums, *rows.equal)
    offsets = np.concatenate([part.offsets for part in every])
    reach = _REACH + 20.0 * float(abs(offsets).max(initial=0.0))
    for margin in (True, False):
        found = _largest_terms(rows, margin, reach)
        if found is None:
            continue
        limit = found[n] + 1e-9 * (1 + abs(found[n]))
        near = _largest_terms(rows, margin, reach, limit)
        starts = [np.asarray(point[:n]) for point in (near, found) if point is not None]
        if not margin:
            starts = [_inside(rows, start) for start in starts]
        wider = _largest_terms(rows, margin, 2 * reach)
        if wider is None or wider[n] < found[n] - 1.0:
            raise UnboundedError("the objective has no bound: it improves for ever")
        return starts
    raise _infeasible([])


def _infeasible(names: Sequence[str]) -> InfeasibleError:
    which = f"the constraints {', '.join(names)} together" if names else "the constraints"
    return InfeasibleError(f"no point satisfies {which} at these parameters")


def _largest_terms(
    rows: LogProgram, margin: bool, reach: float, nearest: float | None = None
) -> np.ndarray | None:
    """The linear program over largest terms: logarithms, then a bound on the objective's.

    With `nearest` the objective is only kept below that, and variables near 1, so that
    those which do not matter stay there.
    """
    n = rows.variables
    rest = [0.0] * n
    upper, bound = [], []
    for part, bounded in [(rows.objective, -1.0), *((s, 0.0) for s in rows.sums)]:
        share = np.log(len(part.offsets)) if margin and not bounded else 0.0
        upper += [[*row, bounded, *rest] for row in part.slopes]
        bound += [-offset - share for offset in part.offsets]
    for axis in np.eye(n):
        upper += [[*(sign * axis), 0.0, *-axis] for sign in (1.0, -1.0)]
        bound += [0.0, 0.0]
    level = [[*row, 0.0, *rest] for part in rows.equal for row in part.slopes]
    right = [-offset for part in rows.equal for offset in part.offsets]
    far = nearest is None
    solved = linprog(
        [0.0] * n + [float(far)] + [float(not far)] * n,
        A_ub=np.array(upper), b_ub=np.array(bound),
        A_eq=np.array(level) if level else None, b_eq=np.array(right) if level else None,
        bounds=[(-reach, reach)] * n + [(None, nearest)] + [(0.0, reach)] * n,
    )
    return np.asarray(solved.x) if solved.status == 0 else None


def _inside(rows: LogProgram, start: np.ndarray) -> np.ndarray:
    """A feasible point from one at which only the sums' largest terms are at most 1.

    Raises:
        InfeasibleError: If there is none: the least possible excess is positive.
    """
    def lifted(part: LogSum, excess: float) -> LogSum:
        return part._replace(slopes=np.insert(part.slopes, n, excess, axis=1))

    n = rows.variables
    wider = rows._replace(
        sums=[lifted(s, -1.0) for s in rows.sums], equal=[lifted(e, 0.0) for e in rows.equal]
    )
    goal = np.eye(n + 1)[-1]
    x = np.append(start, max(s.log(start) for s in rows.sums))
    for _ in range(_RESTARTS):
        bounds = [(None, None)] * n + [(-1.0, None)]
        found = _search(wider, x, lambda x: float(x[-1]), lambda _: goal, bounds)
        better = found[-1] < x[-1] - 1e-12
        x = found
        if not better:
            break
    point = np.asarray(x[:-1])
    over = [s.log(point) for s in rows.sums]
    if max(over) > _EXCESS:
        most = max(over) * (1 - 1e-4)
        blamed = [name for name, size in zip(rows.names, over, strict=True) if size > most]
        raise _infeasible(blamed)
    return point


def _polish(rows: LogProgram, start: np.ndarray) -> np.ndarray | None:
    """The best feasible point of searches from a start; None if the first leads nowhere."""
    best, least, x = None, np.inf, start
    for _ in range(_RESTARTS):
        x = _search(rows, x, rows.objective.log, rows.objective.gradient)
        size = rows.objective.log(x)
        if rows.excess(x) >= _EXCESS or (best is not None and size >= least - 1e-14):
            break
        best, least = x, size
    return best


def _search(
    rows: LogProgram,
    start: np.ndarray,
    target: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> np.ndarray:
    """Where sequential quadratic programming stops."""
    constraints: list[dict[str, Any]] = [
        {"type": "ineq", "fun": lambda x, s=s: -s.log(x), "jac": lambda x, s=s: -s.gradient(x)}
        for s in rows.sums
    ]
    constraints += [
        {"type": "eq", "fun": e.terms, "jac": lambda _, e=e: e.slopes} for e in rows.equal
    ]
    found = slsqp(
        target, start, jac=gradient, method="SLSQP", bounds=bounds, constraints=constraints,
        options={"maxiter": 400, "ftol": 1e-15},
    )
    return np.asarray(found.x)


def _verdict(program: GeometricProgram, rows: LogProgram, best: np.ndarray) -> NumericalOptimum:
    """The optimum in numbers.

    Raises:
        NoAnswerError: If floating point cannot hold it.
    """
    size = rows.objective.log(best)
    if max(abs(size), *abs(best)) > _LARGEST:
        raise NoAnswerError("the numerical optimum is beyond the range of floating point")
    value = float(np.exp(size))
    point = {v: float(np.exp(t)) for v, t in zip(program.variables, best, strict=True)}
    return NumericalOptimum(1 / value if program.inverse else value, point)
