"""The best whole numbers against brute force."""

import math
import random
from itertools import product

import pytest
import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.optimum.integers import best_integers
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.errors import InfeasibleError
from symscale.language.symbols import symbols

X = symbols("N_DP N_TP N_PP")
MOST = 12


def drawn(seed: int) -> tuple[GeometricProgram, list[tuple[int, ...]]]:
    """A program of whole numbers up to 12, and those of them that are feasible."""
    rng = random.Random(seed)
    variables = X[: rng.choice((1, 2, 2))]
    objective = [rng.randint(1, 9) * sp.prod(x ** rng.choice((-1, 0, 1, 2)) for x in variables)
                 for _ in range(3)]
    objective += [sp.Integer(rng.randint(10, 200)) / x for x in variables]
    limits = [
        sum((sp.Rational(rng.randint(1, 5), rng.randint(20, 90)) * x for x in variables),
            start=sp.Integer(0)),
        sp.Rational(rng.randint(1, 12)) / sp.prod(variables),
    ]
    constraints = [
        SumConstraint(f"c{k}", tuple(Monomial.of(t) for t in sp.Add.make_args(e)), "<=", "drawn")
        for k, e in enumerate(limits)
    ]
    constraints += [
        SumConstraint(f"{x} most", (Monomial.of(x / MOST),), "<=", "drawn") for x in variables
    ]
    program = GeometricProgram(
        variables, tuple(Monomial.of(t) for t in objective), tuple(constraints), Domain(),
        inverse=rng.random() < 0.3,
    )
    feasible = [
        n for n in product(range(1, MOST + 1), repeat=len(variables))
        if all(e.subs(dict(zip(variables, n, strict=True))) <= 1 for e in limits)
    ]
    return program, feasible


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_better_by_brute_force(seed: int) -> None:
    program, feasible = drawn(seed)
    total = sp.lambdify(program.variables, sp.Add(*(t.expr for t in program.objective)))
    try:
        found = best_integers(program, {}, program.variables)
    except InfeasibleError:  # nor are real numbers
        assert not feasible
        return
    assert found.proved
    if not feasible:
        assert found.best is None
        return
    least = min(float(total(*n)) for n in feasible)
    assert found.best is not None
    assert found.best.value == pytest.approx(1 / least if program.inverse else least, rel=1e-7)
    assert tuple(found.best.numbers.values()) in feasible
    assert all(tuple(c.numbers.values()) in feasible for c in found.corners)


def test_no_whole_number_between_two_bounds() -> None:
    x = X[0]
    narrow = GeometricProgram((x,), (Monomial.of(x),), (
        SumConstraint("low", (Monomial.of(sp.Rational(12, 5) / x),), "<=", "drawn"),
        SumConstraint("high", (Monomial.of(x / sp.Rational(14, 5)),), "<=", "drawn"),
    ), Domain())
    found = best_integers(narrow, {}, (x,))
    assert (found.best, found.corners, found.proved) == (None, (), True)


def test_rounding_alone_would_miss_it() -> None:
    """x y = 22 has whole points, none of them beside (4.69, 4.69)."""
    x, y = X[:2]
    program = GeometricProgram((x, y), (Monomial.of(x / y), Monomial.of(y / x)), (
        SumConstraint("area", (Monomial.of(x * y / 22),), "==", "drawn"),
    ), Domain())
    found = best_integers(program, {}, (x, y))
    assert found.proved
    assert found.corners == ()
    assert found.best is not None
    assert sorted(found.best.numbers.values()) == [2, 11]


def test_where_it_stops_early_it_claims_nothing() -> None:
    x, y = X[:2]
    program = GeometricProgram((x, y), (Monomial.of(x / y), Monomial.of(y / x)), (
        SumConstraint("area", (Monomial.of(x * y / 22),), "==", "drawn"),
    ), Domain())
    found = best_integers(program, {}, (x, y), limit=3)
    assert not found.proved


def test_a_continuous_variable_follows() -> None:
    """min n + 20/t with t <= n^(1/2): t = sqrt n, so min n + 20/sqrt n over whole n."""
    n, t = X[:2]
    program = GeometricProgram((n, t), (Monomial.of(n), Monomial.of(20 / t)), (
        SumConstraint("t", (Monomial.of(t / sp.sqrt(n)),), "<=", "drawn"),
    ), Domain())
    found = best_integers(program, {}, (n,))
    assert found.best is not None
    assert found.best.value == pytest.approx(min(k + 20 / math.sqrt(k) for k in range(1, 40)))
