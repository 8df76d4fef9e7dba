"""Which tier of a network a group of devices spans, and what each tier carries.

Devices are numbered tensor parallelism first, then context, data and pipeline, so
that tensor parallelism has the fastest links. Experts are shared within data
parallelism, and their replicas lie furthest apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

import sympy as sp

from symscale.costs.model import Parallelism
from symscale.costs.transformer.communication import Communication
from symscale.costs.transformer.plan import Plan, whole
from symscale.errors import InputError

ORDER = ("N_TP", "N_CP", "N_DP", "N_PP")
"""The degrees, from neighbours outwards."""


@dataclass(frozen=True)
class TierSplit:
    """How the participants of one collective lie over the tiers.

    Attributes:
        degrees: Participants at each tier, innermost first; their product is the degree.
    """

    degrees: tuple[int, ...]

    @property
    def outermost(self) -> int:
        """Index of the outermost tier that the group spans; 0 for a single device."""
        return max((i for i, degree in enumerate(self.degrees) if degree > 1), default=0)


def split_over_tiers(plan: Plan[sp.Expr], sizes: Sequence[int | None]) -> dict[str, TierSplit]:
    """Return how each degree of a plan, numbers, lies over the tiers of a machine.

    Args:
        plan: The plan.
        sizes: Units that each tier joins, innermost first; None for the last, any number.

    Raises:
        InputError: If a degree is a formula, or the machine is too small.

    Example:
        >>> plan = Plan(N_TP=sp.Integer(8), N_DP=sp.Integer(4))
        >>> split_over_tiers(plan, [8, None])["N_DP"].degrees
        (1, 4)
    """
    room: list[int | None] = list(sizes)
    found: dict[str, TierSplit] = {}
    repeats = whole(plan.repeats_of_kv)
    if repeats is not None:  # devices that repeat a key and value head are neighbours
        found["kv"] = TierSplit(_take(list(room), repeats))
    for name in ORDER:
        degree = whole(getattr(plan, name))
        if degree is None:
            raise InputError(f"{name} has no value, so its tier is open; give it a number")
        if name == "N_DP":
            experts = whole(plan.N_EP) or 1
            inner = _take(list(room), experts)
            found["N_EP"] = TierSplit(inner)
            taken = _take(room, degree)
            found["experts"] = TierSplit(
                tuple(a // b if b and a % b == 0 else a for a, b in zip(taken, inner, strict=True))
            )
        else:
            taken = _take(room, degree)
        found[name] = TierSplit(taken)
    return found


def _take(room: list[int | None], degree: int) -> tuple[int, ...]:
    """Give a degree as much of the inner tiers as divides it; the rest goes outwards."""
    taken = []
    for i, size in enumerate(room):
        part = degree if size is None else gcd(degree, size)
        if i == len(room) - 1 and part != degree:
            raise InputError(
                f"the machine has room for {size} more at its outermost tier, not {degree}"
            )
        taken.append(part)
        if size is not None:
            room[i] = size // part
        degree //= part
    return tuple(taken)


DEGREE_OF: Mapping[Parallelism, str] = {
    "tensor": "N_TP", "context": "N_CP", "data": "N_DP", "pipeline": "N_PP", "expert": "N_EP",
}
"""The degree over which each kind of communication runs."""


def tiers_of(entry: Communication, splits: dict[str, TierSplit]) -> TierSplit:
    """Return how the participants of a communication lie over the tiers.

    Gradients run over replicas and the parts of a sequence alike; sums over repeated key
    and value heads over part of a tensor-parallel group.
    """
    if entry.within == "experts":
        return _joined(splits["N_CP"], splits["experts"])
    if entry.parallelism == "data":
        return _joined(splits["N_CP"], splits["N_DP"])
    split = splits[DEGREE_OF[entry.parallelism]]
    if entry.parallelism == "tensor" and entry.participants != prod(split.degrees):
        return splits["kv"]
    return split


def _joined(inner: TierSplit, outer: TierSplit) -> TierSplit:
    return TierSplit(
        tuple(a * b for a, b in zip(inner.degrees, outer.degrees, strict=True))
    )


def words_by_tier(entry: Communication, split: TierSplit) -> tuple[sp.Expr, ...]:
    """Return the words that a device sends over each tier, innermost first.

    Hierarchical collectives: within a unit first, so that across units only 1/p of the
    payload is left for each of its p devices. A point-to-point transfer crosses the
    outermost tier that it can, and so does what first and last stage share; an
    all-to-all sends each part straight to its device.

    Example:
        >>> from symscale.costs.cost import cost
        >>> reduce = Communication("data", "all-reduce", "", "backward", cost(80, "word"),
        ...     sp.Integer(32), sp.Integer(1))
        >>> words_by_tier(reduce, TierSplit((8, 4)))
        (140, 15)
    """
    payload = entry.payload.expr
    found = []
    inner = 1
    for i, degree in enumerate(split.degrees):
        if degree == 1:
            found.append(sp.Integer(0))
        elif entry.collective == "point-to-point" or entry.place == "both ends":
            found.append(entry.words.expr if i == split.outermost else sp.Integer(0))
        elif entry.collective == "all-to-all":
            # Of the p participants, those in other units of this tier but the same unit above.
            reached = inner * degree - inner
            found.append(payload * sp.Rational(reached, prod(split.degrees)))
        else:
            part = replace(
                entry, payload=entry.payload / inner, participants=sp.Integer(degree)
            )
            found.append(part.words.expr)
        inner *= degree
    return tuple(found)
