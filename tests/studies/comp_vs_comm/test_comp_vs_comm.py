"""The study of computation against communication: its formulas, its table, its sweep."""

from fractions import Fraction
from math import prod

import pytest
import sympy as sp

from symscale.costs.transformer.communication import communications
from symscale.costs.transformer.tiers import split_over_tiers, tiers_of, words_by_tier
from symscale.derivation.library import load_derivation
from symscale.errors import InputError
from symscale.facts.machines.lumped import load_machine
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import symbols
from symscale.studies.comp_vs_comm.answer import growth_of, ratio_answer
from symscale.studies.comp_vs_comm.future import DEFAULT_MACHINE, Case, future_cases
from symscale.studies.comp_vs_comm.ratios import CompVsComm, asymptotic_model, named_costs
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request

b, d, n, w, N_TP, N_DP, C, W_net, k, L = symbols("b d_model n_ctx w N_TP N_DP C W_net k L")
I = sp.Integer  # noqa: E741
STUDY = CompVsComm(asymptotic_model())

# ../shared/theory/comp-vs-comm.md: width, sequence, degree, and the share at k = 1, 2, 4.
TABLE = [
    (4096, 1024, 16, 0.40, 0.57, 0.73),
    (8192, 2048, 32, 0.41, 0.58, 0.73),
    (16384, 2048, 64, 0.41, 0.59, 0.74),
    (32768, 2048, 128, 0.42, 0.59, 0.74),
    (65536, 4096, 128, 0.26, 0.42, 0.59),
    (65536, 4096, 256, 0.42, 0.59, 0.74),
    (1024, 1024, 4, 0.32, None, None),
    (4096, 4096, 16, 0.37, None, None),
    (1024, 8192, 4, 0.19, None, None),
]


def equal(found: sp.Expr, published: sp.Expr) -> bool:
    return bool(sp.simplify(found - published) == 0)


def test_the_formulas_of_the_study() -> None:
    assert equal(STUDY.edge.expr, (18 * d + 3 * n) / (w * N_TP))
    assert equal(STUDY.slack.expr, 4 * (b / N_DP) / w)
    r = (N_TP - 1) * C / (9 * W_net * d * (1 + n / (6 * d)))
    assert equal(STUDY.time_ratio.expr, r)
    assert equal(STUDY.share(k).expr, k * r / (1 + k * r))
    assert equal(STUDY.crossing(sp.Rational(1, 3)).expr, 1 / (2 * r))
    assert str(STUDY.edge.unit) == str(STUDY.slack.unit) == "FLOP/byte"
    assert str(STUDY.edge_word.unit) == "FLOP/word"
    # A ring sends 2 (N_TP - 1)/N_TP words for each of payload.
    per_word = STUDY.edge.expr * w / (2 * (N_TP - 1) / N_TP)
    assert equal(STUDY.edge_word.expr, per_word)


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_the_check_table_of_the_study(row: tuple[float, ...]) -> None:
    width, length, degree, *shares = row
    at = {d: I(width), n: I(length), N_TP: I(degree), C: sp.Rational("126.7e12"),
          W_net: sp.Rational("75e9")}
    for factor, share in zip((1, 2, 4), shares, strict=True):
        if share is not None:
            assert round(float(STUDY.share(I(factor)).expr.xreplace(at)), 2) == share


def test_growth_is_decided_not_told() -> None:
    edge, slack = growth_of(STUDY.edge.expr), growth_of(STUDY.slack.expr)
    assert edge is not None
    assert slack is not None
    assert edge.theta == (d + n) / N_TP
    assert slack.theta == b / N_DP


def test_names_cover_what_can_be_asked() -> None:
    costs = named_costs()
    assert {"edge", "slack", "share", "compute", "serialized"} <= set(costs)
    assert costs["edge"].expr == costs["compute"].expr / costs["serialized"].expr or equal(
        costs["edge"].expr, costs["compute"].expr / costs["serialized"].expr
    )


# The exposed part, against a simulation of two processes that run beside each other


def simulated(compute: float, backward: float, gradients: float, contention: float) -> float:
    """Time of a step in which a collective runs beside the backward pass, slowing it."""
    step = 1e-5
    time, left, sent = compute - backward, backward, 0.0
    while left > 0 or sent < gradients:
        busy = sent < gradients
        left -= step / (contention if busy else 1.0) if left > 0 else 0.0
        sent += step if busy else 0.0
        time += step
    return time


