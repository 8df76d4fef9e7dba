"""Weights that balance the exponents of a program, where they form a segment.

With one degree of difficulty the weights of the terms, the objective's adding up to 1, are
`d_i(r) = c_i + m_i r` for a number r between two ends at which one of them vanishes. At the
optimum `prod c_i^m_i = phi(r) := prod d_i(r)^m_i / prod l_k(r)^m_k`, with c_i the terms'
coefficients and l_k, m_k the sums of the weights and slopes of constraint k; phi rises with r.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr
from symscale.algebra.sums.values import positive_number, total

_ONE = sp.Integer(1)
_ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Affine:
    """A number that is at least zero along the segment, `start + (end - start)*s`, s from 0 to 1.

    Attributes:
        start: At the low end.
        end: At the high end; the direction, of a ray.
    """

    start: sp.Expr
    end: sp.Expr

    def __add__(self, other: "Affine") -> "Affine":
        return Affine(sp.cancel(self.start + other.start), sp.cancel(self.end + other.end))

    def mixed(self, low: Monomial, high: Monomial) -> Monomial:
        """`start*low + end*high`."""
        parts = ((self.start, low), (self.end, high))
        return total([positive_number(c) * m for c, m in parts if c != 0])


@dataclass(frozen=True)
class WeightSegment:
    """The weights, and the law that says where on the segment the optimum is.

    Attributes:
        share: The symbol of r.
        low: Its least value.
        high: Its greatest.
        weights: Of the terms, the objective's first.
        sums: Of the constraints that are sums, the sum of the weights of each.
        powers: By the term, the power of its coefficient in the law.
        sum_powers: By the constraint, the sum of these powers.
        ray: Whether the segment has no end: weights are then divided by `high - r`.
    """

    share: sp.Symbol
    low: sp.Rational
    high: sp.Rational
    weights: tuple[Affine, ...]
    sums: tuple[Affine, ...]
    powers: tuple[sp.Expr, ...]
    sum_powers: tuple[sp.Expr, ...]
    ray: bool = False

    def at(self, number: Affine) -> Monomial:
        """A number along the segment as a product with factors that are linear in the share.

        Example:
            >>> from symscale.language.symbols import symbol
            >>> segment = WeightSegment(symbol("w"), _ZERO, _ONE, (), (), (), ())
            >>> segment.at(Affine(sp.Integer(3), _ZERO)).expr
            3 - 3*w
        """
        span = self.high - self.low
        slope = sp.cancel((number.end - number.start) / span)
        base = sp.cancel(number.start - slope * self.low)
        if base.is_Rational and slope.is_Rational:
            r = Monomial.of(self.share)
            sides: tuple[list[Monomial], list[Monomial]] = ([], [])
            for c, m in ((base, ONE), (slope, r)):
                if c != 0:
                    sides[bool(c < 0)].append(Monomial.of(abs(c)) * m)
            found = total(*sides)
        else:
            found = number.mixed(self._to_high, self._from_low)
        return found / self._to_high if self.ray else found

    @property
    def _to_high(self) -> Monomial:
        return total([Monomial.of(self.high)], [Monomial.of(self.share)])

    @property
    def _from_low(self) -> Monomial:
        low = [Monomial.of(self.low)] if self.low else []
        return total([Monomial.of(self.share)], low)

    @property
    def law(self) -> Monomial:
        """The function phi of the share."""
        found = ONE
        for number, power in self.factors:
            found = found * self.at(number) ** power
        return found

    @property
    def factors(self) -> tuple[tuple[Affine, sp.Expr], ...]:
        """What phi is a product of: numbers along the segment, and their powers."""
        negative = tuple(-p for p in self.sum_powers)
        pairs = zip((*self.weights, *self.sums), (*self.powers, *negative), strict=True)
        return tuple((n, p) for n, p in pairs if p != 0)

    def number(self, coefficients: Sequence[Monomial]) -> Monomial:
        """What phi is at the optimum, from the coefficients of the terms."""
        found = ONE
        for c, power in zip(coefficients, self.powers, strict=True):
            found = found * c**power
        return found


def segment_of(
    balances: Sequence[Sequence[Any]], sizes: Sequence[int], share: sp.Symbol, scalars: Scalars
) -> WeightSegment | None:
    """The segment of weights that two balances span; None where there is none.

    Args:
        balances: Two weightings under which all exponents cancel.
        sizes: How many terms the objective has, and each constraint.
        share: The symbol of the number along the segment.
        scalars: What exponents are made of.

    Raises:
        IndeterminateSignError: If the end of the segment depends on exponents.
    """
    one = scalars.convert(_ONE)
    places = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    first, second = (list(b) for b in balances)
    wholes = [sum(b[1:sizes[0]], b[0]) for b in (first, second)]
    if not wholes[0]:
        first, second, wholes = second, first, wholes[::-1]
    if not wholes[0] or not _sign(wholes[0], scalars):
        return None
    start = [x * one / wholes[0] for x in first]
    null = [y - wholes[1] * x for x, y in zip(start, second, strict=True)]
    chosen = next(k for k, x in enumerate(null) if x)
    slopes = [x * one / null[chosen] for x in null]
    bases = [x - m * start[chosen] for x, m in zip(start, slopes, strict=True)]
    signs = [_sign(m, scalars) for m in slopes]
    if any(not s and _sign(b, scalars) <= 0 for s, b in zip(signs, bases, strict=True)):
        return None
    zeros = [(s, -b / m) for s, b, m in zip(signs, bases, slopes, strict=True) if s]
    low = _extreme([z for s, z in zeros if s > 0], 1, scalars)
    high = _extreme([z for s, z in zeros if s < 0], -1, scalars)
    if low is None:  # pragma: no cover  # the share's own weight is one of them
        return None
    if high is not None and _sign(high - low, scalars) <= 0:
        return None
    weights = [
        Affine(
            field_to_expr(scalars, b * one + m * low),
            field_to_expr(scalars, m * one if high is None else b + m * high),
        )
        for b, m in zip(bases, slopes, strict=True)
    ]
    ends: list[Any] = [field_to_expr(scalars, x * one) for x in (low, high) if x is not None]
    plain = high is not None and all(e.is_Rational for e in ends)
    powers = [field_to_expr(scalars, m * one) for m in slopes]
    spans = list(pairwise(places[1:]))
    return WeightSegment(
        share, ends[0] if plain else _ZERO, ends[1] if plain else _ONE,
        tuple(weights),
        tuple(sum(weights[i + 1:j], weights[i]) for i, j in spans),
        tuple(powers),
        tuple(sp.cancel(sp.Add(*powers[i:j])) for i, j in spans),
        high is None,
    )


def _extreme(values: Sequence[Any], side: int, scalars: Scalars) -> Any:
    """The greatest of some numbers (side 1), or the least (-1); None of none."""
    found = None
    for value in values:
        if found is None or side * _sign(value - found, scalars) > 0:
            found = value
    return found


def _sign(value: Any, scalars: Scalars) -> int:
    """The sign of an element of the field, over the whole domain."""
    found: int = scalars.sign(scalars.clear([value, scalars.convert(_ONE)])[0])
    return found


