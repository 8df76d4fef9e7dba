"""Problems with sums against optima of another solver; and every statement a theorem."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from places import DATA
from symscale.algebra.exact.monomial import Monomial
from symscale.language.dimensions import unit_of
from symscale.language.units import parse_unit
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import problem_of_text
from symscale.problems.problem import Problem
from symscale.problems.settings import read_problem_settings

KNOWN = json.loads((DATA / "optima-of-sums.json").read_text(encoding="utf-8"))["problems"]
STATUS = {"at infinity": ("unbounded",), "infeasible": ("infeasible",)}
INFIMA = ("c-gp519", "h-decode", "h-fail", "h-inf2")


@cache
def problem_of(name: str) -> Problem:
    return problem_of_text(KNOWN[name]["toml"])


def at(name: str, case: dict[str, Any]) -> tuple[ProblemAnswer, float]:
    """The answer at a case's parameters, and its value in the answer's unit."""
    problem = problem_of(name)
    found = answer(
        problem, read_problem_settings(problem, [f"{k}={v}" for k, v in case["parameters"].items()])
    )
    value = case["value"] or math.nan
    if problem.check_units:
        given = {
            q.symbol: parse_unit(q.given_in or q.entry.unit)
            for q in (*problem.variables, *problem.parameters)
        }
        units = unit_of(problem.objective, given), unit_of(problem.objective, problem.units)
        value *= float(units[0].factor_to(units[1]))
    return found, value


def number(term: Monomial, values: dict[Any, float]) -> float:
    return math.prod(
        float(sp.N(a.xreplace(values))) ** float(sp.N(e.xreplace(values))) for a, e in term.powers
    )


def assert_attained(found: ProblemAnswer, value: float) -> None:
    assert found.ruling is not None
    point = {x: float(sp.N(e.xreplace(dict(found.values)), 30))
             for x, e in found.ruling.point.items()}
    assert set(point) == set(found.program.variables)
    values = {**{s: float(v) for s, v in found.values.items()}, **point}
    for c in found.program.constraints:
        size = sum(number(t, values) for t in c.terms)
        assert size <= 1 + 1e-9, c.name
        assert c.relation == "<=" or size >= 1 - 1e-9, c.name
    least = sum(number(t, values) for t in found.program.objective)
    assert (1 / least if found.program.inverse else least) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_status_value_and_point(name: str) -> None:
    for case in KNOWN[name]["cases"]:
        found, value = at(name, case)
        assert found.status in STATUS.get(case["status"], ("optimal", "infimum")), case
        if case["status"] != "optimal":
            continue
        assert (found.status == "infimum") == (name in INFIMA)
        if found.ruling is not None:
            assert found.value is not None
            assert float(found.value) == pytest.approx(value, rel=1e-6)
            if found.status == "optimal" and not any(p.region for p in found.ruling.places):
                assert_attained(found, value)
            continue
        assert not found.complete
        low, high = found.enclosure
        assert low is None or float(low) <= value * (1 + 1e-6)
        assert high is None or float(high) >= value * (1 - 1e-6)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_statement_is_a_theorem(name: str) -> None:
    found = answer(problem_of(name))
    proved = found.theorems
    assert set(proved.missing) <= {"cover"}
    assert proved.data is not None
    for piece in found.pieces:
        assert any(n == piece.name or n.startswith(f"{piece.name} (") for n in proved.shown)


def region(name: str, piece: int = 0) -> list[str]:
    return [str(r) for r in answer(problem_of(name)).pieces[piece].region]


def test_free_variables_do_not_enter_regions() -> None:
    found = answer(problem_of("g-s25u"))
    (piece,) = found.pieces
    assert region("g-s25u") == ["A < D"]
    assert {str(x): [str(e) for e in ends.upper] for x, ends in piece.free.items()} == {
        "y": ["-A + D", "B"]
    }
    assert region("c-c1") == []
    assert all(not e.is_number for e in answer(problem_of("c-c1")).pieces[0].point.values())


def test_a_difference_has_its_condition() -> None:
    assert region("a-ab") == ["b < c"]
    assert str(answer(problem_of("a-ab")).pieces[0].expr) == "a/(-b + c)"


def test_pieces_that_rule_nowhere_are_left_out() -> None:
    assert len(answer(problem_of("h-lw2")).pieces) == 3
    assert len(answer(problem_of("c-maxlog")).pieces) == 1


def test_an_infimum_says_how_it_is_approached(tmp_path: Path) -> None:
    (piece,) = answer(problem_of("h-fail")).pieces
    assert {str(x): str(p) for x, p in piece.direction.items()} == {"N": "2", "x": "-1"}
    sentence = answer(problem_of("h-fail")).theorems.shown["interior"]
    assert "as close to it as one likes" in sentence


def test_enclosing_bounds_have_their_condition() -> None:
    """n <= 2 a/c was printed for a + b n <= c n, whose least n is a/(c - b)."""
    bounds = answer(problem_of("a-ab")).bounds
    assert bounds is not None
    assert [str(r) for r in bounds.region] == ["2*b <= c"]
