"""The law `K(parameters) = phi(r)` that says which share r an optimum has, and r in numbers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import mpmath as mp
import sympy as sp

from symscale.algebra.curves.segment import WeightSegment
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.sums.piece import SumPiece, Values
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.values import Requirement, Signed, put_into
from symscale.errors import FormulaError

_DIGITS = 40
_EQUAL = mp.mpf("1e-25")
_MOST_DOUBLINGS = 40
_MOST_STEPS = 400


@dataclass(frozen=True)
class Curve:
    """The law behind formulas in a share r.

    Attributes:
        segment: The weights of the terms, between which ends r lies, and phi.
        number: The dimensionless number K.
        power: The law is that of the segment to this power.
        domain: Where the parameters live.
        given: A parameter, and the product of the share and the others that the law makes
            of it; None where K has no parameter as a plain factor.
        asymptotes: What the value tends to as r goes to either end; None where that is
            no product of powers.
        closed: The share as a formula in the parameters, where there is one.
    """

    segment: WeightSegment
    number: Monomial
    power: sp.Rational
    domain: Domain
    given: tuple[sp.Symbol, Monomial] | None
    asymptotes: tuple[Monomial | None, Monomial | None]
    closed: sp.Expr | None = None

    @property
    def symbol(self) -> sp.Symbol:
        """The share."""
        return self.segment.share

    @property
    def varies(self) -> bool:
        """Whether K has parameters; else the share is a number."""
        return not self.number.free_symbols <= set(self.domain.exponents)

    @cached_property
    def law(self) -> Monomial:
        """The function phi of the share: K at the optimum."""
        return self.segment.law**self.power

    @cached_property
    def limits(self) -> tuple[Monomial | None, Monomial | None]:
        """Between what K lies: None stands for 0 as the lower, for no bound as the upper limit."""
        return self._limit(start=True), self._limit(start=False)

    def _limit(self, start: bool) -> Monomial | None:
        found = ONE
        for number, power in self.segment.factors:
            end = number.start if start else number.end
            if end == 0:
                return None  # phi rises, so that all that vanish there pull one way
            found = found * Monomial.of(sp.factor(end)) ** power
        return found**self.power

    @property
    def ends(self) -> tuple[Requirement, ...]:
        """That the share lies between its ends, as requirements."""
        r = Monomial.of(self.symbol)
        found = [Requirement(r / Monomial.of(self.segment.high), "<")]
        if self.segment.low:
            found.append(Requirement(Monomial.of(self.segment.low) / r, "<"))
        return tuple(found)

    @cached_property
    def parameters(self) -> frozenset[sp.Symbol]:
        """What the share depends on."""
        found: set[Any] = set(self.number.free_symbols)
        for n, p in self.segment.factors:
            found |= n.start.free_symbols | n.end.free_symbols | p.free_symbols
        return frozenset(found)

    def share(self, values: Values) -> mp.mpf | None:
        """The share at given parameters; None where no share satisfies the law.

        It has as many digits as it takes to tell it from the ends, and 40 more.
        """
        if not self.parameters <= set(values):
            return None
        key = tuple((s, values[s]) for s in sorted(self.parameters, key=str))
        if key not in self._shares:
            self._shares[key] = _share(self, dict(key))
        return self._shares[key]

    @cached_property
    def _shares(self) -> "dict[Any, mp.mpf | None]":
        """Shares that were found."""
        return {}

    def evaluate(self, expr: sp.Expr, values: Values) -> mp.mpf | None:
        """A formula in the share at given parameters; None where it is not defined."""
        at: dict[Any, Any] = dict(values)
        if self.symbol in expr.free_symbols and self.symbol not in at:
            at[self.symbol] = self.share(values)
            if at[self.symbol] is None:
                return None
        symbols = tuple(sorted(expr.free_symbols, key=str))
        if not set(symbols) <= set(at):
            return None
        with mp.workdps(self._digits(at)):
            found = _compiled(symbols, expr)(*(_number(at[s]) for s in symbols))
            if isinstance(found, mp.mpc) or not mp.isfinite(found):
                return None
            return mp.mpf(found)

    def _digits(self, at: Mapping[Any, Any]) -> int:
        return _digits_of(at[self.symbol]) if self.symbol in at else _DIGITS

    def holds(self, requirements: Iterable[Requirement], values: Values) -> bool:
        """Whether there is such a share at given parameters, and requirements hold there."""
        if self.share(values) is None:
            return False
        return all(self._holds(r, values) for r in requirements)

    def _holds(self, requirement: Requirement, values: Values) -> bool:
        with mp.workdps(_DIGITS):
            gap = mp.mpf(0)
            for atom, power in requirement.ratio.powers:
                base = self.evaluate(atom, values)
                if base is None or base <= 0:
                    return False  # a sum is not positive there
                gap += mp.log(base) * _number(power.xreplace(dict(values)))
            sign = 0 if abs(gap) < _EQUAL else int(mp.sign(gap))
        return {"<=": sign <= 0, "<": sign < 0, "==": sign == 0}[requirement.relation]

    def depth(self, goal: mp.mpf, values: Values) -> mp.mpf | None:
        """The logarithm of (r - low)/(high - r) at which the logarithm of phi is a number.

        Towards the ends it grows beyond all bounds, so that no digits are lost there.
        """
        factors = [
            tuple(_number(e.xreplace(dict(values))) for e in (n.start, n.end, p))
            for n, p in self.segment.factors
        ]

        def excess(u: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
            part, rest = 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))
            sizes = [a * rest + b * part for a, b, _ in factors]
            rise = mp.fsum(
                p * (b - a) / size for (a, b, p), size in zip(factors, sizes, strict=True)
            )
            level = mp.fsum(p * mp.log(size) for (*_, p), size in zip(factors, sizes, strict=True))
            return level - goal, rise * part * rest

        low, high = mp.mpf(-1), mp.mpf(1)
        for _ in range(_MOST_DOUBLINGS):
            if excess(low)[0] < 0:
                break
            low *= 2
        else:
            return None
        for _ in range(_MOST_DOUBLINGS):
            if excess(high)[0] > 0:
                break
            high *= 2
        else:
            return None
        u = (low + high) / 2
        for _ in range(_MOST_STEPS):
            gap, slope = excess(u)
            low, high = (low, u) if gap > 0 else (u, high)
            following = u - gap / slope if slope > 0 else low
            if not low < following < high:  # Newton's step leaves what is known: halve it
                following = (low + high) / 2
            if abs(following - u) <= mp.mpf(10) ** (8 - _DIGITS):
                return following
            u = following
        return u

    def settled(self, requirement: Requirement) -> bool | None:
        """Whether a requirement on the share alone holds between the ends; None: it depends."""
        ratio = requirement.ratio
        others = ratio.free_symbols - set(self.domain.exponents) - {self.symbol}
        if others or requirement.relation == "==":
            return None
        above, below = requirement.pair
        try:
            signs = self._signs(sp.expand(below - above))
        except (sp.PolynomialError, IndeterminateSignError, FormulaError):
            return None
        if signs <= {0, 1}:
            return True
        return False if signs <= {0, -1} else None

    def _signs(self, difference: sp.Expr) -> set[int]:
        """The signs of coefficients between which a polynomial in the share lies."""
        part = sp.Dummy(positive=True)
        low, high = self.segment.low, self.segment.high
        # r = (low + high*t)/(1 + t) for t from 0 to infinity; the denominator is positive.
        moved = sp.together(difference.xreplace({self.symbol: (low + high * part) / (1 + part)}))
        polynomial = sp.Poly(sp.fraction(moved)[0], part)
        sign = 1 if sp.fraction(moved)[1].subs(part, 1).is_positive else -1
        return {sign * self.domain.sign(c) for c in polynomial.coeffs()}

    def put_in(self, program: GeometricProgram) -> GeometricProgram | None:
        """The program with the replaced parameter as what the law makes of it."""
        if self.given is None:
            return None
        values = dict([self.given])
        return GeometricProgram(
            program.variables, tuple(put_into(t, values) for t in program.objective),
            tuple(
                SumConstraint(c.name, tuple(put_into(t, values) for t in c.terms), c.relation,
                              c.reason, c.source)
                for c in program.constraints
            ),
            program.domain, program.inverse,
        )

    def free_of(self, requirement: Requirement) -> Requirement:
        """A requirement with what the law makes of the replaced parameter in its place."""
        if self.given is None:
            return requirement
        ratio = put_into(requirement.ratio, dict([self.given]))
        return Requirement.of(ratio, ONE, requirement.relation)

    def put_into(self, piece: SumPiece) -> SumPiece:
        """A piece with what the law makes of the replaced parameter in its place."""
        values = dict([self.given] if self.given else [])

        def put(monomials: Iterable[Monomial]) -> tuple[Monomial, ...]:
            return tuple(put_into(m, values) for m in monomials)

        return replace(
            piece, value=put_into(piece.value, values),
            requirements=tuple(map(self.free_of, piece.requirements)),
            places=tuple(
                replace(p, values={x: put_into(m, values) for x, m in p.values.items()},
                        requirements=tuple(map(self.free_of, p.requirements)))
                for p in piece.places
            ),
            worth={
                name: Signed(put_into(w.shared, values), put(w.positive), put(w.negative))
                for name, w in piece.worth.items()
            },
        )

    def slope(self, expr: sp.Expr, s: sp.Symbol) -> sp.Expr:
        """By which power a formula in the share changes with a parameter, as the law moves r."""
        r = self.symbol
        law, number = self.segment.law.expr, self.number.expr
        moves = s * sp.diff(number, s) / number / self.power / (sp.diff(law, r) / law)
        own = s * sp.diff(expr, s) / expr
        return sp.simplify(own + sp.diff(expr, r) / expr * moves)


def _share(curve: Curve, values: Values) -> mp.mpf | None:
    goal = mp.mpf(0)
    with mp.workdps(_DIGITS):
        for atom, power in curve.number.powers:
            base, exponent = (_number(e.xreplace(values)) for e in (atom, power))
            if base <= 0:
                return None
            goal += mp.log(base) * exponent
        at = curve.depth(goal / _number(curve.power), values)
    if at is None:
        return None
    with mp.workdps(_DIGITS + int(abs(at))):
        part = 1 / (1 + mp.exp(-at))
        return _number(curve.segment.low) + _number(curve.segment.high - curve.segment.low) * part


def _digits_of(share: mp.mpf) -> int:
    """How many digits a share was given."""
    return max(_DIGITS, int(share.man.bit_length() / 3.3))


@lru_cache(maxsize=256)
def _compiled(symbols: tuple[sp.Symbol, ...], expr: sp.Expr) -> Callable[..., Any]:
    found: Callable[..., Any] = sp.lambdify(symbols, expr, "mpmath")
    return found


def _number(value: Any) -> mp.mpf:
    if isinstance(value, mp.mpf):
        return value
    if value.is_Rational:
        return mp.mpf(int(value.p)) / int(value.q)
    return mp.mpf(sp.N(value, mp.mp.dps)._mpf_)


def curve_in(piece: Any) -> Curve | None:
    """The curve behind a piece, if there is one."""
    found = getattr(piece, "along", None)
    return found if isinstance(found, Curve) else None
