"""Required tensor parallelism: the degree that memory asks for, and the edge it leaves."""

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.asymptotics import Assumption, Growth, asymptotics
from symscale.algebra.rewrites.rewrite import compose, rearrange, substitute
from symscale.costs.cost import cost
from symscale.costs.memory import RECIPES
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.memory import block_memory, split_by_tensor_degree
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import KORTHIKANTI, TWO_CS, symbols
from symscale.pages.formats.document import Number
from symscale.pages.formulas import formula
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity

BASE_PARAMETERS, BASE_DEGREE = sp.Integer(39 * 10**8), sp.Integer(8)
"""The base model of the study's rule; unconfirmed."""


def derive() -> Derivation:
    """Derive the least N_TP with which a block fits, and the rule that follows for growth."""
    b, L, d, n, w, P, N_TP, N_PP = symbols("b L d_model n_ctx w P N_TP N_PP")
    M_cap, P_base, per_parameter = symbols("M_cap P_base c_P")
    recipe = RECIPES["mixed"]
    plan = Plan(N_TP=N_TP, recompute="selective")
    model = Transformer(transformer(), b, n, plan)
    needed = block_memory(model, recipe).expr.xreplace({w: sp.Integer(2)})
    split, whole = split_by_tensor_degree(needed)
    build = DerivationBuilder(
        "required-tp",
        "Required tensor parallelism: the degree that memory asks for",
        "A replica has N_PP stages of N_TP devices, each stage L/N_PP blocks. However deep the "
        "pipeline is, a stage has a whole block at least, and the activations of a microbatch of b "
        "tokens in it. From which degree of tensor parallelism on do these fit? And where the "
        "degree follows the model's size, what does it leave of the edge? The Transformer is that "
        "of derivation layer-flop, with biases, layer norms and dropout; neither its states nor "
        "its tokens are sharded otherwise (no ZeRO, no sequence parallelism).",
    )
    build.define(
        "split", quantity("M_split"), cost(split, "byte"),
        f"weights, gradients and optimizer of a block's products, {recipe.bytes} bytes a "
        "parameter, and the activations that tensor parallelism splits, with selective "
        "recomputation and 2-byte words", KORTHIKANTI,
    )
    build.define(
        "whole", quantity("M_whole"), cost(whole, "byte"),
        "norms, output biases, and the activations that stay whole", KORTHIKANTI,
    )
    build.define(
        "free", quantity("M_free"), quantity("M_cap") - quantity("M_whole"),
        "the capacity of a device less what every device must hold; it must be positive",
    )
    build.assume(
        "fits", quantity("M_split") / N_TP, "<=", quantity("M_free"),
        "a device's part of one block fits: necessary for any depth of the pipeline, and enough "
        "only where a stage is one block with one microbatch at a time",
    )
    build.product("required degree", {"fits": 1}, "solve for N_TP", solve_for=N_TP)
    build.define(
        "weights", quantity("P"), cost(12 * L * d**2, "1"),
        "weights of all blocks (derivation layer-flop)",
    )
    build.assume(
        "follows the model", quantity("N_TP"), "==",
        quantity("c_P") * P / (N_PP * quantity("M_cap")),
        "a rule for growth: what is split is in proportion to the parameters, c_P bytes for each "
        "whatever the model, the N_PP N_TP devices of a replica share it, and the degree is the "
        "least with which it fits. The study has one stage, N_PP = 1: a device has its part of all "
        "blocks; at N_PP = L it has its part of one", TWO_CS,
    )
    build.product(
        "bytes a parameter", {"required degree": 1, "follows the model": 1, "weights": 1},
        "the rule gives a block enough devices where c_P is at least this: at N_PP = L a block's "
        "split bytes over its parameters, and over the free share of the capacity",
        solve_for=per_parameter,
    )
    build.assume(
        "base model", quantity("N_base"), "==",
        quantity("c_P") * P_base / (N_PP * quantity("M_base")),
        "so it is for a base model, with as many stages and bytes a parameter", TWO_CS,
    )
    build.product(
        "rule of the study", {"follows the model": 1, "base model": -1},
        "with p = P/P_base and s = M_cap/M_base: N_TP = N_base p/s", solve_for=N_TP,
    )
    degree = build.product(
        "degree of the model", {"follows the model": 1, "weights": 1}, "put in the weights",
        solve_for=N_TP,
    ).statement.rhs
    edge = 3 * (6 * d + n) / (w * N_TP)
    put = substitute(edge, {N_TP: degree}, "the degree")
    after = N_PP * M_cap * (6 * d + n) / (4 * w * per_parameter * L * d**2)
    build.rewrite(
        "edge at that degree",
        compose(put, rearrange(put.after, after, "cancelled")),
        "FLOP for each byte of serialized payload (derivation edge-and-slack; scores that are "
        "computed again are not counted)",
        ["degree of the model"],
    )
    bounded = Assumption(Monomial.of(n), "O", Monomial.of(d), "n_ctx = O(d_model)")
    shallow = theta(after, Growth((d, L), (bounded,)))
    deep = theta(after.xreplace({N_PP: L}), Growth((d, L), (bounded,)))
    size, memory = sp.Integer(540 * 10**9), sp.Rational(80, 32)
    p = size / BASE_PARAMETERS
    rows = (
        (f"p, of {short(size)} over {short(BASE_PARAMETERS)} parameters", Number(p, "", 5)),
        ("s, of 80 over 32 GB", Number(memory)),
        (f"N_TP, with a base of {BASE_DEGREE}", Number(BASE_DEGREE * p / memory, "", 4)),
        ("growth of the edge, N_PP constant, n_ctx = O(d_model)", shallow),
        ("growth of the edge, N_PP = L, n_ctx = O(d_model)", deep),
    )
    return build.finish(
        "A block needs N_TP at least M_split/(M_cap - M_whole), and fits at no degree where "
        "M_whole reaches the capacity. By the study's rule the degree grows as the parameters "
        "over the memory. Where neither the memory nor the number of stages grows, and sequences "
        f"grow no faster than the width, n_ctx = O(d_model), the edge then falls as "
        f"{formula.text(shallow)}: larger models on devices of the same memory wait ever longer. "
        f"Where the pipeline deepens with the model, N_PP = L, it falls as {formula.text(deep)} "
        f"only. The base of {short(BASE_PARAMETERS)} parameters at degree {BASE_DEGREE} is "
        "unconfirmed as the study's.",
        (NumbersTable("An example", ("quantity", "value"), rows),),
    )


def theta(expr: sp.Expr, growth: Growth) -> sp.Expr:
    """The class of an expression as its symbols grow."""
    (piece,) = asymptotics(expr, growth).pieces
    return piece.theta or sp.Integer(1)


def short(count: sp.Integer) -> str:
    """A count in billions, as 540e9."""
    return f"{float(count / 10**9):g}e9"


if __name__ == "__main__":
    show(derive())
