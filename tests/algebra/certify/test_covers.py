"""Covers of closed forms of sums: found where they are, and nothing false passes the kernel."""

import json
from pathlib import Path
from typing import Any

import pytest

from symscale.algebra.certify.covers import COVER, cover_of
from symscale.kernel.check import check
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem

PROBLEMS = Path(__file__).parents[3] / "docs" / "problems"


def solved(name: str) -> ProblemAnswer:
    return answer(load_problem(str(PROBLEMS / f"{name}.toml")))


def leaves(tree: Any) -> list[str]:
    if "theorem" in tree:
        return [tree["theorem"]]
    return [name for side in ("yes", "no") for name in leaves(tree[side])]


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("compute-optimal", 1),
        ("checkpoint-interval", 1),
        ("mixed-parallelism", 2),
        ("network-energy", 4),
    ],
)
def test_covers_of_the_examples(name: str, pieces: int) -> None:
    found = solved(name)
    assert found.complete
    assert COVER in found.theorems.shown
    assert found.theorems.data is not None
    (cover,) = (t for t in found.theorems.data["theorems"] if t["theorem"] == "cover")
    assert set(leaves(cover["tree"])) == {p.name for p in found.pieces}
    assert len(found.pieces) == pieces


def test_a_cover_that_lacks_a_case_is_not_found_and_not_believed() -> None:
    theorems = solved("mixed-parallelism").theorems
    assert theorems.data is not None
    data: Any = json.loads(json.dumps(theorems.data))
    gone = next(t["name"] for t in data["theorems"] if t["theorem"] == "attained")
    data["theorems"] = [t for t in data["theorems"] if t["name"] != gone]
    *_, verdict = check(json.dumps(data)).findings
    assert (verdict.kind, verdict.holds) == ("cover", False)
    data["theorems"] = [t for t in data["theorems"] if t["theorem"] != "cover"]
    assert cover_of(data) is None


def test_where_no_cover_is_found_it_is_named() -> None:
    """The stages of a pipeline exceed one only where a condition says so."""
    assert solved("pipeline-microbatches").theorems.missing == (COVER,)
