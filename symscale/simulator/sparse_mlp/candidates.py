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

from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import tier_notation
from symscale.simulator.compiled import Compiled
from symscale.simulator.sparse_mlp.evaluate import (
    compiled_block,
    compiled_parts,
    compiled_step_time,
)
from symscale.simulator.sparse_mlp.network import tensor_time
from symscale.simulator.sparse_mlp.parameters import device_values, is_distributed, network_values
from symscale.simulator.sparse_mlp.space import (
    Degrees,
    Ints,
    Pipelines,
    SearchProblem,
    Space,
    degrees_of,
    divisors,
    inner_splits,
    pipelines_of,
    tier_sizes,
)
from symscale.simulator.sparse_mlp.step import (
    Schedule,
    activation_words,
    least_block_time,
    state_words,
)

Floats = np.ndarray[Any, np.dtype[np.float64]]


_SLACK = 1 - 1e-12
"""A bound stays one whatever rounding did to it."""


@dataclass(frozen=True)
class Candidates:
    """Plans of several problems, before their tiers.

    Attributes:
        columns: Values of the notation: the model, the plan, t_block and the device.
        problem: Which problem each belongs to.
        row: Which of `degrees` each has.
        degrees: The distinct degrees.
        variant: The variant of the schedule, see `schedule_of`.
        bound: A time, seconds, that no step of the plan is below.
        sizes: Sizes of the tiers, for each problem.
    """

    columns: dict[str, Any]
    problem: Ints
    row: Ints
    degrees: Degrees
    variant: Ints
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


STEADY, RECOMPUTE = 1, 2
"""Parts of a variant: without a bubble, activations computed again."""


def schedule_of(variant: int, schedule: Schedule) -> Schedule:
    """The schedule of a plan's variant."""
    return replace(
        schedule, zero_bubble=bool(variant & STEADY), recompute=bool(variant & RECOMPUTE)
    )


