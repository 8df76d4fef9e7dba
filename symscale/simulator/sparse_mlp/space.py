"""The plans that a search looks at: degrees, microbatches, schedules, tiers.

The published space: with N devices and E experts, N_EP = gcd(N, E); N_TP N_DP N_PP is
the rest, N_TP a divisor of d_model d_ff, N_DP of the batch, N_PP of the blocks; N_TP_ff
lies between isqrt(N_TP) and four times that; microbatches are among the four fewest that
keep the pipeline full, with as much interleaving as there are blocks, or the fewest that
need no bubble. The wide space has every split, count, interleaving and schedule.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, isqrt
from typing import Any

import numpy as np
import sympy as sp

from symscale.costs.pipeline import microbatches_without_bubble
from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.shapes import Shape

MICROBATCH_CHOICES = 4
"""How many counts of microbatches are tried for each pipeline with a bubble."""

MOST_DEVICES = 2**62
"""Larger clusters have no plans; their sizes would not fit an integer of 64 bits."""

WIDEST_SPLIT = 4
"""N_TP_ff is at most so many times the root of N_TP, and at least the root."""

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class SearchProblem:
    """A model on a cluster.

    Attributes:
        shape: The model.
        devices: Devices of the cluster.
    """

    shape: Shape
    devices: int




@lru_cache(maxsize=65536)
def divisors(number: int) -> tuple[int, ...]:
    """The divisors of a number, in order.

    Example:
        >>> divisors(12)
        (1, 2, 3, 4, 6, 12)
    """
    found = [1]
    rest, factor = number, 2
    while factor * factor <= rest:
        powers = [1]
        while rest % factor == 0:
            rest //= factor
            powers.append(powers[-1] * factor)
        if len(powers) > 1:
            found = [d * p for d in found for p in powers]
        factor += 1 if factor == 2 else 2
    if rest > 1:
        found += [d * rest for d in found]
    return tuple(sorted(found))


@lru_cache(maxsize=4096)
def tensor_splits(degree: int) -> tuple[tuple[int, int], ...]:
    """The pairs (N_TP_model, N_TP_ff) that are tried for a tensor-parallel degree.

    Example:
        >>> tensor_splits(32)
        ((4, 8), (2, 16))
    """
    root = isqrt(degree)
    inner = [f for f in divisors(degree) if root <= f <= WIDEST_SPLIT * root]
    return tuple((degree // f, f) for f in inner)


def _published_degrees(rest: int) -> Ints:
    """N_DP, N_TP_model, N_TP_ff and N_PP for every way to share out `rest` devices."""
    rows = [
        (rest // degree // stages, model, ff, stages)
        for degree in divisors(rest)
        for model, ff in tensor_splits(degree)
        for stages in divisors(rest // degree)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _all_degrees(rest: int) -> Ints:
    return np.array(_factorizations(rest, 4), dtype=np.int64)


@lru_cache(maxsize=65536)
def published_pipelines(tokens: int, stages: int, layers: int) -> tuple[tuple[int, int, int], ...]:
    """Microbatches and interleaving that are tried, and whether without a bubble.

    Args:
        tokens: Tokens of a batch for each replica and expert.
        stages: Stages of the pipeline.
        layers: Blocks of a stage.

    Example:
        >>> published_pipelines(96, 3, 8)
        ((3, 8, 0), (4, 8, 0), (6, 8, 0), (8, 8, 0), (6, 1, 1))
    """
    counts = divisors(tokens)
    first = bisect_left(counts, stages)
    interleaving = layers if stages > 1 else 1
    tried = [(m, interleaving, 0) for m in counts[first : first + MICROBATCH_CHOICES]]
    if stages > 1:
        steady = bisect_left(counts, _steady(stages))
        tried += [(m, 1, 1) for m in counts[steady : steady + 1]]
    return tuple(tried)


@lru_cache(maxsize=65536)
def all_pipelines(tokens: int, stages: int, layers: int) -> tuple[tuple[int, int, int], ...]:
    """Every number of microbatches and every interleaving, with a bubble or without.

    Example:
        >>> all_pipelines(4, 2, 3)
        ((1, 1, 0), (1, 3, 0), (2, 1, 0), (2, 3, 0), (4, 1, 0), (4, 3, 0), (4, 1, 1))
    """
    counts = divisors(tokens)
    if stages == 1:
        return tuple((m, 1, 0) for m in counts)
    tried = [(m, v, 0) for m in counts for v in divisors(layers)]
    return (*tried, *((m, 1, 1) for m in counts if m >= _steady(stages)))


@lru_cache(maxsize=4096)
def _steady(stages: int) -> int:
    return int(microbatches_without_bubble(sp.Integer(stages)))


@dataclass(frozen=True)
class Space:
    """Which plans a search looks at.

    Attributes:
        name: Its name.
        degrees: N_DP, N_TP_model, N_TP_ff and N_PP of so many devices, a row each.
        pipelines: Microbatches, interleaving and schedule by tokens, stages and blocks
            of a stage.
        experts: Whether N_EP may be less than gcd(N, E).
        full: Whether there are at least as many microbatches as stages.
        activations: Whether the memory of activations counts; they are computed again where
            only that makes room for them.
    """

    name: str
    degrees: Callable[[int], Ints]
    pipelines: Callable[[int, int, int], tuple[tuple[int, int, int], ...]]
    experts: bool
    full: bool
    activations: bool


PUBLISHED_SPACE = Space("published", _published_degrees, published_pipelines, False, True, False)
"""What the published program looks at."""

WIDE_SPACE = Space("wide", _all_degrees, all_pipelines, True, False, True)
"""Every split, microbatch count, interleaving and schedule; memory counts activations."""


@lru_cache(maxsize=512)
def _table(space: Space, devices: int, experts: int) -> Ints:
    """The degrees of a cluster, in the order of `DEGREES`, for a model of so many experts."""
    most = gcd(devices, experts)
    parts = []
    for degree in divisors(most) if space.experts else (most,):
        rows = space.degrees(devices // degree)
        parts.append(np.concatenate([rows, np.full((len(rows), 1), degree)], axis=1))
    return np.concatenate(parts).T


@dataclass(frozen=True)
class Degrees:
    """Plans of several models on clusters, but for microbatches and tiers.

    Attributes:
        table: The degrees, a row for each name of `DEGREES`.
        owner: Which model and cluster each belongs to.
    """

    table: Ints
    owner: Ints

    def of(self, name: str) -> Ints:
        """The column of a degree."""
        return self.table[DEGREES.index(name)]

    def take(self, chosen: Any) -> "Degrees":
        """Some of the plans."""
        return Degrees(self.table[:, chosen], self.owner[chosen])


def _divides(problem: SearchProblem) -> bool:
    """Whether a cluster is a product of divisors of what may be split; others have no plans."""
    s = problem.shape
    whole = s.experts * s.layers * s.d_model * s.d_ff * s.batch_tokens
    return problem.devices <= MOST_DEVICES and whole % problem.devices == 0


def degrees_of(space: Space, problems: Sequence[SearchProblem]) -> Degrees:
    """The degrees of a space that divide what they split.

    Example:
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> degrees_of(PUBLISHED_SPACE, [SearchProblem(make_shape(12288), 2048)]).table.shape[1]
        145
    """
    none = np.zeros((len(DEGREES), 0), dtype=np.int64)
    tables = [
        _table(space, p.devices, p.shape.experts) if _divides(p) else none for p in problems
    ]
    owner = np.repeat(np.arange(len(problems)), [t.shape[1] for t in tables])
    table = np.concatenate(tables, axis=1)

    def divides(name: str, whole: Callable[[Shape], int]) -> np.ndarray[Any, Any]:
        split = np.array([whole(p.shape) for p in problems], dtype=np.int64)[owner]
        return split % table[DEGREES.index(name)] == 0

    fits = np.nonzero(
        divides("N_PP", lambda s: s.layers)
        & divides("N_TP_model", lambda s: s.d_model)
        & divides("N_TP_ff", lambda s: s.d_ff)
        & divides("N_DP", lambda s: s.batch_tokens)
    )[0]
    return Degrees(table[:, fits], owner[fits])


@dataclass(frozen=True)
class Pipelines:
    """Microbatches and schedule of plans.

    Attributes:
        row: Which degrees each belongs to.
        microbatches: Microbatches, m.
        interleaving: Interleaving, v.
        zero_bubble: 1 where the schedule has no bubble, else 0.
        shape: A number for the shape of the products, equal where they are.
    """

    row: Ints
    microbatches: Ints
    interleaving: Ints
    zero_bubble: Ints
    shape: Ints

    def take(self, chosen: Any) -> "Pipelines":
        """Some of the plans."""
        return Pipelines(*(column[chosen] for column in self.__dict__.values()))


def _stages_of(problems: Sequence[SearchProblem], degrees: Degrees) -> list[tuple[int, int, int]]:
    """Tokens of each replica and expert, stages, and blocks of a stage; 0 tokens if uneven."""
    share = np.array([p.shape.batch_tokens // p.shape.experts for p in problems])[degrees.owner]
    layers = np.array([p.shape.layers for p in problems])[degrees.owner]
    data, stages = degrees.of("N_DP"), degrees.of("N_PP")
    tokens = np.where(share % data == 0, share // data, 0)
    return list(zip(tokens.tolist(), stages.tolist(), (layers // stages).tolist(), strict=True))


def pipeline_counts(space: Space, problems: Sequence[SearchProblem], degrees: Degrees) -> Ints:
    """How many pipelines each of some degrees has."""
    counts = [len(space.pipelines(*k)) if k[0] else 0 for k in _stages_of(problems, degrees)]
    return np.array(counts, dtype=np.int64)


def pipelines_of(space: Space, problems: Sequence[SearchProblem], degrees: Degrees) -> Pipelines:
    """The microbatches and schedules of a space for some degrees."""
    codes: dict[tuple[int, int, int], int] = {}
    keys = _stages_of(problems, degrees)
    code = np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)
    tried = [space.pipelines(*key) if key[0] else () for key in codes]
    lengths = np.array([len(t) for t in tried], dtype=np.int64)
    flat = np.array([choice for t in tried for choice in t], dtype=np.int64).reshape(-1, 3)
    tokens = np.repeat(np.array([key[0] for key in codes], dtype=np.int64), lengths) // flat[:, 0]
    distinct, token_code = np.unique(tokens, return_inverse=True)
    each = lengths[code]
    row = np.repeat(np.arange(len(code)), each)
    starts = (np.cumsum(lengths) - lengths)[code] - (np.cumsum(each) - each)
    place = np.arange(len(row)) + starts[row]
    weights = np.unique(
        np.stack([degrees.owner, degrees.of("N_TP_model"), degrees.of("N_TP_ff")]),
        axis=1, return_inverse=True,
    )[1].reshape(-1)  # fmt: skip
    shape = weights[row] * max(1, len(distinct)) + token_code[place]
    return Pipelines(row, flat[place, 0], flat[place, 1], flat[place, 2], shape)


def tier_sizes(machine: Machine, devices: int) -> tuple[int, ...] | None:
    """How many units each tier joins in a cluster, the outermost the rest; None if none does.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> tier_sizes(load_machine("h100-sxm"), 4096), tier_sizes(load_machine("h100-sxm"), 12)
        ((8, 512), None)
    """
    sizes, rest = [], devices
    for tier in machine.tiers[:-1]:
        size = min(tier.size or 1, rest)
        if rest % size:
            return None
        sizes.append(size)
        rest //= size
    return (*sizes, rest)


@lru_cache(maxsize=64)
def _factorizations(number: int, parts: int) -> tuple[tuple[int, ...], ...]:
    if parts == 1:
        return ((number,),)
    return tuple(
        (first, *others)
        for first in divisors(number)
        for others in _factorizations(number // first, parts - 1)
    )


@lru_cache(maxsize=64)
def inner_splits(sizes: tuple[int, ...]) -> Ints:
    """Every way to divide the devices of the lower tiers among the degrees.

    Args:
        sizes: How many units each tier joins, but for the outermost.

    Returns:
        An array of (splits, tiers but one, degrees).

    Example:
        >>> inner_splits((8,)).shape, inner_splits(()).shape
        ((35, 1, 5), (1, 0, 5))
    """
    table = np.ones((1, 0, len(DEGREES)), dtype=np.int64)
    for size in sizes:
        here = np.array(_factorizations(size, len(DEGREES)), dtype=np.int64)[:, None, :]
        repeated = np.repeat(table, len(here), axis=0)
        table = np.concatenate([repeated, np.tile(here, (len(table), 1, 1))], axis=1)
    return table


def count_plans(machine: Machine, problem: SearchProblem, space: Space = PUBLISHED_SPACE) -> int:
    """How many plans a space has for a model on a cluster.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> count_plans(load_machine("h100-sxm"), SearchProblem(make_shape(12288), 2048))
        7516
    """
    sizes = tier_sizes(machine, problem.devices)
    if sizes is None:
        return 0
    degrees = degrees_of(space, [problem])
    each = pipeline_counts(space, [problem], degrees)
    inner = inner_splits(sizes[:-1]).prod(axis=1)
    ways = (degrees.table.T[:, None, :] % inner[None, :, :] == 0).all(axis=2).sum(axis=1)
    return int((ways * each).sum())
