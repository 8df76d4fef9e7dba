"""A step: against published plans, and against what its parts must add up to."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from paper_code import Row, degrees, rows, schedule, values
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.sparse_mlp.plan import DEGREES, symbolic_plan
from symscale.errors import FormulaError
from symscale.facts.machines import reader as loader
from symscale.facts.machines.lumped import load_machine
from symscale.language.symbols import MOST_TIERS, symbol, symbols, tier_symbol
from symscale.language.units import parse_unit
from symscale.pages.formulas.formula import latex
from symscale.simulator.compiled import Compiled
from symscale.simulator.sparse_mlp import network
from symscale.simulator.sparse_mlp.evaluate import by_tier, evaluate
from symscale.simulator.sparse_mlp.parameters import device_values, network_values
from symscale.simulator.sparse_mlp.step import (
    Schedule,
    block_products,
    bubble,
    complete_step_time,
    live_microbatches,
    parts,
    step_time,
)

Point = Mapping[sp.Basic | complex, sp.Expr | complex]
FILES = (("plan-times.csv", 300), ("plan-times-extra.csv", 100))


def columns(row: Row, as_published: bool) -> dict[str, float]:
    found = evaluate(load_machine(row["gpu"]), values(row), schedule(row, as_published))
    steps = found["steps"]
    return {
        "training_time_s": found["training"],
        "utilization": found["utilization"],
        "tp_comm_s": found["t_TP"] * steps,
        "dp_comm_s": found["t_DP"] * steps,
        "pp_ep_comm_s": found["t_PP"] * steps,
        "latency_s": (found["l_TP"] + found["l_PP"] + found["l_DP"]) * steps,
        "memory_bytes_with_activations": found["state"] + found["activations"],
    }


@pytest.mark.parametrize(("name", "count"), FILES)
@pytest.mark.parametrize("as_published", [False, True])
def test_published_plans_in_every_column(name: str, count: int, as_published: bool) -> None:
    """The latency that zero-bubble schedules do not hide changes no published row."""
    published = rows(name)
    assert len(published) == count
    wrong = [
        (row, column, value)
        for row in published
        for column, value in columns(row, as_published).items()
        if column in row and not math.isclose(value, float(row[column]), rel_tol=1e-9)
    ]
    assert not wrong


def test_many_plans_at_once_are_each_alone() -> None:
    """Arrays of plans, one for each machine and schedule, give the published times."""
    groups: dict[tuple[str, Schedule], list[Row]] = {}
    for row in rows("plan-times.csv"):
        groups.setdefault((row["gpu"], schedule(row)), []).append(row)
    for (gpu, plan), members in groups.items():
        each = [values(row) for row in members]
        together = {name: np.array([v[name] for v in each]) for name in each[0]}
        found = evaluate(load_machine(gpu), together, plan)
        expected = [float(row["training_time_s"]) for row in members]
        np.testing.assert_allclose(found["training"], expected, rtol=1e-12)


def at_tiers(name: str, tiers: int) -> sp.Expr:
    return sp.Mul(*(tier_symbol(name, t) for t in range(1, tiers + 1)))


@pytest.mark.parametrize("tiers", [1, 2, 3, 4])
def test_tiers_share_what_one_tier_carries(tiers: int) -> None:
    """Over all tiers, the words of each parallelism are those of the costs."""
    model = sparse_mlp()
    whole: Point = {symbol(n): at_tiers(n, tiers) for n in DEGREES}
    for at_tier, words in (
        (network.data_words, model.exchange_words("data")),
        (network.tensor_words, model.exchange_words("tensor")),
    ):
        split = sp.Add(*(at_tier(t, tiers).expr for t in range(1, tiers + 1)))
        assert sp.expand(split - words.expr.subs(whole)) == 0


@pytest.mark.parametrize("tiers", [1, 2, 3])
def test_transfers_add_up(tiers: int) -> None:
    """Without experts the words between blocks are the pipeline's, without a pipeline the
    experts', and together at most the sum of the two."""
    model, rng = sparse_mlp(), random.Random(tiers)
    words = model.exchange_words
    compiled = Compiled(
        {"words": sp.Add(*(network.transfer_words(t, tiers).expr for t in range(1, tiers + 1)))}
    )
    for _ in range(50):
        split = {n: tuple(rng.choice((1, 1, 2, 3, 4)) for _ in range(tiers)) for n in DEGREES}
        pipeline = {**split, "N_EP": (1,) * tiers}
        experts = {**split, "N_PP": (1,) * tiers}
        sizes = {"b": 4096.0, "d_model": 64.0, "L": 4.0 * math.prod(split["N_PP"]), "v": 2.0}
        alone = []
        for chosen, cost in ((pipeline, words("pipeline")), (experts, words("expert"))):
            given = {**sizes, **by_tier(chosen)}
            if math.prod(chosen["N_PP"]) == 1:
                given["v"] = 1.0
            expected = float(cost.expr.subs({symbol(n): sp.Rational(v) for n, v in given.items()
                                             if n in ("b", "d_model", "L", "v", *DEGREES)}))
            found = float(compiled(given)["words"])
            if math.prod(chosen["N_PP"]) > 1 or chosen is experts:
                assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-6)
            alone.append(found)
        both = float(compiled({**sizes, **by_tier(split)})["words"])
        assert max(alone) - 1e-6 <= both <= sum(alone) + 1e-6


