"""Times of all-reduces, against playing the messages one by one."""

from math import ceil, log2

import pytest
import sympy as sp

from symscale.costs.cost import Cost, cost
from symscale.times import (
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


def played_tree(payload: float, p: int, bandwidth: float, latency: float, pieces: int) -> float:
    """Pieces climb a binary tree one after another, and come down again."""
    height, piece = ceil(log2(p)), payload / pieces / bandwidth
    done = [0.0] * (2 * height)  # when each level's link is free again
    finished = 0.0
    for _ in range(pieces):
        time = 0.0
        for level in range(2 * height):
            # A link up and one down carry pieces at once; each in turn.
            start = max(time, done[level])
            done[level] = start + piece
            time = start + piece + latency
        finished = time
    return finished


@pytest.mark.parametrize("p", [1, 2, 3, 8])
def test_a_ring(p: int) -> None:
    found = ring_all_reduce_time(
        number("96", "word"), sp.Integer(p), number("5", "word/s"), number("0.25", "s")
    )
    assert float(found.expr) == pytest.approx(played_ring(96, p, 5, 0.25))
    assert str(found.unit) == "s"


@pytest.mark.parametrize("p", [2, 4, 5, 16])
def test_a_tree_is_what_many_pieces_tend_to(p: int) -> None:
    """Played with links up and down at once, half of it is the payload's; the bound doubles it."""
    found = tree_all_reduce_time(
        number("96", "word"), sp.Integer(p), number("5", "word/s"), number("0.25", "s")
    )
    played = played_tree(96, p, 5, 0.25, 20_000)
    height = ceil(log2(p))
    # A device passes the payload up and down: where both share a link they take turns.
    assert float(found.expr) == pytest.approx(played + 96 / 5, rel=2e-3)
    assert played == pytest.approx(96 / 5 + 2 * height * 0.25, rel=2e-3)


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
