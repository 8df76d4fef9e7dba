"""Shares of small denominators near given ones, and the products of powers that they prove.

Shares `d` (of an objective's terms, together 1; of a constraint's, together its multiplier
`lam`) with every variable cancelled prove for all parameters

    least sum >= prod (c_i/d_i)**d_i * prod lam_k**lam_k.

Near an optimum's own shares the gap is of second order: they may be rounded, as long as the
variables cancel exactly. So some of them are rounded, and the others follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, islice

import mpmath as mp
import numpy as np
import sympy as sp

from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.scalars import Rationals
from symscale.algebra.tangents.convex import Array, TermTable, logarithm_of
from symscale.errors import NoAnswerError

OBJECTIVE = "objective"
DENOMINATORS = (
    *range(1, 25), 30, 32, 36, 40, 48, 60, 64, 80, 100, 128, 200, 256, 500,
    *(d * 10**k for k in range(3, 7) for d in (1, 2, 5)),
)
"""Of shares that must be near enough, whatever it takes; readable ones first."""
LEAST_DIGITS, MOST_DIGITS = 4, 12  # of a bound's number
_LEAST_ROUNDING = 1e-7  # of its logarithm
_SMALLEST = (1e-6, 3e-3, 3e-2)  # shares below are left out
_MOST_CHOICES = 300
_MOST_READ = 40  # of the choices that are near enough, how many are compared
_EXACT = mp.mpf("1e-30")
_WORKING = 50
_MOST_BOTH_WAYS = 6
_POSITIVE = 1e-9


@dataclass(frozen=True)
class TangentBound:
    """A product of powers that bounds an optimum for all parameters.

    Attributes:
        shares: Of each term of each sum that is used, OBJECTIVE among their names.
        powers: The product, without its number.
        constant: That number, on the safe side.
        row: The shares of all terms, in floats.
        level: The logarithm of the bound on the least sum where all coefficients are 1.
    """

    shares: Mapping[str, tuple[sp.Rational, ...]]
    powers: Monomial
    constant: sp.Rational
    row: Array = field(compare=False, repr=False)
    level: float = field(compare=False, repr=False)

    @property
    def value(self) -> Monomial:
        """The bound."""
        return self.powers * Monomial.of(self.constant)

    def logarithm(self, values: Mapping[sp.Symbol, sp.Rational]) -> float:
        """The logarithm of the bound at given parameters."""
        return logarithm_of(self.value, values)

    def at(self, offsets: Array) -> float:
        """The logarithm of the bound on the least sum at logarithms of the coefficients."""
        return float(self.level + self.row @ offsets)


@dataclass(frozen=True)
class _Choice:
    """Which shares are rounded, and how the others follow.

    Attributes:
        support: The rows of the table whose shares are not 0.
        places: Of each number that is rounded the places in the support that add up to it.
        base: The shares where all these numbers are 0.
        map: How they change with these.
        own: What is rounded.
    """

    support: Array
    places: tuple[tuple[int, ...], ...]
    base: Array
    map: Array
    own: Array

    def around(self, q: int) -> Array:
        """The numbers rounded to q-ths, down and up where they are few."""
        if not len(self.own):
            return np.zeros((1, 0))
        ends = [sorted({np.floor(x * q), np.ceil(x * q)}) for x in self.own]
        if len(ends) > _MOST_BOTH_WAYS:
            ends = [[np.round(x * q)] for x in self.own]
        return np.array(np.meshgrid(*ends)).reshape(len(ends), -1).T


@dataclass(frozen=True)
class _Rounded:
    """Rounded shares: a choice, the numbers that it rounds, all shares in floats."""

    choice: _Choice
    numbers: tuple[Fraction, ...]
    shares: Array


class Rounding:
    """What shares of one program may be rounded to.

    Args:
        table: The program's terms.
        shares: The shares to be near.
    """

    def __init__(self, table: TermTable, shares: Array) -> None:
        """Prepare the choices of shares that are rounded."""
        self._table = table
        self._own = shares
        self._choices = list(islice(self._all_choices(), _MOST_CHOICES))
        if not self._choices:
            raise NoAnswerError("no exact shares are near those of the optimum")

    def nearest(
        self, at: Sequence[Array], most: Sequence[float], denominators: Sequence[int]
    ) -> TangentBound:
        """The bound that is near enough at some coefficients, of least denominators.

        If none is, the nearest.

        Args:
            at: Logarithms of the coefficients.
            most: For each the logarithm that the bound must reach there.
            denominators: What to round to: the first that does is taken.

        Raises:
            NoAnswerError: If no exact shares are near those of the optimum.
        """
        best: list[tuple[float, _Rounded]] = []
        for q in denominators:
            found = [pair for choice in self._choices for pair in self._short(choice, q, at, most)]
            found.sort(key=lambda pair: pair[0])
            best = sorted([*best, *found[:1]], key=lambda pair: pair[0])[:1]
            good = [pair for pair in found[:_MOST_READ] if pair[0] <= -_LEAST_ROUNDING]
            if good:
                best = [min(good, key=lambda pair: self._length(pair[1]))]
                break
        if not best:
            raise NoAnswerError("no exact shares are near those of the optimum")
        short, rounded = best[0]
        return _bound_of(self._table, _shares(self._table, rounded), -short)

    def _short(
        self, choice: _Choice, q: int, at: Sequence[Array], most: Sequence[float]
    ) -> Iterator[tuple[float, _Rounded]]:
        """Valid shares with the chosen ones rounded to q-ths, and what each falls short by."""
        table = self._table
        whole = choice.around(q)
        small = choice.base + whole / q @ choice.map.T
        valid = ((small > _POSITIVE) | table.free[choice.support]).all(axis=1)
        shares = np.zeros((int(valid.sum()), len(self._own)))
        shares[:, choice.support] = small[valid]
        if not len(shares):
            return
        short = np.max(
            [m - table.bound(shares, b) for b, m in zip(at, most, strict=True)], axis=0
        )
        for k, row in enumerate(whole[valid]):
            numbers = tuple(Fraction(round(x), q) for x in row)
            yield float(short[k]), _Rounded(choice, numbers, shares[k])

    def _all_choices(self) -> Iterator[_Choice]:
        """Which shares, or sums of a constraint's shares, are rounded; the others follow."""
        table = self._table
        seen: set[bytes] = set()
        for smallest in _SMALLEST:
            support = np.flatnonzero(abs(self._own) > smallest)
            if support.tobytes() in seen:
                continue
            seen.add(support.tobytes())
            first = (table.which[support] == 0).astype(float)
            balance = np.vstack([first, table.slopes[support].T])
            goal = np.concatenate([[1.0], np.zeros(len(balance) - 1)])
            own = self._own[support]
            free = len(support) - np.linalg.matrix_rank(balance, tol=1e-9)
            if not first.any() or np.linalg.matrix_rank(
                np.column_stack([balance, goal]), tol=1e-9
            ) > len(support) - free:
                continue
            for rows in combinations(self._candidates(support), int(free)):
                chosen = np.zeros((int(free), len(support)))
                for k, row in enumerate(rows):
                    chosen[k, list(row)] = 1.0
                matrix = np.vstack([balance, chosen])
                if np.linalg.matrix_rank(matrix, tol=1e-9) < len(support):
                    continue
                inverse = np.linalg.pinv(matrix)
                size = len(balance)
                yield _Choice(
                    support, rows, inverse[:, :size] @ goal, inverse[:, size:], chosen @ own
                )

    def _candidates(self, support: Array) -> list[tuple[int, ...]]:
        """Places in the support: single shares, and those of one constraint together."""
        single = [(k,) for k in range(len(support))]
        which = self._table.which[support]
        sums = [tuple(map(int, np.flatnonzero(which == s))) for s in sorted(set(which)) if s]
        return [*single, *(s for s in sums if len(s) > 1)]

    def _length(self, rounded: _Rounded) -> int:
        """How long the powers are that shares give."""
        powers = rounded.shares @ self._table.powers
        near = [Fraction(float(e)).limit_denominator(10**6) for e in powers if abs(e) > _POSITIVE]
        return sum(len(str(abs(e))) for e in near)


