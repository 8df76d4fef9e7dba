"""Which blocks lie on a pipeline stage."""

from functools import cache
from itertools import accumulate

import sympy as sp

from symscale.costs.transformer.architecture import Architecture
from symscale.costs.transformer.assembly import Assembly
from symscale.costs.transformer.plan import whole
from symscale.errors import InputError


def block_order(architecture: Architecture) -> tuple[int, ...] | None:
    """Return the stack of each block, first to last; None where a count is a formula.

    Example:
        >>> from symscale.costs.transformer.architecture import transformer
        >>> block_order(transformer()) is None
        True
    """
    if architecture.order:
        return architecture.order
    counts = [whole(stack.blocks) for stack in architecture.stacks]
    if None in counts:
        return None
    return tuple(i for i, count in enumerate(counts) for _ in range(count or 0))


def stage_sizes(layers: int, stages: int) -> tuple[int, ...]:
    """Return the blocks of each stage: as even as can be, longer stages first.

    Example:
        >>> stage_sizes(126, 16)
        (8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7, 7)
    """
    each, more = divmod(layers, stages)
    return tuple(each + (i < more) for i in range(stages))


def heaviest_stage(model: Assembly) -> tuple[sp.Expr, ...]:
    """Return how many blocks of each stack lie on the stage with the most arithmetic.

    Where a size or the number of stages is a formula, blocks are spread evenly.

    Raises:
        InputError: If there are more stages than blocks.
    """
    architecture, stages = model.architecture, whole(model.plan.N_PP)
    order = block_order(architecture)
    if stages is None or order is None:
        return tuple(stack.blocks / model.plan.N_PP for stack in architecture.stacks)
    chunks = stages * (whole(model.plan.v) or 1)
    if chunks > len(order):
        raise InputError(
            f"{chunks} pipeline chunks are more than the {len(order)} blocks of "
            f"{architecture.name}; at most {len(order)} can be filled"
        )
    weights = _block_weights(model)
    ends = list(accumulate(stage_sizes(len(order), stages)))
    parts = [order[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    heaviest = max(parts, key=lambda part: sum(weights[i] for i in part))
    return tuple(sp.Integer(heaviest.count(i)) for i in range(len(architecture.stacks)))


@cache
def _block_weights(model: Assembly) -> tuple[float, ...]:
    """Arithmetic of one block of each stack, relative to the others."""
    found = []
    for stack in model.architecture.stacks:
        flop = sp.Add(*(c.forward_flop.expr for c in model.of_stack(stack))) / stack.blocks
        per_token = (flop / model.tokens).subs(dict.fromkeys(flop.free_symbols, 1))
        found.append(float(per_token))
    return tuple(found)
