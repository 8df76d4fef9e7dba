"""How symbols grow, and which products of powers outgrow which, decided exactly.

Growth is a vector g: the symbol x grows like t^g_x as t goes to infinity. What is
known about it are rows r with r.g > 0 (a product grows beyond all bounds) or
r.g >= 0 (it stays above a constant). By Farkas, x^a is at most a constant times
the sum of x^b over b in B exactly where

    sum_b m_b b - a = sum_r l_r r,    m, l >= 0,  sum_b m_b = 1,

and it vanishes against that sum exactly where such multipliers exist with a weight
on a row with > (Motzkin). The multipliers are the certificate; where there are
none, a direction of growth is the counterexample.

Example:
    >>> from symscale.language.symbols import symbols
    >>> d, n = symbols("d_model n_ctx")
    >>> known = Growth((d,), (Assumption(Monomial.of(n), "O", Monomial.of(d)),))
    >>> cone = cone_of(known, None)
    >>> [str(s) for s in cone.symbols], cone.dominance(cone.vector(Monomial.of(n)),
    ...     [cone.vector(Monomial.of(d))]).bounded
    (['d_model', 'n_ctx'], True)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.simplex import maximize
from symscale.errors import FormulaError, InputError

Relation: TypeAlias = Literal["O", "o", "Theta", "Omega", "omega"]
RELATIONS: tuple[Relation, ...] = ("Theta", "O", "Omega", "o", "omega")

Vector: TypeAlias = tuple[sp.Expr, ...]
Numbers: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Assumption:
    """How one product of powers grows against another, such as n_ctx = O(d_model).

    Attributes:
        left: The one on the left.
        relation: One of "O", "o", "Theta", "Omega" and "omega".
        right: The one in the brackets.
        text: How a user wrote it, or "".
    """

    left: Monomial
    relation: Relation
    right: Monomial
    text: str = ""

    @property
    def name(self) -> str:
        """How messages and certificates call it."""
        return self.text or f"{self.left} = {self.relation}({self.right})".replace("**", "^")


@dataclass(frozen=True)
class Growth:
    """What is known about the growth of symbols.

    Attributes:
        growing: Symbols that go to infinity, independently but for what follows.
        assumptions: Comparisons. A symbol that occurs in one is not constant: it stays
            above some constant, and may grow as far as the assumptions let it.
        path: Symbols that are monomials in others.
        lower: Least values of symbols; a symbol of the path that has one is kept above it.

    Raises:
        InputError: If a symbol of the path also grows by itself, or occurs in the path.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> d, N = symbols("d_model N_TP")
        >>> Growth((d,), path={N: Monomial.of(d**2)}).path[N].expr
        d_model**2
    """

    growing: tuple[sp.Symbol, ...]
    assumptions: tuple[Assumption, ...] = ()
    path: Mapping[sp.Symbol, Monomial] = field(default_factory=dict)
    lower: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tied = [s for s in self.growing if s in self.path]
        if tied:
            raise InputError(f"{tied[0]} follows from the path, so it does not grow by itself")
        for symbol, value in self.path.items():
            chained = [s for s in self.path if s in value.free_symbols]
            if chained:
                raise InputError(f"the path gives {symbol} by {chained[0]}, which it also gives")

    def at(self, exponent: sp.Symbol, value: sp.Rational) -> "Growth":
        """Return it with a number for the path's exponent."""
        values = {exponent: value}
        path = {symbol: m.substitute(values) for symbol, m in self.path.items()}
        assumptions = tuple(
            replace(a, left=a.left.substitute(values), right=a.right.substitute(values))
            for a in self.assumptions
        )
        return replace(self, path=path, assumptions=assumptions)

    @property
    def compared(self) -> list[tuple[Assumption, Monomial, Monomial]]:
        """The assumptions, each with its two sides along the path."""
        return [
            (a, a.left.substitute(self.path), a.right.substitute(self.path))
            for a in self.assumptions
        ]

    @property
    def varying(self) -> tuple[sp.Symbol, ...]:
        """The symbols that are not constant, first those that grow by themselves."""
        sides = [side for _, *both in self.compared for side in both]
        others = {s for side in sides for s in side.atoms if isinstance(s, sp.Symbol)}
        return (*self.growing, *sorted(others - set(self.growing), key=str))

    @property
    def rows(self) -> list[tuple[Monomial, bool, str]]:
        """Monomials that stay above a constant, whether they grow beyond all bounds, and why."""
        found = [(Monomial.of(s), True, f"{s} grows") for s in self.growing]
        for one, left, right in self.compared:
            if one.relation in ("O", "o", "Theta"):
                found.append((right / left, one.relation == "o", one.name))
            if one.relation in ("Omega", "omega", "Theta"):
                found.append((left / right, one.relation == "omega", one.name))
        varying = self.varying
        for symbol in varying[len(self.growing) :]:
            found.append((Monomial.of(symbol), False, f"{symbol} stays above a constant"))
        for symbol, value in self.path.items():
            if symbol in self.lower and any(atom in varying for atom in value.atoms):
                shown = str(value).replace("**", "^")
                least = f"{symbol} = {shown} is at least {self.lower[symbol]}"
                found.append((value, False, least))
        return found


    @property
    def supposed(self) -> tuple[tuple[sp.Symbol, Monomial], ...]:
        """Symbols of the path whose least value restricts how others grow, as of L = d^2/n."""
        return tuple(
            (symbol, value)
            for symbol, value in self.path.items()
            if symbol in self.lower
            and any(value.exponent(s).is_nonnegative is not True for s in self.varying)
        )


