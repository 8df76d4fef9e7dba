"""The derivations of known answers, each against another route.

Formulas of the derivations are read from their JSON; what they should give comes from
the formulas of the literature in its own letters, brute force, roots and searches.
"""

import csv
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize_scalar

from commands import answer
from json_formulas import evaluated
from places import DATA

BOOK = DATA / "known-closed-forms.csv"


def book(name: str) -> float:
    """A value of the scaling book, recomputed from its inputs."""
    lines = [x for x in BOOK.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    (row,) = [r for r in csv.DictReader(lines) if r["id"] == name]
    return float(row["value_recomputed"])


@cache
def data_of(name: str) -> Any:
    return json.loads(answer("derive", name, "--format", "json"))


def step(name: str, key: str) -> Any:
    (found,) = [s for s in data_of(name)["steps"] if s["key"] == key]
    return found


def right(name: str, key: str, values: Mapping[str, float]) -> float:
    """The right side of a step at numbers."""
    text = step(name, key)["sympy"]
    if text.startswith("Eq("):
        text = text.removeprefix("Eq(").removesuffix(")").split(", ", 1)[1]
    else:
        text = text.replace(">=", "<=").split(" <= ")[1]
    return at(text, values)


def at(text: str, values: Mapping[str, float]) -> float:
    return float(evaluated(text, {k: Decimal(repr(v)) for k, v in values.items()}))


def holds(text: str, values: Mapping[str, float]) -> bool:
    left, sign, other = text.replace(">=", "<=").partition("<=")
    assert sign
    low, high = at(left.strip(), values), at(other.strip(), values)
    return low >= high if ">=" in text else low <= high


def least_of(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The minimum of a function by a search in the logarithm: point and value."""
    found = minimize_scalar(
        lambda u: f(math.exp(u)), bounds=(math.log(low), math.log(high)), method="bounded",
        options={"xatol": 1e-13},
    )
    return math.exp(found.x), float(found.fun)


V5P = {"C": 4.59e14, "W_axis": 9e10}


# Compute-bound


class Mesh:
    """The scaling book's times of a layer's forward pass, in its letters, words of 2 bytes."""

    def __init__(self, rng: Random) -> None:
        self.B, self.D, self.F, self.N = (2.0 ** rng.uniform(9, 18) for _ in range(4))
        self.C, self.W = 10 ** rng.uniform(14, 16), 10 ** rng.uniform(9, 12)
        self.M_X, self.M_Y = (float(rng.choice([1, 2, 3])) for _ in range(2))
        self.A = self.C / self.W

    @property
    def ours(self) -> dict[str, float]:
        return {
            "b": self.B, "d_model": self.D, "d_ff": self.F, "N": self.N, "C": self.C, "L": 1.0,
            "W_axis": self.W / 2, "M_DP": self.M_X, "M_TP": self.M_Y,
        }

    @property
    def math(self) -> float:
        return 4 * self.B * self.D * self.F / (self.N * self.C)

    def fsdp(self, x: float) -> float:
        return 4 * self.D * self.F * x / (self.N * self.W * self.M_X)

    def tensor(self, x: float) -> float:
        return 4 * self.B * self.D / (x * self.W * self.M_Y)


@pytest.mark.parametrize("kind", ["data", "sharded, forward", "sharded, backward"])
def test_data_parallelism_is_compute_bound_iff(kind: str) -> None:
    tokens = right("compute-bound", f"{kind}, bound", {**V5P, "N_DP": 1, "M_DP": 1})
    assert tokens == pytest.approx(book("dp_fsdp_bound"), rel=1e-14)
    tokens = right("compute-bound", f"{kind}, bound", {**V5P, "N_DP": 1, "M_DP": 3})
    assert tokens == pytest.approx(book("dp_fsdp_bound_axes"), rel=1e-14)
    rng = Random(3)
    for _ in range(20):
        mesh = Mesh(rng)
        x = 2.0 ** rng.uniform(1, 12)
        least = right("compute-bound", f"{kind}, bound", {**mesh.ours, "N_DP": x})
        assert least / x == pytest.approx(mesh.A / mesh.M_X, rel=1e-12)
        given = step("compute-bound", kind)["sympy"]
        # It suffices; what is really needed is (X - 1)/X of it.
        exact = least * (x - 1) / x
        for batch, hides in ((least, True), (exact * 1.0001, True), (exact * 0.9999, False)):
            values = {**mesh.ours, "N_DP": x, "N_TP": 4.0, "b": batch}
            assert holds(given, values) is hides


def test_tensor_parallelism_is_compute_bound_iff() -> None:
    bound = "tensor, forward, bound"
    assert data_of("compute-bound")["result"]["sympy"] == step("compute-bound", bound)["sympy"]
    degree = right("compute-bound", bound, {**V5P, "M_TP": 1, "d_ff": 30000})
    assert degree == pytest.approx(book("tp_bound"), rel=1e-14)
    rng = Random(4)
    for _ in range(20):
        mesh = Mesh(rng)
        most = right("compute-bound", bound, mesh.ours)
        assert most == pytest.approx(mesh.M_Y * mesh.F / mesh.A, rel=1e-12)
        assert right("compute-bound", "tensor, backward, bound", mesh.ours) > most
        given = step("compute-bound", "tensor, forward")["sympy"]
        for degree, hides in ((most, True), (most + 0.999, True), (most + 1.001, False)):
            assert holds(given, {**mesh.ours, "N_TP": degree, "N_DP": 3.0}) is hides


def test_numbers_of_the_tables() -> None:
    text = answer("derive", "compute-bound")
    assert "2550 token" in text
    assert "850 token" in text
    assert "11.76471" in text
    text = answer("derive", "mixed-parallelism")
    assert f"{book('x_opt'):.5f}" in text
    assert f"{book('mixed_bound'):.4f} token" in text
    assert f"{book('mixed_bound') / 4:.5f} token" in text


# Mixed parallelism

MIXED = "mixed-parallelism"


def test_the_best_degrees() -> None:
    """Against a search over X in the book's letters."""
    rng = Random(5)
    for _ in range(20):
        mesh = Mesh(rng)
        x, comms = least_of(lambda x, m=mesh: m.fsdp(x) + m.tensor(x), 1e-8, 1e12)  # type: ignore[misc]
        best = right(MIXED, "best N_DP", mesh.ours)
        assert best == pytest.approx(x, rel=1e-6)
        hand = math.sqrt(mesh.B / mesh.F * mesh.M_X / mesh.M_Y * mesh.N)
        assert best == pytest.approx(hand, rel=1e-12)
        assert right(MIXED, "best N_TP", mesh.ours) == pytest.approx(mesh.N / hand, rel=1e-12)
        for time in ("t_DP", "t_TP"):
            assert right(MIXED, f"best {time}", mesh.ours) == pytest.approx(comms / 2, rel=1e-9)
        ratio = right(MIXED, "ratio", mesh.ours)
        assert ratio == pytest.approx(mesh.math / comms, rel=1e-9)
        hand = math.sqrt(mesh.B * mesh.F * mesh.M_X * mesh.M_Y / mesh.N) / (2 * mesh.A)
        assert ratio == pytest.approx(hand, rel=1e-12)


def test_the_least_batches() -> None:
    """Where the book's times at the best X become equal, found as a root."""
    rng = Random(6)
    for _ in range(10):
        mesh = Mesh(rng)
        for combine, key, share in (
            (lambda a, b: a + b, "least batch, added", 4.0),
            (max, "least batch, overlapped", 1.0),
        ):

            def excess(u: float, m: Mesh = mesh, f: Callable[..., float] = combine) -> float:
                m.B = math.exp(u)
                _, comms = least_of(lambda x: f(m.fsdp(x), m.tensor(x)), 1e-12, 1e18)
                return math.log(m.math / comms)

            hand = share * mesh.A**2 / (mesh.M_X * mesh.M_Y * mesh.F) * mesh.N
            found = right(MIXED, key, mesh.ours)
            assert found == pytest.approx(hand, rel=1e-12)
            root = brentq(excess, math.log(hand) - 3, math.log(hand) + 3, xtol=1e-12)
            assert found == pytest.approx(math.exp(root), rel=1e-6)
    at_v5p = {**V5P, "d_ff": 32768.0, "M_DP": 2.0, "M_TP": 1.0, "N": 1.0}
    found = right(MIXED, "least batch, added", at_v5p)
    assert found == pytest.approx(book("mixed_bound"), rel=1e-14)
    assert right(MIXED, "least batch, overlapped, attained", at_v5p) == pytest.approx(found / 4)


def test_where_the_best_degree_is_within_its_bounds() -> None:
    conditions = step(MIXED, "best N_DP")["conditions"]
    rng = Random(7)
    seen = set()
    for _ in range(200):
        mesh = Mesh(rng)
        mesh.N = 2.0 ** rng.uniform(0, 8)
        best = math.sqrt(mesh.B / mesh.F * mesh.M_X / mesh.M_Y * mesh.N)
        within = all(holds(c, mesh.ours) for c in conditions)
        assert within is (1 <= best <= mesh.N)
        seen.add(within)
    assert seen == {True, False}


def test_by_how_much_the_least_batch_is_overstated() -> None:
    """With every N - 1 kept, at degrees of 2 and more, a quarter of it never suffices."""
    rng = Random(8)
    tried = 0
    while tried < 30:
        mesh = Mesh(rng)
        mesh.B = right(MIXED, "least batch, added", mesh.ours)
        x = right(MIXED, "best N_DP", mesh.ours)
        if not 2 <= x <= mesh.N / 2:
            continue
        tried += 1

        def hides(batch: float, degree: float, m: Mesh = mesh) -> bool:
            gather = 4 * m.D * m.F * (degree - 1) / (m.N * m.W * m.M_X)
            reduce = 4 * batch * m.D * (m.N / degree - 1) / (m.N * m.W * m.M_Y)
            return gather + reduce <= 4 * batch * m.D * m.F / (m.N * m.C)

        assert hides(mesh.B * (1 + 1e-12), x)
        for degree in np.geomspace(2, mesh.N / 2, 200):
            assert not hides(mesh.B / 4 * (1 - 1e-9), float(degree))


# Pipelines

PIPELINE = "pipeline-microbatches"


def slots(p: int, m: int, slot: float) -> float:
    """The time of a forward pass of m microbatches through p stages, played through."""
    free = [0.0] * p
    for _ in range(m):
        ready = 0.0
        for stage in range(p):
            free[stage] = ready = max(free[stage], ready) + slot
    return free[-1]


def test_the_time_of_a_pipeline_is_that_of_its_schedule() -> None:
    """Each stage computes a microbatch after the one before it, and after the stage before."""
    for p, m, t_o, t_math in ((1, 1, 0.5, 3.0), (4, 6, 0.1, 2.0), (8, 3, 0.01, 1.0), (5, 40, 1, 1)):
        played = slots(p, m, t_o + t_math / m)
        values = {"N_PP": p, "m": m, "t_o": t_o, "t_math": t_math}
        assert right(PIPELINE, "pass", values) == pytest.approx(played, rel=1e-12)
        assert right(PIPELINE, "terms", values) == pytest.approx(played, rel=1e-12)


def test_the_best_number_of_microbatches() -> None:
    rng = Random(9)
    for _ in range(20):
        p, t_o, t_math = rng.randint(2, 64), 10 ** rng.uniform(-6, -2), 10 ** rng.uniform(-2, 2)
        values = {"N_PP": p, "t_o": t_o, "t_math": t_math}

        def time(m: float, p: int = p, o: float = t_o, c: float = t_math) -> float:
            return (1 + (p - 1) / m) * (m * o + c)

        m, lowest = least_of(time, 1e-3, 1e9)
        best = right(PIPELINE, "best m", values)
        assert best == pytest.approx(m, rel=1e-6)
        assert best == pytest.approx(math.sqrt((p - 1) * t_math / t_o), rel=1e-12)
        assert right(PIPELINE, "value", values) == pytest.approx(lowest, rel=1e-12)
        assert right(PIPELINE, "least time", values) == pytest.approx(lowest, rel=1e-12)
        (condition,) = step(PIPELINE, "best m")["conditions"]
        assert holds(condition, values) is (best >= 1)
        # Whole numbers: one of the two beside the root.
        whole = min(range(1, int(3 * best) + 3), key=time)
        assert whole in (max(math.floor(best), 1), math.ceil(best))
        # The second derivative in ln m, by differences.
        h = 1e-3
        bend = (time(best * math.exp(h)) - 2 * time(best) + time(best * math.exp(-h))) / h**2
        shown = 2 * math.sqrt((p - 1) * t_o * t_math)
        assert bend == pytest.approx(shown, rel=1e-3)
        assert bend > 0


def test_the_curvature_is_shown() -> None:
    text = " ".join(answer("derive", PIPELINE).split())
    assert "second derivative there is 2 sqrt(t_math) sqrt(t_o) sqrt(N_PP - 1) > 0" in text
    assert "is convex in ln m" in text


# The largest tensor split


def test_the_best_tensor_split_by_trying_all() -> None:
    """N_TP_model d_ff = N_TP_ff d_model, against every split of a power of two."""
    (equality,) = step("tensor-shard", "best split")["equal_where"]
    left, other = equality.removeprefix("Eq(").removesuffix(")").split(", ")
    d_model, d_ff, degree = 4096.0, 16384.0, 2**10
    splits = [(2.0**k, 2.0 ** (10 - k)) for k in range(11)]
    best = min(splits, key=lambda s: s[0] * d_ff + s[1] * d_model)
    assert best[0] * d_ff == best[1] * d_model
    for split_model, split_ff in splits:
        values = {
            "d_model": d_model, "d_ff": d_ff, "N_TP_model": split_model, "N_TP_ff": split_ff,
            "b": 3.0, "L": 5.0,
        }
        assert (at(left, values) == at(other, values)) is ((split_model, split_ff) == best)
    assert best[0] * best[1] == degree


# Compute-optimal

CHINCHILLA = {"A_P": 406.4, "A_D": 410.7, "gamma_P": 0.34, "gamma_D": 0.28}


def root_of_the_slope(v: Mapping[str, float]) -> float:
    """The best P from the sign change of the derivative by ln P."""

    def slope(u: float) -> float:
        one = math.log(v["A_P"] * v["gamma_P"]) - v["gamma_P"] * u
        other = math.log(v["A_D"] * v["gamma_D"]) - v["gamma_D"] * (math.log(v["T"] / 6) - u)
        return other - one

    return math.exp(brentq(slope, -600, 600, xtol=1e-14, rtol=1e-15))


@pytest.mark.parametrize("compute", [1e18, 5.76e23, 5.88e23, 1e28])
def test_the_published_fit(compute: float) -> None:
    values = {**CHINCHILLA, "T": compute}
    best = root_of_the_slope(values)
    assert right("compute-optimal", "best P", values) == pytest.approx(best, rel=1e-9)
    tokens = right("compute-optimal", "best D", values)
    assert tokens == pytest.approx(compute / 6 / best, rel=1e-9)
    loss = 406.4 / best**0.34 + 410.7 / (compute / 6 / best) ** 0.28
    assert right("compute-optimal", "least loss", values) == pytest.approx(loss, rel=1e-9)
    hand = (0.34 * 406.4 / (0.28 * 410.7)) ** (1 / 0.62) * (compute / 6) ** (0.28 / 0.62)
    assert right("compute-optimal", "best P", values) == pytest.approx(hand, rel=1e-12)


def test_any_exponents() -> None:
    rng = Random(10)
    for _ in range(20):
        values = {
            "A_P": 10 ** rng.uniform(-2, 4), "A_D": 10 ** rng.uniform(-2, 4),
            "gamma_P": rng.uniform(0.05, 2), "gamma_D": rng.uniform(0.05, 2),
            "T": 10 ** rng.uniform(15, 30),
        }
        best = right("compute-optimal", "best P", values)
        assert best == pytest.approx(root_of_the_slope(values), rel=1e-9)

        def loss(p: float, v: Mapping[str, float] = values) -> float:
            tokens = v["T"] / 6 / p
            return v["A_P"] / p ** v["gamma_P"] + v["A_D"] / tokens ** v["gamma_D"]

        lowest = right("compute-optimal", "least loss", values)
        assert lowest == pytest.approx(loss(best), rel=1e-9)
        assert all(loss(best * f) > lowest * (1 + 1e-7) for f in (0.5, 0.9, 1.1, 2))


# Checkpoints


def exact_loss(interval: float, save: float, fail: float) -> float:
    """Expected time over useful time, less 1, for failures at a constant rate (Daly 2006)."""
    return fail / interval * math.expm1((interval + save) / fail) - 1


def test_the_best_interval() -> None:
    rng = Random(11)
    for _ in range(20):
        save, fail = 10 ** rng.uniform(0, 3), 10 ** rng.uniform(3, 7)
        values = {"t_save": save, "t_fail": fail}
        found, lowest = least_of(lambda x, s=save, f=fail: s / x + x / (2 * f), 1e-6, 1e12)  # type: ignore[misc]
        best = right("checkpoint-interval", "best interval", values)
        assert best == pytest.approx(found, rel=1e-6)
        assert best == pytest.approx(math.sqrt(2 * save * fail), rel=1e-14)
        loss = right("checkpoint-interval", "least loss", values)
        assert loss == pytest.approx(lowest, rel=1e-12)
        for factor in (2, 0.5):
            again = right("checkpoint-interval", "loss", {**values, "t_ckpt": best * factor})
            assert again == pytest.approx(1.25 * loss, rel=1e-12)


def test_the_first_order_of_the_interval() -> None:
    """What is said about the exact loss, from t_fail = 8 t_save on, at 200 ratios."""
    text = " ".join(answer("derive", "checkpoint-interval").split())
    assert "at most 2 % more than the best there is, where t_fail is at least 8 t_save" in text
    for ratio in np.geomspace(8, 1e6, 200):
        values = {"t_save": 1.0, "t_fail": float(ratio)}
        _, least = least_of(lambda x, r=ratio: exact_loss(x, 1.0, r), 1e-3, 10 * ratio)  # type: ignore[misc]
        interval = right("checkpoint-interval", "best interval", values)
        said = right("checkpoint-interval", "least loss", values)
        loss = exact_loss(interval, 1.0, float(ratio))
        assert loss <= 1.02 * least
        assert said < least
        assert loss < said * (1 + said)


def test_the_exact_loss_is_that_of_random_failures() -> None:
    """Runs with exponentially distributed failures, played through."""
    rng = np.random.default_rng(12)
    interval, save, fail = 10.0, 1.0, 30.0
    segments, elapsed = 20_000, 0.0
    for _ in range(segments):
        while (failure := rng.exponential(fail)) < interval + save:
            elapsed += failure
        elapsed += interval + save
    played = elapsed / (segments * interval) - 1
    assert played == pytest.approx(exact_loss(interval, save, fail), rel=0.05)


# Kinds of answers

KINDS = "kinds-of-answers"
UNKNOWNS = ("T", "N", "b")


def rows_of(values: Mapping[str, float], names: tuple[str, ...]) -> tuple[Any, Any]:
    """The constraints in logarithms, written by hand: A x <= h."""
    v = {k: math.log(x) for k, x in values.items()}
    table = {
        "arithmetic": ([1, -1, 0], v["C"] + v["t_d"]),
        "tokens": ([0, 1, -1], -v["n"]),
        "critical batch": ([0, 0, 1], v["b_0"]),
        "budget": ([0, 1, 0], v["N_0"]),
        "energy": ([1, 0, 0], v["J_0"] - v["e_op"]),
        "demand": ([-1, 0, 0], -v.get("T_min", 0)),
    }
    return [table[n][0] for n in names], [table[n][1] for n in names]


NUMBERS = {"C": 1e15, "t_d": 8e6, "n": 600.0, "b_0": 3e6, "e_op": 1e-12}
FREE = [(None, None)] * 3
ALL = ("arithmetic", "tokens", "critical batch", "budget", "energy")


@pytest.mark.parametrize(
    ("N_0", "energy", "rules"),
    [(4e3, 1e14, "devices"), (2e4, 1e14, "batch"), (2e4, 1e13, "power")],
)
def test_three_regimes(N_0: float, energy: float, rules: str) -> None:
    values = {**NUMBERS, "N_0": N_0, "J_0": energy}
    matrix, bounds = rows_of(values, ALL)
    found = linprog([-1, 0, 0], A_ub=matrix, b_ub=bounds, bounds=FREE)
    assert found.status == 0
    pieces = {p["name"]: p for p in data_of(KINDS)["pieces"]}
    assert set(pieces) == {"batch", "devices", "power"}
    for name, piece in pieces.items():
        assert all(holds(c["sympy"], values) for c in piece["region"]) is (name == rules)
    assert math.log(at(pieces[rules]["sympy"], values)) == pytest.approx(-found.fun, rel=1e-12)


def test_the_degenerate_vertex() -> None:
    """Four constraints meet in three unknowns; the multipliers of both regimes are optimal."""
    values = {**NUMBERS, "J_0": 1e14}
    values["N_0"] = right(KINDS, "batch meets devices", values)
    assert values["N_0"] == pytest.approx(5000, rel=1e-14)
    matrix, bounds = rows_of(values, ALL)
    found = linprog([-1, 0, 0], A_ub=matrix, b_ub=bounds, bounds=FREE)
    tight = [n for n, slack in zip(ALL, found.slack, strict=True) if abs(slack) < 1e-9]
    assert tight == ["arithmetic", "tokens", "critical batch", "budget"]
    for regime in ("batch", "devices"):
        powers = {k: float(w) for k, w in step(KINDS, regime)["premises"].items()}
        dual = np.array([powers.get(n, 0.0) for n in ALL])
        assert dual @ np.array(matrix) == pytest.approx([1, 0, 0])
        assert dual @ np.array(bounds) == pytest.approx(-found.fun, rel=1e-12)
    values["b_0"] = right(KINDS, "batch meets power", values)
    assert values["b_0"] * values["C"] * values["t_d"] / values["n"] == pytest.approx(
        values["J_0"] / values["e_op"], rel=1e-12
    )


def test_no_finite_optimum() -> None:
    values = {**NUMBERS, "N_0": 1.0, "J_0": 1.0}
    matrix, bounds = rows_of(values, ("arithmetic", "tokens"))
    found = linprog([-1, 0, 0], A_ub=matrix, b_ub=bounds, bounds=FREE)
    assert found.status in (3, 4)  # unbounded
    for devices in (1.0, 1e30):
        largest = right(KINDS, "any number of devices", {**values, "N": devices})
        assert largest == pytest.approx(8e21 * devices, rel=1e-12)
    text = " ".join(answer("derive", KINDS).split())
    assert "the objective T has no bound: it grows for ever" in text


def test_nothing_feasible() -> None:
    """The three relations together say exactly when there is a point."""
    keys = ("feasible: energy", "feasible: budget", "feasible: tokens and critical batch")
    rng = Random(13)
    seen = set()
    for _ in range(60):
        values = {
            **NUMBERS, "N_0": 10 ** rng.uniform(3, 4.5), "J_0": 10 ** rng.uniform(13, 14),
            "T_min": 10 ** rng.uniform(24.5, 26),
        }
        matrix, bounds = rows_of(values, (*ALL, "demand"))
        found = linprog([0, 1, 0], A_ub=matrix, b_ub=bounds, bounds=FREE)
        feasible = all(holds(step(KINDS, key)["sympy"], values) for key in keys)
        assert feasible is (found.status == 0)
        seen.add(feasible)
    assert seen == {True, False}
    assert "infeasible: energy and demand" in " ".join(answer("derive", KINDS).split())
