"""Least values of sums, against searches; and claims that the checker must refuse."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import sympy as sp
from scipy.optimize import minimize

from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.rewrites.convexity import check_minimum, derivative_at
from symscale.algebra.rewrites.least import least
from symscale.algebra.rewrites.rewrite import Minimum, Rewrite, relate
from symscale.costs.cost import cost
from symscale.derivation.checks import check_derivation
from symscale.derivation.steps import DerivationBuilder
from symscale.errors import CheckFailedError, FormulaError
from symscale.language.symbols import symbols

I, J, K, N_PP, L, gamma_P, alpha = symbols("I J K N_PP L gamma_P alpha")  # noqa: E741
ONE = sp.Integer(1)


def searched(expr: sp.Expr, variables: list[sp.Symbol]) -> float:
    """The least value by a numerical search in logarithms."""
    f = sp.lambdify(variables, expr, "math")
    found = minimize(
        lambda u: float(f(*(math.exp(x) for x in u))), [0.0] * len(variables), method="BFGS",
        options={"gtol": 1e-10},
    )
    return float(found.fun)


def test_sums_of_two_terms() -> None:
    rng = Random(1)
    for _ in range(25):
        powers = [sp.Rational(rng.randint(1, 5), rng.randint(1, 4)) for _ in range(2)]
        expr = 3 * J * I ** powers[0] + K * J * I ** -powers[1] + 7 * J
        found = least(expr, [I], "free")
        check_minimum(found)
        at: dict[Any, Any] = {J: sp.Rational(rng.randint(1, 9), 3), K: rng.randint(1, 9)}
        value = float(found.after.subs(at))
        assert value == pytest.approx(searched(expr.subs(at), [I]), rel=1e-9)
        point = float(found.equality[0].rhs.subs(at))  # type: ignore[attr-defined]
        assert float(expr.subs(at).subs({I: point})) == pytest.approx(value, rel=1e-12)


def test_several_variables() -> None:
    found = least(I * J + K / I + 2 / J, [I, J], "free")
    check_minimum(found)
    assert found.minimum is not None
    assert found.minimum.curvature is None
    assert float(found.after.subs({K: 5})) == pytest.approx(
        searched(I * J + 5 / I + 2 / J, [I, J]), rel=1e-9
    )


def test_bounds_become_conditions() -> None:
    found = least(I * J + K / I, [I], "free", bounds=[1 / I, I / L])
    shown = {str(c) for c in found.admissible}
    assert shown == {"J <= K", "K <= J*L**2"}


@pytest.mark.parametrize(
    ("expr", "match"),
    [
        (J * I - K / I, "positive"),
        (J * I + (alpha - 1) / I, "open|positive"),
        (J * I + K, "closed form"),  # falls for ever
        (J * I + K / I + I**2, "closed form"),
        (sp.Max(I, J / I), "sum"),
    ],
)
def test_what_has_no_least_value_here(expr: sp.Expr, match: str) -> None:
    with pytest.raises(FormulaError, match=match):
        least(expr, [I], "free")


def claim(
    before: sp.Expr, after: sp.Expr, point: dict[sp.Symbol, sp.Expr], **more: Any
) -> Rewrite:
    equality = tuple(relate(x, "==", p) for x, p in point.items())
    return Rewrite(
        before, after, ">=", "claimed", equality=equality, minimum=Minimum(point, **more)
    )


def test_a_true_claim_passes() -> None:
    check_minimum(claim(I + J / I, 2 * sp.sqrt(J), {I: sp.sqrt(J)}, curvature=2 * sp.sqrt(J)))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (claim(I + J / I, 2 * sp.sqrt(J), {I: J}), "vanish"),
        (claim(I + J / I, 3 * sp.sqrt(J), {I: sp.sqrt(J)}), "value"),
        (claim(I + J / I, 2 * sp.sqrt(J), {I: sp.sqrt(J)}, curvature=J), "second derivative"),
        # A saddle: the coefficient of one term is negative.
        (claim(I**2 - 2 * I + 3, sp.Integer(2), {I: ONE}), "not positive"),
        (claim(I - J / I, sp.Integer(0), {I: sp.sqrt(J)}), "not positive"),
        # The point must not depend on the variables, nor exponents on them.
        (claim(I + J / I, 2 * sp.sqrt(J), {I: J / I}), "variable"),
        (claim(I**I + J, J + 1, {I: ONE}), "powers"),
        (claim(sp.exp(I) / I + J, J + 1, {I: ONE}), "powers"),
        (claim(J + K, J + K, {I: ONE}), "occur"),
        # Positive only for some parameters.
        (claim(I + (N_PP - 1) / I, 2 * sp.sqrt(N_PP - 1), {I: sp.sqrt(N_PP - 1)}), "open"),
        # A minimum in one variable, a slope in the other.
        (claim(I + 1 / I + J, sp.Integer(3), {I: ONE, J: ONE}), "vanish"),
    ],
)
def test_a_false_claim_does_not(wrong: Rewrite, match: str) -> None:
    with pytest.raises(CheckFailedError, match=match):
        check_minimum(wrong)


def test_a_claim_must_be_a_lower_bound_at_its_own_point() -> None:
    true = claim(I + J / I, 2 * sp.sqrt(J), {I: sp.sqrt(J)})
    for wrong in (
        replace(true, relation="<="), replace(true, relation="=="), replace(true, equality=()),
        replace(true, minimum=None),
    ):
        with pytest.raises(CheckFailedError):
            check_minimum(wrong)


def test_symbolic_exponents() -> None:
    positive = Domain(exponents={gamma_P: Interval(sp.Integer(0), None)})
    found = least(J / I**gamma_P + K * I, [I], "free", domain=positive)
    check_minimum(found)
    at: dict[Any, Any] = {gamma_P: sp.Rational(2, 5), J: 3, K: 7}
    expr = (J / I**gamma_P + K * I).subs(at)
    assert float(found.after.subs(at)) == pytest.approx(searched(expr, [I]), rel=1e-9)


def test_derivatives_by_logarithms() -> None:
    slope, size = derivative_at(3 * I**2 + J / I, I, 1, {I: sp.Integer(2), J: sp.Integer(4)}, 20)
    assert (float(slope), float(size)) == (22.0, 26.0)
    bend, _ = derivative_at(3 * I**2 + J / I, I, 2, {I: sp.Integer(2), J: sp.Integer(4)}, 20)
    assert float(bend) == 50.0


def test_a_choice_comes_from_a_minimum_over_its_variable() -> None:
    build = DerivationBuilder("trial", "Trial", "?")
    build.define("J", cost(J, "1"), cost(K, "1"), "given")
    build.rewrite("least", least(I + J / I, [I], "free"))
    with pytest.raises(FormulaError, match="'J' is no minimum over I"):
        build.choose("choice", "J", I, "no minimum")
    with pytest.raises(FormulaError, match="'least' is no minimum over J"):
        build.choose("choice", "least", J, "not over J")
    build.choose("choice", "least", I, "the least")
    assert [c.exact for c in check_derivation(build.finish())] == [None, True, True]


def test_a_choice_proves_nothing_for_all() -> None:
    """A bound of I that holds for all, multiplied with a choice of I, holds for none but it."""
    build = DerivationBuilder("trial", "Trial", "?")
    build.assume("bound", cost(I, "1"), "<=", cost(L, "1"), "given")
    build.rewrite("least", least(I + J / I, [I], "free"))
    build.choose("choice", "least", I, "the least")
    build.product("false", {"bound": 1, "choice": -1}, "a bound on J", solve_for=J)
    with pytest.raises(CheckFailedError, match="'choice' is a choice"):
        check_derivation(build.finish())
