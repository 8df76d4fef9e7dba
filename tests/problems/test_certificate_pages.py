"""The page on certificates, and the schema: both say what the kernel does."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from random import Random
from typing import Any

import pytest

from commands import answer
from hostile_files import theorems_of
from places import DATA, ROOT
from sampling import sample
from symscale.kernel.check import FileVerdict, check
from symscale.kernel.limits import Refused
from symscale.kernel.read import read_json
from symscale.problems.older.convert import converted

PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(part.split("```")[0]) for part in PAGE.split("```json\n")[1:]]
KINDS = (
    "bound", "attained", "feasible", "infimum", "infeasible", "unbounded", "cover", "identity",
    "inequality", "tangent", "curve", "box",
)  # fmt: skip


def whole(example: dict[str, Any]) -> dict[str, Any]:
    """An example of the page as a file."""
    head = theorems_of()
    del head["problem"]
    return {**head, **example}


def verdict(data: Any) -> FileVerdict | None:
    """What the kernel says; None if it is no file."""
    try:
        return check(json.dumps(data))
    except Refused:
        return None


# The page


@pytest.mark.parametrize("place", range(len(EXAMPLES)))
def test_the_examples_of_the_page_hold(place: int) -> None:
    found = verdict(whole(EXAMPLES[place]))
    assert found is not None
    assert [(f.name, f.text) for f in found.findings if not f.holds] == []


def test_the_page_has_an_example_of_every_kind() -> None:
    shown = {t["theorem"] for example in EXAMPLES for t in example["theorems"]}
    assert shown == set(KINDS)
    for kind in KINDS:
        assert f"**{kind}**" in PAGE


def test_the_page_prints_what_is_printed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(EXAMPLES[0]), encoding="utf-8")
    shown = PAGE.split("$ symscale check proof.json\n")[1].split("```")[0]
    assert answer("check", str(file)) == shown


# The schema

SCHEMA = json.loads(
    files("symscale.kernel").joinpath("certificate.schema.json").read_text(encoding="utf-8")
)


@cache
def validator() -> Any:
    made: Any = import_module("jsonschema").Draft202012Validator
    made.check_schema(SCHEMA)
    return made(SCHEMA)


def fits(data: Any) -> bool:
    return bool(validator().is_valid(data))


@cache
def known() -> tuple[str, ...]:
    """Files that hold: those of the page, and what older versions wrote."""
    found = [json.dumps(whole(example)) for example in EXAMPLES]
    for path in sorted((DATA / "certificates" / "version-2").glob("*.json")):
        if path.stem != "limits-sym":  # large, and of the same kinds
            found += [c.text for c in converted(read_json(path.read_text(encoding="utf-8")))[1]]
    return tuple(found)


def test_what_holds_fits() -> None:
    for text in known():
        errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in
                  validator().iter_errors(json.loads(text))]
        assert errors == []


def parts(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value in a file, with the way to it."""
    yield path, data
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from parts(value, (*path, key))


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with one value replaced; `...` takes it out."""
    found = copy.deepcopy(data)
    if not path:
        return value
    place = found
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return found


def damaged(data: Any) -> Iterator[tuple[str, Any]]:
    """Copies with one value of another type, one key more, or one key less."""
    for path, value in parts(data):
        others: list[Any] = [7, "x", [], {}, None, True, 1.5, "a\n", "", [[]], {"": ""}]
        for other in others:
            if path and type(other) is not type(value):
                yield f"{path} is {other!r}", put(data, path, other)
        if isinstance(value, dict):
            yield f"{path} more", put(data, path, {**value, "no such key": "1"})
        if path and isinstance(path[-1], str):
            yield f"{path} less", put(data, path, ...)




DAMAGES = sample(1)
MANY = 60


@pytest.mark.parametrize("place", range(len(EXAMPLES)))
def test_structural_damage_is_refused_by_both(place: int) -> None:
    """What the kernel accepts fits the schema; what does not fit, it refuses."""
    data = whole(EXAMPLES[place])
    refused = 0
    for seed in DAMAGES.seeds:
        for what, changed in Random(seed).sample(list(damaged(data)), MANY):
            if not fits(changed):
                refused += 1
                found = verdict(changed)
                assert found is None or not found.holds, what
    assert refused > MANY / 2


def test_the_schema_is_strict() -> None:
    good = theorems_of()
    assert fits(good)
    (bound,) = good["theorems"]
    changes: list[dict[str, Any]] = [
        {"witness": {"C": 1}}, {"witness": {"C": "1.5"}}, {"value": {"1": "1"}},
        {"value": {"0": "1"}}, {"value": {"02": "1"}}, {"value": {"C": 1}}, {"name": "a\tb"},
        {"value": {"C": "1\n"}}, {"value": {"C": "sqrt(2)."}}, {"theorem": "lemma"}, {"at": []},
        {"multipliers": {"a": {}}}, {"multipliers": {"a": {"value": "1"}}}, {"slacks": {}},
        {"region": [{"name": "c", "relation": "<", "terms": []}]}, {"region": "everywhere"},
        {"weights": {"a": "1"}},
    ]  # fmt: skip
    wrong: list[Any] = [
        {**good, "more": 1}, {**good, "version": 2}, {**good, "version": "3"},
        {**good, "title": "a\n"}, {**good, "title": "é"}, {**good, "title": ""},
        {**good, "title": "x" * 201}, {**good, "theorems": []}, {**good, "exponents": {"a": ["0"]}},
        {**good, "exponents": {"a": ["0", "1/0"]}}, {**good, "exponents": {"a\n": ["0", "1"]}},
        {**good, "exponents": {name: ["0", "1"] for name in "abcd"}}, [], "x", 3, None,
        *({**good, "theorems": [{**bound, **change}]} for change in changes),
    ]  # fmt: skip
    for data in wrong:
        assert not fits(data), data
        found = verdict(data)
        assert found is None or not found.holds, data
