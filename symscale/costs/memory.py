"""Memory of a device: bytes that a parameter takes, and the buckets of what is held."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from symscale.costs.cost import Cost, total
from symscale.errors import unknown_name


@dataclass(frozen=True)
class Recipe:
    """Bytes that each parameter takes, by bucket.

    Attributes:
        name: Its name.
        weights: Bytes of the weights that products use.
        gradients: Bytes of a gradient.
        optimizer: Bytes of the optimizer's states, master weights included.
        meaning: What they are.
        source: Key of its source.
    """

    name: str
    weights: int
    gradients: int
    optimizer: int
    meaning: str
    source: str

    @property
    def bytes(self) -> int:
        """Bytes of a parameter in all."""
        return self.weights + self.gradients + self.optimizer


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.name: recipe
        for recipe in (
            Recipe("mixed", 2, 4, 12,
                   "16-bit weights, 32-bit gradients, Adam with 32-bit master weights",
                   "korthikanti-2022"),
            Recipe("mixed-16", 2, 2, 12,
                   "16-bit weights and gradients, Adam with 32-bit master weights",
                   "rajbhandari-2020"),
            Recipe("full", 4, 4, 8, "everything in 32 bits, Adam", "rajbhandari-2020"),
            Recipe("deepseek", 1, 4, 8,
                   "8-bit weights, 32-bit gradients and master weights, 16-bit moments",
                   "deepseek-v3"),
        )
    }
)
"""The precision recipes by name."""


def recipe_called(name: str) -> Recipe:
    """Return a precision recipe.

    Raises:
        UnknownNameError: If there is none of that name.

    Example:
        >>> recipe_called("mixed").bytes
        18
    """
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    return RECIPES[name]


@dataclass(frozen=True)
class Memory:
    """What one device of the heaviest stage holds, in bytes.

    Attributes:
        weights: Weights.
        gradients: Their gradients.
        optimizer: States of the optimizer.
        activations: Activations kept for the backward pass, all microbatches in flight.
        recomputed: Activations of the one block that is being computed again.
        stage: Which stage of the pipeline it is.
    """

    weights: Cost
    gradients: Cost
    optimizer: Cost
    activations: Cost
    recomputed: Cost
    stage: Literal["only", "first", "last"]

    @property
    def total(self) -> Cost:
        """All of it."""
        return total(list(self.buckets.values()), "byte")

    @property
    def buckets(self) -> dict[str, Cost]:
        """The buckets by name."""
        names = ("weights", "gradients", "optimizer", "activations", "recomputed")
        return {name: getattr(self, name) for name in names}