def _shares(table: TermTable, found: _Rounded) -> dict[int, Fraction]:
    """The rounded shares with those that follow from them, exactly.

    Raises:
        NoAnswerError: If the shares are not determined.
    """
    support = [int(k) for k in found.choice.support]
    rows = [[Fraction(int(table.which[k] == 0)) for k in support] + [Fraction(1)]]
    for x in table.program.variables:
        powers = [table.terms[k].exponent(x) for k in support]
        rows.append([*map(Rationals().convert, powers), Fraction(0)])
    for places, number in zip(found.choice.places, found.numbers, strict=True):
        rows.append([*(Fraction(int(k in places)) for k in range(len(support))), number])
    form = echelon(rows, Fraction(1))
    if sorted(form.pivots) != list(range(len(support))):
        raise NoAnswerError("no exact shares are near those of the optimum")
    return {support[p]: r[-1] for p, r in zip(form.pivots, form.rows, strict=True)}


def _bound_of(table: TermTable, shares: Mapping[int, Fraction], room: float) -> TangentBound:
    """The bound that exact shares prove, its number rounded by no more than there is room.

    Raises:
        NoAnswerError: If a share is negative.
    """
    program = table.program
    given: dict[str, tuple[sp.Rational, ...]] = {}
    product = Monomial(())
    sums = [(OBJECTIVE, program.objective, False)]
    sums += [(c.name, c.terms, c.relation == "==") for c in program.constraints]
    with mp.workdps(_WORKING):
        logarithm = mp.mpf(0)
        for (name, terms, equal), first in zip(sums, table.starts, strict=True):
            own = [shares.get(int(first) + k, Fraction(0)) for k in range(len(terms))]
            if not any(own):
                continue
            if not equal and min(own) < 0:
                raise NoAnswerError("a share is negative")
            exact = tuple(sp.Rational(d.numerator, d.denominator) for d in own)
            given[name] = exact
            for share, term in zip(exact, terms, strict=True):
                product = product * term.split(program.variables)[1] ** share
            if not equal:
                logarithm += _entropy(sum(own, Fraction(0)) * (name != OBJECTIVE))
                logarithm -= sum((_entropy(d) for d in own), mp.mpf(0))
        for prime, e in product.coefficient.powers:
            power = Rationals().convert(e)
            logarithm += mp.mpf(power.numerator) / power.denominator * mp.log(int(prime))
        powers = Monomial(tuple(p for p in product.powers if not p[0].is_Integer))
        sign = -1 if program.inverse else 1
        constant = _decimal(mp.exp(sign * logarithm), room, up=program.inverse)
        level = float(sign * mp.log(mp.mpf(int(constant.p)) / int(constant.q)))
        row = np.zeros(len(table.terms))
        row[list(shares)] = [float(d) for d in shares.values()]
        return TangentBound(
            given, powers**sign, constant, row, level - float(row @ table.numbers)
        )


def _entropy(share: Fraction) -> mp.mpf:
    x = mp.mpf(share.numerator) / share.denominator
    return x * mp.log(x) if x else mp.mpf(0)


def _decimal(number: mp.mpf, room: float, *, up: bool) -> sp.Rational:
    """A number of few digits beside another, or equal to it where that has as few."""
    power = int(mp.floor(mp.log10(number)))
    for digits in range(LEAST_DIGITS, MOST_DIGITS + 1):
        scaled = number * mp.mpf(10) ** (digits - 1 - power)
        near = mp.nint(scaled)
        if abs(scaled - near) > _EXACT * scaled:
            near = mp.ceil(scaled) if up else mp.floor(scaled)
        if abs(mp.log(near / scaled)) <= max(room, _LEAST_ROUNDING):
            break
    return sp.Rational(int(near)) * sp.Integer(10) ** (power + 1 - digits)
