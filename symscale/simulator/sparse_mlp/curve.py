"""Scaling curves: the smallest cluster that finishes a run in time, model by model.

Example:
    >>> from symscale.facts.machines.lumped import load_machine
    >>> from symscale.simulator.sparse_mlp.shapes import make_shape
    >>> point = next(curve(load_machine("h100-sxm"), [make_shape(12288)]))
    >>> point.plan.problem.devices, point.plan.degrees["N_PP"], f"{point.utilization:.4f}"
    (2048, (1, 64), '0.6990')
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.device import STREAMS
from symscale.simulator.sparse_mlp.evaluate import by_tier, compiled_streams, evaluate
from symscale.simulator.sparse_mlp.parameters import device_values, is_distributed
from symscale.simulator.sparse_mlp.search import Found, search
from symscale.simulator.sparse_mlp.shapes import Shape
from symscale.simulator.sparse_mlp.space import (
    MOST_DEVICES,
    PUBLISHED_SPACE,
    SearchProblem,
    Space,
    divisors,
    tier_sizes,
)
from symscale.simulator.sparse_mlp.step import OVERLAPPED, PARTS, Schedule

QUARTER_S = 0.25 * 3.154e7
"""Seconds that a run may take: a quarter of a year of 3.154e7 s."""

DOUBLINGS = 12
"""Clusters that are tried, each twice the last, before none is thought to finish in time."""

LINEAR_SHARE = 0.8
"""Scaling is linear while utilization is above this share of the sustained rate's."""

_TOGETHER, _LATE = 16, 4
"""Models that are searched at once, and of those that take more than two doublings."""


@dataclass(frozen=True)
class Point:
    """A plan with what it achieves.

    Attributes:
        plan: The plan, with its model and cluster.
        utilization: Utilization of the peak arithmetic rate.
        training_s: Seconds of the run.
        parts: Seconds of each part of a step, and the idle share, as named in
            `symscale.simulator.sparse_mlp.step.PARTS`.
        steps: Steps of the run.
        state_bytes: Bytes of parameters and optimizer, all devices together.
        activation_bytes: Bytes of activations, all devices together.
        streams: Seconds of a step that each stream of the products would take alone.
    """

    plan: Found
    utilization: float
    training_s: float
    parts: dict[str, float]
    steps: float
    state_bytes: float
    activation_bytes: float
    streams: dict[str, float]


def measure(machine: Machine, plans: Sequence[Found]) -> list[Point]:
    """What plans achieve, by the complete model, one by one in their order."""
    points: list[Point | None] = [None] * len(plans)
    for schedule in dict.fromkeys(p.schedule for p in plans):
        places = [k for k, p in enumerate(plans) if p.schedule == schedule]
        each = [
            {
                **plans[k].problem.shape.values(), "m": float(plans[k].microbatches),
                "v": float(plans[k].interleaving), **by_tier(plans[k].degrees),
            }
            for k in places
        ]  # fmt: skip
        columns = {n: np.array([values[n] for values in each]) for n in each[0]}
        answers = evaluate(machine, columns, schedule)
        answers |= compiled_streams(is_distributed(machine))({**device_values(machine), **columns})
        found = {n: np.broadcast_to(c, len(places)).tolist() for n, c in answers.items()}
        for row, k in enumerate(places):
            points[k] = Point(
                plans[k], found["utilization"][row], found["training"][row],
                {name: found[name][row] for name in PARTS}, found["steps"][row],
                found["state"][row], found["activations"][row], {n: found[n][row] for n in STREAMS},
            )
    return [p for p in points if p is not None]


def first_cluster(machine: Machine, shape: Shape, duration_s: float) -> int:
    """The smallest cluster E 2^k that finishes in time at the sustained rate."""
    needed = shape.training_flop / (duration_s * device_values(machine)["C_s"])
    return int(shape.experts * 2 ** max(0, ceil(log2(needed / shape.experts))))


def curve(
    machine: Machine,
    shapes: Sequence[Shape],
    *,
    duration_s: float = QUARTER_S,
    schedule: Schedule = OVERLAPPED,
    progress: Callable[[int], None] | None = None,
    space: Space = PUBLISHED_SPACE,
) -> Iterator[Point]:
    """For each model the best plan on the smallest cluster that finishes in time.

    In the published space clusters are E 2^k, in the wide one any size that the model
    allows. The curve ends before the first model that no cluster finishes.

    Args:
        machine: The machine.
        shapes: The models.
        duration_s: Seconds that a run may take.
        schedule: What overlaps.
        progress: Is told after each search how many models are done.
        space: The plans to look at.

    Yields:
        The points, in the order of the models.

    Raises:
        InputError: If the machine's file lacks a figure that the simulation needs.
    """
    if space != PUBLISHED_SPACE:
        yield from _any_size(machine, shapes, duration_s, schedule, progress, space)
        return
    found: dict[int, Found] = {}
    tries = [0] * len(shapes)
    first = [first_cluster(machine, s, duration_s) for s in shapes]
    for start in range(0, len(shapes), _TOGETHER):
        window = range(start, min(start + _TOGETHER, len(shapes)))
        left = list(window)
        while left:
            asked = left if tries[left[0]] <= 1 else left[:_LATE]
            problems = [SearchProblem(shapes[k], first[k] << tries[k]) for k in asked]
            plans = search(machine, problems, schedule=schedule, deadline_s=duration_s)
            for k, best in zip(asked, plans, strict=True):
                tries[k] += 1
                if best:
                    found[k] = best[0]
            left = [k for k in left if k not in found]
            if progress is not None:
                progress(len(found))
            if left and tries[left[0]] >= DOUBLINGS:
                yield from measure(machine, [found[k] for k in window if k < left[0]])
                return
        yield from measure(machine, [found[k] for k in window])


def cluster_sizes(machine: Machine, shape: Shape, least: int, most: int) -> list[int]:
    """The clusters on which a model has plans at all: products of divisors of its sizes.

    Args:
        machine: The machine, whose tiers must be full.
        shape: The model.
        least: Smallest cluster.
        most: Largest.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> cluster_sizes(load_machine("h100-sxm"), make_shape(12288), 1500, 2500)
        [1512, 1536, 1728, 1792, 2016, 2048, 2304]
    """
    sizes = {1}
    for part in (shape.experts, shape.layers, shape.d_model, shape.d_ff, shape.batch_tokens):
        sizes = {a * d for a in sizes for d in divisors(part) if a * d <= most}
    return sorted(n for n in sizes if n >= least and tier_sizes(machine, n) is not None)


def _any_size(
    machine: Machine, shapes: Sequence[Shape], duration_s: float, schedule: Schedule,
    progress: Callable[[int], None] | None, space: Space,
) -> Iterator[Point]:
    for done, shape in enumerate(shapes):
        needed = shape.training_flop / (duration_s * device_values(machine)["C_s"])
        most = min(MOST_DEVICES, first_cluster(machine, shape, duration_s) << (DOUBLINGS - 1))
        for devices in cluster_sizes(machine, shape, ceil(needed), most):
            problem = SearchProblem(shape, devices)
            plans = search(
                machine, [problem], schedule=schedule, deadline_s=duration_s, space=space
            )[0]
            if plans:
                yield from measure(machine, plans)
                break
        else:
            return
        if progress is not None:
            progress(done + 1)


def end_of_linear_scaling(machine: Machine, points: Sequence[Point]) -> Point | None:
    """The first point at most 0.8 of the sustained over the peak rate; None if there is none."""
    sustained = device_values(machine)["C_s"] / device_values(machine)["C"]
    return next((p for p in points if p.utilization <= LINEAR_SHARE * sustained), None)
