"""Proofs that sums are not negative, looked for in a few plain forms.

What is found is written as version 3 writes it, and the kernel judges it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from symscale.kernel.limits import Refused, spend
from symscale.kernel.numbers import compare_with_one
from symscale.kernel.polynomials import Exponent, sign
from symscale.kernel.problem import Declarations, SignCondition
from symscale.kernel.sentences import exponent as exponent_text
from symscale.kernel.terms import (
    ONE,
    Product,
    Term,
    Terms,
    numbers_in,
    power,
    same,
    scaled,
    times,
    vanishes,
)
from symscale.problems.older.atoms import collected, inverse

Proof: TypeAlias = list[dict[str, Any]]
"""A proof as version 3 writes it."""

DEEPEST = 4
_UNIT = Fraction(1)


def product_data(product: Product) -> dict[str, str]:
    """A product as version 3 writes it."""
    return {str(base): exponent_text(e) for base, e in product.items()}


def term_data(c: Exponent, product: Product) -> dict[str, Any]:
    """A term as version 3 writes it."""
    return {"coefficient": exponent_text(c), "product": product_data(product)}


def terms_data(terms: Terms) -> list[dict[str, Any]]:
    """A sum as version 3 writes it."""
    return [term_data(c, p) for c, p in terms]


def names_in_proof(proof: object) -> set[str]:
    """The conditions that a proof, or powers, use."""
    if isinstance(proof, Mapping):
        return set(proof)
    rows: Iterable[Any] = proof if isinstance(proof, Sequence) else ()
    return {n for row in rows for key in ("times", "gap") for n in row.get(key, {})}


@dataclass
class ProofSearch:
    """Looks for proofs from conditions.

    Attributes:
        scope: The names.
        given: What may be used, by name.
    """

    scope: Declarations
    given: dict[str, SignCondition] = field(default_factory=dict)

    def _sign(self, e: Exponent) -> int | None:
        try:
            return sign(e, self.scope.box)
        except Refused:
            return None

    def _vanishes(self, terms: Terms) -> bool:
        return vanishes(terms, self.scope.abbreviations)

    def prove(self, terms: Terms) -> tuple[Proof, bool] | None:
        """A proof that a sum is not negative, and whether it shows that it is positive."""
        found = self._prove(collected(terms), DEEPEST)
        if found is None:
            return None
        strict = any(
            not row.keys() & {"gap"} and all(
                self.given[n].strict for n in row.get("times", {})
            ) for row in found
        )  # fmt: skip
        return found, strict

    def _prove(self, terms: Terms, depth: int) -> Proof | None:
        spend(10 + 10 * len(terms))
        negative = [k for k, (c, _) in enumerate(terms) if (self._sign(c) or -1) < 0]
        if not negative:
            return terms_data(terms)
        for name, condition in self.given.items():
            found = self._multiple(terms, name, condition) or self._power(terms, name, condition)
            if found:
                return [found]
        if depth == 0 or len(negative) > depth:
            return None
        c, product = terms[negative[0]]
        for name, condition in self.given.items():
            for d, other in collected(condition.terms):
                factor, quotient = c * inverse(d), times(product, power(other, -_UNIT))
                if self._sign(factor) != 1:
                    continue
                rest = collected([*terms, *scaled(condition.terms, -factor, quotient)])
                if sum((self._sign(k) or -1) < 0 for k, _ in rest) >= len(negative):
                    continue
                found_rest = self._prove(rest, depth - 1)
                if found_rest is not None:
                    return [{**term_data(factor, quotient), "times": {name: 1}}, *found_rest]
        return None

    def _multiple(
        self, terms: Terms, name: str, condition: SignCondition
    ) -> dict[str, Any] | None:
        """A sum as a positive product times a condition."""
        for c, product in terms:
            for d, other in collected(condition.terms):
                factor, quotient = c * inverse(d), times(product, power(other, -_UNIT))
                if self._sign(factor) != 1:
                    continue
                if self._vanishes([*terms, *scaled(condition.terms, -factor, quotient)]):
                    return {**term_data(factor, quotient), "times": {name: 1}}
        return None

    def _power(self, terms: Terms, name: str, condition: SignCondition) -> dict[str, Any] | None:
        """A difference of two products whose ratio is a power of a condition's."""
        if len(terms) != 2:
            return None
        try:
            ratio = SignCondition("", ">=", terms).ratio()
        except Refused:
            return None
        e = self.power_of(ratio, condition)
        if e is None:
            return None
        c, product = max(terms, key=lambda term: self._sign(term[0]) or 0)
        return {**term_data(c, product), "gap": {name: exponent_text(e)}}

    def power_of(self, ratio: Product, condition: SignCondition) -> Exponent | None:
        """The positive power of a condition's ratio that a product is."""
        try:
            given = condition.ratio()
        except Refused:
            return None
        # Numbers may be factored otherwise in the one than in the other, names not.
        for base in sorted(given.keys() & ratio.keys(), key=lambda b: isinstance(b, int)):
            found = ratio[base] * inverse(given[base])
            raised = power(given, found)
            alike = self._sign(found) == 1 and (
                same(ratio, raised) or self._vanishes([(_UNIT, ratio), (-_UNIT, raised)])
            )
            return found if alike else None
        return None

    def folded(self, terms: Terms) -> Terms:
        """A difference of two sums as one of two products, where abbreviations allow it."""
        sides: list[Term] = []
        for sign_ in (1, -1):
            side = [(c, p) for c, p in terms if self._sign(c) == sign_]
            found = self._abbreviated(side) if len(side) > 1 else side
            if found is None:
                return terms
            sides += found
        return sides if len(sides) == 2 else terms

    def _abbreviated(self, side: Terms) -> Terms | None:
        """A sum as a product with an abbreviation."""
        c, product = side[0]
        for name, inside in self.scope.abbreviations.items():
            for d, other in inside if len(inside) == len(side) else ():
                factor, quotient = c * inverse(d), times(product, power(other, -_UNIT))
                if self._vanishes([*side, *scaled(inside, -factor, quotient)]):
                    return [(factor, times(quotient, {name: _UNIT}))]
        return None

    def slack(self, terms: Terms) -> Proof | dict[str, str] | None:
        """What shows that a sum is at most 1; None if nothing is needed or found."""
        rest = [(_UNIT, ONE), *scaled(terms, -_UNIT)]
        if self._vanishes(rest):
            return None
        if len(terms) == 1:
            numbers = numbers_in(terms[0][1])
            if len(numbers) == len(terms[0][1]):
                return {} if compare_with_one(numbers) <= 0 else None
            for name, condition in self.given.items():
                e = self.power_of(terms[0][1], condition)
                if e is not None:
                    return {name: exponent_text(e)}
        found = self.prove(rest)
        return found[0] if found else None
