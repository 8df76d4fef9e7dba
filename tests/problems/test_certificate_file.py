"""Certificate files: what holds is proved anew, what is forged or malformed is refused."""

import copy
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hostile_files import HOSTILE, product_of, sums_of, text_of, theorems_of
from places import DATA
from sampling import sample
from symscale.errors import InputError
from symscale.kernel.check import FileVerdict, check
from symscale.kernel.limits import Refused
from symscale.kernel.read import read_json
from symscale.problems.certificate_file import judge, judge_file
from symscale.problems.older.convert import ConvertedCertificate, converted

CERTIFICATES = DATA / "certificates"
FORGED = CERTIFICATES / "forged"
GENUINE = (CERTIFICATES / "version-1.json", *sorted((CERTIFICATES / "version-2").glob("*.json")))
NAMES = [path.stem for path in GENUINE]


@cache
def written(name: str) -> str:
    return GENUINE[NAMES.index(name)].read_text(encoding="utf-8")


def texts(data: Any) -> list[ConvertedCertificate]:
    return converted(read_json(json.dumps(data)))[1]


def judged(data: Any) -> tuple[FileVerdict, ...]:
    return judge(data if isinstance(data, str) else json.dumps(data))[1]


def why_not(data: Any) -> str:
    """Why a file is refused, or its first theorem that does not hold."""
    try:
        found = judged(data)
    except InputError as error:
        return str(error)
    return next((t.text for v in found for t in v.findings if not t.holds), "")


# What older versions wrote holds


@pytest.mark.parametrize("name", NAMES)
def test_what_older_versions_wrote_holds(name: str) -> None:
    certificates = json.loads(written(name))["certificates"]
    found = judged(written(name))
    assert len(found) == len(certificates)
    for verdict, old in zip(found, certificates, strict=True):
        assert verdict.title == old["piece"]
        kinds = [(t.kind, t.holds) for t in verdict.findings]
        assert kinds == [("bound", True), ("attained", True)]


def test_what_is_written_anew_stands_for_itself() -> None:
    """Each text is a file of version 3 that the kernel judges without the rest."""
    title, found = converted(read_json(written("mixed-parallelism")))
    assert title == json.loads(written("mixed-parallelism"))["title"]
    for c in found:
        data = json.loads(c.text)
        assert (data["version"], data["title"]) == (3, c.piece)
        assert check(c.text).holds


def test_the_region_says_where_sums_are_positive() -> None:
    """Of p >= 1 it follows only that p - 1 >= 0, so that p - 1 > 0 is assumed, and printed."""
    (verdict,) = judged(written("pipeline-microbatches"))
    for theorem in verdict.findings:
        assert ": " in theorem.text
        assert "p >= 1, p > 1" in theorem.text.partition(": ")[0]


def test_conditions_of_the_point_are_no_conditions_of_the_bound() -> None:
    (verdict,) = judged(product_of(
        variables=["T", "N"], bound={"C": "1"}, conditions=[{"A": "1", "C": "-1"}],
        constraints=[
            {"name": "a", "relation": "<=", "ratio": {"T": "1", "C": "-1"}},
            {"name": "b", "relation": "<=", "ratio": {"A": "1", "N": "-1"}},
        ],
        point={"T": {"C": "1"}, "N": {"C": "1"}}, witness={"C": "2", "A": "1"},
    ))  # fmt: skip
    bound, point = verdict.findings
    assert bound.text.startswith("for all positive parameters: every feasible point has T <= C")
    assert point.text.startswith("for all positive parameters with 1 >= A/C: the point T = C, ")


def test_a_condensed_constraint_becomes_the_sum_that_it_stands_for() -> None:
    found = [json.loads(c.text) for c in converted(read_json(written("checkpoint-interval")))[1]]
    (sum_,) = (c for c in found[0]["problem"]["constraints"] if len(c["terms"]) > 1)
    assert len(sum_["terms"]) == 2
    assert found[0]["theorems"][0]["weights"][sum_["name"]] == [{"2": "-1"}, {"2": "-1"}]
    data = json.loads(written("checkpoint-interval"))
    data["certificates"][0]["constraints"][0]["ratio"]["t_c"] = "1/3"
    assert "is not its sum condensed" in why_not(data)


