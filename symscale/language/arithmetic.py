"""Arithmetic on what users write: every result is real, and every size compared beforehand."""

from collections.abc import Iterable
from functools import lru_cache

import sympy as sp

MAX_WEIGHT = 16  # of a sum under or in a power: its degree, and 2 for each power of a sum
MAX_BITS = 4096  # of every number on the way
MAX_EXPONENT = 1000  # of a power; of a number's, also of the denominator of the exponent
MAX_DENOMINATOR = 10**6  # of the exponent of what has a name: T^0.3271
MAX_PRIME = 2**15  # of the factors of a number under a root, but for one below its square
MAX_ROOT_BITS = 512  # of all numbers under roots in one product


class UnusableError(Exception):
    """What is wrong with a value; the reader adds the text it came from."""


def real(value: sp.Expr) -> sp.Expr:
    """Return `value`, all of whose numbers must be real and within the limits."""
    for number in value.atoms(sp.Rational):
        within(number)
    powers = value.atoms(sp.Pow)
    if any(isinstance(p.exp, sp.Rational) and abs(p.exp) > MAX_EXPONENT for p in powers):
        raise UnusableError(f"an exponent beyond {MAX_EXPONENT} arises")
    negative = any(isinstance(p.base, sp.Rational) and p.base < 0 for p in powers)
    if negative or value.has(sp.I, sp.zoo, sp.nan, sp.oo, -sp.oo):
        raise UnusableError("it has no real value")
    return value


def within(value: sp.Expr) -> sp.Expr:
    """Return `value`, whose rational coefficients must be within MAX_BITS."""
    for term in sp.Add.make_args(value):
        number = term.args[0] if isinstance(term, sp.Mul) else term
        if isinstance(number, sp.Rational) and _bits(number) > MAX_BITS:
            raise UnusableError(f"a number of more than {MAX_BITS} bits arises")
    return value


def _bits(number: sp.Rational) -> int:
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def product(factors: Iterable[sp.Expr]) -> sp.Expr:
    """Return a product; its numbers must stay within the limits."""
    parts = [part for factor in factors for part in sp.Mul.make_args(factor)]
    number: sp.Expr = sp.Integer(1)
    for part in parts:
        number = within(number * part) if isinstance(part, sp.Rational) else number
    rest = [part for part in parts if not isinstance(part, sp.Rational)]
    # SymPy multiplies the numbers that stand under like roots, and factors the product.
    bases = [part.base for part in rest if isinstance(part, sp.Pow)]
    if sum(_bits(base) for base in bases if isinstance(base, sp.Rational)) > MAX_ROOT_BITS:
        raise UnusableError(f"numbers of more than {MAX_ROOT_BITS} bits stand under roots")
    return within(sp.Mul(number, *rest)) if number else number


def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return a power; it must be real where its base is, and within the limits."""
    if isinstance(exponent, sp.Rational):
        size = max(abs(exponent.p), exponent.q) if base.is_number else abs(exponent)
        if size > MAX_EXPONENT or exponent.q > MAX_DENOMINATOR:
            raise UnusableError(f"the exponent is beyond {MAX_EXPONENT}")
    elif not exponent.free_symbols:
        raise UnusableError("the exponent is neither rational nor has a name")
    whole = isinstance(exponent, sp.Integer)
    bits: sp.Expr = sp.Integer(0)
    for inner, inner_power in _factors(base):
        if isinstance(inner, sp.Rational) and isinstance(inner_power, sp.Rational) and whole:
            bits += (_bits(inner) - 1) * abs(inner_power * exponent)
        elif inner.is_number and inner.args and not (whole and exponent > 0):
            raise UnusableError("a sum of roots has no power but positive whole ones")
        elif max(_weight(inner), _weight(exponent)) > MAX_WEIGHT:
            raise UnusableError(
                "a sum of too high a degree, or of too many nested powers, has a power"
            )
    if bits > MAX_BITS:
        raise UnusableError(f"a number of more than {MAX_BITS} bits arises")
    if base == 0 and isinstance(exponent, sp.Rational) and exponent < 0:
        raise UnusableError("division by zero")
    return within(sp.Pow(base, exponent)) if whole else _root(base, exponent)


def _root(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return a power that is real only where its base is positive.

    SymPy, given a base of unknown sign, looks for its complex argument, in time
    exponential in the depth. So the factors of the base are raised one by one,
    and a base is refused where that would not be right for all real values.
    """
    factors = _factors(base)
    doubtful = [(inner, p) for inner, p in factors if p.is_Integer and not _positive(inner)]
    if len(doubtful) == 1 and doubtful[0][0].is_number:
        raise UnusableError("a root or other real power of what is not positive")
    if len(doubtful) > 1 or any(p % 2 == 0 for _, p in doubtful):
        raise UnusableError("this power depends on unknown signs; write the power of each factor")
    if exponent.free_symbols and base.is_Mul and all(map(_positive, base.args)):
        return sp.Pow(base, exponent)
    raised: list[sp.Expr] = []
    for inner, inner_power in factors:
        total = inner_power * exponent
        if isinstance(inner, sp.Rational) and isinstance(total, sp.Rational):
            raised += [_number_root(inner.p, total), _number_root(inner.q, -total)]
        else:
            raised.append((power if inner.is_Mul else sp.Pow)(inner, total))
    return product(raised)


