"""The best plans of models on clusters, exactly: branch and bound, in arrays.

Of a plan without its tiers the time has a bound: each degree lies as low as it can, as if
it were alone, and only the outermost tier costs time. Few plans have a bound below the
best time found so far; only their tiers are tried one by one.
"""

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import tier_notation
from symscale.simulator.sparse_mlp.candidates import (
    Candidates,
    Floats,
    candidates,
    needed,
    outline,
    schedule_of,
    step_times,
)
from symscale.simulator.sparse_mlp.parameters import network_values
from symscale.simulator.sparse_mlp.space import (
    PUBLISHED_SPACE,
    Ints,
    SearchProblem,
    Space,
    inner_splits,
    pipeline_counts,
)
from symscale.simulator.sparse_mlp.step import OVERLAPPED, Schedule

FIRST_LOOK = 4
"""Plans of lowest bound whose tiers are tried first, four times as many in each turn after."""

_BATCH, _ROWS = 200_000, 150_000
"""Plans with and without tiers that are held at once: some 60 MB of arrays each."""


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

    problem: SearchProblem
    degrees: Mapping[str, tuple[int, ...]]
    microbatches: int
    interleaving: int
    schedule: Schedule
    step_s: float


@dataclass
class _Pool:
    """Plans that were tried, as parallel columns.

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


@dataclass(order=True)
class _Ranked:
    """A plan with what it is ranked by: its time, and where times tie its traffic."""

    rounded: int
    traffic: float
    found: Found = field(compare=False)


@dataclass
class _Best:
    """The best plans of each problem so far.

    Attributes:
        count: How many are kept.
        plans: The plans of each problem, in order.
        worst: For each problem the seconds above which a step is of no use.
    """

    count: int
    plans: list[list[_Ranked]]
    worst: Floats

    def add(self, problem: int, ranked: _Ranked) -> None:
        """Add a plan, unless there are enough better ones."""
        plans = self.plans[problem]
        insort(plans, ranked)
        del plans[self.count :]
        if len(plans) == self.count:
            self.worst[problem] = min(self.worst[problem], plans[-1].found.step_s)


def search(
    machine: Machine,
    problems: Sequence[SearchProblem],
    *,
    schedule: Schedule = OVERLAPPED,
    count: int = 1,
    deadline_s: float | None = None,
    space: Space = PUBLISHED_SPACE,
) -> list[list[Found]]:
    """Find the best plans of each problem in a space.

    Args:
        machine: The machine.
        problems: Models and clusters.
        schedule: What overlaps; whether a plan has a bubble is part of the search.
        count: How many plans of each problem.
        deadline_s: Seconds that a run may take; plans that take longer are not found.
        space: The plans to look at.

    Returns:
        For each problem its plans, the best first; none if no plan fits.

    Raises:
        InputError: If the machine's file lacks a figure that the simulation needs.
    """
    found: list[list[Found]] = []
    for start in range(0, len(problems), 64):
        part = problems[start : start + 64]
        worst = np.full(len(part), np.finfo(float).max)
        if deadline_s is not None:
            worst = deadline_s / np.array([p.shape.run_tokens / p.shape.batch_tokens for p in part])
        best = _Best(count, [[] for _ in part], worst)
        _search(machine, part, space, schedule, best)
        found += [[ranked.found for ranked in plans] for plans in best.plans]
    return found


def _search(
    machine: Machine, problems: Sequence[SearchProblem], space: Space, schedule: Schedule,
    best: _Best,
) -> None:
    plans = outline(machine, problems, space, schedule)
    owner = plans.degrees.owner
    chosen = np.nonzero(plans.bound <= best.worst[owner])[0]
    counts = np.zeros(len(chosen), dtype=np.int64)
    if space.experts:  # a large space: in parts, the most promising first, so that few remain
        chosen = chosen[np.argsort(plans.bound[chosen], kind="stable")]
        counts = np.cumsum(pipeline_counts(space, problems, plans.degrees.take(chosen)))
    while len(chosen):
        size = max(1, int(np.searchsorted(counts, counts[0] + _ROWS)))
        now = chosen[:size]
        now = now[plans.bound[now] <= best.worst[owner[now]]]
        if len(now):
            _look(machine, problems, candidates(machine, problems, plans, now, space, schedule),
                  schedule, best)  # fmt: skip
        chosen, counts = chosen[size:], counts[size:]


def _look(
    machine: Machine, problems: Sequence[SearchProblem], table: Candidates, schedule: Schedule,
    best: _Best,
) -> None:
    """Try the tiers of candidates, those of lowest bound first."""
    order = np.lexsort((table.bound, table.problem))
    order = order[table.bound[order] <= best.worst[table.problem[order]]]
    problem = table.problem[order]
    rank = np.arange(len(order)) - np.searchsorted(problem, problem)
    look = FIRST_LOOK
    while len(order):
        now = rank < look
        for rows in _batches(order[now], table):
            tried = _try_tiers(machine, table, rows, schedule)
            pool = tried.take(tried.step <= best.worst[tried.problem]).best(best.count)
            for k, owner in enumerate(pool.problem.tolist()):
                rounded = int(pool.step[k : k + 1].view(np.int64)[0] >> 12)
                plan = _found(table, problems, pool, k, schedule)
                best.add(owner, _Ranked(rounded, float(pool.traffic[k]), plan))
        order, rank = order[~now], rank[~now] - look
        left = table.bound[order] <= best.worst[table.problem[order]]
        order, rank = order[left], rank[left]
        look *= 4


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
        for index in range(len(DEGREES)):
            good &= totals[index][:, None] % inner[None, :, index] == 0
        fits[members, : len(inner)] = good
    chosen, split = np.nonzero(fits[place])
    picked = rows[chosen]
    more: dict[str, Any] = dict(network_values(machine))
    tiers = len(machine.tiers)
    columns = needed(table.columns, tiers, picked)
    lower = table.lower_degrees(picked, split)
    for index, name in enumerate(DEGREES):
        rest = table.columns[name][picked]
        for tier in range(1, tiers):
            here = lower[:, tier - 1, index].astype(float)
            more[tier_notation(name, tier).name] = here
            rest = rest / here
        more[tier_notation(name, tiers).name] = rest
    step, traffic = step_times(
        {**columns, **more}, table.variant[picked], schedule, len(machine.tiers)
    )
    return _Pool(table.problem[picked], step, traffic, picked, split)


def _found(
    table: Candidates, problems: Sequence[SearchProblem], pool: _Pool, k: int, schedule: Schedule
) -> Found:
    row = pool.row[k : k + 1]
    lower = table.lower_degrees(row, pool.split[k : k + 1])[0]
    degrees = {}
    for index, name in enumerate(DEGREES):
        inner = [int(x) for x in lower[:, index]]
        whole = int(table.columns[name][row[0]])
        degrees[name] = (*inner, whole // int(np.prod(inner, dtype=np.int64)))
    plan = schedule_of(int(table.variant[row[0]]), schedule)
    return Found(
        problems[int(pool.problem[k])], degrees, int(table.columns["m"][row[0]]),
        int(table.columns["v"][row[0]]), plan, float(pool.step[k]),
    )
