"""The costs of Transformers, against counting element by element and published formulas."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

from symscale.costs.contraction import Dimension, einsum
from symscale.costs.memory import RECIPES
from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    FeedForward,
    Latent,
    Stack,
    gated_transformer,
    moe_transformer,
    transformer,
)
from symscale.costs.transformer.communication import communications
from symscale.costs.transformer.component import LETTERS, exchanges
from symscale.costs.transformer.memory import (
    block_activation_bytes,
    block_memory,
    live_microbatches,
    split_by_tensor_degree,
)
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan, symbolic_transformer_plan
from symscale.costs.transformer.stages import heaviest_stage, stage_sizes
from symscale.errors import FormulaError, InputError
from symscale.facts.models.zoo import load_model, model_names
from symscale.language.symbols import symbols
from transformer_cases import CASES, GRIDS, HEADS, PLANS, SIZES, Case, tiny
from transformer_counting import Grid, Holders, flop_by_device, held, reductions

b, d_model, d_ff, L, n_ctx, n_heads, n_vocab, w = symbols(
    "b d_model d_ff L n_ctx n_heads n_vocab w"
)
N_TP, N_DP, N_PP, N_CP, N_EP, m, v, E, E_k = symbols("N_TP N_DP N_PP N_CP N_EP m v E E_k")
N_TP_kv = symbols("N_TP_ff")[0]  # any symbol will do for the part that splits keys and values
I = sp.Integer  # noqa: E741


def of(architecture: Architecture, **plan: object) -> Transformer:
    return Transformer(architecture, b, n_ctx, Plan(**plan))  # type: ignore[arg-type]


# Published formulas


def test_the_flop_of_a_layer_is_that_of_the_study() -> None:
    forward = sp.Add(*(c.forward_flop.expr for c in of(transformer()).layered))
    assert sp.expand(forward - L * b * (24 * d_model**2 + 4 * d_model * n_ctx)) == 0
    by_hand = 72 * L * b * d_model**2 * (1 + n_ctx / (6 * d_model))
    assert sp.expand(of(transformer()).layer_flop.expr - by_hand) == 0


def test_the_flop_of_megatron_are_recovered() -> None:
    """With full recomputation 96 B s l h^2 (1 + s/(6h) + V/(16 l h)); without, 72 and V/12."""
    full = of(transformer(), recompute="full").hardware_flop.expr
    published = 96 * b * L * d_model**2 * (
        1 + n_ctx / (6 * d_model) + n_vocab / (16 * L * d_model)
    )
    assert sp.expand(full - published) == 0
    none = of(transformer()).training_flop.expr
    published = 72 * b * L * d_model**2 * (
        1 + n_ctx / (6 * d_model) + n_vocab / (12 * L * d_model)
    )
    assert sp.expand(none - published) == 0


def test_selective_recomputation_repeats_scores_and_context() -> None:
    again = of(transformer(), recompute="selective").recomputed_flop.expr
    assert sp.expand(again - 4 * b * L * d_model * n_ctx) == 0


def test_a_kernel_that_skips_the_mask_does_half_of_the_scores() -> None:
    full, half = of(transformer()), Transformer(transformer(), b, n_ctx, Plan(mask="causal"))
    saved = full.forward_flop.expr - half.forward_flop.expr
    assert sp.expand(saved - 2 * b * L * d_model * n_ctx) == 0


SBH = b * d_model


@pytest.mark.parametrize(
    ("plan", "published"),
    [
        ({}, 34 + 5 * n_heads * n_ctx / d_model),
        ({"N_TP": N_TP}, 10 + 24 / N_TP + 5 * n_heads * n_ctx / (d_model * N_TP)),
        ({"N_TP": N_TP, "sequence_parallel": True},
         (34 + 5 * n_heads * n_ctx / d_model) / N_TP),
        ({"N_TP": N_TP, "recompute": "selective"}, 10 + 24 / N_TP),
        ({"N_TP": N_TP, "sequence_parallel": True, "recompute": "selective"}, 34 / N_TP),
        ({"recompute": "full"}, I(2)),
    ],
)
def test_activations_are_those_of_korthikanti_et_al(
    plan: dict[str, object], published: sp.Expr
) -> None:
    """Table 2 of arXiv 2205.05198: bytes of a layer over s b h, at 16 bit."""
    found = block_activation_bytes(of(transformer(), **plan)).expr.subs(w, 2)
    assert sp.expand(found - SBH * published) == 0


def test_interleaving_holds_more_activations() -> None:
    plan = Plan(N_PP=N_PP, v=v)
    assert sp.simplify(live_microbatches(plan) / N_PP - (1 + (N_PP - 1) / (N_PP * v))) == 0
    assert live_microbatches(Plan(N_PP=I(8), m=I(3))) == 3
    assert live_microbatches(Plan(N_PP=I(8), m=I(64), schedule="zero-bubble")) == 15


def test_model_states_take_18_bytes_a_parameter() -> None:
    """18 byte x 12 L h^2/(t p), as Korthikanti et al. count, is the leading term."""
    plan = Plan(N_TP=N_TP, N_PP=N_PP)
    held = Transformer(transformer(), b, n_ctx, plan).memory(RECIPES["mixed"])
    states = sp.expand((held.weights + held.gradients + held.optimizer).expr)
    assert states.coeff(d_model, 2) == 18 * 12 * L / (N_TP * N_PP)


def test_sharding_takes_from_the_bucket_it_names() -> None:
    held = [
        of(gated_transformer(), N_DP=N_DP, zero=zero).memory(RECIPES["mixed"])
        for zero in range(4)
    ]
    for zero, found in enumerate(held):
        for stage, bucket in ((1, "optimizer"), (2, "gradients"), (3, "weights")):
            share = found.buckets[bucket].expr / held[0].buckets[bucket].expr
            assert sp.simplify(share) == (1 / N_DP if zero >= stage else 1)


def test_the_required_degree_just_fits() -> None:
    model = of(transformer(), N_TP=N_TP)
    for needed in (model.memory(RECIPES["mixed"]).total, block_memory(model, RECIPES["mixed"])):
        (M_cap,) = symbols("M_cap")
        split, whole = split_by_tensor_degree(needed.expr)
        assert sp.simplify(needed.expr.subs(N_TP, split / (M_cap - whole)) - M_cap) == 0


# Counting by loops


def of_grid(case: Case, grid: Grid, **more: object) -> Transformer:
    plan = Plan(
        N_DP=I(grid.dp), N_TP=I(grid.tp), N_CP=I(grid.cp), N_EP=I(grid.ep),
        kv_split=I(min(grid.tp, case.kv)), **more,  # type: ignore[arg-type]
    )
    return Transformer(case.architecture, I(SIZES["s"] * SIZES["t"]), I(SIZES["t"]), plan)


@cache
def found_by_loops(name: str, grid: Grid) -> tuple[Holders, ...]:
    """Of each stack's block: who contributes to which element."""
    case = CASES[name]
    grid = replace(grid, kv=min(grid.tp, case.kv))
    return tuple(held(products, case.sizes, grid) for products in case.blocks)


