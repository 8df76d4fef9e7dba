"""Time of a step of Transformer plans: the work of the pace-setting device over its rates.

    t = (F - F_a)/C + max(F_a/C, E_a/W) + E/W + sum_i Q_i/W_i + n t_n
        + exposed ring + exposed gradients + optimizer

with F the FLOP, F_a and E_a FLOP and bytes of attention's products over scores, E the
bytes that all else reads and writes, Q_i the bytes over tier i and n the block passes of
the critical path (`symscale.simulator.transformer.work`). C, W, W_i and t_n are those of a
cluster class: by default from a machine's data sheet, or calibrated on measured runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symscale.facts.machines.lumped import Machine
from symscale.simulator.transformer.work import Work

Array: TypeAlias = Any

PEAK_SHARE = 0.7
"""Share of the peak rate that products sustain, where a machine's file states none."""

@dataclass(frozen=True)
class ClusterClass:
    """What a step's time depends on besides its work.

    Attributes:
        name: Its name.
        flop_rate: Rate of matrix products, FLOP/s of a device.
        memory_rate: Reads and writes of memory, byte/s of a device.
        link_rates: What a device gets of each tier's links in one direction, byte/s.
        block_overhead_s: Seconds that a block costs whatever its size, forward and backward.
        overlap: Share of the time of gradients, and of keys and values in a ring, that
            products may hide.
        peak_rate: Peak of products, FLOP/s, against which utilization is stated.
        source: Where the rates come from.
    """

    name: str
    flop_rate: float
    memory_rate: float
    link_rates: tuple[float, ...]
    block_overhead_s: float
    overlap: float
    peak_rate: float
    source: str


def class_of_machine(machine: Machine) -> ClusterClass:
    """Return the rates that a machine's data sheet promises: an upper bound of speed.

    Products at the sustained rate, or 0.7 of the peak where none is stated; links at their
    full bandwidth; gradients hidden as far as the backward pass lasts.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> class_of_machine(load_machine("h100-sxm")).link_rates
        (450000000000.0, 50000000000.0)
    """
    known, stated = machine.known_flop_rate
    rate = float(known)
    memory = float(machine.figures["memory_bandwidth"].both_ways)
    links = tuple(
        float("inf") if tier.bandwidth.unlimited else float(tier.bandwidth.one_way)
        for tier in machine.tiers
    )
    return ClusterClass(
        machine.name, rate if stated else PEAK_SHARE * rate, memory, links, 0.0, 1.0,
        float(machine.flop_rate), f"data sheet of {machine.title}",
    )


@dataclass(frozen=True)
class StepTime:
    """Time of a step, seconds, by component; arrays with one entry a plan.

    Attributes:
        components: Seconds by name, in the order of `COMPONENTS`; they add up.
        total: Seconds of a step.
        bubble: Share of the step that fills and drains the pipeline, within the others.
        mfu: Model FLOP over what the devices' peak would do in that time.
    """

    components: Mapping[str, Array]
    total: Array
    bubble: Array
    mfu: Array


COMPONENTS = (
    "products", "elementwise", "overhead", "tensor and expert parallelism", "transfers",
    "context parallelism, exposed", "gradients, exposed", "optimizer",
)
"""What a step's time is made of; nothing of it happens at the same time."""


def step_time(work: Work, devices: Array, cluster: ClusterClass) -> StepTime:
    """Return the time of a step.

    Args:
        work: What the pace-setting device does.
        devices: Devices of each plan.
        cluster: The rates.
    """
    links = np.array(cluster.link_rates)[:, None]
    core = np.maximum(
        work.core_flop / cluster.flop_rate, work.core_bytes / cluster.memory_rate
    )
    products = (work.flop - work.core_flop) / cluster.flop_rate + core
    ring = (work.context_bytes / links).sum(axis=0)
    gradients = (work.gradient_bytes / links).sum(axis=0)
    # Of a microbatch's products about two thirds are backward; only those can hide gradients.
    behind = products * 2 / 3
    exposed = np.maximum(gradients * (1 - cluster.overlap), gradients - behind)
    times = (
        products,
        work.traffic_bytes / cluster.memory_rate,
        work.block_passes * cluster.block_overhead_s,
        (work.serialized_bytes / links).sum(axis=0),
        (work.transfer_bytes / links).sum(axis=0),
        np.maximum(ring * (1 - cluster.overlap), ring - core),
        exposed,
        work.optimizer_bytes / cluster.memory_rate,
    )
    total = sum(times)
    mfu = work.model_flop / (total * devices * cluster.peak_rate)
    return StepTime(dict(zip(COMPONENTS, times, strict=True)), total, work.bubble, mfu)
