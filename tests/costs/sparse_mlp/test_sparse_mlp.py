"""The sparse MLP against the table of the data-movement study, and against counting.

The counts loop over blocks, experts, tokens and devices at small integers: what
lies where, who must send what to whom, and what waits for what.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import get_args

import pytest
import sympy as sp

from symscale.costs.contraction import Pass
from symscale.costs.cost import Cost, cost, total
from symscale.costs.model import Parallelism
from symscale.costs.pipeline import bubble_fraction
from symscale.costs.sparse_mlp.model import SparseMLP, sparse_mlp
from symscale.costs.sparse_mlp.plan import MLPPlan, serial_plan
from symscale.costs.times import arithmetic_time, memory_time, network_time
from symscale.errors import UnitError
from symscale.language.symbols import symbols
from symscale.language.units import parse_unit

FLOP, WORD = parse_unit("FLOP"), parse_unit("word")


@dataclass(frozen=True)
class Sizes:
    """A model and a plan in small numbers; every split divides what it splits."""

    d_model: int = 4
    d_ff: int = 6
    L: int = 4
    E: int = 2
    b: int = 24
    N_DP: int = 3
    N_TP_model: int = 2
    N_TP_ff: int = 3
    N_PP: int = 2
    N_EP: int = 2
    m: int = 2
    v: int = 1

    @property
    def model(self) -> SparseMLP:
        degrees = (self.N_DP, self.N_TP_model, self.N_TP_ff, self.N_PP, self.N_EP, self.m, self.v)
        d_model, d_ff, depth, experts, tokens = map(
            sp.Integer, (self.d_model, self.d_ff, self.L, self.E, self.b)
        )
        return SparseMLP(d_model, d_ff, depth, experts, tokens, MLPPlan(*map(sp.Integer, degrees)))

    def devices(self) -> Iterator[tuple[int, ...]]:
        """A device for each replica, shard of d_model, shard of d_ff, stage and expert group."""
        degrees = (self.N_DP, self.N_TP_model, self.N_TP_ff, self.N_PP, self.N_EP)
        return product(*map(range, degrees))

    def blocks(self, stage: int) -> list[int]:
        """The blocks of a pipeline stage: every N_PP-th of the v N_PP chunks of the model."""
        chunk = self.L // (self.v * self.N_PP)
        return [block for block in range(self.L) if block // chunk % self.N_PP == stage]

    def experts(self, group: int) -> range:
        size = self.E // self.N_EP
        return range(group * size, (group + 1) * size)


CASES = [
    Sizes(),
    Sizes(E=1, N_EP=1),
    Sizes(N_DP=1, N_TP_model=1, N_TP_ff=1, N_PP=1, N_EP=1, m=1),
    Sizes(N_PP=2, v=2, N_EP=1, N_TP_model=4),
    Sizes(L=3, E=6, b=96, N_PP=1, N_EP=3, N_DP=4, N_TP_ff=1),
    Sizes(d_model=6, d_ff=2, L=6, N_PP=3, v=2, N_TP_model=3, N_TP_ff=2, N_DP=2, m=6),
]
every_case = pytest.mark.parametrize("sizes", CASES, ids=range(len(CASES)))


def ring_words(payload: int, participants: int) -> int:
    """Words that the participants of a ring send: a reduce-scatter, then an all-gather."""
    chunks = [len(range(c, payload, participants)) for c in range(participants)]
    words = 0
    for _phase in ("scatter", "gather"):
        for turn in range(participants - 1):
            for i in range(participants):
                words += chunks[(i - turn) % participants]
    return words


# Arithmetic and parameters


@every_case
def test_flop_and_parameters_counted(sizes: Sizes) -> None:
    """Token by token, weight by weight: a multiplication and an addition in each product."""
    flop: dict[Pass, int] = {"forward": 0, "activation gradient": 0, "weight gradient": 0}
    parameters = 0
    for _block, _expert in product(range(sizes.L), range(sizes.E)):
        for _up, _down in product(range(sizes.d_model), range(sizes.d_ff)):
            parameters += 2
            for _token in range(sizes.b // sizes.E):
                for phase in flop:
                    flop[phase] += 2 + 2  # one weight of the first matrix, one of the second
    model = sizes.model
    for phase, count in flop.items():
        assert model.flop(phase).expr == count
    assert model.training_flop.expr == sum(flop.values())
    assert model.parameters == model.parameter_words.expr == parameters
    assert model.training_flop.unit == FLOP
    assert model.parameter_words.unit == WORD


@every_case
def test_every_device_holds_its_share(sizes: Sizes) -> None:
    held = set()
    for _, _, _, stage, group in sizes.devices():
        shard = (sizes.d_model // sizes.N_TP_model) * (sizes.d_ff // sizes.N_TP_ff)
        held.add(2 * shard * len(sizes.blocks(stage)) * len(sizes.experts(group)))
    model = sizes.model
    weights = [(c, c.operands[1]) for c in model.contractions]
    assert held == {sum(c.words_per_device(w).expr for c, w in weights)}
    assert model.plan.devices == len(list(sizes.devices()))
    assert model.plan.tensor_degree == sizes.N_TP_model * sizes.N_TP_ff
    assert all(c.devices == model.plan.devices for c in model.contractions)


# Network


@every_case
def test_data_parallel_words_counted(sizes: Sizes) -> None:
    """Each shard of each weight's gradient goes round the replicas."""
    words = 0
    for _, _, stage, group in product(
        *map(range, (sizes.N_TP_model, sizes.N_TP_ff, sizes.N_PP, sizes.N_EP))
    ):
        for _block, _expert in product(sizes.blocks(stage), sizes.experts(group)):
            shard = (sizes.d_model // sizes.N_TP_model) * (sizes.d_ff // sizes.N_TP_ff)
            words += 2 * ring_words(shard, sizes.N_DP)
    assert sizes.model.exchange_words("data").expr == words
    assert sizes.model.exchange_words("data").unit == WORD


@every_case
def test_gathers_of_sharded_weights_counted(sizes: Sizes) -> None:
    """Every word of a weight, kept by one replica, reaches each other; its gradient comes back."""
    sent = 0
    shard = (sizes.d_model // sizes.N_TP_model) * (sizes.d_ff // sizes.N_TP_ff)
    for replica, _, _, stage, group in sizes.devices():
        for _block, _expert, _weight in product(
            sizes.blocks(stage), sizes.experts(group), ("up", "down")
        ):
            kept = [word for word in range(shard) if word % sizes.N_DP == replica]
            others = [r for r in range(sizes.N_DP) if r != replica]
            sent += len(kept) * len(others)
    model = sizes.model
    assert model.gather_words.expr == sent
    assert model.scatter_words.expr == sent
    assert model.gather_words.unit == model.scatter_words.unit == WORD


@every_case
def test_reductions_by_the_product_that_they_follow(sizes: Sizes) -> None:
    model = sizes.model
    forward, gradient, weight = (
        model.reduction_words(phase)
        for phase in ("forward", "activation gradient", "weight gradient")
    )
    assert forward.expr + gradient.expr == model.exchange_words("tensor").expr
    assert forward.expr == gradient.expr  # the same sums, on the way there and back
    assert weight.expr == model.exchange_words("data").expr == model.gather_words.expr * 2


@every_case
def test_tensor_parallel_words_counted(sizes: Sizes) -> None:
    """Partial sums exist where the summed width is split; they go round its shards."""
    words = 0
    tokens = sizes.b // sizes.E // sizes.N_DP
    narrow, wide = sizes.d_model // sizes.N_TP_model, sizes.d_ff // sizes.N_TP_ff
    for _block, _expert, _replica in product(*map(range, (sizes.L, sizes.E, sizes.N_DP))):
        for _shard in range(sizes.N_TP_ff):
            words += ring_words(tokens * wide, sizes.N_TP_model)  # hidden layer, a sum over d_model
            words += ring_words(tokens * wide, sizes.N_TP_model)  # its gradient, the same way back
        for _shard in range(sizes.N_TP_model):
            words += ring_words(tokens * narrow, sizes.N_TP_ff)  # what leaves, a sum over d_ff
            words += ring_words(tokens * narrow, sizes.N_TP_ff)  # gradient of what entered
    model = sizes.model
    found = model.exchange_words("tensor")
    assert found.expr == words
    assert found.unit == WORD
    everything = total([c.network_words for c in model.contractions], "word")
    assert everything.expr == found.expr + model.exchange_words("data").expr
    assert sum(r.words.expr for r in model.reductions) == everything.expr


@pytest.mark.parametrize(
    ("stages", "interleaving", "depth"), [(1, 1, 4), (2, 1, 4), (4, 1, 4), (2, 2, 4), (3, 2, 12)]
)
def test_pipeline_words_counted(stages: int, interleaving: int, depth: int) -> None:
    sizes = Sizes(L=depth, N_PP=stages, v=interleaving, E=1, N_EP=1)
    home = {block: stage for stage in range(stages) for block in sizes.blocks(stage)}
    words = 0
    for _token in range(sizes.b):
        for below, above in pairwise(range(depth)):
            if home[below] != home[above]:
                words += sizes.d_model  # forward
                words += sizes.d_model  # its gradient
    assert sizes.model.exchange_words("pipeline").expr == words
    assert sizes.model.exchange_words("pipeline").unit == WORD


@pytest.mark.parametrize(("experts", "groups"), [(1, 1), (2, 1), (2, 2), (6, 3), (4, 4)])
def test_expert_words_counted(experts: int, groups: int) -> None:
    """Tokens that go from every expert to every expert of the next block equally often."""
    sizes = Sizes(L=3, N_PP=1, E=experts, N_EP=groups, b=2 * experts**3)
    home = {expert: group for group in range(groups) for expert in sizes.experts(group)}
    words = 0
    for path in product(range(experts), repeat=sizes.L):
        for _token in range(2):
            for below, above in pairwise(path):
                if home[below] != home[above]:
                    words += 2 * sizes.d_model
    assert sizes.model.exchange_words("expert").expr == words
    assert sizes.model.exchange_words("expert").unit == WORD


def test_the_table_of_traffic() -> None:
    d_model, d_ff, L, E, b = symbols("d_model d_ff L E b")
    N_DP, split_model, split_ff, N_PP, N_EP, v = symbols("N_DP N_TP_model N_TP_ff N_PP N_EP v")
    model = sparse_mlp()
    parameters, words = 2 * L * d_model * d_ff * E, model.exchange_words
    table = {
        words("data"): 2 * (N_DP - 1) * parameters,
        words("tensor"): 4 * L * b * ((split_model - 1) * d_ff + (split_ff - 1) * d_model),
        words("pipeline"): 2 * b * d_model * (v * N_PP - 1),
        words("expert"): 2 * (L - 1) * b * d_model * (1 - 1 / N_EP),
        model.parameter_words: parameters,
    }
    for found, expected in table.items():
        assert sp.expand(found.expr - expected) == 0
        assert found.unit == WORD
    assert sp.expand(model.parameters - parameters) == 0
    assert sp.expand(model.training_flop.expr - 12 * L * d_model * d_ff * b) == 0
    assert sp.expand(model.flop("forward").expr - 4 * L * d_model * d_ff * b) == 0


def test_a_single_device_sends_nothing() -> None:
    model = sparse_mlp(serial_plan())
    for words in map(model.exchange_words, get_args(Parallelism)):
        assert words.expr == 0
        assert words.unit == WORD
    assert model.plan.devices == 1


# Memory


@every_case
def test_weights_through_memory_counted(sizes: Sizes) -> None:
    """Every device, for every nanobatch, streams the weights of its experts and blocks."""
    moved: dict[Pass, int] = {"forward": 0, "activation gradient": 0, "weight gradient": 0}
    shard = (sizes.d_model // sizes.N_TP_model) * (sizes.d_ff // sizes.N_TP_ff)
    for _, _, _, stage, group in sizes.devices():
        for _nanobatch in range(sizes.m):
            for _block, _expert in product(sizes.blocks(stage), sizes.experts(group)):
                for _matrix in ("up", "down"):
                    moved["forward"] += shard
                    moved["activation gradient"] += shard
                    moved["weight gradient"] += shard  # the accumulator is read
                    moved["weight gradient"] += shard  # and written
    for phase, words in moved.items():
        assert sizes.model.weight_traffic(phase).expr == words
        assert sizes.model.weight_traffic(phase).unit == WORD


@every_case
def test_tokens_of_a_nanobatch_counted(sizes: Sizes) -> None:
    """Deal the tokens out: to replicas, nanobatches and experts in turn."""
    dealt: dict[tuple[int, int, int], int] = {}
    for token in range(sizes.b):
        rest, replica = divmod(token, sizes.N_DP)
        rest, expert = divmod(rest, sizes.E)
        nanobatch = rest % sizes.m
        place = (replica, expert, nanobatch)
        dealt[place] = dealt.get(place, 0) + 1
    assert set(dealt.values()) == {sizes.model.tokens_per_nanobatch.expr}


def test_half_of_the_memory_bandwidth_sets_the_nanobatch() -> None:
    """Memory and arithmetic take the same time at (C/2)/W_mem tokens, C/2 in MAC/s."""
    C, W_mem, N = symbols("C W_mem N")
    model = sparse_mlp()
    gradient: Pass = "weight gradient"
    memory = memory_time(model.weight_traffic(gradient), N)
    share = memory / arithmetic_time(model.flop(gradient), N)
    n = (C / 2) / W_mem
    assert share.unit == parse_unit("1")
    assert sp.simplify(share.expr * model.tokens_per_nanobatch.expr - n) == 0


# What waits for what


def longest_chain(depth: int) -> int:
    """Products on the longest chain of a step of a model of `depth` blocks."""
    waits_for: dict[str, list[str]] = {}
    before: list[str] = []
    layers = [f"{name} {block}" for block in range(depth) for name in ("up", "down")]
    for layer in layers:
        waits_for[f"forward {layer}"] = before
        before = [f"forward {layer}"]
    for layer in reversed(layers):
        waits_for[f"activation gradient {layer}"] = before
        waits_for[f"weight gradient {layer}"] = before
        before = [f"activation gradient {layer}"]
    finished: dict[str, int] = {}
    for name, others in waits_for.items():
        finished[name] = 1 + max((finished[other] for other in others), default=0)
    assert len(finished) == 6 * depth
    return max(finished.values())


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_sequential_products_counted(depth: int) -> None:
    model = replace(sparse_mlp(), L=sp.Integer(depth))
    assert model.sequential_products == longest_chain(depth)
    assert sparse_mlp().sequential_products == 4 * symbols("L")[0]


def one_forward_one_backward(stages: int, microbatches: int) -> int:
    """Slots of a 1F1B schedule; a forward pass takes 1 and a backward pass 2."""
    orders = []
    for stage in range(stages):
        ahead = min(stages - 1 - stage, microbatches)
        order = [("forward", k) for k in range(ahead)]
        for k in range(microbatches - ahead):
            order += [("forward", ahead + k), ("backward", k)]
        order += [("backward", k) for k in range(microbatches - ahead, microbatches)]
        orders.append(order)
    done: dict[tuple[int, str, int], int] = {}
    free, position = [0] * stages, [0] * stages
    while any(at < len(order) for at, order in zip(position, orders, strict=True)):
        for stage, order in enumerate(orders):
            if position[stage] == len(order):
                continue
            kind, k = order[position[stage]]
            needs = [(stage - 1, kind, k)] if kind == "forward" else [
                (stage, "forward", k), (stage + 1, kind, k)
            ]  # fmt: skip
            needs = [need for need in needs if 0 <= need[0] < stages]
            if all(need in done for need in needs):
                start = max([free[stage], *(done[need] for need in needs)])
                free[stage] = start + (1 if kind == "forward" else 2)
                done[stage, kind, k] = free[stage]
                position[stage] += 1
    return max(done.values())


@pytest.mark.parametrize(("stages", "microbatches"), [(1, 3), (2, 2), (4, 4), (4, 9), (5, 20)])
def test_the_bubble_of_a_simulated_pipeline(stages: int, microbatches: int) -> None:
    slots = one_forward_one_backward(stages, microbatches)
    idle = sp.Rational(slots - 3 * microbatches, slots)
    assert bubble_fraction(sp.Integer(stages), sp.Integer(microbatches), sp.Integer(1)) == idle


@pytest.mark.parametrize(
    ("stages", "chunks", "rounds"), [(2, 1, 1), (2, 3, 2), (4, 2, 1), (3, 4, 3)]
)
def test_the_bubble_of_a_simulated_interleaved_pipeline(
    stages: int, chunks: int, rounds: int
) -> None:
    """The forward half: a group of N_PP microbatches goes round the stages v times."""
    finished: dict[tuple[int, int], int] = {}
    free = [0] * stages
    for group in range(rounds):
        for chunk in range(chunks):
            for k in range(group * stages, (group + 1) * stages):
                for stage in range(stages):
                    step = chunk * stages + stage
                    start = max(free[stage], finished.get((step - 1, k), 0))
                    free[stage] = finished[step, k] = start + 1
    slots, work = max(finished.values()), chunks * stages * rounds
    sizes = (sp.Integer(stages), sp.Integer(stages * rounds), sp.Integer(chunks))
    assert bubble_fraction(*sizes) == sp.Rational(slots - work, slots)


# Units


@pytest.mark.parametrize("operation", [operator.add, operator.sub, Cost.require_same_unit])
def test_unlike_units_do_not_add(operation: Callable[[Cost, Cost], object]) -> None:
    model = sparse_mlp()
    flop, words = model.training_flop, model.exchange_words("tensor")
    with pytest.raises(UnitError) as caught:
        operation(flop, words)
    text = str(caught.value)
    assert f"{flop.expr} is in FLOP" in text
    assert f"{words.expr} in word" in text
    assert "\n" not in text


def test_times_of_unlike_costs_do_not_add() -> None:
    """FLOP over a network and words over memory are no seconds."""
    (N,) = symbols("N")
    model = sparse_mlp()
    seconds = arithmetic_time(model.training_flop, N)
    assert seconds.unit == network_time(model.exchange_words("tensor"), N).unit == parse_unit("s")
    assert memory_time(model.weight_traffic("forward"), N).unit == parse_unit("s")
    with pytest.raises(UnitError, match=r"is in s, .* in FLOP\*s/word"):
        seconds + network_time(model.training_flop, N)
    with pytest.raises(UnitError, match="word"):
        total([model.training_flop], "word")


def test_costs_multiply_with_their_units() -> None:
    (b,) = symbols("b")
    tokens = cost(b, "token")
    assert 3 * tokens == tokens * 3 == Cost(3 * b, parse_unit("token"))
    assert (tokens * tokens).unit == parse_unit("token^2")
    assert (tokens / cost(2, "s")) == Cost(b / 2, parse_unit("token/s"))
    assert (tokens + tokens - tokens) == tokens
    assert total([], "word") == cost(0, "word")
    assert tokens.with_expr(2 * b) == tokens * 2
