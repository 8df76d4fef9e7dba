"""Attention as contractions: multi-head, grouped-query, multi-query and latent.

Letters: s sequences, t tokens, u the tokens they look at, d the residual stream,
g key and value heads, r query heads of each, k width of a query and key, z width
of a value, p and q the widths of latents, h that of the key which carries positions.
"""

import sympy as sp

from symscale.costs.contraction import Contraction, Dimension, Tensor, einsum
from symscale.costs.transformer.architecture import Attention, Latent
from symscale.costs.transformer.component import (
    ONE,
    Component,
    Copies,
    Kept,
    Role,
    Vector,
    word_bytes,
)
from symscale.costs.transformer.plan import Plan


def attended_share(context: sp.Expr, window: sp.Expr | None, skips_mask: bool) -> sp.Expr:
    """Share of the n_ctx^2 pairs of tokens that attention computes.

    Without a mask every pair within the window; a kernel that skips masked pairs does
    n_ctx w - w^2/2 of them, w the window or n_ctx: half, where there is no window.

    Example:
        >>> attended_share(sp.Integer(8), None, True)
        1/2
        >>> attended_share(sp.Integer(8), sp.Integer(4), False)
        1/2
    """
    seen = context if window is None else sp.Min(window, context)
    if skips_mask:
        return (context - seen / 2) * seen / context**2
    return seen / context


def attention_component(
    attention: Attention,
    plan: Plan[sp.Expr],
    d_model: sp.Expr,
    tokens: sp.Expr,
    context: sp.Expr,
    *,
    role: Role = Role.ATTENTION,
    causal: bool = True,
    dropout: bool = False,
    source: str = "",
    output: str = "",
) -> Component:
    """Return the attention of a block as a component.

    Args:
        attention: Its sizes.
        plan: The parallel plan.
        d_model: Width of the residual stream.
        tokens: Tokens of a step.
        context: Tokens of a sequence.
        role: What it is for.
        causal: Whether a token sees only those before it.
        dropout: Whether the scores and the output are dropped out.
        source: Name of the tensor that keys and values come from; "" for the input.
        output: Name of its output; "" for one of its own.
    """
    share = attended_share(context, attention.window, plan.mask == "causal" and causal)
    lengths = _dimensions(attention, plan, d_model, tokens, context)
    name = str(role)
    x = f"input of {name}"

    def of(*names: str) -> tuple[str, str, str]:
        first, second, third = (f"{tensor} of {name}" for tensor in names)
        return first, second, third

    core = (
        _product("scores", "stgrk,sugk->stgru", lengths, of("query", "key", "scores"), share, ()),
        _product(
            "context", "stgru,sugz->stgrz", lengths, of("scores", "value", "context"), share, ()
        ),
    )
    products = [
        *_projections(attention, lengths, name, x, source or x),
        *core,
        _product(
            "output projection", "stgrz,grzd->std", lengths,
            (f"context of {name}", f"W_output of {name}", output or f"output of {name}"),
        ),
    ]
    if attention.position_product:
        products += [
            # Keys of the relative positions, once for all sequences.
            _product(
                "position keys", "ud,dgrk->ugrk", lengths,
                of("relative positions", "W_position", "position keys"),
            ),
            _product(
                "position scores", "stgrk,ugrk->stgru", lengths,
                of("query", "position keys", "position scores"), share, (),
            ),
        ]
    return Component(
        role, tuple(products), _vectors(attention, plan, d_model),
        _kept(attention, plan, d_model, tokens, context, share, dropout, bool(source)),
        copies=_copies(attention, lengths, name), core=core,
    )


def _product(
    name: str,
    letters: str,
    lengths: dict[str, Dimension],
    names: tuple[str, str, str],
    density: sp.Expr = ONE,
    parameters: tuple[int, ...] = (1,),
) -> Contraction:
    used = {x: lengths[x] for x in lengths if x in letters}
    return einsum(name, letters, used, names=names, parameters=parameters, density=density)


def _dimensions(
    attention: Attention, plan: Plan[sp.Expr], d_model: sp.Expr, tokens: sp.Expr,
    context: sp.Expr,
) -> dict[str, Dimension]:
    latent = attention.latent
    rotary = latent.rotary_width if latent else sp.Integer(0)
    return {
        "s": Dimension(tokens / context, plan.N_DP),
        "t": Dimension(context, plan.N_CP),
        "u": Dimension(context),
        "d": Dimension(d_model),
        "g": Dimension(attention.kv_heads, plan.split_of_kv),
        "r": Dimension(attention.heads / attention.kv_heads, plan.repeats_of_kv),
        "k": Dimension(attention.head_width + rotary),
        "z": Dimension(attention.values_of_head),
        "p": Dimension(latent.query_rank or ONE if latent else ONE),
        "q": Dimension(latent.kv_rank if latent else ONE),
        # The shared latent of keys and values leaves a product together with the one
        # key that carries positions.
        "a": Dimension(latent.kv_rank + rotary if latent else ONE),
        "b": Dimension(attention.head_width + attention.values_of_head),
    }


