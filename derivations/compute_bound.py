"""Compute-bound: how far data, sharded and tensor parallelism go by themselves.

Each kind of traffic alone must hide behind the arithmetic of its pass.
"""

import sympy as sp

from symscale.algebra.rewrites.rewrite import drop_ones
from symscale.costs.cost import Cost
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import SCALING_BOOK, symbol, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.mesh.costs import BACKWARD, data_time, mesh_mlp, pass_time, tensor_time

QUESTION = (
    "The tokens of a batch are split over N_DP groups of devices, d_ff over the N_TP devices of a "
    "group, and each kind of parallelism has mesh axes of its own. Up to which degrees does every "
    "collective hide behind the arithmetic of its pass? In the letters of the scaling book: "
    "B = b, D = d_model, F = d_ff, X = N_DP, Y = N_TP, M_X = M_DP, M_Y = M_TP; its W counts "
    "bytes, of which a word has two, so its A = C/W is C/(2 W_axis) here."
)

FIGURES = {"C": 459 * 10**12, "W_axis": 9 * 10**10}
"""The scaling book's figures of a TPU v5p: FLOP/s, and words/s along a mesh axis."""


def derive() -> Derivation:
    """Derive the least batch of a replica and the largest degree of tensor parallelism."""
    b, N_DP, N_TP = symbols("b N_DP N_TP")
    model = mesh_mlp()
    build = DerivationBuilder(
        "compute-bound", "Compute-bound: how far each kind of parallelism goes", QUESTION
    )
    forward, backward = pass_time(model, "forward"), pass_time(model, *BACKWARD)
    sharded = model.gather_words + model.scatter_words
    traffic: dict[str, tuple[Cost, Cost, sp.Symbol, str]] = {
        "data": (
            data_time(model.reduction_words("weight gradient")), backward, N_DP,
            "data parallelism: the all-reduce of weight gradients hides behind the backward pass, "
            "the products for both gradients",
        ),
        "sharded, forward": (
            data_time(model.gather_words), forward, N_DP,
            "sharded data parallelism (FSDP, ZeRO-3): weights, stored in shares over their "
            "replicas, are gathered behind the forward pass",
        ),
        "sharded, backward": (
            data_time(sharded), backward, N_DP,
            "and gathered again behind the backward pass, their gradients reduce-scattered",
        ),
        "tensor, backward": (
            tensor_time(model.reduction_words("activation gradient")), backward, N_TP,
            "tensor parallelism: the gradient of the input lacks d_ff, so it is all-reduced "
            "behind the backward pass",
        ),
        "tensor, forward": (
            tensor_time(model.reduction_words("forward")), forward, N_TP,
            "so is the output behind the forward pass, which has half of the arithmetic (or it is "
            "reduce-scattered, and gathered before the next block: the same words)",
        ),
    }
    for name, (network, arithmetic, _, reason) in traffic.items():
        build.assume(name, network, "<=", arithmetic, reason, SCALING_BOOK)
    found = {}
    for name, (network, _, degree, _) in traffic.items():
        build.replace(
            f"{name}, without -1", name, drop_ones(network.expr, [degree]),
            "drop the -1 of the collective: its traffic is overstated",
        )
        solve_for = b if degree == N_DP else degree
        found[name] = build.product(
            f"{name}, bound", {f"{name}, without -1": 1},
            "solve for the batch" if degree == N_DP else "solve for the degree",
            solve_for=solve_for,
        )
    tokens = found["data"].statement.rhs / N_DP
    tensor = found["tensor, forward"].statement.rhs / symbol("M_TP")
    rows = (
        ("tokens of a replica, 1 mesh axis", Number(on_v5p(tokens, M_DP=1), "token")),
        ("tokens of a replica, 3 mesh axes", Number(on_v5p(tokens, M_DP=3), "token")),
        ("N_TP for each mesh axis at d_ff = 30000", Number(on_v5p(tensor, d_ff=30000), "", 7)),
    )
    return build.finish(
        "Data parallelism, sharded or not, stays compute-bound where a replica has "
        "b/N_DP >= C/(2 M_DP W_axis) tokens, the book's B/X > A/M_X. (Its N_TP devices share the "
        "replica's tokens and its traffic alike.) Tensor parallelism stays compute-bound where "
        "N_TP <= 2 M_TP W_axis d_ff/C, the book's Y < M_Y F/A; the forward pass binds, whatever "
        "batch and d_model are. The bounds suffice always. They are necessary up to the -1: "
        "exactly, N_DP - 1 and N_TP - 1 stand in place of N_DP and N_TP, at most a factor 2 from "
        "degree 2 on, which vanishes as degrees grow. A degree of 1 has no traffic at all.",
        (
            NumbersTable(
                "On a TPU v5p, with the scaling book's figures: "
                f"{FIGURES['C'] / 1e14:g}e14 FLOP/s; {2 * FIGURES['W_axis'] / 1e11:g}e11 byte/s a "
                "mesh axis, over both links of a device; 2 bytes a word",
                ("bound", "value"), rows,
            ),
        ),
    )


def on_v5p(formula: sp.Expr, **values: int) -> sp.Rational:
    """A formula at the scaling book's figures of a TPU v5p."""
    at = {symbol(n): sp.Integer(v) for n, v in (FIGURES | values).items()}
    return sp.Rational(formula.xreplace(at))


if __name__ == "__main__":
    show(derive())
