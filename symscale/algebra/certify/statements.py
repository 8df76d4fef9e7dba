"""What theorems of certificates are made of: conditions, proofs, trees of cases.

A proof that a sum of monomials is at least zero is a tuple of `Summand`s; that a product
is at most 1, the powers of the conditions whose ratios it is made of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import sympy as sp

from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import comparison_text, split_fraction
from symscale.errors import FormulaError

Powers: TypeAlias = Mapping[str, sp.Expr]
"""For conditions by name: the powers of their ratios that a product is made of."""

Shares: TypeAlias = Mapping[str, Sequence[sp.Rational]]
"""Of the terms of constraints by name, and of those of the "objective"."""

_ONE = sp.Integer(1)


@dataclass(frozen=True)
class Hypothesis:
    """A condition on the parameters.

    Attributes:
        name: Its name, unique in its region.
        relation: How its terms compare with zero.
        terms: The terms.
    """

    name: str
    relation: Literal[">=", ">", "=="]
    terms: Terms


@dataclass(frozen=True)
class Summand:
    """One summand of a proof: coefficient * product * conditions * (1 - ratios) * square**2.

    Attributes:
        coefficient: A rational function of exponents that is at least zero.
        product: A monomial.
        times: Powers of conditions' left sides.
        gap: Powers of conditions' ratios; their product is at most 1.
        square: A sum that is squared; empty for none.
    """

    coefficient: sp.Expr = _ONE
    product: Monomial = ONE
    times: Mapping[str, int] = field(default_factory=dict)
    gap: Powers = field(default_factory=dict)
    square: Terms = ()


Proof: TypeAlias = tuple[Summand, ...]
Reason: TypeAlias = Powers | Proof


@dataclass(frozen=True)
class Share:
    """A number that goes through an open interval, and on which an optimum depends.

    Attributes:
        symbol: Its name.
        low: Where the interval begins, at least 0.
        high: Where it ends.
    """

    symbol: sp.Symbol
    low: sp.Rational
    high: sp.Rational

    def positive(self, terms: Terms) -> Proof:
        """Why a sum that is linear in it, and not negative at both ends, is positive between.

        Raises:
            FormulaError: If it is not linear.

        Example:
            >>> from symscale.language.symbols import symbol
            >>> share = Share(symbol("w"), sp.Integer(0), sp.Rational(1, 3))
            >>> proof = share.positive(((_ONE, ONE), (sp.Integer(-3), Monomial.of(share.symbol))))
            >>> [(part.coefficient, part.times) for part in proof]
            [(3, {'to': 1})]
        """
        whole = sp.Add(*(c * m.expr for c, m in terms))
        if sp.diff(whole, self.symbol, 2) != 0:
            raise FormulaError(f"{whole} is not linear in {self.symbol}")
        ends = {"to": self.low, "from": self.high}
        parts = {
            side: sp.cancel(whole.subs(self.symbol, end) / (self.high - self.low))
            for side, end in ends.items()
        }
        return tuple(Summand(c, times={side: 1}) for side, c in parts.items() if c != 0)


@dataclass(frozen=True)
class Split:
    """Two cases: a sum is at least zero ("NAME"), or it is not ("not NAME")."""

    name: str
    terms: Terms
    yes: "Tree"
    no: "Tree"


@dataclass(frozen=True)
class Least:
    """One case for each of finitely many products, by name: that it is the least."""

    products: Mapping[str, Monomial]
    cases: tuple["Tree", ...]


@dataclass(frozen=True)
class Leaf:
    """A theorem that settles a case, with reasons for the conditions of its region."""

    theorem: str
    proofs: Mapping[str, Reason] = field(default_factory=dict)


@dataclass(frozen=True)
class Contradiction:
    """A case that never is: its conditions show that 1 < 1."""

    reason: Reason


Tree: TypeAlias = Split | Least | Leaf | Contradiction


@dataclass(frozen=True)
class Scale:
    """A product of parameters that a box bounds.

    Attributes:
        name: Its name.
        product: The product.
        low: The least value in the box, above 0.
        high: The greatest.
    """

    name: str
    product: Monomial
    low: sp.Rational
    high: sp.Rational


@dataclass(frozen=True)
class Tangent:
    """A product of powers that no cost is below, by shares of all terms.

    Attributes:
        shares: Of the objective's terms ("objective") and of those of constraints.
        value: The product, whose constant is rounded to the safe side.
    """

    shares: Shares
    value: Monomial


@dataclass(frozen=True)
class Cut:
    """A box parted at a place of a scale, which is a share of its logarithmic range.

    Attributes:
        scale: The scale's name.
        at: The place.
        below: What rules below it: another cut, or a tangent's name.
        above: What rules above it.
    """

    scale: str
    at: sp.Rational
    below: "Cut | str"
    above: "Cut | str"


def at_most_one(ratio: Monomial, *, strict: bool = False, name: str = "") -> Hypothesis:
    """The condition that a monomial is at most 1, below 1 if `strict`.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> b, L = symbols("b L")
        >>> at_most_one(Monomial.of(12*b/L)).name
        '12*b <= L'
    """
    below, above = split_fraction(ratio)
    name = name or comparison_text(ratio, "<" if strict else "<=")
    return Hypothesis(name, ">" if strict else ">=", ((_ONE, above), (-_ONE, below)))


def is_one(ratio: Monomial, name: str = "") -> Hypothesis:
    """The condition that a monomial equals 1."""
    left, right = split_fraction(ratio)
    return Hypothesis(
        name or comparison_text(ratio, "=="), "==", ((_ONE, right), (-_ONE, left))
    )