@pytest.mark.parametrize(("name", "grid"), PLANS, ids=str)
def test_flop_are_those_that_loops_count(name: str, grid: Grid) -> None:
    case = CASES[name]
    model = of_grid(case, grid)
    products = [product for block in case.blocks for product in block]
    counted = flop_by_device(products, case.sizes, replace(grid, kv=min(grid.tp, case.kv)))
    assert counted == [model.forward_flop_per_device.expr] * len(counted)
    serial = flop_by_device(products, case.sizes, Grid())
    assert [sp.Add(*(c.forward_flop.expr for c in model.layered))] == serial


@pytest.mark.parametrize(("name", "grid"), PLANS, ids=str)
def test_exchanges_are_those_that_loops_find(name: str, grid: Grid) -> None:
    """For every device: how many words it sums up, over how many participants."""
    model = of_grid(CASES[name], grid)
    stacks = model.architecture.stacks
    for stack, holders in zip(stacks, found_by_loops(name, grid), strict=True):
        counted = reductions(holders)
        expected = sorted(
            (kind[1], count, participants)
            for kind, found in counted.items()
            for (device, participants), count in found.items()
            if device == (0, 0, 0)
        )
        found = sorted(
            (e.of_gradient, int(e.payload), int(sp.Mul(*e.participants.values())))
            for e in model.exchanges(stack)
        )
        assert found == expected
        for kind, counter in counted.items():  # every device has the same share
            assert len(set(counter.values())) == 1, kind


