"""Theorems about closed forms of sums: that nothing is better, and that some point is as good.

With `a_i` the exponents of the objective's terms, `w_i` their shares and `h_k` those of the
constraints that bind, an optimum has `sum_i w_i a_i + sum_k l_k h_k = 0`: each multiplier
`l_k` is a combination of the shares, and the piece's own requirements say that it is at
least zero. That the other constraints hold at the point is what its other requirements say.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.certify.slacks import difference_of, given_of, premises_of, slack_of
from symscale.algebra.certify.statements import Proof, Reason
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.combinations import Terms, without_rational
from symscale.algebra.exact.elimination import Echelon, echelon
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.scalars import Scalars, field_to_expr, scalars_for
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.projection import SumPlace
from symscale.algebra.sums.recession import slope
from symscale.algebra.sums.sift import inside
from symscale.algebra.sums.stationary import positive_number
from symscale.algebra.sums.values import Requirement, total
from symscale.errors import FormulaError
from symscale.kernel.problem import OBJECTIVE

Values = Mapping[sp.Symbol, sp.Rational]
_UNIT = sp.Integer(1)


def write_piece(
    writer: CertificateWriter,
    program: GeometricProgram,
    piece: SumPiece,
    name: str,
    values: Values | None = None,
) -> list[str]:
    """Write the theorems of a closed form; return their names.

    Args:
        writer: What they are written to.
        program: The program.
        piece: The closed form.
        name: Its name.
        values: Parameters strictly within its region, if some are known.

    Raises:
        FormulaError: If no parameters within are known, or the format has no such thing.
    """
    witness = values if values is not None else piece.witness
    if witness is None:
        raise FormulaError(f"no parameters are known at which {name!r} rules")
    claim = _Claim(program, piece)
    region = [given_of(r) for r in piece.requirements]
    proved = claim.multipliers()
    first = piece.places[0]
    weights = {n: w for n, w in claim.weights(first).items() if n == OBJECTIVE or n in proved}
    if piece.status == "infimum":
        writer.infimum(
            name, piece.value, proved, piece.direction, first.values,
            claim.slacks(first, piece.requirements), region, witness,
            weights=weights, at=first.values, shrink=piece.shrink,
        )
        return [name]
    names = [f"{name}: no less" if not program.inverse else f"{name}: no more"]
    writer.bound(
        names[0], piece.value, proved, region, witness, weights=weights, at=first.values
    )
    for k, place in enumerate(piece.places, 1):
        names.append(name if len(piece.places) == 1 else f"{name} ({k})")
        extra = [given_of(r) for r in place.requirements]
        requirements = (*piece.requirements, *place.requirements)
        at = witness if not extra else _inside(program, requirements, witness)
        writer.attained(
            names[-1], piece.value, place.values, claim.slacks(place, requirements),
            [*region, *extra], at,
        )
    return names


def _inside(
    program: GeometricProgram, requirements: Sequence[Requirement], near: Values
) -> Values:
    if all(r.relation == "==" or r.ratio.compare_one(near) < 0 for r in requirements):
        return near
    found, _ = inside(requirements, program)
    if found is None:
        raise FormulaError("no parameters are known at which a point is optimal")
    return found


class _Claim:
    """A closed form and what of the program it uses."""

    def __init__(self, program: GeometricProgram, piece: SumPiece) -> None:
        self.program = program
        self.piece = piece
        self.binding = [c for c in program.constraints if c.name in piece.binding]
        self.scalars: Scalars = scalars_for(program.exponent_symbols, program.domain)
        self.at = piece.places[0].values

    def kept(self, terms: Sequence[Monomial]) -> list[Monomial]:
        """The terms that do not vanish as an infimum is approached."""
        return [t for t in terms if not self.lost(t)]

    def lost(self, term: Monomial) -> bool:
        """Whether a term vanishes along the direction."""
        return slope(term, self.piece.direction) != 0 if self.piece.direction else False

    def weights(self, place: SumPlace) -> dict[str, list[Monomial | None]]:
        """The shares of the sums' terms at the point; None for those that vanish."""
        value = self.piece.value**-1 if self.program.inverse else self.piece.value
        found: dict[str, list[Monomial | None]] = {}
        if len(self.program.objective) > 1:
            found[OBJECTIVE] = [
                None if self.lost(t) else t.substitute(place.values) / value
                for t in self.program.objective
            ]
        for c in self.binding:
            if len(c.terms) > 1:
                found[c.name] = [
                    None if self.lost(t) else t.substitute(place.values) for t in c.terms
                ]
        return found

    def slacks(self, place: SumPlace, requirements: Sequence[Requirement]) -> dict[str, Reason]:
        """Why each constraint holds at the point where it is not tight there."""
        found: dict[str, Reason] = {}
        premises = premises_of(requirements, self.program.domain)
        for c in self.program.constraints:
            if c.relation == "==":
                continue
            terms = self.kept(c.terms)
            reason = slack_of([t.substitute(place.values) for t in terms], premises)
            if reason is not None:
                found[c.name] = reason
        return found

    def multipliers(self) -> dict[str, sp.Expr | tuple[Terms, Proof]]:
        """The power of each constraint that binds, with a proof that it is not below zero."""
        found: dict[str, sp.Expr | tuple[Terms, Proof]] = {}
        table = self._combinations()
        equal = {c.name for c in self.program.constraints if c.relation == "=="}
        for name, parts in table.items():
            kept = [(e, m) for m, e in parts.items() if e != 0]
            if not kept:
                continue
            if len(kept) == 1 and kept[0][1].is_one:
                found[name] = kept[0][0]
                continue
            found[name] = (tuple(kept), () if name in equal else self._sign(kept))
        return found

    def _sign(self, terms: Sequence[tuple[sp.Expr, Monomial]]) -> Proof:
        """Why a combination of shares is at least zero."""
        signs = [self.program.domain.sign(e) for e, _ in terms]
        sides: tuple[list[Monomial], list[Monomial]] = ([], [])
        for (e, m), sign in zip(terms, signs, strict=True):
            sides[sign < 0].append(positive_number(sign * e) * m)
        positive, negative = sides
        if not negative:
            return ()
        premises = premises_of(self.piece.requirements, self.program.domain)
        proof = difference_of(positive, negative, premises)
        if proof is None:
            raise FormulaError("a multiplier is not shown to be positive")
        return proof

    def _combinations(self) -> dict[str, dict[Monomial, sp.Expr]]:
        """Each multiplier as a combination of monomials."""
        shares = self.weights(self.piece.places[0])
        chosen = self._chosen()
        sums = [c for c in self.binding if c not in chosen]
        form = echelon([self._row(self._varying(c)[0]) for c in chosen], self._one)
        parts: list[tuple[Terms, list[Any]]] = []
        given = shares.get(OBJECTIVE, [ONE])
        for term, share in zip(self.program.objective, given, strict=True):
            if share is not None:
                parts.append((((_UNIT, share),), self._row(term)))
        found: dict[str, dict[Monomial, sp.Expr]] = {}
        for c in sums:
            varying = self._varying(c)
            power = self._power_of_sum([self._row(t) for t in varying], form)
            room = self._room(c)
            found[c.name] = {room**-1: power}
            parts += [(((power, t.substitute(self.at) / room),), self._row(t)) for t in varying]
        for position, c in enumerate(chosen):
            table: dict[Monomial, sp.Expr] = {}
            room = self._room(c)
            for terms, exponents in parts:
                _, used = form.reduce(exponents)
                for factor, share in terms:
                    number, key = without_rational(share / room)
                    weight = -number * factor * field_to_expr(self.scalars, used[position])
                    table[key] = sp.cancel(table.get(key, sp.Integer(0)) + weight)
            found[c.name] = table
        return found

    @property
    def _one(self) -> Any:
        return self.scalars.convert(_UNIT)

    def _row(self, term: Monomial) -> list[Any]:
        return [self.scalars.convert(term.exponent(x)) for x in self.program.variables]

    def _varying(self, c: SumConstraint) -> list[Monomial]:
        """The terms that contain variables and do not vanish."""
        return [t for t in self.kept(c.terms) if t.split(self.program.variables)[0].powers]

    def _room(self, c: SumConstraint) -> Monomial:
        """What a sum's constant terms leave for the others."""
        constants = [t for t in self.kept(c.terms)
                     if not t.split(self.program.variables)[0].powers]
        return total([ONE], constants) if constants else ONE

    def _chosen(self) -> list[SumConstraint]:
        """Equalities of which none follows from others, and what binds as one product."""
        chosen: list[SumConstraint] = []
        for c in self.program.constraints:
            if c.relation == "==":
                rows = [self._row(k.terms[0]) for k in (*chosen, c)]
                if not echelon(rows, self._one).null_operations:
                    chosen.append(c)
        for c in self.binding:
            powers = {t.split(self.program.variables)[0] for t in self._varying(c)}
            if len(powers) == 1:
                chosen.append(c)
        return chosen

    def _power_of_sum(self, terms: list[list[Any]], form: Echelon) -> sp.Expr:
        """The multiplier of the sum that binds: its shares add up to 1 whatever they are."""
        distinct = [list(row) for row in dict.fromkeys(map(tuple, terms))]
        reduced = [form.reduce(t)[0] if form.operations else t for t in distinct]
        unique = [list(row) for row in dict.fromkeys(map(tuple, reduced))]
        inner = echelon(unique, self._one)
        objective = self._row(self.kept(self.program.objective)[0])
        rest = form.reduce(objective)[0] if form.operations else objective
        _, used = inner.reduce(rest)
        return field_to_expr(self.scalars, -sum(used[1:], used[0]))
