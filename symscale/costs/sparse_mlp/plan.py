"""A parallel plan: into how many ways each dimension is split."""

from dataclasses import dataclass, fields

import sympy as sp

from symscale.language.symbols import symbol


@dataclass(frozen=True)
class Plan:
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


def symbolic_plan() -> Plan:
    """Return the plan in which every degree is its own symbol.

    Example:
        >>> symbolic_plan().devices
        N_DP*N_EP*N_PP*N_TP_ff*N_TP_model
    """
    return Plan(**{f.name: symbol(f.name) for f in fields(Plan)})


def serial_plan() -> Plan:
    """Return the plan of a single device."""
    return Plan(**{f.name: sp.Integer(1) for f in fields(Plan)})
