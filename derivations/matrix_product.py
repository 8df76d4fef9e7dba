"""Data movement of a matrix product.

One rule for all parallelism: a tensor is replicated over the splits of the
dimensions that it lacks, and it or its gradient is all-reduced over them.
"""

import sympy as sp

from symscale.algebra.rewrites.rewrite import substitute
from symscale.costs.contraction import Dimension, einsum
from symscale.costs.cost import cost
from symscale.derivation.steps import Derivation, DerivationBuilder
from symscale.language.symbols import DATA_MOVEMENT, symbol, symbols
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity

REASONS = {
    "A": "the gradient of A lacks dimension j, so its partial sums over the shards of j are "
    "all-reduced: a reduce-scatter and an all-gather move (N_J - 1) times the tensor each",
    "B": "the gradient of B lacks dimension i, so its partial sums over the shards of i are "
    "all-reduced; where i counts tokens this is data parallelism",
    "C": "C lacks dimension k, so its partial sums over the shards of k are all-reduced",
}


def derive() -> Derivation:
    """Derive words over the network and FLOP of a product split along all dimensions."""
    I, J, K, N_I, N_J, N_K = symbols("I J K N_I N_J N_K")  # noqa: E741  # the field's letters
    product = einsum(
        "product",
        "ik,kj->ij",
        {"i": Dimension(I, N_I), "j": Dimension(J, N_J), "k": Dimension(K, N_K)},
    )
    build = DerivationBuilder(
        "matrix-product",
        "Data movement of a matrix product",
        "An I x K matrix A (activations) times a K x J matrix B (weights) gives the I x J matrix "
        "C. Each dimension is split. How many words cross the network in a training step, and how "
        "many FLOP does it take?",
    )
    words = {}
    for reduction in product.reductions:
        name = f"Q_{reduction.tensor}"
        words[symbol(name)] = reduction.words.expr
        build.define(
            name, quantity(name), reduction.words, REASONS[reduction.tensor], DATA_MOVEMENT
        )
    build.define(
        "F", quantity("F"), product.forward_flop,
        "each triple of indices is one multiplication and one addition",
    )
    step = build.rewrite(
        "network",
        substitute(sp.Add(*words), words, "the words of a step, summed over all devices"),
        premises=[s.name for s in words],
    )
    cost(step.statement.rhs, "word").require_same_unit(product.network_words)
    build.rewrite(
        "arithmetic",
        substitute(
            len(product.passes) * symbol("F"),
            {symbol("F"): product.forward_flop.expr},
            "the forward product, the gradient of A and the gradient of B combine the same triples",
        ),
        premises=["F"],
    )
    return build.finish(
        "Splitting only the tokens (N_J = N_K = 1) leaves the weight gradients' all-reduce, "
        "2 K J (N_I - 1) words: data parallelism. Splitting a width leaves the all-reduce of "
        "activations: tensor parallelism. Nothing moves where nothing is split."
    )


if __name__ == "__main__":
    show(derive())
