"""Theorems about the bounds that enclose a problem with sums, stated of that problem itself.

No point is better than a piece of the loose bound: a sum is at least the weighted mean of
some of its terms. And where the tight problem is feasible its points are feasible, and no
worse than its optimum: k times each term is at most 1.
"""

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from symscale.algebra.certify.slacks import gap_of
from symscale.algebra.certify.statements import Proof, Reason, at_most_one, is_one
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.limit import Condition, Limit, Piece, premises_of
from symscale.algebra.products.points import points_in
from symscale.algebra.products.witness import witness_of
from symscale.algebra.sums.bounds import Bounds
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError
from symscale.kernel.problem import OBJECTIVE

_UNIT = sp.Integer(1)


def write_bounds(
    writer: CertificateWriter, program: GeometricProgram, bounds: Bounds
) -> list[str]:
    """Write what the enclosing bounds say of a program; return what could not be written."""
    missing: list[str] = []
    for piece in bounds.loose.pieces:
        try:
            _write_loose(writer, program, bounds.loose, piece)
        except FormulaError:
            missing.append(_better(program, piece))
    for piece in () if bounds.nowhere else bounds.tight.pieces:
        try:
            _write_tight(writer, program, bounds.tight, piece)
        except FormulaError:
            missing.append(_reached(piece))
    return missing


def _better(program: GeometricProgram, piece: Piece) -> str:
    return f"{'no more than' if program.inverse else 'no less than'} {piece.name}"


def _reached(piece: Piece) -> str:
    return f"some point reaches {piece.name}"


def _write_loose(
    writer: CertificateWriter, program: GeometricProgram, limit: Limit, piece: Piece
) -> None:
    witness = witness_of(limit, piece)
    if witness is None:
        raise FormulaError("no parameters are known")
    cost = ONE
    multipliers: dict[str, sp.Expr] = {}
    weights: dict[str, list[Monomial | None]] = {}
    for name, terms in _sums(program):
        shares = _shares(piece, name, len(terms), objective=name == OBJECTIVE)
        power = sp.Add(*shares)
        if power == 0:
            continue
        if name != OBJECTIVE:
            multipliers[name] = power
        if len(terms) > 1:
            parts = [sp.cancel(s / power) for s in shares]
            if not all(p.is_Rational for p in parts):
                raise FormulaError("the weights depend on exponents")
            weights[name] = [Monomial.of(p) if p != 0 else None for p in parts]
            terms = tuple(t / Monomial.of(p) if p != 0 else t
                          for t, p in zip(terms, parts, strict=True))
        for term, share in zip(terms, shares, strict=True):
            cost = cost * term**share
    value = cost**-1 if program.inverse else cost
    name = _better(program, piece)
    writer.bound(name, value, multipliers, (), witness, weights=weights)


def _sums(program: GeometricProgram) -> list[tuple[str, tuple[Monomial, ...]]]:
    return [(OBJECTIVE, program.objective), *((c.name, c.terms) for c in program.constraints)]


def _shares(piece: Piece, name: str, count: int, *, objective: bool) -> list[sp.Expr]:
    """The powers of a sum's terms in the product that is the piece's bound."""
    if count == 1:
        return [_UNIT if objective else piece.multipliers.get(name, sp.Integer(0))]
    names = (f"{name} [{k}]" for k in range(1, count + 1))
    return [piece.multipliers.get(n, sp.Integer(0)) for n in names]


def _write_tight(
    writer: CertificateWriter, program: GeometricProgram, limit: Limit, piece: Piece
) -> None:
    points = points_in(limit.points[piece.name])
    for number, point in enumerate(points, 1):
        extra = [Condition(m) for m in point.conditions]
        conditions = list({c.name: c for c in (*extra, *piece.region)}.values())
        hypotheses = [
            is_one(c.primitive, c.name) if c.equal else at_most_one(c.primitive, name=c.name)
            for c in conditions
        ]
        premises = premises_of(conditions, program.domain)
        witness = point.witness if extra else witness_of(limit, piece)
        if witness is None:
            raise FormulaError("no parameters are known")
        at = {x: point.values[x] for x in program.variables}
        slacks: dict[str, Reason] = {}
        for c in program.constraints:
            if c.relation == "<=":
                proof = _below([t.substitute(at) for t in c.terms], ONE, premises)
                if proof:
                    slacks[c.name] = proof
        cost = piece.bound**-1 if program.inverse else piece.bound
        gap = _below([t.substitute(at) for t in program.objective], cost, premises)
        label = _reached(piece) + (f" ({number})" if len(points) > 1 else "")
        writer.feasible(label, piece.bound, at, slacks, gap, hypotheses, witness)


def _below(terms: Sequence[Monomial], most: Monomial, premises: Premises) -> Proof:
    """Why a sum of k terms is at most a monomial: k times each term is.

    Raises:
        FormulaError: If that is not shown.
    """
    share = most / Monomial.of(len(terms))
    found: Proof = ()
    for term in terms:
        proof = gap_of(term / share, premises)
        if proof is None:
            raise FormulaError("a term is not shown to be small enough")
        found += tuple(replace(part, product=part.product * share) for part in proof)
    return found
