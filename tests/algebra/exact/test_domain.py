"""Domains of exponents: signs of polynomials over them, exactly."""

from itertools import product
from random import Random
from typing import Any

import pytest
import sympy as sp

from sampling import sample
from symscale.algebra.exact.domain import Domain, IndeterminateSignError, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError
from symscale.language.symbols import symbols

alpha, beta = symbols("alpha alpha_L")
HALF, QUARTER = sp.Rational(1, 2), sp.Rational(1, 4)


def over(lower: Any, upper: Any, second: Interval | None = None) -> Domain:
    """The domain alpha in (lower, upper), and a second interval for alpha_L."""
    exponents = {alpha: Interval(lower, upper)}
    return Domain(exponents={**exponents, beta: second} if second else exponents)


def sign_or_none(domain: Domain, polynomial: Any) -> int | None:
    try:
        return domain.sign(polynomial)
    except IndeterminateSignError:
        return None


# Intervals


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(None, None), (None, HALF), (HALF, None), (-QUARTER, HALF), (sp.Integer(3), sp.Integer(4))],
)
def test_samples_are_inside(lower: Any, upper: Any) -> None:
    interval = Interval(lower, upper)
    for k in range(1, 7):
        assert interval.sample(sp.Rational(k, 7)) in interval
    for end in (lower, upper):
        assert end is None or end not in interval


def test_an_interval_in_words() -> None:
    assert str(Interval(None, HALF)) == "(-oo, 1/2)"
    assert str(Interval(-QUARTER, None)) == "(-1/4, oo)"


def test_a_sample_of_a_domain() -> None:
    domain = over(-QUARTER, HALF, Interval(None, None))
    assert domain.sample() == {alpha: sp.Rational(1, 8), beta: 0}
    assert Domain().sample() == {}


# Signs


@pytest.mark.parametrize(
    ("domain", "polynomial", "sign"),
    [
        (over(None, HALF), 1 - 2 * alpha, 1),
        (over(None, HALF), 2 * alpha - 1, -1),
        (over(None, HALF), (1 - 2 * alpha) ** 2, 1),
        (over(None, HALF), 1 - 4 * alpha, None),
        (over(None, HALF), alpha, None),
        (over(0, HALF), alpha, 1),
        (over(0, HALF), alpha**2 - alpha, -1),
        (over(-QUARTER, HALF), 1 + 4 * alpha, 1),
        (over(-QUARTER, HALF), 1 + 3 * alpha, 1),
        (over(-QUARTER, HALF), 1 + 5 * alpha, None),
        # No root, though the coefficients have several signs.
        (over(0, 1), alpha**2 - alpha + 1, 1),
        (over(-1, 1), -(alpha**2) + alpha - 1, -1),
        (over(0, 1), 3 * alpha**2 - 3 * alpha + sp.Rational(4, 5), 1),
        # A double root inside: zero there.
        (over(0, 1), (2 * alpha - 1) ** 2, None),
        (over(HALF, 1), (2 * alpha - 1) ** 2, 1),
        # An irrational root inside, and outside.
        (over(0, 1), 2 * alpha**2 - 1, None),
        (over(HALF, 2), 5 * alpha**2 - 1, 1),
        # Without an interval the symbol is any real number.
        (Domain(), alpha**2 + 1, 1),
        (Domain(), alpha**2 - alpha + 1, 1),
        (Domain(), -(alpha**2) + alpha - 1, -1),
        (Domain(), alpha, None),
        # Numbers, and what cancels.
        (Domain(), sp.Integer(-3), -1),
        (Domain(), sp.Integer(0), 0),
        (Domain(), (alpha + 1) ** 2 - alpha**2 - 2 * alpha - 1, 0),
        (Domain(), (alpha + 1) ** 2 - alpha**2 - 2 * alpha, 1),
    ],
)
def test_signs_in_one_symbol(domain: Domain, polynomial: Any, sign: int | None) -> None:
    assert sign_or_none(domain, polynomial) == sign
    assert sign_or_none(domain, -polynomial) == (-sign if sign is not None else None)


