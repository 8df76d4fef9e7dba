"""Execution regions of a training iteration: which operators a block calls, at which sizes.

A block of the study: full attention of many heads, a hidden width of 4 d_model, split over
N_TP devices by tensor parallelism. After attention and after the MLP an activation is
all-reduced, forward and backward, and all else waits for it. The gradients of a block are
all-reduced over N_DP replicas behind the backward pass.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
        operator: Its name.
        flop: FLOP of one call.
        moved: Bytes that one call moves.
        count: How many calls there are.
        tensors: Of an elementwise operator, how many tensors it reads and writes.
    """

    operator: str
    flop: float
    moved: float
    count: int = 1
    tensors: int = 0


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
            payload = sizes.word_bytes * sizes.tokens * sizes.d_model
            call = Call("all-reduce", 0.0, _ring_bytes(payload, sizes.N_TP))
            found.append(Region(f"all-reduce of {name}, {word}", SERIALIZED, backward, (call,)))
    if sizes.N_DP > 1:
        weights = (4 + 2 * FEED_FORWARD) * sizes.d_model**2 / sizes.N_TP
        call = Call("all-reduce", 0.0, _ring_bytes(sizes.word_bytes * weights, sizes.N_DP))
        found.append(Region("all-reduce of gradients", OVERLAPPED, True, (call,)))
    return tuple(found)


def _ring_bytes(payload: float, devices: int) -> float:
    """What each device sends in an all-reduce."""
    return 2 * payload * (devices - 1) / devices


def _product(sizes: BlockSizes, m: float, n: float, k: float, count: int = 1) -> Call:
    moved = sizes.word_bytes * (m * k + k * n + m * n)
    return Call("matrix product", 2 * m * n * k, moved, count)


def _elementwise(sizes: BlockSizes, name: str, words: float, inputs: int) -> Call:
    tensors = inputs + 1
    return Call(name, 0.0, sizes.word_bytes * tensors * words, tensors=tensors)


def _attention(sizes: BlockSizes) -> Iterator[Call]:
    tokens, width, split = sizes.tokens, sizes.d_model, sizes.N_TP
    yield _elementwise(sizes, "layer norm", tokens * width, 1)
    yield _product(sizes, tokens, 3 * width / split, width)
    heads = sizes.sequences * width / HEAD_WIDTH / split
    scores = heads * sizes.n_ctx**2
    moved = sizes.word_bytes * (scores + 2 * heads * sizes.n_ctx * HEAD_WIDTH)
    yield Call("batched product", 2 * scores * HEAD_WIDTH, moved, 2)
    yield _elementwise(sizes, "elementwise", scores, 1)  # softmax
    yield _product(sizes, tokens, width, width / split)
    yield _elementwise(sizes, "elementwise", tokens * width, 2)  # residual


def _mlp(sizes: BlockSizes) -> Iterator[Call]:
    tokens, width = sizes.tokens, sizes.d_model
    hidden = FEED_FORWARD * width / sizes.N_TP
    yield _elementwise(sizes, "layer norm", tokens * width, 1)
    yield _product(sizes, tokens, hidden, width)
    yield _elementwise(sizes, "elementwise", tokens * hidden, 1)  # nonlinearity
    yield _product(sizes, tokens, width, hidden)
    yield _elementwise(sizes, "elementwise", tokens * width, 2)  # residual


def _backward(calls: tuple[Call, ...]) -> Iterator[Call]:
    """The backward pass of calls: two products for each, and one more tensor is read.

    Both products of a backward pass have the three lengths of the forward one.
    """
    for call in calls:
        if call.flop:
            yield Call(call.operator, call.flop, call.moved, 2 * call.count)
        else:
            more = call.moved / call.tensors
            yield Call(call.operator, 0.0, call.moved + more, call.count, call.tensors + 1)
