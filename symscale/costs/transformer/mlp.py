"""The MLP of a block as contractions: plain, gated, or a mixture of experts.

Letters: s sequences, t tokens, d the residual stream, f the hidden width, e experts,
c the tokens that one of them sees.
"""

from dataclasses import replace

import sympy as sp

from symscale.costs.contraction import Contraction, Dimension, einsum
from symscale.costs.transformer.architecture import Experts, FeedForward
from symscale.costs.transformer.component import ONE, Component, Kept, Role, Vector, word_bytes
from symscale.costs.transformer.plan import Plan


def mlp_components(
    mlp: FeedForward | Experts,
    plan: Plan[sp.Expr],
    d_model: sp.Expr,
    tokens: sp.Expr,
    context: sp.Expr,
    *,
    dropout: bool = False,
    parallel: bool = False,
) -> list[Component]:
    """Return the MLP of a block as components: itself, or router, experts and shared expert.

    Args:
        mlp: Its sizes.
        plan: The parallel plan.
        d_model: Width of the residual stream.
        tokens: Tokens of a step.
        context: Tokens of a sequence.
        dropout: Whether its output is dropped out.
        parallel: Whether attention and MLP read one tensor, which attention keeps, and add
            up to one.
    """
    lengths = {
        "s": Dimension(tokens / context, plan.N_DP),
        "t": Dimension(context, plan.N_CP),
        "d": Dimension(d_model),
    }
    source = "input of attention" if parallel else "input of mlp"
    if isinstance(mlp, FeedForward):
        output = "output of the block" if parallel else "output of mlp"
        dense = _dense(Role.MLP, mlp, plan, d_model, tokens, lengths, dropout, source, output)
        if parallel:
            return [dense]
        read = Kept("input", tokens * d_model, word_bytes(), plan.kept_split)
        return [replace(dense, kept=(read, *dense.kept))]
    components = [_router(mlp, plan, d_model, tokens, lengths, source)]
    components.append(_experts(mlp, plan, d_model, tokens, dropout))
    if mlp.shared is not None:
        shared = _dense(
            Role.SHARED_EXPERT, mlp.shared, plan, d_model, tokens, lengths, False, source,
            "output of the shared expert",
        )
        if mlp.shared_gate:
            gate = Vector("gate of the shared expert", d_model)
            shared = replace(shared, vectors=(*shared.vectors, gate))
        components.append(shared)
    return components


def _products(
    mlp: FeedForward, lead: str, weights: str, lengths: dict[str, Dimension], name: str,
    source: str, output: str,
) -> tuple[Contraction, ...]:
    """The products of an MLP; `lead` are the letters of tokens, `weights` those of weights."""
    up = f"{lead}d,{weights}df->{lead}f"
    down = f"{lead}f,{weights}fd->{lead}d"
    names = ["gate", "up"] if mlp.gated else ["up"]
    return (
        *(
            einsum(n, up, lengths, names=(source, f"W_{n} of {name}", f"{n} of {name}"))
            for n in names
        ),
        einsum(
            "down", down, lengths,
            names=(f"hidden layer of {name}", f"W_down of {name}", output),
        ),
    )


def _hidden(mlp: FeedForward, tokens: sp.Expr, plan: Plan[sp.Expr]) -> list[Kept]:
    """What the hidden layer keeps: before and after the nonlinearity, and its gate."""
    w = word_bytes()
    names = ["hidden layer before the nonlinearity", "hidden layer"]
    if mlp.gated:
        names.append("gate")
    return [Kept(name, tokens * mlp.width, w, plan.N_TP) for name in names]


def _biases(mlp: FeedForward, plan: Plan[sp.Expr], d_model: sp.Expr) -> tuple[Vector, ...]:
    if not mlp.bias:
        return ()
    width = mlp.width * (2 if mlp.gated else 1)
    return (Vector("hidden bias", width, plan.N_TP), Vector("output bias", d_model))


def _dense(
    role: Role, mlp: FeedForward, plan: Plan[sp.Expr], d_model: sp.Expr, tokens: sp.Expr,
    lengths: dict[str, Dimension], dropout: bool, source: str, output: str,
) -> Component:
    split = {**lengths, "f": Dimension(mlp.width, plan.N_TP)}
    kept = _hidden(mlp, tokens, plan)
    if dropout:
        kept.append(Kept("mask of the output's dropout", tokens * d_model, ONE, plan.kept_split))
    products = _products(mlp, "st", "", split, role, source, output)
    return Component(role, products, _biases(mlp, plan, d_model), tuple(kept))


def _router(
    mlp: Experts, plan: Plan[sp.Expr], d_model: sp.Expr, tokens: sp.Expr,
    lengths: dict[str, Dimension], source: str,
) -> Component:
    w = word_bytes()
    # Every device routes its own tokens with the whole router.
    product = einsum(
        "router", "std,dx->stx", {**lengths, "x": Dimension(mlp.experts)},
        names=(source, "W_router", "scores of the experts"),
    )
    bias = (Vector("selection bias", mlp.experts),) if mlp.selection_bias else ()
    kept = (
        Kept("input", tokens * d_model, w, plan.kept_split),
        Kept("scores of the experts", tokens * mlp.experts, w, plan.kept_split),
    )
    return Component(Role.ROUTER, (product,), bias, kept)


def _experts(
    mlp: Experts, plan: Plan[sp.Expr], d_model: sp.Expr, tokens: sp.Expr, dropout: bool
) -> Component:
    w = word_bytes()
    seen = tokens * mlp.active * mlp.capacity
    lengths = {
        "e": Dimension(mlp.experts, plan.N_EP),
        "c": Dimension(seen / mlp.experts, plan.token_degree / plan.N_EP),
        "d": Dimension(d_model),
        "f": Dimension(mlp.expert.width, plan.N_TP),
    }
    products = _products(
        mlp.expert, "ec", "e", lengths, "experts", "input of experts", "output of experts"
    )
    vectors = tuple(
        Vector(v.name, v.length * mlp.experts, v.split * plan.N_EP)
        for v in _biases(mlp.expert, plan, d_model)
    )
    kept = [
        Kept("dispatched tokens", seen * d_model, w, plan.kept_split),
        *_hidden(mlp.expert, seen, plan),
        Kept("outputs to be combined", seen * d_model, w, plan.kept_split),
    ]
    if dropout:
        kept.append(Kept("mask of the output's dropout", tokens * d_model, ONE, plan.kept_split))
    return Component(Role.EXPERTS, products, vectors, tuple(kept))
