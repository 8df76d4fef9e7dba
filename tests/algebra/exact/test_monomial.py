"""Monomials: the laws of products of powers, and comparisons that are exact.

The laws are checked on random monomials; values and comparisons against mpmath at
many digits.
"""

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from sampling import examples
from symscale.algebra.exact.monomial import ONE, Monomial, canonical_exponent, common_factor
from symscale.algebra.exact.primes import prime_factors
from symscale.errors import FormulaError
from symscale.language.symbols import symbols

C, L, b, N, J, W_net = symbols("C L b N J W_net")
alpha, beta = symbols("alpha alpha_L")
SYMBOLS = (C, L, b, W_net)
RATIONALS = st.tuples(st.integers(-9, 9), st.integers(1, 6)).map(lambda q: sp.Rational(*q))
SYMBOLIC = st.sampled_from(
    [alpha, 1 - 2 * alpha, 1 / (1 - 2 * alpha), alpha / (1 + beta), alpha * beta - 1]
)
EXPONENTS = st.one_of(RATIONALS, RATIONALS, SYMBOLIC)
POSITIVES = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(lambda q: sp.Rational(*q))
ATOMS = st.sampled_from([*SYMBOLS, *map(sp.Integer, (2, 3, 5, 7))])


def monomials(exponents: st.SearchStrategy[Any] = EXPONENTS) -> st.SearchStrategy[Monomial]:
    return st.dictionaries(ATOMS, exponents, max_size=4).map(Monomial.from_powers)


def all_values(numbers: list[Any]) -> dict[sp.Symbol, Any]:
    """A value for each symbol; those of exponents avoid the poles."""
    at = dict(zip(SYMBOLS, numbers, strict=True))
    return {**at, alpha: sp.Rational(-1, 3), beta: sp.Rational(2, 7)}


VALUES = st.lists(POSITIVES, min_size=4, max_size=4).map(all_values)
few = examples(20)


# The laws


@few
@given(monomials(), monomials(), monomials())
def test_products(x: Monomial, y: Monomial, z: Monomial) -> None:
    assert x * y == y * x
    assert (x * y) * z == x * (y * z)
    assert x * ONE == x
    assert (x / x).is_one
    assert x / y == x * y**-1
    assert (x * y) / y == x
    assert hash(x * y) == hash(y * x)


@few
@given(monomials(), monomials(), EXPONENTS, EXPONENTS)
def test_powers(x: Monomial, y: Monomial, p: Any, q: Any) -> None:
    assert (x * y) ** p == x**p * y**p
    assert x**p * x**q == x ** (p + q)
    assert (x**p) ** q == x ** (p * q)
    assert x**0 == ONE
    assert x**1 == x
    if p != 0:
        assert (x**p) ** (1 / p) == x


@few
@given(monomials())
def test_reading_what_is_written(x: Monomial) -> None:
    assert Monomial.of(x.expr) == x
    assert Monomial.of(x) is x
    for atom, exponent in x.powers:
        assert exponent != 0
        assert x.exponent(atom) == exponent
    assert x.exponent(J) == 0
    assert x.coefficient * x.split(SYMBOLS)[0] == x


@few
@given(monomials(), VALUES)
def test_a_value_is_that_of_the_expression(x: Monomial, at: dict[Any, Any]) -> None:
    expected = sp.N(x.expr.subs(at), 40)
    with mp.workdps(30):
        assert mp.almosteq(x.evaluate(at), mp.mpf(expected._mpf_), rel_eps=1e-27)
    assert (x * x).evaluate(at) > 0


# Substitution


@few
@given(monomials(), monomials(), monomials(RATIONALS), monomials(RATIONALS), RATIONALS)
def test_substitution_is_a_homomorphism(
    x: Monomial, y: Monomial, one: Monomial, other: Monomial, a: Any
) -> None:
    values = {C: one, L: other}
    inner = {**values, alpha: a / 19}
    assert (x * y).substitute(values) == x.substitute(values) * y.substitute(values)
    assert (x**2).substitute(inner) == x.substitute(inner) ** 2
    assert x.substitute({}) == x
    as_expressions = {C: one.expr, L: other.expr}
    assert x.substitute(as_expressions) == x.substitute(values)


