"""Certificate files with one or two things changed: no false theorem is accepted.

What the kernel accepts, and what differs from the original, is judged again by numbers:
sampled parameters, numerical optima, and code that shares nothing with the kernel.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

import sampling
from altered_files import Altered
from original_files import original_files
from sampling import sample
from second_judge import Judge, leaves, statement
from symscale.kernel.check import check
from symscale.kernel.limits import Refused

Data = dict[str, Any]
SAMPLE = sample(250)


@cache
def originals() -> list[Data]:
    """The files that hold: a few, or in a campaign all."""
    return original_files(full=sampling.chosen is not None)


class Campaign:
    """Altered files, what became of them, and what was found false."""

    def __init__(self) -> None:
        self.counts, self.false = Counter[str](), list[str]()
        self.judged = dict[str, str]()
        self.places: dict[str, list[tuple[Data, int]]] = {}
        for data in originals():
            for k, theorem in enumerate(data["theorems"]):
                self.places.setdefault(theorem["theorem"], []).append((data, k))
                self.judged[statement(data, theorem, "")] = ""

    def tried(self, seed: int) -> None:
        """Alter a file, and judge what is accepted."""
        random = Random(seed)
        if random.random() < 0.3:  # one of a kind, which may be rare
            data, place = random.choice(self.places[random.choice(sorted(self.places))])
        else:
            data = random.choice(originals())
            place = random.randrange(len(data["theorems"]))
        altered = Altered(data, place, random)
        altered.alter()
        self.counts["altered"] += 1
        try:
            finding = check(altered.text()).findings[-1]
            if finding.holds:
                self.counts["accepted"] += 1
                self._judge(seed, altered, finding.text)
        except Refused:
            return
        except Exception as error:
            self.false.append(f"seed {seed}, {altered.made}: {type(error).__name__}: {error}")

    def _judge(self, seed: int, altered: Altered, text: str) -> None:
        said = statement(altered.file, altered.theorem, text)
        if said not in self.judged:
            self.counts["judged"] += 1
            self.judged[said] = Judge(altered.file, altered.theorem, text, seed).fault(3)
            if fault := self.judged[said]:
                self.counts["false"] += 1
                self.false.append(f"seed {seed}, {altered.made}: {fault}: {text}")


def test_no_false_theorem_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    campaign = Campaign()
    for seed in SAMPLE.seeds:
        campaign.tried(seed)
    if sampling.chosen:
        with capsys.disabled():
            print("\ncounts:", dict(campaign.counts))
    assert not campaign.false
    assert campaign.counts["accepted"] >= SAMPLE.least(25)
    assert campaign.counts["judged"] >= SAMPLE.least(10)


# The judge sees what is false


_FEASIBLE = ("attained", "infimum", "unbounded")


def wrong_theorems(data: Data, theorem: Data) -> Iterator[Data]:
    """The theorem, made false in all of its region or in a part of it."""
    least = "problem" in data and data["problem"]["sense"] == "minimize"
    value, region = theorem.get("value", {}), theorem["region"]
    ends = [t["value"] for t in data["theorems"] if t["theorem"] in ("attained", "infimum")]
    if "value" in theorem and value in ends:  # by one in a hundred better than it can be
        more, less = ("101", "100") if least else ("100", "101")
        yield {**theorem, "value": {**value, more: "1", less: "-1"}}
    match theorem["theorem"]:
        case "feasible":
            yield {**theorem, "value": {**value, str(10**9 + 7): "-1" if least else "1"}}
        case "unbounded":
            ray = {x: f"-({e})" for x, e in theorem["direction"].items()}
            yield {**theorem, "direction": ray}
        case "infeasible" if region:
            feasible = next(t for t in data["theorems"] if t["theorem"] in _FEASIBLE)
            yield {**theorem, "region": [], "witness": feasible["witness"]}
        case "cover" if len(set(leaves(theorem["tree"]))) > 1:
            for name in set(leaves(theorem["tree"])):
                yield {**theorem, "tree": {"theorem": name}}
        case "tangent":
            yield {**theorem, "within": "0"}
            yield {**theorem, "value": {**value, "101": "1" if least else "-1", "100": "0"}}
        case "curve":
            yield {**theorem, "value": {**value, "101": "1" if least else "-1", "100": "-1"}}
            ((name, given),) = theorem["given"].items()
            yield {**theorem, "given": {name: {**given, "2": "1"}}}
        case "box":
            yield {**theorem, "within": "1/1000"}
            numbers = [{**n, "to": str(10**6)} for n in theorem["numbers"]]
            yield {**theorem, "numbers": numbers}
            tangents = [
                {**t, "value": {**t["value"], "101": "2" if least else "-2", "10": "-4"}}
                for t in theorem["tangents"]
            ]
            yield {**theorem, "tangents": tangents}
        case "identity":
            yield {**theorem, "left": theorem["left"] * 2}
        case "inequality":
            yield {**theorem, "left": theorem["right"], "right": theorem["left"] * 2}


def test_the_judge_sees_what_is_false() -> None:
    tried = Counter[str]()
    for data in originals():
        for theorem in data["theorems"]:
            assert not Judge(data, theorem, "").fault(2), theorem
            for wrong in wrong_theorems(data, theorem):
                assert Judge(data, wrong, "").fault(10), wrong
                tried[theorem["theorem"]] += 1
    assert len(tried) == 12
