"""The optimum over its limit at one end of a curve: a function of the dimensionless number alone.

`value = (its limit as K goes to 0) * F(K)`, and F goes from 1 to a power of K, however many
parameters the problem has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mpmath as mp
import sympy as sp

from symscale.algebra.curves.curve import Curve
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.piece import SumPiece, Values

_STEPS = 60
_REACH = 4.0  # powers of ten of (r - low)/(high - r), to either side


@dataclass(frozen=True)
class CurvePoint:
    """One share with what it says.

    Attributes:
        share: The share r.
        number: The dimensionless number K.
        over_low: The value over its limit at the low end; None where that is no product.
        over_high: The value over its limit at the high end.
    """

    share: mp.mpf
    number: mp.mpf
    over_low: mp.mpf | None
    over_high: mp.mpf | None


@dataclass(frozen=True)
class CurveShape:
    """A curve without its parameters.

    Attributes:
        curve: The law.
        over_low: The value over its limit at the low end, as a formula in the share; None
            where other parameters stay in it.
        over_high: Over that at the high end.
    """

    curve: Curve
    over_low: Monomial | None
    over_high: Monomial | None

    @classmethod
    def of(cls, piece: SumPiece, curve: Curve, *, inverse: bool = False) -> "CurveShape":
        """The shape of a piece.

        Args:
            piece: The piece.
            curve: Its law.
            inverse: Whether its value is one over what the law is of.
        """
        found: list[Monomial | None] = []
        allowed = {curve.symbol, *curve.domain.exponents}
        for end in curve.asymptotes:
            ratio = None
            if end is not None:
                whole = piece.value * end if inverse else piece.value / end
                ratio = whole.substitute(dict([curve.given] if curve.given else []))
                ratio = ratio if ratio.free_symbols <= allowed else None
            found.append(ratio)
        return cls(curve, found[0], found[1])

    def at(self, parts: Sequence[float], exponents: Values) -> Iterator[CurvePoint]:
        """The points where (r - low)/(high - r) has given decimal logarithms.

        Args:
            parts: The logarithms.
            exponents: Numbers of the symbols in exponents; nothing is found without them.
        """
        curve = self.curve
        low, high = (mp.mpf(int(e.p)) / int(e.q) for e in (curve.segment.low, curve.segment.high))
        for part in parts:
            with mp.workdps(40):
                share = low + (high - low) / (1 + mp.mpf(10) ** -mp.mpf(part))
            found = self._point(share, exponents)
            if found is not None:
                yield found

    def _point(self, share: mp.mpf, exponents: Values) -> CurvePoint | None:
        at = {**exponents, self.curve.symbol: share}
        number = self.curve.evaluate(self.curve.law.expr, at)
        if number is None:
            return None
        over = [
            None if m is None else self.curve.evaluate(m.expr, at)
            for m in (self.over_low, self.over_high)
        ]
        return CurvePoint(share, number, over[0], over[1])

    def here(self, values: Values) -> CurvePoint | None:
        """The point at given parameters."""
        share = self.curve.share(values)
        return None if share is None else self._point(share, values)

    def line(self, exponents: Values, number: mp.mpf | None = None) -> list[CurvePoint]:
        """Points along all of the curve, for a plot; beyond a number K if that is farther."""
        reach = _REACH
        if number is not None:
            reach = max(reach, abs(float(mp.log10(number))) + 1)
        steps = [reach * (k / _STEPS) for k in range(-_STEPS, _STEPS + 1)]
        return list(self.at(steps, exponents))


def terms_with_shares(
    terms: Sequence[Monomial], piece: SumPiece, curve: Curve, whole: Monomial
) -> list[tuple[sp.Expr, Monomial]]:
    """What of their sum terms are at the optimum, in the share, the law used where it helps."""
    values = dict([curve.given] if curve.given else [])
    found = []
    for term in terms:
        share = term.substitute(piece.places[0].values) / whole
        moved = share.substitute(values)
        found.append((term.expr, min(share, moved, key=lambda m: len(m.free_symbols))))
    return found
