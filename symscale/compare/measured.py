"""Measured runs against what the formulas say: differences, bias, and the choice of plans.

With published values y and computed ones x, e = x/y - 1 is a run's relative difference;
MAPE is the mean of |e|, the worst its maximum, the bias the mean of e. Whether the right
plan is chosen: the rank correlation of x and y among the runs of one model, averaged over
models, and how much longer the plan predicted best took than the best one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from symscale.measure.runs.classes import DEFAULT, CalibratedClass, load_class
from symscale.measure.runs.rates import computed_of, works_of
from symscale.measure.runs.runs import Run
from symscale.simulator.transformer.tiers import Array

FEWEST_RANKED = 3
"""Runs of a model from which ranks are compared."""


UNITS = {"iteration_s": "s", "tflops_per_device": "TFLOP/s"}
"""Of what runs are measured by."""


@dataclass(frozen=True)
class ComparedRun:
    """One published value beside the computed one.

    Attributes:
        run: The run.
        computed: The computed value, in the unit of the published one.
        cluster: Name of the class on which it was computed.
        seen: Whether the fit of its class saw the run.

    Example:
        >>> from symscale.measure.runs.runs import published_runs
        >>> run = published_runs("vtrain-a100.csv")[0]
        >>> round(ComparedRun(run, 3.9, "a100", False).difference, 3)
        0.094
    """

    run: Run
    computed: float
    cluster: str
    seen: bool

    @property
    def difference(self) -> float:
        """Computed over published, less one."""
        return self.computed / self.run.published - 1

    @property
    def slowness(self) -> tuple[float, float]:
        """Published and computed as times, up to a common factor: what ranks plans."""
        if self.run.metric == "iteration_s":
            return self.run.published, self.computed
        return 1 / self.run.published, 1 / self.computed


@dataclass(frozen=True)
class PlanChoice:
    """Whether the best plan of a model was predicted.

    Attributes:
        model: The model.
        runs: How many runs of it there are.
        rank_correlation: Of published and computed times (Spearman); None where all
            published times are equal.
        chosen: The run predicted fastest.
        best: The run that was fastest.
        excess: By how much the chosen run took longer than the best, a fraction.
    """

    model: str
    runs: int
    rank_correlation: float | None
    chosen: Run
    best: Run
    excess: float


@dataclass(frozen=True)
class Summary:
    """How well a set of runs is met; fractions.

    Attributes:
        runs: How many.
        mape: Mean of the absolute relative differences.
        worst: The largest of them.
        bias: Mean of the relative differences.
        rank_correlation: Mean over models of the rank correlation; None where no model
            has three runs.
    """

    runs: int
    mape: float
    worst: float
    bias: float
    rank_correlation: float | None


def compare(
    runs: Sequence[Run], cluster: CalibratedClass, seen: Sequence[int] = ()
) -> list[ComparedRun]:
    """Compute what was measured of every run.

    Args:
        runs: The runs.
        cluster: The class on which to compute them.
        seen: Which of them the fit of the class saw.

    Example:
        >>> from symscale.measure.runs.runs import published_runs
        >>> runs = published_runs("vtrain-a100.csv")[:1]
        >>> abs(compare(runs, load_class("a100"))[0].difference) < 0.05
        True
    """
    computed = computed_of(runs, works_of(runs, cluster.sizes), cluster.rates)
    return [
        ComparedRun(run, float(value), cluster.name, i in seen)
        for i, (run, value) in enumerate(zip(runs, computed, strict=True))
    ]


def compare_each(runs: Sequence[Run], cluster: CalibratedClass | None) -> list[ComparedRun]:
    """Compute runs on one class, or each on the class of the device that its row names.

    Args:
        runs: The runs.
        cluster: The class of them all, or None.

    Raises:
        UnknownNameError: If a row names a device of which there is no class.
    """
    if cluster is not None:
        return compare(runs, cluster)
    order = sorted(range(len(runs)), key=lambda i: runs[i].device)
    found: dict[int, ComparedRun] = {}
    for device, group in groupby(order, key=lambda i: runs[i].device):
        indices = list(group)
        part = compare([runs[i] for i in indices], load_class(device or DEFAULT))
        found.update(zip(indices, part, strict=True))
    return [found[i] for i in range(len(runs))]


def summary(rows: Sequence[ComparedRun]) -> Summary:
    """Summarise comparisons.

    Args:
        rows: At least one.

    Example:
        >>> from symscale.measure.runs.runs import published_runs
        >>> found = summary(compare(published_runs("vtrain-a100.csv")[:1], load_class("a100")))
        >>> found.runs, found.mape == found.worst, found.rank_correlation
        (1, True, None)
    """
    differences = np.array([row.difference for row in rows])
    ranks = [c.rank_correlation for c in choices(rows) if c.rank_correlation is not None]
    return Summary(
        len(rows), float(abs(differences).mean()), float(abs(differences).max()),
        float(differences.mean()), float(np.mean(ranks)) if ranks else None,
    )


def choices(rows: Sequence[ComparedRun]) -> list[PlanChoice]:
    """Return, for every model with three runs or more, whether its best plan is found.

    Runs of one model are compared on equally many devices with equal batches.
    """
    models: dict[tuple[str, str, int, int], list[ComparedRun]] = {}
    for row in rows:
        run = row.run
        key = (run.model, run.metric, run.plan.devices, run.sequences)
        models.setdefault(key, []).append(row)
    found = []
    for (model, *_), group in models.items():
        if len(group) < FEWEST_RANKED:
            continue
        published, computed = np.array([row.slowness for row in group]).T
        chosen, best = int(computed.argmin()), int(published.argmin())
        found.append(
            PlanChoice(
                model, len(group), spearman(published, computed), group[chosen].run,
                group[best].run, float(published[chosen] / published[best] - 1),
            )
        )
    return found


def spearman(first: Array, second: Array) -> float | None:
    """Return the rank correlation of two lists; None where one of them is constant.

    Example:
        >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 40.0]))
        1.0
        >>> spearman(np.array([1.0, 1.0]), np.array([1.0, 2.0])) is None
        True
    """
    a, b = _ranks(first), _ranks(second)
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return round(float((a * b).sum()) / size, 12) if size > 0 else None


def _ranks(values: Array) -> Array:
    """Ranks; ties share their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]
