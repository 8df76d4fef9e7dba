"""Plans of Transformers: their work against the cost expressions, their time, their search."""

import json
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy as sp

from commands import answer, refusal
from sampling import sample
from symscale.costs.memory import RECIPES
from symscale.costs.switches import Switches
from symscale.costs.transformer.communication import communications
from symscale.costs.transformer.plan import Plan
from symscale.costs.transformer.tiers import split_over_tiers, tiers_of, words_by_tier
from symscale.errors import InfeasibleError
from symscale.facts.machines.lumped import load_machine
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import symbols
from symscale.simulator.transformer.planning import (
    Question,
    best_transformer_plans,
    context_of,
    searched,
    tensor_degrees,
)
from symscale.simulator.transformer.step import class_of_machine, step_time
from symscale.simulator.transformer.work import TransformerWork
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request

H100 = load_machine("h100-sxm")


def one_plan(tp: int, cp: int, dp: int, pp: int, ep: int, m: int, v: int) -> Plan[np.ndarray]:
    return Plan(*(np.array([x]) for x in (dp, tp, pp, cp, ep, m, v)))


# As no switch is named: everything off.
OFF: dict[str, Any] = {"sequence_parallel": False, "zero": 0, "fused_attention": False}


CASES: list[tuple[str, dict[str, object], dict[str, int]]] = [
    ("gpt-3", {}, {"tp": 8, "pp": 8, "dp": 4, "batch": 128, "microbatches": 16}),
    (
        "gpt-3", {"recompute": "full"},
        {"tp": 4, "pp": 12, "dp": 2, "batch": 64, "microbatches": 32},
    ),
    (
        "gpt-3", {"sequence_parallel": True, "recompute": "selective", "zero": 1},
        {"tp": 8, "pp": 16, "dp": 2, "batch": 64, "microbatches": 32},
    ),
    (
        "llama-3.1-405b", {"fused_attention": True, "zero": 2},
        {"tp": 8, "pp": 16, "dp": 8, "cp": 2, "seq": 8192, "batch": 128, "microbatches": 16},
    ),
    (
        "llama-3.1-8b", {"zero": 3},
        {"tp": 2, "pp": 1, "dp": 16, "seq": 4096, "batch": 64, "microbatches": 4},
    ),
    (
        "llama-3.1-8b", {"replicate_kv": True},
        {"tp": 16, "pp": 2, "dp": 4, "seq": 4096, "batch": 64, "microbatches": 4},
    ),
    (
        "mixtral-8x7b", {"sequence_parallel": True},
        {"tp": 2, "pp": 4, "dp": 8, "ep": 8, "seq": 4096, "batch": 64, "microbatches": 8},
    ),
    (
        "deepseek-v3", {"fused_attention": True, "zero": 1},
        {"tp": 4, "pp": 4, "dp": 16, "ep": 16, "seq": 4096, "batch": 256, "microbatches": 16},
    ),
]


@pytest.mark.parametrize(("name", "switches", "options"), CASES, ids=str)
def test_compiled_work_is_that_of_the_cost_expressions(
    name: str, switches: dict[str, object], options: dict[str, int]
) -> None:
    """Arrays against the symbolic plan with the same numbers, one amount after the other."""
    plan = PlanOptions(**{**OFF, **options, **switches})
    model = transformer_request(name, plan).model
    context = int(model.context)
    own = {k: v for k, v in switches.items() if k != "replicate_kv"}
    work = TransformerWork(load_model(name), context, Switches(**own))  # type: ignore[arg-type]
    tp, pp, dp = options["tp"], options["pp"], options["dp"]
    cp, ep, m = options.get("cp", 1), options.get("ep", 1), options["microbatches"]
    found = work.of(one_plan(tp, cp, dp, pp, ep, m, 1), options["batch"], [8, None])
    path = (m + pp - 1) / m
    assert found.bubble[0] == pytest.approx((pp - 1) / (m + pp - 1))
    assert found.model_flop[0] == pytest.approx(float(model.training_flop.expr), rel=1e-9)
    splits = split_over_tiers(model.plan, [8, None])
    sent = {"wait": np.zeros(2), "gradients": np.zeros(2)}
    for entry in communications(model):
        if entry.parallelism in ("pipeline", "context") or entry.what == "kept inputs":
            continue
        words = np.array([float(x) for x in words_by_tier(entry, tiers_of(entry, splits))]) * 2
        if entry.serialized:
            sent["wait"] += words * (path if entry.place == "blocks" else 1)
        elif entry.place == "blocks":
            sent["gradients"] += words
    assert found.serialized_bytes[:, 0] == pytest.approx(sent["wait"], rel=1e-9)
    first = found.gradient_bytes[:, 0] - sent["gradients"]
    assert (first >= -1e-6 * found.gradient_bytes[:, 0]).all()


