"""Theorems about closed forms of sums: that nothing is better, and that some point is as good.

With `a_i` the exponents of the objective's terms, `w_i` their shares and `h_k` those of the
constraints that bind, an optimum has `sum_i w_i a_i + sum_k l_k h_k = 0`: each multiplier
`l_k` is a combination of the shares, and the piece's own requirements say that it is at
least zero. That the other constraints hold at the point is what its other requirements say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.algebra.certify.slacks import difference_of, given_of, premises_of, slack_of
from symscale.algebra.certify.statements import Proof, Reason
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.combinations import Terms, times
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.projection import SumPlace
from symscale.algebra.sums.recession import slope
from symscale.algebra.sums.sift import inside
from symscale.algebra.sums.values import Requirement, Signed
from symscale.errors import FormulaError
from symscale.kernel.problem import OBJECTIVE

Values = Mapping[sp.Symbol, sp.Rational]


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
    claim = SumClaim(program, piece)
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


class SumClaim:
    """A closed form and what of the program it uses."""

    def __init__(self, program: GeometricProgram, piece: SumPiece) -> None:
        self.program = program
        self.piece = piece
        self.binding = [c for c in program.constraints if c.name in piece.binding]

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
        least = self.piece.value**-1 if self.program.inverse else self.piece.value
        equal = {c.name for c in self.program.constraints if c.relation == "=="}
        for name, worth in self.piece.worth.items():
            terms = times(worth.terms, least**-1)
            if not terms:
                continue
            if all(self._is_number(m) for _, m in terms):
                found[name] = sp.Add(*(c * m.expr for c, m in terms))
                continue
            found[name] = (terms, () if name in equal else self._sign(worth, least))
        return found

    def _sign(self, worth: Signed, least: Monomial) -> Proof:
        """Why a multiplier is at least zero."""
        if not worth.negative:
            return ()
        premises = premises_of(self.piece.requirements, self.program.domain)
        proof = difference_of(worth.positive, worth.negative, premises)
        if proof is None:
            raise FormulaError("a multiplier is not shown to be positive")
        shared = worth.shared / least
        return tuple(replace(part, product=part.product * shared) for part in proof)

    def _is_number(self, monomial: Monomial) -> bool:
        """Whether it is a number, or a rational function of exponents."""
        return monomial.free_symbols <= set(self.program.domain.exponents) and all(
            e.is_Integer for _, e in monomial.powers
        )