def _number_root(number: int, exponent: sp.Rational) -> sp.Expr:
    """Return a power of a positive integer, each of its primes raised by itself.

    SymPy may raise the number to the numerator of the exponent first.
    """
    root, exact = sp.integer_nthroot(number, exponent.q)
    if exact and (int(root).bit_length() - 1) * abs(exponent.p) <= MAX_BITS:
        return sp.Integer(root) ** exponent.p
    bits = number.bit_length()
    fits = bits <= MAX_ROOT_BITS and bits * abs(exponent) <= MAX_BITS
    primes = sp.factorint(number, limit=MAX_PRIME, use_rho=False, use_pm1=False) if fits else {}
    if not primes or max(primes) >= MAX_PRIME**2:  # beyond, a factor need not be prime
        raise UnusableError(
            "a root of a number too large, or with large prime factors; name the number"
        )
    return product(sp.Pow(sp.Integer(prime), k * exponent) for prime, k in primes.items())


def _factors(value: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Return the factors of a product, each as base and exponent."""
    return [part.as_base_exp() for part in sp.Mul.make_args(value)]


@lru_cache(maxsize=10_000)
def _weight(value: sp.Expr) -> sp.Expr:
    """Return the degree, with all exponents as if 1 or more, and 2 for each power of a sum.

    SymPy asks whether a base is infinite, and an exponent zero. To tell, it looks for the
    roots of polynomials: that takes minutes at degree 1000 or on a tower of twenty powers.
    """
    weights = [_weight(part) for part in value.args]
    if isinstance(value, sp.Pow):
        size = weights[0] * max(1, abs(value.exp)) if value.exp.is_Number else sp.Add(*weights)
        return size if value.base.is_Atom else size + 2
    if isinstance(value, sp.Mul):
        return sp.Add(*weights)
    return max(weights, default=sp.Integer(int(value.is_Symbol)))


@lru_cache(maxsize=10_000)
def _positive(value: sp.Expr) -> bool:
    """Return whether its form shows it positive where it is real; `is_positive` can take hours."""
    if isinstance(value, sp.Pow):
        return _positive(value.base) or not value.exp.is_Integer
    if isinstance(value, sp.Max):
        return any(map(_positive, value.args))
    if isinstance(value, sp.Add | sp.Mul | sp.Min):
        return all(map(_positive, value.args))
    return bool((value.is_Rational or value.is_Symbol) and value.is_positive)


def call(name: str, values: list[sp.Expr]) -> sp.Expr:
    """Return sqrt of a value, or max or min of several."""
    if (name == "sqrt") is not (len(values) == 1) or not values:
        takes = "one value" if name == "sqrt" else "two values or more"
        raise UnusableError(f"{name} takes {takes}, not {len(values)}")
    if name == "sqrt":
        return power(values[0], sp.Rational(1, 2))
    pick, function = (max, sp.Max) if name == "max" else (min, sp.Min)
    numbers = [value for value in values if isinstance(value, sp.Rational)]
    rest = [value for value in dict.fromkeys(values) if not isinstance(value, sp.Rational)]
    kept = [pick(numbers), *rest] if numbers else rest
    # Not evaluated: SymPy compares every pair, which takes seconds for thirty.
    return kept[0] if len(kept) == 1 else function(*kept, evaluate=False)
