"""The largest training run: against the published formulas and against numerical optima.

The formulas are those of the data-movement study, which counts multiply-adds
(MAC); they are converted to FLOP here. The numerical optima are linear programs
in logarithms, written down from the study's constraints and not from the
program that is under test.
"""

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
import sympy as sp
from scipy.optimize import linprog, minimize_scalar

from proved import assert_proved
from symscale.algebra.certify.theorems import certify
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.times import arithmetic_time, network_time
from symscale.errors import UnitError
from symscale.facts.machines.lumped import load_machine, lump, parameters_of
from symscale.language.symbols import symbol, symbols
from symscale.studies.training.constraints import (
    PARTIAL,
    PEAK,
    below,
    quantity,
    same,
    tensor_traffic,
    training_model,
)
from symscale.studies.training.limits import limits_program

Number = sp.Rational | int | float
DATA, WALL = "data movement", "latency wall"
THREE_MONTHS_S = sp.Rational("365.25") / 4 * 24 * 3600
STUDY = {"r_D": 20, "r_ff": 4, "b_0": 4 * 10**6, "L_0": 100, "T_0": 6 * 10**23, "E": 1}
DEVICES = ("v100-sxm", "a100-sxm", "h100-sxm")


def by_symbol(values: Mapping[str, Number | Fraction]) -> dict[sp.Symbol, sp.Rational]:
    return {symbol(name): sp.Rational(str(value)) for name, value in values.items()}


def hardware(device: str) -> dict[str, Fraction]:
    """C, W_net, W_mem and tau of a node, in words of 16 bit."""
    rows = parameters_of(lump(load_machine(device), "node"), Fraction(2))
    return {row.name: row.value for row in rows if row.value is not None}


def standard(device: str, alpha: str) -> dict[sp.Symbol, sp.Rational]:
    """The assumptions of the published numbers."""
    given = {"alpha": sp.Rational(alpha), "alpha_L": sp.Rational("0.1"), "t_d": THREE_MONTHS_S}
    return by_symbol({**hardware(device), **STUDY, **given})


@pytest.fixture(scope="module")
def limit() -> Limit:
    """The limit with all its parameters."""
    return solve(limits_program())


@pytest.fixture(scope="module")
def plain() -> Limit:
    """The limit at a critical batch and a depth that do not grow."""
    fixed = by_symbol({"alpha": 0, "alpha_L": 0, "r_D": 20, "r_ff": 4})
    return solve(limits_program().substitute(fixed))


# The published formulas


def in_flop(multiply_adds: sp.Expr) -> sp.Expr:
    """Turn a formula for T in MAC, with C' in MAC/s, into FLOP: T doubles, C' is C/2."""
    return 2 * multiply_adds


def test_both_pieces_without_growth(plain: Limit) -> None:
    C, W_net, W_mem, t_d, tau, b_0, L_0 = symbols("C W_net W_mem t_d tau b_0 L_0")
    mac_rate = C / 2
    published = {
        DATA: 27 * W_mem**2 * W_net**4 * b_0**2 * t_d**2 / (81920 * mac_rate**4 * L_0**2),
        WALL: 3 * b_0**2 * t_d**2 / (320 * L_0**2 * tau**2),
    }
    assert {piece.name for piece in plain.pieces} == {DATA, WALL}
    assert len(plain.pieces) == 2
    for name, formula in published.items():
        dense = plain.piece(name).bound.substitute({symbol("E"): sp.Integer(1)})
        assert sp.simplify(dense.expr / in_flop(formula)) == 1
    assert not plain.feasibility


