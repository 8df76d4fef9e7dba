"""The full program of the largest run, in which every parallel degree is its own variable.

Compared with the reduced program, which it must never exceed, and with a linear
program in logarithms that is written from the study's constraints and the natural
bounds on sizes and degrees.
"""

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp
from scipy.optimize import linprog

from proved import assert_proved
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.errors import InfeasibleError
from symscale.facts.machines.lumped import load_machine, lump, parameters_of
from symscale.language.symbols import symbol, symbols
from symscale.studies.training.limits import limits_program, own_bounds

Values = dict[sp.Symbol, sp.Rational]
NO_GROWTH = {symbol("alpha"): sp.Integer(0), symbol("alpha_L"): sp.Integer(0)}
NAMES = ("C", "W_net", "W_mem", "tau", "t_d", "b_0", "L_0", "r_D", "r_ff", "E")


@pytest.fixture(scope="module")
def full() -> Limit:
    return solve(limits_program(full=True).substitute(NO_GROWTH))


@pytest.fixture(scope="module")
def reduced() -> Limit:
    return solve(limits_program().substitute(NO_GROWTH))


@pytest.fixture(scope="module")
def unlimited() -> Limit:
    """The full program with a network of unlimited bandwidth."""
    return solve(limits_program(full=True, network=False).substitute(NO_GROWTH))


def values_of(**values: sp.Rational | Fraction | str | int) -> Values:
    return {symbol(name): sp.Rational(str(value)) for name, value in values.items()}


def standard(device: str) -> Values:
    """A node of 8 devices, and the assumptions of the published numbers."""
    rows = parameters_of(lump(load_machine(device), "node"), Fraction(2))
    machine = {row.name: row.value for row in rows if row.value is not None}
    return values_of(**machine, t_d="7889400", b_0=4 * 10**6, L_0=100, r_D=20, r_ff=4, E=1)


# The same by numbers


@dataclass(frozen=True)
class Optimum:
    """The logarithm of the largest T, or None if no run fits, and the point that attains it."""

    log_compute: float | None
    point: Mapping[str, float]


def numerical_optimum(v: Mapping[str, float], *, network: bool = True) -> Optimum:
    """Solve the study with natural bounds as a linear program in logarithms.

    A constraint is a product of powers and the number that it is at most, or equals.
    """
    mac_rate = v["C"] / 2
    n = mac_rate / v["W_mem"]
    equal = [
        ({"P": 1, "L": -1, "d_model": -1, "d_ff": -1}, 2 * v["E"]),
        ({"D": 1, "P": -1}, v["r_D"]),
        ({"T": 1, "P": -1, "D": -1}, 6 / v["E"]),
        ({"N": 1, "N_TP_model": -1, "N_TP_ff": -1, "N_DP": -1, "N_PP": -1, "N_EP": -1}, 1),
        ({"d_ff": 1, "d_model": -1}, v["r_ff"]),
        ({"L": 1}, v["L_0"]),
    ]
    at_most = [
        ({"T": 1, "N": -1}, v["C"] * v["t_d"]),
        # A nanobatch of an expert has at least n tokens: b / (E N_DP m) >= n.
        ({"N_DP": 1, "m": 1, "b": -1}, 1 / (n * v["E"])),
        ({"N_PP": 1, "m": -1}, 1 / 2),
        ({"b": 1}, v["b_0"]),
        ({"D": 1, "b": -1, "L": 1}, v["t_d"] / (4 * v["tau"])),
        ({"N_PP": 1, "L": -1}, 1),
        ({"N_EP": 1}, v["E"]),
        ({"N_TP_model": 1, "d_model": -1}, 1),
        ({"N_TP_ff": 1, "d_ff": -1}, 1),
        *(({name: -1}, 1) for name in ("N_TP_model", "N_TP_ff", "N_DP", "N_PP", "N_EP")),
        *(({name: -1}, 1) for name in ("d_model", "d_ff")),
    ]
    if network:
        # Times W_net over C, with the number of devices on neither side:
        # 4 L b N_TP_model d_ff <= 12 L d_model d_ff b / 2 for one tensor term, the same
        # for the other, and 2 N_DP P <= 12 L d_model d_ff b with P = 2 L d_model d_ff E.
        ratio = v["W_net"] / v["C"]
        at_most += [
            ({"N_TP_model": 1, "d_model": -1}, 6 / 4 * ratio),
            ({"N_TP_ff": 1, "d_ff": -1}, 6 / 4 * ratio),
            ({"N_DP": 1, "b": -1}, 12 / 4 / v["E"] * ratio),
        ]
    names = sorted({name for powers, _ in [*equal, *at_most] for name in powers})
    left = [[float(powers.get(name, 0)) for name in names] for powers, _ in at_most]
    exact = [[float(powers.get(name, 0)) for name in names] for powers, _ in equal]
    found = linprog(
        [-float(name == "T") for name in names],
        left, [math.log(bound) for _, bound in at_most],
        exact, [math.log(bound) for _, bound in equal],
        bounds=(None, None), method="highs",
    )  # fmt: skip
    if found.status == 2:
        return Optimum(None, {})
    assert found.status == 0, found.message
    return Optimum(float(-found.fun), dict(zip(names, map(float, found.x), strict=True)))


def as_floats(values: Values) -> dict[str, float]:
    return {name: float(values[symbol(name)]) for name in NAMES if symbol(name) in values}