def test_names_of_older_versions() -> None:
    named = [{"name": "objective", "relation": "<=", "ratio": {"_T": "1", "C": "-1"}}]
    changes: Any = {
        "objective": {"_T": "1"}, "variables": ["_T"], "constraints": named,
        "multipliers": {"objective": "1"}, "point": {"_T": {"C": "1"}},
    }  # fmt: skip
    (verdict,) = judged(product_of(**changes))
    assert verdict.holds
    assert verdict.problem == 'maximize x_T over x_T > 0 subject to x_T/C <= 1 ["the objective"]'
    same = {**changes, "witness": {"C": "1", "x_T": "1"}}
    assert "too much alike" in why_not(product_of(**same))


def test_abbreviations_take_no_name_of_the_file() -> None:
    (found,) = texts(product_of(bound={"sum_1 + C": "1"}, witness={"C": "1", "sum_1": "1"}))
    assert [a["name"] for a in json.loads(found.text)["abbreviations"]] == ["sum_2"]


# Atoms


@pytest.mark.parametrize(
    ("atom", "terms"),
    [
        ("C + 1", "C + 1"), ("(C)", "C"), ("2*C/3", "2*C*T/3"), ("C*(D + 1)", "C*D + C"),
        ("C - C + D", "D"), ("C + sqrt(C)*D", "C + C^(1/2)*D"), ("(C + D)**2", "C^2 + 2*C*D + D^2"),
        ("1/(1/C + 1/D)", "T/sum_1 "), ("C**(3/2) + D", "C^(3/2) + D"), ("C**-1 + D", "1/C + D"),
        ("2.5*C + D", "(5/2)*C + D"), ("-C*D + 2*C*D + D", "C*D + D"), ("C + D*al", "C + al*D"),
        ("C + D**al", "C + D^al"), ("C + D**(1 - al)", "C + D^(1 - al)"), ("C^2 + D", "C^2 + D"),
        ("C + (D + 1)**(1/2)", "C + sum_1^(1/2)"),
    ],
)  # fmt: skip
def test_atoms_that_are_read(atom: str, terms: str) -> None:
    exponents: Any = {"al": ["0", "1"]}
    changed = product_of(
        objective={"T": "1", atom: "1"}, bound={"C": "1", atom: "1"}, exponents=exponents,
        witness={"C": "1", "D": "1", "al": "1/2"},
    )  # fmt: skip
    found = judged(changed)
    assert all(v.holds for v in found), why_not(changed)
    assert terms in found[0].problem


@pytest.mark.parametrize(
    ("atom", "says"),
    [
        ("C - C", "is zero"), ("-C", "is negative"), ("-3", "is negative"),
        ("0", "no whole number above 1"), ("T + C", "contains the variable T"),
        ("C - D", "stands where only what is positive may"),
        ("C + ", "no atom"), ("C +* D", "no atom"), ("C + D)", "no atom"), ("(C + D", "no atom"),
        ("", "no atom"), ("C D", "no atom"), ("C + é", "no atom"), ("C; D", "no atom"),
        ("1/0 + C", "a power of 0"), ("1/(C - C) + D", "a power of 0"), ("f(C) + D", "no atom"),
        ("(-C)**(1/2) + D", "a power of -C"), ("C**D + 1", "no exponent symbol"),
        ("al**al + C", "a power of al"), ("C**(1/al2) + 1", "no exponent symbol"),
        ("(" * 30 + "C" + ")" * 30, "nested too deeply"), ("C + " * 600 + "1", "at most 2000"),
        ("9" * 61 + " + C", "more than 60 digits"), ("C**", "no exponent"), ("C + a.b", "no atom"),
        ("__import__('os') + C", "no atom"),
    ],
)  # fmt: skip
def test_atoms_that_are_not(atom: str, says: str) -> None:
    exponents: Any = {"al": ["0", "1"]}
    witness = {"C": "1", "D": "1", "al": "1/2"}
    assert says in why_not(product_of(bound={atom: "1"}, exponents=exponents, witness=witness))


