"""Systems with one degree of difficulty: solved in closed form, or as a curve in one share.

Where the law `K = phi(r)` is of degree 1 after roots are taken, as it is for
`a/b = (r/(1 - r))^2`, the weights are products of powers and sums of such. Else all that is
asked for is a formula in the share r and the parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy as sp

from symscale.algebra.curves.curve import Curve
from symscale.algebra.curves.segment import Affine, WeightSegment, segment_of
from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars
from symscale.algebra.sums.active import ActiveSystem, held
from symscale.algebra.sums.optimum import Weighted, optimum_with, solve_monomials
from symscale.algebra.sums.piece import Further
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.values import Requirement, positive_number, total
from symscale.errors import FormulaError
from symscale.language.symbols import Notation

SHARES = ("r", "rho", "sigma", "share")
_MOST_READABLE = 12


def share_symbol(program: GeometricProgram) -> sp.Symbol:
    """A symbol that a program does not use."""
    taken = {str(s) for s in (*program.variables, *program.parameters)}
    names = (*SHARES, *(f"r_{k}" for k in range(1, len(taken) + 2)))
    name = next(n for n in names if n not in taken)
    return Notation(name, "1", name, "the share that decides the optimum").symbol


def beyond(program: GeometricProgram, system: ActiveSystem, scalars: Scalars) -> Further | None:
    """The optimum of a system with one degree of difficulty; None of any other.

    Returns:
        The optimum, what it requires, and the law of the share, if it is in one.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.exact.scalars import Rationals
        >>> from symscale.algebra.sums.active import put_together
        >>> from symscale.language.symbols import symbols
        >>> N, J, K, L = symbols("N J K L")
        >>> terms = tuple(map(Monomial.of, (J*N**3, K*N, L/N)))
        >>> program = GeometricProgram((N,), terms, (), Domain())
        >>> found = beyond(program, put_together((N,), terms, (), Rationals()), Rationals())
        >>> found.along.number.expr, found.along.law.expr
        (J*L/K**2, 2*r*(2*r + 1)/(1 - 4*r)**2)
        >>> found.optimum.values[N].expr
        sqrt(2)*sqrt(K)*sqrt(r)/(sqrt(J)*sqrt(1 - 4*r))
    """
    holding = held(system, scalars)
    inner = system if holding is None else holding.system
    balances = inner.balances(scalars)
    if len(balances) != 2 or not inner.objective:
        return None
    sizes = [len(inner.objective), *map(len, inner.sums.values())]
    segment = segment_of(balances, sizes, share_symbol(program), scalars)
    if segment is None:
        return Further(None, (), None)
    whole = _Whole(program, system, inner, segment, scalars)
    root = _Law.of(segment, whole.coefficients)
    if root is not None:
        split = root.solved()
        if split is None:
            return Further(None, (), None)
        low, high, requirements = split
        weights = Weighted(
            tuple(n.mixed(low, high) / whole.unit(low, high) for n in segment.weights),
            tuple(n.mixed(low, high) / whole.unit(low, high) for n in segment.sums),
        )
        dropped = whole.dropped(None)
        varying = whole.varying(weights, dropped)
        return Further(
            optimum_with(system, holding, varying, weights, scalars, dropped), requirements, None
        )
    weights = Weighted(
        tuple(map(segment.at, segment.weights)), tuple(map(segment.at, segment.sums))
    )
    curve = whole.curve()
    dropped = whole.dropped(curve.given and curve.given[0])
    varying = whole.varying(weights, dropped)
    found = optimum_with(system, holding, varying, weights, scalars, dropped)
    ends = tuple(
        None if end is None else optimum_with(
            system, holding, end, weights, scalars, dropped
        ).value
        for end in whole.ends()
    )
    return Further(found, (), replace(curve, asymptotes=(ends[0], ends[1])))


@dataclass(frozen=True)
class _Whole:
    """A system with its segment of weights."""

    program: GeometricProgram
    system: ActiveSystem
    inner: ActiveSystem
    segment: WeightSegment
    scalars: Scalars

    @property
    def coefficients(self) -> list[Monomial]:
        """Of all terms, the objective's first."""
        tables = (self.inner.objective, *self.inner.sums.values())
        return [c for table in tables for c in table.values()]

    def unit(self, low: Monomial, high: Monomial) -> Monomial:
        """What weights that are mixed of those at both ends are divided by."""
        return low if self.segment.ray else total([low, high])

    def curve(self) -> Curve:
        """The law, readable; without asymptotes."""
        number = self.segment.number(self.coefficients)
        power = sp.Integer(1)
        if number.powers:
            plain = 1 / number.content
            sizes = [abs(e * plain) for _, e in number.powers if e.is_Rational]
            if len(sizes) == len(number.powers) and max(sizes) <= _MOST_READABLE:
                power = plain
        curve = Curve(
            self.segment, number**power, power, self.program.domain, None, (None, None)
        )
        return replace(curve, given=self._given(curve))

    def _given(self, curve: Curve) -> tuple[sp.Symbol, Monomial] | None:
        """A parameter that the law makes a product of the others: one that stands seldom."""
        number = curve.number
        inside = {s for a in number.atoms if not a.is_Symbol for s in a.free_symbols}
        inside |= {s for m in self.program.domain.at_least_one for s in m.free_symbols}
        every = [*self.program.objective, *(t for c in self.program.constraints for t in c.terms)]
        inside |= {s for t in every for a in t.atoms if not a.is_Symbol for s in a.free_symbols}
        chosen = [
            s for s, _ in number.powers if isinstance(s, sp.Symbol) and s not in inside
        ]
        if not chosen:
            return None

        def count(s: sp.Symbol) -> tuple[int, int, bool, int, str]:
            places = [k for k, c in enumerate(self.coefficients) if s in c.free_symbols]
            plain = abs(number.exponent(s)) == 1
            return (len(places), sum(s in t.free_symbols for t in every), not plain,
                    -places[-1] if places else 0, str(s))

        s = min(chosen, key=count)
        e = number.exponent(s)
        rest = number / Monomial.from_powers({s: e})
        return s, (curve.law / rest) ** (1 / e)

    def dropped(self, given: sp.Symbol | None) -> int:
        """The term whose value follows from the others: best the only one with `given`."""
        usable = [k for k, p in enumerate(self.segment.powers) if p != 0]
        own = [k for k in usable if given in self.coefficients[k].free_symbols]
        several = sum(given in c.free_symbols for c in self.coefficients)
        if len(own) == 1 and several == 1:
            return own[0]
        objective = [k for k in usable if k < len(self.inner.objective)]
        return (objective or usable)[-1]

    def varying(self, weights: Weighted, dropped: int) -> Monomial:
        """The least of the objective without its offset: from the values of all terms but one."""
        one = self.scalars.convert(sp.Integer(1))
        count = len(self.inner.objective)
        least = sp.Dummy("least", positive=True)
        rows, values = [], []
        shares = weights.shares(list(self.inner.sums.values()), count)
        parts = zip(self.inner.terms, shares, self.coefficients, strict=True)
        for k, (powers, share, c) in enumerate(parts):
            if k != dropped:
                row = [self.scalars.convert(powers.exponent(x)) for x in self.inner.variables]
                rows.append([-one if k < count else one - one, *row])
                values.append(share / c)
        solved = solve_monomials(
            (least, *self.inner.variables), echelon(rows, one), values, self.scalars
        )
        return solved[least]

    def ends(self) -> tuple[Monomial | None, Monomial | None]:
        """What the varying part tends to at the ends of the segment."""
        return self._end(start=True), None if self.segment.ray else self._end(start=False)

    def _end(self, start: bool) -> Monomial:
        def size(number: Affine) -> sp.Expr:
            return number.start if start else number.end

        found = ONE
        for c, number in zip(self.coefficients, self.segment.weights, strict=True):
            weight = size(number)
            if weight != 0:
                found = found * (c / positive_number(weight)) ** weight
        for number in self.segment.sums:
            weight = size(number)
            if weight != 0:
                found = found * positive_number(weight) ** weight
        return found


