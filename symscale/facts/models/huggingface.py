"""Reads the `config.json` of Hugging Face models into an `Architecture`.

One entry of `FAMILIES` for each `model_type` builds a model from its keys. Nothing in a
configuration is executed: a model that brings its own code is read as the family that it
says it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType

from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    FeedForward,
    Stack,
)
from symscale.errors import UnknownNameError, printable, refusal, unknown_name
from symscale.facts.models.config_decoders import (
    deepseek,
    gemma2,
    head_width,
    llama,
    mistral,
    number,
    qwen,
)
from symscale.facts.models.config_defaults import KEYS
from symscale.facts.models.config_keys import BY_HAND, Config
from symscale.facts.models.model_file import MOST_BLOCKS
from symscale.language.json_text import read_json_file

_ACTIVATIONS = ("relu", "gelu", "gelu_new", "silu", "swish", "tanh")


def read_config(path: str) -> Architecture:
    """Read a user's `config.json`.

    Raises:
        UnknownNameError: If its family is unknown; the text offers the nearest.
        InputError: If it cannot be used; the text names file, key and remedy.
    """
    data = read_json_file(path, "a configuration has a few kB; is this the right file?")
    where = printable(path, 160)
    stem = PurePath(path).stem
    return build_config(data, where, "" if stem == "config" else printable(stem, 60))


def build_config(data: Mapping[str, object], where: str, name: str = "") -> Architecture:
    """Build the model that a configuration describes.

    Args:
        data: The configuration.
        where: The file, for errors.
        name: What to call the model; "" for the name of its family.

    Raises:
        UnknownNameError: If its family is unknown; the text offers the nearest.
        InputError: If it cannot be used; the text names file, key and remedy.

    Example:
        >>> build_config({"model_type": "gpt2", "n_layer": 48}, "config.json").layers
        48
    """
    family = data.get("model_type")
    if family is None:
        remedy = f'add "model_type": "llama", say, one of {", ".join(FAMILIES)}'
        raise refusal(where, "has no model_type", remedy)
    if not isinstance(family, str):
        raise refusal(where, "model_type is not a text", 'write "model_type": "llama", say')
    if family not in FAMILIES:
        error = str(unknown_name("model_type", family, FAMILIES))
        nearest = error if error.endswith("?") else f"{error}; known: {', '.join(FAMILIES)};"
        raise UnknownNameError(f"{where}: {nearest} or {BY_HAND}")
    config = Config(data, KEYS[family], family, where)
    path = data.get("_name_or_path")
    title = printable(PurePath(path).name, 60) if isinstance(path, str) else ""
    return replace(
        FAMILIES[family](config), name=name or family, title=title or name or family,
        source=f"configuration {where}",
    )


def _gpt2(c: Config) -> Architecture:
    width, heads = c.size("n_embd"), c.size("n_head")
    attention = Attention(
        number(heads), number(heads), head_width(c, width, heads), qkv_bias=True, output_bias=True
    )
    mlp = FeedForward(number(c.optional("n_inner") or 4 * width), bias=True)
    context = number(c.size("n_positions"))
    rates = [c.rate(key) for key in ("resid_pdrop", "embd_pdrop", "attn_pdrop")]
    return Architecture(
        name=c.family,
        title=c.family,
        d_model=number(width),
        vocabulary=number(c.size("vocab_size")),
        context=context,
        stacks=(Stack("", number(c.blocks("n_layer")), Block(attention, mlp)),),
        norm="layer",
        positions="learned",
        position_entries=context,
        tied=c.flag("tie_word_embeddings"),
        dropout=any(rates),
    )


def _bert(c: Config) -> Architecture:
    width, heads = c.size("hidden_size"), c.size("num_attention_heads")
    attention = Attention(
        number(heads), number(heads), head_width(c, width, heads), qkv_bias=True, output_bias=True
    )
    mlp = FeedForward(number(c.size("intermediate_size")), bias=True)
    block = Block(attention, mlp, causal=c.flag("is_decoder"))
    context = number(c.size("max_position_embeddings"))
    rates = [c.rate(key) for key in ("hidden_dropout_prob", "attention_probs_dropout_prob")]
    return Architecture(
        name=c.family,
        title=c.family,
        d_model=number(width),
        vocabulary=number(c.size("vocab_size")),
        context=context,
        stacks=(Stack("", number(c.blocks()), block),),
        norm="layer",
        positions="learned",
        position_entries=context,
        head=False,
        final_norms=0,
        embedding_norm=True,
        token_types=number(c.size("type_vocab_size")),
        pooler=True,
        dropout=any(rates),
        note="with pooler, without the heads of pre-training",
    )


def _t5(c: Config) -> Architecture:
    projections = (*_ACTIVATIONS, *(f"gated-{name}" for name in _ACTIVATIONS))
    gated = c.text("feed_forward_proj", projections).startswith("gated-")
    if c.given("is_gated_act") and c.flag("is_gated_act") != gated:
        raise c.refusal("is_gated_act contradicts feed_forward_proj", "keep feed_forward_proj")
    heads = number(c.size("num_heads"))
    attention = Attention(heads, heads, number(c.size("d_kv")))
    mlp = FeedForward(number(c.size("d_ff")), gated=gated)
    encoder = c.blocks("num_layers")
    decoder = c.optional("num_decoder_layers", most=MOST_BLOCKS)
    return Architecture(
        name=c.family,
        title=c.family,
        d_model=number(c.size("d_model")),
        vocabulary=number(c.size("vocab_size")),
        context=number(c.size("n_positions")),
        stacks=(
            Stack("encoder", number(encoder), Block(attention, mlp, causal=False), encoder=True),
            Stack(
                "decoder", number(encoder if decoder is None else decoder),
                Block(attention, mlp, norms=3, cross=attention),
            ),
        ),
        norm="rms",
        positions="relative",
        position_entries=number(c.size("relative_attention_num_buckets")),
        tied=c.flag("tie_word_embeddings"),
        final_norms=2,
        dropout=c.rate("dropout_rate") > 0,
    )


FAMILIES: Mapping[str, Callable[[Config], Architecture]] = MappingProxyType({
    "bert": _bert,
    "deepseek_v2": deepseek,
    "deepseek_v3": deepseek,
    "gemma2": gemma2,
    "gpt2": _gpt2,
    "llama": llama,
    "mistral": mistral,
    "mixtral": mistral,
    "qwen2": qwen,
    "qwen2_moe": qwen,
    "qwen3": qwen,
    "qwen3_moe": qwen,
    "t5": _t5,
})
"""What builds a model of each family, by its `model_type`."""