def test_the_pieces_for_any_growth(limit: Limit) -> None:
    """Raised to 1 - 2 alpha, with activation shard and nanobatch as the study has them."""
    C, W_net, W_mem, t_d, tau, b_0, L_0, T_0 = symbols("C W_net W_mem t_d tau b_0 L_0 T_0")
    (alpha,) = symbols("alpha")
    mac_rate = C / 2
    a = sp.Rational(4, 3) * mac_rate / W_net
    n = mac_rate / W_mem
    ratio = b_0 / L_0 * (T_0 / 2) ** -alpha  # T_0 in MAC
    published = {
        DATA: (ratio * mac_rate * t_d / (a**2 * n)) ** 2 / 960,
        WALL: sp.Rational(3, 320) * (ratio * t_d / tau) ** 2,
    }
    assert {piece.name for piece in limit.pieces} == set(published)
    study = {symbol("E"): sp.Integer(1), symbol("r_D"): sp.Integer(20)}
    for name, formula in published.items():
        power = (limit.piece(name).bound ** (1 - 2 * alpha)).substitute(study).expr
        # (T/2)**(1 - 2 alpha) on the side of the formula, T**(1 - 2 alpha) on the other.
        assert sp.simplify(power / (formula * 2 ** (1 - 2 * alpha))) == 1


def test_the_growth_of_depth_does_not_matter(limit: Limit) -> None:
    """Nor does the shape: only the product of the two widths does."""
    for piece in limit.pieces:
        assert not {symbol("alpha_L"), symbol("r_ff")} & piece.bound.free_symbols
    alpha = {symbol("alpha"): sp.Rational(1, 10)}
    others = {symbol("alpha_L"): sp.Rational(-7, 10), symbol("r_ff"): sp.Integer(9)}
    fixed = solve(limits_program().substitute({**alpha, **others}))
    assert len(fixed.pieces) == len(limit.pieces)
    for piece in fixed.pieces:
        assert piece.bound == limit.piece(piece.name).bound.substitute({**alpha})


def test_sparsity_cancels_where_the_batch_grows_with_its_root(limit: Limit, plain: Limit) -> None:
    b_0, E = symbols("b_0 E")
    for solved in (limit, plain):
        bound = solved.piece(DATA).bound
        assert E in bound.free_symbols
        assert E not in bound.substitute({b_0: b_0 * sp.sqrt(E)}).free_symbols
    grown = solve(limits_program().substitute({b_0: b_0 * sp.sqrt(E)}))
    assert E not in grown.piece(DATA).bound.free_symbols
    dense = grown.piece(DATA).bound / limit.piece(DATA).bound.substitute({E: sp.Integer(1)})
    assert dense.is_one


def test_without_a_network_only_latency_limits(limit: Limit) -> None:
    unlimited = solve(limits_program(network=False))
    assert [piece.name for piece in unlimited.pieces] == [WALL]
    assert unlimited.pieces[0].bound == limit.piece(WALL).bound
    assert symbol("W_net") not in unlimited.program.parameters


def test_certificates(limit: Limit, plain: Limit) -> None:
    unlimited = solve(limits_program(network=False))
    for solved in (limit, plain, unlimited):
        assert_proved(solved)
    proofs = certify(limit)
    for device in DEVICES:
        values = standard(device, "0.2")
        proof = proofs[limit.ruling(values).name]
        proof.check()
        assert all(c.holds(values) for c in proof.region)


# The published numbers


@pytest.mark.parametrize(
    ("device", "flop", "grown", "a", "n"),
    [
        ("v100-sxm", 1.3048134837787206e27, "2.19e+29", 26791.1168, 279.0741),
        ("a100-sxm", 2.6218103967469373e28, "3.25e+31", 16633.0368, 401.1183),
        ("h100-sxm", 1.9240657255503606e28, "1.94e+31", 26384.7936, 590.3519),
    ],
)
def test_published_numbers(
    limit: Limit, plain: Limit, device: str, flop: float, grown: str, a: float, n: float
) -> None:
    values, later = standard(device, "0"), standard(device, "0.2")
    for solved in (limit, plain):
        assert float(solved.at(values)) == pytest.approx(flop, rel=1e-9)
        assert solved.ruling(values).name == DATA
        assert f"{float(solved.piece(WALL).at(values)):.3e}" == "2.305e+31"
    assert f"{float(limit.piece(DATA).at(later)):.2e}" == grown
    machine = hardware(device)
    assert float(Fraction(2, 3) * machine["C"] / machine["W_net"]) == pytest.approx(a, abs=5e-5)
    assert float(machine["C"] / 2 / machine["W_mem"]) == pytest.approx(n, abs=5e-5)
    assert machine["tau"] == Fraction(9, 10**6)


