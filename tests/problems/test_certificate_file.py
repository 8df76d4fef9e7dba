"""Certificate files: the written hold, the changed do not, the malformed are refused."""

import copy
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy as sp

from places import ROOT
from sampling import sample
from symscale.errors import CheckFailedError, InputError, SymscaleError
from symscale.kernel.certificate import Certificate
from symscale.kernel.checker import check
from symscale.problems.answer import answer
from symscale.problems.certificate_file import certificates_data, load_certificates
from symscale.problems.file import load_problem
from symscale.problems.proofs import certificates

PROBLEMS = ROOT / "docs" / "problems"
DOCUMENT = PROBLEMS.parent / "certificates.md"

Verify = Callable[[Any], None]


@cache
def written(name: str) -> str:
    problem = load_problem(str(PROBLEMS / f"{name}.toml"))
    return json.dumps(certificates_data(problem.title, certificates(answer(problem)), "1.0"))


@pytest.fixture
def verify(tmp_path: Path) -> Verify:
    """Write data, or text as it is, read it back and check it."""

    def write_and_check(data: Any) -> None:
        path = tmp_path / "proof.json"
        text = data if isinstance(data, str) else json.dumps(data)
        path.write_text(text, encoding="utf-8")
        for certificate in load_certificates(str(path))[1]:
            check(certificate)

    return write_and_check


