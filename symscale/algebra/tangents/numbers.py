"""The dimensionless numbers that decide an optimum, however many parameters it has.

With `c_i` the coefficients of a program's terms and `a_i` the exponents of its variables, the
variables and the objective may be measured in any product of the parameters. What no such
choice changes are the products `prod c_i**n_i` with `sum n_i a_i = 0` whose powers `n_i` sum
to 0 over the objective: as many of them are independent as numbers decide the problem, and

    optimum = product of powers of the parameters * F(K_1, .., K_D).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import sympy as sp

from symscale.algebra.exact.elimination import echelon
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.scalars import Rationals, Scalars, field_to_expr, scalars_for
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.recession import reduce

_MOST_TRIED = 400  # choices of parameters that a number may leave out
_LARGEST_WHOLE = 12  # power up to which numbers are given whole powers
Vector = tuple[Any, ...]


@dataclass(frozen=True)
class Scaling:
    """What decides an optimum: `optimum = front * F(numbers)`.

    Attributes:
        front: The product of powers in front.
        numbers: The dimensionless numbers; none where the optimum is a number times `front`.
        gauge: In what each variable is measured so that nothing else decides the program.
    """

    front: Monomial
    numbers: tuple[Monomial, ...]
    gauge: Mapping[sp.Symbol, Monomial]


def scaling_of(program: GeometricProgram, *, whole: bool = False) -> Scaling | None:
    """Find the dimensionless numbers of a program; None where nothing bounds its objective.

    Args:
        program: The program.
        whole: Whether to keep the terms that vanish for ever as variables run away.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.language.symbols import symbols
        >>> x, a, b, c = symbols("N J K L")
        >>> terms = Monomial.of(a/x), Monomial.of(b*x), Monomial.of(c)
        >>> found = scaling_of(GeometricProgram((x,), terms, (), Domain()))
        >>> found.front.expr, [k.expr for k in found.numbers]
        (L, [J*K/L**2])
    """
    program = program if whole else reduce(program).program
    return _Rescaling(program).found() if program.objective else None


class _Rescaling:
    """The linear algebra of exponents behind it."""

    def __init__(self, program: GeometricProgram) -> None:
        self.program = program
        rows = [(t, True) for t in program.objective]
        rows += [(t, False) for c in program.constraints for t in c.terms]
        coefficients = [t.split(program.variables)[1] for t, _ in rows]
        self.atoms = tuple(sorted({a for c in coefficients for a in c.atoms}, key=str))
        self.scalars: Scalars = scalars_for(program.exponent_symbols, program.domain)
        self.one: Any = self.scalars.convert(sp.Integer(1))
        self.zero = self.one - self.one
        convert = self.scalars.convert
        # The objective's own scale is one more variable: first, so that it is a pivot.
        self.scales = [
            [self.one if first else self.zero]
            + [convert(t.exponent(x)) for x in program.variables] for t, first in rows
        ]
        self.powers = [[convert(c.exponent(a)) for a in self.atoms] for c in coefficients]

    def found(self) -> Scaling | None:
        """The front, the numbers, the gauge."""
        form = echelon(self.scales, self.one)
        if 0 not in form.pivots or any(form.rows[form.pivots.index(0)][1:]):
            return None  # the variables alone can take the objective to any value
        units = {
            pivot: self._combined(operation, self.powers)
            for pivot, operation in zip(form.pivots, form.operations, strict=True)
        }
        raw = [self._combined(n, self.powers) for n in form.null_operations]
        numbers = self._basis([v for v in raw if any(v)])
        front = self._front(units[0], numbers)
        sign = -self.one if self.program.inverse else self.one
        gauge = {
            x: self._monomial([-u for u in units[k]]) if k in units else Monomial(())
            for k, x in enumerate(self.program.variables, 1)
        }
        return Scaling(
            self._monomial([sign * e for e in front]),
            tuple(self._monomial(v) for v in numbers), gauge,
        )

    def _combined(self, weights: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Vector:
        total = [self.zero] * (len(rows[0]) if rows else len(self.atoms))
        for w, row in zip(weights, rows, strict=True):
            if w:
                total = [t + w * e if e else t for t, e in zip(total, row, strict=True)]
        return tuple(total)

    def _monomial(self, powers: Sequence[Any]) -> Monomial:
        return Monomial.from_powers({
            a: field_to_expr(self.scalars, e)
            for a, e in zip(self.atoms, powers, strict=True) if e
        })

    def _basis(self, rows: Sequence[Vector]) -> list[Vector]:
        """Independent combinations with few parameters and small whole powers."""
        form = echelon(rows, self.one)
        candidates = [tuple(row) for row in form.rows]
        size = len(candidates)
        for columns in self._left_out(candidates, size - 1):
            inner = echelon([[row[k] for k in columns] for row in candidates[:size]], self.one)
            if len(inner.null_operations) == 1:
                candidates.append(self._combined(inner.null_operations[0], candidates[:size]))
        chosen: list[Vector] = []
        for v in sorted(dict.fromkeys(map(self._tidy, candidates)), key=self._complexity):
            if len(echelon([*chosen, v], self.one).rows) > len(chosen):
                chosen.append(v)
        return chosen

    def _left_out(self, rows: Sequence[Vector], count: int) -> Iterator[tuple[int, ...]]:
        """Choices of parameters, those that always stand together counted once."""
        groups: dict[Any, int] = {}
        for k in range(len(self.atoms)):
            column = [row[k] for row in rows]
            first = next((x for x in column if x), None)
            if first is not None:
                groups.setdefault(tuple(x / first for x in column), k)
        choices = combinations(groups.values(), count) if count > 0 else iter(())
        return islice(choices, _MOST_TRIED)

    def _front(self, front: Vector, numbers: Sequence[Vector]) -> Vector:
        """The front times powers of the numbers that leaves fewest parameters in it."""
        best = front
        for columns in self._left_out(numbers, len(numbers)):
            square = [[row[k] for k in columns] for row in numbers]
            form = echelon([*square, [front[k] for k in columns]], self.one)
            operation = form.null_operations[0]
            if operation[-1]:
                scaled = [w / operation[-1] for w in operation]
                best = min(best, self._combined(scaled, [*numbers, front]), key=self._complexity)
        return best

    def _tidy(self, vector: Vector) -> Vector:
        """With whole powers if they are small, else a power 1; more of them above than below."""
        if any(not isinstance(x, int) and not hasattr(x, "denominator") for x in vector):
            first = next(x for x in vector if x)
            return tuple(x / first for x in vector)
        scale = math.lcm(*(x.denominator for x in vector))
        divisor = math.gcd(*(int(x * scale) for x in vector))
        whole = [x * scale / divisor for x in vector]
        if max(map(abs, whole)) > _LARGEST_WHOLE:
            sizes = [abs(x) for x in whole if x]
            usual = max(sorted(set(sizes)), key=sizes.count)
            whole = [x / usual for x in whole]
        above = sum(x > 0 for x in whole) - sum(x < 0 for x in whole)
        first = next(x for x in whole if x)
        sign = -1 if (above, first) < (0, 0) else 1
        return tuple(sign * x for x in whole)

    def _complexity(self, vector: Vector) -> tuple[Any, ...]:
        """How hard a product is to read."""
        used = [field_to_expr(self.scalars, x) for x in vector if x]
        if any(e.free_symbols for e in used):
            return len(used), 1, len(str(used)), str(used)
        exact = [Rationals().convert(e) for e in used]
        sizes = [abs(e.numerator) + e.denominator - 1 for e in exact]
        names = [str(a) for a, x in zip(self.atoms, vector, strict=True) if x]
        return len(used), 0, sum(sizes), names
