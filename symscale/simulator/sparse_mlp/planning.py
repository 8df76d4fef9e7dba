"""The best plans of one model on one cluster, or why there is none."""

from dataclasses import dataclass

import numpy as np

from symscale.errors import InfeasibleError
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.curve import Point, cluster_sizes, measure
from symscale.simulator.sparse_mlp.parameters import WORD_BYTES, device_values
from symscale.simulator.sparse_mlp.search import search
from symscale.simulator.sparse_mlp.shapes import Shape
from symscale.simulator.sparse_mlp.space import (
    PUBLISHED_SPACE,
    SearchProblem,
    Space,
    degrees_of,
    pipeline_counts,
    tier_sizes,
)
from symscale.simulator.sparse_mlp.step import GRADIENT_AND_MOMENTS, OVERLAPPED, Schedule

_MOST_DOUBLINGS = 50


@dataclass(frozen=True)
class TimeComponent:
    """A component of the time of a step.

    Attributes:
        name: What it is.
        seconds: Its time in a step.
        hidden: Whether it hides behind the longest of those that overlap.
        binds: Whether it is that longest one.
    """

    name: str
    seconds: float
    hidden: bool
    binds: bool


def best_plans(
    machine: Machine,
    shape: Shape,
    devices: int,
    *,
    count: int = 1,
    schedule: Schedule = OVERLAPPED,
    duration_s: float | None = None,
    space: Space = PUBLISHED_SPACE,
) -> list[Point]:
    """The best plans of a space, the best first.

    Args:
        machine: The machine.
        shape: The model.
        devices: Devices of the cluster.
        count: How many plans.
        schedule: What overlaps.
        duration_s: Seconds that the run may take, or None.
        space: The plans to look at.

    Raises:
        InfeasibleError: If no plan fits: which constraint fails, and the smallest cluster
            that would do.
        InputError: If the machine's file lacks a figure that the simulation needs.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> best = best_plans(load_machine("h100-sxm"), make_shape(12288), 2048)[0]
        >>> best.plan.microbatches, binding(best)
        (128, 'matrix products')
    """
    problem = SearchProblem(shape, devices)
    plans = search(
        machine, [problem], schedule=schedule, count=count, deadline_s=duration_s, space=space
    )[0]
    if plans:
        return measure(machine, plans)
    reason = _reason(machine, problem, schedule, duration_s, space)
    smallest = smallest_cluster(machine, shape, schedule, duration_s, space)
    remedy = (
        "no cluster would do"
        if smallest is None
        else f"the smallest cluster that would do has {smallest} devices"
    )
    raise InfeasibleError(f"no plan for {devices} devices: {reason}; {remedy}")


def smallest_cluster(
    machine: Machine,
    shape: Shape,
    schedule: Schedule,
    duration_s: float | None,
    space: Space = PUBLISHED_SPACE,
) -> int | None:
    """The smallest cluster for which there is a plan, or None if there is none.

    Of clusters E 2^k in the published space, of any in a wider one.
    """
    sizes = [shape.experts << power for power in range(_MOST_DOUBLINGS)]
    if space != PUBLISHED_SPACE:
        sizes = cluster_sizes(machine, shape, 1, sizes[-1])
    for devices in sizes:
        problem = SearchProblem(shape, devices)
        if search(machine, [problem], schedule=schedule, deadline_s=duration_s, space=space)[0]:
            return problem.devices
    return None


def _reason(
    machine: Machine, problem: SearchProblem, schedule: Schedule, duration_s: float | None,
    space: Space,
) -> str:
    """The first constraint that rules out all plans."""
    if tier_sizes(machine, problem.devices) is None:
        sizes = [t for t in machine.tiers if t.size]
        units = " of ".join(f"{t.name}s of {t.size}" for t in reversed(sizes))
        return f"they are no whole number of {units}"
    degrees = degrees_of(space, [problem])
    if not len(degrees.owner):
        return "no degrees multiply to it and divide the model and its batch"
    replicas = int(degrees.of("N_DP").min())
    needed = problem.shape.parameters * (replicas + GRADIENT_AND_MOMENTS) * WORD_BYTES
    capacity = device_values(machine)["S_mem"] * WORD_BYTES * problem.devices
    if needed > capacity:
        return (
            f"memory: parameters and optimizer need {needed / 1e12:.4g} TB, "
            f"the devices have {capacity / 1e12:.4g} TB"
        )
    if not pipeline_counts(space, [problem], degrees).any():
        return "microbatches: the batch has too few tokens to fill any of its pipelines"
    best = search(machine, [problem], schedule=schedule, space=space)[0]
    if best and duration_s is not None:
        steps = problem.shape.run_tokens / problem.shape.batch_tokens
        days = np.array([best[0].step_s * steps, duration_s]) / 86400
        return f"time: the fastest run takes {days[0]:.4g} days, {days[1]:.4g} are allowed"
    return "memory: no plan's parameters, optimizer and activations fit the devices"


def components(point: Point) -> list[TimeComponent]:
    """The components of a step, what hides behind what, and which binds.

    Matrix products, traffic that overlaps, and in zero-bubble schedules latency run side by
    side, and the longest sets the time; the rest adds to it.
    """
    parts, schedule = point.parts, point.plan.schedule
    latency = parts["l_TP"] + parts["l_PP"]
    overlap = {
        "matrix products": True,
        "tensor traffic": schedule.overlap_tensor,
        "transfers between blocks": schedule.overlap_transfers,
        "latency": schedule.zero_bubble,
    }
    seconds = {
        "matrix products": parts["t_mm"], "tensor traffic": parts["t_TP"],
        "transfers between blocks": parts["t_PP"], "latency": latency,
    }  # fmt: skip
    beside = sum(s for n, s in seconds.items() if n in _TRAFFIC and overlap[n])
    rivals = {"matrix products": seconds["matrix products"], "traffic": beside}
    if schedule.zero_bubble and not schedule.as_published:
        rivals["latency"] = latency
    longest = max(rivals, key=lambda n: rivals[n])
    shown = sum(s for n, s in seconds.items() if n in _TRAFFIC and not overlap[n])
    idle = (rivals[longest] + shown) * parts["f_idle"] / (1 - parts["f_idle"])
    rows = [
        TimeComponent(
            n, s, overlap[n] and _rival(n) != longest, overlap[n] and _rival(n) == longest
        )
        for n, s in seconds.items()
    ]
    return [
        *rows,
        TimeComponent("gradient reduction", parts["t_DP"], schedule.overlap_data, False),
        TimeComponent("latency of the gradient reduction", parts["l_DP"], False, False),
        TimeComponent("pipeline bubble", 0.0 if schedule.zero_bubble else idle, False, False),
    ]


_TRAFFIC = ("tensor traffic", "transfers between blocks")


def _rival(name: str) -> str:
    return "traffic" if name in _TRAFFIC else name


def binding(point: Point) -> str:
    """What sets the time of a step: the longest of what runs side by side.

    Where several make up the longest, as traffic does, the larger of them; and the
    gradient reduction or the latency if it takes longer still.
    """
    rows = components(point)
    longest = max((c for c in rows if c.binds), key=lambda c: c.seconds)
    added = max((c for c in rows if not c.hidden and not c.binds), key=lambda c: c.seconds)
    return longest.name if longest.seconds >= added.seconds else added.name


