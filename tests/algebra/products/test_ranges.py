"""What an optimum leaves open, and where a limit has a value at all."""

from dataclasses import replace

import pytest
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.attained import optimal_point
from symscale.algebra.products.program import Program, at_most
from symscale.algebra.products.ranges import fixed_products, ranges
from symscale.algebra.products.solve import solve
from symscale.errors import InfeasibleError, RegionError
from symscale.language.symbols import symbol
from symscale.studies.training.answer import training_limits


def test_ends_of_ranges_are_taken_and_nothing_beyond_them() -> None:
    """With the ends put in as a further constraint, the optimum is the same; beyond, it falls."""
    numbers = {symbol(n): sp.Integer(v) for n, v in (("C", 3), ("K", 4), ("J", 2))}
    N = symbol("N")  # the notation's name
    limit = solve(Program(
        "demo", "", "maximize", Monomial.of(symbol("T")), (symbol("T"), N),
        (
            at_most("peak", symbol("T"), N, ""), at_most("first", N, symbol("C"), ""),
            at_most("second", N, symbol("K"), ""),
            at_most("energy", symbol("T"), symbol("J"), ""),
        ),
    ))
    (ends,) = ranges(limit, limit.piece("energy")).values()
    low = max(m.evaluate(numbers) for m in ends.least)
    high = min(m.evaluate(numbers) for m in ends.most)
    assert (low, high) == (2, 3)
    for at, same in ((low, True), (high, True), (1.9, False), (3.1, None)):
        fixed = replace(limit.program, constraints=(
            *limit.program.constraints,
            replace(at_most("fix", N, sp.Rational(str(at)), ""), relation="=="),
        ))
        if same is None:
            with pytest.raises(InfeasibleError):
                solve(fixed).at(numbers)
        else:
            assert (solve(fixed).at(numbers) == 2) is same


def test_products_of_free_variables_are_fixed_at_every_optimal_run() -> None:
    found = training_limits("h100-sxm")
    assert found.ruling is not None
    assert found.values is not None
    assert set(map(str, found.free)) == {"N_DP", "N_PP", "m"}
    point = optimal_point(found.program, found.values).values
    products = fixed_products(found.limit, found.ruling)
    assert len(products) == 2  # three variables, one degree of freedom
    for fixed in products:
        at = fixed.product.substitute(point).evaluate(found.values)
        assert at == pytest.approx(float(fixed.value.evaluate(found.values)), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("E", sp.Rational(1, 2), "1 <= E"),
        ("alpha", sp.Rational(1, 2), "alpha must lie within"),
        ("C", sp.Integer(0), "C must be positive"),
    ],
)
def test_a_limit_has_no_value_outside_of_its_domain(
    name: str, value: sp.Rational, said: str
) -> None:
    limit = training_limits().limit
    values = dict.fromkeys(limit.program.parameters, sp.Integer(1000))
    values |= {symbol("alpha"): sp.Rational(1, 4), symbol("alpha_L"): sp.Rational(1, 8)}
    assert limit.at(values) > 0
    for ask in (limit.at, limit.ruling, limit.check):
        with pytest.raises(RegionError, match=said):
            ask({**values, symbol(name): value})
