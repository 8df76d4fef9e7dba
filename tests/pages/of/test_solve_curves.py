"""Code of curves finds the share by itself, and agrees with the numerical optimum."""

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from places import DATA
from symscale.pages.of.functions import problem_functions
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem

CURVES = DATA / "curves"
SERVED = 6.031139873431e22  # the numerical optimum of the problem as it stands


def solved(name: str) -> ProblemAnswer:
    return answer(load_problem(str(CURVES / f"{name}.toml")))


def numbers(found: ProblemAnswer, *names: str) -> dict[str, float]:
    """The numbers given, by name; exponents are in the formulas already."""
    given = {str(s): float(v) for s, v in found.values.items()}
    return {n: v for n, v in given.items() if n not in names}


def test_python_over_arrays() -> None:
    """Where nothing is feasible, at a bound, where two sums bind, and where price is slack."""
    found = solved("latency")
    module = ModuleType("code")
    exec(problem_functions(found).code("python"), module.__dict__)  # noqa: S102
    q = np.array([1e-4, 1.42e-4, 3e-4, 1e-3])
    got = module.optimum(q=q, **numbers(found, "q"))
    assert np.isnan(got[0])
    assert np.allclose(got[1:], [0.13632, 6.790653142e-3, 6.17507412e-3], rtol=1e-8)
    names = module.optimum_piece(q=q, **numbers(found, "q"))
    assert names[0] == ""
    assert "price" in names[2]


def test_javascript(need_program: Callable[[str], str]) -> None:
    found = solved("served")
    at = json.dumps(numbers(found))
    text = problem_functions(found).code("javascript") + f"\nconsole.log(optimum({at}));"
    done = subprocess.run(
        [need_program("node"), "-e", text], capture_output=True, text=True, check=True
    )
    assert math.isclose(float(done.stdout), SERVED, rel_tol=1e-10)


def test_c(need_program: Callable[[str], str], tmp_path: Path) -> None:
    found = solved("served")
    code = problem_functions(found).code("c")
    (function,) = problem_functions(found).functions
    assert "r" not in map(str, function.arguments)
    at = ", ".join(repr(numbers(found)[str(s)]) for s in function.arguments)
    source, program = tmp_path / "own.c", tmp_path / "own"
    source.write_text(
        f'{code}#include <stdio.h>\nint main(void) {{ printf("%.17g", optimum({at})); }}\n',
        encoding="utf-8",
    )
    compiler = need_program("gcc")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(
        [compiler, *flags, str(source), "-o", str(program), "-lm"], check=True
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert math.isclose(float(done.stdout), SERVED, rel_tol=1e-10)
