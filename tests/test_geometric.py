"""Sums: closed forms, bounds and the numerical optimum against a convex solver of its own.

The solver here is a barrier method in logarithms, written out below: it shares no code
with the package, and no method with the package's own numerical search.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from scipy.optimize import linprog

from symscale.algebra.bounds import Bounds, enclose
from symscale.algebra.domain import Domain, Interval
from symscale.algebra.geometric import SumPiece, closed_forms
from symscale.algebra.geometric_program import GeometricProgram, SumConstraint
from symscale.algebra.monomial import Monomial
from symscale.algebra.numeric import minimize
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError
from symscale.symbols import symbols

X, Y, Z = VARIABLES = symbols("N P T")
PARAMETERS = symbols("C W_net t_d")
A, B, K = symbols("C W_net t_d")
SLOPES = tuple(sp.Rational(*q) for q in ((1, 1), (1, 1), (2, 1), (1, 2), (3, 2), (1, 3)))
NUMBERS = tuple(sp.Rational(*q) for q in ((1, 1), (2, 1), (1, 3), (5, 4), (7, 1)))
CASES = 180

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


def test_the_solver_of_these_tests_is_right() -> None:
    """Against optima that paper and pencil give."""
    program = GeometricProgram((X,), (Monomial.of(A * X), Monomial.of(B / X)), (), Domain())
    values: Values = {A: sp.Integer(3), B: sp.Integer(12)}
    assert convex_optimum(program, values)[1] == pytest.approx(math.log(12), abs=1e-11)
    bounded = GeometricProgram((X,), program.objective, (at_most("least", K / X),), Domain())
    at = convex_optimum(bounded, {**values, K: sp.Integer(4)})
    assert at[1] == pytest.approx(math.log(15), abs=1e-10)
    budget = GeometricProgram(
        (X, Y), (Monomial.of(1 / (X * Y)),), (at_most("budget", A * X, B * Y),), Domain()
    )
    assert convex_optimum(budget, values)[1] == pytest.approx(math.log(4 * 36), abs=1e-10)
    impossible = at_most("no", X), at_most("way", 2 / X)
    assert (
        convex_optimum(GeometricProgram((X,), (Monomial.of(X),), impossible, Domain()), {})[0]
        == "infeasible"
    )
    free = GeometricProgram((X,), (Monomial.of(X),), (at_most("up", X),), Domain())
    assert convex_optimum(free, {})[0] == "unbounded"


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


@cache
def solved(seed: int) -> tuple[tuple[SumPiece, ...], bool, Bounds]:
    program = random_case(seed).program
    pieces, complete = closed_forms(program)
    return pieces, complete, enclose(program, sense="minimize")


@cache
def truth(seed: int) -> tuple[Outcome, float]:
    case = random_case(seed)
    return convex_optimum(case.program, case.values)


def with_outcome(outcome: Outcome) -> Iterator[int]:
    return (seed for seed in range(CASES) if truth(seed)[0] == outcome)


def number(expr: Any, values: Values) -> float:
    return float(sp.N(expr.xreplace(values), 25))


def test_random_programs_are_of_every_kind() -> None:
    counts = Counter(truth(seed)[0] for seed in range(CASES))
    assert counts["optimal"] >= 60, counts
    assert counts["unbounded"] >= 10, counts
    assert counts["infeasible"] >= 5, counts


@pytest.mark.parametrize("part", range(6))
def test_bounds_enclose_the_optimum(part: int) -> None:
    for seed in list(with_outcome("optimal"))[part::6]:
        case, (_, _, bounds), best = random_case(seed), solved(seed), truth(seed)[1]
        loose = math.log(bounds.loose.at(case.values))
        assert loose <= best + 1e-8, seed
        try:
            tight = math.log(bounds.tight.at(case.values))
        except InfeasibleError:
            continue  # k times the largest term may be too much where the sum is not
        assert best <= tight + 1e-8, seed
        assert tight - loose <= math.log(sp.N(bounds.factor)) + 1e-9, seed


def test_bounds_of_a_maximum_are_the_other_way_round() -> None:
    for seed in list(with_outcome("optimal"))[:25]:
        case, best = random_case(seed), truth(seed)[1]
        bounds = enclose(case.program, sense="maximize")
        assert math.log(bounds.loose.at(case.values)) >= -best - 1e-8, seed
        try:
            tight = math.log(bounds.tight.at(case.values))
        except InfeasibleError:
            continue
        assert tight <= -best + 1e-8, seed


@pytest.mark.parametrize("part", range(6))
def test_closed_forms_are_the_optimum_where_they_rule(part: int) -> None:
    ruled = 0
    for seed in list(with_outcome("optimal"))[part::6]:
        case, (pieces, complete, _), best = random_case(seed), solved(seed), truth(seed)[1]
        ruling = [p for p in pieces if p.holds(case.values)]
        assert ruling or not complete, seed
        for piece in ruling:
            assert math.log(number(piece.expr, case.values)) == pytest.approx(best, abs=1e-8), seed
            assert_attained(case, piece)
        ruled += bool(ruling)
    assert ruled >= 4


def assert_attained(case: Case, piece: SumPiece) -> None:
    """The point satisfies every constraint, those that bind with equality, and gives the value."""
    at = {x: number(e, case.values) for x, e in piece.point.items()}
    assert set(at) == set(case.program.variables)
    values: Values = {**case.values, **{x: sp.Float(v, 17) for x, v in at.items()}}
    for constraint in case.program.constraints:
        left = number(constraint.expr, values)
        tight = constraint.relation == "==" or constraint.name in piece.binding
        assert left == pytest.approx(1, rel=1e-9) if tight else left <= 1 + 1e-9
    total = sum(number(t.expr, values) for t in case.program.objective)
    assert total == pytest.approx(number(piece.expr, values), rel=1e-9)


def test_nothing_rules_where_there_is_no_optimum() -> None:
    for seed in (*with_outcome("infeasible"), *with_outcome("unbounded")):
        assert not any(p.holds(random_case(seed).values) for p in solved(seed)[0]), seed


def test_the_numerical_optimum() -> None:
    for seed in with_outcome("optimal"):
        case, best = random_case(seed), truth(seed)[1]
        found = minimize(case.program, case.values)
        assert math.log(found.value) == pytest.approx(best, abs=1e-7), seed


def test_the_numerical_search_tells_why_there_is_no_optimum() -> None:
    errors: dict[Outcome, type[NoAnswerError]] = {
        "infeasible": InfeasibleError,
        "unbounded": UnboundedError,
    }
    for outcome, error in errors.items():
        for seed in with_outcome(outcome):
            case = random_case(seed)
            with pytest.raises(error):
                minimize(case.program, case.values)


def test_the_loose_bound_is_unbounded_where_the_problem_is() -> None:
    for seed in with_outcome("unbounded"):
        with pytest.raises(NoAnswerError):
            solved(seed)[2].loose.at(random_case(seed).values)


# Chosen programs


def program_of(
    variables: tuple[sp.Symbol, ...],
    objective: sp.Expr,
    *constraints: SumConstraint,
    **extra: Any,
) -> GeometricProgram:
    terms = tuple(Monomial.of(t) for t in sp.Add.make_args(objective))
    return GeometricProgram(variables, terms, constraints, extra.pop("domain", Domain()), **extra)


def by_binding(program: GeometricProgram) -> dict[tuple[str, ...], SumPiece]:
    pieces, complete = closed_forms(program)
    assert complete
    return {p.binding: p for p in pieces}


def test_a_constraint_without_a_multiplier_does_not_hide_the_condition_of_another() -> None:
    """y >= K takes no part; x >= B binds only where the interior is below it."""
    program = program_of((X, Y), X + A / X, at_most("y", K / Y), at_most("x", B / X))
    pieces = by_binding(program)
    values: Values = {A: sp.Integer(100), B: sp.Integer(2), K: sp.Integer(3)}
    assert [b for b, p in pieces.items() if p.holds(values)] == [("y",)]
    assert pieces["y",].expr == 2 * sp.sqrt(A)


def test_free_variables_do_not_remain_in_the_answer() -> None:
    program = program_of((X, Y, Z), X, equal("e", X * Y**2 * Z / A), at_most("least", B / X))
    for piece in closed_forms(program)[0]:
        inside = piece.expr.free_symbols.union(
            *(e.free_symbols for pair in piece.conditions for e in pair),
            *(e.free_symbols for e in piece.point.values()),
        )
        assert not inside & {X, Y, Z}


def test_equalities_that_say_the_same_twice() -> None:
    program = program_of((X, Y), X + Y, equal("e", X * Y / A), equal("twice", X**2 * Y**2 / A**2))
    (piece,) = by_binding(program).values()
    assert piece.expr == 2 * sp.sqrt(A)
    assert piece.conditions == ()


def test_equalities_that_agree_at_some_parameters_only() -> None:
    program = program_of((X, Y), X + Y, equal("e", X * Y / A), equal("f", X * Y / B))
    (piece,) = by_binding(program).values()
    assert piece.holds({A: sp.Integer(2), B: sp.Integer(2)})
    assert not piece.holds({A: sp.Integer(2), B: sp.Integer(3)})
    assert not piece.holds({A: sp.Integer(3), B: sp.Integer(2)})


def test_a_sum_that_is_never_attained_has_no_piece() -> None:
    """x + 1/x + y: its least value 2 is approached as y falls, and the choice is settled."""
    assert closed_forms(program_of((X, Y), X + 1 / X + Y)) == ((), True)


def test_a_budget() -> None:
    """maximize x y under a x + b y <= k: zero degree of difficulty, in a constraint."""
    program = program_of((X, Y), 1 / (X * Y), at_most("budget", A * X / K, B * Y / K), inverse=True)
    (piece,) = by_binding(program).values()
    assert sp.simplify(piece.expr - K**2 / (4 * A * B)) == 0
    assert sp.simplify(piece.point[X] - K / (2 * A)) == 0
    assert sp.simplify(piece.point[Y] - K / (2 * B)) == 0
    assert piece.conditions == ()


def test_a_budget_with_a_bound_on_a_share() -> None:
    """x <= B within the budget: beyond it, the rest of the money goes into y."""
    program = program_of(
        (X, Y), 1 / (X * Y), at_most("budget", X / K, Y / K), at_most("x", X / B), inverse=True
    )
    pieces, complete = closed_forms(program)
    assert not complete  # K - B, what is left of the money, is no sum of positive terms
    (piece,) = pieces
    assert piece.expr == K**2 / 4
    assert piece.holds({K: sp.Integer(4), B: sp.Integer(2)})
    assert not piece.holds({K: sp.Integer(4), B: sp.Integer(1)})


def test_a_variable_that_a_sum_determines_may_have_bounds_of_its_own() -> None:
    program = program_of((X, Z), Z, at_most("sum", A * X / Z, B / (X * Z)), at_most("least", K / Z))
    pieces = {p.binding: p for p in closed_forms(program)[0]}
    assert pieces["sum",].expr == 2 * sp.sqrt(A) * sp.sqrt(B)
    low: Values = {A: sp.Integer(1), B: sp.Integer(1), K: sp.Integer(3)}
    assert not pieces["sum",].holds(low)
    high = {**low, K: sp.Integer(1)}
    assert pieces["sum",].holds(high)
    assert number(pieces["sum",].expr, high) == 2


def test_two_sums_that_never_bind_together_alone() -> None:
    """The one that rules, where one does; nothing is claimed where both bind."""
    program = program_of(
        (X, Z), Z, at_most("up", X / Z, 1 / (X * Z)), at_most("twice", A * X / Z, A / (X * Z))
    )
    pieces, complete = closed_forms(program)
    assert not complete
    for value, name, least in ((sp.Rational(1, 2), "up", 2), (sp.Integer(3), "twice", 6)):
        (ruling,) = [p for p in pieces if p.holds({A: value})]
        assert ruling.binding == (name,)
        assert number(ruling.expr, {A: value}) == pytest.approx(least, rel=1e-12)


def test_symbolic_exponents() -> None:
    """A x^a + B x^-b, exponents symbolic, against the root of the derivative."""
    p, q = symbols("I J")
    terms = (Monomial.of(A * X**p), Monomial.of(B * X**-q))
    domain = Domain(exponents={s: Interval(sp.Integer(0), sp.Integer(2)) for s in (p, q)})
    (piece,) = by_binding(GeometricProgram((X,), terms, (), domain)).values()
    values: Values = {
        A: sp.Rational(7, 3),
        B: sp.Integer(5),
        p: sp.Rational(1, 3),
        q: sp.Rational(7, 5),
    }
    slope = sp.diff((A * X**p + B * X**-q).subs(values), X)
    root = float(sp.nsolve(slope, X, 2, prec=20))
    assert number(piece.point[X], values) == pytest.approx(root, rel=1e-12)


def test_too_many_choices_are_not_claimed_to_be_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symscale.algebra.geometric.MAX_ACTIVE_SETS", 2)
    bounds = [at_most(f"b{k}", sp.Integer(k + 2) / X) for k in range(4)]
    assert closed_forms(program_of((X,), X + A / X, *bounds))[1] is False
