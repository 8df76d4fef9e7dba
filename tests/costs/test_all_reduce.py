"""Times of all-reduces, against playing the messages one by one."""

import pytest
import sympy as sp

from symscale.costs.cost import Cost, cost
from symscale.costs.times import (
    hierarchical_all_reduce_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)


def number(value: str, unit: str) -> Cost:
    return cost(sp.Rational(value), unit)


def played_ring(payload: float, p: int, bandwidth: float, latency: float) -> float:
    """Every device sends a share to the next, and starts again when one has arrived."""
    ready = [0.0] * p
    for _ in range(2 * (p - 1)):
        arrival = [t + payload / p / bandwidth + latency for t in ready]
        ready = [max(ready[i], arrival[i - 1]) for i in range(p)]
    return max(ready)


def parent(node: int, p: int) -> int | None:
    """The parent in a binary tree in whose order the nodes are numbered; 0 is above its root."""
    if node == 0:
        return None
    step = node & -node
    above = (node - step) | (2 * step)
    return above if above < p else 0


def received(p: int, payload: float) -> list[float]:
    """Words that each device receives when two trees, one a place further, share a payload."""
    words = [0.0] * p
    for shift in (0, 1):
        for node in range(p):
            above = parent(node, p)
            if above is not None:
                words[(above + shift) % p] += payload / 2  # a partial sum, upwards
                words[(node + shift) % p] += payload / 2  # the whole sum, downwards
    return words


def depth(p: int) -> int:
    """Links from the farthest leaf to the top."""
    found = 0
    for start in range(p):
        node: int | None = start
        steps = -1
        while node is not None:
            node, steps = parent(node, p), steps + 1
        found = max(found, steps)
    return found


@pytest.mark.parametrize("p", [1, 2, 3, 8])
def test_a_ring(p: int) -> None:
    found = ring_all_reduce_time(
        number("96", "word"), sp.Integer(p), number("5", "word/s"), number("0.25", "s")
    )
    assert float(found.expr) == pytest.approx(played_ring(96, p, 5, 0.25))
    assert str(found.unit) == "s"


@pytest.mark.parametrize("p", [4, 8, 16, 64])
def test_two_trees_device_by_device(p: int) -> None:
    """No device receives more than twice the payload; some do; each level costs a message."""
    payload, bandwidth, latency = 96.0, 5.0, 0.25
    assert max(received(p, payload)) == 2 * payload
    assert sum(received(p, payload)) == 2 * (p - 1) * payload
    found = tree_all_reduce_time(
        number("96", "word"), sp.Integer(p), number("5", "word/s"), number("0.25", "s")
    )
    busiest = max(received(p, payload)) / bandwidth
    assert float(found.expr) == pytest.approx(busiest + 2 * depth(p) * latency)


def test_one_device_waits_for_nobody() -> None:
    amounts = number("96", "word"), sp.Integer(1), number("5", "word/s"), number("0.25", "s")
    assert ring_all_reduce_time(*amounts).expr == 0
    assert tree_all_reduce_time(*amounts).expr == 0


def test_tiers_send_what_their_rings_do() -> None:
    """Within a unit rings on the payload, across units on the share of each device."""
    tiers = [
        (sp.Integer(8), number("50", "word/s"), number("0.01", "s")),
        (sp.Integer(4), number("5", "word/s"), number("0.1", "s")),
    ]
    found = hierarchical_all_reduce_time(number("960", "word"), tiers)
    by_hand = played_ring(960, 8, 50, 0.01) + played_ring(960 / 8, 4, 5, 0.1)
    assert float(found.expr) == pytest.approx(by_hand)
    flat = ring_all_reduce_time(
        number("960", "word"), sp.Integer(32), number("5", "word/s"), number("0.1", "s")
    )
    assert float(found.expr) < float(flat.expr)


def test_a_tree_wins_where_messages_are_small() -> None:
    small, large = number("1", "word"), number("1e9", "word")
    rest = sp.Integer(64), number("1e6", "word/s"), number("1e-3", "s")
    assert tree_all_reduce_time(small, *rest).expr < ring_all_reduce_time(small, *rest).expr
    assert tree_all_reduce_time(large, *rest).expr > ring_all_reduce_time(large, *rest).expr
