"""The plans that a search looks at: degrees, microbatches, schedules, tiers.

The published space: with N devices and E experts, N_EP = gcd(N, E); N_TP N_DP N_PP is
the rest, N_TP a divisor of d_model d_ff, N_DP of the batch, N_PP of the blocks; N_TP_ff
lies between isqrt(N_TP) and four times that; microbatches are among the four fewest that
keep the pipeline full, with as much interleaving as there are blocks, or the fewest that
need no bubble.
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
from symscale.machine import Machine
from symscale.simulate.shapes import Shape

MICROBATCH_CHOICES = 4
"""How many counts of microbatches are tried for each pipeline with a bubble."""

WIDEST_SPLIT = 4
"""N_TP_ff is at most so many times the root of N_TP, and at least the root."""

ORDER = ("N_DP", "N_TP_model", "N_TP_ff", "N_PP", "N_EP")
"""The order of degrees in arrays."""

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Problem:
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


@lru_cache(maxsize=256)
def _degrees_of(rest: int) -> Ints:
    """N_DP, N_TP_model, N_TP_ff and N_PP for every way to share out `rest` devices."""
    rows = [
        (rest // degree // stages, model, ff, stages)
        for degree in divisors(rest)
        for model, ff in tensor_splits(degree)
        for stages in divisors(rest // degree)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 4).T


@dataclass(frozen=True)
class Degrees:
    """Plans of several models on clusters, but for microbatches and tiers.

    Attributes:
        table: The degrees, a row for each name of `ORDER`.
        owner: Which model and cluster each belongs to.
    """

    table: Ints
    owner: Ints

    def of(self, name: str) -> Ints:
        """The column of a degree."""
        return self.table[ORDER.index(name)]

    def take(self, chosen: Any) -> "Degrees":
        """Some of the plans."""
        return Degrees(self.table[:, chosen], self.owner[chosen])


def published_degrees(problems: Sequence[Problem]) -> Degrees:
    """The degrees of the published space.

    Example:
        >>> from symscale.simulate.shapes import make_shape
        >>> published_degrees([Problem(make_shape(12288), 2048)]).table.shape[1]
        145
    """
    experts = np.array([gcd(p.devices, p.shape.experts) for p in problems])
    tables = [_degrees_of(p.devices // int(e)) for p, e in zip(problems, experts, strict=True)]
    owner = np.repeat(np.arange(len(problems)), [t.shape[1] for t in tables])
    data, model, ff, stages = np.concatenate(tables, axis=1)

    def divides(degree: Ints, whole: Callable[[Shape], int]) -> np.ndarray[Any, Any]:
        return np.array([whole(p.shape) for p in problems], dtype=np.int64)[owner] % degree == 0

    fits = np.nonzero(
        divides(stages, lambda s: s.layers)
        & divides(model, lambda s: s.d_model)
        & divides(ff, lambda s: s.d_ff)
        & divides(data, lambda s: s.batch_tokens)
    )[0]
    table = np.stack([data[fits], model[fits], ff[fits], stages[fits], experts[owner[fits]]])
    return Degrees(table, owner[fits])


@dataclass(frozen=True)
class Pipelines:
    """Microbatches and schedule of plans.

    Attributes:
        row: Which degrees each belongs to.
        microbatches: Microbatches, m.
        interleaving: Interleaving, v.
        zero_bubble: Whether the schedule has no bubble.
        shape: A number for the shape of the products, equal where they are.
    """

    row: Ints
    microbatches: Ints
    interleaving: Ints
    zero_bubble: np.ndarray[Any, np.dtype[np.bool_]]
    shape: Ints


@lru_cache(maxsize=65536)
def microbatch_counts(tokens: int, stages: int) -> tuple[tuple[int, bool], ...]:
    """Microbatches that are tried for a pipeline, and whether without a bubble.

    Args:
        tokens: Tokens of a batch for each replica and expert.
        stages: Stages of the pipeline.

    Example:
        >>> microbatch_counts(96, 3)
        ((3, False), (4, False), (6, False), (8, False), (6, True))
    """
    counts = divisors(tokens)
    first = bisect_left(counts, stages)
    tried = [(m, False) for m in counts[first : first + MICROBATCH_CHOICES]]
    if stages > 1:
        steady = bisect_left(counts, int(microbatches_without_bubble(sp.Integer(stages))))
        tried += [(m, True) for m in counts[steady : steady + 1]]
    return tuple(tried)


def published_pipelines(problems: Sequence[Problem], degrees: Degrees) -> Pipelines:
    """The microbatches and schedules of the published space."""
    share = np.array([p.shape.batch_tokens // p.shape.experts for p in problems])[degrees.owner]
    data, stages = degrees.of("N_DP"), degrees.of("N_PP")
    tokens = np.where(share % data == 0, share // data, 0)
    codes: dict[tuple[int, int], int] = {}
    pairs = zip(tokens.tolist(), stages.tolist(), strict=True)
    code = np.array([codes.setdefault(pair, len(codes)) for pair in pairs])
    tried = [microbatch_counts(t, p) if t else () for t, p in codes]
    lengths = np.array([len(t) for t in tried])
    flat = np.array([choice for t in tried for choice in t], dtype=np.int64).reshape(-1, 2)
    each = np.array([t for t, _ in codes])
    product_tokens = np.repeat(each, lengths) // np.maximum(flat[:, 0], 1)
    distinct, token_code = np.unique(product_tokens, return_inverse=True)
    row = np.repeat(np.arange(len(code)), lengths[code])
    starts = (np.cumsum(lengths) - lengths)[code]
    place = np.arange(len(row)) - np.repeat(np.cumsum(lengths[code]) - lengths[code],
                                            lengths[code]) + starts[row]  # fmt: skip
    zero_bubble = flat[place, 1].astype(bool)
    layers = np.array([p.shape.layers for p in problems])[degrees.owner]
    interleaving = np.where((stages == 1)[row] | zero_bubble, 1, (layers // stages)[row])
    weights = np.unique(
        np.stack([degrees.owner, degrees.of("N_TP_model"), degrees.of("N_TP_ff")]),
        axis=1, return_inverse=True,
    )[1].reshape(-1)  # fmt: skip
    shape = weights[row] * len(distinct) + token_code[place]
    return Pipelines(row, flat[place, 0], interleaving, zero_bubble, shape)


def tier_sizes(machine: Machine, devices: int) -> tuple[int, ...] | None:
    """How many units each tier joins in a cluster, the outermost the rest; None if none does.

    Example:
        >>> from symscale.machine import load_machine
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
    table = np.ones((1, 0, len(ORDER)), dtype=np.int64)
    for size in sizes:
        here = np.array(_factorizations(size, len(ORDER)), dtype=np.int64)[:, None, :]
        repeated = np.repeat(table, len(here), axis=0)
        table = np.concatenate([repeated, np.tile(here, (len(table), 1, 1))], axis=1)
    return table


def count_plans(machine: Machine, problem: Problem) -> int:
    """How many plans the published space has for a model on a cluster.

    Example:
        >>> from symscale.machine import load_machine
        >>> from symscale.simulate.shapes import make_shape
        >>> count_plans(load_machine("h100-sxm"), Problem(make_shape(12288), 2048))
        7516
    """
    sizes = tier_sizes(machine, problem.devices)
    if sizes is None:
        return 0
    degrees = published_degrees([problem])
    pipelines = published_pipelines([problem], degrees)
    inner = inner_splits(sizes[:-1]).prod(axis=1)
    ways = (degrees.table.T[:, None, :] % inner[None, :, :] == 0).all(axis=2).sum(axis=1)
    return int(ways[pipelines.row].sum())
