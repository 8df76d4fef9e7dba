"""Whole numbers under powers: their factors, and when a product of powers is 1."""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sympy as sp

_FACTOR_LIMIT = 1 << 15


@lru_cache(maxsize=4096)
def prime_factors(number: int) -> dict[int, int]:
    """The prime factors of a positive integer with their powers.

    Beyond 64 bits only small factors are looked for; what remains counts as one.

    Example:
        >>> prime_factors(360)
        {2: 3, 3: 2, 5: 1}
    """
    if number == 1:
        return {}
    if number < 1 << 64:
        return dict(sp.factorint(number))
    found: dict[int, int] = {}
    for prime in _small_primes():
        while number % prime == 0:
            number //= prime
            found[prime] = found.get(prime, 0) + 1
    if 1 < number < 1 << 64:
        found |= prime_factors(number)
    elif number > 1:
        base, power = sp.perfect_power(number) or (number, 1)
        found[int(base)] = int(power)
    return found


@lru_cache(maxsize=1)
def _small_primes() -> tuple[int, ...]:
    return tuple(sp.primerange(_FACTOR_LIMIT))


def is_product_one(powers: Iterable[tuple[sp.Expr, Any]]) -> bool:
    """Whether a product of powers of rationals is 1, by refining integer bases until coprime.

    Pairwise coprime integers above 1 are multiplicatively independent, so after
    the refinement the product is 1 only if every exponent is zero.

    Example:
        >>> half = sp.Rational(1, 2)
        >>> is_product_one([(sp.Integer(12), half), (sp.Integer(27), half), (sp.Integer(18), -1)])
        True
    """
    pending: list[tuple[int, Any]] = []
    for base, power in powers:
        ratio = sp.Rational(base)
        pending += [(int(ratio.p), power), (int(ratio.q), -power)]
    coprime: dict[int, Any] = {}
    while pending:
        number, exponent = pending.pop()
        if number == 1 or exponent == 0:
            continue
        for other in list(coprime):
            common = math.gcd(number, other)
            if common > 1:
                others = coprime.pop(other)
                pending += [(other // common, others), (number // common, exponent)]
                pending.append((common, others + exponent))
                break
        else:
            coprime[number] = exponent
    return not coprime
