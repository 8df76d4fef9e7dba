"""What a Transformer is made of: sizes, and which kinds of layers, but no costs.

Sizes are SymPy expressions: symbols where nobody gave a number. The costs that
follow from them are in `symscale.costs.transformer.model`.
"""

from dataclasses import dataclass
from typing import Literal

import sympy as sp

from symscale.answers import Answer
from symscale.language.symbols import symbols

NormKind = Literal["layer", "rms"]
PositionKind = Literal["learned", "rotary", "relative", "none"]

ONE = sp.Integer(1)
ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Latent:
    """Latent attention, as in DeepSeek-V2: queries, keys and values through narrow layers.

    Attributes:
        query_rank: Width of the queries' latent; None where queries have none.
        kv_rank: Width of the latent that keys and values share, which is what is cached.
        rotary_width: Width of the part of each head that carries positions; its key is
            one for all heads.
        source: Where it is defined.
    """

    query_rank: sp.Expr | None
    kv_rank: sp.Expr
    rotary_width: sp.Expr
    source: str = "deepseek-v2"


@dataclass(frozen=True)
class Attention:
    """An attention: multi-head, grouped-query, multi-query or latent.

    Attributes:
        heads: Query heads.
        kv_heads: Key and value heads; each serves heads/kv_heads query heads.
        head_width: Width of a query and of a key; with a latent, the part without positions.
        value_width: Width of a value; None for the same.
        qkv_bias: Whether the projections of queries, keys and values have biases.
        output_bias: Whether the output projection has one.
        query_norm: Whether queries and keys are normalised head by head (Qwen 3).
        window: Tokens that a token sees at most; None for all.
        position_product: Whether a product of its own, as wide as that of the queries, makes
            keys of relative positions (Transformer-XL).
        latent: The narrow layers of latent attention, or None.
    """

    heads: sp.Expr
    kv_heads: sp.Expr
    head_width: sp.Expr
    value_width: sp.Expr | None = None
    qkv_bias: bool = False
    output_bias: bool = False
    query_norm: bool = False
    window: sp.Expr | None = None
    position_product: bool = False
    latent: Latent | None = None

    @property
    def values_of_head(self) -> sp.Expr:
        """Width of a value."""
        return self.head_width if self.value_width is None else self.value_width

    @property
    def kind(self) -> str:
        """What it is called."""
        if self.latent is not None:
            return "latent"
        if self.kv_heads == self.heads:
            return "multi-head"
        return "multi-query" if self.kv_heads == 1 else "grouped-query"


@dataclass(frozen=True)
class FeedForward:
    """A dense MLP.

    Attributes:
        width: Its hidden width, d_ff.
        gated: Whether a second product gates the hidden layer (SwiGLU, GeGLU).
        bias: Whether its products have biases.
    """

    width: sp.Expr
    gated: bool = False
    bias: bool = False


@dataclass(frozen=True)
class Experts:
    """A mixture of experts, each a dense MLP.

    Attributes:
        experts: How many there are.
        active: How many of them see a token, top-k.
        expert: One of them.
        shared: The MLP that every token passes besides, of the width of all shared
            experts together; None where there is none.
        shared_gate: Whether a sigmoid of the token weighs it (Qwen 2 MoE).
        capacity: Room of an expert over its even share of tokens; 1 without padding.
        selection_bias: Whether each expert has a bias by which it is chosen (DeepSeek-V3).
    """

    experts: sp.Expr
    active: sp.Expr
    expert: FeedForward
    shared: FeedForward | None = None
    shared_gate: bool = False
    capacity: sp.Expr = ONE
    selection_bias: bool = False


@dataclass(frozen=True)
class Block:
    """One layer: attention, then an MLP, each with its norm.

    Attributes:
        attention: Its attention to its own sequence.
        mlp: Its MLP, dense or of experts.
        norms: How many norms of the residual stream it has.
        parallel: Whether attention and MLP read the same input and add up at once (PaLM),
            so that they share one reduction in each direction.
        cross: Its attention to the encoder's output, or None.
        causal: Whether a token sees only those before it.
    """

    attention: Attention
    mlp: FeedForward | Experts
    norms: int = 2
    parallel: bool = False
    cross: Attention | None = None
    causal: bool = True


@dataclass(frozen=True)
class Stack:
    """Blocks of one kind.

    Attributes:
        name: What they are called in tables; "" where there is one kind.
        blocks: How many.
        block: What each is.
        encoder: Whether they belong to the encoder.
    """

    name: str
    blocks: sp.Expr
    block: Block
    encoder: bool = False


