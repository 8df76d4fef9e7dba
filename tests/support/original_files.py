"""Certificate files that hold: of studies, derivations, problems, and written by hand."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import symscale.algebra.certify.theorems as certified
from boxes import Box
from places import ROOT
from symscale.derivation.library import derivation_names, load_derivation
from symscale.errors import SymscaleError
from symscale.kernel.check import FileVerdict, check
from symscale.problems.answer import answer
from symscale.problems.file import load_problem
from symscale.studies.training.answer import cliffs, full_training_limits, training_limits
from theorems import constraint, file, problem, term, theorem

Data = dict[str, Any]

_REFERENCE = ROOT.parent / "shared" / "reference" / "problems"
_SAMPLE = ("checkpoint-interval", "mixed-parallelism", "sequential-bounds")


def original_files(*, full: bool) -> list[Data]:
    """What the kernel was asked about and accepted, and the examples of the page.

    Args:
        full: Of all studies, derivations and problems, not of a few.
    """
    found: dict[str, None] = {
        json.dumps(data): None for data in (*_of_the_page(), SHRINKS, CUT, *_BOXES)
    }  # fmt: skip

    def recorded(text: str) -> FileVerdict:
        verdict = check(text)
        if verdict.holds:
            found[text] = None
        return verdict

    with patch.object(certified, "check", recorded):
        _ask(full=full)
    return [json.loads(text) for text in found]


def _ask(*, full: bool) -> None:
    _ = cliffs().theorems
    paths = sorted((ROOT / "docs" / "problems").glob("*.toml"))
    if full:
        _ = training_limits().theorems, full_training_limits().theorems
        for name in derivation_names():
            found = load_derivation(name)
            if found.limit is not None:
                certified.of_limit(found.limit, name)
            for s in found.steps:
                if s.proof is not None:
                    s.proof.check()
        paths += sorted(_REFERENCE.glob("*.toml"))
    for path in paths:
        if full or path.stem in _SAMPLE:
            with suppress(SymscaleError):  # of some problems there is no answer
                _ = answer(load_problem(str(path))).theorems


def _of_the_page() -> Iterator[Data]:
    text = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        data = json.loads(block)
        if "theorems" in data:
            yield {**file(), **data}


SHRINKS = file(
    theorem(
        "infimum", "a=2", value={"a": "1"},
        multipliers={"sum": {"value": [{}]}}, weights={"sum": [{}, None]},
        direction={"y": "-1"}, shrink={"x": "1"}, point={"x": {"a": "1"}, "y": {}}, slacks={},
    ),
    about=problem(
        "maximize", "x y", [{"x": "1"}], constraint("sum", {"x": "1", "a": "-1"}, {"y": "1"})
    ),
)  # fmt: skip
"""The greatest x with x/a + y <= 1: none, but a is approached."""

_BOXES = tuple(Box(count, 2, Fraction(1, 20)).file() for count in (2, 3))

_NEAR = [term({"c": "2"}), term({"a": "1"}, "-1")]
CUT = file(
    theorem(
        "curve", "r=3/4 c=1", "beyond", [{"positive": "q", "proof": [{"times": {"to": 1}}]}],
        share={"name": "r", "from": "1/2", "to": "1"},
        given={"a": {"c": "2", "r": "1", "q": "-1"}}, value={"c": "1", "q": "-1"},
        weights={"objective": [{"r": "1"}, {"q": "1"}]}, point={"x": {"c": "1"}}, slacks={},
        multipliers={
            "end": {
                "value": [term({"r": "1"}, "2"), term(coefficient="-1")],
                "proof": [{"coefficient": "2", "times": {"from": 1}}],
            }
        },
    ),
    theorem(
        "attained", "a=1 c=2", "within", [{"name": "near", "relation": ">=", "terms": _NEAR}],
        value={"2": "1", "a": "1/2"}, point={"x": {"a": "1/2"}}, slacks={"end": {"near": "1/2"}},
    ),
    theorem(
        "cover", "a=1 c=1", "all",
        tree={
            "split": {"name": "s", "terms": _NEAR},
            "yes": {"theorem": "within", "proofs": {"near": {"s": "1"}}},
            "no": {"theorem": "beyond", "proofs": {"above the least": {"not s": "1"}}},
        },
    ),
    about=problem(
        "minimize", "x", [{"a": "1", "x": "-1"}, {"x": "1"}],
        constraint("end", {"x": "1", "c": "-1"}),
    ),
    abbreviations=[{"name": "q", "terms": [term(), term({"r": "1"}, "-1")]}],
)  # fmt: skip
"""The least a/x + x with x <= c, beyond the end in the share of a/x."""
