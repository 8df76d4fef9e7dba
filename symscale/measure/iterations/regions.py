"""Execution regions of a training iteration: which operators a block calls, at which sizes.

A block of the study: full attention of many heads, a hidden width of 4 d_model, split over
N_TP devices by tensor parallelism. After attention and after the MLP an activation is
all-reduced, forward and backward, and all else waits for it. The gradients of a block are
all-reduced over N_DP replicas behind the backward pass.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from symscale.measure.operators.collectives import ALL_REDUCE
from symscale.measure.operators.memory_bound import ELEMENTWISE, LAYER_NORM, MemoryBound
from symscale.measure.operators.operator import Operator
from symscale.measure.operators.products import BATCHED_PRODUCT, MATRIX_PRODUCT

FEED_FORWARD = 4
HEAD_WIDTH = 64
COMPUTE, SERIALIZED, OVERLAPPED = "compute", "serialized", "overlapped"


@dataclass(frozen=True)
class BlockSizes:
    """Sizes of a block and of what it is split over.

    Attributes:
        d_model: Width of the residual stream.
        sequences: Sequences of a replica.
        n_ctx: Tokens of a sequence.
        N_TP: Degree of tensor parallelism.
        N_DP: Degree of data parallelism.
        word_bytes: Bytes of a word.
    """

    d_model: int
    sequences: int
    n_ctx: int
    N_TP: int
    N_DP: int
    word_bytes: int

    @property
    def tokens(self) -> int:
        """Tokens of a replica."""
        return self.sequences * self.n_ctx


@dataclass(frozen=True)
class Call:
    """An operator that a region calls.

    Attributes:
        operator: The operator.
        sizes: Its sizes; parts of a split need not be whole.
        word_bytes: Bytes of a word.
        count: How many calls there are.
    """

    operator: Operator
    sizes: Mapping[str, float]
    word_bytes: int
    count: int = 1

    @cached_property
    def flop(self) -> float:
        """FLOP of one call."""
        return self.operator.flop(self.sizes)

    @cached_property
    def moved(self) -> float:
        """Bytes that one call moves."""
        return self.operator.moved(self.sizes, self.word_bytes)


@dataclass(frozen=True)
class Region:
    """A part of an iteration of one block.

    Attributes:
        name: Its name, such as "MLP, forward".
        kind: COMPUTE, SERIALIZED (all else waits for it) or OVERLAPPED (behind the
            backward pass).
        backward: Whether it is in the backward pass.
        calls: What it calls.
    """

    name: str
    kind: str
    backward: bool
    calls: tuple[Call, ...]

    @property
    def flop(self) -> float:
        """FLOP of all its calls."""
        return sum(call.flop * call.count for call in self.calls)


def block_regions(sizes: BlockSizes) -> tuple[Region, ...]:
    """Return the regions of one block in one iteration, of one device.

    Example:
        >>> regions = block_regions(BlockSizes(1024, 4, 512, 4, 8, 2))
        >>> [region.name for region in regions if region.kind == "compute"]
        ['attention, forward', 'MLP, forward', 'MLP, backward', 'attention, backward']
        >>> H, S, B, t = 1024, 512, 4, 4
        >>> sum(r.flop for r in regions) == (72 * H**2 * S * B + 12 * H * S**2 * B) / t
        True
    """
    attention, mlp = tuple(_attention(sizes)), tuple(_mlp(sizes))
    found = []
    passes = (
        ("attention", attention, False), ("MLP", mlp, False),
        ("MLP", mlp, True), ("attention", attention, True),
    )
    for name, calls, backward in passes:
        word = "backward" if backward else "forward"
        own = tuple(_backward(calls)) if backward else calls
        found.append(Region(f"{name}, {word}", COMPUTE, backward, own))
        if sizes.N_TP > 1:
            payload = sizes.tokens * sizes.d_model
            call = _all_reduce(sizes, payload, sizes.N_TP)
            found.append(Region(f"all-reduce of {name}, {word}", SERIALIZED, backward, (call,)))
    if sizes.N_DP > 1:
        weights = (4 + 2 * FEED_FORWARD) * sizes.d_model**2 / sizes.N_TP
        call = _all_reduce(sizes, weights, sizes.N_DP)
        found.append(Region("all-reduce of gradients", OVERLAPPED, True, (call,)))
    return tuple(found)


def _all_reduce(sizes: BlockSizes, words: float, devices: int) -> Call:
    size = {"size_bytes": sizes.word_bytes * words, "devices": devices}
    return Call(ALL_REDUCE, size, sizes.word_bytes)


def _product(sizes: BlockSizes, m: float, n: float, k: float) -> Call:
    return Call(MATRIX_PRODUCT, {"m": m, "n": n, "k": k, "batch": 1}, sizes.word_bytes)


def _memory_bound(operator: MemoryBound, sizes: BlockSizes, width: float, inputs: int) -> Call:
    size = {"tokens": sizes.tokens, "width": width, "inputs": inputs}
    return Call(operator, size, sizes.word_bytes)


def _attention(sizes: BlockSizes) -> Iterator[Call]:
    tokens, width, split = sizes.tokens, sizes.d_model, sizes.N_TP
    yield _memory_bound(LAYER_NORM, sizes, width, 1)
    yield _product(sizes, tokens, 3 * width / split, width)
    heads = width / HEAD_WIDTH / split
    # Scores, and what they weigh: of the same sizes in another order.
    scores = {"m": sizes.n_ctx, "n": sizes.n_ctx, "k": HEAD_WIDTH,
              "batch": sizes.sequences * heads}
    yield Call(BATCHED_PRODUCT, scores, sizes.word_bytes, 2)
    yield _memory_bound(ELEMENTWISE, sizes, heads * sizes.n_ctx, 1)  # softmax
    yield _product(sizes, tokens, width, width / split)
    yield _memory_bound(ELEMENTWISE, sizes, width, 2)  # residual


def _mlp(sizes: BlockSizes) -> Iterator[Call]:
    tokens, width = sizes.tokens, sizes.d_model
    hidden = FEED_FORWARD * width / sizes.N_TP
    yield _memory_bound(LAYER_NORM, sizes, width, 1)
    yield _product(sizes, tokens, hidden, width)
    yield _memory_bound(ELEMENTWISE, sizes, hidden, 1)  # nonlinearity
    yield _product(sizes, tokens, width, hidden)
    yield _memory_bound(ELEMENTWISE, sizes, width, 2)  # residual


def _backward(calls: tuple[Call, ...]) -> Iterator[Call]:
    """The backward pass of calls: two products for each, and one more tensor is read.

    Both products of a backward pass have the three lengths of the forward one.
    """
    for call in calls:
        if isinstance(call.operator, MemoryBound):
            yield replace(call, sizes={**call.sizes, "inputs": call.sizes["inputs"] + 1})
        else:
            yield replace(call, count=2 * call.count)
