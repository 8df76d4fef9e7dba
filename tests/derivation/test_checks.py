"""Steps that are false, each in a way of its own, do not pass the checker."""

from dataclasses import replace

import pytest
import sympy as sp

from symscale.algebra.certify.theorems import certify
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Program, at_most
from symscale.algebra.products.solve import solve
from symscale.algebra.rewrites.rewrite import Rewrite, arithmetic_geometric, relate, substitute
from symscale.costs.cost import cost
from symscale.derivation.checks import check_derivation
from symscale.derivation.steps import Derivation, DerivationBuilder, Step
from symscale.errors import CheckFailedError, FormulaError
from symscale.language.symbols import symbols

I, J, K, N, T, C, alpha = symbols("I J K N T C alpha")  # noqa: E741  # the field's letters
ONE = sp.Integer(1)


def started(domain: Domain | None = None) -> DerivationBuilder:
    return DerivationBuilder("trial", "Trial", "?", domain)


def refused(derivation: Derivation, match: str) -> None:
    with pytest.raises(CheckFailedError, match=match):
        check_derivation(derivation)


def test_a_fact_must_be_a_premise() -> None:
    build = started()
    build.define("J", cost(J, "1"), cost(2 * I, "1"), "given")
    rewrite = substitute(3 * J, {J: 4 * I}, "a fact that nobody stated")
    build.rewrite("false", rewrite, premises=["J"])
    refused(build.finish(), "no premise")
    build = started()
    build.define("J", cost(J, "1"), cost(2 * I, "1"), "given")
    build.rewrite("true", substitute(3 * J, {J: 2 * I}, "stated"), premises=["J"])
    check_derivation(build.finish())


def test_an_optimum_rests_on_the_given_constraints() -> None:
    def program(factor: int) -> Program:
        return Program(
            "p", "", "maximize", Monomial.of(T), (T,), (at_most("cap", T, factor * N, ""),)
        )

    limit = solve(program(5))
    build = started()
    build.assume_constraint(program(1).constraints[0])
    build.attain("optimum", certify(limit)[limit.pieces[0].name], "of another program")
    refused(build.finish(), "was not given")


def test_attained_bounds_meet_but_do_not_multiply() -> None:
    program = Program(
        "p", "", "maximize", Monomial.of(T), (T,),
        (at_most("a", T, N, ""), at_most("b", T, C, "")),
    )  # fmt: skip
    limit = solve(program)
    build = started()
    for constraint in program.constraints:
        build.assume_constraint(constraint)
    for piece in limit.pieces:
        build.attain(f"{piece.name}, attained", certify(limit)[piece.name], "where it rules")
    build.meet("meet", "a, attained", "b, attained", "where both are equal", solve_for=N)
    derivation = build.finish()
    check_derivation(derivation)
    assert all(s.conditions for s in derivation.steps if s.kind == "optimum")
    as_product = replace(derivation.steps[-1], kind="product")
    refused(replace(derivation, steps=(*derivation.steps[:-1], as_product)), "conditions")


def test_necessary_and_sufficient_do_not_mix() -> None:
    grown = Rewrite(I + J, 2 * (I + J), "<=", "twice as much", factor=sp.Integer(2))
    shrunk = replace(arithmetic_geometric(2 * (I + J)), equality=())
    build = started()
    build.assume("sum", cost(I + J, "1"), "<=", cost(K, "1"), "given")
    build.replace("grown", "sum", grown, "suffices")
    with pytest.raises(FormulaError, match="suffices"):
        build.replace("shrunk", "grown", shrunk, "but this does not")
    build = started()
    build.define("sum", cost(I + J, "1"), cost(K, "1"), "given")
    with pytest.raises(FormulaError, match="needs a <="):
        build.replace("mean", "sum", arithmetic_geometric(I + J), "an equality is no bound")


def test_a_claim_to_suffice_is_checked() -> None:
    build = started()
    build.assume("sum", cost(I + J, "1"), "<=", cost(K, "1"), "given")
    build.replace("mean", "sum", arithmetic_geometric(I + J), "necessary")
    derivation = build.finish()
    assert derivation.step("mean").logic == "necessary"
    check_derivation(derivation)
    wrong = replace(derivation.steps[-1], logic="suffices")
    refused(replace(derivation, steps=(*derivation.steps[:-1], wrong)), "claims")


def test_signs_of_powers_are_decided_over_the_whole_domain() -> None:
    half = Domain(exponents={alpha: Interval(None, sp.Rational(1, 2))})
    weight = 1 - 4 * alpha
    for domain, match in ((half, "sign"), (Domain(exponents={alpha: Interval(None, ONE / 4)}), "")):
        build = started(domain)
        build.assume("cap", cost(T, "1"), "<=", cost(N, "1"), "given")
        step = Step(
            "power", "product", relate(T, "<=", N), "T <= N again", premises={"cap": weight}
        )
        derivation = build.finish()
        derivation = replace(derivation, steps=(*derivation.steps, step))
        if match:
            refused(derivation, match)
        else:
            check_derivation(derivation)


def test_strict_relations_are_refused() -> None:
    build = started()
    build.assume("cap", cost(T, "1"), "<=", cost(N, "1"), "given")
    derivation = build.finish()
    given = replace(derivation.steps[0], statement=sp.Gt(T, N, evaluate=False))
    step = Step("false", "product", relate(T, "<=", N), "", premises={"cap": ONE})
    with pytest.raises((CheckFailedError, FormulaError), match="not a relation"):
        check_derivation(replace(derivation, steps=(given, step)))
