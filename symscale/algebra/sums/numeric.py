"""The numerical optimum of a geometric program: a convex problem in logarithms.

It uses SciPy and no closed form, so that it checks them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError

if TYPE_CHECKING:
    import numpy as np

    Part: TypeAlias = "tuple[np.ndarray, np.ndarray]"

_REACH = 600.0  # natural logarithms of variables stay within it, beyond the coefficients'
_EXCESS = 1e-9  # of the logarithm of a sum that is to be at most 1
_LARGEST = 700.0  # logarithm that a float can hold


@dataclass(frozen=True)
class NumericalOptimum:
    """An optimum found numerically.

    Attributes:
        value: The optimum asked for.
        point: The variables.
    """

    value: float
    point: Mapping[sp.Symbol, float]


class _Excess(Exception):  # noqa: N818 - `minimize` makes it an InfeasibleError with names
    """No point satisfies the sums: for each whether it is among those that exceed 1 most."""

    def __init__(self, blame: list[bool]) -> None:
        super().__init__()
        self.blame = blame


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
    """
    import numpy as np
    from scipy.optimize import minimize as search

    n = len(program.variables)

    def rows(terms: tuple[Monomial, ...]) -> "Part":
        slopes, offsets = [], []
        for term in terms:
            powers, coefficient = term.substitute(values).split(program.variables)
            slopes.append([float(powers.exponent(x)) for x in program.variables])
            offsets.append(float(sp.log(coefficient.expr).evalf(20)) if coefficient.powers else 0.0)
        return np.array(slopes).reshape(-1, n), np.array(offsets)

    target = rows(program.objective)
    names = [c.name for c in program.constraints if c.relation == "<="]
    sums = [rows(c.terms) for c in program.constraints if c.relation == "<="]
    equal = [rows(c.terms) for c in program.constraints if c.relation == "=="]
    try:
        starts = _starts(target, sums, equal, n)
    except _Excess as excess:
        blame = ", ".join(name for name, bad in zip(names, excess.blame, strict=True) if bad)
        which = f"the constraints {blame} together" if blame else "the constraints"
        raise InfeasibleError(f"no point satisfies {which} at these parameters") from None

    constraints = _constraints(sums, equal)
    best = None
    for x in starts:
        for _ in range(6):
            found = search(
                _log_sum, x, args=(target,), jac=_slope, method="SLSQP", constraints=constraints,
                options={"maxiter": 400, "ftol": 1e-15},
            )
            worst = max(
                [_log_sum(found.x, s) for s in sums]
                + [float(abs(e[0] @ found.x + e[1]).max()) for e in equal] + [0.0]
            )
            if worst >= _EXCESS or (best is not None and found.fun >= best.fun - 1e-14):
                break
            best, x = found, found.x
        if best is not None:
            break
    if best is None:
        raise NoAnswerError("the numerical search did not converge")
    size = _log_sum(best.x, target)
    if max(abs(size), *abs(best.x)) > _LARGEST:
        raise NoAnswerError("the numerical optimum is beyond the range of floating point")
    value = float(np.exp(size))
    point = {v: float(np.exp(t)) for v, t in zip(program.variables, best.x, strict=True)}
    return NumericalOptimum(1 / value if program.inverse else value, point)


def _log_sum(x: "np.ndarray", part: "Part") -> float:
    """The logarithm of a sum of monomials."""
    import numpy as np

    y = part[0] @ x + part[1]
    top = y.max()
    return float(top + np.log(np.exp(y - top).sum()))


def _slope(x: "np.ndarray", part: "Part") -> "np.ndarray":
    """Its gradient."""
    import numpy as np

    y = part[0] @ x + part[1]
    weight = np.exp(y - y.max())
    return np.asarray(weight @ part[0] / weight.sum())


def _constraints(sums: "list[Part]", equal: "list[Part]") -> list[dict[str, Any]]:
    """The constraints as SciPy takes them."""
    found: list[dict[str, Any]] = [
        {"type": "ineq", "fun": lambda x, s=s: -_log_sum(x, s), "jac": lambda x, s=s: -_slope(x, s)}
        for s in sums
    ]
    found += [
        {"type": "eq", "fun": lambda x, e=e: e[0] @ x + e[1], "jac": lambda x, e=e: e[0]}
        for e in equal
    ]
    return found


