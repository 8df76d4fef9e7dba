"""A program in the numbers that decide it: everything else is a matter of units."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.scalars import Rationals
from symscale.algebra.sums.recession import reduce
from symscale.algebra.tangents.convex import Array, Solution, TermTable
from symscale.algebra.tangents.numbers import Scaling, scaling_of
from symscale.errors import NoAnswerError

Point = Mapping[sp.Symbol, Monomial]
_ROOM = 1e-7  # by which sums stay below 1 at a point, in logarithms
_ROOM_OF_CORNERS = 3e-6  # at the corners of a box, which have fewer digits
_VANISHED = 25.0  # a term of e^-25 is nothing beside that room
Place = tuple[Fraction, ...]
"""A corner of a box: for each number where it is between its ends, 0 to 1 in logarithms."""


@dataclass(frozen=True)
class NormalForm:
    """A program measured in its own units: only the dimensionless numbers are left.

    Attributes:
        table: The program's terms.
        scaling: The numbers, the product in front, the variables' units.
        exponents: Of each term the powers of the numbers.
    """

    table: TermTable
    scaling: Scaling
    exponents: tuple[tuple[Fraction, ...], ...]

    @cached_property
    def slopes(self) -> Array:
        """The exponents in floats."""
        rows = [[float(e) for e in row] for row in self.exponents]
        return np.array(rows).reshape(len(rows), len(self.scaling.numbers))

    def logarithms(self, parameters: Array) -> Array:
        """The logarithms of the numbers at logarithms of the parameters."""
        powers = [[float(k.exponent(a)) for a in self.table.atoms] for k in self.scaling.numbers]
        shape = len(self.scaling.numbers), len(self.table.atoms)
        return np.asarray(parameters @ np.array(powers).reshape(shape).T)

    def offsets(self, numbers: Array) -> Array:
        """The logarithms of the coefficients at logarithms of the numbers."""
        return np.asarray(self.table.numbers + self.slopes @ numbers)

    def solve(self, numbers: Array) -> Solution:
        """The optimum at logarithms of the numbers.

        Raises:
            InfeasibleError: If no point satisfies the constraints there.
            NoAnswerError: If the search does not converge.
        """
        return self.table.solve(self.offsets(numbers))

    def point(self, numbers: Array, exactly: Sequence[Monomial]) -> Point:
        """A feasible point at some numbers, in the variables' own units.

        Args:
            numbers: Their logarithms.
            exactly: The numbers themselves, as products of powers of whole numbers.

        Raises:
            NoAnswerError: If none is known.
        """
        coefficients = []
        for term, row in zip(self.table.terms, self.exponents, strict=True):
            value = term.coefficient
            for number, power in zip(exactly, row, strict=True):
                value = value * number ** sp.Rational(power.numerator, power.denominator)
            coefficients.append(value)
        return feasible_point(
            self.table, self.offsets(numbers), coefficients, _ROOM_OF_CORNERS
        )


def normal_form(table: TermTable) -> NormalForm:
    """Write a program in the numbers that decide it.

    Raises:
        NoAnswerError: If nothing bounds its objective.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.algebra.sums.program import GeometricProgram
        >>> from symscale.language.symbols import symbols
        >>> x, a, b, c = symbols("N J K L")
        >>> terms = Monomial.of(a/x), Monomial.of(b*x), Monomial.of(c)
        >>> form = normal_form(TermTable(GeometricProgram((x,), terms, (), Domain())))
        >>> form.scaling.numbers[0].expr, [str(row[0]) for row in form.exponents]
        (J*K/L**2, ['1/2', '1/2', '0'])
    """
    program = table.program
    scaling = scaling_of(program, whole=True)
    if scaling is None:
        raise NoAnswerError("nothing bounds the objective")
    front = scaling.front**-1 if program.inverse else scaling.front
    atoms = table.atoms

    def row(monomial: Monomial) -> list[Fraction]:
        return [Rationals().convert(monomial.exponent(a)) for a in atoms]

    form = echelon([row(k) for k in scaling.numbers], Fraction(1))
    exponents = []
    for k, term in enumerate(table.terms):
        own, coefficient = term.split(program.variables)
        for x, gauge in scaling.gauge.items():
            coefficient = coefficient * gauge ** own.exponent(x)
        left, used = form.reduce(row(coefficient / front if table.which[k] == 0 else coefficient))
        if any(left):
            raise NoAnswerError("the program is not decided by its dimensionless numbers")
        exponents.append(tuple(used))
    return NormalForm(table, scaling, tuple(exponents))


def feasible_point(
    table: TermTable, offsets: Array, coefficients: list[Monomial], room: float = _ROOM
) -> Point:
    """A point that satisfies every constraint exactly, nearly as good as the optimum.

    Args:
        table: The program's terms.
        offsets: Logarithms of the coefficients.
        coefficients: The coefficients, as products that equalities are solved with.
        room: By which sums stay below 1, in logarithms.

    Raises:
        InfeasibleError: If no point leaves that much room.
        NoAnswerError: If the search does not converge.
    """
    tighter = np.where(table.free | (table.which == 0), offsets, offsets + room)
    x = _far_enough(table, tighter, table.solve(tighter).point)
    variables = table.program.variables
    digits = 1 - math.ceil(math.log10(room))
    found = {
        v: Monomial.of(sp.Rational(f"{np.exp(t):.{digits}e}"))
        for v, t in zip(variables, x, strict=True)
    }
    ties = [table.program.constraints[s - 1].terms[0] for s in table.equalities]
    rows = [[Rationals().convert(t.exponent(v)) for v in variables] for t in ties]
    form = echelon(rows, Fraction(1))
    sides = [coefficients[table.starts[s]] for s in table.equalities]
    for row, pivot, operation in zip(form.rows, form.pivots, form.operations, strict=True):
        value = Monomial(())
        for w, side in zip(operation, sides, strict=True):
            value = value * side ** sp.Rational(-w.numerator, w.denominator)
        for k, power in enumerate(row):
            if power and k != pivot:
                value = value * found[variables[k]] ** sp.Rational(
                    -power.numerator, power.denominator
                )
        found[variables[pivot]] = value
    return found


def _far_enough(table: TermTable, offsets: Array, x: Array) -> Array:
    """A point moved along the direction in which terms vanish until they do not matter."""
    direction = reduce(table.program).direction
    if not direction:
        return x
    way = np.array([float(direction.get(v, 0)) for v in table.program.variables])
    slopes = table.slopes @ way
    falling = slopes < 0
    logs = table.slopes @ x + offsets
    needed = (logs[falling] + _VANISHED) / -slopes[falling]
    return np.asarray(x + max(0.0, float(needed.max(initial=0.0))) * way)
