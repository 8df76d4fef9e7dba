"""`import symscale as ss`: what it offers, what comes back, and how it refuses."""

import json
import subprocess
import sys
from collections.abc import Callable
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
CODE = {"limits", "limits --full", "cliffs", "derive", "ratio"}
PROOFS = {"limits", "limits --full", "cliffs", "solve", "solve --sweep"}


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<limits: T = 1.9241e28 FLOP, data movement rules; 2 pieces>\n")


@pytest.mark.parametrize("name", ASKED)
def test_what_comes_back(name: str, tmp_path: Path) -> None:
    found = ASKED[name]()
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
    with pytest.raises(ss.SymscaleError, match="the file exists"):
        found.save(tmp_path / "answer.json")
    found.save(tmp_path / "answer.json", force=True)
    with pytest.raises(ss.SymscaleError, match="end the name in"):
        found.save(tmp_path / "answer.xlsx")


@pytest.mark.parametrize("name", ASKED)
def test_what_only_some_have(name: str, tmp_path: Path) -> None:
    found = ASKED[name]()
    if name in FIGURES:
        found.plot(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    else:
        with pytest.raises(ss.SymscaleError, match="has no figure"):
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
    data["certificates"][0]["bound"]["b_0"] = "3"
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ss.SymscaleError, match="data movement: "):
        ss.check(file)
