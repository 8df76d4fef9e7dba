"""Random programs with sums, and a convex solver for them that shares nothing with the package.

It is a barrier method in logarithms, written out below: no code in common with the
package, and no method in common with the package's own numerical search.
"""

import math
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp
from scipy.optimize import linprog

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.language.symbols import symbols

VARIABLES = symbols("N P T")
PARAMETERS = symbols("C W_net t_d")
SLOPES = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (2, 1), (1, 2), (3, 2), (1, 3)))
NUMBERS = tuple(sp.Rational(*q) for q in ((1, 1), (2, 1), (1, 3), (5, 4), (7, 1)))

Array: TypeAlias = npt.NDArray[np.float64]
Part: TypeAlias = tuple[Array, Array]
Values: TypeAlias = dict[sp.Symbol, Any]
Outcome = Literal["optimal", "infeasible", "unbounded", "not attained", "unclear"]


# A convex solver by another route


def table(terms: tuple[Monomial, ...], program: GeometricProgram, values: Values) -> Part:
    """Exponents of the variables, and logarithms of the coefficients."""
    slopes = np.zeros((len(terms), len(program.variables)))
    offsets = np.zeros(len(terms))
    for i, term in enumerate(terms):
        for atom, power in term.powers:
            if atom in program.variables:
                slopes[i, program.variables.index(atom)] = float(power)
            else:
                offsets[i] += float(power) * math.log(float(atom.xreplace(values)))
    return slopes, offsets


def log_sum(part: Part, u: Array) -> tuple[float, Array, Array]:
    """Value, gradient and curvature of log(sum(exp(slopes u + offsets)))."""
    y = part[0] @ u + part[1]
    weights = np.exp(y - y.max())
    total = weights.sum()
    weights /= total
    slope = weights @ part[0]
    curve = (part[0].T * weights) @ part[0] - np.outer(slope, slope)
    return float(y.max() + np.log(total)), slope, curve


def size(part: Part, u: Array) -> float:
    """The value alone."""
    y = part[0] @ u + part[1]
    top = y.max()
    return float(top + math.log(np.exp(y - top).sum()))


def merit(sharpness: float, target: Part, bounds: list[Part], u: Array) -> float:
    """The target and the barrier; infinite outside."""
    inside = [size(part, u) for part in bounds]
    if max(inside, default=-1.0) >= 0:
        return math.inf
    return sharpness * size(target, u) - sum(math.log(-f) for f in inside)


def descend(
    target: Part, bounds: list[Part], u: Array, stop: float = -math.inf, end: float = math.inf
) -> Array:
    """Minimise within bounds from a point strictly inside.

    It ends early at a value below `stop`, or once the least value is known to be above `end`.
    """
    sharpness = 1.0
    while sharpness < 1e13:
        for _ in range(60):
            value, slope, curve = log_sum(target, u)
            if value < stop:
                return u
            slope, curve = slope * sharpness, curve * sharpness
            for part in bounds:
                f, g, h = log_sum(part, u)
                slope = slope - g / f
                curve = curve - h / f + np.outer(g, g) / f**2
            ridge = curve + 1e-13 * np.trace(curve) * np.eye(len(u))
            step = np.linalg.lstsq(ridge, -slope, rcond=None)[0]
            decrease, now = -float(slope @ step), merit(sharpness, target, bounds, u)
            if decrease < 1e-11 + 1e-15 * abs(now):
                break
            length = min(1.0, 20.0 / max(float(abs(step).max()), 1e-300))
            while length > 1e-7:
                if merit(sharpness, target, bounds, u + length * step) <= (
                    now - 0.1 * length * decrease
                ):
                    break
                length /= 3
            else:
                break
            u = u + length * step
        if size(target, u) - len(bounds) / sharpness > end:
            break
        sharpness *= 30
    return u


def falls_for_ever(target: Part, bounds: list[Part]) -> tuple[bool, bool]:
    """Whether all terms of the target can vanish along a feasible direction.

    And whether some term of any sum can, while no other grows.
    """
    count = target[0].shape[1]
    if count == 0:
        return False, False
    rows = [(r, 0.0) for part in bounds for r in part[0]]
    boxed = {"bounds": [(-1, 1)] * (count + 1), "method": "highs"}
    upper = [[*r, 0.0] for r, _ in rows] + [[*r, -1.0] for r in target[0]]
    every = linprog([0.0] * count + [1.0], A_ub=upper, b_ub=[0.0] * len(upper), **boxed)
    upper = [[*r, 0.0] for r, _ in rows] + [[*r, 0.0] for r in target[0]]
    sums = [part[0] for part in (target, *bounds) if len(part[1]) > 1]
    goal = [*np.vstack([*sums, np.zeros((1, count))]).sum(axis=0), 0.0]
    some = linprog(goal, A_ub=upper, b_ub=[0.0] * len(upper), **boxed)
    return bool(every.fun < -1e-7), bool(some.fun < -1e-7)


