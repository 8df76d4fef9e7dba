"""The kernel's exponents, numbers and identities, against SymPy, mpmath and numbers put in."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import mpmath as mp
import pytest
import sympy as sp

from symscale.kernel.limits import Refused, budget
from symscale.kernel.numbers import (
    compare_with_one,
    coprime,
    exp2,
    factored,
    log2_of_range,
    rounded,
)
from symscale.kernel.polynomials import Box, Exponent, bounded, names_in, quotient, sign, value_at
from symscale.kernel.read import read_exponent
from symscale.kernel.terms import Base, Place, Product, Terms, rounded_log, times, vanishes

E = sp.Symbol("e")
BOXES: tuple[tuple[Fraction | None, Fraction | None], ...] = (
    (Fraction(-1), Fraction(2)),
    (None, Fraction(1, 2)),
    (Fraction(0), None),
    (None, None),
)


@pytest.fixture(autouse=True)
def _much_work() -> Iterator[None]:
    with budget(10**9):
        yield


def as_sympy(value: Exponent) -> Any:
    """An exponent in SymPy's form."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    sides = [
        sum(c * sp.Mul(*(sp.Symbol(s) ** e for s, e in m)) for m, c in p.items())
        for p in (value.above, value.below)
    ]
    return sides[0] / sides[1]


def random_text(rng: Random, names: str, depth: int = 0) -> str:
    """An exponent as text."""
    if depth > 2 or rng.random() < 0.3:
        return rng.choice([str(rng.randrange(5)), *names])
    first, second = (random_text(rng, names, depth + 1) for _ in range(2))
    return rng.choice(
        [
            f"{first} + {second}",
            f"({first})*({second})",
            f"-{first} - ({second})",
            f"({first})^{rng.randrange(4)}",
            f"({first})/({second})",
        ]
    )


@pytest.mark.parametrize("names", ["e", "ef"])
def test_exponents_are_read_as_sympy_reads_them(names: str) -> None:
    rng = Random(7)
    box: Box = {s: (Fraction(1), Fraction(3)) for s in names}
    read = 0
    for _ in range(120):
        text = random_text(rng, names)
        try:
            value = read_exponent(text, box)
        except Refused:
            continue
        read += 1
        expected = sp.sympify(text.replace("^", "**"))
        assert sp.cancel(as_sympy(value) - expected) == 0, text
        again = read_exponent(
            f"(({text}) + e - f - 2)-(e - f - 2)" if "f" in names else f"(({text}) + e)-e", box
        )
        assert again == value
        assert (again - value) == 0
        if len(names) == 1:
            assert hash(again) == hash(value)
        at = {s: Fraction(rng.randrange(11, 29), 10) for s in names}
        exact = expected.subs(
            {sp.Symbol(s): sp.Rational(v.numerator, v.denominator) for s, v in at.items()}
        )
        assert sp.Rational(*value_at(value, at).as_integer_ratio()) == exact
    assert read > 60


def test_signs_over_an_interval_are_those_between_the_roots() -> None:
    rng = Random(3)
    told = 0
    for _ in range(150):
        coefficients = [rng.randrange(-4, 5) for _ in range(rng.randrange(1, 6))]
        text = " + ".join(f"({c})*e^{k}".replace("(-", "(0-") for k, c in enumerate(coefficients))
        poly = sp.Poly(sum(c * E**k for k, c in enumerate(coefficients)), E)
        roots = poly.real_roots() if poly.degree() > 0 else []
        for interval in BOXES:
            low, high = interval
            inside = [r for r in roots if (low is None or r > low) and (high is None or r < high)]
            value = read_exponent(text, {"e": interval})
            try:
                found = sign(value, {"e": interval})
            except Refused:
                assert inside, (text, interval)
                continue
            told += 1
            middle = Fraction(1, 3) if low == 0 or high is None else Fraction(-1, 5)
            exact = poly.eval(sp.Rational(middle.numerator, middle.denominator))
            assert not inside
            assert found == sp.sign(exact), (text, interval)
    assert told > 150


