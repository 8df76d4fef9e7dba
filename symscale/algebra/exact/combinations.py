"""Sums of monomials with coefficients of either sign, and identities between them, exactly.

Monomials in symbols and primes are linearly independent unless they are equal up to a
rational factor, so a sum of them vanishes identically if and only if its collected
coefficients do. A sum that stands as an atom, such as `p - 1` in `(p - 1)**(1/2)*t`,
is multiplied out where its powers differ by whole numbers, and is taken as independent
where they do not: then a "no" may be too strict, but a "yes" is always right.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.monomial import ONE, Monomial, canonical_exponent
from symscale.errors import FormulaError

MOST_TERMS = 1000
MOST_PRODUCTS = 20_000
MOST_FACTORS = 64
LARGEST_POWER = 10_000

Terms: TypeAlias = tuple[tuple[sp.Expr, Monomial], ...]
"""Pairs of coefficient and monomial; a coefficient is a rational function of exponents."""

_Table: TypeAlias = dict[Monomial, sp.Rational]


def vanishes(terms: Iterable[tuple[sp.Expr, Monomial]]) -> bool:
    """Whether a sum is shown to be zero whatever its symbols are.

    Raises:
        FormulaError: If it grows beyond all bounds when multiplied out.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> a, b = symbols("J K")
        >>> root = Monomial.of(a + 2*sp.sqrt(a*b) + b)
        >>> parts = [(-sp.Integer(1), Monomial.of(t)/root) for t in (a, 2*sp.sqrt(a*b), b)]
        >>> vanishes([(sp.Integer(1), ONE), *parts])
        True
    """
    return _is_zero(_collected(terms))


def times(terms: Terms, factor: Monomial) -> Terms:
    """A sum multiplied by a monomial."""
    return tuple((c, m * factor) for c, m in terms)


def exceeds_zero(terms: Terms, values: Mapping[sp.Symbol, sp.Rational]) -> bool:
    """Whether a sum is above zero at given values, by more than 20 digits can hide.

    Raises:
        FormulaError: If a symbol has no value, or an atom is not positive there.
    """
    with mp.workdps(30):
        parts = [
            mp.mpf(sp.N(c.xreplace(dict(values)), 30)._mpf_) * m.evaluate(values)
            for c, m in terms
        ]
        return bool(mp.fsum(parts) > mp.mpf("1e-20") * mp.fsum(abs(p) for p in parts))


def _collected(terms: Iterable[tuple[sp.Expr, Monomial]]) -> _Table:
    table: _Table = {}
    for coefficient, monomial in terms:
        for number, factor in _coefficient(coefficient):
            _add(table, number, factor * monomial)
    return table


def _add(table: _Table, number: sp.Rational, monomial: Monomial) -> None:
    rational, rest = without_rational(monomial)
    total = table.get(rest, sp.Integer(0)) + number * rational
    if total == 0:
        table.pop(rest, None)
    else:
        table[rest] = total
    if len(table) > MOST_TERMS:
        raise FormulaError(f"multiplied out, it has more than {MOST_TERMS} terms")


def without_rational(monomial: Monomial) -> tuple[sp.Rational, Monomial]:
    """Split off the rational factor: whole powers of primes.

    Raises:
        FormulaError: If a power is too large to write out.
    """
    rational: sp.Rational = sp.Integer(1)
    powers: list[tuple[sp.Expr, sp.Expr]] = []
    for atom, exponent in monomial.powers:
        if atom.is_Integer and exponent.is_Rational:
            whole = int(sp.floor(exponent))
            if abs(whole) > LARGEST_POWER:
                raise FormulaError(f"the exponent {whole} of a number is too large")
            rational *= atom**whole
            exponent = exponent - whole
        if exponent != 0:
            powers.append((atom, exponent))
    return rational, Monomial(tuple(powers))


def _coefficient(expr: sp.Expr) -> list[tuple[sp.Rational, Monomial]]:
    """A rational function of exponents as a sum; its denominator becomes an atom."""
    if isinstance(expr, sp.Rational):
        return [(expr, ONE)]
    above, below = sp.fraction(sp.together(expr))
    divisor = _product(below)
    if divisor[0] == 0:
        raise FormulaError(f"{expr} divides by zero")
    return [(c / divisor[0], m / divisor[1]) for c, m in _expanded(above)]


def _expanded(expr: sp.Expr) -> list[tuple[sp.Rational, Monomial]]:
    return [_product(term) for term in sp.Add.make_args(sp.expand(expr))]


def _product(expr: sp.Expr, power: sp.Expr | None = None) -> tuple[sp.Rational, Monomial]:
    """A product as rational and monomial; sums in it become atoms, whatever their sign."""
    rational, result = sp.Integer(1), ONE
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        exponent = exponent * (sp.Integer(1) if power is None else power)
        if base.is_Rational and exponent.is_Integer:
            rational *= base**exponent
        elif base.is_Rational:
            result = result * Monomial.of(base) ** exponent
        elif base.is_Mul or (base.is_Pow and base != expr):
            inner = _product(base, exponent)
            rational, result = rational * inner[0], result * inner[1]
        else:
            result = result * Monomial.from_powers({base: exponent})
    return rational, result


def _is_zero(table: _Table) -> bool:
    """Multiply out one kind of atom after the other, the largest first."""
    atoms = {a for m in table for a in m.atoms if a.is_Add}
    if not atoms:
        return not table
    atom = max(atoms, key=lambda a: (sp.count_ops(a), str(a)))
    inside = _expanded(atom)
    return all(_is_zero(_multiplied_out(group, inside)) for group in _groups(table, atom))


def _groups(table: _Table, atom: Any) -> list[list[tuple[int, sp.Rational, Monomial]]]:
    """Terms by the exponent of an atom, those together whose exponents differ by integers."""
    groups: list[tuple[sp.Expr, list[tuple[int, sp.Rational, Monomial]]]] = []
    for monomial, number in table.items():
        exponent = monomial.exponent(atom)
        rest = Monomial(tuple(p for p in monomial.powers if p[0] != atom))
        for first, group in groups:
            shift = canonical_exponent(exponent - first)
            if shift.is_Integer:
                group.append((int(shift), number, rest))
                break
        else:
            groups.append((exponent, [(0, number, rest)]))
    return [group for _, group in groups]


def _multiplied_out(
    group: list[tuple[int, sp.Rational, Monomial]], inside: list[tuple[sp.Rational, Monomial]]
) -> _Table:
    least = min(shift for shift, _, _ in group)
    if max(shift for shift, _, _ in group) - least > MOST_FACTORS:
        raise FormulaError(f"a sum stands to powers that differ by more than {MOST_FACTORS}")
    result: _Table = {}
    work = 0
    for shift, number, rest in group:
        grown: _Table = {rest: number}
        for _ in range(shift - least):
            grown, before = {}, grown
            work += len(before) * len(inside)
            if work > MOST_PRODUCTS:
                raise FormulaError("a sum to a power is too large to be multiplied out")
            for m, c in before.items():
                for d, n in inside:
                    _add(grown, c * d, m * n)
        for m, c in grown.items():
            _add(result, c, m)
    return result


def term_count(expr: Any, most: int = 400) -> int:
    """At most how many terms an expression has when multiplied out; beyond `most` not counted."""
    if expr.is_Add:
        return sum(term_count(part, most) for part in expr.args)
    if expr.is_Mul:
        count = 1
        for factor in expr.args:
            count = min(count * term_count(factor, most), most + 1)
        return count
    if expr.is_Pow and expr.exp.is_Integer and expr.base.is_Add:
        power, parts = abs(int(expr.exp)), term_count(expr.base, most)
        if power > most or parts > most:
            return most + 1
        return min(math.comb(power + parts - 1, power), most + 1)
    return 1