def convex_optimum(program: GeometricProgram, values: Values) -> tuple[Outcome, float]:
    """Solve a program by the barrier method; the logarithm of the least value."""
    target = table(program.objective, program, values)
    bounds = [table(c.terms, program, values) for c in program.constraints if c.relation == "<="]
    equal = [table(c.terms, program, values) for c in program.constraints if c.relation == "=="]
    origin = np.zeros(len(program.variables))
    basis = np.eye(len(program.variables))
    if equal:
        matrix = np.vstack([e[0] for e in equal])
        right = -np.concatenate([e[1] for e in equal])
        origin = np.linalg.lstsq(matrix, right, rcond=None)[0]
        if abs(matrix @ origin - right).max() > 1e-9:
            return "infeasible", math.nan
        _, sizes, rows = np.linalg.svd(matrix)
        basis = rows[int((sizes > 1e-9).sum()) :].T
    target, *bounds = [(a @ basis, a @ origin + b) for a, b in (target, *bounds)]
    fixed = [part for part in bounds if not abs(part[0]).max(initial=0.0) > 1e-12]
    bounds = [part for part in bounds if abs(part[0]).max(initial=0.0) > 1e-12]
    if any(log_sum(part, np.zeros(basis.shape[1]))[0] > 1e-9 for part in fixed):
        return "infeasible", math.nan
    start = np.zeros(basis.shape[1])
    if bounds:  # find a point inside: the least excess over all bounds
        excess = max(log_sum(part, start)[0] for part in bounds) + 1.0
        lifted = [(np.hstack([a, -np.ones((len(b), 1))]), b) for a, b in bounds]
        axes = np.eye(len(start) + 1)
        lifted += [(s * axis[None], np.array([-200.0])) for axis in axes[:-1] for s in (1, -1)]
        lifted.append((-axes[-1:], np.array([-3.0])))
        goal = (axes[-1:], np.zeros(1))
        found = descend(goal, lifted, np.append(start, excess), stop=-1e-2, end=1e-5)
        if found[-1] > 1e-6:
            return "infeasible", math.nan
        if found[-1] > -1e-6:
            return "unclear", math.nan
        start = found[:-1]
    every, some = falls_for_ever(target, bounds)
    if every:
        return "unbounded", -math.inf
    if some:
        return "not attained", math.nan
    if start.size:
        start = descend(target, bounds, start)
    return "optimal", log_sum(target, start)[0]


# Random programs


def at_most(name: str, *terms: sp.Expr) -> SumConstraint:
    return SumConstraint(name, tuple(Monomial.of(t) for t in terms), "<=", "")


def equal(name: str, term: sp.Expr) -> SumConstraint:
    return SumConstraint(name, (Monomial.of(term),), "==", "")


@dataclass(frozen=True)
class Case:
    """A random program, and parameters for it."""

    program: GeometricProgram
    values: Values


def powers(random: Random, symbols: tuple[sp.Symbol, ...], least: int, most: int) -> sp.Expr:
    chosen = random.sample(symbols, min(len(symbols), random.randint(least, most)))
    return sp.Mul(*(s ** (random.choice(SLOPES) * random.choice((1, -1))) for s in chosen))


def term(random: Random, variables: tuple[sp.Symbol, ...], least: int = 1) -> sp.Expr:
    return (
        random.choice(NUMBERS)
        * powers(random, variables, least, 3)
        * powers(random, PARAMETERS, 0, 2)
    )


def random_case(seed: int) -> Case:
    """One to three variables; a sum in the objective, or in a constraint, or in two."""
    random = Random(seed)
    variables = VARIABLES[: random.randint(1, 3)]
    where = random.choice(("objective", "objective", "constraint", "solved", "both"))
    count = random.randint(2, 3)
    constraints: list[SumConstraint] = []
    terms_above = count if where in ("objective", "both") else 1
    objective = [term(random, variables) for _ in range(terms_above)]
    if where == "solved":  # t is at least a sum, and is minimised
        t = symbols("t_step")[0]
        fall = random.choice(SLOPES)
        terms = [term(random, variables, 0) / t**fall for _ in range(count)]
        constraints.append(at_most("sum", *terms))
        objective = [t ** random.choice(SLOPES)]
        variables = (*variables, t)
    elif where in ("constraint", "both"):
        constraints.append(at_most("sum", *(term(random, variables) for _ in range(count))))
    inner = variables if where != "solved" else variables[:-1]
    for k in range(random.randint(0, 3)):
        kind = random.random()
        if kind < 0.25 and len(inner) > 1:
            constraints.append(equal(f"e{k}", term(random, inner)))
        elif kind < 0.7:
            x = random.choice(inner)
            bound = random.choice(NUMBERS) * powers(random, PARAMETERS, 0, 1)
            constraints.append(at_most(f"b{k}", bound / x if random.random() < 0.6 else x / bound))
        else:
            constraints.append(at_most(f"m{k}", term(random, inner)))
    random.shuffle(constraints)
    program = GeometricProgram(
        variables, tuple(Monomial.of(t) for t in objective), tuple(constraints), Domain()
    )
    values = {
        s: sp.Rational(random.randint(1, 60), random.randint(1, 20))
        * sp.Rational(10) ** random.randint(-1, 1)
        for s in program.parameters
    }
    return Case(program, values)
