"""The local law: one product of powers that bounds an optimum everywhere, and is close here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.tangents.boxes import box_around
from symscale.algebra.tangents.convex import TermTable
from symscale.algebra.tangents.normal import Point, feasible_point
from symscale.algebra.tangents.rounding import Rounding, TangentBound
from symscale.errors import NoAnswerError

GAP = 0.005  # that shares of denominators up to 10 are to reach
SPREAD_FACTOR, SPREAD_SHARE, SPREAD_POINTS = 2, 0.05, 200
MOST_DIGITS = 3
Values = Mapping[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class Spread:
    """How far a law reaches, as random points say; nothing is proved by them.

    Attributes:
        share: Of the feasible points at which it is within SPREAD_SHARE.
        points: How many feasible points there were.
    """

    share: float
    points: int


@dataclass(frozen=True)
class LocalLaw:
    """A product of powers that bounds an optimum, and what it is worth at some numbers.

    Attributes:
        bound: The product and the shares that prove it.
        optimum: The numerical optimum at the numbers.
        gap: By which share the bound misses it there.
        digits: Shares with denominators up to 10**digits were tried.
        aim: The gap aimed at.
        spread: Where else it is good.
        values: The numbers.
        point: A feasible point in exact numbers, which shows the gap; None where none is known.
    """

    bound: TangentBound
    optimum: float
    gap: float
    digits: int
    aim: float
    spread: Spread
    values: Values
    point: Point | None

    @property
    def is_near(self) -> bool:
        """Whether the gap is what was aimed at."""
        return self.gap <= self.aim


def goal(digits: int) -> float:
    """The gap aimed at with so many digits: the error of shares counts in its square."""
    return GAP * 100.0 ** (1 - digits)


def readable_law(program: GeometricProgram, values: Values) -> LocalLaw:
    """Find the local law with the smallest denominators whose gap is small enough to use.

    Raises:
        NoAnswerError: As `local_law` does.
    """
    law = local_law(program, values)
    return law if law.is_near else local_law(program, values, 2, goal(1))


def local_law(
    program: GeometricProgram, values: Values, digits: int = 1, aim: float | None = None
) -> LocalLaw:
    """Find the local law of a program at some numbers.

    Args:
        program: The program.
        values: Numbers of all its parameters.
        digits: Of the shares: their denominators are at most 10**digits.
        aim: The gap aimed at: the first denominators that reach it are taken.

    Raises:
        InfeasibleError: If no point satisfies the constraints there.
        NoAnswerError: If there is no optimum, or the search does not converge.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.exact.monomial import Monomial
        >>> from symscale.language.symbols import symbols
        >>> N, J, K, L = symbols("N J K L")
        >>> terms = tuple(map(Monomial.of, (J/N, K*N, L)))
        >>> numbers = {J: sp.Integer(4), K: sp.Integer(9), L: sp.Integer(4)}
        >>> law = local_law(GeometricProgram((N,), terms, (), Domain()), numbers)
        >>> law.bound.powers.expr, round(law.optimum, 6), law.gap < 0.005
        (J**(3/8)*K**(3/8)*L**(1/4), 16.0, True)
    """
    table = TermTable(program)
    offsets = table.offsets(table.logarithms(values))
    found = table.solve(offsets)
    denominators = range(1, 10 ** min(digits, MOST_DIGITS) + 1)
    aim = goal(digits) if aim is None else aim
    most = found.value - math.log1p(aim)
    bound = Rounding(table, found.shares).nearest([offsets], [most], denominators)
    logarithm = bound.logarithm(values)
    sign = -1 if program.inverse else 1
    gap = math.expm1(max(0.0, found.value - sign * logarithm))
    try:
        coefficients = [t.split(program.variables)[1] for t in table.terms]
        point = feasible_point(table, offsets, coefficients)
    except NoAnswerError:
        point = None
    spread = _spread(table, values, bound, program)
    return LocalLaw(
        bound, math.exp(sign * found.value), gap, digits, aim, spread, dict(values), point
    )


def _spread(
    table: TermTable, values: Values, bound: TangentBound, program: GeometricProgram
) -> Spread:
    """At which share of random points around the numbers the bound is still close."""
    box = box_around(values, SPREAD_FACTOR, program.domain)
    sign = -1 if program.inverse else 1
    powers = [float(bound.powers.exponent(a)) for a in table.atoms]
    number = float(sp.log(bound.constant))
    near = feasible = 0
    for parameters in box.sample(table.atoms, SPREAD_POINTS, program.domain):
        try:
            least = table.solve(table.offsets(parameters)).value
        except NoAnswerError:
            continue
        feasible += 1
        bounded = sign * (number + float(powers @ parameters))
        near += least - bounded <= math.log1p(SPREAD_SHARE)
    return Spread(near / feasible if feasible else 0.0, feasible)
