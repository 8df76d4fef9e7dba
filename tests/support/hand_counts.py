"""Parameters of a Transformer by writing down its tensors, one by one, as numbers.

A second route to what `symscale.costs` counts by formula: nothing is shared but the
description of the model.
"""

from collections.abc import Iterator
from math import prod

import sympy as sp

from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    Experts,
    FeedForward,
)

Shape = tuple[int, ...]


def number(size: sp.Expr | int) -> int:
    value = sp.Rational(size)
    assert value.q == 1, size
    return int(value.p)


def attention_shapes(a: Attention, d: int) -> Iterator[Shape]:
    heads, kv, key = number(a.heads), number(a.kv_heads), number(a.head_width)
    value = key if a.value_width is None else number(a.value_width)
    if a.latent is None:
        outputs = [heads * key, kv * key, kv * value]
        yield from ((d, width) for width in outputs)
        if a.qkv_bias:
            yield from ((width,) for width in outputs)
        if a.position_product:
            yield (d, heads * key)
    else:
        rotary, rank = number(a.latent.rotary_width), number(a.latent.kv_rank)
        if a.latent.query_rank is None:
            yield (d, heads * (key + rotary))
        else:
            narrow = number(a.latent.query_rank)
            yield from [(d, narrow), (narrow,), (narrow, heads * (key + rotary))]
        yield from [(d, rank + rotary), (rank,), (rank, heads * (key + value))]
    if a.query_norm:
        yield from [(key,), (key,)]
    yield (heads * value, d)
    if a.output_bias:
        yield (d,)


def dense_shapes(mlp: FeedForward, d: int) -> Iterator[Shape]:
    width = number(mlp.width)
    inward = 2 if mlp.gated else 1
    yield from [(d, width)] * inward
    yield (width, d)
    if mlp.bias:
        yield from [(width,)] * inward
        yield (d,)


def mlp_shapes(mlp: FeedForward | Experts, d: int, active: bool) -> Iterator[Shape]:
    if isinstance(mlp, FeedForward):
        yield from dense_shapes(mlp, d)
        return
    experts = number(mlp.experts)
    yield (d, experts)
    if mlp.selection_bias:
        yield (experts,)
    for _ in range(number(mlp.active) if active else experts):
        yield from dense_shapes(mlp.expert, d)
    if mlp.shared is not None:
        yield from dense_shapes(mlp.shared, d)
    if mlp.shared_gate:
        yield (d, 1)


def block_shapes(block: Block, d: int, norm: int, active: bool) -> Iterator[Shape]:
    yield from attention_shapes(block.attention, d)
    if block.cross is not None:
        yield from attention_shapes(block.cross, d)
    yield from mlp_shapes(block.mlp, d, active)
    yield from [(norm,)] * block.norms


def parameters(model: Architecture, *, active: bool = False, embedding: bool = True) -> int:
    """Count the parameters; `active` only those that a token meets."""
    d, vocabulary = number(model.d_model), number(model.vocabulary)
    norm = 2 * d if model.norm == "layer" and model.norm_shift else d
    total = 0
    if embedding:
        total += vocabulary * d
    for stack in model.stacks:
        shapes = block_shapes(stack.block, d, norm, active)
        total += number(stack.blocks) * sum(prod(shape) for shape in shapes)
    if model.positions == "learned":
        total += number(model.position_entries) * d
    if model.positions == "relative":
        sides = {stack.encoder: stack.block.attention for stack in model.stacks}
        for attention in sides.values():
            total += number(model.position_entries) * number(attention.heads)
    total += number(model.token_types) * d
    total += norm * (model.final_norms + model.embedding_norm)
    if model.pooler:
        total += d * d + d
    if model.head and not model.tied:
        total += d * vocabulary
    if model.head_bias:
        total += vocabulary
    return total
