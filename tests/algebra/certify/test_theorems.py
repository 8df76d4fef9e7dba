"""What the kernel shows of limits: their pieces are optimal, and no other claim is shown."""

from dataclasses import replace
from functools import cache
from typing import Any

import mpmath as mp
import pytest
import sympy as sp

from proved import assert_proved
from random_programs import numeric_optimum, random_case
from symscale.algebra.certify.theorems import PieceProof, Theorems, certify, of_limit
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Condition, Limit
from symscale.algebra.products.program import Program, at_most, equals
from symscale.algebra.products.solve import solve
from symscale.errors import CheckFailedError
from symscale.language.symbols import symbols

T, P, N, N_TP, N_DP, b = symbols("T P N N_TP N_DP b")
C, W_net, W_mem, t_d, tau, b_0, E, alpha = symbols("C W_net W_mem t_d tau b_0 E alpha")


def largest() -> Program:
    """Three pieces; the batch size never binds alone, so each has conditions."""
    return Program(
        "largest", "", "maximize", Monomial.of(T), (T, P, N, b),
        (
            equals("compute", T, 120 * P**2, ""),
            at_most("arithmetic", T, N * C * t_d, ""),
            at_most("network", N, P / W_net**2, ""),
            at_most("devices", N, b, ""),
            at_most("batch", b, b_0, ""),
            at_most("latency", P * tau, b * t_d, ""),
        ),
    )  # fmt: skip


def smallest() -> Program:
    """The fewest devices for a given compute: a minimum, with a parameter of at least 1."""
    return Program(
        "smallest", "", "minimize", Monomial.of(2 * N / E), (N, P, N_TP, N_DP),
        (
            equals("parameters", C, 120 * P**2, ""),
            equals("degrees", N, N_TP * N_DP * E, ""),
            at_most("time", C, N * W_mem * t_d, ""),
            at_most("memory", P, N_TP * W_mem, ""),
            at_most("replicas", 1, N_DP, ""),
            at_most("shards", E**2, N_TP, ""),
        ),
        Domain((Monomial.of(E),)),
    )  # fmt: skip


def growing() -> Program:
    """An exponent that is a symbol."""
    return Program(
        "growing", "", "maximize", Monomial.of(T), (T, N, b),
        (
            at_most("arithmetic", T, N * C, ""),
            at_most("devices", N, b * sp.sqrt(T), ""),
            at_most("network", N, W_net * T ** sp.Rational(1, 4), ""),
            at_most("batch", b, b_0 * T ** (alpha / 2), ""),
        ),
        Domain(exponents={alpha: Interval(None, sp.Integer(1))}),
    )  # fmt: skip


PROGRAMS = {"largest": largest, "smallest": smallest, "growing": growing}
EVERY = [*PROGRAMS, "random"]


@cache
def limits(name: str) -> tuple[Limit, ...]:
    """The limit of a program; or some of random programs with pieces that compete."""
    if name != "random":
        return (solve(PROGRAMS[name]()),)
    cases = [c for c in map(random_case, range(200)) if c.kind == "packing" and not c.twins]
    solved = [limit for limit in (solve(c.program) for c in cases) if len(limit.pieces) > 1]
    return tuple(solved[:12])


@cache
def proofs(name: str) -> tuple[PieceProof, ...]:
    return tuple(p for limit in limits(name) for p in certify(limit).values())


@pytest.mark.parametrize("name", EVERY)
def test_every_piece_is_proved(name: str) -> None:
    for limit in limits(name):
        assert_proved(limit)
    for proof in proofs(name):
        proof.check()


def test_the_examples_are_of_every_kind() -> None:
    for name in PROGRAMS:
        assert [p.name for p in proofs(name)] == [p.name for p in limits(name)[0].pieces]
        assert any(p.conditions for p in proofs(name))
    assert {p.program.sense for p in proofs("random")} == {"maximize", "minimize"}
    assert sum(bool(p.conditions) for p in proofs("random")) >= 10


