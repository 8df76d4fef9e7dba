"""The best plans of a Transformer on a cluster, from what a user asks."""

from collections.abc import Sequence
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.facts.machines.lumped import Machine
from symscale.simulator.transformer.planning import PlannedStep, Question
from symscale.simulator.transformer.step import ClusterClass


@dataclass(frozen=True, repr=False)
class TransformerPlans(Answer):
    """The best plans of a Transformer on a cluster.

    Attributes:
        question: What was asked.
        machine: The machine.
        cluster: The rates that it achieves.
        plans: The plans, the best first.
        training_tokens: Tokens of a run, or None.
    """

    page = "plan"
    question: Question
    machine: Machine
    cluster: ClusterClass
    plans: Sequence[PlannedStep]
    training_tokens: float | None = None

    @property
    def best(self) -> PlannedStep:
        """The best plan."""
        return self.plans[0]
