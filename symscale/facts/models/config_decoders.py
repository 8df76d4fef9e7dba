"""Builds decoders from configurations: LLaMA, Mistral, Qwen, Gemma and DeepSeek.

All have root-mean-square norms, rotary positions and gated MLPs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    Experts,
    FeedForward,
    Latent,
    Stack,
)
from symscale.errors import printable
from symscale.facts.models.config_keys import BY_HAND, Config


@dataclass(frozen=True)
class _Kind:
    """What tells the blocks of one model apart: windows and experts."""

    sliding: bool = False
    sparse: bool = False


def number(value: int) -> sp.Expr:
    """Return a whole number as an expression."""
    return sp.Integer(value)


def number_or_none(value: int | None) -> sp.Expr | None:
    """Return a whole number as an expression, and None as it is."""
    return None if value is None else sp.Integer(value)


def head_width(c: Config, width: int, heads: int, stated: int | None = None) -> sp.Expr:
    """Return the width of a head: what is stated, or an equal share of the model's.

    Raises:
        InputError: If the heads cannot share it equally.
    """
    if stated is not None:
        return number(stated)
    if width % heads:
        problem = f"its width {width} is no multiple of its {heads} heads"
        raise c.refusal(problem, 'correct one of them, or add "head_dim"')
    return number(width // heads)


def _stacks(kinds: Sequence[_Kind], block: Callable[[_Kind], Block]) -> Iterator[Stack]:
    several = {
        "sliding": len({kind.sliding for kind in kinds}) > 1,
        "sparse": len({kind.sparse for kind in kinds}) > 1,
    }
    for kind in dict.fromkeys(kinds):
        words = []
        if several["sliding"]:
            words.append("sliding" if kind.sliding else "full")
        if several["sparse"]:
            words.append("sparse" if kind.sparse else "dense")
        yield Stack(" ".join(words), number(kinds.count(kind)), block(kind))


def _decoder(
    c: Config, kinds: Sequence[_Kind], block: Callable[[_Kind], Block], note: str = ""
) -> Architecture:
    """A decoder with root-mean-square norms and rotary positions."""
    index = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
    order = tuple(index[kind] for kind in kinds)
    return Architecture(
        name=c.family,
        title=c.family,
        d_model=number(c.size("hidden_size")),
        vocabulary=number(c.size("vocab_size")),
        context=number(c.size("max_position_embeddings")),
        stacks=tuple(_stacks(kinds, block)),
        order=() if list(order) == sorted(order) else order,
        norm="rms",
        positions="rotary",
        tied=c.flag("tie_word_embeddings"),
        dropout=c.rate("attention_dropout") > 0,
        note=note,
    )


def _attention(
    c: Config, *, qkv_bias: bool, output_bias: bool, query_norm: bool = False,
    window: int | None = None,
) -> Attention:
    heads = c.size("num_attention_heads")
    kv_heads = c.optional("num_key_value_heads") or heads
    if heads % kv_heads:
        problem = f"its {heads} heads are no multiple of num_key_value_heads = {kv_heads}"
        raise c.refusal(problem, "each key head serves as many query heads as any other")
    width = head_width(c, c.size("hidden_size"), heads, c.optional("head_dim"))
    return Attention(
        number(heads), number(kv_heads), width, qkv_bias=qkv_bias, output_bias=output_bias,
        query_norm=query_norm, window=number_or_none(window),
    )


def _gated(width: int, bias: bool = False) -> FeedForward:
    return FeedForward(number(width), gated=True, bias=bias)


def _experts(
    c: Config, experts: str, width: int, shared: int | None = None, *,
    shared_gate: bool = False, selection_bias: bool = False,
) -> Experts:
    count, active = c.size(experts), c.size("num_experts_per_tok")
    if active > count:
        problem = f"num_experts_per_tok = {active} is more than {experts} = {count}"
        raise c.refusal(problem, "a token sees some of the experts at most")
    return Experts(
        number(count), number(active), _gated(width),
        shared=None if shared is None else _gated(shared),
        shared_gate=shared_gate, selection_bias=selection_bias,
    )


def _sliding(c: Config, default: Callable[[int], bool]) -> list[bool]:
    """Which blocks have a window: as `layer_types` says, or else the rule of the family."""
    blocks, kinds = c.blocks(), c.entries("layer_types")
    if kinds is None:
        return [default(place) for place in range(blocks)]
    if len(kinds) != blocks:
        problem = f"layer_types has {len(kinds)} entries for {blocks} layers"
        raise c.refusal(problem, "correct it, or remove it for the default")
    for kind in kinds:
        if kind not in ("full_attention", "sliding_attention"):
            shown = printable(str(kind))
            raise c.refusal(
                f"layer_types has {shown!r}",
                f"only full_attention and sliding_attention are known; {BY_HAND}",
            )
    return [kind == "sliding_attention" for kind in kinds]


def _late_windows(c: Config) -> list[bool]:
    """Qwen: windows in the blocks from max_window_layers on, where they are switched on."""
    window = c.optional("sliding_window") if c.flag("use_sliding_window") else None
    first = c.size("max_window_layers", least=0) if window is not None else 0
    sliding = _sliding(c, lambda place: window is not None and place >= first)
    if any(sliding) and window is None:
        problem = "layer_types has sliding_attention, but no window is switched on"
        raise c.refusal(problem, 'add "use_sliding_window": true and "sliding_window": 4096')
    return sliding


def _sparse(c: Config) -> list[bool]:
    """Qwen: which blocks have experts."""
    step, experts = c.size("decoder_sparse_step"), c.size("num_experts", least=0)
    dense = c.entries("mlp_only_layers") or []
    if not all(isinstance(place, int) and not isinstance(place, bool) for place in dense):
        raise c.refusal("mlp_only_layers is not a list of layers", "write such as [0, 1]")
    chosen = set(dense)
    return [
        place not in chosen and experts > 0 and (place + 1) % step == 0
        for place in range(c.blocks())
    ]


def llama(c: Config) -> Architecture:
    """Build a model of the LLaMA family."""
    bias = c.flag("attention_bias")
    block = Block(
        _attention(c, qkv_bias=bias, output_bias=bias),
        _gated(c.size("intermediate_size"), c.flag("mlp_bias")),
    )
    return _decoder(c, [_Kind()] * c.blocks(), lambda _: block)


def mistral(c: Config) -> Architecture:
    """Build a Mistral or Mixtral model."""
    attention = _attention(
        c, qkv_bias=False, output_bias=False, window=c.optional("sliding_window")
    )
    mlp: FeedForward | Experts = _gated(c.size("intermediate_size"))
    if c.family == "mixtral":
        mlp = _experts(c, "num_local_experts", c.size("intermediate_size"))
    return _decoder(c, [_Kind()] * c.blocks(), lambda _: Block(attention, mlp))


def qwen(c: Config) -> Architecture:
    """Build a model of Qwen 2 or 3, dense or with experts."""
    second, moe = c.family.startswith("qwen2"), c.family.endswith("_moe")
    output_bias = not second and c.flag("attention_bias")
    qkv_bias = output_bias
    if second:
        qkv_bias = c.flag("qkv_bias") if moe else True
    if c.family == "qwen3_moe":
        sliding = [c.flag("use_sliding_window")] * c.blocks()
    else:
        sliding = _late_windows(c)
    sparse = _sparse(c) if moe else [False] * c.blocks()

    def block(kind: _Kind) -> Block:
        attention = _attention(
            c, qkv_bias=qkv_bias, output_bias=output_bias, query_norm=not second,
            window=c.optional("sliding_window") if kind.sliding else None,
        )
        if not kind.sparse:
            return Block(attention, _gated(c.size("intermediate_size")))
        shared = c.size("shared_expert_intermediate_size") if second else None
        width = c.size("moe_intermediate_size")
        return Block(attention, _experts(c, "num_experts", width, shared, shared_gate=second))

    kinds = [_Kind(*both) for both in zip(sliding, sparse, strict=True)]
    return _decoder(c, kinds, block)


def gemma2(c: Config) -> Architecture:
    """Build a Gemma 2 model."""
    bias = c.flag("attention_bias")
    window = c.optional("sliding_window")

    def block(kind: _Kind) -> Block:
        attention = _attention(
            c, qkv_bias=bias, output_bias=bias, window=window if kind.sliding else None
        )
        return Block(attention, _gated(c.size("intermediate_size")), norms=4)

    sliding = _sliding(c, lambda place: window is not None and place % 2 == 0)
    return _decoder(c, [_Kind(sliding=here) for here in sliding], block)


def deepseek(c: Config) -> Architecture:
    """Build a DeepSeek-V2 or V3 model."""
    heads = number(c.size("num_attention_heads"))
    latent = Latent(
        number_or_none(c.optional("q_lora_rank")),
        number(c.size("kv_lora_rank")),
        number(c.size("qk_rope_head_dim")),
    )
    attention = Attention(
        heads, heads, number(c.size("qk_nope_head_dim")), number(c.size("v_head_dim")),
        latent=latent,
    )
    third = c.family == "deepseek_v3"

    def block(kind: _Kind) -> Block:
        if not kind.sparse:
            return Block(attention, _gated(c.size("intermediate_size")))
        width, shared = c.size("moe_intermediate_size"), c.optional("n_shared_experts")
        both = None if shared is None else width * shared
        return Block(attention, _experts(c, "n_routed_experts", width, both, selection_bias=third))

    first = c.size("first_k_dense_replace", least=0)
    kinds = [_Kind(sparse=place >= first) for place in range(c.blocks())]
    extra = c.optional("num_nextn_predict_layers", least=0)
    return _decoder(c, kinds, block, "without the extra prediction layers" if extra else "")