@dataclass(frozen=True)
class ConeRow:
    """A row of a cone: an inequality on growth.

    Attributes:
        exact: Its entries, functions of the path's exponent where it has one.
        numbers: Its entries.
        strict: Whether it is > 0 rather than >= 0.
        reason: Why it holds.
    """

    exact: Vector
    numbers: Numbers
    strict: bool
    reason: str


@dataclass(frozen=True)
class Dominance:
    """Whether a product of powers stays below a sum of others.

    Attributes:
        bounded: Whether it is at most a constant times the sum.
        vanishes: Whether it vanishes against the sum.
        shares: The weight of each term of the sum in the certificate.
        weights: The weight of each row in it.
        direction: Where it is not bounded: a growth along which it outgrows the sum.
            Where it is bounded but does not vanish: one along which it keeps up.
    """

    bounded: bool
    vanishes: bool
    shares: Numbers
    weights: Numbers
    direction: Numbers


@dataclass(frozen=True)
class Cone:
    """The directions of growth at one value of the path's exponent, if it has one.

    Attributes:
        symbols: The symbols that are not constant, in the order of the entries.
        rows: The inequalities.
        exponent: The path's exponent and a value of it, or None.
    """

    symbols: tuple[sp.Symbol, ...]
    rows: tuple[ConeRow, ...]
    exponent: tuple[sp.Symbol, sp.Rational] | None = None

    def vector(self, monomial: Monomial) -> Vector:
        """The exponents of the symbols that are not constant."""
        return tuple(monomial.exponent(s) for s in self.symbols)

    def numbers(self, vector: Sequence[sp.Expr]) -> Numbers:
        """The entries of a vector at the exponent's value.

        Raises:
            FormulaError: If they contain another symbol.
        """
        values: Any = dict([self.exponent]) if self.exponent else {}
        found = []
        for entry in vector:
            value = entry if entry.is_Rational else entry.subs(values)
            if not isinstance(value, sp.Rational):
                raise FormulaError(f"the exponent {entry} is no rational number")
            found.append(Fraction(int(value.p), int(value.q)))
        return tuple(found)

    def conflict(self) -> tuple[str, ...]:
        """Why no growth satisfies all rows; empty where one does."""
        if not any(row.strict for row in self.rows):
            return ()
        size = len(self.symbols)
        matrix = [(*row.numbers, Fraction(int(row.strict))) for row in self.rows]
        objective = [*[Fraction(0)] * size, Fraction(1)]
        found = maximize(objective, matrix, [Fraction(0)] * len(matrix))
        if found.status != "optimal":
            return ()
        pairs = zip(self.rows, found.multipliers, strict=True)
        return tuple(dict.fromkeys(row.reason for row, weight in pairs if weight))

    def dominance(self, term: Vector, others: Iterable[Vector]) -> Dominance:
        """Decide whether a term stays below the sum of others, all given by exponents."""
        below = [self.numbers(v) for v in others]
        return self.dominance_of(self.numbers(term), below)

    def dominance_of(self, term: Numbers, others: Sequence[Numbers]) -> Dominance:
        """Decide whether a term stays below the sum of others, all given by numbers."""
        one, zero = Fraction(1), Fraction(0)
        matrix = [(*v, one) for v in others]
        matrix += [(*(-x for x in row.numbers), zero) for row in self.rows]
        bounds = [zero] * len(others)
        bounds += [Fraction(-int(row.strict)) for row in self.rows]
        found = maximize([*term, one], matrix, bounds)
        direction = found.point[: len(self.symbols)]
        if found.status == "unbounded":
            return Dominance(False, False, (), (), self._inside(direction, term, others))
        count = len(others)
        shares, weights = found.multipliers[:count], found.multipliers[count:]
        pairs = zip(self.rows, weights, strict=True)
        vanishes = any(row.strict and weight for row, weight in pairs)
        return Dominance(True, vanishes, shares, weights, () if vanishes else direction)

    def interior(self) -> Numbers:
        """A growth that satisfies all rows, those with > strictly."""
        size = len(self.symbols)
        zero = Fraction(0)
        matrix = [(*(-x for x in row.numbers), Fraction(int(row.strict))) for row in self.rows]
        matrix.append((*[zero] * size, Fraction(1)))
        bounds = [*[zero] * len(self.rows), Fraction(1)]
        return maximize([*[zero] * size, Fraction(1)], matrix, bounds).point[:size]

    def _inside(self, edge: Numbers, term: Numbers, others: Sequence[Numbers]) -> Numbers:
        """Move a direction off the edge of the cone, so that the term still outgrows the rest."""
        inner, step = self.interior(), Fraction(1)
        while True:
            direction = tuple(x + step * y for x, y in zip(edge, inner, strict=True))
            height = _dot(direction, term)
            if all(_dot(direction, v) < height for v in others):
                return direction
            step /= 2

    def vanishing(self, vectors: Sequence[Vector]) -> dict[int, Dominance]:
        """Return which terms of a sum vanish against the rest, with certificates.

        The shares are those of all terms, zero for the ones that vanish themselves.
        """
        numbers = [self.numbers(v) for v in vectors]
        left = list(range(len(numbers)))
        for i in range(len(numbers)):
            rest = [numbers[j] for j in left if j != i]
            if rest and self.dominance_of(numbers[i], rest).vanishes:
                left.remove(i)
        found: dict[int, Dominance] = {}
        for i in sorted(set(range(len(numbers))) - set(left)):
            proof = self.dominance_of(numbers[i], [numbers[j] for j in left])
            table = dict(zip(left, proof.shares, strict=True))
            shares = tuple(table.get(j, Fraction(0)) for j in range(len(numbers)))
            found[i] = Dominance(True, True, shares, proof.weights, ())
        return found

    def least(self, vectors: Iterable[Vector]) -> tuple[Vector, ...]:
        """Return the terms that make up the class of a sum: none is bounded by the rest."""
        left = list(dict.fromkeys(self.reduced(v) for v in vectors))
        numbers = [self.numbers(v) for v in left]
        # No symbol vanishes, so a product of higher powers bounds one of lower ones.
        kept = [
            i for i, x in enumerate(numbers)
            if not any(
                j != i and (x != y or j < i) and all(a <= b for a, b in zip(x, y, strict=True))
                for j, y in enumerate(numbers)
            )
        ]  # fmt: skip
        left, numbers = [left[i] for i in kept], [numbers[i] for i in kept]
        for i in reversed(range(len(left))):
            rest = [x for j, x in enumerate(numbers) if j != i]
            if rest and self.dominance_of(numbers[i], rest).bounded:
                del left[i], numbers[i]
        return tuple(left)

    def reduced(self, vector: Vector) -> Vector:
        """Rewrite a product by what grows alike: n_ctx = Theta(d_model) leaves d_model only."""
        for pivot, row in self.alike():
            factor = vector[pivot]
            if factor != 0:
                vector = tuple(sp.expand(x - factor * y) for x, y in zip(vector, row, strict=True))
        return vector

    def alike(self) -> list[tuple[int, Vector]]:
        """Products that stay between constants, each solved for the entry with the index."""
        return _alike(self)


