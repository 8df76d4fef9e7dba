"""The closed form beside the simulation."""

import json
import math
from functools import lru_cache
from pathlib import Path
from statistics import median

import pytest
import sympy as sp

from commands import answer, run
from curves import CURVES
from places import ROOT
from symscale.compare.simulated import CACHED, EXACT_TRAFFIC, ComparedPoint, compare
from symscale.facts.machines.lumped import load_machine, lump
from symscale.simulator.sparse_mlp.curve import curve, end_of_linear_scaling
from symscale.simulator.sparse_mlp.shapes import published_shapes
from symscale.studies.training.answer import cliffs

PAGE = ROOT / "docs" / "simulator.md"


@lru_cache
def compared(name: str) -> tuple[ComparedPoint, ...]:
    machine, rules = CURVES[name]
    loaded = load_machine(machine)
    return tuple(compare(loaded, list(curve(loaded, published_shapes(rules)))))


@pytest.mark.parametrize("name", CURVES)
def test_the_bound_on_the_same_assumptions_is_never_beaten(name: str) -> None:
    assert len(compared(name)) > 20
    for found in compared(name):
        assert found.point.utilization <= found.same


@pytest.mark.parametrize("name", CURVES)
def test_where_a_plan_beats_the_closed_form_the_reason_is_known(name: str) -> None:
    """With W_net and W_mem as they are, only two simplifications can be beaten."""
    for found in compared(name):
        if found.ratio > 1:
            assert set(found.beyond) & {EXACT_TRAFFIC, CACHED}
            assert found.same > found.closed


def test_the_closed_form_is_that_of_the_study() -> None:
    """The answer of `symscale cliffs` with the same settings."""
    machine = load_machine("h100-sxm")
    rate = lump(machine, "node").flop_rate * machine.figure("sustained_fraction").si
    for found in compared("dense-H100-SXM")[::6]:
        shape = found.point.plan.problem.shape
        settings = {
            "T": shape.training_flop, "T_0": shape.training_flop, "b_0": shape.batch_tokens,
            "L_0": shape.layers, "t_d": found.point.training_s, "C": float(rate),
        }  # fmt: skip
        asked = cliffs("h100-sxm", settings={n: sp.Rational(v) for n, v in settings.items()})
        assert asked.ruling is not None
        assert asked.values is not None
        assert asked.ruling.name == found.piece
        utilization = 0.7 * float(asked.ruling.at(asked.values))
        assert math.isclose(utilization, found.closed, rel_tol=1e-12)


def gap_row(name: str) -> str:
    """A row of the table in docs/simulator.md."""
    machine = load_machine(CURVES[name][0])
    rows = compared(name)
    ratios = [r.ratio for r in rows]
    end = end_of_linear_scaling(machine, [r.point for r in rows])
    assert end is not None
    flop = end.plan.problem.shape.training_flop
    same = max(r.point.utilization / r.same for r in rows)
    figures = f"{min(ratios):.2f} | {median(ratios):.2f} | {max(ratios):.2f} | {same:.4f}"
    return f"| {name} | {len(rows)} | {flop:.2e} | {figures} |"


@pytest.mark.parametrize("name", CURVES)
def test_the_table_in_the_documentation(name: str) -> None:
    assert gap_row(name) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "both.png"
    arguments = ("compare", "--hardware", "h100-sxm", "--widths", "53248..90112")
    text = answer(*arguments, "--plot", str(file))
    assert "data movement" in text
    assert file.stat().st_size > 5000
    (found,) = json.loads(answer(*arguments, "--format", "json"))["curves"]
    by_width = {p["d_model"]: p for p in found["points"]}
    assert by_width[73728]["piece"] == "data movement"
    assert by_width[73728]["ratio"] == pytest.approx(0.8233, abs=1e-4)


def test_the_command_says_why_a_plan_is_beyond() -> None:
    text = answer("compare", "--hardware", "v100-sxm", "--widths", "40960,45056")
    assert text.count("the plan beats the closed form: N - 1 replicas move words") == 2


def test_no_run_to_compare_is_no_answer() -> None:
    done = run("compare", "--hardware", "h100-sxm", "--duration", "1s")
    assert (done.code, done.out) == (1, "")