def _projections(
    attention: Attention, lengths: dict[str, Dimension], name: str, x: str, source: str
) -> list[Contraction]:
    if attention.latent is not None:
        return _latent_projections(attention.latent, lengths, name, x)
    rows = (
        ("query", "std,dgrk->stgrk", x),
        ("key", "std,dgk->stgk", source),
        ("value", "std,dgz->stgz", source),
    )
    return [
        _product(n, letters, lengths, (read, f"W_{n} of {name}", f"{n} of {name}"))
        for n, letters, read in rows
    ]


def _latent_projections(
    latent: Latent, lengths: dict[str, Dimension], name: str, x: str
) -> list[Contraction]:
    down = f"latent of the queries of {name}"
    shared = f"latent of keys and values of {name}"
    query = "stp,pgrk->stgrk", (down, f"W_query of {name}", f"query of {name}")
    products = []
    if latent.query_rank is None:
        query = "std,dgrk->stgrk", (x, f"W_query of {name}", f"query of {name}")
    else:
        products.append(
            _product("query down", "std,dp->stp", lengths, (x, f"W_query_down of {name}", down))
        )
    products.append(_product("query", query[0], lengths, query[1]))
    products.append(
        _product("key-value down", "std,da->sta", lengths, (x, f"W_kv_down of {name}", shared))
    )
    products.append(
        _product("key and value", "stq,qgb->stgb", lengths,
                 (shared, f"W_kv of {name}", f"keys and values of {name}"))
    )
    return products


def _copies(
    attention: Attention, lengths: dict[str, Dimension], name: str
) -> tuple[Copies, ...]:
    """The one key of latent attention that carries positions, copied to every head."""
    if attention.latent is None:
        return ()
    dimensions = {x: lengths[x] for x in "stg"}
    dimensions["h"] = Dimension(attention.latent.rotary_width)
    return (Copies(Tensor(f"position key of {name}", "sth"), dimensions),)


def _vectors(
    attention: Attention, plan: Plan[sp.Expr], d_model: sp.Expr
) -> tuple[Vector, ...]:
    found = []
    if attention.qkv_bias:
        keys = attention.kv_heads * (attention.head_width + attention.values_of_head)
        found.append(Vector("query bias", attention.heads * attention.head_width, plan.N_TP))
        found.append(Vector("key and value bias", keys, plan.split_of_kv))
    if attention.output_bias:
        found.append(Vector("output bias", d_model))
    if attention.query_norm:
        found.append(Vector("query and key norms", 2 * attention.head_width))
    if attention.latent is not None:
        rank = attention.latent.query_rank
        if rank is not None:
            found.append(Vector("norm of the queries' latent", rank))
        found.append(Vector("norm of the shared latent", attention.latent.kv_rank))
    return tuple(found)


def _kept(
    attention: Attention, plan: Plan[sp.Expr], d_model: sp.Expr, tokens: sp.Expr,
    context: sp.Expr, share: sp.Expr, dropout: bool, crossed: bool,
) -> tuple[Kept, ...]:
    w, split = word_bytes(), plan.N_TP
    latent = attention.latent
    rotary = latent.rotary_width if latent else sp.Integer(0)
    width = attention.head_width + rotary
    values = attention.values_of_head
    # Latent attention gives every head keys and values of its own before the scores.
    kv_heads = attention.heads if latent else attention.kv_heads
    kv_split = plan.N_TP if latent else plan.split_of_kv
    scores = tokens * attention.heads * (
        context if attention.window is None else sp.Min(attention.window, context)
    )
    found = [
        Kept("input of the projections", tokens * d_model, w, plan.kept_split),
        Kept("queries", tokens * attention.heads * width, w, split),
        Kept("keys", tokens * kv_heads * width, w, kv_split),
        Kept("values", tokens * kv_heads * values, w, kv_split),
        Kept("softmax", scores, w, split, core=True),
        Kept("input of the output projection", tokens * attention.heads * values, w, split),
    ]
    if crossed:  # the encoder keeps its own output
        found.append(Kept("encoder's output", tokens * d_model, w, plan.kept_split))
    if latent is not None:
        ranks = latent.kv_rank + rotary + (latent.query_rank or sp.Integer(0))
        # Before and after the norm of each latent.
        found.append(Kept("latents", 2 * tokens * ranks, w, plan.kept_split))
    if attention.query_norm:
        entries = tokens * width * (attention.heads + kv_heads)
        found.append(Kept("queries and keys before their norms", entries, w, split))
    if dropout:
        found += [
            Kept("mask of the softmax's dropout", scores, ONE, split, core=True),
            Kept("softmax after dropout", scores, w, split, core=True),
            Kept("mask of the output's dropout", tokens * d_model, ONE, plan.kept_split),
        ]
    return tuple(found)
