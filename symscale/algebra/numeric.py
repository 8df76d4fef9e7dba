"""The numerical optimum of a geometric program: a convex problem in logarithms.

It uses SciPy and no closed form, so that it checks them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp

from symscale.algebra.geometric import GeometricProgram
from symscale.algebra.monomial import Monomial
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError

if TYPE_CHECKING:
    import numpy as np

    Part: TypeAlias = "tuple[np.ndarray, np.ndarray]"

_REACH = 600.0  # natural logarithms of variables stay within it
_EXCESS = 1e-9  # of the logarithm of a sum that is to be at most 1
_NOWHERE = "no point satisfies the constraints at these parameters"


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
    sums = [rows(c.terms) for c in program.constraints if c.relation == "<="]
    equal = [rows(c.terms) for c in program.constraints if c.relation == "=="]
    start = _start(target, sums, equal, n)

    constraints = _constraints(sums, equal)
    best = None
    x = start
    for _ in range(6):
        found = search(
            _log_sum, x, args=(target,), jac=_slope, method="SLSQP", constraints=constraints,
            options={"maxiter": 400, "ftol": 1e-15},
        )
        worst = max(
            [_log_sum(found.x, s) for s in sums]
            + [float(abs(e[0] @ found.x + e[1]).max()) for e in equal] + [0.0]
        )
        if worst < _EXCESS and (best is None or found.fun < best.fun - 1e-14):
            best, x = found, found.x
        else:
            break
    if best is None:
        raise NoAnswerError("the numerical search did not converge")
    value = float(np.exp(_log_sum(best.x, target)))
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


def _start(target: "Part", sums: "list[Part]", equal: "list[Part]", n: int) -> "np.ndarray":
    """A feasible point, if possible with every sum at most 1 by a wide margin.

    Raises:
        InfeasibleError: If there is none.
        UnboundedError: If the largest term of the objective has no lower bound.
    """
    import numpy as np

    for margin in (True, False):
        found = _largest_terms(target, sums, equal, n, margin, _REACH)
        if found is None:
            continue
        start = np.asarray(found[:n])
        if not margin:
            start = _inside(start, sums, equal)
        wider = _largest_terms(target, sums, equal, n, margin, 2 * _REACH)
        if wider is None or wider[n] < found[n] - 1.0:
            raise UnboundedError("the objective has no bound: it improves for ever")
        return start
    raise InfeasibleError(_NOWHERE)


def _inside(start: "np.ndarray", sums: "list[Part]", equal: "list[Part]") -> "np.ndarray":
    """A feasible point from one at which only the sums' largest terms are at most 1.

    Raises:
        InfeasibleError: If there is none: the least possible excess is positive.
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
    if max(_log_sum(x[:-1], s) for s in sums) > _EXCESS:
        raise InfeasibleError(_NOWHERE)
    return np.asarray(x[:-1])


def _largest_terms(
    target: "Part", sums: "list[Part]", equal: "list[Part]", n: int, margin: bool, reach: float
) -> "np.ndarray | None":
    """The linear program over largest terms: logarithms, then a bound on the objective's."""
    import numpy as np
    from scipy.optimize import linprog

    upper, bound = [], []
    for part, is_target in [(target, True), *((s, False) for s in sums)]:
        excess = np.log(len(part[1])) if margin and not is_target else 0.0
        for row, offset in zip(part[0], part[1], strict=True):
            upper.append([*row, -1.0 if is_target else 0.0])
            bound.append(-offset - excess)
    rows = [[*row, 0.0] for part in equal for row in part[0]]
    right = [-offset for part in equal for offset in part[1]]
    solved = linprog(
        [0.0] * n + [1.0], A_ub=np.array(upper), b_ub=np.array(bound),
        A_eq=np.array(rows) if rows else None, b_eq=np.array(right) if rows else None,
        bounds=[(-reach, reach)] * n + [(-1e5, 1e5)],
    )
    return np.asarray(solved.x) if solved.status == 0 else None
