"""Where along a path with an open exponent p an answer may change: exact crossing points.

Which products of powers outgrow which depends on the signs of determinants of
their exponents and of the rows of the cone only (on the oriented matroid). With
exponents affine in p these are polynomials in p, so the answer is the same at all
p between two neighbouring roots.

Example:
    >>> Range(None, sp.Integer(1), False, False).text("p")
    'p < 1'
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

import sympy as sp

from symscale.algebra.growth.paths import Vector
from symscale.errors import FormulaError, TooLargeError

MAX_MINORS = 20_000

_Column = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


@dataclass(frozen=True)
class Range:
    """The values of an exponent from one bound to another.

    Attributes:
        lower: The lower bound, or None.
        upper: The upper bound, or None.
        from_lower: Whether the lower bound belongs to it.
        to_upper: Whether the upper bound belongs to it.
    """

    lower: sp.Rational | None
    upper: sp.Rational | None
    from_lower: bool
    to_upper: bool

    @property
    def is_point(self) -> bool:
        """Whether it is one value."""
        return self.lower is not None and self.lower == self.upper

    def text(self, name: str) -> str:
        """Return the condition on the exponent of that name; "" where there is none.

        Example:
            >>> Range(sp.Integer(0), sp.Integer(0), True, True).text("p")
            'p = 0'
        """
        if self.is_point:
            return f"{name} = {self.lower}"
        below = "<=" if self.from_lower else "<"
        above = "<=" if self.to_upper else "<"
        if self.lower is not None and self.upper is not None:
            return f"{self.lower} {below} {name} {above} {self.upper}"
        if self.lower is not None:
            return f"{name} {below.replace('<', '>')} {self.lower}"
        return f"{name} {above} {self.upper}" if self.upper is not None else ""

    def joined(self, other: "Range") -> "Range":
        """Return both together, where the other begins at this one's end."""
        return Range(self.lower, other.upper, self.from_lower, other.to_upper)

    def sample(self) -> sp.Rational:
        """Return a value inside."""
        if self.is_point and self.lower is not None:
            return self.lower
        if self.lower is None:
            return sp.Integer(0) if self.upper is None else self.upper - 1
        return self.lower + 1 if self.upper is None else (self.lower + self.upper) / 2


def cells(points: Iterable[sp.Rational]) -> Iterator[Range]:
    """Yield the points and the open intervals between them, in order."""
    low: sp.Rational | None = None
    for point in sorted(set(points)):
        yield Range(low, point, False, False)
        yield Range(point, point, True, True)
        low = point
    yield Range(low, None, False, False)


def crossings(
    groups: Sequence[Sequence[Vector]], rows: Sequence[Vector], exponent: sp.Symbol
) -> set[sp.Rational]:
    """Return the values at which an answer about some terms under some rows may change.

    Args:
        groups: Exponents of the terms that are compared with each other.
        rows: The rows of the cone.
        exponent: The path's exponent, in which all entries are affine.

    Raises:
        FormulaError: If an entry is not affine in the exponent, or a value irrational.
        TooLargeError: If there are too many determinants.

    Example:
        >>> from symscale.language.symbols import PATH_EXPONENT
        >>> p = PATH_EXPONENT.symbol
        >>> crossings([[(2*p,), (sp.Integer(1),)]], [(sp.Integer(1),)], p)
        {1/2}
    """
    below = {_column((*row, sp.Integer(0)), exponent) for row in rows}
    found: set[sp.Rational] = set()
    seen: set[tuple[Fraction, ...]] = set()
    for group in groups:
        above = {_column((*v, sp.Integer(1)), exponent) for v in group}
        columns = sorted(above | below)
        size = len(columns[0][0]) if columns else 0
        if math.comb(len(columns), size) > MAX_MINORS:
            raise TooLargeError(
                f"with {exponent} open, more than {MAX_MINORS} determinants decide; "
                f"give {exponent} a number"
            )
        for chosen in combinations(columns, size):
            if any(any(slope) for _, slope in chosen):
                found |= _roots(_values(chosen, size), exponent, seen)
    return found


def _column(vector: Vector, exponent: sp.Symbol) -> _Column:
    base, slope = [], []
    for entry in vector:
        rise = sp.diff(entry, exponent) if entry.free_symbols else sp.Integer(0)
        start = sp.expand(entry - rise * exponent)
        if not (rise.is_Rational and start.is_Rational):
            raise FormulaError(f"the exponent {entry} is not affine in {exponent}")
        slope.append(Fraction(int(rise.p), int(rise.q)))
        base.append(Fraction(int(start.p), int(start.q)))
    return tuple(base), tuple(slope)


def _values(columns: Sequence[_Column], size: int) -> tuple[Fraction, ...]:
    """A determinant's values at 0, 1, ..., as many as its degree needs."""
    degree = sum(any(slope) for _, slope in columns)
    return tuple(
        _determinant([[b + k * s for b, s in zip(*column, strict=True)] for column in columns])
        for k in range(min(degree, size) + 1)
    )


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    result = Fraction(1)
    for i in range(len(rows)):
        pivot = next((k for k in range(i, len(rows)) if rows[k][i]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            result = -result
        result *= rows[i][i]
        for k in range(i + 1, len(rows)):
            if factor := rows[k][i] / rows[i][i]:
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[i], strict=True)]
    return result


def _roots(
    values: tuple[Fraction, ...], exponent: sp.Symbol, seen: set[tuple[Fraction, ...]]
) -> set[sp.Rational]:
    """The roots of the polynomial with these values at 0, 1, ..."""
    first = next((v for v in values if v), None)
    if first is None:
        return set()
    values = tuple(v / first for v in values)
    if values in seen:
        return set()
    seen.add(values)
    steps = [b - a for a, b in pairwise(values)]
    if all(step == steps[0] for step in steps):
        if not steps[0]:
            return set()
        root = -values[0] / steps[0]
        return {sp.Rational(root.numerator, root.denominator)}
    points = [(k, sp.Rational(v.numerator, v.denominator)) for k, v in enumerate(values)]
    roots = sp.Poly(sp.interpolate(points, exponent), exponent).real_roots()
    if not all(r.is_Rational for r in roots):
        raise FormulaError(
            f"the answer may change at irrational values of {exponent}; give {exponent} a number"
        )
    return set(roots)