def step_times(
    columns: Mapping[str, Any], variant: Ints | int, schedule: Schedule, tiers: int,
    tensor: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Times of steps, and of the traffic in them, seconds.

    Args:
        columns: Values of the notation, numbers or arrays.
        variant: For each plan 0, or the sum of STEADY and RECOMPUTE where they apply.
        schedule: What overlaps.
        tiers: Tiers of the network.
        tensor: Seconds that tensor-parallel traffic takes at least, if more is known.
    """
    values = {**columns, **compiled_parts(tiers)(columns)}
    if tensor is not None:
        values["t_TP"] = np.maximum(values["t_TP"], tensor)
    traffic = values["t_TP"] + values["t_PP"] + values["t_DP"]

    def times(kind: int) -> Floats:
        found: Floats = compiled_step_time(schedule_of(kind, schedule))(values)["t_step"]
        return found

    if isinstance(variant, int):
        return times(variant), traffic
    first, *others = np.flatnonzero(np.bincount(variant, minlength=1)).tolist() or [0]
    step = times(first)
    for kind in others:
        step = np.where(variant == kind, times(kind), step)
    return step, traffic


@dataclass(frozen=True)
class Outline:
    """Degrees of several problems, before microbatches and tiers.

    Attributes:
        columns: Values of the notation.
        degrees: The degrees.
        bound: A time, seconds, that no step with them is below.
        sizes: Sizes of the tiers, for each problem.
    """

    columns: dict[str, Any]
    degrees: Degrees
    bound: Floats
    sizes: Sequence[tuple[int, ...]]


def outline(
    machine: Machine, problems: Sequence[SearchProblem], space: Space, schedule: Schedule
) -> Outline:
    """The degrees of a space, with bounds; infinite where parameters do not fit."""
    tiers = len(machine.tiers)
    sizes = [tier_sizes(machine, p.devices) for p in problems]
    known = [size or (1,) * tiers for size in sizes]
    degrees = degrees_of(space, problems)
    columns = _columns(machine, problems, degrees)
    inner = np.array([int(np.prod(s[:-1], dtype=np.int64)) for s in known])
    columns |= _lowest_degrees(columns, inner[degrees.owner], tiers)
    bound = _worth_it(machine, columns, space, schedule)
    whole = np.array([size is not None for size in sizes])
    return Outline(columns, degrees, np.where(whole[degrees.owner], bound, np.inf), known)


def candidates(
    machine: Machine, problems: Sequence[SearchProblem], plans: Outline, chosen: Ints, space: Space,
    schedule: Schedule,
) -> Candidates:
    """The plans of some degrees, before their tiers, that fit in memory.

    Args:
        machine: The machine.
        problems: Models and clusters.
        plans: Their degrees.
        chosen: Which of these.
        space: Where microbatches and schedules come from.
        schedule: What overlaps.
    """
    degrees = plans.degrees.take(chosen)
    some = pipelines_of(space, problems, degrees)
    variant = some.zero_bubble * STEADY
    if space.activations:
        again = _recomputed(plans.columns, chosen, some, schedule)
        some, variant = some.take(again >= 0), (variant + again * RECOMPUTE)[again >= 0]
    picked = chosen[some.row]
    columns = {
        n: c[picked] if isinstance(c, np.ndarray) else c for n, c in plans.columns.items()
    }
    columns |= {"m": some.microbatches.astype(float), "v": some.interleaving.astype(float)}
    columns["t_block"] = _block_times(machine, columns, some.shape)
    tensor = _least_tensor_times(machine, plans, chosen)[some.row]
    bound, _ = step_times(
        {**columns, **_only_outermost(machine)}, variant, schedule, len(machine.tiers), tensor
    )
    owner = degrees.owner[some.row]
    return Candidates(columns, owner, some.row, degrees, variant, bound * _SLACK, plans.sizes)


@lru_cache(maxsize=8)
def _compiled_memory(schedule: Schedule) -> Compiled:
    return Compiled({"words": (state_words() + activation_words(schedule)).expr})


def _recomputed(
    columns: Mapping[str, Any], chosen: Ints, some: Pipelines, schedule: Schedule
) -> Ints:
    """For each plan 0 if it fits in memory, 1 if it does with recomputation, else -1."""
    result = np.full(len(some.row), -1, dtype=np.int64)
    picked = chosen[some.row]
    names = ("d_model", "d_ff", "L", "E", "b", "N_DP", "N_PP")
    values: dict[str, Any] = {n: columns[n][picked] for n in names}
    values["m"] = some.microbatches.astype(float)
    room = columns["S_mem"] * columns["N"][picked]
    for recompute in (1, 0):
        for steady in (0, 1):
            kind = schedule_of(steady * STEADY + recompute * RECOMPUTE, schedule)
            fits = _compiled_memory(kind)(values)["words"] <= room
            result[fits & (some.zero_bubble == steady)] = recompute
    return result


def _columns(
    machine: Machine, problems: Sequence[SearchProblem], degrees: Degrees
) -> dict[str, Any]:
    columns: dict[str, Any] = dict(device_values(machine))
    models = [p.shape.values() for p in problems]
    for name in models[0]:
        columns[name] = np.array([model[name] for model in models])[degrees.owner]
    columns["N"] = np.array([float(p.devices) for p in problems])[degrees.owner]
    for index, name in enumerate(DEGREES):
        columns[name] = degrees.table[index].astype(float)
    return columns


def _lowest_degrees(columns: Mapping[str, Any], inner: Ints, tiers: int) -> dict[str, Any]:
    """Each degree on the lowest tiers, as far as it divides their devices."""
    degrees: dict[str, Any] = {}
    for name in DEGREES:
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


@lru_cache(maxsize=8)
def _compiled_tensor(tiers: int) -> Compiled:
    return Compiled({"t_TP": tensor_time(tiers).expr})


def _least_tensor_times(machine: Machine, plans: Outline, chosen: Ints) -> Floats:
    """Seconds of tensor-parallel traffic over the outermost tier, the best way to share a unit.

    The two degrees share the devices of a unit, so that both cannot lie there whole.
    """
    tiers = len(machine.tiers)
    owner = plans.degrees.owner[chosen]
    inner = np.array([int(np.prod(s[:-1], dtype=np.int64)) for s in plans.sizes])[owner]
    most = int(inner.max(initial=1))
    ways = np.array([(a, b) for a in divisors(most) for b in divisors(most // a)])
    first, second = np.repeat(ways, len(chosen), axis=0).T
    names = ("d_model", "d_ff", "L", "b", "N", "N_TP_model", "N_TP_ff")
    values: dict[str, Any] = dict(_only_outermost(machine))
    values |= {n: np.tile(plans.columns[n][chosen], len(ways)) for n in names}
    fits = np.tile(inner, len(ways)) % (first * second) == 0
    for name, low in (("N_TP_model", first), ("N_TP_ff", second)):
        values |= {tier_notation(name, t).name: 1.0 for t in range(1, tiers)}
        values[tier_notation(name, tiers).name] = values[name] / low
        fits &= values[name] % low == 0
    times = np.where(fits, _compiled_tensor(tiers)(values)["t_TP"], np.inf)
    least: Floats = times.reshape(len(ways), len(chosen)).min(axis=0)
    return least


@lru_cache(maxsize=1)
def _compiled_least() -> Compiled:
    return Compiled({"state": state_words().expr, "t_block": least_block_time().expr})


def _worth_it(
    machine: Machine, columns: Mapping[str, Any], space: Space, schedule: Schedule
) -> Floats:
    """A bound of the time before microbatches are known; infinite without enough memory."""
    fewest = {"m": columns["N_PP"] if space.full else 1.0, "v": 1.0}
    values = {**columns, **_only_outermost(machine), **fewest}
    least = _compiled_least()(values)
    values["t_block"] = least["t_block"]
    bound, _ = step_times(values, STEADY, schedule, len(machine.tiers))
    return np.where(least["state"] <= columns["S_mem"] * columns["N"], bound * _SLACK, np.inf)


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
