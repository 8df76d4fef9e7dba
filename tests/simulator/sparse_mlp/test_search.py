"""The search: against an exhaustive one, against published curves, and against itself."""

import itertools
import math
from dataclasses import replace
from functools import cache
from math import prod
from random import Random

import numpy as np
import pytest

from curves import CURVES
from paper_code import Row, rows
from sampling import sample
from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.errors import InputError
from symscale.facts.machines.lumped import load_machine
from symscale.simulator.sparse_mlp.curve import (
    QUARTER_S,
    Point,
    cluster_sizes,
    curve,
    end_of_linear_scaling,
    first_cluster,
)
from symscale.simulator.sparse_mlp.evaluate import by_tier, evaluate
from symscale.simulator.sparse_mlp.search import Found, search
from symscale.simulator.sparse_mlp.shapes import SPARSE, Rules, Shape, make_shape, published_shapes
from symscale.simulator.sparse_mlp.space import (
    PUBLISHED_SPACE,
    WIDE_SPACE,
    SearchProblem,
    count_plans,
    degrees_of,
    divisors,
    inner_splits,
    tensor_splits,
    tier_sizes,
)
from symscale.simulator.sparse_mlp.step import Schedule

MONTH_S = 0.25 * 3.154e7 / 3
ENDS = {
    "dense-V100-SXM": 2.85e27,
    "dense-A100-SXM": 3.40e28,
    "dense-H100-SXM": 2.05e28,
    "dense-H100-SXM-Global-NVLink": 4.07e29,
    "dense-H100-SXM-Infinite-Network-and-LL": 9.00e31,
    "sparse-V100-SXM": 1.57e27,
    "sparse-H100-SXM": 6.83e28,
    "sparse-H100-SXM-Low-Latency": 6.83e28,
    "batch-No-scaling": 2.85e27,
}
"""The end of linear scaling that the study gives for each curve, FLOP."""

BETTER: dict[tuple[str, int], str] = {}
"""Points at which our utilization is higher than the published one, and why: there are none."""


def utilization(machine_name: str, found: Found) -> float:
    """By hand: 12 L d_model d_ff b over the peak rate of all devices and the time of a step."""
    s = found.problem.shape
    flop = 12 * s.layers * s.d_model * s.d_ff * s.batch_tokens
    rate = float(load_machine(machine_name).flop_rate)
    return flop / (found.problem.devices * rate) / found.step_s


def shape_of(row: Row) -> tuple[int, ...]:
    names = ("d_model", "d_ff", "layers", "sparsity", "batch_tokens")
    return tuple(int(float(row[n])) for n in names)


