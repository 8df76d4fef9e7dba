"""Dimensionless numbers: what leaves them as they are leaves the optimum over its front."""

import json
import math
from random import Random

import numpy as np
import pytest
import sympy as sp

from boxed_problems import PROBLEMS, case
from commands import answer as printed
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.tangents.numbers import Scaling, scaling_of
from symscale.problems.answer import answer
from symscale.problems.file import load_problem, problem_of_text

COUNTS = {"h-infadj": (6, 1), "h-infer": (7, 2), "h-infer2": (10, 4), "x-strong": (10, 5)}


def scaling(program: GeometricProgram) -> Scaling:
    found = scaling_of(program)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COUNTS)
def test_so_many_numbers_decide(name: str) -> None:
    program, _ = case(name)
    found = scaling(program)
    assert (len(program.parameters), len(found.numbers)) == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS)
def test_the_optimum_over_its_front_depends_on_the_numbers_alone(name: str) -> None:
    """Parameters move along what keeps the numbers, by any amount: the quotient stays."""
    program, values = case(name)
    found = scaling(program)
    symbols = list(program.parameters)
    powers = sp.Matrix([[k.exponent(s) for s in symbols] for k in found.numbers])
    start = minimize(program, values).value / float(found.front.evaluate(values))
    random = Random(5)
    for _ in range(3):
        moved = dict(values)
        for direction in powers.nullspace():
            by = sp.Rational(random.randint(-30, 30), 100)
            for s, part in zip(symbols, direction, strict=True):
                moved[s] = moved[s] * sp.Rational(
                    str(round(math.exp(float(by * part)), 9))
                )
        quotient = minimize(program, moved).value / float(found.front.evaluate(moved))
        assert quotient == pytest.approx(start, rel=2e-6)


@pytest.mark.parametrize("name", COUNTS)
def test_no_number_is_too_many(name: str) -> None:
    """Each of them alone, changed, changes the quotient: the gradients are independent."""
    program, _ = case(name)
    found = scaling(program)
    symbols = list(program.parameters)
    powers = np.array([[float(k.exponent(s)) for s in symbols] for k in found.numbers])
    assert np.linalg.matrix_rank(powers) == len(found.numbers)


def test_numbers_are_simple() -> None:
    assert [str(k.expr) for k in scaling(case("h-infer2")[0]).numbers] == [
        "t_0/t_1", "C*q/(P*f)", "C*w/(W*f)", "L*k*t_0/q",
    ]


def test_declared_bounds_count() -> None:
    """x <= 8 ties the units of x to a number: without it nothing decides."""
    text = """
    minimize = "a/x + b*x"
    [parameters]
    a = {}
    b = {}
    [variables]
    x = {BOUND}
    """
    free = answer(problem_of_text(text.replace("BOUND", ""))).scaling
    tied = answer(problem_of_text(text.replace("BOUND", "upper = 8"))).scaling
    assert free is not None
    assert tied is not None
    assert [len(s.numbers) for s in (free, tied)] == [0, 1]
    assert str(tied.numbers[0].expr) == "a/b"


def test_exponents_may_be_symbols() -> None:
    program = load_problem(str(PROBLEMS / "h-infadj.toml")).program({})
    found = scaling(program)
    assert len(found.numbers) == 1
    assert program.exponent_symbols


def test_printed() -> None:
    file = str(PROBLEMS / "h-infadj.toml")
    words = " ".join(printed("solve", file).split())
    assert "times F(K_1), a function of one dimensionless number (there are 6 parameters)" in words
    data = json.loads(printed("solve", file, "--format", "json"))["dimensionless"]
    assert data["count"] == 1
    assert data["numbers"][0]["name"] == "K_1"
