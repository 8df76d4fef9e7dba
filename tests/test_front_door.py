"""`import symscale as ss`: what it offers, what comes back, and how it refuses."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import symscale as ss
from commands import answer as printed
from commands import refusal
from symscale.problems.answer import ProblemAnswer

PROBLEM = """
title = "Devices"
maximize = "N*C"
[parameters]
C = { default = 2 }
b = { default = 8, lower = 1 }
[variables]
N = {}
[[constraints]]
name = "batch"
expression = "2*N <= b"
"""
ASKED: dict[str, Callable[[], Any]] = {
    "limits": lambda: ss.limits("h100-sxm"),
    "limits --full": lambda: ss.limits("h100-sxm", full=True),
    "cliffs": lambda: ss.cliffs("h100-sxm"),
    "solve": lambda: ss.solve(PROBLEM),
    "solve --sweep": lambda: ss.solve(PROBLEM, sweep={"b": "2..32"}),
    "derive": lambda: ss.derive("latency-wall"),
    "cost": lambda: ss.cost("gpt-3", tp=8, pp=8, dp=4, batch=128),
    "ratio": lambda: ss.ratio("gpt-3", tp=8, hardware="h100-sxm"),
    "asymptotics": lambda: ss.asymptotics("edge", along={"N_TP": "d_model"}, growing="d_model"),
    "plan": lambda: ss.plan("llama-3.1-8b", "h100-sxm", devices=8, batch=64, seq=4096, tp=2),
    "simulate": lambda: ss.simulate("h100-sxm", widths="12288"),
    "check": lambda: ss.check(ss.limits().certificates()),
    "machine": lambda: ss.machine("h100-sxm"),
    "model": lambda: ss.model("mixtral-8x7b"),
}

FIGURES = {"limits", "limits --full", "cliffs", "solve --sweep", "simulate"}
CODE = {"limits", "limits --full", "cliffs", "derive", "ratio", "solve", "solve --sweep"}
PROOFS = {"limits", "limits --full", "cliffs", "solve", "solve --sweep"}


@cache
def asked(name: str) -> Any:
    """Each is asked once in a process."""
    return ASKED[name]()


def test_the_names_are_few_and_explained() -> None:
    assert len(ss.__all__) < 40
    for name in ss.__all__:
        if name != "__version__":
            text = getattr(ss, name).__doc__
            assert text, name
            assert ">>>" in text, name
    assert set(ss.__all__) <= set(dir(ss))
    with pytest.raises(AttributeError, match="no attribute 'limit'"):
        _ = ss.limit


def test_no_module_hides_a_question() -> None:
    """A submodule that bore the name of a question would replace it once it is imported."""
    code = """