# Numerical optima

Row = tuple[Mapping[str, float], float]


def largest(goal: str, equal: Sequence[Row], at_most: Sequence[Row]) -> float:
    """The logarithm of the largest `goal` under products of powers that are (at most) a number."""
    names = sorted({name for powers, _ in [*equal, *at_most] for name in powers})

    def table(rows: Sequence[Row]) -> tuple[list[list[float]], list[float]]:
        return (
            [[powers.get(name, 0.0) for name in names] for powers, _ in rows],
            [math.log(bound) for _, bound in rows],
        )

    left, right = table(at_most)
    exact, values = table(equal)
    cost = [-1.0 if name == goal else 0.0 for name in names]
    found = linprog(cost, left, right, exact, values, bounds=(None, None), method="highs")
    assert found.status == 0, found.message
    return float(-found.fun)


def numerical_optimum(v: Mapping[str, float]) -> float:
    """The logarithm of the largest T (FLOP) under the seven constraints of the study.

    The matrices' sizes enter by their product alone, `area`; tensor parallelism is
    already split at its optimum, and every expert has devices of its own.
    """
    mac_rate = v["C"] / 2
    a, n = 4 / 3 * mac_rate / v["W_net"], mac_rate / v["W_mem"]
    equal: list[Row] = [
        ({"P": 1, "L": -1, "area": -1}, 2 * v["E"]),
        ({"D": 1, "P": -1}, 20),
        ({"T": 1, "P": -1, "D": -1}, 6 / v["E"]),
        ({"N": 1, "N_TP": -1, "N_DP": -1, "N_PP": -1}, v["E"]),
        ({"L": 1, "T": -v["alpha_L"]}, v["L_0"] * v["T_0"] ** -v["alpha_L"]),
    ]
    growth = v["alpha"] + v["alpha_L"]
    at_most: list[Row] = [
        ({"T": 1, "N": -1}, v["C"] * v["t_d"]),
        ({"N_TP": 1, "area": -1}, a**-2),
        ({"N_DP": 1, "N_PP": 1, "b": -1}, 1 / (2 * n * v["E"])),
        ({"b": 1, "T": -growth}, v["b_0"] * v["T_0"] ** -growth),
        ({"D": 1, "b": -1, "L": 1}, v["t_d"] / (4 * v["tau"])),
    ]
    return largest("T", equal, at_most)


def random_values(numbers: random.Random) -> dict[str, Number]:
    """Hardware and assumptions over several decades, each of three digits."""
    decades = {
        "C": (13, 17), "W_net": (9, 13), "W_mem": (10, 14), "tau": (-8, -2), "t_d": (5, 8),
        "b_0": (4, 8), "L_0": (0, 3), "T_0": (20, 25), "E": (0, 2),
    }  # fmt: skip
    values: dict[str, Number] = {
        name: sp.Rational(f"{numbers.randrange(100, 1000)}e{numbers.randrange(*ends) - 2}")
        for name, ends in decades.items()
    }
    return {
        **values,
        "alpha": sp.Rational(numbers.randrange(-30, 38), 100),
        "alpha_L": sp.Rational(numbers.randrange(-40, 60), 100),
        "r_D": 20,
        "r_ff": 4,
    }


