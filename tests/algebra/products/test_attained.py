"""Points that attain the optimum at given parameters, as formulas: how far they go."""

from dataclasses import replace
from random import Random

import pytest
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.attained import optimal_point
from symscale.algebra.products.program import Program, at_most, equals
from symscale.errors import FormulaError
from symscale.language.symbols import symbols

T, P, N, N_TP, N_DP, b = symbols("T P N N_TP N_DP b")
C, W_net, t_d, tau, b_0 = symbols("C W_net t_d tau b_0")


def largest() -> Program:
    """Three pieces; the batch size never binds alone, so each has conditions."""
    return Program(
        "largest", "", "maximize", Monomial.of(T), (T, P, N, b),
        (
            equals("compute", T, 120 * P**2, ""),
            at_most("arithmetic", T, N * C * t_d, ""),
            at_most("network", N, P / W_net**2, ""),
            at_most("devices", N, b, ""),
            at_most("batch", b, b_0, ""),
            at_most("latency", P * tau, b * t_d, ""),
        ),
    )  # fmt: skip


def test_variables_that_nothing_fixes() -> None:
    """Of N_TP and N_DP only the product matters."""
    program = Program(
        "free", "", "maximize", Monomial.of(T), (T, N, N_TP, N_DP),
        (
            at_most("time", T, N * C, ""),
            equals("degrees", N, N_TP * N_DP, ""),
            at_most("devices", N, b_0, ""),
        ),
    )  # fmt: skip
    found = optimal_point(program, {C: sp.Integer(2), b_0: sp.Integer(3)})
    assert found.free == {N_TP, N_DP}
    assert found.tight == ("time", "degrees", "devices")
    assert not found.conditions
    assert found.values[T] == Monomial.of(C * b_0)
    assert found.values[N_TP] * found.values[N_DP] == Monomial.of(b_0)


def test_the_conditions_say_how_far_a_point_goes() -> None:
    """The formula is feasible exactly where its conditions hold."""
    program, random = largest(), Random(2)
    inside = outside = 0
    parameters = {s: sp.Integer(random.randint(2, 60)) for s in program.parameters}
    point = optimal_point(program, parameters)
    for _ in range(60):
        at = {s: sp.Rational(random.randint(1, 90), random.randint(1, 90)) for s in parameters}
        holds = all(c.compare_one(at) <= 0 for c in point.conditions)
        values = {x: m.substitute(at) for x, m in point.values.items()}
        ratios = [c.ratio.substitute({**at, **values}).compare_one() for c in program.constraints]
        assert holds == all(r <= 0 for r in ratios)
        inside += holds
        outside += not holds
    assert min(inside, outside) >= 5


def test_no_point() -> None:
    one = sp.Integer(1)
    program = Program("a", "", "maximize", Monomial.of(T), (T,), (at_most("a", T, C, ""),))
    with pytest.raises(FormulaError, match="no value for C"):
        optimal_point(program, {})
    conflict = replace(program, constraints=(*program.constraints, at_most("b", 2, T, "")))
    with pytest.raises(FormulaError, match="infeasible"):
        optimal_point(conflict, {C: one})
    with pytest.raises(FormulaError, match="unbounded"):
        optimal_point(replace(program, constraints=()), {C: one})
