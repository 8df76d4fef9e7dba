"""Many pieces: floating point guesses, shown by whole numbers, against one exact program each."""

import sys
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy as sp

from packings import packing
from random_programs import random_case
from sampling import sample
from symscale.algebra.exact import cone, facets, wide_cone
from symscale.algebra.exact.facets import Conditions, needed_of
from symscale.algebra.exact.scalars import Rationals
from symscale.algebra.products import competition, ruling
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.program import Program
from symscale.algebra.products.solve import solve
from symscale.errors import FormulaError, TooLargeError

PACKINGS = sample(14)
CASES = sample(40)


def told(limit: Limit) -> Any:
    """All that a limit says, but for the witnesses."""
    pieces = [
        (p.name, p.bound, p.multipliers, p.binding, p.region, p.exponent_conditions)
        for p in limit.pieces
    ]
    return pieces, limit.feasibility, limit.direction


def both_ways(program: Program, monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Solve with and without guesses, and compare."""
    answers = []
    for many in (1, sys.maxsize):
        monkeypatch.setattr(ruling, "_MANY", many)
        limit = solve(program)
        answers.append(told(limit))
        for piece in limit.pieces:
            if piece.witness is not None:
                assert limit.ruling(piece.witness) == piece
                assert all(c.holds(piece.witness) for c in piece.region)
    assert answers[0] == answers[1]
    return limit


def test_packings_say_the_same_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [
        len(both_ways(packing(5, 10, seed, seed % 2 == 1, 9 - seed % 6), monkeypatch).pieces)
        for seed in PACKINGS.seeds
    ]
    assert max(pieces) >= 8
    assert sum(n >= 4 for n in pieces) >= PACKINGS.least(3), pieces


def test_random_programs_say_the_same_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with equalities, bounds of parameters and numbers, and with symbols in exponents."""
    several = 0
    for seed in CASES.seeds:
        try:
            program = random_case(seed + 500, exponent=seed % 8 == 0).program
            several += len(both_ways(program, monkeypatch).pieces) >= 2
        except FormulaError:
            continue
    assert several >= CASES.least(5)


def test_numbers_beyond_64_bits_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruling, "_MANY", 1)
    program = packing(5, 10, 4, True, 10)
    expected = told(solve(program))
    assert sum(len(piece[4]) for piece in expected[0]) >= 8  # conditions of regions
    monkeypatch.setattr(competition, "_HALF_OF_64_BITS", 0)
    assert told(solve(program)) == expected


def test_a_hundred_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rules at its witness, and its region is no more than the others beside it."""
    monkeypatch.setattr(ruling, "_flat", None)  # no exact program is asked about a piece
    limit = solve(packing(8, 20, 6))
    assert len(limit.pieces) == 97
    for piece in limit.pieces[::12]:
        assert piece.witness is not None
        assert limit.ruling(piece.witness) is piece
        assert 7 <= len(piece.region) < 40


def test_guesses_that_are_wrong_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With multipliers that are false nothing is called implied, and the answer is the same."""
    program = packing(4, 8, 1, False, 3)
    expected = told(solve(program))
    monkeypatch.setattr(ruling, "_MANY", 1)
    monkeypatch.setattr(np.linalg, "pinv", lambda rows: np.ones(rows.shape[::-1]))
    monkeypatch.setattr(facets, "guess_optimum", lambda *_: None)
    assert told(solve(program)) == expected


def test_what_is_needed_against_every_ray() -> None:
    """In the plane a condition is needed if a grid of directions meets it first."""
    random = Random(5)
    for _ in range(15):
        rows = {(random.randint(-3, 3), random.randint(-3, 3)) for _ in range(8)} - {(0, 0)}
        chosen = sorted({tuple(np.array(r) // np.gcd(*r)) for r in rows})
        heights = [random.randint(1, 4) for _ in chosen]
        matrix = np.array(chosen)
        conditions = Conditions(
            matrix, -np.array(heights)[:, None] * np.ones((1, 1), dtype=int), np.array([1.0])
        )
        found = needed_of(conditions, np.zeros(2))
        angles = np.linspace(0, 2 * np.pi, 4_001)
        rates = matrix @ np.array([np.cos(angles), np.sin(angles)])
        with np.errstate(divide="ignore"):
            times = np.where(rates > 1e-9, np.array(heights)[:, None] / rates, np.inf)
        first = {int(k) for k, t in zip(times.argmin(axis=0), times.min(axis=0), strict=True)
                 if np.isfinite(t)}
        assert set(found.needed) <= first | set(found.unknown)
        assert first <= set(found.needed) | set(found.unknown) | {
            k for k in first if sum(times.argmin(axis=0) == k) < 3
        }
        assert not found.implied & set(found.needed)


@pytest.mark.parametrize("few", [0, 4096])
def test_cones_in_arrays(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rays in the same order, in 64 bits and beyond, and with two words of support."""
    random = Random(few + 3)
    monkeypatch.setattr(wide_cone, "_FEW", few)
    several = 0
    for _ in range(60):
        size = random.choice((random.randint(2, 11), random.randint(63, 67)))
        entries = random.choice(
            ((-1, 0, 0, 1), (-3, -1, 0, 2, 5), (-(10**18), 0, 0, 10**18 + 1), (0,) * 9 + (1, -1))
        )
        rows = [[random.choice(entries) for _ in range(size)] for _ in range(random.randint(1, 3))]
        found: list[Any] = []
        for many in (0, sys.maxsize):
            monkeypatch.setattr(cone, "_MANY", many)
            monkeypatch.setattr(wide_cone, "_BLOCK", random.choice((1, 16)))
            try:
                found.append(cone.extreme_rays(rows, size, Rationals(), max_rays=300))
            except TooLargeError as error:
                found.append(str(error))
        assert found[0] == found[1]
        several += isinstance(found[0], list) and len(found[0]) >= 4
    assert several >= 15


def test_a_product_beyond_64_bits() -> None:
    large = np.array([[2**40, 3]])
    assert wide_cone.exact_product(large, large.T).tolist() == [[2**80 + 9]]
    assert sp.Integer(wide_cone.exact_product(large[:, 1:], large[:, 1:]).item()) == 9