# What is forged is refused

REASONS = {
    "atom-that-is-zero": "stands where only what is positive may",
    "condensed-term-of-a-variable-difference": "the atom 'x - 1' contains the variable x",
    "condition-with-a-variable": "condition 1 contains the variable T",
    "crash-power-of-an-exponent": "in an exponent a power is a whole number",
    "crash-root-of-an-exponent": "'sqrt' is no exponent symbol",
    "exponent-undefined-at-witness": "an exponent changes its sign, or vanishes, within its",
    "key-twice": "the key 'bound' stands twice",
    "multiplier-hidden-by-thirty-digits": "a number is too large or too small",
    "name-forges-a-line": "is no line of printable ASCII characters",
    "region-hidden-in-atoms": "'J - K' stands where only what is positive may, which follows "
    "neither from its terms nor from the file's domain and conditions",
    "variable-in-exponent": "y is a variable, and in exponents",
    "variables-as-text": "the variables is no list",
    "witness-negative": "the witness has C = -1, and parameters are positive",
}


def test_every_forged_file_has_a_reason() -> None:
    assert sorted(REASONS) == sorted(path.stem for path in FORGED.glob("*.json"))


@pytest.mark.parametrize("name", REASONS)
def test_what_is_forged_is_refused(name: str) -> None:
    text = (FORGED / f"{name}.json").read_text(encoding="utf-8")
    assert REASONS[name] in why_not(text)
    try:
        verdicts = judged(text)
    except InputError:
        return
    assert not any(v.holds for v in verdicts)


def test_the_same_claim_with_its_region_holds() -> None:
    """As `region-hidden-in-atoms`, but it says where J - K is not negative."""
    data = json.loads((FORGED / "region-hidden-in-atoms.json").read_text(encoding="utf-8"))
    data["certificates"][0]["conditions"] = [{"left": [{"K": "1"}], "right": [{"J": "1"}]}]
    (verdict,) = judged(data)
    assert verdict.holds
    bound, point = (t.text.partition(": ")[0] for t in verdict.findings)
    assert bound.endswith("with J > K")
    assert point.endswith("with J >= K")


# Whatever is changed is noticed

CHANGES = sample(1)
FEW = 8


