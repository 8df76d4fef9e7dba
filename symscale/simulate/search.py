"""The best plans of models on clusters, exactly: branch and bound, in arrays.

Of a plan without its tiers the time has a bound: each degree lies as low as it can, as if
it were alone, and only the outermost tier costs time. Few plans have a bound below the
best time found so far; only their tiers are tried one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symscale.machine import Machine
from symscale.simulate.candidates import Candidates, Floats, candidates, needed, step_times
from symscale.simulate.parameters import network_values
from symscale.simulate.space import ORDER, Ints, Problem, inner_splits
from symscale.simulate.step import OVERLAPPED, Schedule
from symscale.symbols import tier_notation

FIRST_LOOK = 16
"""Plans of lowest bound whose tiers are tried first, four times as many in each turn after."""

_BATCH = 200_000
"""Plans with tiers that are held at once: some 60 MB of arrays."""


@dataclass(frozen=True)
class Found:
    """A plan that a search found.

    Attributes:
        problem: The model and the cluster.
        degrees: For each degree its value at each tier, lowest first.
        microbatches: Microbatches, m.
        interleaving: Interleaving, v.
        schedule: The schedule.
        step_s: Time of a step, seconds.
    """

    problem: Problem
    degrees: Mapping[str, tuple[int, ...]]
    microbatches: int
    interleaving: int
    schedule: Schedule
    step_s: float


@dataclass
class _Pool:
    """The best plans so far: parallel columns.

    Attributes:
        problem: Index of the problem.
        step: Time of a step.
        traffic: Seconds of traffic in it, which breaks ties.
        row: The candidate.
        split: The split over tiers.
    """

    problem: Ints
    step: Floats
    traffic: Floats
    row: Ints
    split: Ints

    def best(self, count: int) -> "_Pool":
        """Keep the best plans of each problem, those of less traffic where times tie."""
        # 40 bits of the mantissa: what differs by rounding only is a tie.
        rounded = self.step.view(np.int64) >> 12
        order = np.lexsort((self.split, self.row, self.traffic, rounded, self.problem))
        problem = self.problem[order]
        first = np.searchsorted(problem, problem)
        return self.take(order[np.arange(len(order)) - first < count])

    def take(self, rows: Any) -> "_Pool":
        return _Pool(
            self.problem[rows], self.step[rows], self.traffic[rows], self.row[rows],
            self.split[rows],
        )

    def join(self, other: "_Pool") -> "_Pool":
        columns = zip(self.__dict__.values(), other.__dict__.values(), strict=True)
        return _Pool(*(np.concatenate(pair) for pair in columns))


def search(
    machine: Machine,
    problems: Sequence[Problem],
    *,
    schedule: Schedule = OVERLAPPED,
    count: int = 1,
    deadline_s: float | None = None,
) -> list[list[Found]]:
    """Find the best plans of each problem in the published space.

    Args:
        machine: The machine.
        problems: Models and clusters.
        schedule: What overlaps; whether a plan has a bubble is part of the search.
        count: How many plans of each problem.
        deadline_s: Seconds that a run may take; plans that take longer are not found.

    Returns:
        For each problem its plans, the best first; none if no plan fits.

    Raises:
        InputError: If the machine's file lacks a figure that the simulation needs.
    """
    found: list[list[Found]] = [[] for _ in problems]
    for start in range(0, len(problems), 64):
        part = problems[start : start + 64]
        for plan in _search(machine, part, schedule, count, deadline_s):
            found[start + plan[0]].append(plan[1])
    return found


def _search(
    machine: Machine, problems: Sequence[Problem], schedule: Schedule, count: int,
    deadline_s: float | None,
) -> list[tuple[int, Found]]:
    worst = np.full(len(problems), np.finfo(float).max)
    if deadline_s is not None:
        steps = [p.shape.run_tokens / p.shape.batch_tokens for p in problems]
        worst = deadline_s / np.array(steps)
    table = candidates(machine, problems, schedule, worst)
    if table is None:
        return []
    bound = table.bound
    order = np.lexsort((bound, table.problem))
    order = order[bound[order] <= worst[table.problem[order]]]
    problem = table.problem[order]
    rank = np.arange(len(order)) - np.searchsorted(problem, problem)
    pool: _Pool | None = None
    look = FIRST_LOOK
    while len(order):
        now = rank < look
        if not now.any():
            rank -= look
            continue
        for rows in _batches(order[now], table):
            tried = _try_tiers(machine, table, rows, schedule)
            tried = tried.take(tried.step <= worst[tried.problem]).best(count)
            pool = tried if pool is None else pool.join(tried).best(count)
            full = np.bincount(pool.problem, minlength=len(problems)) >= count
            last = np.full(len(problems), 0.0)
            np.maximum.at(last, pool.problem, pool.step)
            worst = np.where(full, np.minimum(worst, last), worst)
        order, rank = order[~now], rank[~now] - look
        left = bound[order] <= worst[table.problem[order]]
        order, rank = order[left], rank[left]
        look *= 4
    if pool is None:
        return []
    return [(int(q), _found(table, problems, pool, k, schedule))
            for k, q in enumerate(pool.problem)]


def _batches(rows: Ints, table: Candidates) -> list[Ints]:
    size = max(1, _BATCH // table.most_splits)
    return [rows[k : k + size] for k in range(0, len(rows), size)]


def _try_tiers(machine: Machine, table: Candidates, rows: Ints, schedule: Schedule) -> _Pool:
    """Times of candidates with every split over tiers."""
    degrees, place = np.unique(table.row[rows], return_inverse=True)
    fits = np.zeros((len(degrees), table.most_splits), dtype=bool)
    for sizes, members in table.by_sizes(degrees):
        inner = inner_splits(sizes).prod(axis=1)
        totals = table.degrees.table[:, degrees[members]]
        good = np.ones((len(members), len(inner)), dtype=bool)
        for index in range(len(ORDER)):
            good &= totals[index][:, None] % inner[None, :, index] == 0
        fits[members, : len(inner)] = good
    chosen, split = np.nonzero(fits[place])
    picked = rows[chosen]
    more: dict[str, Any] = dict(network_values(machine))
    tiers = len(machine.tiers)
    columns = needed(table.columns, tiers, picked)
    lower = table.lower_degrees(picked, split)
    for index, name in enumerate(ORDER):
        rest = table.columns[name][picked]
        for tier in range(1, tiers):
            here = lower[:, tier - 1, index].astype(float)
            more[tier_notation(name, tier).name] = here
            rest = rest / here
        more[tier_notation(name, tiers).name] = rest
    step, traffic = step_times(
        {**columns, **more}, table.zero_bubble[picked], schedule, len(machine.tiers)
    )
    return _Pool(table.problem[picked], step, traffic, picked, split)


def _found(
    table: Candidates, problems: Sequence[Problem], pool: _Pool, k: int, schedule: Schedule
) -> Found:
    row = pool.row[k : k + 1]
    lower = table.lower_degrees(row, pool.split[k : k + 1])[0]
    degrees = {}
    for index, name in enumerate(ORDER):
        inner = [int(x) for x in lower[:, index]]
        whole = int(table.columns[name][row[0]])
        degrees[name] = (*inner, whole // int(np.prod(inner, dtype=np.int64)))
    plan = replace(schedule, zero_bubble=bool(table.zero_bubble[row[0]]))
    return Found(
        problems[int(pool.problem[k])], degrees, int(table.columns["m"][row[0]]),
        int(table.columns["v"][row[0]]), plan, float(pool.step[k]),
    )
