"""Atoms of older certificates: names, whole numbers, and sums such as `p - 1` as text."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.polynomials import Exponent, RationalFunction, quotient, sign, symbol
from symscale.kernel.problem import Declarations
from symscale.kernel.read import as_dict, as_name, read_exponent
from symscale.kernel.terms import ONE, Product, Term, Terms, multiplied, of_number, power, times

LONGEST = 2000
DEEPEST = 20
LARGEST_POWER = 64
_MULTIPLIED_OUT = 4
Key: TypeAlias = frozenset[tuple[str | int, Exponent]]
"""The factors of a product, hashable."""

_UNIT = Fraction(1)
_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[0-9]+(?:\.[0-9]+)?|\*\*|[-+*/^()])", re.ASCII)
_DECIMAL = re.compile(r"\b[0-9]{1,50}\.[0-9]{1,50}\b", re.ASCII)


def inverse(e: Exponent) -> Exponent:
    """One over an exponent that is not zero."""
    return quotient(e.below, e.above) if isinstance(e, RationalFunction) else 1 / e


def read_name(data: object, taken: Collection[str]) -> str:
    """Read a name; older files have names that begin with _, and version 3 has not.

    Raises:
        Refused: If it is no name, or what it would become is taken.
    """
    if not (isinstance(data, str) and data.startswith("_")):
        return as_name(data)
    name = as_name(f"x{data}")
    if name in taken:
        raise Refused(f"the names {data} and {name} are too much alike")
    return name


def collected(terms: Terms) -> list[Term]:
    """Add up like terms, whole powers of numbers drawn into the coefficients."""
    table: dict[Key, Exponent] = {}
    for c, product in terms:
        spend(1 + len(product))
        rest: dict[str | int, Exponent] = {}
        for base, e in product.items():
            kept = e
            if isinstance(base, int) and isinstance(e, Fraction) and abs(e) <= LARGEST_POWER:
                whole = e.numerator // e.denominator
                c, kept = c * Fraction(base) ** whole, e - whole
            if kept:
                rest[base] = kept
        key = frozenset(rest.items())
        table[key] = table.get(key, Fraction(0)) + c
    return [(c, dict(key)) for key, c in table.items() if c]


@dataclass
class AtomReader:
    """Reads products of an older certificate; sums in them become abbreviations.

    Attributes:
        scope: The names, and the abbreviations found so far.
        taken: Names that an abbreviation cannot have.
        texts: For each abbreviation the text that it stands for.
    """

    scope: Declarations
    taken: set[str]
    texts: dict[str, str] = field(default_factory=dict)
    _known: dict[str, Product] = field(default_factory=dict)
    _names: dict[frozenset[tuple[Exponent, Key]], str] = field(default_factory=dict)

    def exponent(self, data: object) -> Exponent:
        """Read an exponent, in which decimals may stand and powers are written with **."""
        if isinstance(data, str) and len(data) <= LONGEST:
            data = _DECIMAL.sub(lambda found: f"({Fraction(found[0])})", data).replace("**", "^")
        return read_exponent(data, self.scope.box)

    def product(self, data: object) -> Product:
        """Read an object of atoms and their exponents."""
        return times(
            *(power(self.atom(a), self.exponent(e)) for a, e in as_dict(data, "a product").items())
        )

    def atom(self, text: str) -> Product:
        """Read an atom as a product of names, numbers and abbreviations.

        Raises:
            Refused: If it is none, is zero or negative, or is a sum with a variable in it.
        """
        if text not in self._known:
            plain = text.isascii() and (text.isdigit() or text.isidentifier())
            if plain and text != "1":
                name = text if text.isdigit() else read_name(text, self.taken)
                self._known[text] = self.scope.product({name: "1"}, variables=True)
            else:
                terms = collected(_Parser(self, text).all())
                self._known[text] = self._single(terms, text) or self.abbreviation(terms, text)
        return self._known[text]

    @staticmethod
    def _single(terms: Terms, text: str) -> Product | None:
        """A product of a positive number and powers, if the sum is one."""
        if not terms:
            raise Refused(f"the atom {shown(text)} is zero")
        (c, product), *others = terms
        if others or not isinstance(c, Fraction):
            return None
        if c < 0:
            raise Refused(f"the atom {shown(text)} is negative")
        return times(of_number(c), product)

    def abbreviation(self, terms: Terms, text: str) -> Product:
        """The name of a sum, a new one where it had none."""
        key = frozenset((c, frozenset(p.items())) for c, p in terms)
        if key not in self._names:
            number = len(self._names) + 1
            while f"sum_{number}" in self.taken:
                number += 1
            name = f"sum_{number}"
            self.taken.add(name)
            self._names[key], self.texts[name] = name, text
            self.scope.abbreviations[name] = list(terms)
        return {self._names[key]: _UNIT}


class _Parser:
    """Reads a sum as text; it goes down into parentheses a few levels only."""

    def __init__(self, reader: AtomReader, text: str) -> None:
        if len(text) > LONGEST or not text.isascii():
            raise Refused(f"{shown(text)} is no atom of at most {LONGEST} characters")
        self.reader, self.text = reader, text
        tokens, position = [], 0
        while text[position:].strip(" "):
            found = _TOKEN.match(text, position)
            if found is None:
                raise Refused(f"{shown(text)} is no atom")
            tokens.append(found[1])
            position = found.end()
        self.tokens = tokens[::-1]

    def all(self) -> Terms:
        """Read the whole text."""
        found = self._sum(0)
        if self.tokens:
            raise Refused(f"{shown(self.text)} is no atom")
        return found

    def _next(self, *expected: str) -> str:
        return self.tokens.pop() if self.tokens and self.tokens[-1] in expected else ""

    def _sum(self, depth: int) -> Terms:
        if depth > DEEPEST:
            raise Refused(f"the atom {shown(self.text)} is nested too deeply")
        total: list[Term] = []
        while True:
            negative = False
            while operator := self._next("+", "-"):
                negative = negative != (operator == "-")
            total += [(-c if negative else c, p) for c, p in self._term(depth)]
            if not (self.tokens and self.tokens[-1] in ("+", "-")):
                return collected(total)

    def _term(self, depth: int) -> Terms:
        total = self._factor(depth)
        while operator := self._next("*", "/"):
            factor = self._factor(depth)
            total = multiplied(total, factor if operator == "*" else self._power(factor, -_UNIT))
        return total

    def _factor(self, depth: int) -> Terms:
        base = self._primary(depth)
        if self._next("**", "^"):
            return self._power(base, self.reader.exponent(self._exponent_text()))
        return base

    def _primary(self, depth: int) -> Terms:
        token = self.tokens.pop() if self.tokens else ""
        if token == "sqrt" and self.tokens[-1:] == ["("]:  # noqa: S105  # no password
            return self._power(self._primary(depth), Fraction(1, 2))
        if token == "(":  # noqa: S105
            found = self._sum(depth + 1)
            if not self._next(")"):
                raise Refused(f"{shown(self.text)} is no atom")
            return found
        if token[:1].isdigit():
            if len(token) > 60:
                raise Refused("a number has more than 60 digits")
            return [(Fraction(token), ONE)]
        if not token.isidentifier():
            raise Refused(f"{shown(self.text)} is no atom")
        name = read_name(token, self.reader.taken)
        if name in self.reader.scope.variables:
            raise Refused(f"the atom {shown(self.text)} contains the variable {name}")
        if name in self.reader.scope.box:
            return [(symbol(name), ONE)]
        return [(_UNIT, self.reader.scope.product({name: "1"}))]

    def _exponent_text(self) -> str:
        """The text of an exponent: one token, with its sign, or what parentheses enclose."""
        parts = [self.tokens.pop()] if self.tokens else []
        if parts == ["-"] and self.tokens:
            parts.append(self.tokens.pop())
        depth = parts.count("(")
        while depth and self.tokens:
            parts.append(self.tokens.pop())
            depth += (parts[-1] == "(") - (parts[-1] == ")")
        return "".join(parts)

    def _power(self, base: Terms, e: Exponent) -> Terms:
        if not base:
            raise Refused(f"in the atom {shown(self.text)} a power of 0 stands")
        whole = int(e) if isinstance(e, Fraction) and e.denominator == 1 else None
        if whole is not None and 0 <= whole <= _MULTIPLIED_OUT:
            total: Terms = [(_UNIT, ONE)]
            for _ in range(whole):
                total = multiplied(total, base)
            return total
        if len(base) > 1:
            name = self.reader.abbreviation(collected(base), _text_of(base))
            return [(_UNIT, power(name, e))]
        ((c, product),) = base
        if isinstance(c, Fraction) and c > 0:
            return [(_UNIT, power(times(of_number(c), product), e))]
        if whole == -1 and sign(c, self.reader.scope.box):
            return [(inverse(c), power(product, e))]
        raise Refused(f"in the atom {shown(self.text)} a power of {_text_of(base)} stands")


def _text_of(terms: Terms) -> str:
    from symscale.kernel.sentences import terms as text

    return text(terms)


def used_abbreviations(
    products: Mapping[str, Product] | list[Product], scope: Declarations
) -> set[str]:
    """The abbreviations in products, those within them as well."""
    todo = list(scope.used(*(products.values() if isinstance(products, Mapping) else products)))
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += scope.used(*(p for _, p in scope.abbreviations[name]))
    return found
