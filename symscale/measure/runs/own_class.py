"""A cluster class from runs of one's own: fitted on some of them, judged on the others."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from symscale.errors import InputError, printable
from symscale.facts.machines.lumped import Machine
from symscale.language.toml_text import figure_text, quoted
from symscale.measure.runs.classes import CalibratedClass, class_of_text
from symscale.measure.runs.rates import (
    LEAST_LINK,
    LEAST_RATE,
    MOST_OVERHEAD_S,
    SOFT,
    calibrated,
    computed_of,
    works_of,
)
from symscale.measure.runs.runs import Run
from symscale.simulator.transformer.step import ClusterClass, class_of_machine

CONSTANTS = 5
LONGEST_WAY = 250
ENOUGH = 2 * CONSTANTS
"""Runs from which every second one is kept to judge the fit."""


@dataclass(frozen=True)
class OwnClass:
    """A class fitted to a user's runs.

    Attributes:
        cluster: The class, its rates to four digits as its file states them.
        seen: Indices of the runs that the fit saw.
        at_bound: The constants that ended at an end of what is tried, such as the data
            sheet's rate.
    """

    cluster: CalibratedClass
    seen: tuple[int, ...]
    at_bound: tuple[str, ...]


def own_class(runs: Sequence[Run], machine: Machine, name: str, file: str) -> OwnClass:
    """Fit the five constants of a class; see `symscale.measure.runs.rates.calibrated`.

    Runs 1, 3, 5, ... are fitted where there are ten at least, else all. Whether gradients
    hide behind products is what fits those better.

    Args:
        runs: The runs.
        machine: What they ran on; its data sheet bounds the rates.
        name: What the class is called.
        file: Where the runs come from.

    Raises:
        InputError: If there are fewer than five runs, or the machine lacks a tier.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.measure.runs.runs import published_runs
        >>> runs = published_runs("vtrain-a100.csv")
        >>> found = own_class(runs, load_machine("a100-sxm"), "mine", "vtrain-a100.csv")
        >>> len(found.seen), found.cluster.rates.overlap
        (28, 0.0)
    """
    sheet = class_of_machine(machine)
    if len(sheet.link_rates) != 2 or any(rate == float("inf") for rate in sheet.link_rates):
        raise InputError(
            f"{machine.title} does not state the links within a node and between nodes; name a "
            "machine that does"
        )
    if len(runs) < CONSTANTS:
        raise InputError(
            f"{len(runs)} runs do not determine {CONSTANTS} constants; measure at least as many, "
            f"better {ENOUGH}"
        )
    sizes = [tier.size for tier in machine.tiers]
    seen = tuple(range(0, len(runs), 2 if len(runs) >= ENOUGH else 1))
    part = [runs[i] for i in seen]
    plans = {(r.architecture, r.context, r.plan, r.sequences) for r in part}
    if len(plans) < CONSTANTS:
        raise InputError(
            f"the {len(part)} runs to fit to have too few plans, {len(plans)}, to determine "
            f"{CONSTANTS} constants; measure unlike plans"
        )
    fits = [calibrated(part, replace(sheet, overlap=x), sizes) for x in (0.0, 1.0)]
    best = min(fits, key=lambda rates: _misfit(part, rates, sizes))
    which = "runs 1, 3, 5, ..." if len(seen) < len(runs) else "all runs"
    origin = printable(file, 60)
    rates = _rounded(best, name)
    found = CalibratedClass(
        name, f"{machine.title}, calibrated", machine, rates,
        f"five constants, fitted on {which} of {origin}", f"measured: {origin}",
    )
    return OwnClass(found, seen, _at_bound(rates, sheet))


def _misfit(runs: Sequence[Run], rates: ClusterClass, sizes: Sequence[int | None]) -> float:
    published = np.array([run.published for run in runs])
    errors = computed_of(runs, works_of(runs, sizes), rates) / published - 1
    return float(np.sqrt(1 + (errors / SOFT) ** 2).sum())


def _rounded(rates: ClusterClass, name: str) -> ClusterClass:
    def four(value: float) -> float:
        return float(f"{value:.4g}")

    return replace(
        rates, name=name, flop_rate=four(rates.flop_rate), memory_rate=four(rates.memory_rate),
        link_rates=tuple(four(x) for x in rates.link_rates),
        block_overhead_s=four(max(rates.block_overhead_s, 1e-9)),
    )


def _at_bound(rates: ClusterClass, sheet: ClusterClass) -> tuple[str, ...]:
    rows = (
        ("the rate of products", rates.flop_rate, sheet.peak_rate, LEAST_RATE),
        ("the rate of memory", rates.memory_rate, sheet.memory_rate, LEAST_RATE),
        ("the links within a node", rates.link_rates[0], sheet.link_rates[0], LEAST_LINK),
        ("the links between nodes", rates.link_rates[1], sheet.link_rates[1], LEAST_LINK),
        ("the overhead of a block", rates.block_overhead_s, MOST_OVERHEAD_S, 0),
    )
    return tuple(
        name for name, value, most, least in rows
        if value > 0.999 * most or value < 1.001 * least * most
    )


def class_text(found: CalibratedClass, device: str) -> str:
    """Return a class as the text of its file.

    Args:
        found: The class.
        device: Name of its machine, or the path of its file from that of the class.

    Example:
        >>> from symscale.measure.runs.classes import load_class
        >>> print(class_text(load_class("a100"), "a100-sxm").splitlines()[0])
        title = "A100 SXM, 100 Gb/s a device between nodes"
    """
    rates, source = found.rates, found.source
    sheet = class_of_machine(found.machine)
    shares = {
        "flop_rate": rates.flop_rate / sheet.peak_rate,
        "memory_rate": rates.memory_rate / sheet.memory_rate,
        "node_rate": rates.link_rates[0] / sheet.link_rates[0],
        "cluster_rate": rates.link_rates[1] / sheet.link_rates[1],
    }
    note = {key: f"{share:.2f} of the data sheet" for key, share in shares.items()}
    lines = [
        f"title = {quoted(found.title)}",
        f"device = {quoted(device)}",
        f"source = {quoted(source)}",
        f"fitted = {quoted(found.fitted)}",
        figure_text(
            "flop_rate", rates.flop_rate / 1e12, "TFLOP/s", source,
            condition="dense, 16 bit, sustained", note=note["flop_rate"],
        ),
        figure_text("memory_rate", rates.memory_rate / 1e9, "GB/s", source, direction="both",
                    note=note["memory_rate"]),
        figure_text("node_rate", rates.link_rates[0] / 1e9, "GB/s", source, direction="one-way",
                    note=note["node_rate"]),
        figure_text("cluster_rate", rates.link_rates[1] / 1e9, "GB/s", source,
                    direction="one-way", note=note["cluster_rate"]),
        figure_text("block_overhead", rates.block_overhead_s * 1e3, "ms", source,
                    note="of a block and microbatch, forward to backward"),
        f"gradients_overlap = {'true' if rates.overlap else 'false'}",
    ]
    return "\n".join(lines) + "\n"


def device_of(hardware: str, machine: Machine, target: Path) -> str:
    """Return how a class names its machine: by name, or by the way from its own folder.

    Args:
        hardware: The machine's name or file.
        machine: The machine.
        target: Where the class is going to lie.

    Raises:
        InputError: If the way cannot stand in a file.
    """
    if not hardware.lower().endswith(".toml"):
        return machine.name
    folder = os.path.realpath(target.parent)
    way = os.path.relpath(os.path.realpath(hardware), folder)
    if len(way) > LONGEST_WAY or not way.isprintable() or way != way.strip():
        raise InputError(
            f"--hardware {printable(hardware, 160)}: a class cannot name this path; "
            "copy the file to a shorter, plain one"
        )
    return way


def read_again(text: str, target: Path) -> None:
    """Read a class from its text as if it lay where it is going to.

    Raises:
        InputError: If it could not be loaded from there.
    """
    class_of_text(text.encode(), target)
