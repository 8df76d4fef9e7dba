"""Certificates of answers to problems of one's own."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symscale.algebra.certify.enclosures import write_bounds
from symscale.algebra.certify.limits import theorems_of
from symscale.algebra.certify.products import certify, certify_at
from symscale.algebra.certify.sums import NowhereError, certify_sums
from symscale.algebra.certify.theorems_of_sums import write_piece
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.algebra.products.witness import witness_of
from symscale.algebra.sums.bounds import Weights, condense
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError, SymscaleError
from symscale.kernel.certificate import Certificate
from symscale.kernel.check import check
from symscale.kernel.checker import AnyCertificate
from symscale.kernel.checker import check as check_old
from symscale.kernel.sum_certificate import SumCertificate
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece, Values


@dataclass(frozen=True)
class Proofs:
    """What can be proved about an answer.

    Attributes:
        certificates: The certificates.
        missing: The closed forms among the pieces that have none.
        loose: Whether there are certificates of the loose bound, in which every sum is
            replaced by its largest term.
    """

    certificates: tuple[AnyCertificate, ...]
    missing: tuple[str, ...] = ()
    loose: bool = False


def certificates(found: ProblemAnswer) -> list[AnyCertificate]:
    """The certificates of an answer; see `prove`.

    Raises:
        FormulaError: If there are none.
    """
    return list(prove(found).certificates)


def prove(found: ProblemAnswer) -> Proofs:
    """Certify each piece, except closed forms of sums that rule nowhere.

    Where closed forms of sums are missing, or could not be certified, or do not cover
    all parameters, the loose bound's pieces are certified as well. One of these is left
    out if no parameters are known at which it rules.

    Raises:
        FormulaError: If nothing is left.
    """
    if found.bounds is None:
        return Proofs(tuple(_certificates_of_monomials(found)))
    proofs: list[AnyCertificate] = []
    missing: list[str] = []
    for piece in found.pieces:
        try:
            proofs.append(_of_closed_form(found, piece))
        except NowhereError:
            continue
        except SymscaleError:
            missing.append(piece.name)
    if not proofs:
        return Proofs(tuple(_certificates_of_monomials(found)), tuple(missing), loose=True)
    if missing or not found.complete:
        with suppress(SymscaleError):
            loose = _certificates_of_monomials(found)
            return Proofs((*proofs, *loose), tuple(missing), loose=True)
    return Proofs(tuple(proofs), tuple(missing))


def _of_closed_form(found: ProblemAnswer, piece: AnswerPiece) -> AnyCertificate:
    """A product of monomials where that is enough, else a certificate of sums."""
    with suppress(SymscaleError):
        proof = _of_fixed_proportions(found, piece)
        if proof is not None:
            check_old(proof)
            return proof
    sums = _of_sums(found, piece)
    check_old(sums)  # that form has no words for an infimum
    return sums


def _of_sums(found: ProblemAnswer, piece: AnswerPiece) -> SumCertificate:
    return certify_sums(
        found.program, piece.name, piece.binding, piece.expr, piece.point,
        [(left, right) for left, right, _ in piece.conditions],
        found.values if found.ruling is piece else None,
    )


def _of_fixed_proportions(found: ProblemAnswer, piece: AnswerPiece) -> Certificate | None:
    """The certificate of a closed form whose sums are divided alike for all parameters.

    It is a product of monomials: each sum is condensed with numbers as weights.
    """
    weights = fixed_proportions(found.program, piece.point)
    if weights is None:
        return None
    condensed, parts = condense(
        found.program, weights, sense=found.problem.sense, title=found.problem.title
    )
    limit = solve(condensed)
    for bound in limit.pieces:
        if not (bound.bound / Monomial.of(piece.expr)).is_one:
            continue
        point = {x: Monomial.of(piece.point[x]) for x in condensed.variables if x in piece.point}
        for x in set(condensed.variables) - set(point):  # what bounds the objective
            point[x] = bound.bound ** (-1 if found.program.inverse else 1)
        proof = certify_at(limit, bound, point)
        if proof is not None:
            return replace(proof, piece=piece.name, condensed=parts)
    return None


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


@dataclass(frozen=True)
class AnswerTheorems:
    """The theorems about an answer, as one file's data, those only that the kernel shows.

    Attributes:
        data: What `symscale check` reads; None where no theorem was shown.
        shown: The sentences that the kernel makes of them, by the theorem's name.
        missing: The pieces of which no theorem was shown.
    """

    data: Mapping[str, Any] | None
    shown: Mapping[str, str]
    missing: tuple[str, ...]


def theorems(found: ProblemAnswer) -> AnswerTheorems:
    """Write all theorems about an answer, and check them.

    Of a closed form of sums: that nothing is better and that its points attain it, in all
    of its region, or that it is an infimum. Of the enclosing bounds, where closed forms are
    missing: that nothing is better than each piece of the loose one, and that each piece of
    the tight one is reached.

    Example:
        >>> from symscale.language.symbols import Notation
        >>> from symscale.problems.answer import answer
        >>> from symscale.problems.problem import Problem, ProblemSymbol
        >>> x, M, t_c = (ProblemSymbol(Notation(n, "s", n, n)) for n in ("x", "M", "t_c"))
        >>> young = Problem("Checkpoints", "minimize",
        ...     t_c.symbol/x.symbol + x.symbol/(2*M.symbol), (x,), (M, t_c), ())
        >>> print(theorems(answer(young)).shown["interior"][:58])
        for all positive parameters: the point x = 2^(1/2)*M^(1/2)
    """
    if found.limit is not None:
        written = theorems_of(found.limit)
        return _checked(written.writer.data(found.problem.title), tuple(written.missing))
    writer = CertificateWriter(found.program)
    missing: list[str] = []
    values = found.values if found.has_numbers else None
    for piece in found.pieces:
        source = piece.source
        if source is None:
            continue
        inside = values if values is not None and _strictly(source, values) else None
        try:
            write_piece(writer, found.program, source, piece.name, inside)
        except SymscaleError:
            missing.append(piece.name)
    if found.bounds is not None and (missing or not found.complete):
        write_bounds(writer, found.program, found.bounds)
    return _checked(writer.data(found.problem.title), tuple(missing))


def _strictly(piece: SumPiece, values: Values) -> bool:
    return all(
        replace(r, relation="<").holds(values) if r.relation != "==" else r.holds(values)
        for r in piece.requirements
    )


def _checked(data: dict[str, Any], missing: tuple[str, ...]) -> AnswerTheorems:
    """Keep the theorems that the kernel shows."""
    if not data["theorems"]:
        return AnswerTheorems(None, {}, missing)
    verdict = check(json.dumps(data))
    shown = {f.name: f.text for f in verdict.findings if f.holds}
    refused = tuple(f.name for f in verdict.findings if not f.holds)
    kept = [t for t in data["theorems"] if t["name"] in shown]
    return AnswerTheorems({**data, "theorems": kept} if kept else None, shown, missing + refused)