CHANGES = sample(1)
FEW = 8
NAMES = sorted(p.stem for p in PROBLEMS.glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_holds(name: str, verify: Verify) -> None:
    data = json.loads(written(name))
    assert data["format"] == "symscale-certificate"
    assert data["version"] == 2
    assert data["certificates"]
    verify(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_keeps_everything(name: str, tmp_path: Path) -> None:
    """Written, read, and written again, it is the same."""
    path = tmp_path / "proof.json"
    path.write_text(written(name), encoding="utf-8")
    data = json.loads(written(name))
    again = certificates_data(*load_certificates(str(path)), "1.0")
    assert json.loads(json.dumps(again)) == data


def test_the_documented_example_holds(verify: Verify) -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in page.split("```json\n")[1:]]
    data = json.loads(blocks[0])
    assert data["certificates"]
    verify(data)
    sums = json.loads(blocks[1])
    assert sums["kind"] == "sums"
    verify({**data, "certificates": [sums]})
    verify({**data, "version": 1})


def changes(data: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a file with one thing changed in one certificate."""
    for k, row in enumerate(data["certificates"]):

        def changed(key: str, value: Any, k: int = k) -> Any:
            copied = copy.deepcopy(data)
            copied["certificates"][k][key] = value
            return copied

        yield "bound", changed("bound", {**row["bound"], "7": "1"})
        yield "sense", changed("sense", "maximize" if row["sense"] == "minimize" else "minimize")
        if row.get("kind") == "sums":
            yield from sum_changes(row, changed)
            continue
        yield "objective", changed("objective", {**row["objective"], "3": "1"})
        for name, weight in row["multipliers"].items():
            less = {n: w for n, w in row["multipliers"].items() if n != name}
            yield f"multiplier {name} removed", changed("multipliers", less)
            yield (
                f"multiplier {name} negated",
                changed("multipliers", {**row["multipliers"], name: f"-({weight})"}),
            )
        for name in row["variables"]:
            moved = {**row["point"], name: {**row["point"][name], "5": "1"}}
            if name in row["objective"]:
                yield f"point {name}", changed("point", moved)
            less = {n: m for n, m in row["point"].items() if n != name}
            yield f"point without {name}", changed("point", less)
        for position, constraint in enumerate(row["constraints"]):
            if constraint["name"] in row["multipliers"]:
                rows = copy.deepcopy(row["constraints"])
                rows[position]["ratio"]["11"] = "1"
                yield f"ratio {constraint['name']}", changed("constraints", rows)
                yield (
                    f"no {constraint['name']}",
                    changed("constraints", [c for c in row["constraints"] if c is not constraint]),
                )
        for position in range(len(row["conditions"])):
            fewer = [c for i, c in enumerate(row["conditions"]) if i != position]
            yield f"condition {position}", changed("conditions", fewer)
        if row["conditions"]:
            yield "witness", changed("witness", {})


def sum_changes(row: Any, changed: Callable[[str, Any], Any]) -> Iterator[tuple[str, Any]]:
    """Changes of a certificate of sums."""
    yield "objective", changed("objective", [*row["objective"], {"3": "1"}])
    yield "kind", changed("kind", "monomials")
    yield "no weights", changed("weights", {})
    for name, shares in row["weights"].items():
        for k, share in enumerate(shares):
            other = [*shares[:k], {**share, "13": "1"}, *shares[k + 1 :]]
            yield f"weight {k} of {name}", changed("weights", {**row["weights"], name: other})
    for name, terms in row["multipliers"].items():
        rest = {n: t for n, t in row["multipliers"].items() if n != name}
        yield f"multiplier {name} removed", changed("multipliers", rest)
        double = [{**t, "coefficient": f"2*({t['coefficient']})"} for t in terms]
        yield f"multiplier {name} doubled", changed("multipliers", {**rest, name: double})
    for name in row["variables"]:
        moved = {**row["point"], name: {**row["point"][name], "5": "1"}}
        yield f"point {name}", changed("point", moved)
    for position, constraint in enumerate(row["constraints"]):
        if constraint["name"] in row["multipliers"]:
            rows = copy.deepcopy(row["constraints"])
            rows[position]["terms"][0]["11"] = "1"
            yield f"terms {constraint['name']}", changed("constraints", rows)
    for position, condition in enumerate(row["conditions"]):
        turned = {"left": condition["right"], "right": condition["left"]}
        others = [c for i, c in enumerate(row["conditions"]) if i != position]
        yield f"condition {position} turned", changed("conditions", [*others, turned])
        yield f"condition {position} removed", changed("conditions", others)
    yield "witness", changed("witness", {})


def some_changes(name: str) -> list[tuple[str, Any]]:
    """A change of every kind, and others drawn at random; in a campaign, of every seed."""
    found = []
    for seed in CHANGES.seeds:
        every = list(changes(json.loads(written(name))))
        Random(seed).shuffle(every)
        of_kind = {what.split()[0]: (what, data) for what, data in every}
        found += [*of_kind.values(), *every[:FEW]]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_changed_is_noticed(name: str, verify: Verify) -> None:
    tried = 0
    for what, data in some_changes(name):
        with pytest.raises(SymscaleError) as caught:
            verify(data)
        assert isinstance(caught.value, CheckFailedError | InputError), what
        tried += 1
    assert tried >= 8


def broken(**changes: Any) -> Callable[[], Any]:
    def data() -> Any:
        found = json.loads(written("sequential-bounds"))
        return {**found, "certificates": [{**found["certificates"][0], **changes}]}

    return data


def whole(**changes: Any) -> Callable[[], Any]:
    return lambda: {**json.loads(written("sequential-bounds")), **changes}


MALFORMED: dict[str, str | Callable[[], Any]] = {
    "no JSON": "hello",
    "empty": "",
    "half": lambda: written("sequential-bounds")[:700],
    "a number": "3",
    "a list": "[]",
    "NaN": '{"format": NaN}',
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "other format": whole(format="other"),
    "later version": whole(version=3),
    "no certificates": whole(certificates=[]),
    "certificates no list": whole(certificates={"a": 1}),
    "certificate no object": whole(certificates=[3]),
    "empty certificate": whole(certificates=[{}]),
    "sense": broken(sense="improve"),
    "sense a list": broken(sense=[]),
    "objective a text": broken(objective="T"),
    "exponent a number": broken(objective={"T": 1}),
    "exponent nonsense": broken(objective={"T": "one"}),
    "exponent hostile": broken(objective={"T": "__import__('os').system('id')"}),
    "atom hostile": broken(objective={"__import__('os').system('id')": "1"}),
    "atom unknown": broken(objective={"unheard_of": "1"}),
    "atom negative": broken(objective={"-3": "1"}),
    "atom zero": broken(objective={"0": "1"}),
    "atom huge": broken(objective={"9" * 5000: "1"}),
    "exponent huge": broken(objective={"T": "9" * 5000}),
    "tower": broken(objective={"2^2^2^2^2^2": "1"}),
    "constraints a text": broken(constraints="all"),
    "constraint a number": broken(constraints=[3]),
    "constraint without ratio": broken(constraints=[{"name": "a", "relation": "<="}]),
    "relation": broken(constraints=[{"name": "a", "relation": "<", "ratio": {"T": "1"}}]),
    "two of a name": broken(constraints=[{"name": "a", "relation": "<=", "ratio": {"T": "1"}}] * 2),
    "witness a float": broken(witness={"C": 0.5}),
    "witness an expression": broken(witness={"C": "sqrt(2)"}),
    "witness of a hostile name": broken(witness={"a.b": "1"}),
    "long name": broken(witness={"a" * 200: "1"}),
    "variables a number": broken(variables=3),
    "variables of numbers": broken(variables=[1]),
    "variable without symbol": broken(variables=["T", "N", "b", "ghost()"]),
    "point of a stranger": broken(point={"stranger?": {}}),
    "multipliers a list": broken(multipliers=["energy"]),
    "conditions a number": broken(conditions=7),
    "exponents a list": broken(exponents=["alpha"]),
    "exponent without end": broken(exponents={"alpha": ["1"]}),
    "exponent with words": broken(exponents={"alpha": ["low", "high"]}),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused_in_one_line(name: str, verify: Verify) -> None:
    entry = MALFORMED[name]
    data = entry() if callable(entry) else entry
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        verify(data)
    assert time.process_time() - start < 5
    text = str(caught.value)
    assert "proof.json" in text
    assert "\n" not in text
    assert len(text) < 600


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    path.write_text(" " * 3_000_000, encoding="utf-8")
    with pytest.raises(InputError, match="larger than"):
        load_certificates(str(path))


def test_many_certificates_take_bounded_time(tmp_path: Path) -> None:
    row = {"sense": "maximize"}
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(whole(certificates=[row] * 50_000)()), encoding="utf-8")
    with pytest.raises(InputError, match="certificate 1"):
        load_certificates(str(path))


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\x00\x80")
    for path in (tmp_path, tmp_path / "absent.json", tmp_path / "bytes.json", Path("/dev/zero")):
        with pytest.raises(InputError):
            load_certificates(str(path))
    with pytest.raises(InputError):
        load_certificates("a\0b")


def condensed(name: str) -> list[Any]:
    """The certificates of a closed form of sums, read back from their file's text."""
    found = answer(load_problem(str(PROBLEMS / f"{name}.toml")))
    return [c for c in certificates(found) if isinstance(c, Certificate) and c.condensed]


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("checkpoint-interval", "sqrt(2)*sqrt(t_c)/sqrt(M)"),
        ("mixed-parallelism", "4*sqrt(B)*D*sqrt(F)*w/(sqrt(M_X)*sqrt(M_Y)*sqrt(N)*W)"),
    ],
)
def test_a_closed_form_of_sums_is_certified_as_it_is(name: str, bound: str) -> None:
    (proof,) = condensed(name)
    assert proof.piece == "interior"
    assert str(proof.bound.expr) == bound
    check(proof)


