"""A parallel plan of the sparse MLP: into how many ways each dimension is split."""

from dataclasses import dataclass, fields

import sympy as sp

from symscale.language.symbols import symbol

DEGREES = ("N_DP", "N_TP_model", "N_TP_ff", "N_PP", "N_EP")
"""The degrees whose product is the number of devices, in the order of a plan."""


@dataclass(frozen=True)
class MLPPlan:
    """The parallel degrees, symbolic or numbers.

    Attributes:
        N_DP: Data parallelism: the tokens of a batch.
        N_TP_model: Tensor parallelism: d_model.
        N_TP_ff: Tensor parallelism: d_ff.
        N_PP: Pipeline parallelism: the blocks.
        N_EP: Expert parallelism: the experts.
        m: Microbatches of a pipeline in one step.
        v: Interleaving: model chunks of a pipeline stage.
    """

    N_DP: sp.Expr
    N_TP_model: sp.Expr
    N_TP_ff: sp.Expr
    N_PP: sp.Expr
    N_EP: sp.Expr
    m: sp.Expr
    v: sp.Expr

    @property
    def tensor_degree(self) -> sp.Expr:
        """N_TP, over both dimensions of the weights."""
        return self.N_TP_model * self.N_TP_ff

    @property
    def devices(self) -> sp.Expr:
        """Devices in all: the product of the degrees."""
        return self.N_DP * self.tensor_degree * self.N_PP * self.N_EP


def symbolic_plan() -> MLPPlan:
    """Return the plan in which every degree is its own symbol.

    Example:
        >>> symbolic_plan().devices
        N_DP*N_EP*N_PP*N_TP_ff*N_TP_model
    """
    return MLPPlan(**{f.name: symbol(f.name) for f in fields(MLPPlan)})


def serial_plan() -> MLPPlan:
    """Return the plan of a single device."""
    return MLPPlan(**{f.name: sp.Integer(1) for f in fields(MLPPlan)})