@dataclass(frozen=True, repr=False)
class Architecture(Answer):
    """A Transformer.

    Attributes:
        name: Its slug, such as "llama-3.1-405b".
        title: Its name.
        d_model: Width of the residual stream.
        vocabulary: Entries of the vocabulary.
        context: Tokens of a sequence it was trained on.
        stacks: Its blocks by kind.
        order: Indices of `stacks`, one for each block, where kinds alternate; () where
            they follow one another.
        norm: "layer" (gain and shift) or "rms" (gain).
        norm_shift: Whether a layer norm has its shift.
        positions: How it knows positions.
        position_entries: Rows of the learned table of positions, or buckets of the
            relative one.
        tied: Whether the unembedding is the embedding transposed.
        head: Whether it has an unembedding, so that it gives logits.
        head_bias: Whether the logits have a bias.
        final_norms: Norms after the stacks (one for each of encoder and decoder).
        embedding_norm: Whether the embedding is normalised (BERT).
        token_types: Rows of the table of token types (BERT).
        pooler: Whether a product of the first token follows (BERT).
        dropout: Whether it is trained with dropout, whose masks are kept.
        source: Key of the source of its sizes, or a user's words.
        note: What else to know.
    """

    page = "models"
    name: str
    title: str
    d_model: sp.Expr
    vocabulary: sp.Expr
    context: sp.Expr
    stacks: tuple[Stack, ...]
    order: tuple[int, ...] = ()
    norm: NormKind = "layer"
    norm_shift: bool = True
    positions: PositionKind = "rotary"
    position_entries: sp.Expr = ZERO
    tied: bool = False
    head: bool = True
    head_bias: bool = False
    final_norms: int = 1
    embedding_norm: bool = False
    token_types: sp.Expr = ZERO
    pooler: bool = False
    dropout: bool = False
    source: str = ""
    note: str = ""

    @property
    def layers(self) -> sp.Expr:
        """Blocks in all, encoder and decoder."""
        return sp.Add(*(stack.blocks for stack in self.stacks))

    @property
    def norm_parameters(self) -> sp.Expr:
        """Parameters of one norm of the residual stream."""
        return self.d_model * (2 if self.norm == "layer" and self.norm_shift else 1)


def transformer() -> Architecture:
    """Return the Transformer of the two-Cs study, every size a symbol.

    Multi-head attention with n_heads heads of d_model/n_heads, a plain MLP of
    4 d_model, layer norms, biases, learned positions for n_ctx tokens, and one
    table for embedding and unembedding: the shape of GPT-2 and GPT-3.

    Example:
        >>> transformer().stacks[0].block.mlp.width
        4*d_model
    """
    d_model, L, heads, n_ctx, vocabulary = symbols("d_model L n_heads n_ctx n_vocab")
    attention = Attention(heads, heads, d_model / heads, qkv_bias=True, output_bias=True)
    block = Block(attention, FeedForward(4 * d_model, bias=True))
    return Architecture(
        name="transformer", title="Transformer", d_model=d_model, vocabulary=vocabulary,
        context=n_ctx, stacks=(Stack("", L, block),), positions="learned",
        position_entries=n_ctx, tied=True, dropout=True, source="pati-2023",
        note="multi-head attention, plain MLP of width 4 d_model, learned positions",
    )


def gated_transformer() -> Architecture:
    """Return a Transformer with grouped-query attention and a gated MLP, every size a symbol.

    Heads have width d_head; root-mean-square norms, rotary positions, no biases: the
    shape of LLaMA and its relatives.
    """
    d_model, d_ff, L, heads, kv, head, n_ctx, vocabulary = symbols(
        "d_model d_ff L n_heads n_kv d_head n_ctx n_vocab"
    )
    block = Block(Attention(heads, kv, head), FeedForward(d_ff, gated=True))
    return Architecture(
        name="gated-transformer", title="Gated Transformer", d_model=d_model,
        vocabulary=vocabulary, context=n_ctx, stacks=(Stack("", L, block),), norm="rms",
        source="llama-1", note="grouped-query attention, gated MLP, rotary positions",
    )


def moe_transformer() -> Architecture:
    """Return a Transformer whose MLP is one of E gated experts, every size a symbol.

    Of the experts, of width d_ff each, a token sees E_k: the shape of Mixtral.
    """
    d_model, d_ff, L, heads, kv, head, n_ctx, vocabulary, experts, active = symbols(
        "d_model d_ff L n_heads n_kv d_head n_ctx n_vocab E E_k"
    )
    mlp = Experts(experts, active, FeedForward(d_ff, gated=True))
    block = Block(Attention(heads, kv, head), mlp)
    return Architecture(
        name="moe-transformer", title="Mixture-of-experts Transformer", d_model=d_model,
        vocabulary=vocabulary, context=n_ctx, stacks=(Stack("", L, block),), norm="rms",
        source="mixtral", note="grouped-query attention, gated experts, rotary positions",
    )