def changes(data: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a file with one thing changed in one certificate, which is then alone in it."""
    for row in data["certificates"]:

        def changed(key: str, value: Any, row: Any = row) -> Any:
            return {**data, "certificates": [{**copy.deepcopy(row), key: value}]}

        yield "bound", changed("bound", {**row["bound"], "7": "1"})
        yield "sense", changed("sense", "maximize" if row["sense"] == "minimize" else "minimize")
        for name in row["variables"]:
            less = {n: m for n, m in row["point"].items() if n != name}
            yield f"point without {name}", changed("point", less)
        if row.get("kind") == "sums":
            yield from sum_changes(row, changed)
            continue
        yield "objective", changed("objective", {**row["objective"], "3": "1"})
        for name, weight in row["multipliers"].items():
            less = {n: w for n, w in row["multipliers"].items() if n != name}
            yield f"multiplier {name} removed", changed("multipliers", less)
            negated = {**row["multipliers"], name: f"-({weight})"}
            yield f"multiplier {name} negated", changed("multipliers", negated)
        for name in row["variables"]:
            if name in row["objective"]:
                moved = {**row["point"], name: {**row["point"][name], "5": "1"}}
                yield f"point {name}", changed("point", moved)
        for position, constraint in enumerate(row["constraints"]):
            if constraint["name"] in row["multipliers"]:
                rows = copy.deepcopy(row["constraints"])
                rows[position]["ratio"]["11"] = "1"
                yield f"ratio {constraint['name']}", changed("constraints", rows)
                fewer = [c for c in row["constraints"] if c is not constraint]
                yield f"no {constraint['name']}", changed("constraints", fewer)
        for position in range(len(row["conditions"])):
            fewer = [c for i, c in enumerate(row["conditions"]) if i != position]
            yield f"condition {position}", changed("conditions", fewer)
        if row["conditions"]:
            yield "witness", changed("witness", {})


def sum_changes(row: Any, changed: Callable[[str, Any], Any]) -> Iterator[tuple[str, Any]]:
    """Changes of a certificate of sums."""
    yield "objective", changed("objective", [*row["objective"], {"3": "1"}])
    yield "kind", changed("kind", "monomials")
    if row["weights"]:
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
def test_whatever_is_changed_is_noticed(name: str) -> None:
    tried = some_changes(name)
    for what, data in tried:
        assert why_not(data), what
    assert len(tried) >= FEW


# What is malformed is refused in one line


def broken(**changes: Any) -> Callable[[], Any]:
    return lambda: product_of(**changes)


MALFORMED: dict[str, str | Callable[[], Any]] = {
    "no JSON": "hello",
    "empty": "",
    "half": lambda: json.dumps(product_of())[:300],
    "a number": "3",
    "a list": "[]",
    "NaN": '{"format": NaN}',
    "a fraction": '{"format": 1.5}',
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "other format": lambda: {**product_of(), "format": "other"},
    "later version": lambda: {**product_of(), "version": 4},
    "version true": lambda: {**product_of(), "version": True},
    "version as text": lambda: {**product_of(), "version": "2"},
    "version without theorems": lambda: {**product_of(), "version": 3},
    "no certificates": lambda: {**product_of(), "certificates": []},
    "certificates no list": lambda: {**product_of(), "certificates": {"a": 1}},
    "certificate no object": lambda: {**product_of(), "certificates": [3]},
    "empty certificate": lambda: {**product_of(), "certificates": [{}]},
    "many certificates": lambda: {**product_of(), "certificates": [{}] * 5000},
    "an unknown key": broken(more=1),
    "title of two lines": lambda: {**product_of(), "title": "a\nb"},
    "title a list": lambda: {**product_of(), "title": ["a"]},
    "piece too long": broken(piece="p" * 190),
    "sense": broken(sense="improve"),
    "sense a list": broken(sense=[]),
    "kind": broken(kind="other"),
    "kind a number": broken(kind=3),
    "sums in version 1": lambda: {**sums_of(), "version": 1},
    "objective a text": broken(objective="T"),
    "exponent a number": broken(objective={"T": 1}),
    "exponent nonsense": broken(objective={"T": "one"}),
    "exponent hostile": broken(objective={"T": "__import__('os').system('id')"}),
    "atom hostile": broken(objective={"__import__('os').system('id')": "1"}),
    "atom huge": broken(objective={"9" * 5000: "1"}),
    "exponent huge": broken(objective={"T": "9" * 5000}),
    "tower": broken(objective={"2^2^2^2^2^2": "1"}),
    "constraints a text": broken(constraints="all"),
    "constraint a number": broken(constraints=[3]),
    "constraint without ratio": broken(constraints=[{"name": "a", "relation": "<="}]),
    "relation": broken(constraints=[{"name": "a", "relation": "<", "ratio": {"T": "1"}}]),
    "two of a name": broken(constraints=[{"name": "a", "relation": "<=", "ratio": {"T": "1"}}] * 2),
    "weights of products": broken(weights={"a": []}),
    "weight negative": broken(constraints=[
        {"name": "a", "relation": "<=", "ratio": {"T": "1", "C": "-1"},
         "condensed": [{"term": {"T": "1", "C": "-1"}, "weight": "-1"}]},
    ]),
    "witness a float": broken(witness={"C": 0.5}),
    "witness an expression": broken(witness={"C": "sqrt(2)"}),
    "witness of a hostile name": broken(witness={"a.b": "1"}),
    "long name": broken(witness={"a" * 200: "1"}),
    "variables a number": broken(variables=3),
    "variables of numbers": broken(variables=[1]),
    "variables of lists": broken(variables=[[]]),
    "variable without symbol": broken(variables=["T", "N", "b", "ghost()"]),
    "point of a stranger": broken(point={"stranger?": {}}),
    "point of a parameter": broken(point={"T": {}, "C": {}}),
    "multipliers a list": broken(multipliers=["energy"]),
    "conditions a number": broken(conditions=7),
    "exponents a list": broken(exponents=["alpha"]),
    "exponent without end": broken(exponents={"alpha": ["1"]}),
    "exponent with words": broken(exponents={"alpha": ["low", "high"]}),
    "sums without weights": lambda: (lambda d: (d["certificates"][0].pop("weights") and d) or d)(
        sums_of()
    ),
    "objective of sums": lambda: sums_of(objective={}),
    "term of sums": lambda: sums_of(objective=[3]),
    "weights a list": lambda: sums_of(weights=[]),
    "weights no list": lambda: sums_of(weights={"objective": {}}),
    "multiplier no list": lambda: sums_of(multipliers={"a": {"a": 1}}),
    "coefficient": lambda: sums_of(multipliers={"a": [{"coefficient": 1, "monomial": {}}]}),
    "condition": lambda: sums_of(conditions=[{}]),
    "sides": lambda: sums_of(conditions=[{"left": {}, "right": []}]),
    "many conditions": lambda: sums_of(conditions=[{"left": [], "right": []}] * 401),
    "constraint of sums": lambda: sums_of(constraints=[{}]),
    "relation of sums": lambda: sums_of(constraints=[{"name": "a", "relation": "<", "terms": []}]),
    "sense of sums": lambda: sums_of(sense="best"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused_in_one_line(name: str) -> None:
    entry = MALFORMED[name]
    data = entry() if callable(entry) else entry
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        judged(data)
    assert time.process_time() - start < 2
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 400


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\x00\x80")
    for path in (tmp_path, tmp_path / "absent.json", tmp_path / "bytes.json", Path("/dev/zero")):
        with pytest.raises(InputError):
            judge_file(str(path))
    with pytest.raises(InputError):
        judge_file("a\0b")
    (tmp_path / "long.json").write_text(" " * 3_000_000, encoding="utf-8")
    with pytest.raises(InputError, match="larger than"):
        judge_file(str(tmp_path / "long.json"))


# What asks for too much is refused soon

HELD = r"""
import re, sys, time
from pathlib import Path
from symscale.errors import InputError
from symscale.problems.certificate_file import judge_file
start = time.process_time()
try:
    held = all(v.holds for v in judge_file(sys.argv[1])[1])
except InputError:
    held = False
status = Path("/proc/self/status").read_text()  # ru_maxrss counts who started this, too
print(held, time.process_time() - start, re.search(r"VmHWM:\s+([0-9]+) kB", status)[1])
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_what_asks_for_too_much_is_refused_soon(name: str, tmp_path: Path) -> None:
    """In a process of its own, of which the memory can be told."""
    path = tmp_path / "proof.json"
    path.write_text(text_of(name), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", HELD, str(path)], capture_output=True, text=True, check=True
    )
    held, seconds, kilobytes = done.stdout.split()
    assert held == "False"
    assert float(seconds) < 2
    assert int(kilobytes) < 200_000


def test_what_these_are_made_of_holds() -> None:
    for data in (product_of(), sums_of(), theorems_of()):
        assert why_not(data) == ""


def test_the_work_of_all_certificates_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file cannot have the budget of a file for each of its certificates."""
    monkeypatch.setattr("symscale.problems.certificate_file.MOST_WORK", 100)
    many = {**product_of(), "certificates": product_of()["certificates"] * 20}
    assert "takes more work" in why_not(many)
    with pytest.raises(Refused):
        converted({"format": "x", "version": 2})


def test_what_is_refused_loads_no_sympy() -> None:
    code = "import sys, symscale.problems.certificate_file; print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
