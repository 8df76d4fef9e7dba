"""Code of answers with sums that bind together, several points, infima: run in each language.

Every number is compared with the numerical optimum, which knows no closed form.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from places import DATA
from symscale.algebra.sums.numeric import minimize
from symscale.errors import InfeasibleError, NoAnswerError
from symscale.pages.formats.code import ClosedForms
from symscale.pages.of.functions import problem_functions
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem, problem_of_text

INFIMUM = """
minimize = "a*x + b/x + c*y"
[parameters]
a = {}
b = {}
c = {}
[variables]
x = { lower = 1 }
y = {}
"""
FILES = {"x-strong": 4, "a-decode": 3, "a-moe": 3}
"""Problems of tests/data/sums, and the factor within which parameters are drawn."""

CASES = (*FILES, "infimum")
DRAWN = 60


@cache
def solved(name: str) -> ProblemAnswer:
    """Its answer without numbers."""
    problem = load_problem(str(DATA / "sums" / f"{name}.toml")) if name in FILES else (
        problem_of_text(INFIMUM)
    )
    bare = tuple(replace(q, default=None) for q in problem.parameters)
    return answer(replace(problem, parameters=bare))


def points(name: str) -> list[dict[str, float]]:
    """Each parameter its default, or 1, times or over some factor, within its bounds."""
    draw, box = random.Random(name), FILES.get(name, 10)
    problem = (
        load_problem(str(DATA / "sums" / f"{name}.toml")) if name in FILES
        else solved(name).problem
    )
    return [
        {
            q.entry.name: min(
                max(float(q.default or 1) * box ** draw.uniform(-1, 1), float(q.lower or 0)),
                float(q.upper or "inf"),
            )
            for q in problem.parameters
        }
        for _ in range(DRAWN)
    ]


def by_python(forms: ClosedForms, given: list[dict[str, float]], folder: Path) -> str:
    (folder / "forms.py").write_text(forms.code("python"), encoding="utf-8")
    arguments = [str(s) for s in forms.functions[0].arguments]
    program = (
        f"import json, forms\nfor g in json.loads({json.dumps(json.dumps(given))}):\n"
        f"    print(float(forms.optimum(**{{k: g[k] for k in {arguments}}})))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def by_javascript(
    forms: ClosedForms, given: list[dict[str, float]], folder: Path, node: str
) -> str:
    text = forms.code("javascript")
    text += f"for (const g of {json.dumps(given)}) console.log(optimum(g));\n"
    (folder / "forms.js").write_text(text, encoding="utf-8")
    return subprocess.run(
        [node, str(folder / "forms.js")], capture_output=True, text=True, check=True
    ).stdout


def by_c(forms: ClosedForms, given: list[dict[str, float]], folder: Path, gcc: str) -> str:
    calls = "\n".join(
        f'    printf("%.17g\\n", optimum('
        f"{', '.join(repr(g[str(s)]) for s in forms.functions[0].arguments)}));"
        for g in given
    )
    text = f"{forms.code('c')}\n#include <stdio.h>\nint main(void) {{\n{calls}\n    return 0;\n}}\n"
    (folder / "forms.c").write_text(text, encoding="utf-8")
    built = [gcc, "-std=c99", "-Wall", "-Werror", "forms.c", "-o", "forms", "-lm"]
    subprocess.run(built, cwd=folder, check=True)
    return subprocess.run(
        [str(folder / "forms")], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("name", CASES)
def test_every_language_gives_the_numerical_optimum(
    name: str, tmp_path: Path, need_program: Callable[[str], str]
) -> None:
    found = solved(name)
    forms, given = problem_functions(found), points(name)
    results = [
        [float(line.replace("Infinity", "inf")) for line in text.split()]
        for text in (
            by_python(forms, given, tmp_path),
            by_javascript(forms, given, tmp_path, need_program("node")),
            by_c(forms, given, tmp_path, need_program("gcc")),
        )
    ]
    for one, other in pairwise(results):
        assert one == pytest.approx(other, rel=1e-13, nan_ok=True)
    ruled = lost = 0
    for values, value in zip(given, results[0], strict=True):
        numbers: Any = {
            q.symbol: sp.Rational(repr(values[q.entry.name])) for q in found.problem.parameters
        }
        try:
            best = minimize(found.program, numbers).value
        except InfeasibleError:
            assert value != value
            continue
        except NoAnswerError:  # of the search, which here is only the other route
            lost += 1
            continue
        if value == value:
            ruled += 1
            assert value == pytest.approx(best, rel=1e-6)
        else:
            assert not found.complete
    assert ruled >= DRAWN / 6
    assert lost <= DRAWN / 10


def test_the_cases_are_of_the_kinds_that_they_are_for() -> None:
    assert any({"memory", "time"} <= set(p.binding) for p in solved("x-strong").pieces)
    for name in ("a-decode", "a-moe"):
        assert any(len(p.places) > 1 for p in solved(name).pieces)
    assert {p.status for p in solved("infimum").pieces} == {"infimum"}


def test_an_infimum_is_called_one() -> None:
    forms = problem_functions(solved("infimum"))
    for language in ("python", "c", "javascript"):
        words = " ".join(forms.code(language).replace("#", " ").replace("//", " ").split())
        assert words.count("it is approached, and no point attains it") == 2
    assert "approached" not in problem_functions(solved("a-moe")).code("c")


def test_a_title_is_no_encoding_of_python() -> None:
    """Python reads `coding: NAME` in a comment of the first two lines as one (PEP 263)."""
    code = problem_functions(solved("a-decode")).code("python")
    assert "coding: largest" in code
    compile(code.encode(), "forms.py", "exec")