def random_values(numbers: random.Random) -> Values:
    """Parameters over several decades, each of three digits."""
    decades = {
        "C": (8, 16), "W_net": (7, 15), "W_mem": (7, 15), "tau": (-14, -6), "t_d": (5, 9),
        "b_0": (5, 10), "L_0": (0, 3), "r_D": (0, 3), "r_ff": (-1, 2), "E": (0, 2),
    }  # fmt: skip
    drawn = {
        name: f"{numbers.randrange(100, 1000)}e{numbers.randrange(*ends) - 2}"
        for name, ends in decades.items()
    }
    return values_of(**drawn)


@dataclass(frozen=True)
class Draw:
    """Random parameters with both answers.

    Attributes:
        values: The parameters.
        ruling: The piece that rules, or "" where the program says that nothing fits.
        log_compute: The logarithm of the largest T in closed form.
        optimum: What the linear program finds.
    """

    values: Values
    ruling: str
    log_compute: float
    optimum: Optimum


def draw(limit: Limit, values: Values, *, network: bool = True) -> Draw:
    optimum = numerical_optimum(as_floats(values), network=network)
    try:
        piece = limit.ruling(values)
    except InfeasibleError:
        return Draw(values, "", math.nan, optimum)
    return Draw(values, piece.name, float(mp.log(piece.at(values))), optimum)


@pytest.fixture(scope="module")
def draws(full: Limit) -> list[Draw]:
    numbers = random.Random(1137)
    return [draw(full, random_values(numbers)) for _ in range(270)]


def test_where_nothing_fits(draws: list[Draw]) -> None:
    """The conditions for feasibility say so exactly where the linear program does."""
    found = [d.ruling == "" for d in draws]
    assert found == [d.optimum.log_compute is None for d in draws]
    assert 20 <= sum(found) <= 70


def test_the_closed_form_is_the_numerical_optimum(draws: list[Draw], full: Limit) -> None:
    feasible = [d for d in draws if d.ruling]
    assert len(feasible) >= 200
    for d in feasible:
        assert d.log_compute == pytest.approx(d.optimum.log_compute, abs=1e-8)
    ruled = Counter(d.ruling for d in feasible)
    assert set(ruled) == {piece.name for piece in full.pieces}
    assert min(ruled.values()) >= 2


def test_it_never_exceeds_the_reduced_limit(
    draws: list[Draw], full: Limit, reduced: Limit
) -> None:
    """And falls short of it only by bounds that the reduced program leaves out."""
    names = {piece.name for piece in reduced.pieces}
    closer = 0
    assert {p.name for p in full.pieces if own_bounds(p.binding)}.isdisjoint(names)
    assert len([p for p in full.pieces if own_bounds(p.binding)]) == 3
    for d in draws:
        if d.ruling:
            reduced_log = float(mp.log(reduced.at(d.values)))
            assert d.log_compute <= reduced_log + 1e-12
            assert (d.log_compute < reduced_log - 1e-12) is (d.ruling not in names)
            closer += d.ruling not in names
    assert closer >= 20


def test_the_reduced_pieces_are_among_its_pieces(full: Limit, reduced: Limit) -> None:
    assert len(full.pieces) == len({piece.name for piece in full.pieces}) == 5
    for piece in reduced.pieces:
        assert full.piece(piece.name).bound == piece.bound


@pytest.mark.parametrize("index", range(5))
def test_around_the_witness_of_each_piece(full: Limit, reduced: Limit, index: int) -> None:
    """Where a piece rules, its bound is the optimum, and its region says that it rules."""
    piece = full.pieces[index]
    assert piece.witness is not None
    numbers = random.Random(index)
    ruled = 0
    for attempt in range(12):
        exact = dict(piece.witness)
        if attempt:
            for s in exact:
                exact[s] *= sp.Rational(numbers.randrange(80, 126), 100)
        exact[symbol("E")] = max(exact[symbol("E")], sp.Integer(1))
        d = draw(full, exact)
        if d.ruling:
            assert d.log_compute == pytest.approx(d.optimum.log_compute, abs=1e-8)
            assert d.log_compute <= float(mp.log(reduced.at(exact))) + 1e-12
        within = all(condition.holds(exact) for condition in piece.region)
        assert within is (d.ruling == piece.name)
        ruled += within
        assert attempt or within
    assert ruled >= 4


def test_published_machines_are_not_bound_by_the_natural_bounds(
    full: Limit, reduced: Limit
) -> None:
    for device in ("v100-sxm", "a100-sxm", "h100-sxm"):
        values = standard(device)
        assert full.ruling(values).name == reduced.ruling(values).name == "data movement"
        assert full.at(values) == reduced.at(values)
        found = numerical_optimum(as_floats(values)).log_compute
        assert float(mp.log(full.at(values))) == pytest.approx(found, abs=1e-8)


def test_a_network_without_limit(unlimited: Limit, reduced: Limit) -> None:
    """A matrix can be split into single weights, and then its traffic through memory remains."""
    W_mem, b_0, t_d, E, L_0, tokens = symbols("W_mem b_0 t_d E L_0 r_D")
    shards = W_mem**2 * b_0**2 * t_d**2 / (24 * E * L_0**2 * tokens)
    bounds = {piece.bound.expr for piece in unlimited.pieces}
    assert bounds == {shards, reduced.piece("latency wall").bound.expr}
    numbers = random.Random(2411)
    ruled: Counter[str] = Counter()
    for _ in range(40):
        values = random_values(numbers)
        del values[symbol("W_net")]
        d = draw(unlimited, values, network=False)
        ruled[d.ruling] += 1
        assert (d.optimum.log_compute is None) is (d.ruling == "")
        if d.ruling:
            assert d.log_compute == pytest.approx(d.optimum.log_compute, abs=1e-8)
    assert min(ruled[piece.name] for piece in unlimited.pieces) >= 5
    assert_proved(unlimited)


def test_every_piece_is_proved(full: Limit) -> None:
    assert_proved(full)