def test_the_closed_form_is_the_numerical_optimum(limit: Limit) -> None:
    numbers = random.Random(2411)
    ruled = {DATA: 0, WALL: 0}
    for _ in range(80):
        values = random_values(numbers)
        exact = by_symbol(values)
        piece = limit.ruling(exact)
        ruled[piece.name] += 1
        optimum = numerical_optimum({name: float(value) for name, value in values.items()})
        assert math.log(limit.at(exact)) == pytest.approx(optimum, abs=1e-6)
        assert all(c.holds(exact) for c in piece.region)
    assert min(ruled.values()) >= 15


# From traffic to a monomial


@pytest.mark.parametrize(("d_model", "d_ff", "degree"), [(512, 2048, 16), (3000, 700, 60.5)])
def test_the_best_split_of_tensor_parallelism(d_model: int, d_ff: int, degree: float) -> None:
    """No split of the degree moves fewer words, and the best one moves as many."""
    values = {"d_model": d_model, "d_ff": d_ff, "L": 3, "b": 5000}
    traffic = tensor_traffic(sparse_mlp())

    def words(log_split: float) -> float:
        """Without the -1's: 4 L b (N_TP_model d_ff + N_TP_ff d_model)."""
        split = math.exp(log_split)
        return 4 * 3 * 5000 * (split * d_ff + degree / split * d_model)

    best = minimize_scalar(words, bracket=(-1.0, 1.0), tol=1e-12)
    at = by_symbol({**values, "N_TP": degree})
    bound = float(traffic.best.after.subs(list(at.items())))
    assert bound == pytest.approx(best.fun, rel=1e-9)
    for split in (1.5, 4.0, degree / 2):
        splits = by_symbol({**values, "N_TP_model": split, "N_TP_ff": degree / split})
        substitutions = list(splits.items())
        exact = float(traffic.exact.expr.subs(substitutions))
        without_ones = float(traffic.without_ones.after.subs(substitutions))
        optimal = float(traffic.optimal.after.subs(substitutions))
        shares = float(traffic.shares.after.subs(substitutions))
        assert exact < without_ones == pytest.approx(words(math.log(split)), rel=1e-9)
        assert optimal == pytest.approx(bound, rel=1e-9)
        assert optimal <= without_ones * (1 + 1e-9)
        assert without_ones <= shares * (1 + 1e-9) <= 2 * without_ones * (1 + 1e-8)


def test_the_activation_shard_hides_the_traffic() -> None:
    """Network and arithmetic take the same time where N_TP is the area over a squared."""
    C, W_net, N, N_TP, d_model, d_ff = symbols("C W_net N N_TP d_model d_ff")
    model = sparse_mlp()
    traffic = tensor_traffic(model)
    words = traffic.exact.with_expr(traffic.best.after)
    share = network_time(words, N) / arithmetic_time(model.training_flop, N)
    a = sp.Rational(4, 3) * (C / 2) / W_net
    assert sp.simplify(share.expr**2 - N_TP * a**2 / (d_model * d_ff)) == 0


# Units


def test_constraints_compare_like_with_like() -> None:
    rate = PEAK.achieved
    for relation in (below, same):
        with pytest.raises(UnitError) as caught:
            relation("wrong", quantity("T"), rate, "")
        assert "T is in FLOP" in str(caught.value)
        assert "C in FLOP/s" in str(caught.value)


@pytest.mark.parametrize("full", [False, True])
def test_the_two_studies_share_their_constraints(full: bool) -> None:
    """With U = 1 the partial rate is the peak rate."""
    peak, partial = training_model(PEAK, full, True), training_model(PARTIAL, full, True)
    assert peak.definitions == partial.definitions
    at_one = {symbol("U"): sp.Integer(1)}
    assert [c.ratio for c in peak.constraints] == [
        c.ratio.substitute(at_one) for c in partial.constraints
    ]
    with_rate = {c.name for c in partial.constraints if symbol("U") in c.ratio.free_symbols}
    assert with_rate == {
        c.name for c in peak.constraints if symbol("C") in c.ratio.free_symbols
    }
