"""Theorems about closed forms of sums: the kernel shows every one, and numbers agree."""

import json
import math
from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

from places import ROOT
from random_sums import at_most, convex_optimum, random_case
from sampling import sample
from symscale.algebra.certify.theorems_of_sums import write_piece
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.sift import closed_forms
from symscale.errors import FormulaError, InfeasibleError, NoAnswerError, UnboundedError
from symscale.kernel.check import check
from symscale.language.symbols import symbols
from symscale.problems.answer import answer
from symscale.problems.file import load_problem

PROBLEMS = ROOT / "docs" / "problems"
NAMES = sorted(p.stem for p in PROBLEMS.glob("*.toml"))
UNCOVERED = ("pipeline-microbatches",)
WITH_SUMS = (
    "checkpoint-interval", "compute-optimal", "mixed-parallelism", "network-energy",
    "pipeline-microbatches",
)  # fmt: skip
CASES = sample(30)


@cache
def solved(seed: int) -> tuple[tuple[SumPiece, ...], bool]:
    return closed_forms(random_case(seed).program)


def assert_optimal(program: GeometricProgram, piece: SumPiece) -> None:
    """In numbers: the value at the witness is the optimum that another solver finds."""
    assert piece.witness is not None
    outcome, best = convex_optimum(program, dict(piece.witness))
    if outcome == "unclear":  # hardly any room between the constraints
        return
    assert outcome == ("optimal" if piece.status == "optimal" else "not attained")
    if outcome == "optimal":
        value = float(sp.log(piece.value.evaluate(piece.witness)))
        value = -value if program.inverse else value
        assert value == pytest.approx(best, abs=1e-7 * max(1, abs(best)))


def test_every_closed_form_is_a_theorem() -> None:
    """All of them, but those that rule nowhere; each is the optimum at its own witness."""
    kinds: list[str] = []
    unproved = beside = shared = 0
    for seed in CASES.seeds:
        case = random_case(seed)
        program = case.program
        for k, piece in enumerate(solved(seed)[0]):
            if piece.witness is None:
                assert not piece.holds(case.values), (seed, piece.binding)
                continue
            writer = CertificateWriter(program)
            try:
                write_piece(writer, program, piece, f"piece {k}")
            except FormulaError:  # roots of numbers decide: a proof has rational coefficients
                unproved += 1
                continue
            data = writer.data("sums")
            for found in check(json.dumps(data)).findings:
                assert found.holds, (seed, piece.binding, found.text)
                kinds.append(found.kind)
            assert_optimal(program, piece)
            first = data["theorems"][0]
            beside += bool(first.get("weights")) and len(first["multipliers"]) >= 2
            shared += any(len(m["value"]) > 1 for m in first["multipliers"].values())
    assert unproved <= len(kinds) // 20
    assert kinds.count("bound") >= CASES.least(12)
    assert kinds.count("attained") >= CASES.least(12)
    assert kinds.count("infimum") >= CASES.least(1)
    assert beside >= CASES.least(3)
    assert shared >= CASES.least(3)


@pytest.mark.parametrize("name", NAMES)
def test_every_closed_form_of_the_examples_is_a_theorem(name: str) -> None:
    found = answer(load_problem(str(PROBLEMS / f"{name}.toml")))
    assert (found.bounds is not None) == (name in WITH_SUMS)
    assert found.theorems.missing == (("cover",) if name in UNCOVERED else ())
    for piece in found.pieces:
        assert piece.name in found.theorems.shown or f"{piece.name} (1)" in found.theorems.shown
        if piece.source is not None:
            assert_optimal(found.program, piece.source)
            at = dict(piece.source.witness or {})
            assert float(sp.N(piece.expr.xreplace(at), 30)) == pytest.approx(
                float(piece.source.value.evaluate(at)), rel=1e-14
            )


def test_symbolic_exponents() -> None:
    problem = load_problem(str(PROBLEMS / "compute-optimal.toml"))
    free = tuple(
        replace(q, default=None) if q.entry.name in ("a", "b_") else q for q in problem.parameters
    )
    found = answer(replace(problem, parameters=free)).theorems
    assert found.missing == ()
    assert found.data is not None
    bound, *_ = found.data["theorems"]
    (total,) = found.data["abbreviations"]
    assert total["terms"] == [{"product": {"a": "1"}}, {"product": {"b_": "1"}}]
    assert {"b_": "1", total["name"]: "-1"} in bound["weights"]["objective"]


def test_a_closed_form_that_rules_nowhere_has_no_theorem() -> None:
    """N >= 2 and N <= 1 at once."""
    x, a, b = symbols("N J K")
    program = GeometricProgram(
        (x,), (Monomial.of(a * x), Monomial.of(b / x)),
        (at_most("low", 2 / x), at_most("high", x)), Domain(),
    )  # fmt: skip
    assert closed_forms(program)[0] == ()
    lower = replace(program, constraints=program.constraints[:1])
    (piece,) = (p for p in closed_forms(lower)[0] if p.binding)
    for witness in (None, {a: sp.Integer(1), b: sp.Integer(1)}):
        with pytest.raises(FormulaError):
            write_piece(CertificateWriter(program), program, replace(piece, witness=None), "low",
                        witness)


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