def _starts(
    target: "Part", sums: "list[Part]", equal: "list[Part]", n: int
) -> "list[np.ndarray]":
    """Feasible points, if possible with every sum at most 1 by a wide margin.

    Raises:
        _Excess: If there is none.
        UnboundedError: If the largest term of the objective has no lower bound.
    """
    import numpy as np

    offsets = np.concatenate([part[1] for part in (target, *sums, *equal)])
    reach = _REACH + 20.0 * float(abs(offsets).max(initial=0.0))
    for margin in (True, False):
        found = _largest_terms(target, sums, equal, n, margin, reach)
        if found is None:
            continue
        limit = found[n] + 1e-9 * (1 + abs(found[n]))
        near = _largest_terms(target, sums, equal, n, margin, reach, limit)
        starts = [np.asarray(point[:n]) for point in (near, found) if point is not None]
        if not margin:
            starts = [_inside(start, sums, equal) for start in starts]
        wider = _largest_terms(target, sums, equal, n, margin, 2 * reach)
        if wider is None or wider[n] < found[n] - 1.0:
            raise UnboundedError("the objective has no bound: it improves for ever")
        return starts
    raise _Excess([False] * len(sums))


def _inside(start: "np.ndarray", sums: "list[Part]", equal: "list[Part]") -> "np.ndarray":
    """A feasible point from one at which only the sums' largest terms are at most 1.

    Raises:
        _Excess: If there is none: the least possible excess is positive.
    """
    import numpy as np
    from scipy.optimize import minimize as search

    def lifted(part: "Part", excess: float) -> "Part":
        return np.hstack([part[0], np.full((len(part[1]), 1), excess)]), part[1]

    goal = np.eye(len(start) + 1)[-1]
    x = np.append(start, max(_log_sum(start, s) for s in sums))
    for _ in range(6):
        found = search(
            lambda x: float(x[-1]), x, jac=lambda _: goal, method="SLSQP",
            constraints=_constraints(
                [lifted(s, -1.0) for s in sums], [lifted(e, 0.0) for e in equal]
            ),
            bounds=[(None, None)] * len(start) + [(-1.0, None)],
            options={"maxiter": 400, "ftol": 1e-15},
        )
        better = found.x[-1] < x[-1] - 1e-12
        x = found.x
        if not better:
            break
    over = [_log_sum(x[:-1], s) for s in sums]
    if max(over) > _EXCESS:
        raise _Excess([size > max(over) * (1 - 1e-4) for size in over])
    return np.asarray(x[:-1])


def _largest_terms(
    target: "Part", sums: "list[Part]", equal: "list[Part]", n: int, margin: bool, reach: float,
    nearest: float | None = None,
) -> "np.ndarray | None":
    """The linear program over largest terms: logarithms, then a bound on the objective's.

    With `nearest` the objective is only kept below that, and variables near 1, so that
    those which do not matter stay there.
    """
    import numpy as np
    from scipy.optimize import linprog

    upper, bound = [], []
    for part, is_target in [(target, True), *((s, False) for s in sums)]:
        excess = np.log(len(part[1])) if margin and not is_target else 0.0
        for row, offset in zip(part[0], part[1], strict=True):
            upper.append([*row, -1.0 if is_target else 0.0, *[0.0] * n])
            bound.append(-offset - excess)
    for axis in np.eye(n):
        for sign in (1.0, -1.0):
            upper.append([*(sign * axis), 0.0, *-axis])
            bound.append(0.0)
    rows = [[*row, 0.0, *[0.0] * n] for part in equal for row in part[0]]
    right = [-offset for part in equal for offset in part[1]]
    far = nearest is None
    solved = linprog(
        [0.0] * n + [float(far)] + [float(not far)] * n,
        A_ub=np.array(upper), b_ub=np.array(bound),
        A_eq=np.array(rows) if rows else None, b_eq=np.array(right) if rows else None,
        bounds=[(-reach, reach)] * n + [(None, nearest)] + [(0.0, reach)] * n,
    )
    return np.asarray(solved.x) if solved.status == 0 else None