@dataclass(frozen=True)
class _Law:
    """A law of degree 1 after roots: `number = constant * top**e / bottom**e` with e 1 or 0.

    Attributes:
        number: The root of K over the constants.
        top: The number along the segment that stands above; None for 1.
        bottom: The one that stands below.
    """

    number: Monomial
    top: Affine | None
    bottom: Affine | None

    @classmethod
    def of(cls, segment: WeightSegment, coefficients: Sequence[Monomial]) -> "_Law | None":
        """The law of a segment, if it is one; `number = top/bottom`."""
        table: dict[Affine, sp.Expr] = {}
        constant = ONE
        for number, power in segment.factors:
            scale = number.start if number.start != 0 else number.end
            unit = Affine(sp.cancel(number.start / scale), sp.cancel(number.end / scale))
            constant = constant * positive_number(scale) ** power
            table[unit] = sp.cancel(table.get(unit, sp.Integer(0)) + power)
        # Numbers that do not change along the segment are constants.
        varying = [(u, p) for u, p in table.items() if p != 0 and u.start != u.end]
        tops = [(u, p) for u, p in varying if p.is_positive]
        bottoms = [(u, -p) for u, p in varying if p.is_negative]
        if not varying or len(tops) > 1 or len(bottoms) > 1:
            return None
        if len(tops) + len(bottoms) != len(varying):
            return None  # the sign of a power depends on exponents
        power = (tops or bottoms)[0][1]
        if tops and bottoms and sp.cancel(power - bottoms[0][1]) != 0:
            return None
        root = (segment.number(coefficients) / constant) ** (1 / power)
        return cls(root, tops[0][0] if tops else None, bottoms[0][0] if bottoms else None)

    def solved(self) -> tuple[Monomial, Monomial, tuple[Requirement, ...]] | None:
        """How near the optimum is to the low end and to the high one, as a ratio.

        With `w` the share of the way, `number*bottom = top` is linear in it, so
        `w : 1 - w = (number*bottom.start - top.start) : (top.end - number*bottom.end)`.

        Returns:
            What the low end counts, what the high end counts, and that both are positive.
        """
        one = Affine(sp.Integer(1), sp.Integer(1))
        top, bottom = self.top or one, self.bottom or one
        requirements: list[Requirement] = []
        found: list[Monomial] = []
        for plus, minus in (
            ((ONE, top.end), (self.number, bottom.end)),
            ((self.number, bottom.start), (ONE, top.start)),
        ):
            above, below = (
                None if c == 0 else m * positive_number(c) for m, c in (plus, minus)
            )
            if above is None:
                return None
            if below is None:
                found.append(above)
                continue
            needed = Requirement.of(below, above, "<")
            if needed.settled is False:
                return None
            if needed.settled is None:
                requirements.append(needed)
            try:
                found.append(total([above], [below]))
            except FormulaError:
                return None
        return found[0], found[1], tuple(requirements)


