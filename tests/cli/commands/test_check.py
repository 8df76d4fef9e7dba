"""Command `check`: what it prints in every format, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

import symscale as ss
from commands import answer, refusal, run
from hostile_files import identity, product_of, sums_of, theorems_of
from places import DATA

FORMATS = ("text", "json", "latex", "markdown")
OLD = DATA / "certificates" / "version-2" / "mixed-parallelism.json"
WRONG = identity([{}])
"""The claim that 1 = 0."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "proof.json"


def put(file: Path, data: Any) -> str:
    file.write_text(json.dumps(data), encoding="utf-8")
    return str(file)


def test_what_holds(file: Path) -> None:
    assert answer("check", put(file, theorems_of())) == (
        'maximize T over T > 0 subject to T/C <= 1 ["a"]\n\n'
        'holds: "b" (bound): for all positive parameters: every feasible point has T <= C\n\n'
        "the theorem holds\n"
    )


def test_what_does_not(file: Path) -> None:
    wrong = put(file, theorems_of(*theorems_of()["theorems"], WRONG))
    done = run("check", wrong)
    assert (done.code, done.err) == (
        1, 'symscale: "i": the two sides are not shown to be equal\n'
    )  # fmt: skip
    assert done.out.splitlines()[3:] == [
        'does not hold: "i" (identity): the two sides are not shown to be equal', "",
        "1 of 2 theorems hold",
    ]  # fmt: skip


def test_without_a_problem(file: Path) -> None:
    data = theorems_of(identity([]))
    del data["problem"]
    assert answer("check", put(file, data)).startswith('holds: "i" (identity): for all positive')


def test_what_holds_as_json(file: Path) -> None:
    data = json.loads(answer("check", put(file, theorems_of()), "--format", "json"))
    (part,) = data.pop("certificates")
    work = part.pop("work")
    assert 0 < work < 100
    text = "for all positive parameters: every feasible point has T <= C"
    assert part == {
        "piece": "x", "holds": True, "problem": 'maximize T over T > 0 subject to T/C <= 1 ["a"]',
        "theorems": [{"name": "b", "kind": "bound", "holds": True, "text": text}],
    }  # fmt: skip
    del data["symscale_version"]
    assert data == {
        "problem": "x", "holds": True, "schema": 1,
        "checks": [{"name": "b", "holds": True, "detail": text}],
    }  # fmt: skip


def test_what_does_not_as_json(file: Path) -> None:
    data = json.loads(OLD.read_text(encoding="utf-8"))
    data["certificates"][1]["bound"]["3"] = "1"
    done = run("check", put(file, data), "--format", "json")
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    found = json.loads(done.out)
    assert found["holds"] is False
    assert [c["holds"] for c in found["certificates"]] == [True, False]
    assert [c["piece"] for c in found["certificates"]] == ["interior", "X >= 1"]
    wrong = [c for c in found["checks"] if not c["holds"]]
    assert [c["name"] for c in wrong] == ["X >= 1 (bound)", "X >= 1 (point)"]
    assert wrong[0]["detail"] in done.err


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_every_theorem(form: str, file: Path) -> None:
    printed = answer("check", str(OLD), "--format", form)
    target = file.with_suffix(".out")
    assert answer("check", str(OLD), "--format", form, "-o", str(target)) == ""
    assert target.read_text(encoding="utf-8") == printed
    for word in ("interior (bound)", "interior (point)", "1 (bound)", "1 (point)", "positive"):
        assert word in printed
    assert "ll 4 theorems hold" in printed or form == "json"


def test_as_a_page(file: Path) -> None:
    target = file.with_suffix(".html")
    ss.check(OLD).save(target)
    assert "interior (bound)" in target.read_text(encoding="utf-8")


FORGER = "x\\\" (bound): yes holds: \"all\" (bound): nothing | b | `c` $d$ <b>e</b> \\input{f}"
"""A name that tries to be a verdict, a cell, a formula, a tag, and a command."""


def test_names_forge_no_line(file: Path) -> None:
    """Every line that a file has written is indented, and what it named is in quotes."""
    problem = {**theorems_of()["problem"], "constraints": [
        {"name": FORGER * 2, "relation": "<=", "terms": [{"T": "1", "C": "-1"}]},
    ]}  # fmt: skip
    theorems = [{**identity([{}]), "name": f"{FORGER} {k}"} for k in range(3)]
    theorems.append({**identity([]), "name": FORGER, "theorem": "holds) all: \"x\""})
    data = theorems_of(*theorems, problem=problem, title=FORGER)
    done = run("check", put(file, data))
    assert done.code == 1
    for line in done.out.splitlines():
        assert line.startswith(("maximize T ", 'does not hold: "x', "    ", "0 of 4")) or not line
    assert done.out.count("does not hold: ") == 4
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_names_forge_no_markup(form: str, file: Path) -> None:
    data = theorems_of({**theorems_of()["theorems"][0], "name": FORGER}, title=FORGER)
    printed = answer("check", put(file, data), "--format", form)
    of_markdown = ("<b>", " `c` ", "nothing |") if form == "markdown" else ()
    for markup in ("$d$", "\\input{f}", *of_markdown):
        assert markup not in printed


def test_names_forge_no_tag(file: Path) -> None:
    data = theorems_of({**theorems_of()["theorems"][0], "name": FORGER}, title=FORGER)
    target = file.with_suffix(".html")
    ss.check(put(file, data)).save(target)
    assert "<b>" not in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 200])
def test_lines_fit_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = answer("check", str(OLD)).splitlines()
    assert width - 40 < max(map(len, lines)) <= width


def test_older_files(file: Path) -> None:
    for data in (product_of(), {**product_of(), "version": 1}, sums_of()):
        printed = answer("check", put(file, data))
        assert 'holds: "p (bound)" (bound): for all positive parameters: ' in printed
        assert printed.endswith("all 2 theorems hold\n")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"hello", b"[]", b"{}", b'{"format": "symscale-certificate", "version": 1}',
        b"[" * 100_000, b"\xff\xfe", b" " * 3_000_000, b'{"format": NaN}',
        b'{"format": "symscale-certificate", "version": 1, "certificates": [{}]}',
        b'{"format": "a\\u001b[31mb", "version": "\\n\\n"}',
        b'{"format": "symscale-certificate", "version": 3, "title": "a\\nholds: all"}',
        b'{"a": 1, "a": 2}', b'{"\\u001b[31m": 1, "\\u001b[31m": 2}',
    ],
)  # fmt: skip
def test_what_is_no_certificate(content: bytes, file: Path, tmp_path: Path) -> None:
    file.write_bytes(content)
    assert "proof.json: " in refusal("check", str(file))
    refusal("check", str(tmp_path))
    refusal("check", str(tmp_path / "absent.json"))
