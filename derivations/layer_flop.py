"""FLOP of a Transformer: its layers, its step, and how close 6 P b comes."""

import sympy as sp

from symscale.algebra.rewrites.rewrite import Rewrite, compose, rearrange, substitute
from symscale.costs.cost import Cost, cost, total
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.component import Component, Role
from symscale.costs.transformer.model import Transformer
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import TWO_CS, symbol, symbols
from symscale.pages.formats.document import Number
from symscale.pages.formulas import formula
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity


def derive() -> Derivation:
    """Derive the FLOP of a step from the products, and compare them with 6 P b."""
    b, L, d, n, V = symbols("b L d_model n_ctx n_vocab")
    model = Transformer(transformer(), b, n)
    parts = {c.role: c for c in model.components}
    build = DerivationBuilder(
        "layer-flop",
        "FLOP of a Transformer",
        "A Transformer of L blocks, d_model wide, sees b tokens in sequences of n_ctx. Its "
        "attention is multi-head: queries, keys and values are d_model wide each, all heads "
        "together; its MLP has two products, without a gate, and a hidden layer of 4 d_model. How "
        "many FLOP does a step take, how many of them are attention's, and how far is 6 P b from "
        "them, P the weights of the blocks?",
    )
    attention = parts[Role.ATTENTION]
    facts = {
        "F_qkv": (products(attention, "query", "key", "value"), "three d_model x d_model products"),
        "F_core": (
            products(attention, "scores", "context"),
            "each token with each token of its sequence: d_model multiplications for the score, "
            "as many for the context; what a mask forbids is counted too",
        ),
        "F_out": (products(attention, "output projection"), "one d_model x d_model product"),
        "F_mlp": (parts[Role.MLP].forward_flop, "two products of d_model with 4 d_model"),
        "F_logits": (parts[Role.LOGITS].forward_flop, "one product of d_model with the vocabulary"),
    }
    for name, (flop, reason) in facts.items():
        build.define(name, quantity(name), flop, reason, TWO_CS)
    values = {symbol(name): flop.expr for name, (flop, _) in facts.items()}
    blocks = sp.Add(*symbols("F_qkv F_core F_out F_mlp"))
    layers = 24 * L * b * d**2 + 4 * L * b * d * n
    names = ["F_qkv", "F_core", "F_out", "F_mlp"]
    build.rewrite("forward pass", told(blocks, values, layers, "the blocks"), premises=names)
    step = 72 * b * L * d**2 * (1 + n / (6 * d))
    build.rewrite(
        "blocks", told(3 * blocks, values, step, "forward, and twice that backward"),
        "the gradients of input and weights are products of the same size", premises=names,
    )
    whole = 72 * b * L * d**2 * (1 + n / (6 * d) + V / (12 * L * d))
    logits = symbol("F_logits")
    build.rewrite(
        "step", told(3 * blocks + 3 * logits, values, whole, "blocks and logits"),
        "the logits have no attention and no depth", premises=[*names, "F_logits"],
    )
    again = 96 * b * L * d**2 * (1 + n / (6 * d) + V / (16 * L * d))
    build.rewrite(
        "with recomputation", told(4 * blocks + 3 * logits, values, again, "a fourth pass"),
        "full recomputation does the blocks' forward pass once more: the count of Megatron-LM",
        premises=[*names, "F_logits"],
    )
    build.rewrite(
        "attention's share",
        told(symbol("F_core") / blocks, values, n / (6 * d + n), "scores and context"),
        "of the blocks' FLOP, what grows with the square of the sequence", premises=names,
    )
    weights = total(
        [c.parameter_words for part in model.layered for c in part.contractions], "word"
    )
    P = symbol("P")  # the field's letter
    build.define(
        "weights", quantity("P"), cost(weights.expr * L, "1"),
        "weights of the blocks' products, without embedding, norms and biases",
    )
    build.rewrite(
        "six P b",
        Rewrite(
            whole, 6 * P * b * (1 + n / (6 * d) + V / (12 * L * d)), "==",
            "12 L d_model^2 are the weights", facts={P: weights.expr * L},
        ),
        "6 P b is the leading term of sequences well below 6 d_model and a vocabulary well below "
        "12 L d_model", ["weights"],
    )
    error = {"attention": n / (6 * d), "logits": V / (12 * L * d)}
    build.rewrite(
        "excess",
        told((3 * blocks + 3 * logits) / (6 * P * b), {**values, P: weights.expr * L},
             1 + sp.Add(*error.values()), "a step over 6 P b"),
        "what a step takes over 6 P b: beyond it, a term for attention and one for the logits",
        [*names, "F_logits", "weights"],
    )
    gpt_3 = load_model("gpt-3")
    sizes = {d: gpt_3.d_model, L: gpt_3.layers, n: gpt_3.context, V: gpt_3.vocabulary}
    beyond = {name: sp.Rational(part.xreplace(sizes)) for name, part in error.items()}
    shown = " and ".join(f"{float(100 * x):.2g} % for {name}" for name, x in beyond.items())
    masked = values[symbol("F_core")] / 2
    rows = tuple((name, Number(x, "", 3)) for name, x in beyond.items())
    return build.finish(
        "A step takes 72 b L d_model^2 FLOP times 1 + n_ctx/(6 d_model) + n_vocab/(12 L d_model), "
        "and with full recomputation a third more in the blocks. For GPT-3 (d_model "
        f"{sizes[d]}, {sizes[L]} blocks, n_ctx {sizes[n]}, n_vocab {sizes[V]}) that is, beyond "
        f"6 P b, {shown}. Norms, softmax and activations are not counted; nor is what a kernel "
        "saves that skips the masked half of the scores, in long sequences "
        f"{formula.text(masked)} forward.",
        (NumbersTable("What a step of GPT-3 takes beyond 6 P b", ("for", "share"), rows),),
    )


def products(component: Component, *names: str) -> Cost:
    """FLOP of some products of a component, all blocks."""
    chosen = [c.forward_flop * component.blocks for c in component.contractions if c.name in names]
    return total(chosen, "FLOP")


def told(
    expr: sp.Expr, values: dict[sp.Symbol, sp.Expr], after: sp.Expr, what: str
) -> Rewrite:
    """Put values in, and write the result in the form wanted."""
    used = {s: v for s, v in values.items() if expr.has(s)}
    put = substitute(expr, used, what)
    return compose(put, rearrange(put.after, after, "collected"))


if __name__ == "__main__":
    show(derive())