def test_condensation_is_checked() -> None:
    (proof,) = condensed("checkpoint-interval")
    ((name, parts),) = proof.condensed.items()
    (first, half), (second, _) = parts
    third = sp.Rational(1, 3)
    wrong = {
        "is not its weight": ((first, third), (second, 2 * third)),
        "no positive rational": ((first, -half), (second, half)),
        "is not its sum condensed": ((first, half),),
        "not its weight": ((first * first, half), (second, half)),
    }
    for says, changed in wrong.items():
        with pytest.raises(CheckFailedError, match=says):
            check(replace(proof, condensed={name: changed}))
    with pytest.raises(CheckFailedError, match="no constraint"):
        check(replace(proof, condensed={"nothing": parts}))


def test_condensed_certificates_survive_their_file(tmp_path: Path) -> None:
    proofs = condensed("compute-optimal") + condensed("mixed-parallelism")
    assert len(proofs) == 2
    file = tmp_path / "proofs.json"
    text = json.dumps(certificates_data("sums", proofs, "1.0"))
    file.write_text(text, encoding="utf-8")
    _, read = load_certificates(str(file))
    for proof, again in zip(proofs, read, strict=True):
        check(again)
        assert isinstance(again, Certificate)
        assert again.bound == proof.bound or str(again.bound) == str(proof.bound)
        assert {n: len(p) for n, p in again.condensed.items()} == {
            n: len(p) for n, p in proof.condensed.items()
        }
    tampered = json.loads(text)
    for constraint in tampered["certificates"][1]["constraints"]:
        for part in constraint.get("condensed", []):
            part["weight"] = "1/3"
    file.write_text(json.dumps(tampered), encoding="utf-8")
    check(load_certificates(str(file))[1][0])
    with pytest.raises(CheckFailedError):
        check(load_certificates(str(file))[1][1])


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "other"}, {"kind": 3}, {"objective": {}}, {"objective": [3]},
        {"weights": []}, {"weights": {"objective": {}}}, {"multipliers": {"X >= 1": {"a": 1}}},
        {"multipliers": {"X >= 1": [{"coefficient": 1, "monomial": {}}]}},
        {"conditions": [{}]}, {"conditions": [{"left": {}, "right": []}]}, {"conditions": 3},
        {"constraints": [{"name": "a", "relation": "<", "terms": []}]}, {"constraints": [{}]},
        {"conditions": [{"left": [], "right": []}] * 401},
        {"sense": "best"}, {"exponents": {"D": []}}, {"exponents": {"D": 3}},
    ],
)  # fmt: skip
def test_malformed_certificates_of_sums(changes: Any, verify: Verify) -> None:
    sums = json.loads(written("mixed-parallelism"))
    beside = next(c for c in sums["certificates"] if c.get("kind") == "sums")
    with pytest.raises(InputError) as caught:
        verify({**sums, "certificates": [{**beside, **changes}]})
    assert "\n" not in str(caught.value)
