"""Double description of cones with many rays: whole numbers and supports as arrays.

The same steps as in `cone`, in the same order, with the same rays as result. Two rays are
adjacent when no third one has its support within the union of theirs. What a ray p leaves of
the supports of others, their rest, decides that: a ray n is adjacent to p when its rest is
contained by no other one, and is not a second time there. Rays p of similar support are taken
together, so that most others are ruled out for all of them at a time.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[Any]
"""Whole numbers: of 64 bits, or of any size as objects."""

_Words: TypeAlias = npt.NDArray[np.uint64]
_Indices: TypeAlias = npt.NDArray[np.int64]
_Flags: TypeAlias = npt.NDArray[np.bool_]
_BLOCK = 16  # rays that are looked at together
_FEW = 4096  # pairs that are compared at once
_SAFE = 1 << 62


class CrowdedError(Exception):
    """More rays would be held than are allowed.

    Attributes:
        done: How many hyperplanes were taken in before.
    """

    done: int = 0


def cut_down(
    rows: Sequence[Sequence[int]], entries: Sequence[Sequence[int]], rank: int, most: int,
    progress: Callable[[int, int], None] | None,
) -> list[tuple[int, ...]]:
    """Intersect a cone, given by its extreme rays, with hyperplanes, the cheapest first.

    Args:
        rows: The hyperplanes' normals.
        entries: The rays.
        rank: How many hyperplanes went before.
        most: How many rays may be held.
        progress: Called with the number of hyperplanes done and of rays held.

    Raises:
        CrowdedError: If more are needed.

    Example:
        >>> cut_down([[1, 1, -1]], [(1, 0, 0), (0, 1, 0), (0, 0, 1)], 0, 9, None)
        [(1, 0, 1), (0, 1, 1)]
    """
    size = len(entries[0])
    rays = whole_array(entries, size)
    supports = _supports(rays)
    waiting = [whole_array([row], size)[0] for row in rows]
    while waiting:
        values = [exact_product(rays, row) for row in waiting]
        costs = [int((v > 0).sum()) * int((v < 0).sum()) for v in values]
        chosen = costs.index(min(costs))
        waiting.pop(chosen)
        rank += 1
        try:
            rays, supports = _cut(rays, supports, values[chosen], rank, most)
        except CrowdedError as error:
            error.done = rank - 1
            raise
        if progress is not None:
            progress(rank, len(rays))
    return [tuple(ray) for ray in rays.tolist()]


def exact_product(left: Integers, right: Integers) -> Integers:
    """A product of matrices of whole numbers, in 64 bits where that is sure to do."""
    small = left.dtype != object and right.dtype != object
    if small and _largest(left) * _largest(right) * max(1, right.shape[0]) < _SAFE:
        return left @ right
    return left.astype(object) @ right.astype(object)


def whole_array(rows: Sequence[Sequence[int]], width: int) -> Integers:
    """Rows of whole numbers, in 64 bits where they fit."""
    fits = all(-_SAFE < x < _SAFE for row in rows for x in row)
    return np.array(rows, dtype=np.int64 if fits else object).reshape(len(rows), width)


def _largest(numbers: Integers) -> int:
    return int(max(abs(numbers.max()), abs(numbers.min()))) if numbers.size else 0


def _supports(rays: Integers) -> _Words:
    """The places of nonzero entries as bits of words of 64, one column a ray."""
    bits = np.zeros((len(rays), -(-rays.shape[1] // 64) * 64), dtype=np.uint8)
    bits[:, : rays.shape[1]] = rays != 0
    return _words(bits)


def _words(bits: npt.NDArray[np.uint8]) -> _Words:
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return np.ascontiguousarray(words.T)


def _bits(words: _Words) -> npt.NDArray[np.uint8]:
    """One row a ray."""
    columns = np.ascontiguousarray(words.T)
    return np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")


def _sizes(words: _Words) -> _Indices:
    """How many bits are set for each ray."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words).sum(axis=0, dtype=np.int64)
    return _bits(words).sum(axis=1, dtype=np.int64)  # pragma: no cover  # NumPy 1


