"""Values show themselves in notebooks; the tutorial notebook runs as it stands."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from places import ROOT
from symscale.answers import Shown
from symscale.costs.cost import cost
from symscale.derivation.library import load_derivation
from symscale.language.symbols import symbols
from symscale.studies.comp_vs_comm.answer import ratio_answer
from symscale.studies.cost.answer import cost_answer
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import Request, transformer_request
from symscale.studies.training.answer import cliffs, training_limits

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"


def request() -> Request:
    return transformer_request("gpt-3", PlanOptions(tp=8))


VALUES: dict[str, Callable[[], Shown]] = {
    "limits": lambda: training_limits("h100-sxm"),
    "cliffs": cliffs,
    "costs": lambda: cost_answer(request()),
    "ratios": lambda: ratio_answer(request()),
    "derivation": lambda: load_derivation("crossing-k"),
    "cost": lambda: cost(symbols("d_model")[0] ** 2, "FLOP"),
}


@pytest.mark.parametrize("name", VALUES)
def test_every_kind_has_every_form(name: str) -> None:
    value = VALUES[name]()
    bundle = value._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/latex", "text/html", "text/markdown"}
    assert all(text.strip() for text in bundle.values())
    assert bundle["text/html"] == value._repr_html_()
    assert bundle["text/latex"] == value._repr_latex_()
    assert "<math" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "\\begin{document}" not in bundle["text/latex"]


def test_a_cost_has_its_unit() -> None:
    shown = cost(symbols("d_model")[0] ** 2, "FLOP/s")
    assert shown._repr_latex_() == r"$d_{\mathrm{model}}^{2}\ \mathrm{FLOP/s}$"


def last_value(source: str, names: dict[str, Any]) -> object:
    """Run a cell as a notebook does: statements, then the value of a last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102  # our own notebook
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def test_the_tutorial_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names: dict[str, Any] = {}
    shown = 0
    for cell in notebook["cells"]:
        assert cell["id"]
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # what they show is made anew
            value = last_value("".join(cell["source"]), names)
            if isinstance(value, Shown):
                assert value._repr_mimebundle_()["text/html"]
                shown += 1
    assert shown >= 4