def test_signs_of_two_symbols_are_told_only_where_they_are_sure() -> None:
    rng = Random(11)
    box: Box = {"e": (Fraction(-1, 2), Fraction(1, 3)), "f": (Fraction(1), None)}
    told = 0
    for _ in range(300):
        value = read_exponent(
            " + ".join(
                f"{rng.randrange(-0, 4)}*e^{i}*f^{j} - {rng.randrange(3)}*e^{i}"
                for i in range(2)
                for j in range(2)
            ),
            box,
        )
        try:
            found = sign(value, box)
        except Refused:
            continue
        told += len(names_in(value)) == 2
        for _ in range(20):
            at = {
                "e": Fraction(rng.randrange(-49, 33), 100),
                "f": Fraction(rng.randrange(101, 900), 100),
            }
            number = value_at(value, at)
            assert (number > 0) - (number < 0) == found
    assert told > 20


def test_quotients_are_plain_and_constants_are_numbers() -> None:
    p, q = {(("e", 1),): 2, (): -1}, {(): 3, (("e", 1),): -6}
    assert quotient(p, q) == Fraction(-1, 3)
    assert quotient({}, q) == 0
    value = read_exponent("(e^2 - 1)/(e - 3)/(e + 1)*(e - 3)", {"e": (Fraction(4), None)})
    assert as_sympy(value) == E - 1
    with pytest.raises(Refused):
        bounded(Fraction(1 << 5000))
    half: Box = {"e": (None, Fraction(1, 2))}
    first, second = read_exponent("1/(1 - 2*e)", half), read_exponent("-1/(2*e - 1)", half)
    assert hash(first) == hash(second)
    assert first == second
    assert first != read_exponent("1/(1 - 3*e)", {"e": (None, Fraction(1, 3))})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "e +",
        "(e",
        "e)",
        "e^f",
        "e^21",
        "e^-1",
        "2 3",
        "1/0",
        "1/(e-e)",
        "x",
        "e.e",
        "e**2",
        "½",
        "9" * 61,
        "(" * 40 + "1" + ")" * 40,
        "e" * 700,
        None,
        1,
        ["e"],
    ],
)
def test_what_is_no_exponent(text: object) -> None:
    with pytest.raises(Refused):
        read_exponent(text, {"e": (Fraction(0), Fraction(1))})


def test_numbers_are_compared_as_mpmath_compares_them() -> None:
    rng = Random(5)
    with mp.workdps(400):
        for _ in range(300):
            powers = {
                rng.randrange(2, 10 ** rng.randrange(1, 12)): Fraction(
                    rng.randrange(-30, 31), rng.randrange(1, 30)
                )
                for _ in range(rng.randrange(1, 4))
            }
            exact = sum(mp.log(n) * e.numerator / e.denominator for n, e in powers.items())
            expected = 0 if abs(exact) < mp.mpf(10) ** -300 else int(mp.sign(exact))
            assert compare_with_one(powers) == expected
    # Equal, though written over bases that share factors: sqrt(12) sqrt(18) = 6^(3/2).
    assert compare_with_one({12: Fraction(1, 2), 18: Fraction(1, 2), 6: Fraction(-3, 2)}) == 0
    assert compare_with_one({4: Fraction(1, 2), 2: Fraction(-1)}) == 0
    assert compare_with_one({10**50 + 1: Fraction(1), 10**50: Fraction(-1)}) == 1
    with pytest.raises(Refused, match="too close"):
        compare_with_one({10**400 + 1: Fraction(1), 10**400: Fraction(-1)})


