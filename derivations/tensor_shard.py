"""Tensor parallelism: the shard that hides its traffic, and the largest degree.

How far a layer can be split before its all-reduces take longer than its arithmetic.
"""

import sympy as sp

from symscale.costs.cost import cost
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.times import network_time
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import DATA_MOVEMENT, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.requests.numbers import on_machines
from symscale.studies.training.constraints import PEAK, quantity, reduced_plan, tensor_traffic


def derive() -> Derivation:
    """Derive a degree of tensor parallelism up to which arithmetic hides the traffic."""
    N, N_TP, C, W_net = symbols("N N_TP C W_net")
    model = sparse_mlp(reduced_plan())
    traffic = tensor_traffic(model)
    shard = sp.Rational(2, 3) * C / W_net
    build = DerivationBuilder(
        "tensor-shard",
        "Tensor parallelism: the shard that hides its traffic",
        "Tensor parallelism splits d_model and d_ff, and all-reduces activations four times a "
        "block. Up to which degree does the arithmetic of a step take longer than that?",
    )
    build.assume(
        "network",
        network_time(traffic.exact, N), "<=", PEAK.time(model.training_flop, N),
        "tensor-parallel reductions hide behind the arithmetic of a step", DATA_MOVEMENT,
    )
    build.define(
        "shard", quantity("a"), cost(shard, "1"),
        "the width that the result will be about; with C/2 multiply-accumulates a second it is "
        "(4/3) (C/2)/W_net", DATA_MOVEMENT,
    )
    build.define(
        "degree", quantity("N_TP"), cost(model.plan.tensor_degree, "1"),
        "the degree of tensor parallelism is the product of its two splits",
    )
    build.replace(
        "without -1", "network", traffic.without_ones,
        "drop the -1 of every all-reduce: the traffic is overstated",
    )
    build.replace(
        "best split", "without -1", traffic.best,
        "split N_TP between the two widths so that both terms are equal: by the inequality of "
        "the means no split moves less",
        facts=["degree"],
    )
    build.product(
        "sufficient degree", {"best split": 2, "shard": 2},
        "square, and put in the shard's width", solve_for=N_TP,
    )
    rows = tuple(
        (title, Number(a, "", 9)) for title, (a,) in on_machines([shard], "node")
    )
    return build.finish(
        "Up to as many devices as the d_model x d_ff matrix of weights has squares a x a, some "
        "split hides its traffic. Both of the best splits are at least 1 where N_TP is at least "
        "d_ff/d_model and d_model/d_ff; below, the wider dimension alone is split, the other has "
        "no traffic, and that hides too. The bound is cautious: with the -1 "
        "kept the arithmetic hides the traffic of more devices, though, by plans with both splits "
        "at least 2, of at most 4 times as many, since the traffic is overstated by at most a "
        "factor 2 there and enters squared.",
        (NumbersTable("The width a", ("device", "a"), rows),),
    )


if __name__ == "__main__":
    show(derive())
