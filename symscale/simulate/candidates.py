"""The plans of a search before their tiers, as columns of arrays, with bounds of their time.

Without its tiers a plan has a bound: each degree lies as low as it can, as if it
were alone, and only the outermost tier costs time. A plan without its microbatches has
one as well: its arithmetic wastes nothing, and there are as few of them as can be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from symscale.machine import Machine
from symscale.simulate.compiled import Compiled
from symscale.simulate.evaluate import compiled_block, compiled_parts, compiled_step_time
from symscale.simulate.parameters import device_values, is_distributed, network_values
from symscale.simulate.space import (
    ORDER,
    Degrees,
    Ints,
    Problem,
    inner_splits,
    published_degrees,
    published_pipelines,
    tier_sizes,
)
from symscale.simulate.step import Schedule, least_block_time, state_words
from symscale.symbols import tier_notation

Floats = np.ndarray[Any, np.dtype[np.float64]]
Truths = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Candidates:
    """Plans of several problems, before their tiers.

    Attributes:
        columns: Values of the notation: the model, the plan, t_block and the device.
        problem: Which problem each belongs to.
        row: Which of `degrees` each has.
        degrees: The distinct degrees.
        zero_bubble: Whether the schedule has no bubble.
        bound: A time, seconds, that no step of the plan is below.
        sizes: Sizes of the tiers, for each problem.
    """

    columns: dict[str, Any]
    problem: Ints
    row: Ints
    degrees: Degrees
    zero_bubble: Truths
    bound: Floats
    sizes: Sequence[tuple[int, ...]]

    @property
    def most_splits(self) -> int:
        """The most splits over tiers that any plan may have."""
        return max(len(inner_splits(s[:-1])) for s in set(self.sizes))

    def by_sizes(self, degrees: Ints) -> Iterator[tuple[tuple[int, ...], Ints]]:
        """Group degrees by the sizes of their lower tiers."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for index, sizes in enumerate(self.sizes):
            groups.setdefault(sizes[:-1], []).append(index)
        for lower, members in groups.items():
            inside = np.nonzero(np.isin(self.degrees.owner[degrees], members))[0]
            if len(inside):
                yield lower, inside

    def lower_degrees(self, rows: Ints, split: Ints) -> Ints:
        """Degrees at all tiers but the outermost: (plans, tiers but one, degrees)."""
        lower = [sizes[:-1] for sizes in self.sizes]
        distinct = sorted(set(lower))
        tables = [inner_splits(sizes) for sizes in distinct]
        if len(distinct) == 1:
            return tables[0][split]
        starts = np.cumsum([0, *(len(t) for t in tables)])
        joined = np.concatenate(tables)
        start = np.array([starts[distinct.index(s)] for s in lower])
        return joined[start[self.problem[rows]] + split]


def needed(columns: Mapping[str, Any], tiers: int, rows: Ints) -> dict[str, Any]:
    """The columns that times of steps need, at some rows."""
    names = set(compiled_parts(tiers).arguments) & set(columns)
    return {
        n: columns[n][rows] if isinstance(columns[n], np.ndarray) else columns[n] for n in names
    }


def step_times(
    columns: Mapping[str, Any], zero_bubble: Truths | bool, schedule: Schedule, tiers: int
) -> tuple[Floats, Floats]:
    """Times of steps, and of the traffic in them, seconds.

    Args:
        columns: Values of the notation, numbers or arrays.
        zero_bubble: For each plan, whether its schedule has no bubble.
        schedule: What overlaps.
        tiers: Tiers of the network.
    """
    values = {**columns, **compiled_parts(tiers)(columns)}
    traffic = values["t_TP"] + values["t_PP"] + values["t_DP"]

    def times(zero: bool) -> Floats:
        found: Floats = compiled_step_time(replace(schedule, zero_bubble=zero))(values)["t_step"]
        return found

    if isinstance(zero_bubble, bool):
        return times(zero_bubble), traffic
    return np.where(zero_bubble, times(True), times(False)), traffic


