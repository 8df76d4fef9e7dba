"""Numbers: products of rational powers of whole numbers, compared exactly.

A product of powers of pairwise coprime whole numbers is 1 only if every power is 0. So
equality is decided by greatest common divisors, and what is not equal is separated by
intervals that are refined until they no longer touch.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt

from symscale.kernel.limits import Refused, spend

PRECISIONS = (64, 256, 1024)
LARGEST_LOG = 100_000
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_BITS_OF_REST = 5  # what none of these divides has prime factors of more bits

Range = tuple[Fraction, Fraction]
"""Two rational numbers between which a real number lies."""


def factored(number: int) -> dict[int, int]:
    """Write a whole number as a product of powers of smaller ones, as far as that is cheap.

    Small primes are divided out and whole roots drawn; what is left may be composite.
    """
    found: dict[int, int] = {}
    for p in _PRIMES:
        while number % p == 0:
            number //= p
            found[p] = found.get(p, 0) + 1
    power = 1
    for k in _PRIMES:
        while number > 1 and k * _BITS_OF_REST <= number.bit_length():
            root = _root(number, k)
            if root**k != number:
                break
            number, power = root, power * k
    if number > 1:
        found[number] = power
    return found


def _root(number: int, k: int) -> int:
    """The k-th root of a whole number, rounded down."""
    if k == 2:
        return isqrt(number)
    low, high = 1, 1 << (number.bit_length() // k + 1)
    while low < high:
        middle = (low + high + 1) // 2
        spend(1 + number.bit_length() // 64)
        low, high = (middle, high) if middle**k <= number else (low, middle - 1)
    return low


def coprime(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime whole numbers above 1 of which the given ones are products of powers."""
    base: list[int] = []
    todo = [n for n in numbers if n > 1]
    while todo:
        n = todo.pop()
        for k, b in enumerate(base):
            spend(1 + n.bit_length() // 64)
            common = gcd(n, b)
            if common > 1:
                del base[k]
                todo += [m for m in (common, n // common, b // common) if m > 1]
                break
        else:
            base.append(n)
    return base


def multiplicity(number: int, base: int) -> int:
    """How often a base divides a number."""
    count = 0
    while number % base == 0:
        number //= base
        count += 1
        spend(1 + number.bit_length() // 64)
    return count


def compare_with_one(powers: Mapping[int, Fraction]) -> int:
    """Compare a product of powers of whole numbers with 1: -1, 0 or 1.

    Raises:
        Refused: If it is closer to 1 than can be told apart with reasonable work.
    """
    base = coprime(powers)
    exponents = {
        b: sum((e * multiplicity(n, b) for n, e in powers.items()), Fraction(0)) for b in base
    }
    exponents = {b: e for b, e in exponents.items() if e}
    if not exponents:
        return 0
    for bits in PRECISIONS:
        low, high = _log2_of_product(exponents, bits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    raise Refused("two numbers are too close to tell which is larger")


def _log2_of_product(powers: Mapping[int, Fraction], bits: int) -> Range:
    low = high = Fraction(0)
    for n, e in powers.items():
        spend(1 + (e.numerator.bit_length() + e.denominator.bit_length()) // 64)
        a, b = (Fraction(x, 1 << bits) * e for x in _log2(n, bits))
        low, high = low + min(a, b), high + max(a, b)
    return low, high


def _log2(number: int, bits: int) -> tuple[int, int]:
    """The binary logarithm of a whole number, times 2**bits, between two whole numbers."""
    spend(bits // 8 + number.bit_length() // 64)
    return _log2_of(number, bits)


@lru_cache(maxsize=2048)
def _log2_of(number: int, bits: int) -> tuple[int, int]:
    whole = number.bit_length() - 1
    precision = 2 * bits + 32
    # The mantissa, in [1, 2), between two numbers; squared, it gives one binary digit more.
    shift = precision - whole
    low = number << shift if shift >= 0 else number >> -shift
    high = low if shift >= 0 else low + 1
    two = 1 << (precision + 1)
    digits = 0
    for k in range(bits):
        low, high = (low * low) >> precision, -(-(high * high) >> precision)
        if high < two:
            digits <<= 1
        elif low >= two:
            digits = (digits << 1) | 1
            low, high = low >> 1, -(-high >> 1)
        else:
            left = bits - k
            value = (whole << bits) + (digits << left)
            return value, value + (1 << left)
    value = (whole << bits) + digits
    return value, value + 1


def log2_of_range(found: Range, bits: int) -> Range:
    """The binary logarithms of the ends of a range of positive numbers, outward."""
    low, high = found
    if low <= 0:
        raise Refused("a number is not shown to be positive")
    ends = []
    for end, side in ((low, 0), (high, 1)):
        above, below = _log2(end.numerator, bits), _log2(end.denominator, bits)
        ends.append(Fraction(above[side] - below[1 - side], 1 << bits))
    return ends[0], ends[1]


def exp2(logarithm: Range, bits: int) -> Range:
    """The range of 2 to a range of powers, outward.

    Raises:
        Refused: If the numbers are beyond all use.
    """
    if max(abs(x) for x in logarithm) > LARGEST_LOG:
        raise Refused("a number is too large or too small")
    low, high = logarithm
    spend(bits // 4 + int(max(abs(low), abs(high))) // 64)
    return _exp2_end(low, bits, 0), _exp2_end(high, bits, 1)


def _exp2_end(power: Fraction, bits: int, side: int) -> Fraction:
    scaled = (power.numerator << bits) // power.denominator + side
    whole, rest = scaled >> bits, scaled & ((1 << bits) - 1)
    value = 1 << bits
    for k, root in enumerate(_roots_of_two(bits), 1):
        if rest >> (bits - k) & 1:
            value *= root[side]
            value = value >> bits if side == 0 else -(-value >> bits)
    found = Fraction(value, 1 << bits)
    return found * (1 << whole) if whole >= 0 else found / (1 << -whole)


@lru_cache(maxsize=8)
def _roots_of_two(bits: int) -> tuple[tuple[int, int], ...]:
    """2**(2**-k) for k from 1 to `bits`, times 2**bits, between two whole numbers."""
    roots = []
    low = high = 2 << bits
    for _ in range(bits):
        low = isqrt(low << bits)
        high = isqrt(high << bits) + 1
        roots.append((low, high))
    return tuple(roots)


def rounded(found: Range, bits: int) -> Range:
    """A range rounded outward, so that its ends have no more than about `bits` digits."""
    low, high = found
    ends = []
    for end, side in ((low, 0), (high, 1)):
        shift = bits - end.numerator.bit_length() + end.denominator.bit_length()
        scaled = end * (1 << shift) if shift >= 0 else end / (1 << -shift)
        whole = scaled.numerator // scaled.denominator + side
        ends.append(Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole << -shift))
    return ends[0], ends[1]
