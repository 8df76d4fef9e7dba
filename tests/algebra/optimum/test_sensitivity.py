"""Multipliers and elasticities against differences of the numerical optimum."""

import json
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from places import DATA
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.optimum.sensitivity import Sensitivities, Span, sensitivities
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import NoAnswerError
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import problem_of_text
from symscale.problems.settings import read_problem_settings

KNOWN = json.loads((DATA / "optima-of-sums.json").read_text(encoding="utf-8"))["problems"]
UNATTAINED = ("c-gp519", "h-decode", "h-fail", "h-inf2")
STEP = sp.Rational(1, 10**3)


def solved(text: str, *settings: str) -> tuple[ProblemAnswer, Sensitivities]:
    problem = problem_of_text(text)
    found = answer(problem, read_problem_settings(problem, list(settings)))
    assert found.numerical is not None
    return found, sensitivities(found.program, found.values, found.numerical)


def slopes(
    program: GeometricProgram, values: Any, other: GeometricProgram, more: Any
) -> float | None:
    import math

    try:
        base = minimize(program, values).value
        return math.log(minimize(other, more).value / base) / math.log(1 + STEP)
    except NoAnswerError:
        return None


def assert_slope(span: Span, slope: float | None, allowed: float = 2e-2) -> None:
    """A difference lies between the slopes to both sides, but for the curvature."""
    if slope is not None:
        assert span.low - allowed <= slope <= span.high + allowed


@pytest.mark.parametrize("name", [k for k in sorted(KNOWN) if k not in UNATTAINED])
def test_slopes_are_differences(name: str) -> None:
    for case in [c for c in KNOWN[name]["cases"] if c["status"] == "optimal"][:1]:
        found, seen = solved(
            KNOWN[name]["toml"], *(f"{k}={v}" for k, v in case["parameters"].items())
        )
        assert seen.residual < 1e-6
        program, values = found.program, found.values
        for p, span in seen.elasticities.items():
            more = {**values, p: values[p] * (1 + STEP)}
            assert_slope(span, slopes(program, values, program, more),
                         2e-2 * (1 + abs(span.low)))
        for k, c in enumerate(program.constraints):
            wider = replace(
                c, terms=tuple(t * Monomial.of(1 / (1 + STEP)) for t in c.terms)
            )
            constraints = (*program.constraints[:k], wider, *program.constraints[k + 1:])
            span = seen.multipliers.get(c.name, Span(0.0, 0.0))
            assert_slope(span, slopes(program, values,
                                      replace(program, constraints=constraints), values),
                         2e-2 * (1 + abs(span.low)))
        assert all(factor > 1 for factor in seen.slack.values())
        assert set(seen.slack) | set(seen.multipliers) == {c.name for c in program.constraints}
        assert all(sum(w) == pytest.approx(1) for w in seen.shares.values())


@pytest.mark.parametrize("name", [k for k in sorted(KNOWN) if k not in UNATTAINED])
def test_they_are_those_of_the_piece_that_rules(name: str) -> None:
    for case in KNOWN[name]["cases"]:
        if case["status"] != "optimal":
            continue
        found, seen = solved(
            KNOWN[name]["toml"], *(f"{k}={v}" for k, v in case["parameters"].items())
        )
        if found.ruling is None or not seen.unique:
            continue
        exact = found.ruling.elasticities(found.values)
        for p, span in seen.elasticities.items():
            slope = float(sp.N(sp.sympify(exact.get(p, 0)).xreplace(dict(found.values))))
            assert span.low == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_products_alone_have_exact_multipliers() -> None:
    _, seen = solved(
        'minimize = "T"\n[parameters]\na = { default = 8 }\nb = { default = 2 }\n[variables]\n'
        'T = {}\nx = {}\n[[constraints]]\nname = "work"\nexpression = "a/x^2 <= T"\n'
        'because = "x"\n[[constraints]]\nname = "room"\nexpression = "x <= b*T"\n'
        'because = "x"\n[[constraints]]\nname = "far"\nexpression = "x <= 100*b"\nbecause = "x"\n'
    )
    assert seen.multipliers["work"].low == pytest.approx(-1 / 3, abs=1e-9)
    assert seen.multipliers["room"].low == pytest.approx(-2 / 3, abs=1e-9)
    assert list(seen.slack) == ["far"]
    by_name = {str(p): span.low for p, span in seen.elasticities.items()}
    assert by_name == pytest.approx({"a": 1 / 3, "b": -2 / 3}, abs=1e-9)


def test_several_multipliers_are_said() -> None:
    _, seen = solved(
        'minimize = "x"\n[parameters]\na = { default = 8 }\nb = { default = 8 }\n[variables]\n'
        'x = {}\n[[constraints]]\nname = "one"\nexpression = "x >= a"\nbecause = "x"\n'
        '[[constraints]]\nname = "two"\nexpression = "x >= b"\nbecause = "x"\n'
    )
    assert not seen.unique
    assert (seen.multipliers["one"].low, seen.multipliers["one"].high) == pytest.approx((-1, 0))
    for span in seen.elasticities.values():
        assert (span.low, span.high) == pytest.approx((0, 1))