@few
@given(monomials(), VALUES)
def test_substitution_in_steps(x: Monomial, at: dict[Any, Any]) -> None:
    """Numbers for some symbols first, then for the others, and in exponents too."""
    first = {s: v for s, v in at.items() if s in (C, alpha)}
    rest = {s: v for s, v in at.items() if s not in first}
    assert x.substitute(first).substitute(rest) == x.substitute(at)
    assert not x.substitute(at).free_symbols


def test_substitution_is_simultaneous() -> None:
    x = Monomial.of(C * L**2)
    assert x.substitute({C: L, L: C}) == Monomial.of(L * C**2)
    assert x.substitute({C: 2 * C}) == Monomial.of(2 * C * L**2)


def test_a_pole_is_no_exponent() -> None:
    x = Monomial.of(C ** (1 / (1 - 2 * alpha)))
    half = {alpha: sp.Rational(1, 2), C: sp.Integer(2)}
    with pytest.raises(FormulaError):
        x.substitute(half)
    with pytest.raises(FormulaError):
        x.compare_one(half)
    with pytest.raises(FormulaError):
        x.evaluate(half)


# Comparison with 1


def sign_by_digits(x: Monomial, at: dict[Any, Any], digits: int) -> int:
    """The sign of its logarithm, computed with many digits from its own table."""
    with mp.workdps(digits):
        terms = []
        for atom, exponent in x.powers:
            base, power = at.get(atom, atom), exponent.subs(at)
            logarithm = mp.log(mp.mpf(int(base.p))) - mp.log(mp.mpf(int(base.q)))
            terms.append(logarithm * int(power.p) / int(power.q))
        total = mp.fsum(terms)
        return 0 if abs(total) < mp.mpf(10) ** (20 - digits) else int(mp.sign(total))


@few
@given(monomials(), VALUES)
def test_comparison(x: Monomial, at: dict[Any, Any]) -> None:
    assert x.compare_one(at) == sign_by_digits(x, at, 80)
    assert (x**-1).compare_one(at) == -x.compare_one(at)
    assert (x / x.substitute(at)).compare_one(at) == 0


def near_ties() -> list[tuple[Any, Any]]:
    """Convergents p/q of log 3 / log 2: 2^p and 3^q get as near as they can."""
    with mp.workdps(400):
        ratio = mp.log(3) / mp.log(2)
        p0, p1, q0, q1 = 0, 1, 1, 0
        found = []
        for _ in range(120):
            whole = int(mp.floor(ratio))
            p0, p1 = p1, whole * p1 + p0
            q0, q1 = q1, whole * q1 + q0
            found.append((sp.Integer(p1), sp.Integer(q1)))
            ratio = 1 / (ratio - whole)
    return found


def test_near_ties() -> None:
    """2^p against 3^q, and the q-th root of both, where 30 digits do not tell them apart."""
    two, three = Monomial.of(2), Monomial.of(3)
    signs = []
    for p, q in near_ties():
        x = two**p / three**q
        assert x.compare_one() == sign_by_digits(x, {}, 400)
        assert (x ** (1 / (p * q))).compare_one() == x.compare_one()
        signs.append(x.compare_one())
    assert signs == [-1, 1] * 60  # convergents lie on alternate sides


def test_near_tie_of_values() -> None:
    """The same through symbols: values that differ in the hundredth digit."""
    x = Monomial.of(C ** sp.Rational(1, 2) / L ** sp.Rational(1, 3))
    at = {L: sp.Integer(2) ** 3, C: sp.Integer(2) ** 2}
    assert x.compare_one(at) == 0
    tiny = sp.Rational(1, 10**100)
    assert x.compare_one({**at, C: at[C] + tiny}) == 1
    assert x.compare_one({**at, L: at[L] + tiny}) == -1


def test_huge_powers() -> None:
    x = Monomial.of(2) ** (10**40) / Monomial.of(3) ** (10**39)
    assert x.compare_one() == 1
    assert (x**-1).compare_one() == -1
    y = Monomial.of(sp.Integer(6)) ** (10**40)
    z = Monomial.of(sp.Integer(2)) ** (10**40) * Monomial.of(sp.Integer(3)) ** (10**40)
    assert (y / z).is_one
    assert Monomial.of(C).evaluate({C: sp.Integer(2) ** 2000}) == mp.mpf(2) ** 2000


