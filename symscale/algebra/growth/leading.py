"""The leading part of a quotient: the terms that do not vanish, and the proof for those that do.

Example:
    >>> from symscale.algebra.growth.paths import Growth, cone_of
    >>> from symscale.algebra.growth.quotient import quotient_of
    >>> from symscale.language.symbols import symbols
    >>> d, n = symbols("d_model n_ctx")
    >>> reader = Reader(cone_of(Growth((d,)), None), {})
    >>> reader.leading(quotient_of(18*d + 3*n)).expr
    18*d_model
    >>> reader.dropped[0].term, reader.dropped[0].because
    (1, (('d_model grows', 1),))
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import sign_over
from symscale.algebra.growth.crossing import Range
from symscale.algebra.growth.paths import Cone, Dominance, Vector
from symscale.algebra.growth.quotient import Quotient, Sum, from_terms
from symscale.errors import FormulaError, TooLargeError

MAX_SUM = 60  # terms of a sum that grow differently


@dataclass(frozen=True)
class Dropped:
    """A term that vanishes against the rest of its sum, and why.

    The product of the terms in `against`, each to the power of its weight, is the term
    times what stays above constants by `because`, likewise; one of the latter grows
    beyond all bounds. Weights are functions of the path's exponent where it has one.

    Attributes:
        full: The term.
        term: The same, constants left out.
        against: Terms of the sum and their weights, which add up to 1.
        because: Reasons, and the weights of what they say.
        where: For which values of the path's exponent, or None.
    """

    full: sp.Expr
    term: sp.Expr
    against: tuple[tuple[sp.Expr, sp.Expr], ...]
    because: tuple[tuple[str, sp.Expr], ...]
    where: Range | None = None


class Reader:
    """Finds the leading part of quotients, and notes what it dropped and supposed.

    Attributes:
        conditions: What must hold of constants for coefficients not to be zero.
        dropped: Terms that vanish.
    """

    def __init__(self, cone: Cone, lower: Mapping[sp.Symbol, sp.Rational]) -> None:
        """Read along the growth of a cone, with constants above least values."""
        self.cone, self.lower = cone, lower
        self.conditions: list[sp.Basic] = []
        self.dropped: list[Dropped] = []

    def leading(self, quotient: Quotient) -> Quotient:
        """Return the leading part: its quotient with the whole tends to 1.

        Raises:
            FormulaError: If terms in it may cancel, or the sign of a coefficient is open.
            TooLargeError: If a sum has more than MAX_SUM terms that grow differently.
        """
        result = Quotient(quotient.coefficient, quotient.head, ())
        for total, power in quotient.factors:
            result = result * self._part(total) ** power
        return result

    def _part(self, total: Sum) -> Quotient:
        """The terms of a sum that do not vanish, all of one sign."""
        groups: dict[Vector, list[tuple[Monomial, sp.Rational]]] = {}
        for monomial, coefficient in total.terms:
            groups.setdefault(self.cone.vector(monomial), []).append((monomial, coefficient))
        vectors = list(groups)
        if len(vectors) > MAX_SUM:
            raise TooLargeError(f"a sum has more than {MAX_SUM} terms that grow differently")
        gone = self.cone.vanishing(vectors)
        head, number, _ = total.whole
        for i, proof in gone.items():
            full = sp.Add(*(c / number * (m / head).expr for m, c in groups[vectors[i]]))
            self.dropped.append(self._certificate(full, head, vectors, i, proof))
        kept = [term for i, v in enumerate(vectors) if i not in gone for term in groups[v]]
        signs: dict[int, sp.Expr] = {}
        for i, vector in enumerate(vectors):
            if i not in gone:
                part = sp.Add(*(c * m.expr for m, c in groups[vector]))
                signs.setdefault(self._sign(groups[vector], total), part)
        if len(signs) > 1:
            raise FormulaError(
                f"{signs[1]} and {signs[-1]} may cancel in {total.whole[2]}: neither vanishes "
                "against the rest; say how their symbols grow"
            )
        return from_terms(kept)

    def _sign(self, terms: list[tuple[Monomial, sp.Rational]], total: Sum) -> int:
        """The sign of a coefficient; notes the condition where it may also be zero."""
        if all(c > 0 for _, c in terms):
            return 1
        if all(c < 0 for _, c in terms):
            return -1
        factor = from_terms((m.split(self.cone.symbols)[1], c) for m, c in terms)
        coefficient = factor.factors[0][0].whole[2]
        outer = 1 if factor.coefficient > 0 else -1
        try:
            sign = sign_over(coefficient, self.lower)
        except FormulaError:
            raise FormulaError(
                f"the sign of {coefficient}, a coefficient in {total.whole[2]}, is open; "
                "say how its symbols grow"
            ) from None
        bounds: Any = {s: b for s, b in self.lower.items() if s in coefficient.free_symbols}
        if coefficient.xreplace(bounds) == 0:
            parts = [t if sign > 0 else -t for t in sp.Add.make_args(coefficient)]
            above = sp.Add(*(t for t in parts if not t.could_extract_minus_sign()))
            below = sp.Add(*(-t for t in parts if t.could_extract_minus_sign()))
            self.conditions.append(sp.Gt(above, below, evaluate=False))
        return outer * sign

    def _certificate(
        self, full: sp.Expr, head: Monomial, vectors: list[Vector], i: int, proof: Dominance
    ) -> Dropped:
        """The proof that a term vanishes, with weights exact along the path's exponent."""
        shares = [k for k, share in enumerate(proof.shares) if share]
        weights = [k for k, weight in enumerate(proof.weights) if weight]
        if self.cone.exponent is None:
            numbers = [*(proof.shares[k] for k in shares), *(proof.weights[k] for k in weights)]
            found: list[sp.Expr] = [sp.Rational(x.numerator, x.denominator) for x in numbers]
        else:
            columns = [(*vectors[k], sp.Integer(1)) for k in shares]
            columns += [(*(-x for x in self.cone.rows[k].exact), sp.Integer(0)) for k in weights]
            found = _solved(columns, (*vectors[i], sp.Integer(1)))
        common = self.cone.vector(head)
        return Dropped(
            full,
            self._expr(vectors[i], common),
            tuple((self._expr(vectors[k], common), found[j]) for j, k in enumerate(shares)),
            tuple((self.cone.rows[k].reason, found[len(shares) + j])
                  for j, k in enumerate(weights)),
        )  # fmt: skip

    def _expr(self, vector: Vector, common: Vector) -> sp.Expr:
        powers = (x - y for x, y in zip(vector, common, strict=True))
        return Monomial.from_powers(dict(zip(self.cone.symbols, powers, strict=True))).expr


def _solved(columns: list[tuple[sp.Expr, ...]], target: tuple[sp.Expr, ...]) -> list[sp.Expr]:
    """The weights with which independent columns add up to a target."""
    rows = [[*entries, goal] for *entries, goal in zip(*columns, target, strict=True)]
    for i in range(len(columns)):
        pivot = next(k for k in range(i, len(rows)) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [sp.cancel(x / rows[i][i]) for x in rows[i]]
        for k, row in enumerate(rows):
            if k != i and row[i] != 0:
                rows[k] = [sp.cancel(x - row[i] * y) for x, y in zip(row, rows[i], strict=True)]
    return [rows[k][-1] for k in range(len(columns))]
