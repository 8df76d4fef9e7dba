"""Activation memory of a block, and what parallelism leaves of it."""

from dataclasses import replace

import sympy as sp

from symscale.algebra.rewrites.rewrite import Rewrite, compose, rearrange, substitute
from symscale.costs.cost import Cost, cost
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.component import Kept
from symscale.costs.transformer.memory import block_activation_bytes
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import KORTHIKANTI, symbols
from symscale.pages.formulas import formula
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity

WORD = sp.Integer(2)


def derive() -> Derivation:
    """Derive the bytes that a block keeps for its backward pass, from what each part keeps."""
    b, d, n, heads, N_TP, w = symbols("b d_model n_ctx n_heads N_TP w")
    whole, split, core = symbols("K_whole K_split K_core")
    model = Transformer(transformer(), b, n, Plan(N_TP=N_TP))
    kept = [k for component in model.layered for k in component.kept]
    groups = {
        whole: [k for k in kept if k.split == 1],
        split: [k for k in kept if k.split != 1 and not k.core],
        core: [k for k in kept if k.core],
    }
    build = DerivationBuilder(
        "activation-memory",
        "Activation memory of a block",
        "The backward pass needs what the forward pass saw: the inputs of products and "
        "nonlinearities, and the masks of dropout. How many bytes does a block keep of b tokens, "
        "a microbatch of whole sequences of n_ctx, at 2 bytes a word and 1 a mask's entry? The "
        "block is that of GPT-2 and GPT-3: two layer norms, multi-head attention with heads of "
        "width d_model/n_heads, an MLP without a gate, dropout after the softmax and after both "
        "outputs. Attention keeps n_ctx entries for each token and head, what a mask forbids "
        "included.",
    )
    build.define(
        "width", quantity("d_ff"), 4 * quantity("d_model"),
        "the MLP has two products, with a hidden layer of this width between them; a gate would "
        "be a third product, with a hidden layer of its own to keep",
    )
    build.define(
        "heads", quantity("n_kv"), quantity("n_heads"),
        "each query head has a key and value head of its own, so queries, keys and values are "
        "d_model wide each",
    )
    reasons = {
        whole: "inputs of the norms, of the projections and of the MLP, and the masks of the two "
        "outputs: every device of a tensor-parallel group has them all",
        split: "queries, keys, values, attention's result, and the hidden layer before and after "
        "its nonlinearity: heads and hidden width are split",
        core: "softmax, its dropout's mask, and what the dropout leaves: one entry for each pair "
        "of tokens and head",
    }
    values = {}
    labels = {whole: "left whole", split: "split", core: "scores"}
    for symbol, group in groups.items():
        values[symbol] = amount(group).expr
        build.define(
            labels[symbol], quantity(str(symbol)), amount(group), reasons[symbol], KORTHIKANTI
        )
    scores = n * heads / d
    rows = (
        ("no parallelism", whole + split + core, 34 + 5 * scores),
        ("tensor parallelism", whole + (split + core) / N_TP, 10 + 24 / N_TP + 5 * scores / N_TP),
        ("tensor and sequence parallelism", (whole + split + core) / N_TP,
         (34 + 5 * scores) / N_TP),
        ("selective recomputation", (whole + split) / N_TP, 34 / N_TP),
    )
    why = {
        "no parallelism": "everything on one device",
        "tensor parallelism": "what it splits, in N_TP parts",
        "tensor and sequence parallelism": "norms, inputs and masks in parts of the tokens too",
        "selective recomputation": "with both, and the scores computed again from queries and keys",
    }
    for name, total, over in rows:
        build.rewrite(
            name, told(total, values, b * d * over), why[name],
            [labels[s] for s in groups if total.has(s)],
        )
    recomputing = replace(model, plan=replace(model.plan, recompute="full"))
    block_input = block_activation_bytes(recomputing).expr.xreplace({w: WORD})
    entries = tuple(
        (k.name, k.words, "1" if k.bytes_each == 1 else "2",
         "whole" if k.split == 1 else "split")
        for k in kept
    )
    return build.finish(
        "A block keeps b d_model (34 + 5 n_heads n_ctx/d_model) bytes. Tensor parallelism alone "
        "leaves 10 of the 34 whole; with sequence parallelism all of it is split. Recomputing "
        "scores and softmax, or a kernel that never writes them, removes the term that grows with "
        "the sequence (but for a number or two for each token and head, which are not counted). "
        "With full recomputation the block's input is left, "
        f"{formula.text(block_input)} bytes without sequence parallelism. A gated MLP, fewer key "
        "and value heads, another d_ff, or no dropout change the numbers: symscale cost MODEL "
        "counts them.",
        (NumbersTable(
            "What is kept", ("activation", "entries", "bytes each", "by tensor parallelism"),
            entries,
        ),),
    )


def amount(group: list[Kept]) -> Cost:
    """Bytes of some activations, at two bytes a word."""
    (w,) = symbols("w")
    return cost(sp.Add(*(k.words * k.bytes_each.xreplace({w: WORD}) for k in group)), "byte")


def told(expr: sp.Expr, values: dict[sp.Symbol, sp.Expr], after: sp.Expr) -> Rewrite:
    """Put values in, and write the result as a multiple of b d_model."""
    used = {s: v for s, v in values.items() if expr.has(s)}
    put = substitute(expr, used, "what is kept")
    return compose(put, rearrange(put.after, after, "collected"))


if __name__ == "__main__":
    show(derive())