@pytest.mark.parametrize(
    ("polynomial", "sign"),
    [
        (1 - 2 * alpha + beta, 1),
        (alpha + beta, None),
        ((1 - 2 * alpha) * beta, 1),
        (alpha * beta - beta, -1),
        (1 - alpha * beta - 2 * alpha, None),
        ((1 - 2 * alpha) * (1 + beta) + beta**2, 1),
    ],
)
def test_signs_in_two_symbols(polynomial: Any, sign: int | None) -> None:
    assert sign_or_none(over(None, HALF, Interval(sp.Integer(0), None)), polynomial) == sign


def test_an_unbounded_second_symbol_leaves_the_sign_open() -> None:
    domain = over(None, HALF, Interval(None, None))
    assert domain.sign(1 - 2 * alpha) == 1
    with pytest.raises(IndeterminateSignError, match="is not the same over the exponents' domain"):
        domain.sign(1 - 2 * alpha + beta)


def test_random_polynomials_in_one_symbol() -> None:
    """Built from its roots, a polynomial has a sign where none of them is inside."""
    those = sample(60)
    random = Random(those.seeds.start + 5)
    decided = 0
    for _ in those.seeds:
        low = sp.Rational(random.randint(-8, 4), 4)
        domain = over(low, low + sp.Rational(random.randint(1, 6), 4))
        interval = domain.exponents[alpha]
        roots = [sp.Rational(random.randint(-16, 16), 6) for _ in range(random.randint(1, 4))]
        lead = random.choice((1, -2))
        complex_roots = random.choice((1, (alpha - HALF) ** 2 + sp.Rational(1, 9)))
        polynomial = lead * complex_roots * sp.Mul(*(alpha - r for r in roots))
        expected = None
        if not any(r in interval for r in roots):
            expected = int(sp.sign(sp.S(polynomial).subs(alpha, interval.sample())))
        assert sign_or_none(domain, sp.S(polynomial)) == expected
        decided += expected is not None
    assert those.least(15) <= decided <= those.least(45)


def test_random_multi_affine_polynomials() -> None:
    """Such a one takes its extremes at the corners of a box, and nowhere else."""
    those = sample(40)
    random = Random(those.seeds.start + 6)
    decided = 0
    for _ in those.seeds:
        ends = []
        for _ in range(2):
            low = sp.Rational(random.randint(-4, 4), 4)
            ends.append((low, low + sp.Rational(random.randint(1, 6), 4)))
        domain = over(*ends[0], Interval(*ends[1]))
        c = [random.randint(-6, 9) for _ in range(4)]
        polynomial = c[0] + c[1] * alpha + c[2] * beta + c[3] * alpha * beta
        corners = {polynomial.subs({alpha: x, beta: y}) for x, y in product(*ends)}
        expected = None
        if all(v >= 0 for v in corners):
            expected = 1
        elif all(v <= 0 for v in corners):
            expected = -1
        if corners != {0}:
            assert sign_or_none(domain, polynomial) == expected
            decided += expected is not None
    assert those.least(8) <= decided <= those.least(35)


# Cells


def test_cells_between_roots() -> None:
    intervals = {alpha: Interval(-QUARTER, HALF), beta: Interval(None, HALF)}
    domain = Domain((Monomial.of(2),), intervals)
    polynomial = alpha**2 * (4 * alpha - 1) * (alpha - 3)
    cells = domain.split_at(polynomial)
    assert [str(cell.exponents[alpha]) for cell in cells] == [
        "(-1/4, 0)", "(0, 1/4)", "(1/4, 1/2)",
    ]  # fmt: skip
    assert [cell.sign(polynomial) for cell in cells] == [1, 1, -1]
    assert all(cell.at_least_one == domain.at_least_one for cell in cells)
    assert all(cell.exponents[beta] == domain.exponents[beta] for cell in cells)


def test_cells_of_the_whole_line() -> None:
    cells = Domain().split_at(alpha**2 - 1)
    assert [str(cell.exponents[alpha]) for cell in cells] == ["(-oo, -1)", "(-1, 1)", "(1, oo)"]


def test_no_cells() -> None:
    with pytest.raises(FormulaError, match="give alpha a number"):
        over(0, 1).split_at(2 * alpha**2 - 1)
    with pytest.raises(IndeterminateSignError):
        over(0, 1, Interval(None, None)).split_at(alpha - beta)