@pytest.mark.parametrize("name", EVERY)
def test_a_proved_point_is_the_optimum(name: str) -> None:
    """In numbers: at the witness it is feasible, and nothing does better."""
    for proof in proofs(name):
        at, program = proof.witness, proof.program
        point = {x: m.evaluate(at) for x, m in proof.point.items()}

        def value(monomial: Monomial, at: Any = at, point: Any = point) -> Any:
            """The logarithm, with the point in place of the variables."""
            powers: Any = monomial.powers
            known = {**at, **point}
            return mp.fsum(mp.log(known.get(s, s)) * float(e.subs(at)) for s, e in powers)

        scale = max(1, *(abs(mp.log(v)) for v in point.values()))
        for constraint in program.constraints:
            ratio = value(constraint.ratio) / scale
            assert abs(ratio) < 1e-9 if constraint.is_equality else ratio < 1e-9
        status, best = numeric_optimum(program, at)
        assert status == "optimal"
        assert abs(value(program.objective) - best) < 1e-7 * scale
        assert abs(value(proof.bound) - best) < 1e-7 * scale


def test_pieces_do_not_share_their_proofs() -> None:
    """The point, the multipliers or the bound of one piece are no proof of another."""
    for name in EVERY:
        for one in proofs(name):
            for other in proofs(name):
                if one.program is other.program and one.bound != other.bound:
                    for field in ("point", "multipliers", "bound"):
                        with pytest.raises(CheckFailedError):
                            replace(one, **{field: getattr(other, field)}).check()


def test_a_program_that_was_changed() -> None:
    """A constraint that the proof never heard of must hold at its point as well."""
    for name in PROGRAMS:
        for proof in proofs(name):
            program = proof.program
            x = program.variables[0]
            for factor in (2, sp.Rational(1, 2)):
                bound = proof.point[x] * Monomial.of(factor)
                constraints = (*program.constraints, at_most("extra", x, bound, ""))
                changed = replace(
                    proof, program=replace(program, constraints=constraints),
                    slacks={**proof.slacks, "extra": {}},
                )
                if factor > 1:
                    changed.check()
                else:
                    with pytest.raises(CheckFailedError, match="does not show"):
                        changed.check()


def test_a_superfluous_condition_is_no_harm() -> None:
    """It only says less; but the witness must satisfy it, strictly."""
    for proof in proofs("largest"):
        big = proof.witness[C] * 2
        for factor in (1, 2, 4):
            condition = Condition(Monomial.of(factor * C / big))
            more = replace(proof, region=(*proof.region, condition))
            if factor == 1:
                more.check()
            else:
                with pytest.raises(CheckFailedError):
                    more.check()


def test_a_sign_that_the_domain_leaves_open_is_no_proof() -> None:
    """For alpha in (-1, 1) the multiplier of a true identity may be negative."""
    program = Program(
        "open", "", "maximize", Monomial.of(T**alpha), (T,), (at_most("a", T, C, ""),),
        Domain(exponents={alpha: Interval(sp.Integer(-1), sp.Integer(1))}),
    )  # fmt: skip
    claim = PieceProof(
        "claim", program, Monomial.of(C**alpha), {"a": alpha}, {T: Monomial.of(C)}, (), {},
        {C: sp.Integer(1), alpha: sp.Rational(1, 2)},
    )
    with pytest.raises(CheckFailedError, match="does not show 'claim: bound'"):
        claim.check()
    positive = Domain(exponents={alpha: Interval(sp.Integer(0), sp.Integer(1))})
    replace(claim, program=replace(program, domain=positive)).check()


def test_a_point_that_nothing_fixes_may_be_any_feasible_one() -> None:
    """Of N_TP and N_DP only the product matters."""
    program = Program(
        "free", "", "maximize", Monomial.of(T), (T, N, N_TP, N_DP),
        (
            at_most("time", T, N * C, ""),
            equals("degrees", N, N_TP * N_DP, ""),
            at_most("devices", N, b_0, ""),
        ),
    )  # fmt: skip
    (proof,) = certify(solve(program)).values()
    proof.check()
    moved = {**proof.point, N_TP: Monomial.of(C**3), N_DP: Monomial.of(b_0 / C**3)}
    replace(proof, point=moved).check()
    left_open = {**proof.point, N_TP: Monomial.of(N_TP), N_DP: Monomial.of(b_0 / N_TP)}
    with pytest.raises(CheckFailedError):
        replace(proof, point=left_open).check()


def test_what_is_shown_is_told_from_what_is_not() -> None:
    found = of_limit(limits("largest")[0], "largest")
    found.require(*found.shown)
    with pytest.raises(CheckFailedError, match="does not show 'no such'"):
        found.require("cover", "no such")
    with pytest.raises(CheckFailedError):
        Theorems(None, None).require("cover")
    assert Theorems(None, None).shown == {}