import importlib, pkgutil
import symscale as ss
for module in pkgutil.walk_packages(ss.__path__, "symscale."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for name in ss.__all__:
    assert type(getattr(ss, name)) is not type(ss), name
print(ss.limits("h100-sxm"), ss.cliffs(), ss.machine("h100-sxm"), ss.model("gpt-3"), sep="\\n")
print(ss.symbols("T N"), ss.expression("T/N"), ss.cost("gpt-3"), ss.ratio("gpt-3", tp=8))
print(ss.derive("latency-wall"), ss.check(ss.limits().certificates()), ss.asymptotics("edge"))
print(ss.plan("gpt-3", "h100-sxm", devices=512, batch=512), ss.simulate("h100-sxm", widths="12288"))
"""
    folder = Path(ss.__file__).parents[1]  # the package that the other tests use
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<limits: T = 1.9241e28 FLOP, data movement rules; 2 pieces>\n")


@pytest.mark.parametrize("name", ASKED)
def test_what_comes_back(name: str, tmp_path: Path) -> None:
    found = asked(name)
    assert isinstance(found, ss.Answer)
    assert repr(found).startswith("<")
    assert len(repr(found)) < 300
    assert "\n" not in repr(found)
    assert set(found._repr_mimebundle_()) == {
        "text/plain", "text/latex", "text/html", "text/markdown",
    }  # fmt: skip
    data = found.to_dict()
    assert (data["schema"], data["symscale_version"]) == (1, ss.__version__)
    assert "\\begin{document}" not in found.latex()
    found.save(tmp_path / "answer.json")
    assert json.loads((tmp_path / "answer.json").read_text(encoding="utf-8")) == data
    found.save(tmp_path / "answer.html")
    assert "<main>" in (tmp_path / "answer.html").read_text(encoding="utf-8")
    with pytest.raises(ss.SymscaleError, match=r"^save .* the file exists; use force=True"):
        found.save(tmp_path / "answer.json")
    found.save(tmp_path / "answer.json", force=True)
    with pytest.raises(ss.SymscaleError, match="end the name in"):
        found.save(tmp_path / "answer.xlsx")


@pytest.mark.parametrize("name", ASKED)
def test_what_only_some_have(name: str, tmp_path: Path) -> None:
    found = asked(name)
    if name in FIGURES:
        found.plot(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    else:
        with pytest.raises(ss.SymscaleError, match=r"has no figure|no one number decides"):
            found.plot(tmp_path / "figure.png")
    if name in CODE:
        assert "import numpy" in found.code()
    else:
        with pytest.raises(ss.SymscaleError, match="no closed forms"):
            found.code()
    if name in PROOFS:
        found.certificates().save(tmp_path / "proof.json")
        assert ss.check(tmp_path / "proof.json").holds
    else:
        with pytest.raises(ss.SymscaleError, match="no certificates"):
            found.certificates()


SAME: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: ss.limits("a100-sxm", set={"b_0": 8e6, "alpha": "0.05"}, duration="3mo"),
        "limits --hardware a100-sxm --set b_0=8e6 --set alpha=0.05 --duration 3mo",
    ),
    (
        lambda: ss.cost("gpt-3", tp=8, pp=8, dp=4, batch=128, zero=0),
        "cost gpt-3 --tp 8 --pp 8 --dp 4 --batch 128 --zero 0",
    ),
    (
        lambda: ss.ratio("gpt-3", tp=8, k=[1, 4], at_share=0.5, hardware="h100-sxm"),
        "ratio gpt-3 --tp 8 --flop-vs-bw 1,4 --hardware h100-sxm",
    ),
    (
        lambda: ss.plan(
            "llama-3.1-8b", "h100-sxm", devices=8, batch=64, seq=4096, recompute="none"
        ),
        "plan --model llama-3.1-8b --hardware h100-sxm --devices 8 --batch 64 --seq 4096 "
        "--recompute none",
    ),
    (lambda: ss.machine("h100-sxm"), "hardware h100-sxm"),
    (lambda: ss.model("gpt-3"), "models gpt-3"),
    (
        lambda: ss.simulate("h100-sxm", widths="12288"),
        "simulate --hardware h100-sxm --widths 12288",
    ),
]


@pytest.mark.parametrize(("ask", "command"), SAME)
def test_the_same_answers_as_the_command_line(ask: Callable[[], Any], command: str) -> None:
    said = json.loads(printed(*command.split(), "--format", "json"))
    assert ask().to_dict() == said


@pytest.mark.parametrize(
    ("ask", "command"),
    [
        (lambda: ss.limits("h100"), ("limits", "--hardware", "h100")),
        (
            lambda: ss.limits("h100-sxm", set={"t_d": "ninety"}),
            ("limits", "--hardware", "h100-sxm", "--set", "t_d=ninety"),
        ),
        (
            lambda: ss.cliffs(set=["t_d=90d"], duration="90d"),
            ("cliffs", "--set", "t_d=90d", "--duration", "90d"),
        ),
        (lambda: ss.cost("gpt-3", tp=7), ("cost", "gpt-3", "--tp", "7")),
        (lambda: ss.cost("gpt-3", zero=4), ("cost", "gpt-3", "--zero", "4")),
        (lambda: ss.cost("gtp-3"), ("cost", "gtp-3")),
        (lambda: ss.ratio("gpt-3", k=-1), ("ratio", "gpt-3", "--flop-vs-bw", "-1")),
        (lambda: ss.solve("nothing.toml"), ("solve", "nothing.toml")),
        (lambda: ss.derive("latency-wal"), ("derive", "latency-wal")),
        (lambda: ss.asymptotics("edg"), ("asymptotics", "edg")),
        (lambda: ss.machine("h100"), ("hardware", "h100")),
        (lambda: ss.check("nothing.json"), ("check", "nothing.json")),
    ],
)
def test_the_same_refusals_as_the_command_line(
    ask: Callable[[], object], command: tuple[str, ...]
) -> None:
    with pytest.raises(ss.SymscaleError) as caught:
        ask()
    assert refusal(*command) == f"symscale: {caught.value}"


us: Any = ss
"""Untyped, for what a type checker would refuse."""


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: us.limits(["h100-sxm"]), "hardware: give a text, not list"),
        (lambda: us.limits("h100-sxm", full="yes"), "full: give True or False, not str"),
        (lambda: us.limits(set=None), "set: give values by name or texts NAME=VALUE, not NoneType"),
        (lambda: us.limits(set=["b_0=8e6", 5]), "set: give values by name or texts .* not int"),
        (lambda: us.limits(set={"b_0": 10**5000}), "set b_0: the number has thousands of digits"),
        (lambda: us.limits(duration=90), "--duration 90: it has no unit; write such as 90d"),
        (lambda: us.cliffs(duration=["90d"]), "duration: give a text, not list"),
        (lambda: us.solve(b"maximize"), "problem: give a text, not bytes"),
        (lambda: us.solve(PROBLEM, sweep=5), "sweep: give values by name or texts .* not int"),
        (lambda: us.derive(None), "name: give a text, not NoneType"),
        (lambda: us.check(ss.limits()), "proof: give a certificate file or .* not LimitsAnswer"),
        (lambda: us.check([]), "proof: give a certificate file or .* not list"),
        (lambda: us.cost("gpt-3", tp=1.5), "tp: '1.5' is no whole number"),
        (lambda: us.cost("gpt-3", tp=float("nan")), "tp: 'nan' is no whole number"),
        (lambda: us.cost("gpt-3", tp=float("inf")), "tp: 'inf' is no whole number"),
        (lambda: us.cost("gpt-3", tp=True), "tp: give a whole number, not bool"),
        (lambda: us.cost("gpt-3", batch=[8]), "batch: give a whole number, not list"),
        (lambda: us.cost("gpt-3", zero="three"), "zero: 'three' is no whole number"),
        (lambda: us.cost("gpt-3", schedule=True), "schedule: give a text, not bool"),
        (lambda: us.cost("gpt-3", recipe=b"mixed"), "recipe: give a text, not bytes"),
        (lambda: us.cost("gpt-3", fused_attention="no"), "fused_attention: give True or False"),
        (lambda: us.ratio("gpt-3", k=None), "k: give a text, not NoneType"),
        (lambda: us.ratio("gpt-3", hardware="h100-sxm", link=[0]), "link: give a text, not list"),
        (lambda: us.asymptotics("edge", growing=["L"]), "growing: give a text, not list"),
        (lambda: us.asymptotics("edge", along=5), "along: give values by name"),
        (lambda: us.plan("gpt-3", None, devices=8, batch=8), "hardware: give a text, not NoneType"),
        (
            lambda: us.plan("gpt-3", "h100-sxm", devices=8, batch=8, runners_up=-1),
            "--runners-up -1: give a number from 0 to 100",
        ),
        (
            lambda: us.plan("gpt-3", "h100-sxm", devices=8, batch=8, tokens="many"),
            "--tokens: 'many' is not a number",
        ),
        (lambda: us.simulate("h100-sxm", widths=[12288]), "widths: give a text, not list"),
        (lambda: us.simulate("h100-sxm", rules="depth"), "--rule depth: write NAME=EXPRESSION"),
        (lambda: us.machine({}), "name: give a text, not dict"),
        (lambda: us.model(7), "unknown model '7'"),
        (lambda: us.symbols(["T"]), "names: give a text, not list"),
        (lambda: us.expression(None), "text: give a text, not NoneType"),
        (lambda: us.limits().save(None), "save: the path of a file is a text, not NoneType"),
        (lambda: us.limits().plot(b"a.svg"), "plot: the path of a file is a text, not bytes"),
        (lambda: us.limits().certificates().save(5), "save: the path of a file is a text, not int"),
        (lambda: us.limits().code(None), "unknown language 'None'"),
    ],
)
def test_what_is_of_another_type(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(ss.SymscaleError, match=said):
        ask()


def test_what_is_as_good_as_a_text_or_a_count() -> None:
    plain = ss.cost("gpt-3", tp=8, zero=3).to_dict()
    assert ss.cost("gpt-3", tp="8", zero="3", pp=None).to_dict() == plain
    assert ss.cost("gpt-3", tp=8.0, zero=3.0).to_dict() == plain
    assert ss.ratio("gpt-3", k=range(1, 3)).to_dict() == ss.ratio("gpt-3", k="1,2").to_dict()
    place = Path(ss.__file__).parent / "facts/machines/presets/h100-sxm.toml"
    assert us.machine(place).title == ss.machine("h100-sxm").title


def test_a_refusal_is_one_line_that_a_terminal_can_print(tmp_path: Path) -> None:
    for ask in (
        lambda: ss.check("a\nb.json"),
        lambda: ss.check(tmp_path),
        lambda: ss.limits(duration="\x1b[31m"),
        lambda: ss.limits().plot("\x1b[31m.txt"),
        lambda: ss.limits().save("a\0.json"),
    ):
        with pytest.raises(ss.SymscaleError) as caught:
            ask()
        assert str(caught.value).isprintable()
    assert "is not a file; give the path of a certificate" in refusal("check", str(tmp_path))


def test_an_option_that_is_none() -> None:
    with pytest.raises(ss.SymscaleError, match="unknown option 'tpp'; did you mean tp"):
        ss.cost("gpt-3", tpp=8)
    with pytest.raises(ss.SymscaleError, match="unknown option 'zero'"):
        ss.ratio("gpt-3", zero=1)


def test_the_value_of_a_problem() -> None:
    found = ss.solve(PROBLEM)
    assert isinstance(found, ProblemAnswer)
    assert (str(found.expr), found.value) == ("C*b/2", 8)
    open_ = ss.solve(PROBLEM.replace("default = 8, ", ""))
    assert isinstance(open_, ProblemAnswer)
    assert (str(open_.expr), open_.value) == ("C*b/2", None)


def test_a_failed_proof_raises(tmp_path: Path) -> None:
    data: Any = ss.limits("h100-sxm").certificates().to_dict()
    data["theorems"][0]["value"]["b_0"] = "3"
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ss.SymscaleError, match="data movement: bound"):
        ss.check(file)