def ring(words: int, participants: int) -> sp.Rational:
    """What a device sends in a reduce-scatter or an all-gather: all but its own part, once."""
    return sp.Rational(words * (participants - 1), participants)


# Loops do not know that the gradient of W_{k,R} can be summed in place of the position keys'.
OF_TOKENS_OR_WEIGHTS = [(name, grid) for name, grid in PLANS if name != "relative positions"]


def words_by_loops(name: str, grid: Grid) -> Counter[str]:
    """Words that a device sends in half an all-reduce of all that is exchanged in the blocks."""
    case, first = CASES[name], (0, 0, 0)
    sent: Counter[str] = Counter()
    for products, holders in zip(case.blocks, found_by_loops(name, grid), strict=True):
        read_by_weights = {p.names[0] for p in products if p.names[1].startswith("W")}
        for axis in ("tensor", "context", "tokens"):
            for (tensor, gradient), counter in reductions(holders, axis).items():
                if tensor.startswith("W") != (axis == "tokens"):
                    continue
                words = sum(ring(n, p) for (device, p), n in counter.items() if device == first)
                sent[axis] += words
                if axis == "tensor" and gradient and tensor in read_by_weights:
                    sent["inputs"] += words
        routed = holders.get(("dispatched", True), {}).values()
        sent["experts"] += ring(sum(first in devices for devices in routed), grid.ep)
    sent["tokens"] += ring(case.vectors, grid.dp * grid.cp)
    return sent


@pytest.mark.parametrize(("name", "grid"), OF_TOKENS_OR_WEIGHTS, ids=str)
def test_words_are_those_that_loops_find(name: str, grid: Grid) -> None:
    """Whole and in parts: sequence parallelism, and every stage of ZeRO."""
    half = words_by_loops(name, grid)
    for parts, zero in ((False, 0), (True, 1), (False, 2), (True, 3)):
        model = of_grid(CASES[name], grid, sequence_parallel=parts, zero=zero)
        found: Counter[str] = Counter()
        for entry in communications(model):
            if entry.place == "blocks":
                found[entry.parallelism] += entry.words.expr
        expected = {
            # Sequence parallelism keeps inputs in parts: the gradients of the weights that
            # read them need them whole once more.
            "tensor": 2 * half["tensor"] + (half["inputs"] if parts else 0),
            # Keys and values are gathered forward and backward, their gradients scattered.
            "context": 3 * half["context"],
            # Gradients are scattered, and they or the weights gathered; weights that are
            # sharded are gathered forward and backward.
            "data": (3 if zero == 3 else 2) * half["tokens"],
            # To the experts and back, forward and backward, each device its part of the tokens.
            "expert": 4 * half["experts"] / sp.Integer(grid.tp if parts else 1),
        }
        assert found == Counter(expected), (parts, zero)


@pytest.mark.parametrize("grid", [g for g in GRIDS if g.ep == 1], ids=str)
def test_keys_of_positions_are_exchanged_as_the_gradient_of_their_weights(grid: Grid) -> None:
    """By hand: every device makes those of its heads, of sinusoids that nobody learns.

    So nothing of a token's is exchanged beyond what attention without them exchanges. Each
    device's part of d W_{k,R} = R^T d K sums its own tokens; the sum over all devices that
    share out the tokens is that of the gradients of weights, d heads k of them over N_TP.
    """
    sent = []
    for name in ("plain", "relative positions"):
        found: Counter[str] = Counter()
        for entry in communications(of_grid(CASES[name], grid)):
            if entry.place == "blocks":
                found[entry.parallelism] += entry.words.expr
        sent.append(found)
    weights = SIZES["d"] * HEADS * SIZES["k"] // grid.tp
    sent[0]["data"] += 2 * ring(weights, grid.dp * grid.cp)
    assert sent[1] == sent[0]


