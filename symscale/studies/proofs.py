"""Certificates of answers to problems of one's own."""

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from symscale.algebra.bounds import Weights, condense
from symscale.algebra.certificate import Certificate
from symscale.algebra.geometric_program import GeometricProgram
from symscale.algebra.limit import Limit
from symscale.algebra.loglinear import solve
from symscale.algebra.monomial import Monomial
from symscale.algebra.points import certify, certify_at
from symscale.errors import FormulaError
from symscale.studies.problem_answer import ProblemAnswer, Values
from symscale.studies.witnesses import witness_of


def certificates(found: ProblemAnswer) -> list[Certificate]:
    """Certificates of all pieces, or, where there are sums, of those that can be proved.

    A closed form of sums is certified where each sum is divided in fixed proportions;
    if any is not, the loose bound's pieces are certified as well. A piece is left
    out if no parameters are known at which it rules.

    Raises:
        FormulaError: If no piece is left.
    """
    proofs = [] if found.bounds is None else _proofs_of_sums(found)
    if proofs and len(proofs) == len(found.pieces):
        return proofs
    return [*proofs, *_certificates_of_monomials(found)]


def _proofs_of_sums(answer: ProblemAnswer) -> list[Certificate]:
    """Certificates of closed forms of sums, by condensation with exact weights."""
    found = []
    for piece in answer.pieces:
        weights = fixed_proportions(answer.program, piece.point)
        if weights is None:
            continue
        condensed, parts = condense(
            answer.program, weights, sense=answer.problem.sense, title=answer.problem.title
        )
        limit = solve(condensed)
        for bound in limit.pieces:
            if not (bound.bound / Monomial.of(piece.expr)).is_one:
                continue
            point = {
                x: Monomial.of(piece.point[x]) for x in condensed.variables if x in piece.point
            }
            for x in set(condensed.variables) - set(point):  # what bounds the objective
                point[x] = bound.bound ** (-1 if answer.program.inverse else 1)
            proof = certify_at(limit, bound, point)
            if proof is not None:
                found.append(replace(proof, piece=piece.name, condensed=parts))
    return found


def _certificates_of_monomials(answer: ProblemAnswer) -> list[Certificate]:
    limit = answer.limit if answer.limit is not None else answer.bounds and answer.bounds.loose
    if not limit:
        raise FormulaError("there is nothing to certify")
    found = []
    for piece in limit.pieces:
        at = answer.values if answer.has_numbers and limit.ruling(answer.values) == piece else None
        witness = _only(at, limit) if at else witness_of(limit, piece)
        if witness is not None:
            found.append(certify(limit, piece, witness))
    if not found:
        raise FormulaError(
            "no parameters were found at which a piece rules; give numbers by --set"
        )
    return found


def fixed_proportions(
    program: GeometricProgram, point: Mapping[sp.Symbol, sp.Expr]
) -> dict[str, Weights] | None:
    """The shares of each sum's terms at a point, where they are the same for all parameters."""
    sums = {c.name: c.terms for c in program.constraints if len(c.terms) > 1}
    if len(program.objective) > 1:
        sums["objective"] = program.objective
    weights: dict[str, Weights] = {}
    for name, terms in sums.items():
        values = [t.expr.xreplace(dict(point)) for t in terms]
        try:
            ratios = [Monomial.of(v) / Monomial.of(values[0]) for v in values]
        except FormulaError:
            return None
        if any(r.free_symbols for r in ratios):
            return None
        parts = [sp.nsimplify(r.expr) for r in ratios]
        if not all(isinstance(p, sp.Rational) for p in parts):
            return None
        total = sum(parts, sp.Integer(0))
        weights[name] = tuple(sp.Rational(p / total) for p in parts)
    return weights


def _only(values: Values, limit: Limit) -> dict[sp.Symbol, sp.Rational]:
    return {s: values[s] for s in limit.program.parameters}