@pytest.mark.parametrize("gradients", [0.1, 0.6, 0.9, 3.0])
@pytest.mark.parametrize("contention", [1, 1.2, 2])
def test_the_exposed_part_is_what_a_simulation_shows(gradients: float, contention: float) -> None:
    ratio = STUDY.gradient_ratio.expr
    at = {d: I(4096), n: I(1024), N_TP: I(8), N_DP: I(64), C: I(10) ** 14, W_net: I(10) ** 10}
    (free,) = ratio.xreplace(at).free_symbols
    tokens = sp.solve(sp.Eq(ratio.xreplace(at), sp.Rational(str(gradients))), free)[0]
    exposed = STUDY.exposed(sp.Rational(str(contention))).expr.xreplace({**at, free: tokens})
    shown = simulated(1.0, 2 / 3, gradients, contention) - 1
    assert float(exposed) == pytest.approx(shown, abs=1e-4)


# Numbers with a machine


def test_a_group_within_a_node_uses_the_node_s_link() -> None:
    inside = ratio_answer(transformer_request("gpt-3", PlanOptions(tp=8)), hardware="h100-sxm")
    across = ratio_answer(transformer_request("gpt-3", PlanOptions(tp=16)), hardware="h100-sxm")
    assert inside.tier is not None
    assert across.tier is not None
    assert (inside.tier.name, across.tier.name) == ("node", "cluster")
    share = next(r for r in inside.ratios if r.name == "share")
    rate, link = 0.7 * 32 * 128 * 132 * 1830e6, 450e9
    r = (2 / 9) * 7 * rate / (12288 * (1 + 2048 / (6 * 12288)) * link)
    assert share.value is not None
    assert float(share.value) == pytest.approx(r / (1 + r), rel=1e-12)


def test_experts_wait_for_the_link_that_they_span() -> None:
    near = transformer_request("mixtral-8x7b", PlanOptions(tp=1, dp=16, ep=8))
    far = transformer_request("mixtral-8x7b", PlanOptions(tp=2, dp=16, ep=8))
    names = [ratio_answer(r, hardware="h100-sxm").tier for r in (near, far)]
    assert [tier.name for tier in names if tier is not None] == ["node", "cluster"]


def test_gradients_go_over_the_link_of_the_replicas() -> None:
    options = PlanOptions(tp=8, dp=8, seq=2048, batch=8)
    request = transformer_request("llama-3.1-8b", options)

    def exposed(link: str | None = None) -> float:
        answer = ratio_answer(request, hardware="h100-sxm", link=link)
        assert answer.tier is not None
        value = next(r.value for r in answer.ratios if r.name == "exposed")
        assert value is not None
        return float(value)

    # By hand: eight replicas, each on a node; a sequence of 2048 tokens in each.
    block = 2 * 4096 * (4096 + 1024) + 3 * 4096 * 14336
    flop = 6 * 2048 * block + 12 * 2048 * 2048 * 4096
    compute = flop / 8 / (0.7 * 32 * 128 * 132 * 1830e6)
    gradients = 2 * 2 * 7 / 8 * (block / 8 + 2 * 4096) / 50e9
    assert exposed() == pytest.approx(gradients / compute - 2 / 3, rel=1e-12)
    assert exposed(link="node") == pytest.approx(
        max(0, gradients / 9 / compute - 2 / 3), rel=1e-12
    )


def test_the_crossing_is_where_the_share_is_reached() -> None:
    request = transformer_request("llama-3.1-8b", PlanOptions(tp=8))
    targets = (sp.Rational(3, 10), sp.Rational(9, 10))
    answer = ratio_answer(request, targets=targets, hardware="a100-sxm")
    for ratio in (r for r in answer.ratios if r.name == "crossing"):
        assert ratio.value is not None
        at = ratio_answer(request, ks=(ratio.value,), hardware="a100-sxm")
        share = next(r for r in at.ratios if r.name == "share")
        assert share.value == ratio.target


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ks": (I(0),)}, "above 0"),
        ({"targets": (I(1),)}, "between 0 and 1"),
        ({"contention": sp.Rational(1, 2)}, "at least 1"),
        ({"link": "node"}, "give --hardware"),
        ({"hardware": "h100-sxm", "link": "rack"}, "node"),
    ],
)
def test_values_out_of_range_are_refused(arguments: dict[str, object], message: str) -> None:
    request = transformer_request("gpt-3", PlanOptions(tp=8))
    with pytest.raises(InputError, match=message):
        ratio_answer(request, **arguments)  # type: ignore[arg-type]


def test_open_degree_needs_a_link() -> None:
    with pytest.raises(InputError, match="--tp"):
        ratio_answer(transformer_request("gpt-3"), hardware="h100-sxm")


# The sweep


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return future_cases(load_machine(DEFAULT_MACHINE), [Fraction(1), Fraction(2), Fraction(4)])


