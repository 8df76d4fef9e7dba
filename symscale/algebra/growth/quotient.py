"""Quotients of sums of products of powers, in factors: what an asymptotic statement is about.

An expression becomes a number, a monomial, and sums with whole powers. Sums are
divided by one of their terms, so that factors that differ by a monomial cancel.
Nothing is multiplied out but where quotients are added: r/(1 + r), with r a
quotient of two sums, comes out as one sum over another.

Example:
    >>> from symscale.language.symbols import symbols
    >>> d, n, N = symbols("d_model n_ctx N_TP")
    >>> r = N/(d + n)
    >>> quotient_of(r/(1 + r)).expr
    N_TP/(N_TP + d_model + n_ctx)
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import sympy as sp

from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.errors import FormulaError, TooLargeError

MAX_TERMS = 400  # of a sum
MAX_DEPTH = 200  # of operations within operations
MAX_POWER = 50  # of a sum that is multiplied out

Terms: TypeAlias = dict[Monomial, sp.Rational]

# Where exponents contain a symbol, terms are put in order by their values here: a
# number at which no two exponents that differ are likely to agree.
_ODD = sp.Rational(1_000_003, 999_983)


@dataclass(frozen=True)
class Sum:
    """A sum of two terms or more, the first of which is 1.

    Attributes:
        terms: Pairs of monomial and nonzero coefficient, in a fixed order.
    """

    terms: tuple[tuple[Monomial, sp.Rational], ...]

    @cached_property
    def whole(self) -> tuple[Monomial, sp.Rational, sp.Expr]:
        """A monomial and a number, times a sum without negative powers or fractions.

        Example:
            >>> from symscale.language.symbols import symbols
            >>> d, n = symbols("d_model n_ctx")
            >>> ((total, _),) = quotient_of(1 + n/(6*d)).factors
            >>> total.whole[2]
            6*d_model + n_ctx
        """
        powers: dict[sp.Expr, sp.Expr] = {}
        for atom in {a for m, _ in self.terms for a in m.atoms}:
            exponents = [m.exponent(atom) for m, _ in self.terms]
            least = _least(exponents)
            if least is not None:
                powers[atom] = least
        common = Monomial.from_powers(powers)
        top = math.gcd(*(int(c.p) for _, c in self.terms))
        bottom = math.lcm(*(int(c.q) for _, c in self.terms))
        number = sp.Rational(top, bottom)
        parts = (c / number * (m / common).expr for m, c in self.terms)
        return common, number, sp.Add(*parts)


@dataclass(frozen=True)
class Quotient:
    """A number times a monomial times sums with whole powers.

    Attributes:
        coefficient: The number; zero where the whole is.
        head: The monomial.
        factors: Pairs of sum and nonzero power.
    """

    coefficient: sp.Rational
    head: Monomial
    factors: tuple[tuple[Sum, int], ...]

    @property
    def is_one(self) -> bool:
        """Whether it is the number 1."""
        return self.coefficient == 1 and self.head.is_one and not self.factors

    @property
    def expr(self) -> sp.Expr:
        """The SymPy expression, each sum without negative powers or fractions."""
        number: sp.Expr = self.coefficient
        head = self.head
        powers = []
        for total, power in self.factors:
            common, factor, rest = total.whole
            head = head * common**power
            number = number * factor**power
            powers.append(rest**power)
        if head.expr.is_Number and len(powers) == 1 and powers[0].is_Add:
            return sp.Add(*(number * head.expr * term for term in powers[0].args))
        return sp.Mul(number, head.expr, *powers)

    def __mul__(self, other: "Quotient") -> "Quotient":
        powers = dict(self.factors)
        for total, power in other.factors:
            powers[total] = powers.get(total, 0) + power
        return _make(self.coefficient * other.coefficient, self.head * other.head, powers)

    def __pow__(self, exponent: int) -> "Quotient":
        if not self.coefficient and exponent < 0:
            raise FormulaError("it divides by zero")
        factors = tuple((total, power * exponent) for total, power in self.factors if exponent)
        return Quotient(sp.Rational(self.coefficient**exponent), self.head**exponent, factors)

    def __truediv__(self, other: "Quotient") -> "Quotient":
        return self * other**-1

    def numerator(self) -> Terms:
        """Its terms, multiplied out; no sum may have a negative power.

        Raises:
            TooLargeError: If there are more than MAX_TERMS, or a power is beyond MAX_POWER.
        """
        found: Terms = {self.head: self.coefficient} if self.coefficient else {}
        for total, power in self.factors:
            if power > MAX_POWER:
                raise TooLargeError(f"a sum to the power {power} is too long to multiply out")
            for _ in range(power):
                found = _product(found, dict(total.terms))
        return found


def _least(exponents: list[sp.Expr]) -> sp.Expr | None:
    """The least exponent, where numbers separate them all."""
    rises = [e - exponents[0] for e in exponents]
    numbers = [r for r in rises if isinstance(r, sp.Rational)]
    if len(numbers) < len(rises):
        return None
    return exponents[numbers.index(min(numbers))]


def _make(coefficient: sp.Rational, head: Monomial, powers: Mapping[Sum, int]) -> Quotient:
    if not coefficient:
        return ZERO
    number, head = _without_numbers(head)
    factors = ((total, power) for total, power in powers.items() if power)
    return Quotient(coefficient * number, head, tuple(factors))


def _without_numbers(monomial: Monomial) -> tuple[sp.Rational, Monomial]:
    """A monomial's rational factor, and the rest: roots of numbers stay in it."""
    number: sp.Rational = sp.Integer(1)
    rest = []
    for atom, exponent in monomial.powers:
        if atom.is_Integer and exponent.is_Integer:
            number = number * atom ** int(exponent)
        else:
            rest.append((atom, exponent))
    return number, Monomial(tuple(rest)) if number != 1 else monomial


