"""Sums: closed forms, bounds and the numerical optimum against a convex solver of its own."""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import sympy as sp

from random_sums import (
    PARAMETERS,
    VARIABLES,
    Case,
    Outcome,
    Values,
    at_most,
    convex_optimum,
    equal,
    random_case,
)
from sampling import sample
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.bounds import Bounds, enclose
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.sift import closed_forms
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError
from symscale.language.symbols import symbols

A, B, K = PARAMETERS
X, Y, Z = VARIABLES
CASES = sample(72)


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
    return (seed for seed in CASES.seeds if truth(seed)[0] == outcome)


def number(expr: Any, values: Values) -> float:
    return float(sp.N(expr.xreplace(values), 25))


def test_random_programs_are_of_every_kind() -> None:
    counts = Counter(truth(seed)[0] for seed in CASES.seeds)
    assert counts["optimal"] >= CASES.least(24), counts
    assert counts["unbounded"] >= CASES.least(4), counts
    assert counts["infeasible"] >= CASES.least(2), counts


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
    assert ruled >= CASES.least(2)


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
    assert [b for b, p in pieces.items() if p.holds(values)] == [()]
    assert pieces[()].expr == 2 * sp.sqrt(A)
    assert [m.expr for m in pieces[()].free[Y].lower] == [K]


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


def test_a_sum_that_is_never_attained_has_an_infimum() -> None:
    """x + 1/x + y: its least value 2 is approached as y falls, and nothing attains it."""
    (piece,), complete = closed_forms(program_of((X, Y), X + 1 / X + Y))
    assert complete
    assert (piece.expr, piece.status) == (sp.Integer(2), "infimum")
    assert piece.direction == {Y: sp.Integer(-1)}


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
    assert complete
    piece, capped = pieces
    assert piece.expr == K**2 / 4
    assert capped.expr == B * (K - B)
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
    monkeypatch.setattr("symscale.algebra.sums.solve.MAX_ACTIVE_SETS", 2)
    bounds = [at_most(f"b{k}", sp.Integer(k + 2) / X) for k in range(4)]
    assert closed_forms(program_of((X,), X + A / X, *bounds))[1] is False
