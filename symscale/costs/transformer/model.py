"""What a step of a Transformer costs under a parallel plan, as studies ask it.

Everything follows from the contractions of its components. FLOP counts matrix
products only, 2 a multiplication and addition; norms, softmax, activations and
lookups are not counted.
"""

from collections.abc import Iterable

import sympy as sp

from symscale.costs.contraction import Contraction, Pass
from symscale.costs.cost import Cost, total
from symscale.costs.memory import Memory, Recipe
from symscale.costs.model import Parallelism
from symscale.costs.transformer.architecture import Experts
from symscale.costs.transformer.assembly import Assembly
from symscale.costs.transformer.communication import communications
from symscale.costs.transformer.component import Role
from symscale.costs.transformer.memory import fullest_device


class Transformer(Assembly):
    """A Transformer, a step's tokens and a parallel plan; costs are per step.

    Example:
        >>> from symscale.costs.transformer.architecture import transformer
        >>> from symscale.language.symbols import symbols
        >>> b, n_ctx, d_model = symbols("b n_ctx d_model")
        >>> model = Transformer(transformer(), b, n_ctx)
        >>> sp.factor(model.layer_flop.expr)
        12*L*b*d_model*(6*d_model + n_ctx)
    """

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

    def flop(self, phase: Pass) -> Cost:
        """FLOP of the products of one kind."""
        found = [p.flop(phase) * c.blocks for c in self.components for p in c.products]
        return total(found, "FLOP")

    def weight_traffic(self, phase: Pass) -> Cost:
        """Words of weights through memory in one kind of product, summed over devices.

        Each microbatch streams them anew; what is computed again is left out.
        """
        found = [
            p.weight_traffic(phase, self.plan.m) * c.blocks
            for c in self.components for p in c.products
        ]
        return total(found, "word")

    def exchange_words(self, parallelism: Parallelism) -> Cost:
        """Words over the links of all devices, each as busy as one of the heaviest stage."""
        found = [e.words for e in communications(self) if e.parallelism == parallelism]
        return total(found, "word") * self.plan.devices

    def memory(self, recipe: Recipe) -> Memory:
        """Bytes of the device that needs most: see `fullest_device`."""
        return fullest_device(self, recipe)