@cache
def points_of(name: str, as_published: bool) -> list[Point]:
    """Each curve is searched once in a process."""
    machine, rules = CURVES[name]
    schedule = Schedule(as_published=as_published)
    return list(curve(load_machine(machine), published_shapes(rules), schedule=schedule))


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("name", CURVES)
def test_published_curves(name: str, as_published: bool) -> None:
    """Same models, same clusters, same utilization, and no point more or less."""
    machine, _ = CURVES[name]
    wanted = rows(f"curve-{name}.csv")
    points = points_of(name, as_published)
    assert len(points) == len(wanted)
    for point, row in zip(points, wanted, strict=True):
        s = point.plan.problem.shape
        assert (s.d_model, s.d_ff, s.layers, s.experts, s.batch_tokens) == shape_of(row)
        assert math.isclose(s.training_flop, float(row["compute_flop"]), rel_tol=1e-12)
        assert point.plan.problem.devices == int(row["N"])
        ours, theirs = utilization(machine, point.plan), float(row["utilization"])
        assert math.isclose(point.utilization, ours, rel_tol=1e-12)
        assert math.isclose(point.training_s / MONTH_S, float(row["months"]), rel_tol=1e-9)
        if (name, s.d_model) in BETTER:
            assert ours > theirs
        else:
            assert math.isclose(ours, theirs, rel_tol=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_the_end_of_linear_scaling(name: str) -> None:
    machine, _ = CURVES[name]
    end = end_of_linear_scaling(load_machine(machine), points_of(name, False))
    assert end is not None
    assert f"{end.plan.problem.shape.training_flop:.2e}" == f"{ENDS[name]:.2e}"


def test_scaling_that_does_not_end_has_no_end() -> None:
    loaded = load_machine("h100-sxm")
    points = list(curve(loaded, published_shapes()[:3]))
    assert len(points) == 3
    assert end_of_linear_scaling(loaded, points) is None


def every_plan(machine_name: str, problem: SearchProblem) -> list[tuple[float, bool]]:
    """Time and feasibility of every published plan, by loops, one rule of the page at a time."""
    machine, s, devices = load_machine(machine_name), problem.shape, problem.devices
    sizes = [t.size for t in machine.tiers[:-1] if t.size]
    sizes.append(devices // prod(sizes))
    experts = math.gcd(devices, s.experts)
    plans: dict[Schedule, list[dict[str, float]]] = {}
    for stages in (p for p in range(1, s.layers + 1) if s.layers % p == 0):
        for tensor in (t for t in range(1, devices + 1) if devices % t == 0):
            if devices % (experts * tensor * stages):
                continue
            data = devices // (experts * tensor * stages)
            if s.batch_tokens % data or s.batch_tokens // s.experts % data:
                continue
            words = 2 * s.layers * s.d_model * s.d_ff * s.experts * (data + 4)
            if 2 * words > devices * float(machine.memory_capacity_bytes):
                continue
            tokens, root = s.batch_tokens // (s.experts * data), math.isqrt(tensor)
            counts = [m for m in range(1, tokens + 1) if tokens % m == 0]
            choices = [(m, s.layers // stages if stages > 1 else 1, False)
                       for m in [m for m in counts if m >= stages][:4]]  # fmt: skip
            if stages > 1:
                choices += [(m, 1, True) for m in [m for m in counts if m >= 2 * stages][:1]]
            for ff in (f for f in range(root, 4 * root + 1) if tensor % f == 0):
                model = tensor // ff
                if s.d_model % model or s.d_ff % ff:
                    continue
                degrees = dict(zip(DEGREES, (data, model, ff, stages, experts), strict=True))
                for split in splits(degrees, sizes):
                    for m, v, zero in choices:
                        values = {**s.values(), "m": float(m), "v": float(v), **by_tier(split)}
                        plans.setdefault(Schedule(zero_bubble=zero), []).append(values)
    times = []
    for schedule, members in plans.items():
        columns = {n: np.array([v[n] for v in members]) for n in members[0]}
        found = evaluate(machine, columns, schedule)
        times += [(float(t), schedule.zero_bubble) for t in found["t_step"]]
    return sorted(times)


def splits(degrees: dict[str, int], sizes: list[int]) -> list[dict[str, tuple[int, ...]]]:
    """Every way to share degrees out among tiers of the given sizes."""
    ways = {
        name: [w for w in itertools.product(*([d for d in range(1, total + 1) if total % d == 0]
                                              for _ in sizes)) if prod(w) == total]
        for name, total in degrees.items()
    }
    found = []
    for chosen in itertools.product(*ways.values()):
        if all(prod(c[t] for c in chosen) == size for t, size in enumerate(sizes)):
            found.append(dict(zip(ways, chosen, strict=True)))
    return found


SMALL = [
    ("h100-sxm", Shape(1024, 4096, 8, 1, 2**17, 1e9), 64),
    ("h100-sxm", Shape(1024, 4096, 6, 4, 2**16 * 3, 1e9), 32),
    ("v100-sxm", Shape(2048, 8192, 12, 2, 2**16, 1e9), 48),
    ("h100-sxm-global-nvlink", Shape(512, 2048, 8, 3, 2**14 * 3, 1e9), 24),
    ("h100-sxm-superpod", Shape(1024, 4096, 4, 1, 2**16, 1e9), 512),
]


@pytest.mark.parametrize(("machine", "shape", "devices"), SMALL)
def test_an_exhaustive_search_finds_the_same(machine: str, shape: Shape, devices: int) -> None:
    """The best twenty plans, by looping over the rules as the study states them."""
    problem = SearchProblem(shape, devices)
    expected = every_plan(machine, problem)
    assert len(expected) > 30
    found = search(load_machine(machine), [problem], count=20)[0]
    ours = [plan.step_s for plan in found]
    np.testing.assert_allclose(ours, [t for t, _ in expected[:20]], rtol=1e-12)


@pytest.mark.parametrize("seed", sample(3).seeds)
def test_a_drawn_problem_too(seed: int) -> None:
    """Drawn shapes on drawn clusters: the best twenty plans, or as many as there are."""
    rng = Random(seed)
    experts, nodes = rng.choice((1, 1, 2, 3, 4, 6)), rng.choice((1, 2, 3, 4, 6, 8))
    machine = rng.choice(("h100-sxm", "v100-sxm", "h100-sxm-global-nvlink"))
    d_model = 256 * rng.choice((1, 2, 3, 4, 6))
    batch = experts * 2 ** rng.randint(8, 14) * rng.choice((1, 3))
    shape = Shape(d_model, 4 * d_model, rng.choice((2, 4, 6, 8, 12)), experts, batch, 1e9)
    problem = SearchProblem(shape, 8 * nodes)
    expected = [seconds for seconds, _ in every_plan(machine, problem)][:20]
    (found,) = search(load_machine(machine), [problem], count=20)
    assert len(found) == len(expected)
    np.testing.assert_allclose([plan.step_s for plan in found], expected, rtol=1e-12)


@pytest.mark.parametrize(("machine", "shape", "devices"), SMALL)
def test_plans_are_counted(machine: str, shape: Shape, devices: int) -> None:
    """Memory, which the count leaves out, rules out none of these."""
    expected = every_plan(machine, SearchProblem(shape, devices))
    assert count_plans(load_machine(machine), SearchProblem(shape, devices)) == len(expected)


@pytest.mark.parametrize(("machine", "shape", "devices"), SMALL)
def test_a_found_plan_is_what_it_says(machine: str, shape: Shape, devices: int) -> None:
    """Evaluated alone it takes the same time; its degrees multiply to the cluster."""
    loaded = load_machine(machine)
    for found in search(loaded, [SearchProblem(shape, devices)], count=5)[0]:
        assert prod(prod(d) for d in found.degrees.values()) == devices
        values = {
            **shape.values(), "m": found.microbatches, "v": found.interleaving,
            **by_tier(found.degrees),
        }  # fmt: skip
        alone = evaluate(loaded, values, found.schedule)
        assert math.isclose(float(alone["t_step"]), found.step_s, rel_tol=1e-13)
        for tier, size in enumerate(tier_sizes(loaded, devices) or ()):
            assert prod(d[tier] for d in found.degrees.values()) == size


def test_many_problems_at_once_are_each_alone() -> None:
    machine = load_machine("h100-sxm")
    problems = [SearchProblem(shape, devices) for _, shape, devices in SMALL if devices != 512]
    together = search(machine, problems, count=3)
    assert together == [search(machine, [p], count=3)[0] for p in problems]


def test_a_deadline_hides_slower_plans_only() -> None:
    machine = load_machine("h100-sxm")
    shape = SMALL[0][1]
    problem = SearchProblem(shape, 64)
    every = search(machine, [problem], count=10)[0]
    steps = shape.run_tokens / shape.batch_tokens
    deadline = every[3].step_s * steps * (1 + 1e-9)
    within = search(machine, [problem], count=10, deadline_s=deadline)[0]
    assert within == [p for p in every if p.step_s * steps <= deadline]


def test_too_little_memory_leaves_no_plan() -> None:
    """2.3e11 parameters need 5 words of 2 byte each: 2.3 TB, more than 16 devices have."""
    found = search(load_machine("h100-sxm"), [SearchProblem(make_shape(12288), 16)])
    assert found == [[]]


def test_a_cluster_that_no_node_divides_has_no_plan() -> None:
    assert tier_sizes(load_machine("h100-sxm"), 12) is None
    assert search(load_machine("h100-sxm"), [SearchProblem(SMALL[0][1], 12)]) == [[]]


def test_a_cluster_within_a_node() -> None:
    """Four devices are joined by the node's links; nothing crosses the outer tier."""
    problem = SearchProblem(Shape(1024, 4096, 8, 1, 2**17, 1e9), 4)
    found = search(load_machine("h100-sxm"), [problem])[0]
    assert all(d[1] == 1 for d in found[0].degrees.values())


def test_clusters_start_where_the_sustained_rate_needs_them() -> None:
    machine, shape = load_machine("h100-sxm"), make_shape(12288)
    devices = first_cluster(machine, shape, QUARTER_S)
    possible = QUARTER_S * float(machine.sustained_flop_rate)
    assert devices / 2 * possible < shape.training_flop <= devices * possible


def test_no_duration_is_long_enough() -> None:
    """In a second no cluster trains the model: the curve has no points."""
    assert list(curve(load_machine("v100-sxm"), [make_shape(12288)], duration_s=1.0)) == []


@pytest.mark.parametrize("number", [1, 2, 12, 97, 360, 2**10 * 9, 3 * 5 * 7 * 11])
def test_divisors(number: int) -> None:
    assert list(divisors(number)) == [d for d in range(1, number + 1) if number % d == 0]


def test_tensor_splits_keep_near_the_root() -> None:
    for degree in range(1, 300):
        root = math.isqrt(degree)
        expected = [(degree // f, f) for f in range(root, 4 * root + 1) if degree % f == 0]
        assert list(tensor_splits(degree)) == expected


def test_inner_splits_are_all_and_distinct() -> None:
    table = inner_splits((8, 4))
    assert (table.prod(axis=2) == np.array([8, 4])).all()
    assert len({tuple(row.reshape(-1)) for row in table}) == len(table) == 35 * 15


def test_degrees_multiply_to_the_cluster() -> None:
    shape = make_shape(16384, Rules(experts=SPARSE))
    problems = [SearchProblem(shape, 10 * 2**k) for k in (10, 13)]
    degrees = degrees_of(PUBLISHED_SPACE, problems)
    whole = np.array([p.devices for p in problems])[degrees.owner]
    assert (degrees.table.prod(axis=0) == whole).all()


@cache
def divisors_of(number: int) -> list[int]:
    """By trying every number up to the root."""
    low = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})


TIGHT = ("v100-sxm", Shape(4096, 2**14, 64, 1, 8 * 262147, 1e9), 16)
"""Microbatches of 262147 tokens or of few: activations fit only if computed again, or slowly."""


def every_wide_plan(machine_name: str, problem: SearchProblem) -> list[float]:
    """Times of every plan of the wide space that fits with its activations, by loops."""
    machine, s, devices = load_machine(machine_name), problem.shape, problem.devices
    sizes = [t.size for t in machine.tiers[:-1] if t.size]
    sizes.append(devices // prod(sizes))
    room = devices * float(machine.memory_capacity_bytes)
    lengths = (s.batch_tokens // s.experts, s.d_model, s.d_ff, s.layers, s.experts)
    ways = [[d for d in divisors_of(devices) if n % d == 0] for n in lengths]
    plans: dict[Schedule, list[dict[str, float]]] = {}
    for degrees in itertools.product(*ways):
        if prod(degrees) != devices:
            continue
        data, _, _, stages, _ = degrees
        tokens = s.batch_tokens // (s.experts * data)
        named = splits(dict(zip(DEGREES, degrees, strict=True)), sizes)
        for m in divisors_of(tokens):
            blocks = s.layers // stages
            interleaved = [v for v in range(1, blocks + 1) if blocks % v == 0 and stages > 1]
            kinds = [(v, False) for v in interleaved or [1]]
            if 1 < stages <= m / 2:
                kinds.append((1, True))
            for v, zero in kinds:
                for recompute in (False, True):
                    plan = Schedule(zero_bubble=zero, recompute=recompute)
                    plans.setdefault(plan, []).extend(
                        {**s.values(), "m": float(m), "v": float(v), **by_tier(n)} for n in named
                    )
    times: list[float] = []
    for schedule, members in plans.items():
        columns = {n: np.array([v[n] for v in members]) for n in members[0]}
        found = evaluate(machine, columns, schedule)
        memory = np.broadcast_to(found["state"] + found["activations"], len(members))
        times += [float(t) for t, b in zip(found["t_step"], memory, strict=True) if b <= room]
    return sorted(times)


@pytest.mark.parametrize(
    ("machine", "shape", "devices"),
    [
        ("h100-sxm", Shape(512, 1024, 4, 2, 2**8, 1e9), 16),
        ("v100-sxm", Shape(256, 512, 6, 1, 2**6 * 3, 1e9), 24),
        TIGHT,
        ("h100-sxm-global-nvlink", Shape(512, 1024, 4, 3, 3 * 2**10, 1e9), 12),
    ],
)
def test_the_wide_search_finds_the_best_of_all(machine: str, shape: Shape, devices: int) -> None:
    found = search(load_machine(machine), [SearchProblem(shape, devices)], space=WIDE_SPACE)[0]
    expected = every_wide_plan(machine, SearchProblem(shape, devices))
    assert len(expected) > 300
    assert found[0].schedule.recompute is ((machine, shape, devices) == TIGHT)
    assert math.isclose(found[0].step_s, expected[0], rel_tol=1e-12)


LEFT_OUT = replace(WIDE_SPACE, activations=False)
"""The wide space with the memory rule of the published one."""


@pytest.mark.parametrize("name", CURVES)
def test_the_wide_search_never_loses(name: str) -> None:
    """On the same clusters, under the same memory rule, at every sixth published point."""
    machine, _ = CURVES[name]
    points = points_of(name, False)[::6]
    found = search(load_machine(machine), [p.plan.problem for p in points], space=LEFT_OUT)
    for point, (wide,) in zip(points, found, strict=True):
        assert wide.step_s <= point.plan.step_s * (1 + 1e-12)


def test_the_wide_curve_needs_no_larger_clusters() -> None:
    """Where the published plan has room for its activations, the cluster is as large or less."""
    loaded = load_machine("h100-sxm")
    shapes = published_shapes()[4:9]
    pairs = zip(curve(loaded, shapes, space=WIDE_SPACE), curve(loaded, shapes), strict=True)
    for wide, published in pairs:
        room = published.plan.problem.devices * float(loaded.memory_capacity_bytes)
        assert published.state_bytes + published.activation_bytes <= room
        assert wide.plan.problem.devices <= published.plan.problem.devices
        assert wide.training_s <= QUARTER_S


def test_cluster_sizes_are_products_of_degrees() -> None:
    shape = Shape(12, 24, 5, 3, 3 * 2**4, 1e9)
    products = {
        prod(d)
        for d in itertools.product(*(divisors(n) for n in (3, 5, 12, 24, 48)))
        if prod(d) <= 600 and prod(d) >= 9 and prod(d) % 8 == 0
    }
    assert cluster_sizes(load_machine("h100-sxm"), shape, 9, 600) == sorted(products)


def test_a_cluster_that_divides_nothing_has_no_plan() -> None:
    """Neither a large prime, which would take long to factor, nor what 64 bits do not hold."""
    shape = make_shape(12288)
    for devices in (2**61 - 1, 2**64, 8 * 1009):
        assert search(load_machine("h100-sxm"), [SearchProblem(shape, devices)]) == [[]]


def test_sizes_beyond_what_is_exact_are_refused() -> None:
    with pytest.raises(InputError, match="no size that a model can have"):
        make_shape(12288, Rules(batch="1e17"))
    with pytest.raises(InputError, match="more than 2\\^53"):
        make_shape(12288, Rules(experts="8e15", batch="1"))
