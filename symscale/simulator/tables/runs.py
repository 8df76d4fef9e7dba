"""What was simulated: a machine, the rules and space assumed, and the rows of its table."""

from collections.abc import Sequence
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.curve import Point
from symscale.simulator.sparse_mlp.shapes import Rules
from symscale.simulator.tables.curves import Row


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
