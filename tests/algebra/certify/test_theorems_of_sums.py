"""Theorems about closed forms of sums: the kernel shows every one, and numbers agree."""

import json
import math
from functools import cache

import pytest

from random_sums import convex_optimum, random_case
from sampling import sample
from symscale.algebra.certify.theorems_of_sums import write_piece
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.sift import closed_forms
from symscale.errors import FormulaError, InfeasibleError, NoAnswerError, UnboundedError
from symscale.kernel.check import check

CASES = sample(30)


@cache
def solved(seed: int) -> tuple[tuple[SumPiece, ...], bool]:
    return closed_forms(random_case(seed).program)


def test_every_closed_form_is_a_theorem() -> None:
    kinds: list[str] = []
    unproved = 0
    for seed in CASES.seeds:
        program = random_case(seed).program
        for k, piece in enumerate(solved(seed)[0]):
            if piece.witness is None:
                continue
            writer = CertificateWriter(program)
            try:
                write_piece(writer, program, piece, f"piece {k}")
            except FormulaError:  # roots of numbers decide: a proof has rational coefficients
                unproved += 1
                continue
            for found in check(json.dumps(writer.data("sums"))).findings:
                assert found.holds, (seed, piece.binding, found.text)
                kinds.append(found.kind)
    assert unproved <= len(kinds) // 20
    assert kinds.count("bound") >= CASES.least(12)
    assert kinds.count("attained") >= CASES.least(12)
    assert kinds.count("infimum") >= CASES.least(1)


def test_regions_are_right_at_random_parameters() -> None:
    """Where a piece rules its value is the optimum; where none does nothing was claimed."""
    ruled = 0
    for seed in CASES.seeds:
        case = random_case(seed)
        pieces, complete = solved(seed)
        ruling = [p for p in pieces if p.holds(case.values)]
        outcome, best = convex_optimum(case.program, case.values)
        if outcome == "infeasible" or outcome == "unbounded":
            assert not ruling, (seed, outcome)
        if outcome == "optimal":
            assert ruling or not complete, seed
            assert not any(p.status == "infimum" for p in ruling), seed
        if outcome == "not attained":
            try:
                best = math.log(minimize(case.program, case.values).value)
            except (InfeasibleError, UnboundedError, NoAnswerError):
                continue
        if outcome in ("optimal", "not attained"):
            for piece in ruling:
                value = math.log(piece.value.evaluate(case.values))
                assert value == pytest.approx(best, abs=1e-5), (seed, piece.binding)
                ruled += 1
    assert ruled >= CASES.least(8)
