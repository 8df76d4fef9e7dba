"""Rewrites: what each claims about before and after, verified in numbers."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import sympy as sp

from symscale.algebra.rewrites.rewrite import (
    Rewrite,
    arithmetic_geometric,
    compose,
    drop_ones,
    equal_shares,
    rearrange,
    split_maximum,
    substitute,
)
from symscale.errors import FormulaError
from symscale.language.symbols import symbols

N_DP, N_PP, N_TP, P, L, b, d_model, d_ff = symbols("N_DP N_PP N_TP P L b d_model d_ff")
HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda before, after: bool(abs(before - after) < 1e-9 * after),
    "<=": lambda before, after: bool(before <= after * (1 + 1e-9)),
    ">=": lambda before, after: bool(before * (1 + 1e-9) >= after),
}


def points(rewrite: Rewrite, count: int = 60) -> list[dict[Any, Any]]:
    """Random values of its symbols at which its conditions hold; degrees are whole."""
    random = Random(7)
    found: list[dict[Any, Any]] = []
    symbols = sorted(rewrite.before.free_symbols | rewrite.after.free_symbols, key=str)
    while len(found) < count:
        at: dict[Any, Any] = {
            s: sp.Integer(random.choice((1, 2, 2, 3, 8)))
            if str(s).startswith("N_")
            else sp.Rational(random.randint(1, 400), random.randint(1, 40))
            for s in symbols
        }
        for s, value in rewrite.facts.items():
            at[s] = value.subs(at)
        if all(c.subs(at) == sp.true for c in rewrite.conditions):
            found.append(at)
    return found


def verify(rewrite: Rewrite) -> list[float]:
    """Check the relation and the factor at random points; return the ratios found."""
    ratios = []
    symbols = sorted(rewrite.before.free_symbols | rewrite.after.free_symbols, key=str)
    both = sp.lambdify(symbols, [rewrite.before, rewrite.after], "math")
    for at in points(rewrite):
        before, after = both(*(float(at[s]) for s in symbols))
        assert HOLDS[rewrite.relation](before, after), at
        larger, smaller = max(before, after), min(before, after)
        ratios.append(larger / smaller)
        if rewrite.factor is not None:
            assert larger <= smaller * float(rewrite.factor) * (1 + 1e-9), at
    assert rewrite.reason
    assert rewrite.statement.args == (rewrite.before, rewrite.after)
    return ratios


# Degrees without their -1


@pytest.mark.parametrize(
    ("expr", "degrees", "after", "factor"),
    [
        (2 * (N_DP - 1) * P, [N_DP], 2 * N_DP * P, 2),
        (
            4 * L * b * ((N_DP - 1) * d_ff + (N_TP - 1) * d_model),
            [N_DP, N_TP],
            4 * L * b * (N_DP * d_ff + N_TP * d_model),
            2,
        ),
        ((N_DP - 1) * N_PP * P, [N_DP], N_DP * N_PP * P, 2),
        ((N_DP - 1) * P + L, [N_DP], N_DP * P + L, 2),
        # Where degrees multiply, each brings its own factor.
        ((N_DP - 1) * (N_PP - 1) * P, [N_DP, N_PP], N_DP * N_PP * P, 4),
    ],
)
def test_drop_ones(expr: Any, degrees: list[sp.Symbol], after: Any, factor: int) -> None:
    rewrite = drop_ones(expr, degrees)
    assert sp.expand(rewrite.after - after) == 0
    assert rewrite.relation == "<="
    assert rewrite.factor == factor
    assert set(rewrite.conditions) == {sp.Ge(d, 2) for d in degrees}
    ratios = verify(rewrite)
    assert max(ratios) > 0.9 * factor  # it can be reached, or nearly


def test_drop_ones_far_from_one() -> None:
    rewrite = drop_ones(2 * (N_DP - 1) * P, [N_DP], least=8)
    assert rewrite.factor == sp.Rational(8, 7)
    assert rewrite.conditions == (sp.Ge(N_DP, 8),)
    assert max(verify(rewrite)) <= 8 / 7 + 1e-9


def test_drop_ones_is_crude_at_one() -> None:
    """Nothing is moved there, and the bound says that something is: hence the condition."""
    rewrite = drop_ones((N_DP - 1) * P, [N_DP])
    assert rewrite.before.subs(N_DP, 1) == 0
    assert rewrite.after.subs(N_DP, 1) == P


@pytest.mark.parametrize("expr", [N_DP * (N_DP - 1) * P, 1 - 1 / N_DP, P * L, sp.sqrt(N_DP - 1)])
def test_drop_ones_needs_a_line(expr: Any) -> None:
    with pytest.raises(FormulaError, match="not linear in N_DP"):
        drop_ones(expr, [N_DP])


# Sums


SUMS = [
    N_DP * d_ff + N_TP * d_model,
    4 * L * b * (N_DP * d_ff + N_TP * d_model),
    P + L + b,
    P**2 / 3 + sp.sqrt(L) * b + 7 * P / b + 1,
    P + 2,
]


@pytest.mark.parametrize("expr", SUMS)
def test_arithmetic_and_geometric_mean(expr: Any) -> None:
    rewrite = arithmetic_geometric(expr)
    terms = sp.Add.make_args(sp.expand(expr))
    assert rewrite.relation == ">="
    assert rewrite.factor is None
    assert sp.powsimp(sp.expand((rewrite.after / len(terms)) ** len(terms) / sp.Mul(*terms))) == 1
    assert max(verify(rewrite)) > 1.05


@pytest.mark.parametrize("rewrite_of", [arithmetic_geometric, equal_shares])
@pytest.mark.parametrize("expr", SUMS)
def test_sums_are_met_where_terms_are_equal(
    rewrite_of: Callable[[Any], Rewrite], expr: Any
) -> None:
    """The equalities are one fewer than the terms, and make both sides equal."""
    rewrite = rewrite_of(expr)
    terms = sp.Add.make_args(sp.expand(expr))
    assert len(rewrite.equality) == len(terms) - 1
    sides = {side for relation in rewrite.equality for side in relation.args}
    assert sides == set(terms)
    common = sp.Rational(7, 3)
    equal = dict.fromkeys(terms, common)
    total = sum(equal.values())
    if rewrite.relation == ">=":
        assert len(terms) * sp.Mul(*equal.values()) ** sp.Rational(1, len(terms)) == total
    else:
        assert max(len(terms) * v for v in equal.values()) == total


def test_the_best_split_attains_the_mean() -> None:
    """N_TP_model d_ff = N_TP_ff d_model makes the traffic 8 L b sqrt(N_TP d_model d_ff)."""
    one, other = symbols("N_TP_model N_TP_ff")
    rewrite = arithmetic_geometric(4 * L * b * (one * d_ff + other * d_model))
    assert rewrite.after == 8 * L * b * sp.sqrt(one * other * d_model * d_ff)
    at: dict[Any, Any] = {L: 3, b: 5, one: 4, other: 8, d_model: 30, d_ff: 45}
    assert rewrite.equality[0].subs(at) == sp.false
    assert rewrite.before.subs(at) > rewrite.after.subs(at)
    at = {**at, one: 6, other: 9}
    assert rewrite.equality[0].subs(at) == sp.true
    assert rewrite.before.subs(at) == rewrite.after.subs(at)


@pytest.mark.parametrize("expr", SUMS)
def test_equal_shares(expr: Any) -> None:
    rewrite = equal_shares(expr)
    terms = sp.Add.make_args(sp.expand(expr))
    assert rewrite.relation == "<="
    assert rewrite.factor == len(terms)
    assert set(split_maximum(rewrite.after)) == {len(terms) * t for t in terms}
    assert max(verify(rewrite)) > 1.05


@pytest.mark.parametrize("rewrite_of", [arithmetic_geometric, equal_shares])
@pytest.mark.parametrize("expr", [P, 2 * P * L, P - L, sp.Max(P, L), P + sp.Max(L, b)])
def test_what_no_sum_of_monomials_is(rewrite_of: Callable[[Any], Rewrite], expr: Any) -> None:
    with pytest.raises(FormulaError):
        rewrite_of(expr)


# Substitutions and the like


def test_substitute() -> None:
    one, other = symbols("N_TP_model N_TP_ff")
    rewrite = substitute(sp.sqrt(one * other) * P, {one: N_TP / other}, "the product")
    assert rewrite.after == sp.sqrt(N_TP) * P
    assert rewrite.relation == "=="
    assert rewrite.factor is None
    verify(rewrite)


def test_substitutions_are_simultaneous() -> None:
    assert substitute(P / L, {P: L, L: P}, "swapped").after == L / P
    with pytest.raises(FormulaError, match="nothing to substitute"):
        substitute(P / L, {b: L}, "absent")


def test_rearrange() -> None:
    verify(rearrange((P + L) ** 2, P**2 + 2 * P * L + L**2, "expanded"))


def test_split_maximum() -> None:
    """A maximum is at most x exactly when each of its arguments is."""
    parts = split_maximum(sp.Max(P, 2 * L, b))
    assert set(parts) == {P, 2 * L, b}
    random = Random(9)
    for _ in range(40):
        at: dict[Any, Any] = {s: sp.Rational(random.randint(1, 20), 3) for s in (P, L, b)}
        bound = sp.Rational(random.randint(1, 40), 4)
        whole = max(at[P], 2 * at[L], at[b]) <= bound
        assert bool(whole) == all(bool(part.subs(at) <= bound) for part in parts)
    for expr in (P, sp.Min(P, L), 2 * sp.Max(P, L)):
        with pytest.raises(FormulaError, match="no maximum"):
            split_maximum(expr)


# One after the other


def test_compose() -> None:
    """Factors multiply, conditions and equalities add up."""
    first = drop_ones((N_DP - 1) * d_ff + (N_TP - 1) * d_model, [N_DP, N_TP])
    second = equal_shares(first.after)
    both = compose(first, second)
    assert (both.before, both.after) == (first.before, second.after)
    assert both.relation == "<="
    assert both.factor == 4
    assert both.conditions == first.conditions
    assert both.equality == second.equality
    assert both.reason == f"{first.reason}; {second.reason}"
    verify(both)
    one, other = symbols("N_TP_model N_TP_ff")
    mean = arithmetic_geometric(one * d_ff + other * d_model)
    known = substitute(mean.after, {one: N_TP / other}, "the product")
    joined = compose(mean, known, "the best split")
    assert joined.relation == ">="
    assert joined.factor is None
    assert joined.reason == "the best split"
    assert joined.after == 2 * sp.sqrt(N_TP * d_model * d_ff)
    verify(joined)


def test_what_does_not_compose() -> None:
    up = drop_ones((N_DP - 1) * P + L, [N_DP])
    down = arithmetic_geometric(up.after)
    with pytest.raises(FormulaError, match="one rewrite goes up"):
        compose(up, down)
    with pytest.raises(FormulaError, match="not where the first rewrite ends"):
        compose(down, up)
