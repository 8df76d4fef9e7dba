"""Edge and slack: arithmetic for each byte that must be, or can be, waited for."""

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.asymptotics import Assumption, Growth, asymptotics
from symscale.algebra.rewrites.rewrite import Rewrite, compose, rearrange, substitute
from symscale.costs.cost import cost
from symscale.costs.transformer.component import Role
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import TWO_CS, symbols
from symscale.pages.formulas import formula
from symscale.pages.of.derive import show
from symscale.studies.comp_vs_comm.ratios import CompVsComm, asymptotic_model
from symscale.studies.training.constraints import quantity


def derive() -> Derivation:
    """Derive FLOP per byte of serialized and of overlapped communication, and their growth."""
    b, L, d, n, w, N_TP, N_DP = symbols("b L d_model n_ctx w N_TP N_DP")
    F_device, F_behind, Q_ser, Q_grad = symbols("F_device F_behind Q_ser Q_grad")
    study = CompVsComm(asymptotic_model())
    build = DerivationBuilder(
        "edge-and-slack",
        "Edge and slack: arithmetic for each byte of communication",
        "Tensor parallelism all-reduces activations while all else waits; data parallelism "
        "all-reduces gradients behind the products of the backward pass. How many FLOP are there "
        "for each byte of either payload, and how does that grow? The Transformer is that of "
        "derivation layer-flop; nothing is computed again, and a pipeline, which takes the same "
        "part of both, is left out.",
    )
    build.define(
        "arithmetic", quantity("F_device"), study.compute,
        "the blocks' FLOP of a step (derivation layer-flop), shared by N_TP N_DP devices",
    )
    build.define(
        "serialized", quantity("Q_ser"), cost(study.serialized.expr / w, "word"),
        "four all-reduces of b d_model/N_DP words a block: the outputs of attention and MLP "
        "forward, the gradients of their inputs backward", TWO_CS,
    )
    edge = 3 * (6 * d + n) / (w * N_TP)
    build.rewrite(
        "edge",
        ratio(F_device / (w * Q_ser), {F_device: study.compute.expr,
                                       Q_ser: study.serialized.expr / w}, edge),
        "FLOP for each byte of serialized payload: batch and depth cancel",
        ["arithmetic", "serialized"],
    )
    product = next(c for c in study.model.layered if c.role is Role.MLP).contractions[0]
    weights = product.words_per_device(product.operands[1])
    behind = product.per_device(product.forward_flop) * 2
    build.define(
        "behind", quantity("F_behind"), behind,
        "the gradients of input and weights of one product of the MLP: 4 FLOP a token and weight",
    )
    build.define(
        "gradient", quantity("Q_grad"), weights, "its weights, a device's part of them", TWO_CS
    )
    slack = 4 * b / (w * N_DP)
    build.rewrite(
        "slack",
        ratio(F_behind / (w * Q_grad), {F_behind: behind.expr, Q_grad: weights.expr}, slack),
        "FLOP for each byte of gradient: the widths and N_TP cancel, tokens remain",
        ["behind", "gradient"],
    )
    bounded = Assumption(Monomial.of(n), "O", Monomial.of(d), "n_ctx = O(d_model)")
    along = Growth((d, L), (bounded,), {N_TP: Monomial.of(L * d**2)})
    falls = theta(edge, along)
    rows = (
        ("edge", "all sizes and degrees", theta(edge, Growth((d, n, N_TP)))),
        ("edge", "N_TP = L d_model^2 (as parameters do), n_ctx = O(d_model)", falls),
        ("slack", "tokens and replicas", theta(slack, Growth((b, N_DP)))),
    )
    return build.finish(
        "The edge grows with the width of the model and the length of its sequences, and falls "
        "with the degree of tensor parallelism. The slack grows with the tokens of a replica "
        "alone. A ring sends 2 (N_TP - 1)/N_TP words over each device's links for each word of "
        "payload. Where N_TP grows as the parameters do, as constant memory asks for without a "
        "deeper pipeline (derivation required-tp), and sequences grow no faster than the width, "
        f"n_ctx = O(d_model), the edge of growing models falls as {formula.text(falls)}, to "
        "nothing. Where n_ctx grows faster, it falls more slowly, or not at all.",
        (NumbersTable("Growth, by dominant terms", ("ratio", "as grow", "Theta"), rows),),
    )


def ratio(expr: sp.Expr, values: dict[sp.Symbol, sp.Expr], after: sp.Expr) -> Rewrite:
    """Put values into a quotient, and cancel."""
    put = substitute(expr, values, "put in")
    return compose(put, rearrange(put.after, after, "cancelled"))


def theta(expr: sp.Expr, growth: Growth) -> sp.Expr:
    """The class of an expression as its symbols grow."""
    (piece,) = asymptotics(expr, growth).pieces
    found = piece.theta
    return sp.Integer(1) if found is None else found


if __name__ == "__main__":
    show(derive())
