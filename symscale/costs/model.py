"""What a study asks of a model, whichever it is: the sparse MLP and Transformers answer."""

from typing import Literal, Protocol

import sympy as sp

from symscale.costs.contraction import Pass
from symscale.costs.cost import Cost
from symscale.costs.memory import Memory, Recipe

Parallelism = Literal["data", "tensor", "context", "expert", "pipeline"]


class SpreadOut(Protocol):
    """What a study asks of a parallel plan."""

    @property
    def devices(self) -> sp.Expr:
        """Devices in all."""

    @property
    def N_PP(self) -> sp.Expr:
        """Stages of the pipeline."""


class CostedModel(Protocol):
    """A model, the tokens of a step and a parallel plan, with what a step costs.

    Costs are of one step and summed over all devices, but for the memory of one. A study
    divides them by what a device does in a second.

    Example:
        >>> from symscale.costs.sparse_mlp.model import sparse_mlp
        >>> from symscale.costs.transformer.architecture import transformer
        >>> from symscale.costs.transformer.model import Transformer
        >>> from symscale.language.symbols import symbols
        >>> def flop_of_a_token(model: CostedModel) -> sp.Expr:
        ...     return sp.factor((model.training_flop / model.tokens).expr)
        >>> flop_of_a_token(sparse_mlp())
        12*L*d_ff*d_model
        >>> flop_of_a_token(Transformer(transformer(), *symbols("b n_ctx")))
        6*d_model*(12*L*d_model + 2*L*n_ctx + n_vocab)
    """

    @property
    def tokens(self) -> sp.Expr:
        """Tokens of a step."""

    @property
    def plan(self) -> SpreadOut:
        """How the step is spread over devices."""

    @property
    def parameters(self) -> sp.Expr:
        """Number of parameters."""

    @property
    def training_flop(self) -> Cost:
        """FLOP, forward and backward, nothing computed twice."""

    def flop(self, phase: Pass) -> Cost:
        """FLOP of the products of one kind; of all kinds together, `training_flop`."""

    def weight_traffic(self, phase: Pass) -> Cost:
        """Words of weights through memory in the products of one kind."""

    def exchange_words(self, parallelism: Parallelism) -> Cost:
        """Words over the links, were all devices as busy as the busiest."""

    def memory(self, recipe: Recipe) -> Memory:
        """Bytes that the fullest device holds.

        Args:
            recipe: Bytes of a parameter.
        """
