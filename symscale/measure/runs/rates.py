"""What measured runs take on a cluster class, and the rates that fit them.

A step's time is that of `symscale.simulator.transformer.step`; nothing here knows a run or
a model by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import sympy as sp
from scipy.optimize import least_squares

from symscale.costs.switches import Switches
from symscale.costs.transformer.architecture import Architecture
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import DEGREES, Plan
from symscale.errors import InputError
from symscale.measure.runs.runs import Run
from symscale.simulator.transformer.step import ClusterClass, step_time
from symscale.simulator.transformer.tiers import Array
from symscale.simulator.transformer.work import TransformerWork, Work

SOFT = 0.03
"""Relative error beyond which a run pulls by its error, no longer by the square of it."""

LEAST_RATE, LEAST_LINK = 0.1, 0.01
"""Shares of the data sheet below which no rate of products or memory, and none of links, is
looked for."""
MOST_OVERHEAD_S = 0.1
"""Seconds beyond which no overhead of a block is looked for."""


@dataclass(frozen=True)
class Batch:
    """Runs of one model under one set of switches, with their work.

    Attributes:
        indices: Which of the runs they are.
        work: What their devices do.
        devices: Devices of each.
        flop: FLOP of a step, what is computed again included.
    """

    indices: Array
    work: Work
    devices: Array
    flop: Array


def works_of(runs: Sequence[Run], sizes: Sequence[int | None]) -> list[Batch]:
    """Return the work of runs, those of one model together.

    Args:
        runs: The runs.
        sizes: Devices, nodes and so on that each tier of their machine joins.

    Example:
        >>> from symscale.measure.runs.runs import published_runs
        >>> runs = published_runs("vtrain-a100.csv")[:2]  # of one model
        >>> [len(batch.indices) for batch in works_of(runs, [8, None])]
        [2]
    """
    groups: dict[object, list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault((run.architecture, run.context, run.plan.switches), []).append(i)
    found = []
    for indices in groups.values():
        first = runs[indices[0]]
        part = [runs[i] for i in indices]
        switches = first.plan.switches
        plans: Plan[Array] = Plan(
            *(np.array([getattr(run.plan, name) for run in part]) for name in DEGREES),
        )
        work = _work(first.architecture, first.context, switches)
        flop = work.of(plans, np.array([run.sequences for run in part]), sizes)
        again = _recomputed_share(first.architecture, first.context, switches)
        found.append(Batch(np.array(indices), flop, plans.devices, flop.model_flop * again))
    return found


@lru_cache(maxsize=256)
def _work(architecture: Architecture, context: int, switches: Switches) -> TransformerWork:
    return TransformerWork(architecture, context, switches)


@lru_cache(maxsize=256)
def _recomputed_share(architecture: Architecture, context: int, switches: Switches) -> float:
    """FLOP with what is computed again over FLOP without."""
    if switches.recompute != "full":
        return 1.0
    plan: Plan[sp.Expr] = Plan(**vars(switches))
    model = Transformer(architecture, sp.Integer(context), sp.Integer(context), plan)
    return float(model.hardware_flop.expr / model.training_flop.expr)


def seconds_of(batches: Sequence[Batch], cluster: ClusterClass) -> Array:
    """Return the time of a step of every run, seconds."""
    found = np.zeros(sum(len(batch.indices) for batch in batches))
    for batch in batches:
        found[batch.indices] = step_time(batch.work, batch.devices, cluster).total
    return found


def computed_of(runs: Sequence[Run], batches: Sequence[Batch], cluster: ClusterClass) -> Array:
    """Return what was measured of each run as computed: seconds, or TFLOP/s of a device."""
    found = seconds_of(batches, cluster)
    for batch in batches:
        for i, devices, flop in zip(batch.indices, batch.devices, batch.flop, strict=True):
            if runs[i].metric == "tflops_per_device":
                found[i] = flop / devices / found[i] / 1e12
    return found


# The rates that fit


def calibrated(
    runs: Sequence[Run], sheet: ClusterClass, sizes: Sequence[int | None],
    only_products: bool = False,
) -> ClusterClass:
    """Return the rates with which measured runs come out best.

    Five constants: the rate of products, of memory, of the links of two tiers, and the
    overhead of a block. They minimise the sum over runs of

        2 (sqrt(1 + (e/0.03)^2) - 1),    e = computed/published - 1

    so that a few odd runs count by their error, not by its square. No rate exceeds that of
    the data sheet, or falls below a tenth of it, of links a hundredth. Gradients hide behind
    products as the given class says.

    Args:
        runs: The measured runs.
        sheet: The rates of the data sheet, which bound the search.
        sizes: Devices, nodes and so on that each tier joins.
        only_products: Whether the rate of products alone is fitted.

    Returns:
        The class with fitted rates.

    Raises:
        InputError: If there are fewer runs than constants.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.measure.runs.runs import published_runs
        >>> from symscale.simulator.transformer.step import class_of_machine
        >>> sheet = replace(class_of_machine(load_machine("a100-sxm")), overlap=0.0)
        >>> runs = published_runs("vtrain-a100.csv")[:1]
        >>> found = calibrated(runs, sheet, [8, None], only_products=True)
        >>> 150e12 < found.flop_rate < 312e12
        True
    """
    batches = works_of(runs, sizes)
    published = np.array([run.published for run in runs])
    start = _values(sheet)[: 1 if only_products else None]
    if len(runs) < len(start):
        raise InputError(
            f"{len(runs)} runs do not determine {len(start)} constants; measure at least as many"
        )

    def errors(values: Array) -> Array:
        cluster = _with(sheet, [*values, *_values(sheet)[len(values):]])
        return (computed_of(runs, batches, cluster) / published - 1) / SOFT

    peak = np.array(
        [sheet.peak_rate, sheet.memory_rate, *sheet.link_rates, MOST_OVERHEAD_S]
    )[: len(start)]
    least = [LEAST_RATE, LEAST_RATE, *(LEAST_LINK for _ in sheet.link_rates), 0.0]
    low = np.array(least)[: len(start)] * peak
    found = least_squares(
        errors, np.clip(start, low + 0.01 * peak, 0.99 * peak), bounds=(low, peak),
        loss="soft_l1", x_scale=peak,
    )
    return _with(sheet, [*found.x, *_values(sheet)[len(start):]])


def _values(cluster: ClusterClass) -> list[float]:
    return [
        cluster.flop_rate, cluster.memory_rate, *cluster.link_rates, cluster.block_overhead_s,
    ]


def _with(cluster: ClusterClass, values: Sequence[float]) -> ClusterClass:
    rate, memory, *links, overhead = (float(x) for x in values)
    return replace(
        cluster, flop_rate=rate, memory_rate=memory, link_rates=tuple(links),
        block_overhead_s=overhead,
    )
