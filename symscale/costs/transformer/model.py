"""A Transformer under a parallel plan: its components, FLOP and parameters.

Everything follows from the contractions of its components. FLOP counts matrix
products only, 2 a multiplication and addition; norms, softmax, activations and
lookups are not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from symscale.costs.contraction import Contraction, Dimension, einsum
from symscale.costs.cost import Cost, total
from symscale.costs.transformer.architecture import Architecture, Experts, Stack
from symscale.costs.transformer.attention import Mask, attention_component
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
from symscale.costs.transformer.plan import SERIAL, TransformerPlan


@dataclass(frozen=True)
class Transformer:
    """A Transformer, a step's tokens and a parallel plan; costs are per step.

    Attributes:
        architecture: What it is made of.
        tokens: Tokens of a step, b. In an encoder-decoder model each side sees as many.
        context: Tokens of a sequence.
        plan: The parallel degrees.
        mask: "full" counts every pair of tokens in attention, "causal" only those that a
            kernel which skips masked pairs computes.

    Example:
        >>> from symscale.costs.transformer.architecture import transformer
        >>> from symscale.language.symbols import symbols
        >>> b, n_ctx, d_model = symbols("b n_ctx d_model")
        >>> model = Transformer(transformer(), b, n_ctx)
        >>> sp.factor(model.layer_flop.expr)
        12*L*b*d_model*(6*d_model + n_ctx)
    """

    architecture: Architecture
    tokens: sp.Expr
    context: sp.Expr
    plan: TransformerPlan = SERIAL
    mask: Mask = "full"

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
                causal=block.causal, mask=self.mask, dropout=dropout, output=added,
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

    @property
    def parameters(self) -> sp.Expr:
        """Number of parameters."""
        return sp.Add(*(c.parameters for c in self.components))

    @property
    def active_parameters(self) -> sp.Expr:
        """Parameters that a token meets: of the experts, only its own.

        The embedding counts, though a token reads one row of it; without it, see
        `active_without_embedding`.
        """
        return sp.Add(self.parameters, *(-idle for idle in self._idle()))

    @property
    def active_without_embedding(self) -> sp.Expr:
        """Active parameters less the input embedding, unless the logits share its table."""
        architecture = self.architecture
        if architecture.tied and architecture.head:
            return self.active_parameters
        return self.active_parameters - architecture.vocabulary * architecture.d_model

    def _idle(self) -> Iterable[sp.Expr]:
        for stack in self.architecture.stacks:
            mlp = stack.block.mlp
            if isinstance(mlp, Experts):
                parts = [c for c in self.of_stack(stack) if c.role is Role.EXPERTS]
                yield from (c.parameters * (1 - mlp.active / mlp.experts) for c in parts)

    @property
    def forward_flop(self) -> Cost:
        """FLOP of the forward pass."""
        return total([c.forward_flop for c in self.components], "FLOP")

    @property
    def training_flop(self) -> Cost:
        """FLOP of a step, forward and backward, nothing computed twice: model FLOP."""
        return total([c.training_flop for c in self.components], "FLOP")

    @property
    def layer_flop(self) -> Cost:
        """FLOP of a step in the blocks, without embedding and logits."""
        return total([c.training_flop for c in self.layered], "FLOP")

    @property
    def recomputed_flop(self) -> Cost:
        """FLOP that recomputation adds to a step.

        Full recomputation repeats the forward pass of the blocks; selective
        recomputation repeats scores and context of attention.
        """
        return total(
            [p.forward_flop * blocks for p, blocks in self._computed_again()], "FLOP"
        )

    def _computed_again(self) -> list[tuple[Contraction, sp.Expr]]:
        """Products that the backward pass does again, with how many blocks do."""
        recompute = self.plan.recompute
        return [
            (product, component.blocks)
            for component in self.layered
            for product in (
                component.contractions if recompute == "full"
                else component.core if recompute == "selective" else ()
            )
        ]

    @property
    def hardware_flop(self) -> Cost:
        """FLOP of a step with what is computed again."""
        return self.training_flop + self.recomputed_flop

    @property
    def forward_flop_per_device(self) -> Cost:
        """FLOP of a device in the blocks' forward pass, were all blocks on each stage."""
        return total([c.forward_flop_per_device for c in self.layered], "FLOP")

    @property
    def layer_flop_per_device(self) -> Cost:
        """FLOP of a device in the blocks in a step, were all blocks on each stage.

        With what is computed again.
        """
        again = [p.per_device(p.forward_flop) * n for p, n in self._computed_again()]
        return total([*(c.training_flop_per_device for c in self.layered), *again], "FLOP")

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
