"""The page of a problem of one's own: its script against numerical optima, and what it takes."""

import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from commands import answer, refusal
from pages import NASTY, parsed
from places import DATA, ROOT
from symscale.algebra.sums.numeric import minimize
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError
from symscale.pages.of.explore_own import own_explorer_page
from symscale.problems.answer import ProblemAnswer
from symscale.problems.answer import answer as answered
from symscale.problems.file import problem_of_text
from symscale.problems.settings import read_problem_settings

PROBLEMS = ROOT / "docs" / "problems"
PARTLY = """
title = "Partly closed"
minimize = "x + a/x + x^3 + a/x^2"
[parameters]
a = { default = 2, unit = "1", meaning = "the load" }
best = { default = 1, lower = 0.5, upper = 20 }
[variables]
x = { upper = 5 }
[[constraints]]
name = "least"
expression = "x >= best"
"""
PRODUCTS = """
maximize = "N*M"
[parameters]
a = { default = 8 }
c = { default = 2, upper = 50 }
[variables]
N = { upper = 10 }
M = {}
[[constraints]]
name = "first"
expression = "N^2*M <= a"
[[constraints]]
name = "second"
expression = "M <= c"
"""
CASES = {
    "mixed": (PROBLEMS / "mixed-parallelism.toml").read_text(encoding="utf-8"),
    "energy": (PROBLEMS / "network-energy.toml").read_text(encoding="utf-8"),
    "moe": (DATA / "sums" / "a-moe.toml").read_text(encoding="utf-8"),
    "partly": PARTLY, "products": PRODUCTS,
}


def solved(text: str) -> ProblemAnswer:
    problem = problem_of_text(text)
    return answered(problem, read_problem_settings(problem, ()))


def data_of(page: str) -> Any:
    text = re.search(r'<script type="application/json" id="explorer">(.*?)</script>', page, re.S)
    assert text is not None
    return json.loads(text.group(1))


def computed(page: str, given: list[dict[str, float]], tmp_path: Path, node: str) -> Any:
    """What the page's functions give, as strings."""
    script = re.search(r"const _float = .*?\nconst formulas = \{.*?\};\n", page, re.S)
    assert script is not None
    path = tmp_path / "run.js"
    path.write_text(
        script.group() + f"console.log(JSON.stringify({json.dumps(given)}.map(v => "
        "Object.fromEntries(Object.entries(formulas).map(([k, f]) => [k, String(f(v))])))));\n",
        encoding="utf-8",
    )
    done = subprocess.run([node, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_the_page_finds_the_numerical_optimum(
    name: str, tmp_path: Path, need_program: Callable[[str], str]
) -> None:
    """Value, piece and variables at random sliders; between the bounds where no piece rules."""
    found = solved(CASES[name])
    page = own_explorer_page(found)
    sliders = data_of(page)["sliders"]
    draw = random.Random(name)
    given = [
        {s["name"]: s["low"] * (s["high"] / s["low"]) ** draw.random() for s in sliders}
        for _ in range(20)
    ]
    symbols = {q.entry.name: q.symbol for q in found.problem.parameters}
    ruled, open_, lost = 0, 0, 0
    for values, got in zip(
        given, computed(page, given, tmp_path, need_program("node")), strict=True
    ):
        numbers: Any = {
            symbols[k if k in symbols else k.rstrip("_")]: sp.Rational(repr(v))
            for k, v in values.items()
        }
        try:
            best = minimize(found.program, {**found.values, **numbers})
        except (InfeasibleError, UnboundedError):
            assert got["rules"] == ""
            continue
        except NoAnswerError:  # of the search, which here is only the other route
            lost += 1
            assert lost <= 2
            continue
        if got["rules"] == "":
            open_ += 1
            assert not found.complete
            assert float(got["result_least"]) <= best.value <= float(got["result_most"])
            continue
        ruled += 1
        assert float(got["optimum"]) == pytest.approx(best.value, rel=1e-6)
        assert float(got[f"optimum_{got['rules']}"]) == pytest.approx(best.value, rel=1e-6)
        for k, q in enumerate(found.problem.variables):
            if name != "energy" and got.get(f"result_{k}", "NaN") != "NaN":
                wanted = best.point[q.symbol]
                assert float(got[f"result_{k}"]) == pytest.approx(wanted, rel=1e-3), q.entry.name
    assert ruled >= 4
    assert (open_ > 0) == (name == "partly")


def test_sliders_run_over_the_bounds_or_about_the_number() -> None:
    page = own_explorer_page(solved(PARTLY))
    a, best = data_of(page)["sliders"]
    assert (a["low"], a["value"], a["high"], a["log"], a["unit"]) == (0.2, 2, 20, True, "1")
    assert (best["low"], best["value"], best["high"]) == (0.5, 1, 20)
    assert best["name"] == "best_"  # the code has a name `best` of its own
    assert "the load" in page


@pytest.mark.parametrize("nasty", NASTY)
def test_words_of_ones_own_are_escaped(nasty: str) -> None:
    if not nasty.isprintable():
        return

    def written(word: str) -> str:
        text = PARTLY.replace("Partly closed", "TITLE").replace("the load", "MEANING")
        text = text.replace('"least"', '"NAME"')
        quoted = json.dumps(word, ensure_ascii=False)
        for key in ("TITLE", "MEANING", "NAME"):
            text = text.replace(f'"{key}"', quoted)
        return own_explorer_page(solved(text))

    page = written(nasty)
    tree, plain = parsed(page), parsed(written("x"))
    assert [tag for tag, _ in tree.seen] == [tag for tag, _ in plain.seen]
    assert "".join(tree.text).count(nasty) >= 3
    assert data_of(page)["choices"][0]["pieces"] == [
        p if p != "x" else nasty for p in data_of(written("x"))["choices"][0]["pieces"]
    ]
    script = re.search(r"const _float = .*?\nconst formulas", page, re.S)
    assert script is not None
    assert nasty not in script.group()


def test_the_page_is_whole_by_itself() -> None:
    page = own_explorer_page(solved(PARTLY))
    assert page == own_explorer_page(solved(PARTLY))
    assert not re.search(r"https?:|@import|url\(|\bfetch\(|XMLHttp",
                         page.replace("http://www.w3.org/2000/svg", ""))
    ids = [a["id"] for _, a in parsed(page).seen if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_command(tmp_path: Path) -> None:
    file, page = tmp_path / "own.toml", tmp_path / "own.html"
    file.write_text(PARTLY, encoding="utf-8")
    assert answer("explore", str(file), "--set", "a=3", "-o", str(page)) == ""
    text = page.read_text(encoding="utf-8")
    assert data_of(text)["sliders"][0]["value"] == 3
    out = ("-o", str(tmp_path / "x.html"))
    assert "FILE.toml" in refusal("explore", "edge-and-slack", "--set", "a=3", *out)
    assert "not of a file" in refusal("explore", str(file), "--hardware", "h100-sxm", *out)
    assert "absent.toml" in refusal("explore", str(tmp_path / "absent.toml"), *out)
    file.write_text('minimize = "x + 1/x"\n[variables]\nx = {}\n', encoding="utf-8")
    done = refusal("explore", str(file), *out, code=1)
    assert "no parameter to move" in done
