"""Exponents: rational numbers, and rational functions of exponent symbols, exactly.

A number is a `Fraction`; a function is a `RationalFunction` of two polynomials with whole
coefficients, whose divisor has one sign over the whole box in which the symbols live.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import TypeAlias, Union

from symscale.kernel.limits import Refused, spend

LARGEST_DEGREE = 160
MOST_BITS = 4000

Powers: TypeAlias = tuple[tuple[str, int], ...]
"""A product of powers of exponent symbols, sorted by name."""

Polynomial: TypeAlias = dict[Powers, int]
"""Whole coefficients, none of them zero."""

Interval: TypeAlias = tuple[Fraction | None, Fraction | None]
"""An open interval; None is no end."""

Box: TypeAlias = Mapping[str, Interval]


class RationalFunction:
    """A rational function that is no number; made by `quotient` only."""

    __slots__ = ("above", "below", "key")

    def __init__(self, above: Polynomial, below: Polynomial) -> None:
        self.above, self.below = above, below
        self.key = (frozenset(above.items()), frozenset(below.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalFunction):
            return False  # a number is never written as a quotient
        return self.key == other.key or _product(self.above, other.below) == _product(
            other.above, self.below
        )

    def __hash__(self) -> int:
        # Equal functions of two symbols may be written in two ways: then like terms may be
        # missed, which refuses, and never accepts.
        return hash(self.key)

    def __add__(self, other: "Exponent") -> "Exponent":
        right = _lifted(other)
        if self.below == right.below:
            return quotient(_sum(self.above, right.above), self.below)
        above = _sum(_product(self.above, right.below), _product(right.above, self.below))
        return quotient(above, _product(self.below, right.below))

    __radd__ = __add__

    def __neg__(self) -> "RationalFunction":
        return RationalFunction({m: -c for m, c in self.above.items()}, self.below)

    def __sub__(self, other: "Exponent") -> "Exponent":
        return self + -other

    def __rsub__(self, other: "Exponent") -> "Exponent":
        return -self + other

    def __mul__(self, other: "Exponent") -> "Exponent":
        right = _lifted(other)
        return quotient(_product(self.above, right.above), _product(self.below, right.below))

    __rmul__ = __mul__


Exponent: TypeAlias = Union[Fraction, RationalFunction]  # noqa: UP007  # a class defined below its use


def _lifted(value: Exponent) -> RationalFunction:
    if isinstance(value, RationalFunction):
        return value
    value = Fraction(value)
    above: Polynomial = {(): value.numerator} if value else {}
    return RationalFunction(above, {(): value.denominator})


def quotient(above: Polynomial, below: Polynomial) -> Exponent:
    """Return above/below in its plainest form, as a number where it is one."""
    if not above:
        return Fraction(0)
    names = {s for p in (above, below) for powers in p for s, _ in powers}
    if len(names) == 1:
        above, below = _without_common_factor(above, below, names.pop())
    scale = gcd(*above.values(), *below.values())
    if below[min(below)] < 0:  # written with the plainest term positive
        scale = -scale
    above = {m: c // scale for m, c in above.items()}
    below = {m: c // scale for m, c in below.items()}
    if set(above) == set(below):
        first = next(iter(above))
        ratio = Fraction(above[first], below[first])
        if all(c == ratio * below[m] for m, c in above.items()):
            return ratio
    return RationalFunction(above, below)


def bounded(value: Exponent) -> Exponent:
    """The same exponent, if its numbers can be worked with and printed.

    Raises:
        Refused: If they have too many digits.
    """
    numbers: list[int]
    if isinstance(value, Fraction):
        numbers = [value.numerator, value.denominator]
    else:
        numbers = [*value.above.values(), *value.below.values()]
    if max(n.bit_length() for n in numbers) > MOST_BITS:
        raise Refused("an exponent has numbers of too many digits")
    return value


def symbol(name: str) -> Exponent:
    """Return an exponent symbol."""
    return RationalFunction({((name, 1),): 1}, {(): 1})


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    spend(1 + (len(first) + len(second)) // 16)
    total = dict(first)
    for m, c in second.items():
        value = total.get(m, 0) + c
        if value:
            total[m] = value
        else:
            total.pop(m, None)
    return total


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    bits = max((abs(c).bit_length() for p in (first, second) for c in p.values()), default=0)
    if bits > MOST_BITS:
        raise Refused("an exponent has numbers of too many digits")
    spend(len(first) * len(second) * (1 + bits // 64))
    total: Polynomial = {}
    for m, c in first.items():
        for n, d in second.items():
            powers = dict(m)
            for s, e in n:
                powers[s] = powers.get(s, 0) + e
            if sum(powers.values()) > LARGEST_DEGREE:
                raise Refused("an exponent has too high a degree")
            key = tuple(sorted(powers.items()))
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c}


# Polynomials in one symbol, as lists of coefficients, the constant first.


def _coefficients(polynomial: Polynomial) -> list[int]:
    """The coefficients of a polynomial in one symbol."""
    degrees = {sum(e for _, e in m): c for m, c in polynomial.items()}
    return [degrees.get(k, 0) for k in range(max(degrees) + 1)]


def _polynomial(coefficients: list[int], name: str) -> Polynomial:
    return {((name, k),) if k else (): c for k, c in enumerate(coefficients) if c}


def _primitive(p: list[int]) -> list[int]:
    scale = gcd(*p)
    return [c // scale for c in p]


def _remainder(first: list[int], second: list[int], sign: int) -> list[int]:
    """A positive multiple of `sign` times the remainder, without trailing zeros."""
    p, lead, size = list(first), abs(second[-1]), len(second)
    while len(p) >= size:
        bits = max(abs(c).bit_length() for c in p) + lead.bit_length()
        spend(size + len(p) * (1 + bits // 64) // 4)
        top, shift = p[-1], len(p) - size
        # Multiplied by the positive `lead`, so that the remainder keeps its sign.
        factor = top if second[-1] > 0 else -top
        p = [c * lead for c in p]
        for k, c in enumerate(second):
            p[k + shift] -= factor * c
        while p and p[-1] == 0:
            p.pop()
        p = _primitive(p) if p else p
    return [sign * c for c in p]


def _without_common_factor(
    above: Polynomial, below: Polynomial, name: str
) -> tuple[Polynomial, Polynomial]:
    p, q = _coefficients(above), _coefficients(below)
    while q:
        p, q = q, _remainder(p, q, 1) if len(p) >= len(q) else p
    if len(p) <= 1:
        return above, below
    factor = _primitive(p)
    first, second = (_divided(_coefficients(x), factor) for x in (above, below))
    return _polynomial(first, name), _polynomial(second, name)


def _divided(p: list[int], factor: list[int]) -> list[int]:
    """The exact quotient by a primitive factor."""
    rest, found = [Fraction(c) for c in p], []
    while len(rest) >= len(factor):
        top = rest[-1] / factor[-1]
        found.append(top)
        shift = len(rest) - len(factor)
        for k, c in enumerate(factor):
            rest[k + shift] -= top * c
        rest.pop()
    # By Gauss's lemma the quotient by a primitive polynomial has whole coefficients.
    return [int(c) for c in reversed(found)]


def sign(value: Exponent, box: Box) -> int:
    """Return the sign of an exponent over the whole box: -1, 0 or 1.

    Raises:
        Refused: If it is not shown to be the same everywhere.
    """
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    return _sign(value.above, box) * _sign(value.below, box)


def _sign(polynomial: Polynomial, box: Box) -> int:
    names = sorted({s for m in polynomial for s, _ in m})
    mapped = polynomial
    for name in names:
        low, high = box[name]
        if low is None and high is None:
            if len(names) > 1:
                raise Refused("the sign of an exponent of several symbols is not decided")
            return _sign_on_line(_coefficients(polynomial))
        mapped = _onto_orthant(mapped, name, low, high)
    signs = {c > 0 for c in mapped.values()}
    if len(signs) == 1:
        return 1 if signs.pop() else -1
    if len(names) > 1:
        raise Refused("the sign of an exponent of several symbols is not decided")
    return _sign_on_half_line(_coefficients(mapped))


def _onto_orthant(
    polynomial: Polynomial, name: str, low: Fraction | None, high: Fraction | None
) -> Polynomial:
    """Replace a symbol by a function that maps (0, oo) onto its interval, times a positive."""
    one: Powers = ()
    t: Powers = ((name, 1),)
    if low is not None and high is not None:
        scale = lcm(low.denominator, high.denominator)
        image = {one: int(low * scale), t: int(high * scale)}
        divisor = {one: scale, t: scale}
    elif low is not None:
        image, divisor = {one: low.numerator, t: low.denominator}, {one: low.denominator}
    else:
        assert high is not None  # noqa: S101  # one end is given
        image, divisor = {one: high.numerator, t: -high.denominator}, {one: high.denominator}
    image = {m: c for m, c in image.items() if c}
    degree = max(dict(m).get(name, 0) for m in polynomial)
    powers, divisors = [{one: 1}], [{one: 1}]
    for _ in range(degree):
        powers.append(_product(powers[-1], image))
        divisors.append(_product(divisors[-1], divisor))
    total: Polynomial = {}
    for m, c in polynomial.items():
        e = dict(m).get(name, 0)
        rest = {tuple(p for p in m if p[0] != name): c}
        total = _sum(total, _product(rest, _product(powers[e], divisors[degree - e])))
    return total


def _chain(p: list[int]) -> list[list[int]]:
    """The Sturm chain of a polynomial, up to positive factors."""
    chain = [p, [k * c for k, c in enumerate(p)][1:]]
    while chain[-1]:
        first, second = chain[-2], chain[-1]
        chain.append(_remainder(first, second, -1) if len(second) > 1 else [])
    return chain[:-1]


def _changes(values: list[int]) -> int:
    signs = [v > 0 for v in values if v]
    return sum(a != b for a, b in pairwise(signs))


def _sign_on_half_line(p: list[int]) -> int:
    while not p[0]:  # a root at the open end
        p = p[1:]
    chain = _chain(p)
    if _changes([q[0] for q in chain]) != _changes([q[-1] for q in chain]):
        raise Refused("an exponent changes its sign, or vanishes, within its interval")
    return 1 if p[0] > 0 else -1


def _sign_on_line(p: list[int]) -> int:
    chain = _chain(p) if len(p) > 1 else [p]
    ends = [_changes([q[-1] * side ** (len(q) - 1) for q in chain]) for side in (-1, 1)]
    if ends[0] != ends[1]:
        raise Refused("an exponent changes its sign, or vanishes, within its interval")
    return 1 if p[0] > 0 else -1


def value_at(value: Exponent, at: Mapping[str, Fraction]) -> Fraction:
    """The value of an exponent at numbers for its symbols."""
    if isinstance(value, Fraction):
        return value
    sides = []
    for polynomial in (value.above, value.below):
        total = Fraction(0)
        for m, c in polynomial.items():
            term = Fraction(c)
            for s, e in m:
                spend(1 + e * at[s].denominator.bit_length() // 64)
                term *= at[s] ** e
            total += term
        sides.append(total)
    return sides[0] / sides[1]


def names_in(value: Exponent) -> set[str]:
    """The exponent symbols in it."""
    if isinstance(value, Fraction):
        return set()
    return {s for p in (value.above, value.below) for m in p for s, _ in m}
