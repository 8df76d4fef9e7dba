"""What was simulated: a machine, the rules and space assumed, and the rows of its table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.errors import NoAnswerError
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.curve import QUARTER_S, Point, curve
from symscale.simulator.sparse_mlp.shapes import Rules, Shape
from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, WIDE_SPACE
from symscale.simulator.sparse_mlp.step import Schedule
from symscale.simulator.tables.curves import Row, curve_row, marked


@dataclass(frozen=True)
class Assumptions:
    """What curves and plans were simulated under.

    Attributes:
        rules: The scaling rules.
        duration_s: Seconds that a run may take, or None where there is no limit.
        as_published: Whether zero-bubble schedules leave latency out.
        wide: Whether the wide space was searched, not the published one.
    """

    rules: Rules
    duration_s: float | None
    as_published: bool
    wide: bool = False


@dataclass(frozen=True)
class SimulatedRun:
    """A curve that was simulated on one machine under one set of rules.

    Attributes:
        machine: The machine.
        assumptions: The rules and the space.
        rows: The rows of its table, with marks.
    """

    machine: Machine
    assumptions: Assumptions
    rows: Sequence[Row]

    def title(self, among: "Sequence[SimulatedRun]") -> str:
        """What tells it apart from others: the machine, and the batch where that differs."""
        batch = self.assumptions.rules.batch
        if all(run.assumptions.rules.batch == batch for run in among):
            return self.machine.title
        return f"{self.machine.title}, batch {batch}"


@dataclass(frozen=True, repr=False)
class SimulatedCurves(Answer):
    """Curves of utilization against training compute.

    Attributes:
        runs: The curves.
    """

    page = "simulate"
    runs: tuple[SimulatedRun, ...]


def simulated_run(
    machine: Machine, shapes: Sequence[Shape], assumptions: Assumptions, *,
    held: Sequence[Row] = (), keep: Callable[[Row], object] | None = None,
    simulate: Callable[..., Iterable[Point]] = curve,
    progress: Callable[[int], object] | None = None,
) -> SimulatedRun:
    """Simulate a curve.

    Args:
        machine: The machine.
        shapes: The models.
        assumptions: The rules and the space.
        held: Rows of the first models that an earlier run left.
        keep: Told each further row.
        simulate: What makes the points; by default in this process.
        progress: Told how many further models are done.
    """
    rows = list(held)
    points = simulate(
        machine, shapes[len(rows) :], duration_s=assumptions.duration_s or QUARTER_S,
        schedule=Schedule(as_published=assumptions.as_published),
        space=WIDE_SPACE if assumptions.wide else PUBLISHED_SPACE,
        progress=progress or (lambda done: None),
    )
    for point in points:
        rows.append(curve_row(point, machine.name, assumptions.rules.batch))
        if keep is not None:
            keep(rows[-1])
    ended = len(rows) < len(shapes)
    return SimulatedRun(machine, assumptions, marked(rows, machine, ended))


def curves_of(runs: Sequence[SimulatedRun], width: int) -> SimulatedCurves:
    """Return curves as one answer.

    Args:
        runs: The curves.
        width: The smallest width that was asked for.

    Raises:
        NoAnswerError: If none has a point.
    """
    if any(run.rows for run in runs):
        return SimulatedCurves(tuple(runs))
    names = ", ".join(dict.fromkeys(run.machine.name for run in runs))
    days = (runs[0].assumptions.duration_s or QUARTER_S) / 86400
    raise NoAnswerError(
        f"no cluster of {names} finishes d_model = {width} in {days:.4g} days; allow more by "
        "--duration"
    )


@dataclass(frozen=True, repr=False)
class MLPPlans(Answer):
    """The best plans of a sparse MLP on a cluster.

    Attributes:
        machine: The machine.
        points: The plans, the best first.
        assumptions: The rules and the space.
    """

    page = "plan_mlp"
    machine: Machine
    points: Sequence[Point]
    assumptions: Assumptions
