"""Bytes of memory that a step reads and writes besides what matrix products hide.

Products of long operands are bound by arithmetic, and their traffic hides behind it.
What does not hide: norms, residual sums, dropout and nonlinearities, each a pass over its
operands; softmax and the products of attention over written scores, a head wide and so
bound by memory; and the gradients that every microbatch adds to those before it. Kernels
are taken as usual implementations fuse them: bias with the nonlinearity, dropout with the
residual sum, mask with the softmax. Words are of w bytes, masks of 1.
"""

from dataclasses import dataclass

import sympy as sp

from symscale.costs.memory import Recipe
from symscale.costs.transformer.architecture import Experts, FeedForward, Stack
from symscale.costs.transformer.model import Transformer

ZERO = sp.Integer(0)
WORD = sp.Integer(2)
LOSS = 24
"""Bytes of a logit: in 32 bits, read and written three times over both passes."""


@dataclass(frozen=True)
class Passes:
    """Bytes of an entry that a kernel reads and writes.

    Attributes:
        forward: In the forward pass.
        backward: In the backward pass.
    """

    forward: int
    backward: int

    def total(self, again: bool) -> int:
        """Bytes of a step, the forward pass twice where it is computed again.

        Example:
            >>> NORM.total(again=True)
            14
        """
        return self.forward * (2 if again else 1) + self.backward


NORM = Passes(4, 6)
"""A norm: read and write; read input and gradient, write."""
RESIDUAL = Passes(6, 6)
"""A residual sum: read two, write one; likewise the sum of the two gradients."""
DROPPED = Passes(7, 11)
"""A residual sum with dropout: a mask is written, and read with a gradient that is written."""
MERGE = Passes(4, 4)
"""Heads put side by side: a copy."""
ROTARY = Passes(4, 4)
"""Rotation of queries and keys by their positions: read and write."""
PLAIN = Passes(4, 6)
"""A nonlinearity: read and write; read input and gradient, write."""
GATED = Passes(6, 10)
"""A gated nonlinearity: read two, write one; read three, write two."""
SOFTMAX = Passes(4, 6)
"""A softmax: read and write; read output and gradient, write."""
DROPPED_SCORES = Passes(5, 5)
"""Dropout of the scores: read, write, and a mask; both ways."""
CORE_PRODUCTS = Passes(4, 8)
"""Scores in the two products of attention: written, read; backward written once, read thrice."""
DISPATCH = Passes(8, 8)
"""Tokens copied to their experts' order and back."""


def elementwise_traffic(model: Transformer, stack: Stack) -> sp.Expr:
    """Bytes that a device reads and writes in one block in a step, products' own aside.

    Definition: the sum over kernels of entries of their operands times the bytes of
    `Passes`. Per token of a plain block with dropout, layer norms and full recomputation:

        78 d_model / N_SP + 68 d_model / N_TP + 29 n_heads n_ctx / N_TP

    with N_SP = N_TP under sequence parallelism, else 1.

    Args:
        model: The model under its plan.
        stack: Which of its stacks.

    Returns:
        Bytes, in the symbols of the plan.

    Example:
        >>> from symscale.facts.models.zoo import load_model
        >>> from symscale.costs.transformer.plan import Plan
        >>> model = Transformer(load_model("gpt-3"), sp.Integer(2048), sp.Integer(2048),
        ...     Plan(recompute="full"))
        >>> elementwise_traffic(model, model.architecture.stacks[0]) / (2048 * 12288)
        610
    """
    architecture, block, plan = model.architecture, stack.block, model.plan
    again = plan.recompute == "full"
    d, dropout = architecture.d_model, architecture.dropout
    tokens = model.tokens / plan.token_degree
    sums = (1 if block.parallel else 2) + (block.cross is not None)
    stream = block.norms * NORM.total(again) + sums * (DROPPED if dropout else RESIDUAL).total(
        again
    )
    found = stream * d / plan.kept_split
    attentions = [block.attention, *([block.cross] if block.cross else [])]
    for attention in attentions:
        found += MERGE.total(again) * attention.heads * attention.values_of_head / plan.N_TP
        turned = attention.heads * attention.head_width / plan.N_TP
        turned += attention.kv_heads * attention.head_width / plan.split_of_kv
        if architecture.positions == "rotary":
            found += ROTARY.total(again) * turned
        if attention.query_norm:
            found += NORM.total(again) * turned
        if not plan.fused_attention:
            again_here = plan.recompute != "none"
            each = SOFTMAX.total(again_here)
            each += DROPPED_SCORES.total(again_here) if dropout else 0
            found += each * _scores(model, stack)
    mlp = block.mlp
    if isinstance(mlp, FeedForward):
        return tokens * (found + _hidden(mlp, again) / plan.N_TP)
    return tokens * (found + _experts(mlp, d, again) / plan.N_TP)


def _scores(model: Transformer, stack: Stack) -> sp.Expr:
    """Scores of a token on a device: masked ones are written as well."""
    attention = stack.block.attention
    seen = model.context
    if attention.window is not None:
        seen = sp.Min(attention.window, model.context)
    return attention.heads * seen / model.plan.N_TP


def _hidden(mlp: FeedForward, again: bool) -> sp.Expr:
    return (GATED if mlp.gated else PLAIN).total(again) * mlp.width


def _experts(mlp: Experts, d_model: sp.Expr, again: bool) -> sp.Expr:
    seen = mlp.active * mlp.capacity
    found = seen * (_hidden(mlp.expert, again) + DISPATCH.total(again) * d_model)
    return found + (_hidden(mlp.shared, again) if mlp.shared is not None else ZERO)


def core_traffic(model: Transformer, stack: Stack) -> sp.Expr:
    """Bytes of scores that attention's two products read and write in one block in a step.

    Zero in a fused kernel, which never writes them. Operands a head wide are left out:
    with heads of 128 against n_ctx scores they are few.

    Args:
        model: The model under its plan.
        stack: Which of its stacks.

    Example:
        >>> from symscale.facts.models.zoo import load_model
        >>> from symscale.costs.transformer.plan import Plan
        >>> model = Transformer(load_model("gpt-3"), sp.Integer(2048), sp.Integer(2048),
        ...     Plan(recompute="selective"))
        >>> core_traffic(model, model.architecture.stacks[0]) / (2048 * 96 * 2048)
        16
    """
    plan = model.plan
    if plan.fused_attention:
        return ZERO
    each = CORE_PRODUCTS.total(plan.recompute != "none")
    return each * model.tokens / plan.token_degree * _scores(model, stack)


def gradient_traffic(parameters: sp.Expr, microbatches: sp.Expr, recipe: Recipe) -> sp.Expr:
    """Bytes by which a device adds gradients of weights to those of earlier microbatches.

    Each microbatch reads and writes the sum: 2 m n times the bytes of a gradient.

    Example:
        >>> from symscale.costs.memory import recipe_called
        >>> gradient_traffic(sp.Integer(10), sp.Integer(3), recipe_called("mixed"))
        240
    """
    return 2 * microbatches * parameters * recipe.gradients


def loss_traffic(model: Transformer) -> sp.Expr:
    """Bytes of logits that the softmax and its gradient read and write in a step.

    Args:
        model: The model under its plan.
    """
    if not model.architecture.head:
        return ZERO
    plan = model.plan
    words = model.tokens * model.architecture.vocabulary / (plan.token_degree * plan.N_TP)
    return LOSS * words
