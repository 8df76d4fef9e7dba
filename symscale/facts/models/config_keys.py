"""The keys of a Hugging Face `config.json`: which shape a model, which do not, and their values.

What a family does not state is the default of its class in the library `transformers`
(checked against version 4.56.2). A key that nobody here knows is refused, because it might
change the shape.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from symscale.errors import (
    InputError,
    SymscaleError,
    printable,
    refusal,
    unknown_name,
)
from symscale.facts.models.model_file import LARGEST_SIZE, MOST_BLOCKS
from symscale.language.tables import TypedNumber
from symscale.language.units import parse_number

BY_HAND = "describe the model in a TOML file instead (docs/models.md)"


def names(text: str) -> frozenset[str]:
    """Return the names that a text holds, separated by spaces.

    Example:
        >>> sorted(names("hidden_act rms_norm_eps"))
        ['hidden_act', 'rms_norm_eps']
    """
    return frozenset(text.split())


# Of every configuration: training, generation, labels, tokens, storage and software.
_NEVER_SHAPE = names("""
    _attn_implementation _attn_implementation_autoset _attn_implementation_internal
    _commit_hash _name_or_path architectures attn_implementation auto_map bad_words_ids
    begin_suppress_tokens bos_token_id cache_implementation chunk_size_feed_forward
    compression_config decoder_start_token_id diversity_penalty do_sample dtype
    early_stopping encoder_no_repeat_ngram_size eos_token_id
    exponential_decay_length_penalty finetuning_task forced_bos_token_id
    forced_eos_token_id gradient_checkpointing id2label initializer_range is_composition
    label2id length_penalty max_length max_new_tokens min_length model_type
    name_or_path no_repeat_ngram_size num_beam_groups num_beams num_labels
    num_return_sequences output_attentions output_hidden_states output_past
    output_scores pad_token_id prefix problem_type quantization quantization_config
    remove_invalid_values repetition_penalty return_dict return_dict_in_generate
    sep_token_id suppress_tokens task_specific_params temperature
    tf_legacy_loss tokenizer_class top_k top_p torch_dtype torchscript
    transformers_version typical_p unsloth_fixed unsloth_version use_bfloat16 use_cache
