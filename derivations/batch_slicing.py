"""Batch slicing: how many replicas and pipeline stages a batch feeds.

A pipeline without bubble needs two nanobatches a stage, and each nanobatch a least
number of tokens; together they bound N_DP N_PP.
"""

from symscale.algebra.rewrites.rewrite import rearrange
from symscale.costs.cost import cost
from symscale.costs.pipeline import bubble_fraction, microbatches_without_bubble
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.derivation.steps import Derivation, DerivationBuilder
from symscale.language.symbols import DATA_MOVEMENT, symbols
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import below, quantity, reduced_plan


def derive() -> Derivation:
    """Derive the largest product of data and pipeline parallelism."""
    C, W_mem, N_DP, N_PP, m, v = symbols("C W_mem N_DP N_PP m v")
    model = sparse_mlp(reduced_plan())
    build = DerivationBuilder(
        "batch-slicing",
        "Batch slicing: how many replicas and stages a batch feeds",
        "A batch is cut into pieces for replicas, experts and the microbatches of a pipeline; the "
        "tokens of a microbatch that one expert sees are a nanobatch. A token meets one of E "
        "experts, and tokens spread evenly over them. How large can N_DP N_PP be?",
    )
    build.define(
        "tokens", quantity("n"), model.tokens_per_nanobatch,
        "tokens of a nanobatch that one expert of one replica sees",
    )
    build.assume(
        "nanobatch", cost(C / (2 * W_mem), "token"), "<=", quantity("n"),
        "memory bandwidth asks for a least nanobatch (derivation 'nanobatch')", DATA_MOVEMENT,
    )
    build.assume_constraint(
        below(
            "slicing", cost(microbatches_without_bubble(N_PP), "1"), quantity("m"),
            "a zero-bubble schedule (v = 1) needs two nanobatches for each stage",
            DATA_MOVEMENT,
        )
    )
    fraction = bubble_fraction(N_PP, m, v)
    build.rewrite(
        "bubble",
        rearrange(
            1 - 1 / (1 + (N_PP - 1) / (v * m)),
            fraction,
            "a schedule with bubble (1F1B with v chunks a stage, m >= N_PP) takes (N_PP - 1)/(v m) "
            "longer instead: the right-hand side is the share of the longer step that is lost",
        ),
    )
    build.product(
        "replicas", {"tokens": 1, "nanobatch": 1, "slicing": 1},
        "put the least nanobatch and the least number of nanobatches into the batch",
        solve_for=N_DP,
    )
    return build.finish(
        "N_DP N_PP is at most b W_mem/(C E), that is b/(2 E n) with n = C/(2 W_mem), the least "
        "nanobatch: as far as memory goes, data and pipeline parallelism share the batch, and only "
        "their product counts. Degrees and microbatches count as real numbers here; with a single "
        "stage no second nanobatch is needed, and the bound is too strict by a factor 2."
    )


if __name__ == "__main__":
    show(derive())
