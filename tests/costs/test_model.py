"""One protocol for every model: what both say of the same amounts, and what they said before."""

from collections import Counter
from dataclasses import replace
from typing import Any, get_args

import pytest
import sympy as sp

from symscale.costs.contraction import Pass
from symscale.costs.memory import RECIPES
from symscale.costs.model import CostedModel, Parallelism
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.sparse_mlp.plan import MLPPlan
from symscale.costs.transformer.architecture import FeedForward, transformer
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.language.symbols import symbols
from symscale.studies.cost.answer import cost_answer
from symscale.studies.mesh.costs import dense_mlp
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request

b, d_model, d_ff, L, n_ctx, w = symbols("b d_model d_ff L n_ctx w")
N_DP, N_TP, N_PP, m, v = symbols("N_DP N_TP N_PP m v")
ONE = sp.Integer(1)
PHASES: tuple[Pass, ...] = get_args(Pass)
KINDS: tuple[Parallelism, ...] = get_args(Parallelism)
RECIPE = RECIPES["mixed"]
NUMBERS = {w: sp.Integer(2)}


def a_transformer() -> CostedModel:
    """Blocks of attention and an MLP d_ff wide, all whose tokens are split over devices."""
    architecture = transformer()
    (stack,) = architecture.stacks
    stack = replace(stack, block=replace(stack.block, mlp=FeedForward(d_ff)))
    plan = Plan(N_DP, N_TP, N_PP, m=m, sequence_parallel=True, zero=2)
    return Transformer(replace(architecture, stacks=(stack,), tied=False), b, n_ctx, plan)


def an_mlp() -> CostedModel:
    return dense_mlp(MLPPlan(N_DP, ONE, N_TP, N_PP, ONE, m, ONE))


def part(amount: sp.Expr, of: sp.Symbol) -> sp.Expr:
    """What is proportional to a size."""
    return sp.factor(sp.expand(amount).coeff(of))


BOTH = a_transformer(), an_mlp()


@pytest.mark.parametrize("phase", PHASES)
def test_an_mlp_costs_the_same_in_either_model(phase: Pass) -> None:
    """All that grows with d_ff is its."""
    flop, words = ([part(c.expr, d_ff) for c in costs] for costs in (
        [model.flop(phase) for model in BOTH], [model.weight_traffic(phase) for model in BOTH]
    ))  # fmt: skip
    assert flop == [4 * L * b * d_model] * 2
    touches = 2 if phase == "weight gradient" else 1
    assert words == [2 * L * d_model * N_DP * m * touches] * 2
    assert [part(model.parameters, d_ff) for model in BOTH] == [2 * L * d_model] * 2


@pytest.mark.parametrize("model", BOTH, ids=["transformer", "sparse MLP"])
def test_the_products_of_a_step_are_those_of_its_phases(model: CostedModel) -> None:
    phases = sp.Add(*(model.flop(phase).expr for phase in PHASES))
    assert sp.expand(model.training_flop.expr - phases) == 0
    assert model.training_flop.unit == model.flop("forward").unit
    # What the MLP's forward pass reads is its parameters, once a microbatch and replica.
    read = part(model.weight_traffic("forward").expr, d_ff)
    assert read == part(model.parameters * N_DP * m, d_ff)


def test_an_mlp_exchanges_the_same_words_in_either_model() -> None:
    """ZeRO 2 scatters gradients of every microbatch: half the words m times, and half once."""
    long, short = ({k: model.exchange_words(k) for k in KINDS} for model in BOTH)
    assert {x.unit for x in (*long.values(), *short.values())} == {short["data"].unit}
    data = part(short["data"].expr, d_ff)
    assert data == 4 * L * d_model * (N_DP - 1)
    assert sp.simplify(part(long["data"].expr, d_ff) - data * (m + 1) / 2) == 0
    assert sp.expand(long["pipeline"].expr - short["pipeline"].expr) == 0
    assert short["pipeline"].expr != 0
    assert long["context"].expr == short["context"].expr == 0
    assert long["expert"].expr == short["expert"].expr == 0


def test_attention_and_mlp_exchange_as_much_over_a_tensor_parallel_group() -> None:
    """Each an all-reduce forward and one back; sequence parallelism gathers inputs once more."""
    halves = [part(model.exchange_words("tensor").expr, L) for model in BOTH]
    assert sp.simplify(halves[1] - 4 * b * d_model * (N_TP - 1)) == 0
    assert sp.simplify(halves[0] - halves[1] * 2 * sp.Rational(5, 4)) == 0


