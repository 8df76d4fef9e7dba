"""The zoo of models, and users' own model files: every rule of reading them.

Parameters are counted by hand (`hand_counts`) and compared with what is published:
the sizes of released weights to the last parameter, papers to their last digit.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
import sympy as sp

from hand_counts import parameters
from symscale.costs.transformer.architecture import Architecture, Experts, FeedForward
from symscale.costs.transformer.model import Transformer
from symscale.errors import InputError, UnknownNameError
from symscale.facts.models import zoo as models
from symscale.facts.models.zoo import SYMBOLIC, load_model, model_names
from symscale.language.sources import load_sources
from symscale.language.symbols import symbol

Load = Callable[[str | bytes], Architecture]
ZOO = [name for name in model_names() if name not in SYMBOLIC]

# Released weights.
EXACT = {
    "bert-large": 335_141_888,
    "deepseek-v2": 235_741_434_880,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "gemma-2-27b": 27_227_128_320,
    "gemma-2-2b": 2_614_341_888,
    "gemma-2-9b": 9_241_705_984,
    "gpt-2": 124_439_808,
    "gpt-2-large": 774_030_080,
    "gpt-2-medium": 354_823_168,
    "gpt-2-xl": 1_557_611_200,
    "llama-1-13b": 13_015_864_320,
    "llama-1-33b": 32_528_943_616,
    "llama-1-65b": 65_285_660_672,
    "llama-1-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-2-7b": 6_738_415_616,
    "llama-3-70b": 70_553_706_496,
    "llama-3-8b": 8_030_261_248,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x22b": 140_620_634_112,
    "mixtral-8x7b": 46_702_792_704,
    "qwen-2.5-0.5b": 494_032_768,
    "qwen-2.5-1.5b": 1_543_714_304,
    "qwen-2.5-14b": 14_770_033_664,
    "qwen-2.5-32b": 32_763_876_352,
    "qwen-2.5-3b": 3_085_938_688,
    "qwen-2.5-72b": 72_706_203_648,
    "qwen-2.5-7b": 7_615_616_512,
    "qwen-3-0.6b": 596_049_920,
    "qwen-3-1.7b": 1_720_574_976,
    "qwen-3-14b": 14_768_307_200,
    "qwen-3-235b-a22b": 235_093_634_560,
    "qwen-3-30b-a3b": 30_532_122_624,
    "qwen-3-32b": 32_762_123_264,
    "qwen-3-4b": 4_022_468_096,
    "qwen-3-8b": 8_190_735_360,
    "t5-11b": 11_307_321_344,
}
# Papers, and half a unit of the last digit that they print. PaLM's 540.35 billion leave out
# the 2.2 million gains of its norms.
PRINTED = {
    "chinchilla": (70e9, 5e8),
    "gpt-3": (174_600e6, 5e7),
    "gpt-3-125m": (125e6, 5e5),
    "gpt-3-350m": (356e6, 5e5),
    "gpt-3-760m": (760e6, 5e5),
    "gpt-3-1.3b": (1_320e6, 5e6),
    "gpt-3-2.7b": (2_650e6, 5e6),
    "gpt-3-6.7b": (6_660e6, 5e6),
    "gpt-3-13b": (12_850e6, 5e6),
    "megatron-lm-8.3b": (8.3e9, 5e7),
    "mt-nlg": (530e9, 5e9),
    "palm": (540.35e9, 5e6 + 2.2e6),
    "t-nlg": (17e9, 5e8),
}
# Table of the theory page: blocks, d_model, heads, context.
PAGE = {
    "bert-large": (24, 1024, 16, 512),
    "t5-11b": (48, 1024, 128, 512),
    "gpt-2-xl": (48, 1600, 25, 1024),
    "megatron-lm-8.3b": (72, 3072, 24, 1024),
    "t-nlg": (78, 4256, 28, 1024),
    "gpt-3": (96, 12288, 96, 2048),
    "mt-nlg": (105, 20480, 128, 2048),
    "palm": (118, 18432, 48, 2048),
}


def sizes(model: Architecture) -> set[sp.Basic]:
    """Return the symbols that are left in a model."""
    found = model.d_model.free_symbols | model.vocabulary.free_symbols
    found |= model.context.free_symbols | model.layers.free_symbols
    for stack in model.stacks:
        found |= stack.block.attention.head_width.free_symbols
    return found


# What ships


def test_every_model_of_the_zoo_has_its_count() -> None:
    assert set(ZOO) == set(EXACT) | set(PRINTED)


@pytest.mark.parametrize("name", EXACT)
def test_parameters_are_those_of_the_released_weights(name: str) -> None:
    assert parameters(load_model(name)) == EXACT[name]


@pytest.mark.parametrize("name", PRINTED)
def test_parameters_are_those_of_the_paper(name: str) -> None:
    value, tolerance = PRINTED[name]
    assert abs(parameters(load_model(name)) - value) <= tolerance


@pytest.mark.parametrize(
    ("name", "without", "with_it"),
    [
        ("mixtral-8x7b", 12_748_853_248, 12_879_925_248),
        ("deepseek-v3", 36_625_618_432, 37_552_297_472),
        ("qwen-3-30b-a3b", 3_041_867_776, 3_353_032_704),
    ],
)
def test_active_parameters_without_and_with_the_embedding(
    name: str, without: int, with_it: int
) -> None:
    model = load_model(name)
    assert parameters(model, active=True, embedding=False) == without
    assert parameters(model, active=True) == with_it


@pytest.mark.parametrize("name", ZOO)
def test_formulas_count_what_the_tensors_hold(name: str) -> None:
    model = load_model(name)
    counted = Transformer(model, symbol("b"), model.context)
    assert counted.parameters == parameters(model)
    assert counted.active_parameters == parameters(model, active=True)


def test_the_biases_that_choose_experts_are_parameters() -> None:
    """Released DeepSeek-V3 keeps them as a buffer; without them it is 14848 less."""
    sparse = load_model("deepseek-v3").stacks[1]
    assert isinstance(sparse.block.mlp, Experts)
    assert sparse.block.mlp.selection_bias
    assert 58 * 256 == 671_026_419_200 - 671_026_404_352


@pytest.mark.parametrize("name", PAGE)
def test_the_models_of_the_theory_page(name: str) -> None:
    model = load_model(name)
    heads = {stack.block.attention.heads for stack in model.stacks}
    assert [model.layers, model.d_model, *heads, model.context] == list(PAGE[name])


@pytest.mark.parametrize("name", ZOO)
def test_a_model_is_all_numbers_and_has_a_source(name: str) -> None:
    model = load_model(name)
    assert model.name == name
    assert model.source in load_sources()
    assert not sizes(model)
    assert parameters(model) > 0


@pytest.mark.parametrize("name", ZOO)
def test_files_are_short_plain_text(name: str) -> None:
    text = (files("symscale.facts.models") / "presets" / f"{name}.toml").read_text("utf-8")
    assert text.isascii()
    assert text.endswith("\n")
    assert len(text) < 2_000


def test_the_symbolic_models() -> None:
    assert sizes(load_model("transformer")) == {
        symbol(name) for name in ("d_model", "n_vocab", "n_ctx", "L", "n_heads")
    }
    assert load_model("gated-transformer").stacks[0].block.attention.kind == "grouped-query"
    assert isinstance(load_model("moe-transformer").stacks[0].block.mlp, Experts)


def test_alternating_windows() -> None:
    gemma = load_model("gemma-2-2b")
    assert gemma.order == (0, 1) * 13
    windows = [gemma.stacks[index].block.attention.window for index in gemma.order]
    assert windows[:3] == [4096, None, 4096]


def test_an_encoder_and_a_decoder() -> None:
    encoder, decoder = load_model("t5-11b").stacks
    assert (encoder.encoder, encoder.block.causal, encoder.block.cross) == (True, False, None)
    assert (decoder.encoder, decoder.block.causal) == (False, True)
    assert decoder.block.cross is not None


# Names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GPT-3", "gpt-3"), ("gpt3", "gpt-3"), (" gpt_3 ", "gpt-3"), ("gpt-3-175b", "gpt-3"),
        ("gpt-2-small", "gpt-2"), ("Llama-3.1-405B", "llama-3.1-405b"), ("T5 11B", "t5-11b"),
        ("Qwen2.5-7B", "qwen-2.5-7b"), ("Qwen3-30B-A3B", "qwen-3-30b-a3b"),
        ("DeepSeek V3", "deepseek-v3"), ("llama2-70b", "llama-2-70b"),
    ],
)  # fmt: skip
def test_names_without_regard_to_case_and_separators(text: str, name: str) -> None:
    assert load_model(text).name == name


@pytest.mark.parametrize("name", ["gpt-5", "lama-2-7b", "", " ", "x" * 50_000, "a\nb", "\udcff"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown model .*symscale models") as caught:
        load_model(name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean llama-2-7b"):
        load_model("lama-2-7b")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/no/such/file.toml", "no such file; check the path"),
        ("a\0b.toml", r"a.x00b.toml: "),
        ("\udcff.toml", "no such file"),
        ("./model.yaml", "is n.* file; give a path"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        load_model(path)
    assert str(caught.value).isprintable()


# A user's own file

GOOD = """\
title = "Our model"
source = "our own runs"
d_model = 1024
vocabulary = 50000
context = 4096
norm = "rms"
positions = "rotary"
tied = true
pattern = ["dense", "sparse"]
[[stack]]
name = "dense"
blocks = 12
attention = { heads = 16, kv_heads = 4, qkv_bias = true }
mlp = { width = 4096, gated = true }
[[stack]]
name = "sparse"
blocks = 12
attention = { heads = 16, kv_heads = 4, head_width = 80, window = 512 }
mlp = { experts = 8, active = 2, width = 1408, gated = true, shared_width = 2816, capacity = 1.25 }
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A function from the text of a file to the model in it."""

    def load_text(text: str | bytes) -> Architecture:
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_model(str(path))

    return load_text


def refused(load: Load, text: str | bytes) -> str:
    """Load a file that must not load; return the message without the folder."""
    with pytest.raises(InputError) as caught:
        load(text)
    assert caught.value.exit_code == 2
    message = str(caught.value)
    assert message.isprintable(), "one line"
    assert len(message) < 500
    _, found, after = message.partition("mine.toml: ")
    assert found, "names the file"
    return after


def test_a_full_file(load: Load) -> None:
    model = load(GOOD)
    assert (model.name, model.title, model.source) == ("mine", "Our model", "our own runs")
    assert model.order == (0, 1) * 12
    dense, sparse = (stack.block for stack in model.stacks)
    assert dense.attention.head_width == 64
    assert sparse.attention.head_width == 80
    assert isinstance(sparse.mlp, Experts)
    assert sparse.mlp.capacity == sp.Rational(5, 4)
    assert sparse.mlp.shared == FeedForward(sp.Integer(2816), gated=True)


def test_sizes_left_out_are_symbols(load: Load) -> None:
    text = 'source = "a thought"\n[[stack]]\nattention = {}\nmlp = { gated = true }\n'
    model = load(text)
    expected = {symbol(n) for n in ("d_model", "n_vocab", "n_ctx", "L", "n_heads")}
    assert sizes(model) == expected
    block = model.stacks[0].block
    assert block.mlp == FeedForward(symbol("d_ff"), gated=True)
    assert block.attention.head_width == symbol("d_model") / symbol("n_heads")
    assert block.attention.kind == "multi-head"
    experts = load(text.replace("{ gated", '{ experts = "E", gated'))
    mlp = experts.stacks[0].block.mlp
    assert isinstance(mlp, Experts)
    assert (mlp.experts, mlp.active) == (symbol("E"), symbol("E_k"))


def test_a_symbol_may_stand_for_a_size(load: Load) -> None:
    model = load(GOOD.replace("d_model = 1024", 'd_model = "d_model"'))
    assert model.d_model == symbol("d_model")


BAD: list[tuple[str, str, str, str]] = [
    ("no source", 'source = "our own runs"\n', "", "has no source; add source"),
    ("vague source", "our own runs", "x", "says too little"),
    ("unknown key", "vocabulary", "vocabulry", "unknown key 'vocabulry'; did you mean vocabulary"),
    ("unknown key of a stack", 'name = "sparse"', 'nam = "sparse"', "stack 2: unknown key 'nam'"),
    ("unknown key of attention", "window", "windows", "attention: unknown key 'windows'; did"),
    ("unknown key of an MLP", "capacity", "capcity", "mlp: unknown key 'capcity'; did"),
    ("negative", "= 1024", "= -1024", "d_model is not above zero"),
    ("zero", "= 1024", "= 0", "d_model is not above zero; write"),
    ("true", "= 1024", "= true", "d_model is not a whole number; write"),
    ("decimal", "= 1024", "= 1024.0", "d_model is not a whole number"),
    ("nan", "= 1024", "= nan", "d_model is not a whole number"),
    ("list", "= 1024", "= [1024]", "d_model is not a whole number"),
    ("text", "= 1024", '= "1024"', "d_model: unknown symbol '1024'"),
    ("code", "= 1024", "= \"__import__('os')\"", "d_model: unknown symbol"),
    ("symbol of a machine", "= 1024", '= "W_net"', "d_model: unknown symbol 'W_net'"),
    ("monstrous", "= 1024", f"= {'9' * 1000}", "d_model is above 1e+15; check"),
    ("flag of one", "tied = true", "tied = 1", "tied is neither true nor false; write"),
    ("symbol of two lines", "= 1024", '= "a\\nb"', "d_model: unknown symbol 'a\\nb'"),
    ("odd norm", '"rms"', '"rsm"', "unknown norm 'rsm'; did you mean rms"),
    ("odd positions", '"rotary"', '"rotry"', "unknown positions 'rotry'; did you mean rotary"),
    ("buckets missing", '"rotary"', '"relative"', "has relative positions but no position_entr"),
    ("needless entries", '"rotary"', '"rotary"\nposition_entries = 5', "which have no table; rem"),
    ("norms", "tied = true", "final_norms = 99", "final_norms is not a whole number from 0"),
    ("no multiple", "heads = 16, kv_heads = 4, qkv", "heads = 24, kv_heads = 4, qkv",
     "stack 1 (dense): attention: d_model = 1024 is no multiple of heads = 24; add head_width"),
    ("kv heads", "kv_heads = 4, qkv", "kv_heads = 3, qkv", "heads = 16 is no multiple of kv_heads"),
    ("more kv heads", "kv_heads = 4, qkv", "kv_heads = 32, qkv", "is no multiple of kv_heads = 32"),
    ("too many active", "active = 2", "active = 9", "active = 9 is more than experts = 8"),
    ("no experts", "experts = 8, active", "active", "mlp: has active but no experts; add"),
    ("gate alone", "shared_width = 2816", "shared_gate = true", "shared_gate but no shared_width"),
    ("small capacity", "1.25", "0.5", "capacity is no number from 1; write"),
    ("more capacity than tokens", "1.25", "4.5", "more room than all tokens, 4 times"),
    ("infinite capacity", "1.25", "inf", "capacity is no number from 1"),
    ("true capacity", "1.25", "true", "capacity is no number from 1"),
    ("half a latent", "window = 512", "latent = { kv_rank = 8 }", "latent: has no rotary_width"),
    ("latent of a number", "window = 512", "latent = 8", "latent: is not a table; write"),
    ("no attention", "attention = { heads = 16, kv_heads = 4, qkv_bias = true }", "",
     "stack 1 (dense): has no attention; add attention = "),
    ("no MLP", "mlp = { width = 4096, gated = true }", "", "has no mlp; add mlp = "),
    ("attention of a number", "attention = { heads = 16, kv_heads = 4, qkv_bias = true }",
     "attention = 16", "attention: is not a table; write"),
    ("one name twice", 'name = "sparse"', 'name = "dense"', "two stacks have one name"),
    ("odd pattern", 'pattern = ["dense", "sparse"]', 'pattern = "dense"', "pattern is not a list"),
    ("unknown pattern", '["dense", "sparse"]', '["dense", "spars"]', "unknown stack 'spars'; did"),
    ("number in pattern", '["dense", "sparse"]', "[1]", "pattern: unknown stack '1'"),
    ("uneven pattern", '["dense", "sparse"]', '["dense", "dense", "sparse"]',
     "pattern gives stack 'dense' 16 blocks, not 12; correct"),
    ("too many blocks", "blocks = 12\nattention = { heads = 16, kv_heads = 4, qkv",
     "blocks = 1000000\nattention = { heads = 16, kv_heads = 4, qkv", "more than 100000 blocks"),
    ("no blocks and a pattern", "blocks = 12\nattention = { heads = 16, kv_heads = 4, qkv",
     "attention = { heads = 16, kv_heads = 4, qkv", "has a pattern but a stack without blocks"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_a_rule(load: Load, old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    assert message in refused(load, GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "has no list of 1 to 8 stacks of blocks; write [[stack]]"),
        (b"source = 'ours'\nstack = 1", "has no list of 1 to 8 stacks"),
        (b"source = 'ours'\nstack = [1]", "stack 1: is not a table"),
        (b"d_model = 1\nd_model = 2", "is not valid TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"#" * 100_001, "is larger than 100 kB; keep one model in one file"),
        (b"stack = " + b"[" * 1_900, "is nested too deeply"),
        (GOOD.replace("blocks = 12\n", "").replace('pattern = ["dense", "sparse"]', "").encode(),
         "leaves out the blocks of more than one stack"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else "",
)  # fmt: skip
def test_a_file_that_is_no_model(load: Load, text: bytes, message: str) -> None:
    assert message in refused(load, text)


def test_a_file_that_breaks_off_never_crashes(load: Load) -> None:
    whole = []
    for end in range(0, len(GOOD) - 1, 5):
        with suppress(InputError):
            load(GOOD[:end])
            whole.append(end)
    assert not [end for end in whole if "mlp" not in GOOD[:end]]


def test_a_preset_needs_a_key_as_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_PRESETS", tmp_path)
    (tmp_path / "ours.toml").write_text(GOOD)
    with pytest.raises(UnknownNameError, match=r"^models/ours.toml: unknown source"):
        load_model("ours")