def test_the_sweep_has_the_cases_of_the_study(cases: list[Case]) -> None:
    assert len(cases) == 392
    assert len({(c.d_model, c.sequences, c.n_ctx, c.N_TP) for c in cases}) == 392
    assert {c.fits for c in cases} == {True, False}


def test_the_sweep_by_hand(cases: list[Case]) -> None:
    for case in cases:
        r = (2 / 9) * (case.N_TP - 1) * 126.7e12 / (
            case.d_model * (1 + case.n_ctx / (6 * case.d_model)) * 150e9
        )
        for factor, share in zip((1, 2, 4), case.shares, strict=True):
            assert share == pytest.approx(factor * r / (1 + factor * r), rel=1e-12)
        assert case.slack == pytest.approx(2 * case.sequences * case.n_ctx, rel=1e-12)
        # 18 bytes a parameter, 34 b d bytes of activations, all split but norms and biases.
        parameters = 12 * case.d_model**2 + 7 * case.d_model
        whole = 18 * 6 * case.d_model
        tokens = case.sequences * case.n_ctx
        held = (18 * parameters + 34 * tokens * case.d_model) / case.N_TP + whole
        assert case.memory_bytes == pytest.approx(held, rel=1e-12)
        assert case.fits == (held <= 64e9)


def test_the_band_of_the_study(cases: list[Case]) -> None:
    """40 to 75 % for k from 1 to 4, at N_TP/d_model = 1/256."""
    band = [
        c for c in cases
        if c.d_model == c.N_TP * 256 and 4 * c.n_ctx <= c.d_model and c.N_TP >= 16
    ]
    assert len(band) == 28
    for case in band:
        assert all(0.40 <= round(share, 2) <= 0.75 for share in case.shares)


# Tiers


@pytest.mark.parametrize(
    "plan",
    [
        PlanOptions(tp=8, pp=4, dp=16, batch=64),
        PlanOptions(tp=4, pp=2, dp=8, cp=2, batch=64, seq=2048),
        PlanOptions(tp=2, pp=1, dp=32, batch=64),
        PlanOptions(tp=1, pp=3, dp=24, batch=48),
    ],
    ids=str,
)
@pytest.mark.parametrize("machine", ["h100-sxm", "h100-sxm-superpod"])
def test_tiers_add_up(plan: PlanOptions, machine: str) -> None:
    """Degrees multiply to the plan's, and hierarchical collectives send what flat ones do."""
    model = transformer_request("gpt-3", plan).model
    tiers = load_machine(machine).tiers
    splits = split_over_tiers(model.plan, [tier.size for tier in tiers])
    for name in ("N_TP", "N_DP", "N_PP", "N_CP"):
        assert prod(splits[name].degrees) == getattr(model.plan, name)
    for i, tier in enumerate(tiers[:-1]):
        assert prod(splits[x].degrees[i] for x in ("N_TP", "N_DP", "N_PP", "N_CP")) <= (
            tier.size or 10**9
        )
    for entry in communications(model):
        words = words_by_tier(entry, tiers_of(entry, splits))
        assert sp.Add(*words) == entry.words.expr


def test_experts_lie_within_replicas() -> None:
    options = PlanOptions(tp=2, pp=1, dp=16, ep=8, batch=64)
    model = transformer_request("mixtral-8x7b", options).model
    splits = split_over_tiers(model.plan, [8, None])
    assert splits["N_EP"].degrees == (4, 2)
    assert splits["experts"].degrees == (1, 2)
    for entry in communications(model):
        words = words_by_tier(entry, tiers_of(entry, splits))
        assert sp.Add(*words) == entry.words.expr


# Derivations


def test_derived_numbers() -> None:
    rule = load_derivation("required-tp")
    (table,) = rule.tables
    assert [str(cell.value)[:6] for _, cell in table.rows[:2]] == ["1800/1", "5/2"]  # type: ignore[attr-defined]
    degree = table.rows[2][1].value  # type: ignore[attr-defined]
    assert round(float(degree), 1) == 443.1
    shares = load_derivation("serialized-share").tables[0]
    for row, published in zip(shares.rows, TABLE, strict=False):
        assert [round(float(cell.value), 2) for cell in row[3:]] == list(published[3:])  # type: ignore[attr-defined]


def test_six_p_d_is_the_leading_term() -> None:
    """For GPT-3, 6 P b with the blocks' weights falls short by the stated relative error."""
    architecture = load_model("gpt-3")
    model = transformer_request("gpt-3").model
    weights = 12 * 96 * 12288**2
    exact = model.training_flop.expr / b
    error = sp.Rational(2048, 6 * 12288) + sp.Rational(50257, 12 * 96 * 12288)
    assert exact == 6 * weights * (1 + error)
    assert architecture.vocabulary == 50257