def test_memory_is_that_of_the_cost_expressions() -> None:
    cases: list[dict[str, Any]] = [
        {}, {"recompute": "full"}, {"zero": 1, "sequence_parallel": True},
    ]
    for switches in cases:
        options = PlanOptions(
            tp=8, pp=8, dp=4, batch=128, microbatches=16, **{**OFF, **switches}
        )
        model = transformer_request("gpt-3", options).model
        work = TransformerWork(load_model("gpt-3"), 2048, Switches(**switches))
        found = work.of(one_plan(8, 1, 4, 8, 1, 16, 1), 128, [8, None])
        (w,) = symbols("w")
        expected = model.memory(RECIPES["mixed"]).total.expr.xreplace({w: sp.Integer(2)})
        assert found.memory_bytes[0] == pytest.approx(float(expected), rel=1e-12)


# The pipeline, played through


def played(stages: int, microbatches: int, forward: float, backward: float) -> float:
    """Time of 1F1B by its rules: each stage does its own list of tasks in order."""
    order = []
    for stage in range(stages):
        warm = min(stages - 1 - stage, microbatches)
        tasks = [("F", i) for i in range(warm)]
        for i in range(microbatches - warm):
            tasks += [("F", warm + i), ("B", i)]
        tasks += [("B", i) for i in range(microbatches - warm, microbatches)]
        order.append(tasks)
    done: dict[tuple[str, int, int], float] = {}
    clock, place = [0.0] * stages, [0] * stages
    while any(place[s] < len(order[s]) for s in range(stages)):
        for stage in range(stages):
            if place[stage] == len(order[stage]):
                continue
            kind, i = order[stage][place[stage]]
            before = ("F", i, stage - 1) if kind == "F" else ("B", i, stage + 1)
            outside = (kind == "F" and stage == 0) or (kind == "B" and stage == stages - 1)
            if not outside and before not in done:
                continue
            ready = 0.0 if outside else done[before]
            clock[stage] = max(clock[stage], ready) + (forward if kind == "F" else backward)
            done[kind, i, stage] = clock[stage]
            place[stage] += 1
    return max(clock)


