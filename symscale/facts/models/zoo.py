"""Reads models: the zoo that ships with symscale, and users' own files.

A file states the sizes of a Transformer and which kinds of layers it has, as
`symscale.costs.transformer.architecture` describes them. A size that a file leaves out is a
symbol of the notation.
"""

import functools
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from types import MappingProxyType

from symscale.costs.transformer.architecture import (
    Architecture,
    gated_transformer,
    moe_transformer,
    transformer,
)
from symscale.errors import printable, refusal, unknown_name
from symscale.facts.models.huggingface import read_config
from symscale.facts.models.model_file import read_model
from symscale.language.tables import parse_toml, read_toml_file

SYMBOLIC: Mapping[str, Callable[[], Architecture]] = MappingProxyType({
    "transformer": transformer,
    "gated-transformer": gated_transformer,
    "moe-transformer": moe_transformer,
})
"""The models whose every size is a symbol."""

_ALSO_CALLED = {"gpt-2-small": "gpt-2", "gpt-3-175b": "gpt-3"}
_PRESETS: Traversable = files("symscale.facts.models").joinpath("presets")


def model_names() -> tuple[str, ...]:
    """Return the names of the models that ship with symscale: the symbolic ones first.

    Example:
        >>> model_names()[:3]
        ('transformer', 'gated-transformer', 'moe-transformer')
        >>> "llama-3.1-405b" in model_names()
        True
    """
    names = (entry.name for entry in _PRESETS.iterdir())
    zoo = sorted(name[: -len(".toml")] for name in names if name.endswith(".toml"))
    return (*SYMBOLIC, *zoo)


def load_model(name_or_path: str) -> Architecture:
    """Load a model that ships with symscale, or one from a user's file.

    Args:
        name_or_path: A name without regard to case, spaces, hyphens and underscores;
            or a path that ends in .toml, or in .json for a Hugging Face configuration.

    Raises:
        UnknownNameError: If there is no such model; the text offers the nearest names.
        InputError: If a file cannot be used.

    Example:
        >>> load_model("GPT-3").d_model
        12288
    """
    ending = PurePath(name_or_path).suffix.lower() if len(name_or_path) < 10_000 else ""
    stem = printable(PurePath(name_or_path).stem, 60)
    if ending == ".json":
        return read_config(name_or_path)
    if ending == ".toml":
        data = read_toml_file(name_or_path, "keep one model in one file")
        return read_model(data, printable(name_or_path, 160), stem, packaged=False)
    if "/" in name_or_path or "\\" in name_or_path:
        raise refusal(
            printable(name_or_path, 160), "is neither a TOML nor a JSON file",
            "give a path that ends in .toml, or the config.json of the model",
        )
    return _preset(_known_name(name_or_path))


def _known_name(text: str) -> str:
    slug = re.sub(r"[\s_-]+", "-", text.strip().lower())
    names = model_names()
    # Model cards write Qwen2.5-7B and Llama-2-7B; here a version always has its hyphen.
    for name in (slug, re.sub(r"^([a-z]+)(?=\d)", r"\1-", slug)):
        known = _ALSO_CALLED.get(name, name)
        if known in names:
            return known
    raise unknown_name("model", slug or text, names, see="symscale models")


@functools.cache
def _preset(slug: str) -> Architecture:
    if slug in SYMBOLIC:
        return SYMBOLIC[slug]()
    where = f"models/{slug}.toml"
    data = parse_toml(_PRESETS.joinpath(f"{slug}.toml").read_bytes(), where)
    return read_model(data, where, slug, packaged=True)