def test_a_single_block_hands_nothing_over() -> None:
    plan = {"N_EP": (2, 4), "N_TP_ff": (4, 1)}
    model = {"d_model": 4096, "d_ff": 16384, "L": 1, "E": 8, "b": 2**20, "m": 1, "v": 1}
    found = evaluate(load_machine("h100-sxm"), {**model, **by_tier(plan)}, Schedule())
    assert (found["t_PP"], found["l_PP"]) == (0, 0)


def test_products_of_a_block_are_the_costs() -> None:
    """Twice the area times the tokens of six products, repeated, is the FLOP of a device."""
    model = sparse_mlp()
    flop = sp.Add(*(2 * p.d_out * p.d_in * p.n for p in block_products(model)))
    repeats = parts(1)["t_mm"].expr / symbol("t_block")
    assert sp.simplify(flop * repeats - model.training_flop.expr / symbolic_plan().devices) == 0


@pytest.mark.parametrize(("stages", "m", "v"), [(4, 8, 1), (4, 4, 2), (4, 2, 3), (8, 3, 4)])
def test_the_bubble_counts_slots(stages: int, m: int, v: int) -> None:
    """Play the interleaved schedule: a round is max(stages, m) slots, of which m are work.

    The last round ends after its m microbatches, and stages - 1 more pass it on.
    """
    slots = (v - 1) * max(stages, m) + m + stages - 1
    expected = sp.Rational(slots - v * m, slots)
    at: Point = dict(zip(symbols("N_PP m v"), map(sp.Integer, (stages, m, v)), strict=True))
    assert bubble().expr.subs(at) == expected


def test_zero_bubble_latency_enters_the_maximum() -> None:
    """Where latency is all there is, only the published omission makes a step free."""
    names = ("t_mm", "t_TP", "t_PP", "t_DP", "l_DP")
    nothing: Point = {symbol(n): sp.Integer(0) for n in names}
    physical = step_time(Schedule(zero_bubble=True)).expr.subs(nothing)
    published = step_time(Schedule(zero_bubble=True, as_published=True)).expr.subs(nothing)
    assert sp.simplify(physical - symbol("l_PP") - symbol("l_TP")) == 0
    assert published == 0


def test_as_published_changes_nothing_else() -> None:
    for flags in range(8):
        overlaps = [bool(flags >> k & 1) for k in range(3)]
        one = Schedule(overlaps[0], overlaps[1], overlaps[2])
        assert step_time(one).expr == step_time(replace(one, as_published=True)).expr


@pytest.mark.parametrize("tiers", [1, 2, 3])
@pytest.mark.parametrize("zero_bubble", [False, True])
def test_one_expression_is_the_parts_put_together(tiers: int, zero_bubble: bool) -> None:
    """SymPy's own arithmetic on the complete expression, against evaluation in parts."""
    name = {1: "h100-sxm-global-nvlink", 2: "h100-sxm", 3: "h100-sxm-superpod"}[tiers]
    machine, plan = load_machine(name), Schedule(zero_bubble=zero_bubble)
    rest = (1,) * (tiers - 1)
    split = {"N_DP": (*rest, 4), "N_TP_model": (2, *rest), "N_TP_ff": (4, *rest),
             "N_PP": (*rest, 8), "N_EP": (*rest, 2)}  # fmt: skip
    given = {
        "d_model": 4096.0, "d_ff": 16384.0, "L": 32.0, "E": 4.0, "b": 2.0**20, "m": 16.0,
        "v": 1.0 if zero_bubble else 4.0, **by_tier(split),
    }  # fmt: skip
    expr = complete_step_time(tiers, plan, True).expr
    point = {**device_values(machine), **network_values(machine), **given}
    exact = expr.xreplace({s: sp.Rational(point[str(s)]) for s in expr.free_symbols})
    step = evaluate(machine, given, plan)["t_step"]
    assert math.isclose(step, float(exact), rel_tol=1e-12)
    compiled = Compiled({"t_step": expr})
    assert math.isclose(step, float(compiled(point)["t_step"]), rel_tol=1e-13)


def test_the_complete_expression_prints() -> None:
    text = latex(complete_step_time(2, Schedule(), True).expr)
    assert r"N_{\mathrm{PP},2}" in text
    assert r"\left\lceil" in text


def test_live_microbatches() -> None:
    assert live_microbatches(False) == symbol("N_PP")
    assert live_microbatches(True) == 2 * symbol("N_PP") - 1


def test_every_tier_that_a_machine_may_have_is_printed() -> None:
    assert MOST_TIERS == loader._MOST_TIERS
    text = latex(tier_symbol("tau_net", MOST_TIERS))
    assert text == rf"\tau_{{\mathrm{{net}},{MOST_TIERS}}}"


def test_units() -> None:
    seconds = parse_unit("s")
    for tiers in (1, 3):
        for name, part in parts(tiers).items():
            assert part.unit == (parse_unit("1") if name == "f_idle" else seconds)


def test_a_missing_value_is_named() -> None:
    row = rows("plan-times.csv")[0]
    incomplete = {n: v for n, v in values(row).items() if n != "d_ff"}
    with pytest.raises(FormulaError, match="d_ff"):
        evaluate(load_machine(row["gpu"]), incomplete, schedule(row))


def test_degrees_by_tier_multiply() -> None:
    row = rows("plan-times.csv")[1]
    named = by_tier(degrees(row))
    for name in DEGREES:
        assert named[name] == math.prod(degrees(row)[name])