ZERO = Quotient(sp.Integer(0), ONE, ())
"""The number zero."""


def quotient_of(expr: sp.Expr) -> Quotient:
    """Read an expression of + - * / and powers.

    Raises:
        FormulaError: If a sum has a power that is not whole, or a part is neither a
            sum nor a product of powers of positive quantities.
        TooLargeError: If a sum has more than MAX_TERMS terms.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> d, n = symbols("d_model n_ctx")
        >>> quotient_of((d + n)/(d**2 + d*n)).expr
        1/d_model
    """
    return _read(expr, 0)


def from_terms(terms: Iterable[tuple[Monomial, sp.Rational]]) -> Quotient:
    """Return a sum of terms, like ones collected."""
    collected: Terms = {}
    for monomial, coefficient in terms:
        number, rest = _without_numbers(monomial)
        collected[rest] = collected.get(rest, sp.Integer(0)) + number * coefficient
    kept = {monomial: c for monomial, c in collected.items() if c}
    if len(kept) > MAX_TERMS:
        raise TooLargeError(f"a sum has more than {MAX_TERMS} terms")
    if not kept:
        return ZERO
    names: list[Any] = sorted({a for m in kept for a, _ in m.powers}, key=str)
    ordered = sorted(kept, key=lambda m: [_position(m.exponent(a)) for a in names], reverse=True)
    first = ordered[0]
    if len(ordered) == 1:
        return Quotient(kept[first], first, ())
    parts = []
    for monomial in ordered:
        number, rest = _without_numbers(monomial / first)
        parts.append((rest, number * kept[monomial] / kept[first]))
    return Quotient(kept[first], first, ((Sum(tuple(parts)), 1),))


@lru_cache(maxsize=10_000)
def _position(exponent: sp.Expr) -> Fraction:
    value = exponent.subs(dict.fromkeys(exponent.free_symbols, _ODD))
    if not isinstance(value, sp.Rational):
        raise FormulaError(f"exponent {exponent} has no order")
    return Fraction(int(value.p), int(value.q))


def _read(expr: Any, depth: int) -> Quotient:
    if depth > MAX_DEPTH:
        raise TooLargeError(f"it is nested deeper than {MAX_DEPTH} levels")
    if expr.is_Rational:
        return Quotient(expr, ONE, ()) if expr else ZERO
    if expr.is_Mul:
        result = Quotient(sp.Integer(1), ONE, ())
        for factor in expr.args:
            result = result * _read(factor, depth + 1)
        return result
    if expr.is_Pow and expr.exp.is_Integer:
        return _read(expr.base, depth + 1) ** int(expr.exp)
    if expr.is_Add:
        return _sum([_read(term, depth + 1) for term in expr.args])
    if expr.is_Pow:
        base = _read(expr.base, depth + 1)
        if base.factors:
            raise FormulaError(f"{expr} is a power of a sum that is not whole")
        if not base.coefficient > 0:
            raise FormulaError(f"{expr} is a root of what is not positive")
        return _power(base, expr.exp)
    number, head = _without_numbers(Monomial.of(expr))
    if any(not atom.is_Symbol for atom in head.atoms):
        raise FormulaError(f"{expr} is neither a sum nor a product of powers")
    return Quotient(number, head, ())


def _power(base: Quotient, exponent: sp.Expr) -> Quotient:
    number, head = _without_numbers((Monomial.of(base.coefficient) * base.head) ** exponent)
    return Quotient(number, head, ())


def _sum(parts: list[Quotient]) -> Quotient:
    """Add quotients over what they have in common."""
    parts = [part for part in parts if part.coefficient]
    tables = [dict(part.factors) for part in parts]
    common: dict[Sum, int] = {}
    for total in dict.fromkeys(t for table in tables for t in table):
        power = min(table.get(total, 0) for table in tables)
        if power:
            common[total] = power
    shared = Quotient(sp.Integer(1), ONE, tuple(common.items()))
    collected: list[tuple[Monomial, sp.Rational]] = []
    for part in parts:
        collected += (part / shared).numerator().items()
    return from_terms(collected) * shared


def _product(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    if len(left) * len(right) > MAX_TERMS**2:
        raise TooLargeError(f"multiplied out, a sum has more than {MAX_TERMS} terms")
    for a, x in left.items():
        for b, y in right.items():
            number, monomial = _without_numbers(a * b)
            found[monomial] = found.get(monomial, sp.Integer(0)) + number * x * y
    if len(found) > MAX_TERMS:
        raise TooLargeError(f"multiplied out, a sum has more than {MAX_TERMS} terms")
    return {monomial: c for monomial, c in found.items() if c}
