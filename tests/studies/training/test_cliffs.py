"""Utilization of a run of given compute: its cliffs, and a search by numbers for the same.

The search never sees the program: for a given T it looks for the least number of
devices that the constraints of the data-movement study allow.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest
import sympy as sp
from scipy.optimize import brentq

from proved import assert_proved
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.errors import FormulaError, InfeasibleError, RegionError
from symscale.facts.machines.lumped import load_machine, lump, parameters_of
from symscale.language.symbols import symbol, symbols
from symscale.studies.training.cliffs import END, cliffs_of, cliffs_program, limit_at, meeting
from symscale.studies.training.limits import limits_program

FULL, DATA, WALL = "full utilization", "data movement", "latency wall"
STUDY = {
    "r_D": 20, "r_ff": 4, "b_0": 4 * 10**6, "L_0": 100, "T_0": 6 * 10**23, "E": 1,
    "t_d": sp.Rational("365.25") / 4 * 24 * 3600,
}  # fmt: skip
Values = dict[sp.Symbol, sp.Rational]


def by_symbol(values: Mapping[str, sp.Rational | Fraction | int]) -> Values:
    return {symbol(name): sp.Rational(str(value)) for name, value in values.items()}


def standard(device: str = "h100-sxm", alpha: sp.Rational = sp.Integer(0)) -> Values:
    """A node of 8 devices, and the assumptions of the published numbers."""
    rows = parameters_of(lump(load_machine(device), "node"), Fraction(2))
    machine = {row.name: row.value for row in rows if row.value is not None}
    return by_symbol({**machine, **STUDY, "alpha": alpha, "alpha_L": sp.Rational(1, 5)})


@pytest.fixture(scope="module")
def limit() -> Limit:
    return solve(cliffs_program())


@pytest.fixture(scope="module")
def largest() -> Limit:
    return solve(limits_program())


def crit_and_wall(largest: Limit, values: Values) -> tuple[float, float]:
    return float(largest.piece(DATA).at(values)), float(largest.piece(WALL).at(values))


# In closed form


def test_the_pieces(limit: Limit) -> None:
    assert {piece.name for piece in limit.pieces} == {FULL, DATA}
    assert limit.piece(FULL).bound.is_one
    (condition,) = limit.feasibility
    assert condition.ratio.exponent(symbol("T")) == sp.Rational(1, 2) - symbol("alpha")
    assert {"critical batch", "latency"} <= set(condition.multipliers)
    assert "DRAM" not in condition.multipliers


def test_the_cliffs_are_the_pieces_of_the_largest_run(limit: Limit, largest: Limit) -> None:
    """Exactly, whatever the parameters and the growth of batch and depth."""
    first, last = cliffs_of(limit)
    assert first.between == (FULL, DATA)
    assert first.compute == largest.piece(DATA).bound
    assert not first.constraints
    assert last.between == (DATA, END)
    assert last.compute == largest.piece(WALL).bound
    assert {"critical batch", "latency"} <= set(last.constraints)


def test_the_cliffs_without_growth(largest: Limit) -> None:
    fixed = {symbol("alpha"): sp.Integer(0), symbol("alpha_L"): sp.Integer(0)}
    constant = solve(cliffs_program().substitute(fixed))
    first, last = cliffs_of(constant)
    assert first.compute == largest.piece(DATA).bound.substitute(fixed)
    assert last.compute == largest.piece(WALL).bound.substitute(fixed)
    assert constant.piece(DATA).bound.exponent(symbol("T")) == sp.Rational(-1, 4)


def test_without_a_network_utilization_stays_full(largest: Limit) -> None:
    (end,) = cliffs_of(solve(cliffs_program(network=False)))
    assert end.between == (FULL, END)
    assert end.compute == largest.piece(WALL).bound


def test_certificates(limit: Limit) -> None:
    assert_proved(limit)


def test_meeting() -> None:
    T, b, alpha = symbols("T b alpha")
    assert meeting(Monomial.of(T**3 / b)) == Monomial.of(b ** sp.Rational(1, 3))
    assert meeting(Monomial.of(b * T ** (2 * alpha - 1))).expr == b ** (1 / (1 - 2 * alpha))
    with pytest.raises(FormulaError, match="T does not occur"):
        meeting(Monomial.of(b))


# At the published numbers


def test_utilization_of_the_h100(limit: Limit, largest: Limit) -> None:
    """Full up to the first cliff, then a fall by the fourth root, then nothing."""
    values = standard()
    crit, wall = crit_and_wall(largest, values)
    cliffs = cliffs_of(limit, values)
    assert [c.between for c in cliffs] == [(FULL, DATA), (DATA, END)]
    assert [float(c.compute.evaluate(values)) for c in cliffs] == pytest.approx([crit, wall])
    seen = set()
    for k in range(20):
        compute = sp.Integer(10) ** 27 * sp.Rational(f"{10 ** (k * 4.35 / 19):.6f}")
        at = {**values, symbol("T"): compute}
        expected = min(1.0, (crit / float(compute)) ** 0.25)
        assert float(limit.at(at)) == pytest.approx(expected, rel=1e-12)
        seen.add(limit.ruling(at).name)
        assert limit_at(limit, Monomial.of(compute), values) == limit.ruling(at).name
    assert seen == {FULL, DATA}
    for beyond in ("2.31e31", "1e35"):
        at = {**values, symbol("T"): sp.Rational(beyond)}
        with pytest.raises(InfeasibleError, match="latency"):
            limit.ruling(at)


@pytest.mark.parametrize("alpha", [sp.Rational(-1, 10), sp.Rational(1, 5), sp.Rational(2, 5)])
def test_cliffs_with_growth(limit: Limit, largest: Limit, alpha: sp.Rational) -> None:
    values = standard("a100-sxm", alpha)
    crit, wall = crit_and_wall(largest, values)
    found = cliffs_of(limit, values)
    expected = [(FULL, DATA), (DATA, END)] if crit < wall else [(FULL, END)]
    assert [c.between for c in found] == expected
    assert float(found[-1].compute.evaluate(values)) == pytest.approx(wall)


LATENCY_FACTORS = ("10", "30", "40", "1e5")


@pytest.mark.parametrize("factor", LATENCY_FACTORS)
def test_a_wall_before_the_first_cliff(limit: Limit, largest: Limit, factor: str) -> None:
    """With a large latency utilization is full until no run fits."""
    values = standard()
    values[symbol("tau")] *= sp.Rational(factor)
    crit, wall = crit_and_wall(largest, values)
    found = cliffs_of(limit, values)
    assert float(found[-1].compute.evaluate(values)) == pytest.approx(wall)
    if wall < crit:
        assert [c.between for c in found] == [(FULL, END)]
        assert {"critical batch", "latency"} <= set(found[0].constraints)
    else:
        assert [c.between for c in found] == [(FULL, DATA), (DATA, END)]


def test_the_latencies_above_lie_on_both_sides(largest: Limit) -> None:
    sides = set()
    for factor in LATENCY_FACTORS:
        values = standard()
        values[symbol("tau")] *= sp.Rational(factor)
        crit, wall = crit_and_wall(largest, values)
        sides.add(wall < crit)
    assert sides == {False, True}


def test_cliffs_at_the_same_compute(limit: Limit, largest: Limit) -> None:
    """A tie exactly: where both cliffs fall together, only the end is left."""
    C, W_net, W_mem, tau = symbols("C W_net W_mem tau")
    values = by_symbol(
        {**STUDY, "alpha": 0, "alpha_L": 0, "C": 12, "W_net": 18, "W_mem": 2, "tau": 1}
    )
    tie = (largest.piece(WALL).bound / largest.piece(DATA).bound).expr
    # 3/8/tau**2 over 27 W_mem**2 W_net**4/(128 C**4): equal at tau = 4 C**2/(3 W_mem W_net**2).
    values[tau] = 4 * values[C] ** 2 / (3 * values[W_mem] * values[W_net] ** 2)
    assert tie.subs(list(values.items())) == 1
    (end,) = cliffs_of(limit, values)
    assert end.between == (FULL, END)


# Where the formulas do not hold


@pytest.mark.parametrize("alpha", [sp.Rational(1, 2), sp.Rational(3, 5)])
def test_no_cliffs_outside_the_domain(limit: Limit, alpha: sp.Rational) -> None:
    """From alpha = 1/2 on latency bounds small runs, not large ones."""
    with pytest.raises(RegionError, match="alpha"):
        cliffs_of(limit, standard(alpha=alpha))


def test_no_cliffs_where_no_run_fits() -> None:
    """At alpha = 1/2 latency does not depend on the compute: all runs fit, or none."""
    half = {symbol("alpha"): sp.Rational(1, 2), symbol("alpha_L"): sp.Integer(0)}
    limit = solve(cliffs_program().substitute(half))
    values = standard(alpha=half[symbol("alpha")])
    for tau, fits in (("9e-6", True), ("9e6", False)):
        values[symbol("tau")] = sp.Rational(tau)
        for compute in (1e20, 1e30):
            assert as_run(values).fits_latency(compute) is fits
        if fits:
            assert cliffs_of(limit, values) == ()
        else:
            with pytest.raises(InfeasibleError, match="no run fits"):
                cliffs_of(limit, values)


# By numbers


@dataclass(frozen=True)
class Run:
    """A training run of the study with numbers for everything; T in FLOP."""

    C: float
    W_net: float
    W_mem: float
    tau: float
    t_d: float
    b_0: float
    L_0: float
    T_0: float
    E: float
    alpha: float
    depth_growth: float

    def batch(self, compute: float) -> float:
        """The largest useful batch."""
        return self.b_0 * (compute / self.T_0) ** (self.alpha + self.depth_growth)

    def depth(self, compute: float) -> float:
        return self.L_0 * (compute / self.T_0) ** self.depth_growth

    def parameters(self, compute: float) -> float:
        """T = 6 (P/E) 20 P."""
        return math.sqrt(compute * self.E / 120)

    def fits_latency(self, compute: float) -> bool:
        steps = 20 * self.parameters(compute) / self.batch(compute)
        return steps * 4 * self.depth(compute) * self.tau <= self.t_d

    def most_devices(self, compute: float, rate: float) -> float:
        """How many devices can be kept at work at an achieved rate (FLOP/s)."""
        a, n = 4 / 3 * (rate / 2) / self.W_net, rate / 2 / self.W_mem
        area = self.parameters(compute) / (2 * self.depth(compute) * self.E)
        tensor = area / a**2
        data_and_pipeline = self.batch(compute) / (2 * n * self.E)
        return tensor * data_and_pipeline * self.E

    def utilization(self, compute: float) -> float:
        """At the least number of devices that finishes in time.

        More devices work at a lower rate each, and so many more can be kept at
        work: the third power of what is lost in rate.
        """
        least = compute / (self.C * self.t_d)

        def spare(log_devices: float) -> float:
            devices = math.exp(log_devices)
            return math.log(self.most_devices(compute, compute / (devices * self.t_d)) / devices)

        start = math.log(least)
        if spare(start) >= 0:
            return 1.0
        root = brentq(spare, start, start + 200, xtol=1e-13, rtol=1e-13)
        return compute / (math.exp(root) * self.C * self.t_d)


def random_values(numbers: random.Random) -> Values:
    decades = {
        "C": (13, 17), "W_net": (9, 13), "W_mem": (10, 14), "tau": (-8, -2), "t_d": (6, 8),
        "b_0": (5, 8), "L_0": (0, 3), "T_0": (20, 25), "E": (0, 2), "T": (22, 32),
    }  # fmt: skip
    drawn = {
        name: sp.Rational(f"{numbers.randrange(100, 1000)}e{numbers.randrange(*ends) - 2}")
        for name, ends in decades.items()
    }
    growth = {
        "alpha": sp.Rational(numbers.randrange(-30, 38), 100),
        "alpha_L": sp.Rational(numbers.randrange(-20, 40), 100),
    }
    return by_symbol({**drawn, **growth, "r_D": 20, "r_ff": 4})


def as_run(values: Values) -> Run:
    names = "C W_net W_mem tau t_d b_0 L_0 T_0 E alpha alpha_L"
    return Run(*(float(values[s]) for s in symbols(names)))


def test_utilization_is_what_a_search_finds(limit: Limit) -> None:
    numbers = random.Random(1137)
    counts = {FULL: 0, DATA: 0, END: 0}
    for _ in range(150):
        values = random_values(numbers)
        compute, run = float(values[symbol("T")]), as_run(values)
        if not run.fits_latency(compute):
            counts[END] += 1
            with pytest.raises(InfeasibleError):
                limit.ruling(values)
            continue
        counts[limit.ruling(values).name] += 1
        assert float(limit.at(values)) == pytest.approx(run.utilization(compute), rel=1e-8)
    assert min(counts.values()) >= 20


def test_cliffs_are_where_a_search_finds_them(limit: Limit) -> None:
    """Just below and just above each cliff of random hardware."""
    numbers = random.Random(7)
    seen = {DATA: 0, END: 0}
    for _ in range(40):
        values = random_values(numbers)
        del values[symbol("T")]
        run = as_run(values)
        for cliff in cliffs_of(limit, values):
            compute = float(cliff.compute.evaluate(values))
            below, above = compute * (1 - 1e-6), compute * (1 + 1e-6)
            seen[cliff.between[1]] += 1
            assert run.fits_latency(below)
            if cliff.between[1] == END:
                assert not run.fits_latency(above)
                assert (run.utilization(below) == 1) is (cliff.between[0] == FULL)
            else:
                assert run.fits_latency(above)
                assert run.utilization(below) == 1 > run.utilization(above)
    assert seen[END] == 40
    assert 10 <= seen[DATA] < 40
