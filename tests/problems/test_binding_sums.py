"""Closed forms where any number of sums binds, for all parameters, against numerical optima."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import mpmath as mp
import pytest
import sympy as sp

from commands import run
from places import DATA
from symscale.algebra.sums.numeric import minimize
from symscale.errors import InfeasibleError, NoAnswerError
from symscale.language.parsing import parse_expression
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem
from symscale.problems.problem import Problem

FORMULAS = {
    "a-ab": {"a/(c - b)"},
    "a-crossover": {"C*P*w/(P*W*q - C*K)", "1"},
    "a-decode": {"C*N/(P*q)", "W*(M*N - P*w)/(K*M)", "(N*W*t_0 - P*w)/(K*t_0)"},
    "a-moe": {
        "2*C*W*e*tau*(e - 1)/(d*k*(3*W*e*f*q - 2*C*w*(e - 1)))", "C*E*w/(W_m*e*k*q)", "1",
    },
    "a-zero3": {"W*b*f/(3*C*w)"},
    "c-gp519b": {"3.38"},
    "c-gp816b": {"11"},
    "h-bmax": {"(H*N - P)/K"},
    "h-decode": {"W/K"},
    "h-fail": {"F*r/(C*M)"},
    "h-fsdp": {"P_l*(W*f*n - C*w)/(C*W*tau)"},
    "x-strong": {
        "3*P*W*b*eps**2/(32*C*L*d*s)",
        "b*(3*P*W*eps - 8*C*L*d)/(3*P*W*s)",
        "8*b*(3*P*W*eps - 64*C*L*d)/(3*P*W*s)",
        "b*(238*L*d*s + P)*(21*M*P*W*eps - 1904*C*L**2*d**2*s - 8*C*L*P*d)/(147*M**2*P*W*s)",
        "1008*Wn*b/C",
        "189*P*W*Wn*b*(C*eps - 126*Wn*s)/(4*C**3*L*d)",
        "3*P*W*(b*eps - s)/(8*C*L*b*d)",
    },
}
TWO_SUMS = "time + memory + p <= 126"


def problem_of(name: str) -> Problem:
    return load_problem(str(DATA / "sums" / f"{name}.toml"))


@cache
def found_of(name: str) -> ProblemAnswer:
    """The answer for all parameters: without the numbers that the file gives them."""
    problem = problem_of(name)
    bare = tuple(replace(q, default=None) for q in problem.parameters)
    return answer(replace(problem, parameters=bare))


def numbers(problem: Problem, draw: Callable[[], float]) -> dict[Any, sp.Rational]:
    """Each parameter its default times a factor, within its bounds."""
    found = {}
    for q in problem.parameters:
        value = sp.Rational(f"{float(q.default or 1) * draw():.9g}")
        if q.lower is not None:
            value = max(value, q.lower)
        found[q.symbol] = value if q.upper is None else min(value, q.upper)
    return found


def compared(name: str, box: float, count: int, seed: int) -> tuple[int, int]:
    """At how many feasible points a piece rules, of how many; values agree, and feasibility."""
    problem, found = problem_of(name), found_of(name)
    random = Random(seed)
    exact = feasible = lost = 0
    while feasible < count:
        values = numbers(problem, lambda: math.exp(random.uniform(-1, 1) * math.log(box)))
        ruling = [p for p in found.pieces if p.holds(values)]
        try:
            best = minimize(found.program, values).value
        except InfeasibleError:
            assert not ruling
            continue
        except NoAnswerError:  # of the search, which here is only the other route
            lost += 1
            assert lost <= count / 10
            continue
        feasible += 1
        exact += bool(ruling)
        for piece in ruling:
            value = piece.value(values)
            assert value is not None
            assert math.log(float(value) / best) == pytest.approx(0, abs=1e-6)
    return exact, feasible


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_the_formulas(name: str) -> None:
    found = found_of(name)
    names = {str(s): s for s in found.program.parameters}
    known = {sp.factor(parse_expression(text, names)) for text in FORMULAS[name]}
    assert {sp.factor(p.expr) for p in found.pieces} == known


@pytest.mark.parametrize("name", sorted(FORMULAS.keys() - {"x-strong"}))
def test_a_piece_rules_at_every_feasible_point(name: str) -> None:
    """Points with every parameter between half and twice its number."""
    exact, feasible = compared(name, 2, 20, seed=1)
    assert found_of(name).complete
    assert exact == feasible


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_every_formula_is_a_theorem(name: str) -> None:
    found = found_of(name)
    assert set(found.theorems.missing) <= {"cover"}
    for piece in found.pieces:
        names = (piece.name, f"{piece.name} (1)")  # one for each place, where there are several
        assert any(n in found.theorems.shown for n in names)


def test_a_cluster_without_any_number() -> None:
    """Ten parameters within a factor 10 each: an exact piece at 98 of 100 feasible points."""
    exact, feasible = compared("x-strong", 10, 30, seed=7)
    assert exact >= 0.98 * feasible


def test_two_sums_bind() -> None:
    """Memory and time together, with the pipeline as long as it may be."""
    found = answer(problem_of("x-strong"), {symbol("x-strong", "eps"): sp.Rational(1, 2)})
    assert found.ruling is not None
    assert found.ruling.binding == ("time", "memory", "p <= 126")
    assert mp.nstr(found.value, 7) == "2741.245"
    sentence = found_of("x-strong").theorems.shown[TWO_SUMS]
    assert sentence.startswith("for all positive parameters with")


def test_a_longer_sequence_does_not_fit_and_a_shorter_one_does() -> None:
    found = answer(problem_of("x-strong"), {symbol("x-strong", "s"): sp.Integer(2048)})
    assert mp.nstr(found.value, 5) == "2993.5"


def symbol(name: str, parameter: str) -> Any:
    (found,) = [q.symbol for q in problem_of(name).parameters if q.entry.name == parameter]
    return found


def test_mirrored_pieces_are_both_found() -> None:
    """x or y at its bound, the rest of the budget for the other: the same but for letters."""
    found = found_of("g-s32_sum_tied")
    assert {p.binding for p in found.pieces} >= {("c1", "c2"), ("c1", "c3"), ("c2", "c3")}


def test_a_value_that_is_zero_is_printed() -> None:
    path = DATA / "sums" / "g-s19_sum_of_params.toml"
    assert run("solve", str(path), "--no-check", "--format", "json").code == 0
