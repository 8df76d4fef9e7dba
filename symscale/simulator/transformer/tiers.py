"""How the degrees of many plans, arrays, lie over the tiers of a machine.

As `symscale.costs.transformer.tiers` does for one.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from symscale.costs.transformer.plan import Plan

Array: TypeAlias = Any


def split_plans(
    plans: Plan[Array], sizes: Sequence[int | None], kv_heads: int = 2**40
) -> dict[str, Array]:
    """Return how the degrees of plans lie over tiers: by degree, an array tiers x plans.

    As `costs.transformer.tiers.split_over_tiers` does for one plan. Devices that repeat a
    key and value head ("kv") are neighbours.
    """
    room = np.ones((len(sizes), len(plans.N_TP)), dtype=np.int64)
    for i, size in enumerate(sizes):
        room[i] = 0 if size is None else size
    found: dict[str, Array] = {}
    found["kv"] = _take(room.copy(), plans.N_TP // np.minimum(plans.N_TP, kv_heads))
    for name in ("N_TP", "N_CP"):
        found[name] = _take(room, getattr(plans, name))
    found["N_EP"] = _take(room.copy(), plans.N_EP)
    found["N_DP"] = _take(room, plans.N_DP)
    found["N_PP"] = _take(room, plans.N_PP)
    found["data"] = found["N_CP"] * found["N_DP"]
    inner = found["N_EP"]
    apart = np.where(found["N_DP"] % inner == 0, found["N_DP"] // inner, found["N_DP"])
    found["experts"] = found["N_CP"] * apart
    return found


def _take(room: Array, degree: Array) -> Array:
    """Give degrees as much of the inner tiers as divides them; room 0 is without end."""
    left = degree.astype(np.int64).copy()
    taken = np.ones_like(room)
    for i in range(len(room)):
        endless = room[i] == 0
        taken[i] = np.where(endless, left, np.gcd(left, np.where(endless, 1, room[i])))
        room[i] = np.where(endless, 0, room[i] // np.where(endless, 1, taken[i]))
        left //= taken[i]
    return taken


def over_tiers(payload: Array, group: str, pattern: str, tiers: dict[str, Array]) -> Array:
    """Return the bytes over each tier of a payload that is multiplied by its rounds.

    Hierarchical rings leave 1/p of the payload across units; an all-to-all sends each
    part straight to its device.
    """
    degrees = tiers[group].astype(float)
    found = np.zeros_like(degrees)
    inner = np.ones(degrees.shape[1])
    whole = degrees.prod(axis=0)
    for i, degree in enumerate(degrees):
        if pattern == "all-to-all":
            found[i] = payload * (inner * degree - inner) / whole
        else:
            found[i] = payload / inner * (degree - 1) / degree
        inner = inner * degree
    return found