def _cut(
    rays: Integers, supports: _Words, values: Integers, rank: int, most: int
) -> tuple[Integers, _Words]:
    """Intersect the cone with the hyperplane on which `values` vanish."""
    kept, above, below = (
        np.flatnonzero(flags) for flags in (values == 0, values > 0, values < 0)
    )
    first, second = _adjacent(supports, above, below, rank + 1, most - len(kept))
    if 2 * _largest(values) * _largest(rays) >= _SAFE:
        rays, values = rays.astype(object), values.astype(object)
    new = values[first, None] * rays[second] - values[second, None] * rays[first]
    if len(new):
        new //= np.gcd.reduce(new, axis=1)[:, None]
    if new.dtype == object and _largest(new) < _SAFE and _largest(rays) < _SAFE:
        new, rays = new.astype(np.int64), rays.astype(np.int64)
    return (
        np.concatenate([rays[kept], new]),
        np.concatenate([supports[:, kept], supports[:, first] | supports[:, second]], axis=1),
    )


def _adjacent(
    supports: _Words, above: _Indices, below: _Indices, most: int, room: int
) -> tuple[_Indices, _Indices]:
    """The pairs of adjacent rays of two sets, whose union has so many bits at most.

    Raises:
        CrowdedError: If there are more than there is room for.
    """
    fewer, others = (below, above) if len(above) > len(below) else (above, below)
    sizes = _sizes(supports)
    wanted = np.zeros(supports.shape[1], dtype=np.bool_)
    wanted[others] = True
    found: list[tuple[int, _Indices]] = []
    waiting = [(fewer, np.arange(supports.shape[1]))] if len(fewer) and len(others) else []
    while waiting:
        block, near = waiting.pop()
        union = np.bitwise_or.reduce(supports[:, block], axis=1, keepdims=True)
        near = near[_sizes(supports[:, near] & ~union) <= most - sizes[block].min()]
        if not wanted[near].any():
            continue
        if len(block) > _BLOCK:
            waiting += [(part, near) for part in _halves(block, supports)]
            continue
        here = supports[:, near]
        for ray in block:
            rests = here & ~supports[:, ray, None]
            left = _sizes(rests)
            close = (left > 0) & (left <= most - sizes[ray])
            at = near[close]
            alone = at[_alone(rests[:, close], left[close], wanted[at])]
            room -= len(alone)
            if room < 0:
                raise CrowdedError
            found.append((int(ray), alone))
    one = np.concatenate([np.full(len(n), ray) for ray, n in found] or [np.zeros(0, np.int64)])
    two = np.concatenate([n for _, n in found] or [np.zeros(0, np.int64)])
    first, second = (two, one) if fewer is below else (one, two)
    order = np.lexsort((second, first))
    return first[order], second[order]


def _halves(block: _Indices, supports: _Words) -> list[_Indices]:
    """Divide rays by the bit that divides them best."""
    bits = _bits(supports[:, block])
    shares = bits.sum(axis=0, dtype=np.int64)
    has = bits[:, int(np.abs(2 * shares - len(block)).argmin())].astype(np.bool_)
    if has.all() or not has.any():
        return [block[: len(block) // 2], block[len(block) // 2 :]]
    return [block[has], block[~has]]


def _alone(rests: _Words, sizes: _Indices, wanted: _Flags) -> _Indices:
    """Which of the wanted sets contain no other one of all, nor are there a second time."""
    places = np.flatnonzero(wanted)
    if len(places) * rests.shape[1] <= _FEW:
        outside = rests[:, None] & ~rests[:, places, None]
        return places[(~outside.any(axis=0)).sum(axis=1) == 1]
    found = []
    places = np.arange(rests.shape[1])
    single = sizes == 1
    if single.any():
        alone = rests[:, single]
        twice = _words((_bits(alone).sum(axis=0, dtype=np.int64) > 1)[None].astype(np.uint8))
        found.append(places[single & wanted & ~(rests & twice).any(axis=0)])
        # What contains one of a single bit is done with.
        every = np.bitwise_or.reduce(alone, axis=1, keepdims=True)
        alive = ~single & ~(rests & every).any(axis=0)
        places, rests, sizes, wanted = places[alive], rests[:, alive], sizes[alive], wanted[alive]
    order = np.argsort(sizes, kind="stable")
    places, rests, wanted = places[order], rests[:, order], wanted[order]
    while wanted.any():
        least = rests[:, :1]
        if wanted[0] and not (rests[:, 1:] == least).all(axis=0).any():
            found.append(places[:1])
        others = (least & ~rests).any(axis=0)
        places, rests, wanted = places[others], rests[:, others], wanted[others]
    return np.sort(np.concatenate(found)) if found else places[:0]
