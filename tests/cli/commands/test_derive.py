"""Derivations as the command prints them: how each step was checked, and what was not."""

import json
from pathlib import Path

import pytest

from commands import run


@pytest.mark.parametrize("name", ["kinds-of-answers", "edge-and-slack"])
@pytest.mark.parametrize("form", ["text", "latex", "markdown", "html"])
def test_without_checks_every_step_says_so_and_the_end_too(name: str, form: str) -> None:
    data = json.loads(run("derive", name, "--format", "json", "--no-check").out)
    derived = [s for s in data["steps"] if s["kind"] not in ("definition", "assumption")]
    done = run("derive", name, "--no-check", "--format", form)
    out = " ".join(done.out.split())
    assert done.code == 0
    assert out.count(" Not checked.") == len(derived)
    said = "Not checked by the kernel, as was asked for."
    assert out.index(said) > out.rindex(" Not checked.")
    assert "random points" not in out
    assert "The kernel shows" not in out
    assert data["theorems"] == {"checked": False}
    assert not any(s["checked"] or s["kernel"] for s in data["steps"])


def test_steps_say_how_they_were_checked() -> None:
    data = json.loads(run("derive", "kinds-of-answers", "--format", "json").out)
    out = " ".join(run("derive", "kinds-of-answers").out.split())
    optima = [s for s in data["steps"] if s["kind"] == "optimum"]
    rest = [s for s in data["steps"] if s["kind"] in ("product", "meeting")]
    assert all(s["kernel"] for s in optima)
    assert all(s["random_points"] and not s["kernel"] for s in rest)
    assert out.count("The kernel shows it.") == len(optima)
    assert "Not checked" not in out


def test_a_derivation_with_a_limit_ends_with_its_proof(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    done = run("derive", "training-limits", "--certificate", str(proof))
    assert "The kernel shows 5 theorems of this answer: 2 bounds, 2 attained" in done.out
    assert run("check", str(proof)).code == 0
    assert "Proof\n" not in run("derive", "edge-and-slack").out
    assert "theorems" not in json.loads(run("derive", "edge-and-slack", "--format", "json").out)
