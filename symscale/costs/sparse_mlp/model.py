"""The model of the data-movement study: L blocks, each a sparse MLP of E experts.

A block is two products, d_model -> d_ff -> d_model, in each of E experts that see
b/E tokens. Layers and experts are dimensions of the einsums that every tensor
has, so that their splits, pipeline and expert parallelism, reduce nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from symscale.costs.contraction import Contraction, Dimension, Pass, Reduction, einsum
from symscale.costs.cost import Cost, cost, total
from symscale.costs.memory import Memory, Recipe
from symscale.costs.model import Parallelism
from symscale.costs.pipeline import interface_words, pipeline_interfaces
from symscale.costs.sparse_mlp.plan import MLPPlan, symbolic_plan
from symscale.language.symbols import symbol


@dataclass(frozen=True)
class SparseMLP:
    """A model of sparse MLP blocks under a parallel plan; costs are per step.

    Attributes:
        d_model: Width of the residual stream.
        d_ff: Width of the hidden layer.
        L: Number of blocks.
        E: Number of experts, of which each token sees one.
        tokens: Tokens of a batch.
        plan: The parallel degrees.

    Example:
        >>> sparse_mlp().training_flop.expr
        12*L*b*d_ff*d_model
    """

    d_model: sp.Expr
    d_ff: sp.Expr
    L: sp.Expr
    E: sp.Expr
    tokens: sp.Expr
    plan: MLPPlan

    @cached_property
    def contractions(self) -> tuple[Contraction, Contraction]:
        """The two products of the blocks: up to d_ff, and down again."""
        plan = self.plan
        dimensions = {
            "l": Dimension(self.L, plan.N_PP),
            "e": Dimension(self.E, plan.N_EP),
            "t": Dimension(self.tokens / self.E, plan.N_DP),
            "d": Dimension(self.d_model, plan.N_TP_model),
            "f": Dimension(self.d_ff, plan.N_TP_ff),
        }
        return (
            einsum("up", "letd,lefd->letf", dimensions, names=("x", "W_up", "h")),
            einsum("down", "letf,ledf->letd", dimensions, names=("h", "W_down", "y")),
        )

    @property
    def parameter_words(self) -> Cost:
        """Words of parameters; one word a parameter."""
        return total([c.parameter_words for c in self.contractions], "word")

    @property
    def parameters(self) -> sp.Expr:
        """Number of parameters, P."""
        return self.parameter_words.expr

    @property
    def training_flop(self) -> Cost:
        """FLOP of a step: forward and both gradients."""
        return total([c.training_flop for c in self.contractions], "FLOP")

    def flop(self, phase: Pass) -> Cost:
        """FLOP of the products of one kind."""
        return total([c.flop(phase) for c in self.contractions], "FLOP")

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """Every all-reduce of a step."""
        return tuple(r for c in self.contractions for r in c.reductions)

    def reduction_words(self, phase: Pass) -> Cost:
        """Words of the all-reduces after the products of one kind."""
        return total([r.words for r in self.reductions if r.phase == phase], "word")

    @property
    def gather_words(self) -> Cost:
        """Words to gather weights stored in shares over their replicas, once (FSDP)."""
        return total([c.gather_words for c in self.contractions], "word")

    @property
    def scatter_words(self) -> Cost:
        """Words to sum the gradients of such weights into shares (FSDP)."""
        return total([c.scatter_words for c in self.contractions], "word")

    def exchange_words(self, parallelism: Parallelism) -> Cost:
        """Words over the network of one kind of parallelism.

        Data parallelism reduces gradients of weights, tensor parallelism activations and
        their gradients. Between pipeline stages words count where experts are not split;
        between experts where there is no pipeline: from one block to the next a token's
        expert is any of the E, so it stays on its group of devices with probability 1/N_EP.
        """
        plan = self.plan
        if parallelism == "pipeline":
            crossings = pipeline_interfaces(plan.N_PP, plan.v)
            return interface_words(self.tokens, self.d_model, crossings)
        if parallelism == "expert":
            return interface_words(self.tokens, self.d_model, self.L - 1) * (1 - 1 / plan.N_EP)
        reduced = {"data": True, "tensor": False}.get(parallelism)  # whether parameters
        return total([r.words for r in self.reductions if r.parameters is reduced], "word")

    def weight_traffic(self, phase: Pass) -> Cost:
        """Words of weights through memory in one kind of product, summed over devices.

        Each of the m microbatches streams them anew.
        """
        return total([c.weight_traffic(phase, self.plan.m) for c in self.contractions], "word")

    @property
    def sequential_products(self) -> sp.Expr:
        """Products of a step that follow one another, at least: a token meets every block.

        Two forward and two backward in each block: 4 L.
        """
        return self.L * sum((c.sequential_products for c in self.contractions), sp.Integer(0))

    @property
    def tokens_per_nanobatch(self) -> Cost:
        """Tokens of a microbatch that one expert of one replica sees."""
        return cost(self.tokens / (self.E * self.plan.N_DP * self.plan.m), "token")

    def activation_words(self, live: sp.Expr) -> Cost:
        """Words of activations in all devices together.

        Each block keeps the inputs of its two products.

        Args:
            live: Microbatches whose activations a stage keeps.
        """
        kept = total([c.activation_words for c in self.contractions], "word")
        return kept * live / self.plan.m

    def memory(self, recipe: Recipe) -> Memory:
        """Bytes of a device of the first stage, which keeps N_PP microbatches.

        Replicas share out gradients and states of the optimizer.
        """
        stages, devices = self.plan.N_PP, self.plan.devices
        share = cost(self.parameters / devices, "byte")
        kept = self.activation_words(stages) * cost(symbol("w"), "byte/word") / devices
        return Memory(
            share * self.plan.N_DP * recipe.weights, share * recipe.gradients,
            share * recipe.optimizer, kept, cost(0, "byte"), "only" if stages == 1 else "first",
        )


def sparse_mlp(plan: MLPPlan | None = None) -> SparseMLP:
    """Return the model with every size a symbol of its own.

    Args:
        plan: The parallel plan; by default all degrees are symbols.
    """
    return SparseMLP(
        symbol("d_model"), symbol("d_ff"), symbol("L"), symbol("E"), symbol("b"),
        plan or symbolic_plan(),
    )
