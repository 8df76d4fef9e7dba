"""Classes of growth: quotients of sums of products of powers, up to constant factors.

Example:
    >>> from symscale.algebra.growth.paths import Growth, cone_of
    >>> from symscale.algebra.growth.quotient import quotient_of
    >>> from symscale.language.symbols import symbols
    >>> d, n = symbols("d_model n_ctx")
    >>> cone = cone_of(Growth((d, n)), None)
    >>> order_of(quotient_of((d**2 + 3*d*n + n**2)/(2*d + n)), cone).expr
    d_model + n_ctx
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.paths import Cone, Dominance, Numbers, Vector
from symscale.algebra.growth.quotient import Quotient, Sum, from_terms
from symscale.errors import TooLargeError

MAX_PRODUCT = 400  # terms of a product of sums, before those that others bound are left out


@dataclass(frozen=True)
class Order:
    """A class of growth.

    Attributes:
        cone: The directions of growth.
        head: The exponents of a monomial.
        factors: Sums, each as the exponents of its terms, with their powers.
        zero: Whether it is the class of 0.
    """

    cone: Cone
    head: Vector
    factors: tuple[tuple[tuple[Vector, ...], int], ...]
    zero: bool = False

    @property
    def expr(self) -> sp.Expr:
        """The class as an expression in the symbols that are not constant."""
        if self.zero:
            return sp.Integer(0)
        result = Quotient(sp.Integer(1), self._monomial(self.head), ())
        for terms, power in self.factors:
            one = sp.Integer(1)
            result = result * from_terms((self._monomial(v), one) for v in terms) ** power
        return result.expr

    def _monomial(self, vector: Vector) -> Monomial:
        return Monomial.from_powers(dict(zip(self.cone.symbols, vector, strict=True)))

    @property
    def sides(self) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """Numerator and denominator, multiplied out.

        Raises:
            TooLargeError: If they have too many terms.
        """
        above: tuple[Vector, ...] = (self.head,)
        below: tuple[Vector, ...] = (tuple(sp.Integer(0) for _ in self.head),)
        for terms, power in self.factors:
            # In a class, a power of a sum is the sum of the powers.
            raised = tuple(tuple(sp.expand(x * abs(power)) for x in v) for v in terms)
            if power > 0:
                above = products(above, raised, self.cone)
            else:
                below = products(below, raised, self.cone)
        return above, below


def products(left: Sequence[Vector], right: Sequence[Vector], cone: Cone) -> tuple[Vector, ...]:
    """Return the terms of a product of sums that none of the others bound.

    Raises:
        TooLargeError: If there are too many terms.
    """
    if len(left) * len(right) > MAX_PRODUCT:
        raise TooLargeError(f"a comparison needs a product of more than {MAX_PRODUCT} terms")
    found = (tuple(x + y for x, y in zip(a, b, strict=True)) for a in left for b in right)
    if len(left) == 1 or len(right) == 1:
        return tuple(found)
    return cone.least(found)


def order_of(quotient: Quotient, cone: Cone) -> Order:
    """Return the class of a quotient, all of whose terms count with sign +."""
    head = cone.reduced(cone.vector(quotient.head))
    if not quotient.coefficient:
        return Order(cone, head, (), True)
    powers: dict[tuple[Vector, ...], int] = {}
    for total, power in quotient.factors:
        base, terms, root = _normal(total, cone)
        head = tuple(sp.expand(x + power * y) for x, y in zip(head, base, strict=True))
        if len(terms) > 1:
            powers[terms] = powers.get(terms, 0) + power * root
    kept = tuple((terms, power) for terms, power in powers.items() if power)
    return _as_monomial(Order(cone, cone.reduced(head), kept))


def _normal(total: Sum, cone: Cone) -> tuple[Vector, tuple[Vector, ...], int]:
    """A sum as one of its terms, times a whole power of the sum of the other tuple."""
    terms = sorted(
        cone.least(cone.vector(m) for m, _ in total.terms), key=cone.numbers, reverse=True
    )
    base = terms[0]
    shifted = [_minus(v, base) for v in terms]
    entries = [x for v in shifted for x in v]
    rational = [x for x in entries if isinstance(x, sp.Rational)]
    root = 1
    if len(rational) == len(entries) and any(entries):
        # d^2 + n^2 is of the order of (d + n)^2, with d and n without a common root.
        size = sp.Rational(
            math.gcd(*(int(x.p) for x in rational)), math.lcm(*(int(x.q) for x in rational))
        )
        if size.is_Integer:
            root = int(size)
            shifted = [tuple(x / root for x in v) for v in shifted]
    return base, tuple(shifted), root


def _minus(left: Vector, right: Vector) -> Vector:
    return tuple(sp.expand(x - y) for x, y in zip(left, right, strict=True))


def _as_monomial(order: Order) -> Order:
    """The monomial that an order is, where its numerator is one times its denominator."""
    if not order.factors:
        return order
    above, below = order.sides
    above = tuple(sorted(order.cone.least(above), key=order.cone.numbers))
    below = tuple(sorted(order.cone.least(below), key=order.cone.numbers))
    if len(above) != len(below):
        return order
    shifts = {_minus(a, b) for a, b in zip(above, below, strict=True)}
    return Order(order.cone, shifts.pop(), ()) if len(shifts) == 1 else order


@dataclass(frozen=True)
class Comparison:
    """How one class grows against another.

    Attributes:
        bounded: Whether the first is O of the second.
        vanishes: Whether it is o of it.
        bounds: Whether it is Omega of it.
        outgrows: Whether it is omega of it.
        above: A growth along which the first outgrows the second, where not bounded.
        below: A growth along which the second outgrows the first, where not bounding.
        level: A growth along which they keep up with each other, where one is known.
    """

    bounded: bool
    vanishes: bool
    bounds: bool
    outgrows: bool
    above: Numbers = ()
    below: Numbers = ()
    level: Numbers = ()

    def relation(self, name: str) -> bool | None:
        """Whether a relation holds: None where it depends on how the symbols grow."""
        yes, no = {
            "O": (self.bounded, self.outgrows),
            "Omega": (self.bounds, self.vanishes),
            "Theta": (self.bounded and self.bounds, self.vanishes or self.outgrows),
            "o": (self.vanishes, self.bounds),
            "omega": (self.outgrows, self.bounded),
        }[name]
        return True if yes else False if no else None


def compare(first: Order, second: Order) -> Comparison:
    """Decide how one class grows against another.

    Example:
        >>> from symscale.algebra.growth.paths import Growth, cone_of
        >>> from symscale.algebra.growth.quotient import quotient_of
        >>> from symscale.language.symbols import symbols
        >>> d, n = symbols("d_model n_ctx")
        >>> cone = cone_of(Growth((d, n)), None)
        >>> found = compare(order_of(quotient_of(d), cone), order_of(quotient_of(d + n), cone))
        >>> found.relation("O"), found.relation("Theta"), found.relation("omega")
        (True, None, False)
    """
    if first.zero:
        return Comparison(True, True, False, False)
    cone = first.cone
    (a, b), (c, d) = first.sides, second.sides
    left, right = products(a, d, cone), products(c, b, cone)
    up, down = _each(left, right, cone), _each(right, left, cone)
    ties = [x.direction for x in (*up, *down) if x.bounded and not x.vanishes]
    level = [way for way in ties if _height(left, way, cone) == _height(right, way, cone)]
    return Comparison(
        all(x.bounded for x in up),
        all(x.vanishes for x in up),
        all(x.bounded for x in down),
        all(x.vanishes for x in down),
        next((x.direction for x in up if not x.bounded), ()),
        next((x.direction for x in down if not x.bounded), ()),
        level[0] if level else (),
    )


def _each(left: Sequence[Vector], right: Sequence[Vector], cone: Cone) -> list[Dominance]:
    return [cone.dominance(v, right) for v in left]


def _height(terms: Sequence[Vector], direction: Numbers, cone: Cone) -> Fraction:
    """With which power of t a sum grows along a direction."""
    numbers = (cone.numbers(v) for v in terms)
    return max(
        sum((x * y for x, y in zip(v, direction, strict=True)), Fraction(0)) for v in numbers
    )


def direction_text(cone: Cone, direction: Numbers) -> str:
    """Return a growth in words, by powers of one t.

    Example:
        >>> from symscale.algebra.growth.paths import Growth, cone_of
        >>> from symscale.language.symbols import symbols
        >>> cone = cone_of(Growth(symbols("d_model L")), None)
        >>> direction_text(cone, (Fraction(1), Fraction(1, 2)))
        'd_model ~ t^2, L ~ t'
    """
    scale = math.lcm(*(x.denominator for x in direction)) if direction else 1
    common = math.gcd(*(int(x * scale) for x in direction)) or 1
    parts = []
    for symbol, rate in zip(cone.symbols, direction, strict=True):
        power = Fraction(rate * scale, common)
        parts.append(f"{symbol} ~ " + {0: "1", 1: "t"}.get(int(power), f"t^{power}"))
    return ", ".join(parts)