@pytest.mark.parametrize(("stages", "m"), list(product((1, 2, 3, 5), (5, 8))))
def test_the_critical_path_is_that_of_the_schedule(stages: int, m: int) -> None:
    assert played(stages, m, 1.0, 2.0) == pytest.approx((m + stages - 1) * 3.0)
    work = TransformerWork(load_model("gpt-2"), 1024)
    found = work.of(one_plan(1, 1, 1, stages, 1, m, 1), m, [8, None])
    assert found.block_passes[0] == (m + stages - 1) * -(-12 // stages)


def test_components_add_up_and_nothing_beats_the_peak() -> None:
    work = TransformerWork(load_model("llama-2-7b"), 4096, Switches(fused_attention=True))
    plans: Plan[np.ndarray] = Plan(*(np.array(x) for x in zip(*[
        (dp, tp, pp, 1, 1, 256 // dp, 1)
        for tp, dp, pp in product((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4))
    ], strict=True)))
    cluster = class_of_machine(H100)
    times = step_time(work.of(plans, 256, [8, None]), plans.devices, cluster)
    assert sum(times.components.values()) == pytest.approx(times.total)
    assert (times.mfu <= cluster.flop_rate / cluster.peak_rate + 1e-12).all()
    assert (times.mfu > 0).all()


# The search


@pytest.mark.parametrize("seed", sample(1).seeds)
def test_the_search_finds_what_trying_everything_finds(seed: int) -> None:
    """A second enumeration, one plan at a time, with the divisibility rules written again."""
    rng = Random(seed)
    devices, batch, split, zero = (16, 64, True, 1) if seed == 0 else (
        rng.choice((8, 12, 16, 24, 32)), rng.choice((16, 48, 64, 96)), rng.random() < 0.5,
        rng.randint(0, 3),
    )  # fmt: skip
    model = load_model("llama-2-7b")
    switches = Switches(fused_attention=True, zero=zero, sequence_parallel=split)
    asked = Question(model, 4096, batch, devices, searched(switches))
    best = best_transformer_plans(asked, H100)[0]
    least = float("inf")
    cluster = class_of_machine(H100)
    for recompute in ("none", "full"):
        work = TransformerWork(model, 4096, Switches(
            fused_attention=True, zero=zero, sequence_parallel=split, recompute=recompute))
        degrees = range(1, devices + 1)
        for tp, cp, pp in product(degrees, degrees, degrees):
            if devices % (tp * cp * pp) or 32 % tp or 11008 % tp or 4096 % cp:
                continue
            dp = devices // (tp * cp * pp)
            if batch % dp:
                continue
            for size in (1, 2, 4, 8, 16, 32):
                m, uneven = divmod(batch // dp, size)
                if uneven:
                    continue
                for v in range(1, 13):
                    if v > 1 and (pp == 1 or 32 % pp or m % pp or 32 // pp % v):
                        continue
                    plan = one_plan(tp, cp, dp, pp, 1, m, v)
                    amounts = work.of(plan, batch, [8, None])
                    if amounts.memory_bytes[0] <= 80e9:
                        time = step_time(amounts, plan.devices, cluster).total[0]
                        least = min(least, float(time))
    assert best.seconds == pytest.approx(least, rel=1e-12)


def test_fixed_degrees_are_kept() -> None:
    asked = Question(load_model("gpt-3"), 2048, 1536, 1024,
                     searched(Switches(zero=1, sequence_parallel=True), N_TP=8, v=1))
    plans = best_transformer_plans(asked, load_machine("a100-sxm"), count=10)
    assert all(p.plan.N_TP == 8 and p.plan.v == 1 for p in plans)
    assert [p.seconds for p in plans] == sorted(p.seconds for p in plans)


def test_what_does_not_fit_says_what_would() -> None:
    asked = Question(load_model("llama-3.1-405b"), 4096, 8, 8,
                     searched(Switches(fused_attention=True)))
    with pytest.raises(InfeasibleError, match=r"needs at least .* 80 GB; 128 devices would do"):
        best_transformer_plans(asked, H100)
    bigger = Question(asked.architecture, 4096, 8, 128, asked.plan)
    assert best_transformer_plans(bigger, H100)[0].memory_bytes <= 80e9
    smaller = Question(asked.architecture, 4096, 8, 64, asked.plan)
    with pytest.raises(InfeasibleError):
        best_transformer_plans(smaller, H100)


def test_degrees_and_lengths() -> None:
    assert tensor_degrees(load_model("gpt-2-xl")) == [1, 5, 25]
    assert context_of(load_model("gpt-3"), None) == 2048


def test_the_command() -> None:
    found = json.loads(answer(
        "plan", "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--devices", "64", "--batch",
        "256", "--seq", "8192", "--tokens", "15e12", "--format", "json",
    ))
    best = found["plans"][0]
    assert best["degrees"]["N_TP"] * best["degrees"]["N_CP"] * best["degrees"]["N_DP"] * best[
        "degrees"]["N_PP"] == 64
    assert best["training_s"] == pytest.approx(15e12 / (256 * 8192) * best["step_s"])
    text = answer("plan", "--model", "mixtral-8x7b", "--hardware", "a100-sxm", "--devices", "256",
                  "--batch", "512", "--seq", "4096")
    assert "What binds" in text


@pytest.mark.parametrize(
    ("arguments", "part", "code"),
    [
        (("--model", "llama-2-7b", "--devices", "8"), "--batch", 2),
        (("--model", "llama-2-7b", "--devices", "8", "--batch", "8", "--d-model", "4"),
         "No such option: --d-model", 2),
        (("--model", "sparse-mlp", "--devices", "8", "--batch", "8"), "plan-mlp", 2),
        (("--model", "gpt-3", "--devices", "8", "--batch", "8", "--seq", "4096"), "most 2048", 2),
        (("--model", "gpt-3", "--devices", "8", "--batch", "8", "--tokens", "-1"), "than 0", 2),
        (("--model", "transformer", "--devices", "8", "--batch", "8"), "numbers for L", 2),
        (("--model", "gpt-3", "--devices", "8", "--batch", "8"), "devices would do", 1),
        (("--model", "gpt-3", "--devices", "7", "--batch", "4", "--tp", "5"), "does is 4", 2),
        (("--model", "gpt-3", "--devices", "101", "--batch", "4"), "no plan", 1),
        (("--model", "gpt-3", "--devices", "8", "--batch", "8", "--recipe", "x"), "mixed", 2),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else str(x),
)
def test_bad_input_gets_one_line(arguments: tuple[str, ...], part: str, code: int) -> None:
    assert part in refusal("plan", "--hardware", "h100-sxm", *arguments, code=code)