# Letters

SPLIT_BY = {
    "data": {N_DP, N_CP, N_EP}, "context": {N_CP}, "tensor": {N_TP, N_TP_kv}, "expert": {N_EP},
}


def all_models() -> Iterator[Architecture]:
    yield from (transformer(), gated_transformer(), moe_transformer())
    yield from (case.architecture for case in CASES.values())
    yield from (load_model(name) for name in model_names())


def test_a_letter_means_one_split_in_every_product() -> None:
    """What is split twice in two ways would be summed over the wrong devices, silently."""
    plan = replace(symbolic_transformer_plan(), kv_split=N_TP_kv)
    splits: dict[str, set[sp.Expr]] = defaultdict(set)
    for architecture in all_models():
        for component in Transformer(architecture, b, n_ctx, plan).components:
            dimensions = [c.dimensions for c in component.contractions]
            dimensions += [c.dimensions for c in component.copies]
            for letter, dimension in (pair for table in dimensions for pair in table.items()):
                splits[letter].add(dimension.split)
    assert {letter: found for letter, found in splits.items() if len(found) > 1} == {}
    split = {letter: found.pop() for letter, found in splits.items() if found != {1}}
    assert set(split) == set(LETTERS)
    for letter, degree in split.items():
        assert degree.free_symbols <= SPLIT_BY[LETTERS[letter]], letter
    # Together they are the whole of each degree.
    assert split["g"] * split["r"] == split["f"] == split["y"] == N_TP
    assert (split["s"], split["t"], split["e"]) == (N_DP, N_CP, N_EP)
    assert split["e"] * split["c"] == split["s"] * split["t"]


def test_a_split_of_no_known_parallelism_is_named() -> None:
    lengths = {"i": Dimension(I(4), I(2)), "d": Dimension(I(4)), "o": Dimension(I(4))}
    product = einsum("odd", "id,do->io", lengths, names=("read", "weights", "made"))
    with pytest.raises(FormulaError, match=r"dimension 'i', which 'weights' lacks, .* knows s, t,"):
        exchanges([product])


# Properties

ARCHITECTURES = {
    "transformer": transformer(), "gated": gated_transformer(), "moe": moe_transformer()
}
DEGREES = {"tensor": N_TP, "context": N_CP, "pipeline": N_PP, "expert": N_EP}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_costs_are_additive_over_layers_and_homogeneous_in_the_batch(name: str) -> None:
    model = Transformer(ARCHITECTURES[name], b, n_ctx, symbolic_transformer_plan())
    flop = model.layer_flop.expr
    assert sp.expand(flop.subs(L, 5) - flop.subs(L, 2) - flop.subs(L, 3)) == 0
    assert sp.expand(model.training_flop.expr.subs(b, 7 * b) - 7 * model.training_flop.expr) == 0
    for entry in communications(model):
        words = entry.words.expr
        if entry.parallelism in ("tensor", "context", "expert") or "activations" in entry.what:
            assert sp.simplify(words.subs(b, 7 * b) - 7 * words) == 0
        if entry.place == "blocks" and entry.parallelism != "pipeline":
            assert sp.simplify(words.subs(L, 5) - words.subs(L, 2) - words.subs(L, 3)) == 0


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("more", [{}, {"zero": 3}, {"sequence_parallel": True, "zero": 1}], ids=str)
def test_no_words_at_degree_one(name: str, more: dict[str, object]) -> None:
    plan = replace(symbolic_transformer_plan(), **more)  # type: ignore[arg-type]
    model = Transformer(ARCHITECTURES[name], b, n_ctx, plan)
    kinds = set()
    for entry in communications(model):
        kinds.add(entry.parallelism)
        degree = DEGREES.get(entry.parallelism)
        one = {N_DP: N_EP, N_CP: I(1)} if entry.within else {N_DP: I(1), N_CP: I(1)}
        at_one: dict[sp.Symbol, sp.Expr] = {degree: I(1)} if degree is not None else one
        assert sp.simplify(entry.words.expr.xreplace({**at_one, v: I(1)})) == 0, entry
    assert kinds == {"tensor", "context", "data", "pipeline"} | (
        {"expert"} if name == "moe" else set()
    )