P1, P2, P3 = (sp.Integer(sp.nextprime(n)) for n in (10**20, 10**21, 10**22))


def test_equality_without_factors() -> None:
    """Products of primes too large to factor are compared by refining until coprime."""
    x = Monomial.of(C**2 * L**2 / (W_net * b))
    assert x.compare_one({C: P1 * P2, L: P2 * P3, W_net: P1**2 * P2, b: P2**3 * P3**2}) == 0
    assert x.compare_one({C: P1 * P2, L: P2 * P3, W_net: P1**2 * P2 + 1, b: P2**3 * P3**2}) == -1
    y = Monomial.of(C ** sp.Rational(1, 6) / L ** sp.Rational(1, 4))
    assert y.compare_one({C: (P1 * P2) ** 3, L: (P1 * P2) ** 2}) == 0
    assert y.compare_one({C: (P1 * P2) ** 3, L: (P1 * P2) ** 2 - 1}) == 1
    assert y.compare_one({C: (P1 / P2) ** 3, L: (P1 / P2) ** 2}) == 0


def test_comparison_with_irrational_numbers() -> None:
    """A number that is no product of integers is compared by its value."""
    assert Monomial.of(sp.pi / 3).compare_one() == 1
    assert Monomial.of(4 * C / (1 + sp.sqrt(2))).compare_one({C: sp.Rational(3, 5)}) == -1
    assert Monomial.of((1 + sp.sqrt(C)) / 2).compare_one({C: sp.Integer(2)}) == 1
    assert Monomial.of((1 + sp.sqrt(C)) / 2).compare_one({C: sp.Integer(1)}) == 0


def test_a_comparison_needs_values() -> None:
    with pytest.raises(FormulaError, match="no value for L"):
        Monomial.of(C * L).compare_one({C: sp.Integer(2)})
    with pytest.raises(FormulaError, match="no value for alpha"):
        Monomial.of(C**alpha).compare_one({C: sp.Integer(2)})
    with pytest.raises(FormulaError, match="no value for L"):
        Monomial.of(C * L).evaluate({C: sp.Integer(2)})
    for value in (sp.Integer(0), sp.Integer(-2)):
        with pytest.raises(FormulaError, match="not positive"):
            Monomial.of(C).compare_one({C: value})
        with pytest.raises(FormulaError, match="not positive"):
            Monomial.of(C).evaluate({C: value})


# Reading


@pytest.mark.parametrize(
    "expr",
    [
        N - J,
        N - 1,
        -N,
        sp.Integer(0),
        sp.Integer(-3),
        -2 * N / J,
        sp.Max(N, J),
        sp.Max(N, J) ** 2 * C,
        sp.Min(N, J) + C,
        N**sp.I,
        N ** sp.sqrt(2),
        alpha,
        sp.oo,
        sp.zoo,
        sp.nan,
        sp.log(N),
    ],
)
def test_what_no_monomial_is(expr: Any) -> None:
    with pytest.raises(FormulaError):
        Monomial.of(expr)


@pytest.mark.parametrize(
    ("expr", "powers"),
    [
        (12 * b**2 / L, {2: 2, 3: 1, b: 2, L: -1}),
        (sp.sqrt(N * J / 8), {N: sp.Rational(1, 2), J: sp.Rational(1, 2), 2: sp.Rational(-3, 2)}),
        ((2 * C**2) ** alpha, {2: alpha, C: 2 * alpha}),
        (sp.Float("0.1") * C, {2: -1, 5: -1, C: 1}),
        (C ** sp.Float("0.5"), {C: sp.Rational(1, 2)}),
        (6, {2: 1, 3: 1}),
        (1, {}),
        (sp.Rational(45, 28), {3: 2, 5: 1, 2: -2, 7: -1}),
        (C ** (1 / (1 - 2 * alpha)) * C ** (1 / (2 * alpha - 1)), {}),
    ],
)
def test_reading(expr: Any, powers: dict[Any, Any]) -> None:
    found = Monomial.of(expr)
    assert found.table == {sp.S(atom): sp.S(e) for atom, e in powers.items()}


