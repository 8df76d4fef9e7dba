"""Pipelines: how full they are, and what their stages hand over."""

import sympy as sp

from symscale.costs.cost import Cost, cost

PASSES = 2
"""Activations go forward through an interface, their gradients come back."""


def bubble_fraction(stages: sp.Expr, microbatches: sp.Expr, interleaving: sp.Expr) -> sp.Expr:
    """Share of a step in which a device waits, in 1F1B with interleaving.

    A stage waits for the first microbatch to reach it and for the last to return:
    (p - 1) of (p - 1 + v m) slots. Holds for m >= p microbatches.

    Example:
        >>> bubble_fraction(sp.Integer(4), sp.Integer(4), sp.Integer(1))
        3/7
    """
    return (stages - 1) / (stages - 1 + interleaving * microbatches)


def microbatches_without_bubble(stages: sp.Expr) -> sp.Expr:
    """Microbatches that a zero-bubble schedule needs to keep every stage at work: 2 p.

    A microbatch that enters stage 1 returns there after 2 p - 1 slots, when its
    gradient has come back through the other stages; until then others must fill the
    time. The published schedule asks for one more, 2 p.
    """
    return 2 * stages


def interface_words(tokens: sp.Expr, d_model: sp.Expr, interfaces: sp.Expr) -> Cost:
    """Words of a step across interfaces between blocks, summed over devices.

    Every token's residual stream crosses each interface forward, its gradient back.
    """
    return cost(PASSES * tokens * d_model * interfaces, "word")


def pipeline_interfaces(stages: sp.Expr, interleaving: sp.Expr) -> sp.Expr:
    """Interfaces of the model at which a token changes the device: v p - 1."""
    return interleaving * stages - 1
