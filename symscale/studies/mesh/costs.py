"""Data and tensor parallelism on a mesh of devices, as the scaling book has them.

A dense MLP; the batch is split over N_DP groups of devices, d_ff over N_TP devices of
a group. Each kind of parallelism has mesh axes of its own.
"""

import sympy as sp

from symscale.costs.contraction import Pass
from symscale.costs.cost import Cost, total
from symscale.costs.sparse_mlp.model import SparseMLP
from symscale.costs.sparse_mlp.plan import MLPPlan, serial_plan
from symscale.costs.times import arithmetic_time, mesh_time
from symscale.language.symbols import symbol, symbols

BACKWARD: tuple[Pass, ...] = ("activation gradient", "weight gradient")
"""The products of a backward pass."""


def dense_mlp(plan: MLPPlan | None = None) -> SparseMLP:
    """Return the MLP with a single expert; on one device unless a plan is given.

    Example:
        >>> dense_mlp().parameters
        2*L*d_ff*d_model
    """
    d_model, d_ff, L, b = symbols("d_model d_ff L b")
    return SparseMLP(d_model, d_ff, L, sp.Integer(1), b, plan or serial_plan())


def mesh_mlp() -> SparseMLP:
    """Return the dense MLP on N_DP x N_TP devices, d_ff split over the N_TP.

    Example:
        >>> mesh_mlp().reduction_words("forward").expr
        2*L*b*d_model*(N_TP - 1)
    """
    one = sp.Integer(1)
    return dense_mlp(MLPPlan(symbol("N_DP"), one, symbol("N_TP"), one, one, one, one))


def pass_time(model: SparseMLP, *phases: Pass) -> Cost:
    """Time of the arithmetic of a pass, spread over all devices at their peak rate."""
    return arithmetic_time(total([model.flop(p) for p in phases], "FLOP"), symbol("N"))


def data_time(words: Cost) -> Cost:
    """Time of traffic over the mesh axes of data parallelism."""
    return mesh_time(words, symbol("N"), symbol("M_DP"))


def tensor_time(words: Cost) -> Cost:
    """Time of traffic over the mesh axes of tensor parallelism."""
    return mesh_time(words, symbol("N"), symbol("M_TP"))