def test_halves_of_an_all_reduce_move_what_it_moves() -> None:
    """Sequence parallelism and ZeRO 1 move its halves in time, not their sum."""
    def words(kind: str, **more: object) -> sp.Expr:
        plan = replace(symbolic_transformer_plan(), **more)  # type: ignore[arg-type]
        model = Transformer(transformer(), b, n_ctx, plan)
        return sp.Add(
            *(e.words.expr for e in communications(model)
              if e.parallelism == kind and e.what != "kept inputs")
        )

    assert sp.simplify(words("tensor") - words("tensor", sequence_parallel=True)) == 0
    assert sp.simplify(words("data") - words("data", zero=1)) == 0
    assert sp.simplify(3 * words("data").subs(m, 1) / 2 - words("data", zero=3).subs(m, 1)) == 0


def test_latent_attention_reduces_its_latents() -> None:
    """The gradients summed over heads are those of the narrow latents, not of the stream."""
    latent = Latent(I(6), I(4), I(2))
    attention = Attention(I(4), I(4), I(3), I(5), latent=latent)
    architecture = Architecture(
        "tiny", "Tiny", I(8), I(16), I(2),
        (Stack("", I(1), Block(attention, FeedForward(I(4), True))),), norm="rms",
    )
    model = Transformer(architecture, b, I(2), Plan(N_TP=N_TP))
    found = {e.tensor: e.payload for e in model.exchanges(architecture.stacks[0])}
    assert found["latent of the queries of attention"] == 6 * b
    assert found["latent of keys and values of attention"] == 4 * b
    assert "input of attention" not in found
    by_hand = 8 * 6 + 6 + 6 * 4 * (3 + 2) + 8 * (4 + 2) + 4 + 4 * 4 * (3 + 5) + 4 * 5 * 8
    assert model.of_stack(architecture.stacks[0])[0].parameters == by_hand


def test_cross_attention_reads_the_encoder() -> None:
    attention = Attention(I(4), I(4), I(2))
    block = Block(attention, FeedForward(I(4)), norms=3, cross=attention)
    encoder = Block(attention, FeedForward(I(4)), causal=False)
    architecture = Architecture(
        "tiny", "Tiny", I(8), I(16), I(2),
        (Stack("encoder", I(1), encoder, encoder=True), Stack("decoder", I(1), block)),
        norm="rms", final_norms=2,
    )
    model = Transformer(architecture, b, I(2), Plan(N_TP=N_TP))
    names = {e.tensor for e in model.exchanges(architecture.stacks[1])}
    assert {"output of the encoder", "input of cross-attention", "input of attention"} <= names
    attentions, mlps, norms = 3 * 4 * 8 * 8, 2 * 2 * 8 * 4, (2 + 3 + 2) * 8
    assert model.parameters == attentions + mlps + norms + 2 * 16 * 8


def test_uneven_stages() -> None:
    assert stage_sizes(126, 16).count(8) == 14
    architecture = replace(tiny(FeedForward(I(4))), stacks=(
        Stack("", I(126), tiny(FeedForward(I(4))).stacks[0].block),))
    model = of(architecture, N_PP=I(16))
    assert list(heaviest_stage(model)) == [8]
    with pytest.raises(InputError, match="at most 126"):
        heaviest_stage(of(architecture, N_PP=I(127)))


def test_shared_inputs_are_reduced_once() -> None:
    model = of(transformer(), N_TP=N_TP)
    attention = model.layered[0]
    inputs = [e for e in exchanges(attention.contractions) if e.tensor == "input of attention"]
    assert len(inputs) == 1