def test_an_mlp_needs_the_same_memory_in_either_model() -> None:
    """A Transformer's keeps its hidden layer twice, before and after the nonlinearity."""
    long, short = (model.memory(RECIPE) for model in BOTH)
    for name, one in short.buckets.items():
        more = 2 if name == "activations" else 1
        assert long.buckets[name].unit == one.unit
        found = part(long.buckets[name].expr, d_ff)
        assert sp.simplify(found - more * part(one.expr, d_ff)) == 0, name
    assert long.stage == short.stage == "first"
    weights = sp.simplify(short.weights.expr - 2 * 2 * L * d_model * d_ff / (N_TP * N_PP))
    assert weights == 0


def test_the_sparse_mlp_costs_what_it_did() -> None:
    model: CostedModel = sparse_mlp()
    E, N_EP, split_model, split_ff = symbols("E N_EP N_TP_model N_TP_ff")
    parameters = 2 * L * d_model * d_ff * E
    devices = N_DP * split_model * split_ff * N_PP * N_EP
    kept = L * b * (d_model + d_ff) * N_PP / m
    held = model.memory(RECIPE)
    expected = {
        model.parameters: parameters,
        model.training_flop.expr: 12 * L * d_model * d_ff * b,
        model.flop("weight gradient").expr: 4 * L * d_model * d_ff * b,
        model.weight_traffic("weight gradient").expr: 2 * parameters * N_DP * m,
        model.exchange_words("tensor").expr:
            4 * L * b * ((split_model - 1) * d_ff + (split_ff - 1) * d_model),
        model.exchange_words("data").expr: 2 * (N_DP - 1) * parameters,
        model.exchange_words("pipeline").expr: 2 * b * d_model * (v * N_PP - 1),
        model.exchange_words("expert").expr: 2 * (L - 1) * b * d_model * (1 - 1 / N_EP),
        held.total.expr: (parameters * (2 * N_DP + 4 + 12) + w * kept) / devices,
        model.plan.devices: devices,
        model.tokens: b,
    }
    assert [x for x, y in expected.items() if sp.expand(x - y) != 0] == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gpt-3", {"tp": 8, "pp": 8, "dp": 4, "batch": 128, "microbatches": 16}),
        ("t5-11b", {"tp": 8, "pp": 1, "dp": 4, "batch": 64, "recompute": "selective"}),
        ("llama-3.1-405b", {"tp": 8, "pp": 16, "dp": 8, "cp": 2, "batch": 128, "zero": 2}),
        ("deepseek-v3", {"tp": 4, "pp": 4, "dp": 16, "ep": 16, "batch": 256,
                         "sequence_parallel": True, "recompute": "full"}),
    ],
    ids=str,
)  # fmt: skip
def test_a_transformer_costs_what_is_printed(name: str, options: dict[str, Any]) -> None:
    request = transformer_request(name, PlanOptions(**options))
    printed, model = cost_answer(request).to_dict(), request.model
    check(model, printed)


def check(model: CostedModel, printed: dict[str, Any]) -> None:
    """Every amount of the protocol against the page of the costs."""
    assert model.parameters == printed["parameters"]
    assert model.tokens == printed["batch"]["tokens"]
    assert model.plan.devices == printed["plan"]["devices"]
    assert model.training_flop.expr == printed["flop_per_step"]["training"]
    forward = printed["flop_per_token"]["forward"] * printed["batch"]["tokens"]
    assert float(model.flop("forward").expr) == pytest.approx(forward, rel=1e-12)
    words: Counter[str] = Counter()
    for entry in printed["communication"]:
        words[entry["parallelism"]] += entry["words"] * printed["plan"]["devices"]
    assert words
    for kind in KINDS:
        assert float(model.exchange_words(kind).expr) == pytest.approx(words[kind], rel=1e-12)
    held = model.memory(RECIPE)
    assert held.stage == printed["memory_bytes"]["stage"]
    for bucket, amount in {**held.buckets, "total": held.total}.items():
        expected = printed["memory_bytes"][bucket]
        assert float(amount.expr.xreplace(NUMBERS)) == pytest.approx(expected, rel=1e-12)
