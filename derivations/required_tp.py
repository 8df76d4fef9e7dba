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
from symscale.language.symbols import KORTHIKANTI, TWO_CS, symbol, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity


def derive() -> Derivation:
    """Derive the least N_TP with which a block fits, and the rule that follows for growth."""
    b, L, d, n, w, P, N_TP = symbols("b L d_model n_ctx w P N_TP")
    M_cap, M_base, P_base, N_base = symbols("M_cap M_base P_base N_base")
    recipe = RECIPES["mixed"]
    plan = Plan(N_TP=N_TP, recompute="selective")
    model = Transformer(transformer(), b, n, plan)
    needed = block_memory(model, recipe).expr.xreplace({w: sp.Integer(2)})
    split, whole = split_by_tensor_degree(needed)
    build = DerivationBuilder(
        "required-tp",
        "Required tensor parallelism: the degree that memory asks for",
        "However deep a pipeline is, a device holds one block of one microbatch of b tokens, or "
        "its part of it. From which degree of tensor parallelism on does that fit? And what does "
        "a degree that follows the model's size leave of the edge?",
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
        "a device's part of a block fits",
    )
    build.product("required degree", {"fits": 1}, "solve for N_TP", solve_for=N_TP)
    build.assume(
        "follows the model", quantity("N_TP"), "==",
        quantity("c_P") * P / quantity("M_cap"),
        "what is split is mostly in proportion to the parameters, at c_P bytes each, and the "
        "degree is the least that fits", TWO_CS,
    )
    build.assume(
        "base model", quantity("N_base"), "==",
        quantity("c_P") * P_base / quantity("M_base"),
        "so it is for a base model, with the same bytes a parameter", TWO_CS,
    )
    build.product(
        "rule of the study", {"follows the model": 1, "base model": -1},
        "with p = P/P_base and s = M_cap/M_base: N_TP = N_base p/s", solve_for=N_TP,
    )
    build.define(
        "weights", quantity("P"), cost(12 * L * d**2, "1"),
        "weights of the blocks (derivation layer-flop)",
    )
    edge = 3 * (6 * d + n) / (w * N_TP)
    degree = build.product(
        "degree of the model", {"rule of the study": 1, "weights": 1}, "put in the weights",
        solve_for=N_TP,
    ).statement.rhs
    put = substitute(edge, {N_TP: degree}, "the degree")
    after = M_cap * P_base * (6 * d + n) / (4 * w * M_base * N_base * L * d**2)
    build.rewrite(
        "edge at that degree",
        compose(put, rearrange(put.after, after, "cancelled")),
        "FLOP for each byte of serialized payload (derivation edge-and-slack)",
        ["degree of the model"],
    )
    bounded = Assumption(Monomial.of(n), "O", Monomial.of(d), "n_ctx = O(d_model)")
    (piece,) = asymptotics(after, Growth((d, L), (bounded,))).pieces
    size, memory = sp.Rational(540, 1), sp.Rational(80, 32)
    p = size / sp.Rational(39, 10)
    rows = (
        ("p, of 540e9 over 3.9e9 parameters", Number(p, "", 5)),
        ("s, of 80 over 32 GB", Number(memory)),
        ("N_TP, with a base of 8", Number(8 * p / memory, "", 4)),
        ("growth of the edge, n_ctx = O(d_model)", piece.theta or symbol("L")),
    )
    return build.finish(
        "A block needs N_TP at least M_split/(M_cap - M_whole), and fits at no degree where "
        "M_whole exceeds the capacity. By the study's rule the degree grows as the parameters "
        "over the memory; the edge then falls as 1/(L d_model): larger models on devices of the "
        "same memory wait ever longer. The base of 3.9e9 parameters at degree 8 is unconfirmed as "
        "the study's.",
        (NumbersTable("An example", ("quantity", "value"), rows),),
    )


if __name__ == "__main__":
    show(derive())