def test_a_positive_sum_is_one_atom() -> None:
    """Parameters may stand in a sum; what it has in common is taken out."""
    x = Monomial.of(2 * N * C + 4 * J * C)
    assert x == Monomial.of(N + 2 * J) * Monomial.of(2 * C)
    assert set(x.atoms) == {C, N + 2 * J}
    assert x.substitute({N: sp.Integer(1), J: sp.Integer(2)}) == Monomial.of(10 * C)
    assert x.evaluate({N: sp.Integer(1), J: sp.Integer(2), C: sp.Integer(3)}) == 30


def test_factors_of_large_numbers() -> None:
    """Beyond 64 bits only small factors are looked for; the product is what counts."""
    number = sp.Integer(2) ** 5 * P1 * P2
    x = Monomial.of(number)
    assert x.exponent(sp.Integer(2)) == 5
    assert sp.Mul(*(atom**e for atom, e in x.powers)) == number


# Parts


@pytest.mark.parametrize(
    ("exponents", "factor"),
    [
        ([sp.Integer(2), sp.Rational(1, 3)], sp.Integer(1)),
        ([1 / (1 - 2 * alpha), 2 / (2 * alpha - 1)], 1 / (1 - 2 * alpha)),
        ([alpha, 1 / (1 + alpha), 1 / (1 + alpha) ** 2], 1 / (1 + alpha) ** 2),
        ([1 / (4 - 4 * alpha), 1 / (1 + beta)], 1 / ((1 - alpha) * (1 + beta))),
    ],
)
def test_common_factor(exponents: list[Any], factor: Any) -> None:
    found = common_factor(exponents)
    assert sp.simplify(found - factor) == 0
    for exponent in exponents:
        assert sp.cancel(exponent / found).is_polynomial(alpha, beta)


@few
@given(monomials())
def test_content(x: Monomial) -> None:
    """What it leaves are whole coefficients without a common divisor."""
    assert x.content > 0
    primitive = x ** (1 / x.content)
    coefficients: list[Any] = []
    for _, exponent in primitive.powers:
        numerator = sp.fraction(exponent)[0]
        coefficients += sp.Poly(numerator, alpha, beta).coeffs()
    if all(e.is_Rational for _, e in x.powers):
        assert all(c.is_Integer for c in coefficients)
        assert not coefficients or sp.igcd(0, *coefficients) == 1


@pytest.mark.parametrize(
    ("build", "same"),
    [
        (lambda a: 1 / (1 - 2 * a) + 1, lambda a: (2 - 2 * a) / (1 - 2 * a)),
        (lambda a: (a**2 - 1) / (a - 1), lambda a: a + 1),
        (lambda a: (a / 2) / (a / 2 + 1), lambda a: a / (a + 2)),
        (lambda a: -1 / (a - 1), lambda a: 1 / (1 - a)),
        (lambda a: sp.Rational(1, 2) / (1 - a), lambda a: 1 / (2 - 2 * a)),
        (lambda a: 1 / (1 - a) ** 3, lambda a: -1 / (a - 1) ** 3),
        (lambda a: a - a, lambda a: sp.Integer(0)),
    ],
)
def test_equal_exponents_are_identical(
    build: Callable[[Any], Any], same: Callable[[Any], Any]
) -> None:
    assert canonical_exponent(build(alpha)) == canonical_exponent(same(alpha))
    assert canonical_exponent(sp.Float("0.25")) == sp.Rational(1, 4)


def test_large_numbers_have_factors_whatever_was_factored_before() -> None:
    """SymPy remembers factors of numbers too large to be finished, and trips over them."""
    rest = 1056116527936538303717
    for number in (299735901172464204805435218003451926056424924341721961314616789,
                   12 * rest, 12 * rest**2, 2**200 * 3, (2**31 - 1) * 65537 * 2**40):
        factors = prime_factors(number)
        assert math.prod(p**k for p, k in factors.items()) == number
    assert prime_factors(12 * rest**2) == {2: 2, 3: 1, rest: 2}
