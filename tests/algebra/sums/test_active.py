"""Constraints that bind, put into one another; and what each of them is worth."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Rationals
from symscale.algebra.sums.active import balanced, put_together
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.optimum import multipliers, optimum_of
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.values import signed
from symscale.algebra.sums.witness import sum_witness

X, Y, Z, A, B, C = sp.symbols("X Y Z J K L", positive=True)
UNIT = sp.Integer(1)
AT = {A: sp.Rational(3, 5), B: sp.Rational(1, 4), C: sp.Rational(7, 2)}


def at_most(name: str, *terms: sp.Expr) -> SumConstraint:
    return SumConstraint(name, tuple(Monomial.of(t) for t in terms), "<=", "")


def objective(*terms: sp.Expr) -> tuple[Monomial, ...]:
    return tuple(Monomial.of(t) for t in terms)


CHAIN = (at_most("first", A / X), at_most("second", B * X, A / Y), at_most("third", Y * B, X / Z))
"""Each gives the next variable: X = A, Y = A/(1 - A*B), Z = X/(1 - B*Y)."""


def test_a_chain_of_sums_gives_all_variables() -> None:
    system = put_together((X, Y, Z), objective(Z, C), CHAIN, Rationals())
    assert system is not None
    assert not system.variables
    assert not system.sums
    assert sp.simplify(system.values[Z].expr - A * (1 - A * B) / (1 - 2 * A * B)) == 0
    assert [e.name for e in system.eliminations] == ["first", "second", "third"]
    assert all(r.holds({A: UNIT / 3, B: UNIT}) for r in system.requirements)
    assert not all(r.holds({A: 2 * UNIT / 3, B: UNIT}) for r in system.requirements)


def test_constraints_that_say_the_same_twice_are_no_choice() -> None:
    twice = (at_most("first", A / X), at_most("second", B * X))
    assert put_together((X,), objective(X), twice, Rationals()) is None


@pytest.mark.parametrize(
    ("goal", "chosen", "variables"),
    [
        ((Z, C), CHAIN, (X, Y, Z)),
        ((X * Y,), (at_most("one", A / X, B / Y),), (X, Y)),
        ((X + Y).args, (at_most("one", A / (X * Y)),), (X, Y)),
        ((X,), (at_most("one", A / X, B * Y / X, 1 / (X * Y)),), (X, Y)),
        ((X, Y), (at_most("one", A / X, C / (20 * Y)), at_most("two", 3 * B * X / Y)), (X, Y)),
    ],
    ids=["chain", "budget", "product", "held beside a constant", "two sums"],
)
def test_optimum_and_multipliers(
    goal: tuple[sp.Expr, ...], chosen: tuple[SumConstraint, ...], variables: tuple[Any, ...]
) -> None:
    """The optimum is the numerical one, and each multiplier how it changes with its limit."""
    system = put_together(variables, objective(*goal), chosen, Rationals())
    assert system is not None
    found, settled = optimum_of(system, Rationals())
    assert settled
    assert found is not None
    program = GeometricProgram(variables, objective(*goal), chosen, Domain())
    assert float(found.value.evaluate(AT)) == pytest.approx(minimize(program, AT).value, rel=1e-8)
    worth = multipliers(system, found, objective(*goal), chosen, Domain())
    for c in chosen:
        step = 1e-4
        ends = [slackened(program, c.name, 1 + s * step, AT) for s in (1, -1)]
        rate = (ends[0] - ends[1]) / (2 * step)
        size = sum(float(q) * float(m.evaluate(AT)) for q, m in worth[c.name].terms)
        assert size == pytest.approx(-rate, rel=1e-4)


def slackened(
    program: GeometricProgram, name: str, limit: float, values: Mapping[Any, sp.Rational]
) -> float:
    """The optimum where one constraint is at most a limit in place of 1."""
    factor = Monomial.of(1 / sp.Rational(str(limit)))
    constraints = tuple(
        SumConstraint(c.name, tuple(t * factor for t in c.terms), "<=", "")
        if c.name == name else c
        for c in program.constraints
    )
    left = GeometricProgram(program.variables, program.objective, constraints, program.domain)
    return minimize(left, values).value


def test_terms_that_no_weights_balance_do_not_bind_together() -> None:
    domain = Domain()
    assert balanced(objective(X, 1 / X), (), (X,), domain, ())
    assert not balanced(objective(X, X**2), (), (X,), domain, ())
    assert balanced(objective(X, X**2), objective(X), (X,), domain, ())


def test_a_sum_of_either_sign() -> None:
    """Powers of sums stay as they are where they say it, and are multiplied out where not."""
    a, b = Monomial.of(A), Monomial.of(A + B)
    square = signed(((UNIT, b**2), (-UNIT, a**2)), Domain())
    assert square.needed is None
    other = signed(((UNIT, Monomial.of(C) * b**2), (-UNIT, a**2)), Domain())
    assert other.needed is not None
    assert str(other.needed.relational) == "J <= sqrt(L)*(J + K)"


def test_parameters_are_found_where_several_positive_terms_are_needed() -> None:
    """K < J, J < 2 K and 3 K < 2 J leave a wedge that no single positive term shows."""
    one, a, b = UNIT, Monomial.of(A), Monomial.of(B)
    program = GeometricProgram((X,), objective(A * X), (at_most("c", B / X),), Domain())
    wedge = [((one, a), (-one, b)), ((one, b), (-one, a), (one, b)), ((2 * one, a), (-3 * one, b))]
    values, nowhere = sum_witness(wedge, [], program)
    assert values is not None
    assert not nowhere
    assert sp.Rational(3, 2) < values[A] / values[B] < 2
    contrary = [((one, a), (-one, b)), ((one, b), (-one, a))]
    assert sum_witness(contrary, [], program) == (None, True)
    number = [((-one, ONE),)]
    assert sum_witness(number, [], program) == (None, True)


def test_a_thin_region_far_away_is_found() -> None:
    """J between 1000 and 1001 times K + L: no random point is there."""
    one, a, b, c = UNIT, Monomial.of(A), Monomial.of(B), Monomial.of(C)
    program = GeometricProgram((X,), objective(A * X, C * X), (at_most("c", B / X),), Domain())
    thin = [
        ((one, a), (-1000 * one, b), (-1000 * one, c)),
        ((1001 * one, b), (1001 * one, c), (-one, a)),
    ]
    values, _ = sum_witness(thin, [], program)
    assert values is not None
    assert 1000 < values[A] / (values[B] + values[C]) < 1001
    assert math.isfinite(float(values[A]))