def test_ranges_hold_the_numbers() -> None:
    rng = Random(9)
    with mp.workdps(400):
        for bits in (64, 256):
            for _ in range(60):
                x = Fraction(rng.randrange(1, 10 ** rng.randrange(1, 40)), rng.randrange(1, 10**9))
                low, high = log2_of_range((x, x), bits)
                exact = mp.log(mp.mpf(x.numerator) / x.denominator, 2)
                assert mp.mpf(low.numerator) / low.denominator <= exact
                assert exact <= mp.mpf(high.numerator) / high.denominator
                assert high - low < Fraction(1, 2 ** (bits - 8))
                power = Fraction(rng.randrange(-(10**6), 10**6), rng.randrange(1, 10**4))
                low, high = exp2((power, power), bits)
                exact = mp.mpf(2) ** (mp.mpf(power.numerator) / power.denominator)
                assert mp.mpf(low.numerator) / low.denominator <= exact
                assert exact <= mp.mpf(high.numerator) / high.denominator
                assert (high - low) / low < Fraction(1, 2 ** (bits - 16))
                wide = rounded((-x, x), 40)
                assert wide[0] <= -x < x <= wide[1] <= x + x / 2**30
    for k in range(60):
        low, high = log2_of_range((Fraction(2**k), Fraction(2**k)), 64)
        assert low <= k <= high < k + Fraction(1, 2**60)
        assert exp2((Fraction(-k), Fraction(-k)), 64)[0] <= Fraction(1, 2**k)
    with pytest.raises(Refused):
        exp2((Fraction(0), Fraction(200_000)), 64)
    with pytest.raises(Refused):
        log2_of_range((Fraction(0), Fraction(1)), 64)


def test_numbers_are_factored_and_made_coprime() -> None:
    rng = Random(2)
    for _ in range(200):
        n = rng.randrange(1, 10 ** rng.randrange(1, 30)) ** rng.randrange(1, 4)
        value = 1
        for p, k in factored(n).items():
            value *= p**k
        assert value == n
    assert factored(53**6) == {53: 6}
    assert factored(101**14) == {101: 14}
    base = coprime([12, 18, 35, 77, 1])
    assert sorted(base) == [2, 3, 5, 7, 11]


def random_terms(rng: Random, names: str) -> list[tuple[Exponent, Product]]:
    """A sum of products."""
    return [
        (
            Fraction(rng.randrange(-3, 4) or 1),
            {
                b: Fraction(rng.randrange(-3, 4), rng.choice([1, 1, 2]))
                for b in rng.sample(names, 2)
            },
        )
        for _ in range(rng.randrange(1, 4))
    ]


def valued(terms: Terms, at: dict[str, mp.mpf], inside: dict[str, Terms]) -> mp.mpf:
    """The value of a sum."""
    total = mp.mpf(0)
    for c, p in terms:
        assert isinstance(c, Fraction)
        factor = mp.mpf(c.numerator) / c.denominator
        for b, e in p.items():
            assert isinstance(e, Fraction)
            base = (
                b if isinstance(b, int) else valued(inside[b], at, inside) if b in inside else at[b]
            )
            factor *= mp.mpf(base) ** (mp.mpf(e.numerator) / e.denominator)
        total += factor
    return total


def test_a_sum_that_vanishes_is_zero_everywhere() -> None:
    """A "yes" is right; and products multiplied out in two ways are recognized."""
    rng = Random(13)
    inside: dict[str, Terms] = {
        "S": [(Fraction(1), {"a": Fraction(1)}), (Fraction(2), {"b": Fraction(1, 2)})],
        "R": [(Fraction(1), {"S": Fraction(2)}), (Fraction(1), {"c": Fraction(1)})],
    }
    yes = 0
    for _ in range(300):
        first = random_terms(rng, "abcSR")
        name = rng.choice("SR")
        power = rng.randrange(1, 4)
        by_name = [(c, times(p, {name: Fraction(power)})) for c, p in first]
        out: Terms = first
        for _ in range(power):
            out = [(c * d, times(p, q)) for c, p in out for d, q in inside[name]]
        shift = rng.choice([0, 0, 1])
        extra: Product = {"c": Fraction(1)}
        total: Terms = [*by_name, *((-c, p) for c, p in out), (Fraction(shift), extra)]
        told = vanishes(total, inside)
        assert told == (shift == 0)
        yes += told
        with mp.workdps(50):
            at = {s: mp.mpf(rng.randrange(1, 90)) / 10 for s in "abc"}
            size = sum(abs(valued([t], at, inside)) for t in total)
            assert (abs(valued(total, at, inside)) < mp.mpf(10) ** -40 * size) == told
    assert yes > 100


