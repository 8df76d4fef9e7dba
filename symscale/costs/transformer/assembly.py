"""The components of a Transformer under a parallel plan, from its architecture."""

from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from symscale.costs.contraction import Dimension, einsum
from symscale.costs.transformer.architecture import Architecture, Stack
from symscale.costs.transformer.attention import attention_component
from symscale.costs.transformer.component import (
    ONE,
    Component,
    Exchange,
    Kept,
    Role,
    Vector,
    exchanges,
    word_bytes,
)
from symscale.costs.transformer.mlp import mlp_components
from symscale.costs.transformer.plan import SERIAL, Plan


@dataclass(frozen=True)
class Assembly:
    """An architecture, a step's tokens and a parallel plan, and the components of them.

    Attributes:
        architecture: What it is made of.
        tokens: Tokens of a step, b. In an encoder-decoder model each side sees as many.
        context: Tokens of a sequence.
        plan: The parallel degrees, and what is switched on.

    Example:
        >>> from symscale.costs.transformer.architecture import transformer
        >>> from symscale.language.symbols import symbols
        >>> [c.name for c in Assembly(transformer(), *symbols("b n_ctx")).layered]
        ['attention', 'mlp', 'norms']
    """

    architecture: Architecture
    tokens: sp.Expr
    context: sp.Expr
    plan: Plan[sp.Expr] = SERIAL

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Embedding, the parts of each stack's blocks, norms, and logits."""
        found = [self._embedding()]
        for stack in self.architecture.stacks:
            found += self._stack(stack)
        return (*found, *self._end())

    @property
    def layered(self) -> tuple[Component, ...]:
        """The components of the blocks."""
        return tuple(c for c in self.components if c.layered)

    def _stack(self, stack: Stack) -> list[Component]:
        architecture, block, plan = self.architecture, stack.block, self.plan
        d, dropout = architecture.d_model, architecture.dropout
        # In a parallel block attention and MLP read one tensor and add up to one.
        added = "output of the block" if block.parallel else ""
        found = [
            attention_component(
                block.attention, plan, d, self.tokens, self.context,
                causal=block.causal, dropout=dropout, output=added,
            )
        ]
        if block.cross is not None:
            found.append(
                attention_component(
                    block.cross, plan, d, self.tokens, self.context, role=Role.CROSS_ATTENTION,
                    causal=False, dropout=dropout, source="output of the encoder",
                )
            )
        found += mlp_components(
            block.mlp, plan, d, self.tokens, self.context, dropout=dropout,
            parallel=block.parallel,
        )
        found.append(self._norms(Role.NORMS, block.norms))
        return [replace(c, stack=stack.name, blocks=stack.blocks) for c in found]

    def _norms(self, role: Role, count: int) -> Component:
        architecture = self.architecture
        entries = self.tokens * architecture.d_model
        kept = tuple(
            Kept("input of a norm", entries, word_bytes(), self.plan.kept_split)
            for _ in range(count)
        )
        vector = Vector("gain and shift", architecture.norm_parameters * count)
        return Component(role, (), (vector,), kept)

    def _embedding(self) -> Component:
        architecture = self.architecture
        d = architecture.d_model
        lookup = einsum(
            "embedding", "sty,yd->std", self._ends(),
            names=("tokens", "embedding table", "embedded tokens"),
        )
        vectors = []
        if architecture.positions == "learned":
            vectors.append(Vector("positions", architecture.position_entries * d))
        if architecture.positions == "relative":
            sides = {stack.encoder for stack in architecture.stacks}
            heads = architecture.stacks[0].block.attention.heads
            buckets = architecture.position_entries * heads * len(sides)
            vectors.append(Vector("relative positions", buckets, self.plan.N_TP))
        if architecture.token_types != 0:
            vectors.append(Vector("token types", architecture.token_types * d))
        if architecture.embedding_norm:
            vectors.append(Vector("norm of the embedding", architecture.norm_parameters))
        mask = Kept("mask of the dropout", self.tokens * d, ONE, self.plan.kept_split)
        kept = (mask,) if architecture.dropout else ()
        return Component(Role.EMBEDDING, (lookup,), tuple(vectors), kept)

    def _ends(self) -> dict[str, Dimension]:
        architecture, plan = self.architecture, self.plan
        return {
            "s": Dimension(self.tokens / self.context, plan.N_DP),
            "t": Dimension(self.context, plan.N_CP),
            "d": Dimension(architecture.d_model),
            "y": Dimension(architecture.vocabulary, plan.N_TP),
        }

    def _end(self) -> list[Component]:
        architecture, plan, w = self.architecture, self.plan, word_bytes()
        d, found = architecture.d_model, []
        if architecture.final_norms:
            found.append(self._norms(Role.FINAL_NORM, architecture.final_norms))
        if architecture.pooler:
            lengths = {"s": Dimension(self.tokens / self.context, plan.N_DP),
                       "d": Dimension(d), "h": Dimension(d)}
            pooler = einsum(
                "pooler", "sd,dh->sh", lengths, names=("first tokens", "W_pooler", "pooled")
            )
            found.append(Component(Role.POOLER, (pooler,), (Vector("bias", d),)))
        if architecture.head:
            logits = einsum(
                "logits", "std,dy->sty", self._ends(),
                names=("input of the logits", "unembedding table", "logits"),
            )
            bias = (
                (Vector("bias", architecture.vocabulary, plan.N_TP),)
                if architecture.head_bias else ()
            )
            # The loss is computed in 32 bits, twice a word of 16.
            kept = (
                Kept("input", self.tokens * d, w, plan.kept_split),
                Kept("logits", self.tokens * architecture.vocabulary, sp.Integer(4), plan.N_TP),
            )
            found.append(Component(Role.LOGITS, (logits,), bias, kept, tied=architecture.tied))
        return found

    def exchanges(self, stack: Stack) -> tuple[Exchange, ...]:
        """Return what the devices of one block of a stack exchange in a step."""
        parts = self.of_stack(stack)
        return exchanges(
            (product for part in parts for product in part.contractions),
            (copied for part in parts for copied in part.copies),
        )

    def of_stack(self, stack: Stack) -> tuple[Component, ...]:
        """Return the components of a stack's blocks."""
        return tuple(c for c in self.layered if c.stack == stack.name)
