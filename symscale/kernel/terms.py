"""Products of powers, sums of them, and identities between sums, exactly.

A base is a whole number above 1 or the name of a positive quantity: a variable, a
parameter, an exponent symbol, or an abbreviation, that is a sum which has a name.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from symscale.kernel.limits import Refused, spend
from symscale.kernel.numbers import (
    PRECISIONS,
    Range,
    coprime,
    exp2,
    factored,
    log2_of_range,
    multiplicity,
    rounded,
)
from symscale.kernel.polynomials import MOST_BITS, Exponent, names_in, symbol, value_at

MOST_TERMS = 1000
MOST_FACTORS = 64

Base: TypeAlias = str | int
Product: TypeAlias = Mapping[Base, Exponent]
Term: TypeAlias = tuple[Exponent, Product]
Terms: TypeAlias = Sequence[Term]
Abbreviations: TypeAlias = Mapping[str, Terms]
"""The sum for which each abbreviation stands, in the order of their declaration."""

_Key: TypeAlias = frozenset[tuple[Base, Exponent]]
_Table: TypeAlias = dict[_Key, Exponent]

ONE: Product = {}
_UNIT = Fraction(1)


def times(*products: Product) -> Product:
    """Multiply products."""
    total: dict[Base, Exponent] = {}
    for product in products:
        spend(1 + len(product))
        for base, e in product.items():
            value = total.get(base, Fraction(0)) + e
            if value:
                total[base] = value
            else:
                total.pop(base, None)
    return total


def power(product: Product, e: Exponent) -> Product:
    """Raise a product to a power."""
    spend(1 + len(product))
    return {base: f * e for base, f in product.items()} if e else ONE


def put(product: Product, values: Mapping[str, Product]) -> Product:
    """Replace names by products."""
    kept: Product = {b: e for b, e in product.items() if b not in values}
    parts = [power(values[b], e) for b, e in product.items() if isinstance(b, str) and b in values]
    return times(kept, *parts)


def scaled(terms: Terms, coefficient: Exponent, product: Product = ONE) -> list[Term]:
    """Multiply a sum by a term."""
    return [(c * coefficient, times(p, product)) for c, p in terms]


def multiplied(first: Terms, second: Terms) -> list[Term]:
    """Multiply two sums."""
    if len(first) * len(second) > MOST_TERMS * 10:
        raise Refused("a product of sums has too many terms")
    return [(c * d, times(p, q)) for c, p in first for d, q in second]


def of_number(number: Fraction) -> Product:
    """A positive rational number as a product."""
    found: Product = {p: Fraction(k) for p, k in factored(number.numerator).items()}
    return {**found, **{p: -Fraction(k) for p, k in factored(number.denominator).items()}}


def numbers_in(product: Product) -> dict[int, Fraction]:
    """The powers of numbers in a product, but those to exponents with symbols."""
    return {b: e for b, e in product.items() if isinstance(b, int) and isinstance(e, Fraction)}


def same(first: Product, second: Product) -> bool:
    """Whether two products are shown to be equal, abbreviations taken as they stand."""
    return is_one(times(first, power(second, Fraction(-1))))


def is_one(product: Product) -> bool:
    """Whether a product is shown to be 1, abbreviations taken as they stand."""
    return not _over_coprime_numbers([product])[0]


def _over_coprime_numbers(products: Sequence[Product]) -> list[Product]:
    """The same products over whole numbers of which no two share a factor."""
    numbers = sorted({b for p in products for b in p if isinstance(b, int)})
    base = coprime(numbers)
    if sorted(base) == numbers:
        return list(products)
    powers: dict[Base, Product] = {
        n: {b: Fraction(k) for b in base if (k := multiplicity(n, b))} for n in numbers
    }
    return [times(*(power(powers.get(b, {b: _UNIT}), e) for b, e in p.items())) for p in products]


def vanishes(terms: Terms, abbreviations: Abbreviations) -> bool:
    """Whether a sum is shown to be zero whatever its names stand for.

    Roots of abbreviations count as independent of each other and of the rest, so a "no"
    can be too strict; a "yes" is right.
    """
    products = _over_coprime_numbers([p for _, p in terms])
    table = _collected((c, p) for (c, _), p in zip(terms, products, strict=True))
    return _is_zero(table, abbreviations)


def _collected(terms: Iterable[Term]) -> _Table:
    table: _Table = {}
    for c, product in terms:
        spend(1 + len(product))
        key = frozenset(product.items())
        total = table.get(key, Fraction(0)) + c
        if total:
            table[key] = total
        else:
            table.pop(key, None)
    if len(table) > MOST_TERMS:
        raise Refused(f"multiplied out, a sum has more than {MOST_TERMS} terms")
    return table


def _is_zero(table: _Table, abbreviations: Abbreviations) -> bool:
    """Take out one base after the other that can be multiplied out; the latest sum first."""
    if not table:
        return True
    bases = _expandable(table, abbreviations)
    if not bases:
        return False
    if len(bases) > MOST_FACTORS:
        raise Refused(f"an identity has more than {MOST_FACTORS} numbers and abbreviations")
    base = bases[0]
    # The parts in which its exponents differ by no whole number must vanish each by itself.
    return all(
        _is_zero(_expanded(group, base, abbreviations), abbreviations)
        for group in _groups(table, base)
    )


def _expandable(table: _Table, abbreviations: Abbreviations) -> list[Base]:
    bases = {b for key in table for b, _ in key}
    symbols = set().union(*(names_in(e) for key in table for _, e in key))
    symbols |= set().union(*(names_in(c) for c in table.values()))
    found: list[Base] = [a for a in reversed(list(abbreviations)) if a in bases]
    found += sorted(b for b in bases if isinstance(b, int))
    return found + sorted(b for b in bases if isinstance(b, str) and b in symbols)


_Group: TypeAlias = list[tuple[int, Exponent, Product]]


def _groups(table: _Table, base: Base) -> list[_Group]:
    """Terms by the exponent of a base, those together whose exponents differ by whole numbers."""
    groups: list[tuple[Exponent, _Group]] = []
    for key, c in table.items():
        rest = dict(key)
        e = rest.pop(base, Fraction(0))
        for first, group in groups:
            spend(1)
            shift = e - first
            if isinstance(shift, Fraction) and shift.denominator == 1:
                group.append((int(shift), c, rest))
                break
        else:
            groups.append((e, [(0, c, rest)]))
    return [group for _, group in groups]


def _expanded(group: _Group, base: Base, abbreviations: Abbreviations) -> _Table:
    """Take the least power out of a group, and multiply out what is left of the others."""
    least = min(shift for shift, _, _ in group)
    most = max(shift for shift, _, _ in group) - least
    if isinstance(base, int):
        if most * base.bit_length() > MOST_BITS:
            raise Refused("a number stands to powers that are too far apart")
        return _collected((c * Fraction(base) ** (k - least), rest) for k, c, rest in group)
    if most > MOST_FACTORS:
        raise Refused(f"{base} stands to powers that differ by more than {MOST_FACTORS}")
    inside = abbreviations.get(base, [(symbol(base), ONE)])
    total: list[Term] = []
    for shift, c, rest in group:
        grown: list[Term] = [(c, rest)]
        for _ in range(shift - least):
            grown = [(d, dict(key)) for key, d in _collected(multiplied(grown, inside)).items()]
        total += grown
    return _collected(_renumbered(total))


def _renumbered(terms: list[Term]) -> Iterable[Term]:
    products = _over_coprime_numbers([p for _, p in terms])
    return ((c, p) for (c, _), p in zip(terms, products, strict=True))


class Place:
    """Numbers for parameters and exponent symbols, and what sums are there."""

    def __init__(self, values: Mapping[str, Fraction], abbreviations: Abbreviations) -> None:
        self.values, self.abbreviations = values, abbreviations
        self._inside: dict[str, Terms] = {}
        self._known: dict[tuple[Base, int], Range] = {}

    def sign(self, terms: Terms) -> int:
        """The sign of a sum: -1, 0 or 1.

        Raises:
            Refused: If it is not told with reasonable work, or a name has no value.
        """
        spend(1 + len(terms) // 8)
        found = self._put(terms)
        signs = {c > 0 for c, _ in found if isinstance(c, Fraction)}
        if len(signs) < 2:  # every product is positive
            return 0 if not signs else 1 if signs.pop() else -1
        inside = {a: self._inside[a] for a in self.abbreviations if a in self._inside}
        for bits in PRECISIONS:
            low, high = self._range(found, bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            if bits == PRECISIONS[0] and vanishes(found, inside):
                return 0
        raise Refused("at the witness a sum is too close to zero to tell its sign")

    def _put(self, terms: Terms) -> Terms:
        """A sum with numbers in place of names; abbreviations stay, but inside them as well."""
        found: list[Term] = []
        for c, product in terms:
            factors = [self._power(b, value_at(e, self.values)) for b, e in product.items()]
            found.append((value_at(c, self.values), times(*factors)))
        return [(c, p) for c, p in found if c]

    def _power(self, base: Base, e: Fraction) -> Product:
        if isinstance(base, str) and base not in self.abbreviations:
            if base not in self.values:
                raise Refused(f"the witness gives no number to {base}")
            return power(of_number(self.values[base]), e)
        if isinstance(base, str) and base not in self._inside:
            self._inside[base] = self._put(self.abbreviations[base])
        return {base: e} if e else ONE

    def _range(self, terms: Terms, bits: int) -> Range:
        """Two numbers between which a sum of numbers lies."""
        low = high = Fraction(0)
        for c, product in terms:
            a = b = Fraction(0)
            for base, e in product.items():
                x, y = (value_at(e, {}) * end for end in self._log2(base, bits))
                a, b = a + min(x, y), b + max(x, y)
            x, y = (value_at(c, {}) * end for end in exp2(rounded_log((a, b), bits), bits))
            low, high = low + min(x, y), high + max(x, y)
        return rounded((low, high), 2 * bits)

    def _log2(self, base: Base, bits: int) -> Range:
        if (base, bits) not in self._known:
            found = (Fraction(base), Fraction(base)) if isinstance(base, int) else (
                self._range(self._inside[base], bits)
            )
            self._known[base, bits] = log2_of_range(found, bits)
        return self._known[base, bits]


def rounded_log(found: Range, bits: int) -> Range:
    """A range of logarithms rounded outward to a step of 2**-(bits + 32)."""
    scale = 1 << (bits + 32)
    low, high = found
    return (
        Fraction(low.numerator * scale // low.denominator, scale),
        Fraction(-(-high.numerator * scale // high.denominator), scale),
    )