def test_numbers_and_exponent_symbols_are_multiplied_out() -> None:
    box: Box = {"e": (Fraction(0), Fraction(1))}

    one = Fraction(1)
    with pytest.raises(Refused):
        read_exponent("1/(1 - 2*e)", box)
    half: Box = {"e": (Fraction(0), Fraction(1, 2))}
    first, second = read_exponent("1/(1 - 2*e)", half), read_exponent("2*e/(1 - 2*e)", half)
    symbol = read_exponent("e", half)
    assert vanishes([(one, {2: first}), (Fraction(-2), {2: second})], {})
    assert not vanishes([(one, {2: first}), (Fraction(-3), {2: second})], {})
    assert vanishes([(one, {"e": symbol + one}), (-symbol, {"e": symbol})], {})
    assert vanishes([(one, {2: one, 3: Fraction(1, 2)}), (Fraction(-2), {3: Fraction(1, 2)})], {})
    assert vanishes([(one, {6: first}), (-one, {2: first, 3: first})], {})
    assert not vanishes([(one, {6: first}), (-one, {2: first, 3: second})], {})


def test_signs_at_a_place() -> None:
    rng = Random(17)
    inside: dict[str, Terms] = {
        "S": [(Fraction(1), {"a": Fraction(1, 3)}), (Fraction(1), {"b": Fraction(1)})]
    }
    for _ in range(200):
        terms = random_terms(rng, "abS")
        values = {s: Fraction(rng.randrange(1, 50), rng.randrange(1, 9)) for s in "ab"}
        with mp.workdps(60):
            at = {s: mp.mpf(v.numerator) / v.denominator for s, v in values.items()}
            exact = valued(terms, at, inside)
            size = sum(abs(valued([t], at, inside)) for t in terms)
        if abs(exact) > mp.mpf(10) ** -50 * size:
            assert Place(values, inside).sign(terms) == int(mp.sign(exact))
    place = Place({"a": Fraction(8), "b": Fraction(18)}, {})
    root: Terms = [(Fraction(3), {"a": Fraction(1, 2)}), (Fraction(-2), {"b": Fraction(1, 2)})]
    assert place.sign(root) == 0  # 3 sqrt 8 = 2 sqrt 18
    assert place.sign([(Fraction(1), {"a": Fraction(1, 3)}), (Fraction(-2), {})]) == 0
    # The root of 3 + 2 sqrt 2 is 1 + sqrt 2, which no rule here knows.
    one, half = Fraction(1), Fraction(1, 2)
    nested = Place({"a": Fraction(2)}, {"R": [(Fraction(3), {}), (Fraction(2), {"a": half})]})
    with pytest.raises(Refused, match="too close"):
        nested.sign([(one, {"R": half}), (-one, {"a": half}), (-one, {})])
    with pytest.raises(Refused, match="no number to c"):
        place.sign([(Fraction(1), {"c": Fraction(1)}), (Fraction(-1), {})])


def test_work_is_counted_alike_at_each_time() -> None:
    from symscale.kernel.limits import spend, spent

    counts = []
    for _ in range(2):
        with budget(1000):
            compare_with_one({3: Fraction(1, 2), 10**30 + 57: Fraction(-1, 70)})
            counts.append(spent(1000))
    assert all(a == b > 0 for a, b in pairwise(counts))
    with budget(10), pytest.raises(Refused, match="more work"):
        spend(11)


def test_an_interval_that_begins_at_zero_does_not_tell_a_sign() -> None:
    """A number just above another: at the first precision their difference begins at 0."""
    root: Product = {3: Fraction(1, 2)}
    one, three = Fraction(1), Fraction(3)
    ends = [end / 2 for end in log2_of_range((three, three), 64)]
    least, _ = exp2(rounded_log((ends[0], ends[1]), 64), 64)
    low = least / exp2((Fraction(0), Fraction(0)), 64)[1]
    place, terms = Place({}, {}), [(one, root), (-low, dict[Base, Exponent]())]
    assert place._range(terms, 64)[0] == 0
    assert place.sign(terms) == 1
    assert place.sign([(low, {}), (-one, root)]) == -1