""")

# Of every configuration: they change the shape, and mean no change by one value only.
_HARMLESS: Mapping[str, tuple[object, ...]] = {
    "pruned_heads": ({},),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "tie_encoder_decoder": (False,),
    "text_config": (),
    "vision_config": (),
}


@dataclass(frozen=True)
class Keys:
    """The keys of a family.

    Attributes:
        defaults: Those that shape its models, with the default of each; None where absence
            has a meaning of its own.
        ignored: Those that do not shape them, besides those of every family.
        harmless: Those that would, but for these values; null is always one.
        aliases: Other names of keys.
    """

    defaults: Mapping[str, object]
    ignored: frozenset[str] = frozenset()
    harmless: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)


class Config:
    """A configuration whose keys are all known, and what stands under them.

    Args:
        data: The configuration.
        keys: The keys of its family.
        family: The family's `model_type`.
        where: The file, for errors.

    Raises:
        InputError: If a key is unknown, or would change the shape in an unknown way.
    """

    def __init__(
        self, data: Mapping[str, object], keys: Keys, family: str, where: str
    ) -> None:
        self.family, self.where, self._keys = family, where, keys
        self._data = self._renamed(data)
        harmless = {**_HARMLESS, **keys.harmless}
        known = {*keys.defaults, *keys.ignored, *harmless, *_NEVER_SHAPE}
        for key, value in self._data.items():
            if key not in known and value is not None:
                raise self._unknown(key, known)
            if key in keys.defaults or key not in harmless or value is None:
                continue
            # 1 equals True, but only one of them is what the key means.
            if not any(type(value) is type(v) and value == v for v in harmless[key]):
                allowed = " or ".join(_shown(v) for v in harmless[key]) or "null"
                problem = f"{key} = {_shown(value)} is beyond what is known of a {family} model"
                raise self.refusal(problem, f"only {allowed} is read; {BY_HAND}")

    def _renamed(self, data: Mapping[str, object]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in data.items():
            name = self._keys.aliases.get(key, key)
            if name in found and found[name] != value:
                others = [other for other, target in self._keys.aliases.items() if target == name]
                problem = f"{name} and {' or '.join(others)} are one size, but differ"
                raise self.refusal(problem, f"keep {name} only")
            found[name] = value
        return found

    def _unknown(self, key: str, known: Iterable[str]) -> InputError:
        error = unknown_name("key", key, known)
        remedy = f"it could change the shape of a {self.family} model"
        text = f"{error} {remedy}" if str(error).endswith("?") else f"{error}: {remedy}"
        return InputError(f"{self.where}: {text}; remove it if it does not, or {BY_HAND}")

    def refusal(self, problem: str, remedy: str) -> InputError:
        """Make the error for a configuration that cannot be used."""
        return refusal(self.where, problem, remedy)

    def given(self, key: str) -> bool:
        """Whether a key stands in the file, be it as null."""
        return key in self._data

    def _value(self, key: str) -> object:
        return self._data.get(key, self._keys.defaults.get(key))

    def optional(self, key: str, least: int = 1, most: int = LARGEST_SIZE) -> int | None:
        """Return a whole number, or None for null, or for an absent key without default.

        Raises:
            InputError: If it is no whole number from `least` to `most`.
        """
        value = self._value(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            problem = f"{key} = {_shown(value)} is not a whole number"
            raise self.refusal(problem, f'write such as "{key}": 32')
        if value < least:
            problem = f"{key} = {_shown(value)} is " + ("not above zero" if least else "negative")
            raise self.refusal(problem, "write a count")
        if value > most:
            raise self.refusal(f"{key} is above {most:.0e}", "check it")
        return value

    def size(self, key: str, least: int = 1, most: int = LARGEST_SIZE) -> int:
        """Return a whole number that every model of the family has.

        Raises:
            InputError: If it is missing, or no whole number from `least` to `most`.
        """
        value = self.optional(key, least, most)
        if value is None:
            problem = f"{key} is null" if self.given(key) else f"has no {key}"
            raise self.refusal(problem, f'a {self.family} model needs such as "{key}": 32')
        return value

    def blocks(self, key: str = "num_hidden_layers") -> int:
        """Return a count of blocks."""
        return self.size(key, most=MOST_BLOCKS)

    def flag(self, key: str) -> bool:
        """Return a flag; null is false.

        Raises:
            InputError: If it is neither true nor false.
        """
        value = self._value(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            problem = f"{key} = {_shown(value)} is neither true nor false"
            raise self.refusal(problem, f'write "{key}": true or "{key}": false')
        return value

    def rate(self, key: str) -> Fraction:
        """Return a rate of dropout; null is zero.

        Raises:
            InputError: If it is no number from 0 to 1.
        """
        value = self._value(key)
        if value is None:
            return Fraction(0)
        number = None
        if isinstance(value, TypedNumber | int) and not isinstance(value, bool):
            text = value.text if isinstance(value, TypedNumber) else str(value)
            try:
                number = parse_number(text) if len(text) <= 80 else None
            except SymscaleError:
                number = None
        if number is None or not 0 <= number <= 1:
            problem = f"{key} = {_shown(value)} is not a number from 0 to 1"
            raise self.refusal(problem, f'write "{key}": 0.1, say')
        return number

    def text(self, key: str, choices: tuple[str, ...]) -> str:
        """Return a text that is one of `choices`.

        Raises:
            InputError: If it is another; the text offers the nearest.
        """
        value = self._value(key)
        if not isinstance(value, str):
            problem = f"{key} = {_shown(value)} is not a text"
            raise self.refusal(problem, f'write "{key}": "{choices[0]}", say')
        if value not in choices:
            raise unknown_name(key, value, choices).with_context(self.where)
        return value

    def entries(self, key: str) -> list[object] | None:
        """Return a list, or None for null or an absent key.

        Raises:
            InputError: If it is no list, or a very long one.
        """
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > MOST_BLOCKS:
            raise self.refusal(f"{key} is not a list with one entry a layer", "correct it")
        return value


def _shown(value: object) -> str:
    """Return a short text of a value as JSON writes it."""
    if isinstance(value, TypedNumber):
        return printable(value.text)
    if isinstance(value, str):
        return '"' + printable(value) + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        empty, full = ("{}", "{...}") if isinstance(value, dict) else ("[]", "[...]")
        return full if value else empty
    return "null" if value is None else printable(str(value))