def candidates(
    machine: Machine, problems: Sequence[Problem], schedule: Schedule, worst: Floats
) -> Candidates | None:
    """The plans of the published space that fit in memory and may be fast enough.

    Args:
        machine: The machine.
        problems: Models and clusters.
        schedule: What overlaps.
        worst: For each problem the seconds that a step may take.

    Returns:
        The plans; None if there are none.
    """
    tiers = len(machine.tiers)
    sizes = [tier_sizes(machine, p.devices) for p in problems]
    known = [size or (1,) * tiers for size in sizes]
    worst = np.where([size is None for size in sizes], -np.inf, worst)
    degrees = published_degrees(problems)
    columns = _columns(machine, problems, degrees)
    inner = np.array([int(np.prod(s[:-1], dtype=np.int64)) for s in known])
    columns |= _lowest_degrees(columns, inner[degrees.owner], tiers)
    chosen = np.nonzero(_worth_it(machine, columns, schedule) <= worst[degrees.owner])[0]
    if not len(chosen):
        return None
    degrees = degrees.take(chosen)
    some = published_pipelines(problems, degrees)
    picked = chosen[some.row]
    columns = {n: c[picked] if isinstance(c, np.ndarray) else c for n, c in columns.items()}
    columns |= {"m": some.microbatches.astype(float), "v": some.interleaving.astype(float)}
    columns["t_block"] = _block_times(machine, columns, some.shape)
    bound, _ = step_times(
        {**columns, **_only_outermost(machine)}, some.zero_bubble, schedule, tiers
    )
    return Candidates(
        columns, degrees.owner[some.row], some.row, degrees, some.zero_bubble, bound, known
    )


def _columns(
    machine: Machine, problems: Sequence[Problem], degrees: Degrees
) -> dict[str, Any]:
    columns: dict[str, Any] = dict(device_values(machine))
    models = [p.shape.values() for p in problems]
    for name in models[0]:
        columns[name] = np.array([model[name] for model in models])[degrees.owner]
    columns["N"] = np.array([float(p.devices) for p in problems])[degrees.owner]
    for index, name in enumerate(ORDER):
        columns[name] = degrees.table[index].astype(float)
    return columns


def _lowest_degrees(columns: Mapping[str, Any], inner: Ints, tiers: int) -> dict[str, Any]:
    """Each degree on the lowest tiers, as far as it divides their devices."""
    degrees: dict[str, Any] = {}
    for name in ORDER:
        whole = columns[name]
        low = np.gcd(whole.astype(np.int64), inner).astype(float)
        for tier in range(1, tiers + 1):
            degrees[tier_notation(name, tier).name] = 1.0
        if tiers > 1:
            degrees[tier_notation(name, 1).name] = low
        degrees[tier_notation(name, tiers).name] = whole / low
    return degrees


def _only_outermost(machine: Machine) -> dict[str, float]:
    """A network on which only the outermost tier costs time."""
    network = dict(network_values(machine))
    for tier in range(1, len(machine.tiers)):
        network[tier_notation("W_net", tier).name] = float("inf")
        network[tier_notation("tau_net", tier).name] = 0.0
    return network


@lru_cache(maxsize=1)
def _compiled_least() -> Compiled:
    return Compiled({"state": state_words().expr, "t_block": least_block_time().expr})


def _worth_it(machine: Machine, columns: Mapping[str, Any], schedule: Schedule) -> Floats:
    """A bound of the time before microbatches are known; infinite without enough memory."""
    fewest = {"m": columns["N_PP"], "v": 1.0}
    values = {**columns, **_only_outermost(machine), **fewest}
    least = _compiled_least()(values)
    values["t_block"] = least["t_block"]
    bound, _ = step_times(values, True, schedule, len(machine.tiers))
    return np.where(least["state"] <= columns["S_mem"] * columns["N"], bound, np.inf)


def _block_times(machine: Machine, columns: Mapping[str, Any], shape: Ints) -> Floats:
    """Times of the products of a block, computed once for each shape of them."""
    compiled = compiled_block(is_distributed(machine))
    _, first, place = np.unique(shape, return_index=True, return_inverse=True)
    given = {
        n: columns[n][first] if isinstance(columns[n], np.ndarray) else columns[n]
        for n in compiled.arguments
    }
    times: Floats = compiled(given)["t_block"][place]
    return times
