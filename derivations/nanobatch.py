"""Memory bandwidth: the smallest nanobatch.

How many tokens an expert must see at a time, so that arithmetic hides the streaming
of its weights.
"""

import sympy as sp

from symscale.costs.cost import cost, total
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.times import memory_time
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import DATA_MOVEMENT, symbols
from symscale.pages.formats.document import Number
from symscale.pages.formulas import formula
from symscale.pages.of.derive import show
from symscale.studies.requests.numbers import on_machines
from symscale.studies.training.constraints import PEAK, quantity, reduced_plan


def derive() -> Derivation:
    """Derive the least number of tokens of a nanobatch and expert."""
    N, n, C, W_mem = symbols("N n C W_mem")
    model = sparse_mlp(reduced_plan())
    build = DerivationBuilder(
        "nanobatch",
        "Memory bandwidth: the smallest nanobatch",
        "Each nanobatch streams the weights of a shard from memory anew. With how many tokens "
        "does the arithmetic on them take longer than the streaming? A token meets one of E "
        "experts, and tokens spread evenly over them.",
    )
    build.define(
        "tokens", quantity("n"), model.tokens_per_nanobatch,
        "a batch is divided over replicas, experts and the m nanobatches of a step",
    )
    reasons = {
        "forward": "the forward products read each weight once a nanobatch",
        "activation gradient": "so do the products for the gradients of activations",
        "weight gradient": "the products for the gradients of weights read an accumulator and "
        "write it back: two words a weight, over the full bandwidth of 2 W_mem that reads and "
        "writes share",
    }
    for phase in model.contractions[0].passes:
        build.assume(
            phase,
            memory_time(model.weight_traffic(phase), N), "<=", PEAK.time(model.flop(phase), N),
            reasons[phase], DATA_MOVEMENT,
        )
    for phase in ("forward", "activation gradient"):
        build.product(
            f"tokens, {phase}", {phase: 1, "tokens": -1},
            f"divide by the tokens of a nanobatch: what the {phase} products ask for", solve_for=n,
        )
    build.product(
        "nanobatch", {"weight gradient": 1, "tokens": -1},
        "the weight-gradient products ask for twice as many, so they bind", solve_for=n,
    )
    least = C / (2 * W_mem)
    phases = model.contractions[0].passes
    streaming = total([memory_time(model.weight_traffic(p), N) for p in phases], "s")
    together = sp.cancel(model.tokens_per_nanobatch.expr * streaming.expr
                         / PEAK.time(model.training_flop, N).expr)
    cost(least, "token").require_same_unit(model.tokens_per_nanobatch)
    rows = tuple((title, Number(v, "token", 7)) for title, (v,) in on_machines([least], "node"))
    return build.finish(
        "A nanobatch needs at least C/(2 W_mem) tokens an expert, that is (C/2)/W_mem with C/2 "
        "multiply-accumulates a second. The half of the data sheet's bandwidth appears because "
        "the weight-gradient products read and write; the others, which only read, need half as "
        "many tokens. Each kind of product is asked to hide its own streaming; over a whole step, "
        f"all streaming behind all products, {formula.text(together)} would do. Assumed: the "
        "weights of a shard do not fit into the cache, and activations are read once, so that "
        "their traffic is smaller by the ratio of n to the widths of a shard.",
        (NumbersTable("The nanobatch", ("device", "n"), rows),),
    )


if __name__ == "__main__":
    show(derive())
