"""Extreme rays of a cone in the positive orthant, by double description.

The dual of a log-linear program is {y >= 0 : M y = 0} after homogenisation. Its
extreme rays are the dual vertices (certificates of pieces) and dual rays
(certificates of infeasibility). Rows are taken in one at a time; every pair of
adjacent rays on either side of the new hyperplane gives a new ray. Two rays are
adjacent when no third one has its support within the union of theirs. Many rays of whole
numbers are held in arrays, see `wide_cone`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.scalars import Rationals, Scalars
from symscale.errors import TooLargeError

MAX_RAYS = 30_000
_MANY = 150  # rays from which on arrays are faster, the import of NumPy included


@dataclass(frozen=True)
class Ray:
    """A ray: its entries, and the set of nonzero ones as a bit mask."""

    entries: tuple[Any, ...]
    support: int


def extreme_rays(
    rows: Sequence[Sequence[Any]],
    size: int,
    scalars: Scalars,
    *,
    max_rays: int = MAX_RAYS,
    progress: Callable[[int, int], None] | None = None,
) -> list[Ray]:
    """Return the extreme rays of {y in R^size, y >= 0, row . y = 0 for each row}.

    Args:
        rows: Ring elements, one list of length `size` for each equality.
        size: Number of unknowns.
        scalars: The ring.
        max_rays: Stop beyond so many intermediate rays.
        progress: Called with the number of rows done and of rays held.

    Raises:
        TooLargeError: If more than `max_rays` rays are needed on the way.
        IndeterminateSignError: If a sign is not the same over the exponents' domain.

    Example:
        >>> from symscale.algebra.exact.scalars import Rationals
        >>> [r.entries for r in extreme_rays([[1, 1, -1]], 3, Rationals())]
        [(1, 0, 1), (0, 1, 1)]
    """
    one, zero = scalars.one, scalars.one - scalars.one
    rays = [
        Ray(tuple(one if i == j else zero for j in range(size)), 1 << i) for i in range(size)
    ]
    waiting = [row for row in rows if any(row)]
    done, count = 0, len(waiting)
    while waiting:
        if len(rays) > _MANY and isinstance(scalars, Rationals):
            return _in_arrays(waiting, rays, done, count, max_rays, progress)
        index, values, signs = _cheapest(waiting, rays, scalars)
        waiting.pop(index)
        done += 1
        cut = _cut(rays, values, signs, done, scalars, max_rays)
        if cut is None:
            raise _too_many(max_rays, done - 1, count)
        rays = cut
        if progress is not None:
            progress(done, len(rays))
    return rays


def _in_arrays(
    rows: list[Sequence[Any]], rays: list[Ray], done: int, count: int, max_rays: int,
    progress: Callable[[int, int], None] | None,
) -> list[Ray]:
    """Take in the rows that are left, with the rays as arrays."""
    from symscale.algebra.exact.wide_cone import CrowdedError, cut_down  # loads NumPy

    try:
        found = cut_down(rows, [ray.entries for ray in rays], done, max_rays, progress)
    except CrowdedError as error:
        raise _too_many(max_rays, error.done, count) from None
    return [Ray(e, sum(1 << j for j, x in enumerate(e) if x)) for e in found]


def _too_many(max_rays: int, done: int, count: int) -> TooLargeError:
    return TooLargeError(
        f"the exact solution needs more than {max_rays} intermediate rays, after {done} of "
        f"{count} equations of its dual; give numbers to parameters, or leave out constraints"
    )


def _cheapest(
    rows: list[Sequence[Any]], rays: list[Ray], scalars: Scalars
) -> tuple[int, list[Any], list[int]]:
    """Choose the row that makes the fewest new rays, and evaluate it on every ray.

    Rows with a sign that the domain leaves open are put off: once others are in,
    the sign may be settled.
    """
    best: tuple[int, int, list[Any], list[int]] | None = None
    undecided: IndeterminateSignError | None = None
    for index, row in enumerate(rows):
        terms = [(j, x) for j, x in enumerate(row) if x]
        values = [
            sum((x * ray.entries[j] for j, x in terms if ray.support >> j & 1), 0) for ray in rays
        ]
        try:
            signs = [scalars.sign(v) if v else 0 for v in values]
        except IndeterminateSignError as error:
            undecided = undecided or error
            continue
        cost = signs.count(1) * signs.count(-1)
        if best is None or cost < best[0]:
            best = (cost, index, values, signs)
    if best is None:
        assert undecided is not None  # noqa: S101  # some row was tried and put off
        raise undecided
    return best[1:]


def _cut(
    rays: list[Ray],
    values: list[Any],
    signs: list[int],
    rank: int,
    scalars: Scalars,
    max_rays: int,
) -> list[Ray] | None:
    """Intersect the cone with the hyperplane on which `values` vanish; None: too many rays."""
    kept = [ray for ray, sign in zip(rays, signs, strict=True) if sign == 0]
    positive = [(r, v) for r, v, s in zip(rays, values, signs, strict=True) if s > 0]
    negative = [(r, v) for r, v, s in zip(rays, values, signs, strict=True) if s < 0]
    supports = [ray.support for ray in rays]
    for p, above in positive:
        for n, below in negative:
            union = p.support | n.support
            # A ray that satisfies `rank` equalities has at most rank + 1 nonzero entries.
            if union.bit_count() > rank + 1:
                continue
            outside = ~union
            if sum(1 for s in supports if not s & outside) > 2:
                continue
            entries = [
                above * y - below * x if x and y else above * y if y else -below * x if x else x
                for x, y in zip(p.entries, n.entries, strict=True)
            ]
            kept.append(Ray(tuple(scalars.reduce(entries)), union))
            if len(kept) > max_rays:
                return None
    return kept
