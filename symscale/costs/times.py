"""Times: costs divided by what a machine does in a second."""

from collections.abc import Sequence

import sympy as sp

from symscale.costs.cost import Cost, cost
from symscale.language.symbols import notation, symbol

MEMORY_DIRECTIONS = 2
"""W_mem counts one direction; reads and writes together may use both."""


def rate(name: str) -> Cost:
    """Return a rate of the notation (C, W_net, W_mem), or a latency, as a cost with its unit.

    Example:
        >>> str(rate("C").unit)
        'FLOP/s'
    """
    return cost(symbol(name), notation(name).unit)


def arithmetic_time(flop: Cost, devices: sp.Expr) -> Cost:
    """Time of arithmetic that is spread evenly over devices at their peak rate C."""
    return flop / (rate("C") * devices)


def network_time(words: Cost, devices: sp.Expr) -> Cost:
    """Time of network traffic that is spread evenly over the devices' links, W_net each."""
    return words / (rate("W_net") * devices)


def mesh_time(words: Cost, devices: sp.Expr, axes: sp.Expr) -> Cost:
    """Time of network traffic over some axes of a mesh, W_axis a device and axis."""
    return words / (rate("W_axis") * devices * axes)


def memory_time(words: Cost, devices: sp.Expr) -> Cost:
    """Time of memory traffic, reads and writes, spread evenly over devices.

    Both share the full bandwidth of a memory, 2 W_mem.
    """
    return words / (rate("W_mem") * devices * MEMORY_DIRECTIONS)


def ring_all_reduce_time(
    payload: Cost, participants: sp.Expr, bandwidth: Cost, latency: Cost
) -> Cost:
    """Time of an all-reduce in a ring: 2 (p - 1) steps of a p-th of the payload.

        t = 2 (p - 1) (Q/(p W) + l)

    Args:
        payload: Words that each participant holds, Q.
        participants: How many there are, p.
        bandwidth: Of a participant's link, one direction, W.
        latency: Of one message, l.

    Example:
        >>> from symscale.costs.cost import cost
        >>> ring_all_reduce_time(cost(80, "word"), sp.Integer(4), cost(10, "word/s"),
        ...     cost(1, "s")).expr
        18
    """
    step = payload / participants / bandwidth + latency
    return step * (2 * (participants - 1))


def tree_all_reduce_time(
    payload: Cost, participants: sp.Expr, bandwidth: Cost, latency: Cost
) -> Cost:
    """Time of an all-reduce up two binary trees and down again, in many small pieces.

        t = 2 (ceiling(log2 p) l + Q/W)

    Each tree has half of the payload, and who is inside one is a leaf of the other. Inside,
    a device receives from two children and from above, 3 Q/2; as a leaf from above, Q/2:
    2 Q together, and it sends as much. Pieces follow each other, so that latency counts once
    for each level up and down: it grows with the logarithm of p, where a ring's grows with
    p. The bandwidth's part is p/(p - 1) of the ring's.

    Args:
        payload: Words that each participant holds, Q.
        participants: How many there are, p.
        bandwidth: Of a participant's link, one direction, W.
        latency: Of one message, l.

    Example:
        >>> from symscale.costs.cost import cost
        >>> tree_all_reduce_time(cost(80, "word"), sp.Integer(4), cost(10, "word/s"),
        ...     cost(1, "s")).expr
        20
    """
    height = sp.ceiling(sp.log(participants, 2))
    moving = payload / bandwidth if participants != 1 else payload / bandwidth * 0
    return (latency * height + moving) * 2


def hierarchical_all_reduce_time(
    payload: Cost, tiers: Sequence[tuple[sp.Expr, Cost, Cost]]
) -> Cost:
    """Time of an all-reduce that goes over tiers one after another, by rings in each.

    A reduce-scatter within a unit leaves each of its p devices a p-th of the payload to be
    all-reduced across units; an all-gather within the unit ends it. Together they take, in
    each tier, what a ring takes on the part that is left.

    Args:
        payload: Words that each participant holds.
        tiers: Participants, bandwidth and latency of each tier, innermost first.

    Example:
        >>> from symscale.costs.cost import cost
        >>> fast, slow, wait = cost(10, "word/s"), cost(1, "word/s"), cost(0, "s")
        >>> hierarchical_all_reduce_time(cost(80, "word"), [(sp.Integer(8), fast, wait),
        ...     (sp.Integer(2), slow, wait)]).expr
        24
    """
    times, left = cost(0, "s"), payload
    for participants, bandwidth, latency in tiers:
        times = times + ring_all_reduce_time(left, participants, bandwidth, latency)
        left = left / participants
    return times