@lru_cache(maxsize=64)
def _alike(cone: Cone) -> list[tuple[int, Vector]]:
    """The rows whose inverse follows from the rows, in reduced echelon form."""
    zeros = [Fraction(0)] * len(cone.rows)
    matrix = [row.numbers for row in cone.rows]
    found: list[tuple[int, Vector]] = []
    for row in cone.rows:
        if row.strict or not any(row.numbers):
            continue
        if maximize([-x for x in row.numbers], matrix, zeros).status != "optimal":
            continue
        vector = row.exact
        for pivot, base in found:
            vector = _minus(vector, vector[pivot], base)
        numbers = cone.numbers(vector)
        # The symbols that grow by themselves come first, and are kept.
        new = next((i for i in reversed(range(len(numbers))) if numbers[i]), None)
        if new is not None:
            scaled = tuple(sp.cancel(x / vector[new]) for x in vector)
            found = [(pivot, _minus(base, base[new], scaled)) for pivot, base in found]
            found.append((new, scaled))
    return found


def _minus(vector: Vector, factor: sp.Expr, base: Vector) -> Vector:
    if factor == 0:
        return vector
    return tuple(sp.cancel(x - factor * y) for x, y in zip(vector, base, strict=True))


def _dot(left: Numbers, right: Numbers) -> Fraction:
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


def cone_of(growth: Growth, exponent: tuple[sp.Symbol, sp.Rational] | None) -> Cone:
    """Return the directions of growth, at a value of the path's exponent where it has one.

    Raises:
        FormulaError: If an exponent is no rational number there.
    """
    empty = Cone(growth.varying, (), exponent)
    made = []
    for monomial, strict, reason in growth.rows:
        exact = empty.vector(monomial)
        made.append(ConeRow(exact, empty.numbers(exact), strict, reason))
    return Cone(empty.symbols, tuple(made), exponent)
