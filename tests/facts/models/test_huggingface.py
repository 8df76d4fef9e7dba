"""Hugging Face configurations: every family, its defaults, and every rule of reading them."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import sympy as sp

from hand_counts import parameters
from places import DATA
from symscale.costs.transformer.architecture import Architecture, Attention, Experts, FeedForward
from symscale.errors import InputError, UnknownNameError
from symscale.facts.models.config_defaults import KEYS
from symscale.facts.models.huggingface import FAMILIES, build_config
from symscale.facts.models.zoo import load_model

Load = Callable[[object], Architecture]
FOLDER = DATA / "configs"

# File, parameters of the released weights, the same model in the zoo.
CONFIGS = [
    ("bert-large-uncased", 335_141_888, "bert-large"),
    ("deepseek-v2-lite", 15_706_484_224, "deepseek-v2-lite"),
    ("deepseek-v3", 671_026_419_200, "deepseek-v3"),
    ("gemma-2-27b", 27_227_128_320, "gemma-2-27b"),
    ("gpt2", 124_439_808, "gpt-2"),
    ("gpt2-xl", 1_557_611_200, "gpt-2-xl"),
    ("llama-2-7b", 6_738_415_616, "llama-2-7b"),
    ("llama-2-70b", 68_976_648_192, "llama-2-70b"),
    ("llama-3.1-8b", 8_030_261_248, "llama-3.1-8b"),
    ("llama-3.1-405b", 405_853_388_800, "llama-3.1-405b"),
    ("llama-3.2-1b", 1_235_814_400, "llama-3.2-1b"),
    ("mistral-7b", 7_241_732_096, "mistral-7b"),
    ("mixtral-8x22b", 140_620_634_112, "mixtral-8x22b"),
    ("mixtral-8x7b", 46_702_792_704, "mixtral-8x7b"),
    ("qwen1.5-moe-a2.7b", 14_315_784_192, ""),
    ("qwen2.5-0.5b", 494_032_768, "qwen-2.5-0.5b"),
    ("qwen2.5-7b", 7_615_616_512, "qwen-2.5-7b"),
    ("qwen3-30b-a3b", 30_532_122_624, "qwen-3-30b-a3b"),
    ("qwen3-8b", 8_190_735_360, "qwen-3-8b"),
    ("t5-11b", 11_307_321_344, "t5-11b"),
]


def path_of(name: str) -> str:
    return str(FOLDER / f"{name}.json")


def data_of(name: str) -> dict[str, object]:
    data = json.loads(Path(path_of(name)).read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


def build(**keys: object) -> Architecture:
    return build_config(keys, "config.json")


def attentions(model: Architecture) -> list[Attention]:
    return [stack.block.attention for stack in model.stacks]


def kinds_of(model: Architecture) -> list[int]:
    """Which stack each block belongs to, in their order."""
    in_a_row = [i for i, stack in enumerate(model.stacks) for _ in range(int(stack.blocks))]
    return list(model.order) or in_a_row


# Families


def test_every_file_and_every_family_is_tested() -> None:
    assert {f"{name}.json" for name, *_ in CONFIGS} == {p.name for p in FOLDER.glob("*.json")}
    assert {data_of(name)["model_type"] for name, *_ in CONFIGS} == set(FAMILIES) == set(KEYS)


@pytest.mark.parametrize(("name", "count"), [row[:2] for row in CONFIGS])
def test_parameters_are_those_of_the_released_weights(name: str, count: int) -> None:
    assert parameters(load_model(path_of(name))) == count


@pytest.mark.parametrize(("name", "zoo"), [(a, c) for a, _, c in CONFIGS if c])
def test_a_configuration_is_the_model_of_the_zoo(name: str, zoo: str) -> None:
    read, known = load_model(path_of(name)), load_model(zoo)
    # The zoo states the context of the paper, a configuration the longest that fits.
    for field in (
        "d_model", "vocabulary", "stacks", "order", "norm", "norm_shift", "positions",
        "position_entries", "tied", "head", "head_bias", "final_norms", "embedding_norm",
        "token_types", "pooler", "dropout",
    ):  # fmt: skip
        assert getattr(read, field) == getattr(known, field), field


def test_names_and_sources(tmp_path: Path) -> None:
    model = load_model(path_of("llama-2-7b"))
    assert (model.name, model.title) == ("llama-2-7b", "Llama-2-7b-hf")
    assert model.source.startswith("configuration ")
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "gpt2"}')
    assert (load_model(str(path)).name, load_model(str(path)).title) == ("gpt2", "gpt2")


# Defaults: absent keys take those of the family's class.


@pytest.mark.parametrize(
    ("family", "count"),
    [
        ("gpt2", 124_439_808),  # GPT-2
        ("bert", 109_482_240),  # BERT-Base
        ("t5", 60_506_624),  # T5-Small
        ("llama", 6_738_415_616),  # LLaMA 7B
        ("mistral", 7_241_732_096),
        ("mixtral", 46_702_792_704),
        ("gemma2", 2_614_341_888),
        ("deepseek_v3", 671_026_419_200),
        ("qwen2_moe", 14_315_784_192),  # Qwen1.5-MoE-A2.7B
    ],
)
def test_a_family_without_sizes_is_its_first_model(family: str, count: int) -> None:
    assert parameters(build(model_type=family)) == count


def test_defaults_of_gpt_2() -> None:
    medium = build(model_type="gpt2", n_embd=1024, n_head=16)
    assert medium.stacks[0].block.mlp == FeedForward(sp.Integer(4096), bias=True)
    narrow = build(model_type="gpt2", n_inner=100)
    assert narrow.stacks[0].block.mlp == FeedForward(sp.Integer(100), bias=True)
    assert not build(model_type="gpt2", tie_word_embeddings=False).tied


def test_other_names_of_keys() -> None:
    model = build(model_type="gpt2", hidden_size=1536, num_hidden_layers=3)
    assert [model.d_model, model.layers] == [1536, 3]


def test_key_heads_and_head_widths() -> None:
    def heads(**keys: object) -> tuple[int, int]:
        attention = attentions(build(**keys))[0]
        return int(attention.kv_heads), int(attention.head_width)

    assert heads(model_type="llama") == (32, 128)
    assert heads(model_type="llama", num_attention_heads=64) == (64, 64)
    assert heads(model_type="llama", head_dim=None, num_key_value_heads=None) == (32, 128)
    assert heads(model_type="mistral") == (8, 128)
    assert heads(model_type="mistral", num_key_value_heads=None) == (32, 128)
    assert heads(model_type="qwen3", hidden_size=1024) == (32, 128)
    assert heads(model_type="qwen3_moe") == (4, 64)


def test_biases() -> None:
    def biases(**keys: object) -> tuple[bool, bool]:
        attention = attentions(build(**keys))[0]
        return attention.qkv_bias, attention.output_bias

    assert biases(model_type="qwen2") == (True, False)
    assert biases(model_type="qwen2_moe", qkv_bias=False) == (False, False)
    assert biases(model_type="qwen3") == (False, False)
    assert biases(model_type="llama", attention_bias=True) == (True, True)
    mlp = build(model_type="llama", mlp_bias=True).stacks[0].block.mlp
    assert isinstance(mlp, FeedForward)
    assert mlp.bias


def test_windows() -> None:
    def windows(**keys: object) -> list[object]:
        model = build(**keys)
        return [attentions(model)[place].window for place in kinds_of(model)]

    assert windows(model_type="mistral", num_hidden_layers=2) == [4096, 4096]
    assert windows(model_type="mistral", num_hidden_layers=1, sliding_window=None) == [None]
    assert windows(model_type="mixtral", num_hidden_layers=1) == [None]
    assert windows(model_type="gemma2", num_hidden_layers=3) == [4096, None, 4096]
    qwen = {"model_type": "qwen2", "num_hidden_layers": 3, "max_window_layers": 1}
    assert windows(**qwen) == [None, None, None]
    assert windows(**qwen, use_sliding_window=True) == [None, 4096, 4096]
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    assert windows(**qwen, use_sliding_window=True, layer_types=kinds) == [4096, None, 4096]
    moe = {"model_type": "qwen3_moe", "num_hidden_layers": 2}
    assert windows(**moe, use_sliding_window=True, sliding_window=64) == [64, 64]


def test_which_layers_have_experts() -> None:
    def sparse(**keys: object) -> list[bool]:
        model = build(**keys)
        return [isinstance(model.stacks[p].block.mlp, Experts) for p in kinds_of(model)]

    qwen = {"model_type": "qwen3_moe", "num_hidden_layers": 4}
    assert sparse(**qwen) == [True] * 4
    assert sparse(**qwen, decoder_sparse_step=2) == [False, True, False, True]
    assert sparse(**qwen, mlp_only_layers=[0, 3]) == [False, True, True, False]
    assert sparse(**qwen, num_experts=0) == [False] * 4
    deepseek = {"model_type": "deepseek_v3", "num_hidden_layers": 3}
    assert sparse(**deepseek, first_k_dense_replace=1) == [False, True, True]
    assert sparse(**deepseek, first_k_dense_replace=5) == [False] * 3


def test_windows_and_experts_together() -> None:
    model = build(
        model_type="qwen2_moe", num_hidden_layers=4, decoder_sparse_step=2,
        use_sliding_window=True, max_window_layers=2,
    )  # fmt: skip
    names = ["full dense", "full sparse", "sliding dense", "sliding sparse"]
    assert [stack.name for stack in model.stacks] == names
    assert model.order == ()


def test_shared_experts() -> None:
    qwen = build(model_type="qwen2_moe").stacks[0].block.mlp
    assert isinstance(qwen, Experts)
    assert qwen.shared_gate
    assert qwen.shared == FeedForward(sp.Integer(5632), gated=True)
    lite = load_model(path_of("deepseek-v2-lite"))
    mlp = lite.stacks[1].block.mlp
    assert isinstance(mlp, Experts)
    assert mlp.shared is not None
    assert mlp.shared.width == 2 * 1408
    latent = attentions(lite)[0].latent
    assert latent is not None
    assert latent.query_rank is None


def test_gated_t5() -> None:
    mlp = build(model_type="t5", feed_forward_proj="gated-gelu").stacks[0].block.mlp
    assert isinstance(mlp, FeedForward)
    assert mlp.gated
    uneven = build(model_type="t5", num_layers=24, num_decoder_layers=8)
    assert [stack.blocks for stack in uneven.stacks] == [24, 8]


def test_dropout() -> None:
    assert build(model_type="gpt2").dropout
    rates = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
    assert not build(model_type="gpt2", **rates).dropout
    assert build(model_type="llama", attention_dropout=1).dropout


def test_the_extra_prediction_layer_is_left_out() -> None:
    assert "extra prediction" in load_model(path_of("deepseek-v3")).note


# Refusals


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A function from a configuration, or the text of one, to its model."""

    def load_data(data: object) -> Architecture:
        path = tmp_path / "config.json"
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        path.write_bytes(text)
        return load_model(str(path))

    return load_data


def refused(load: Load, data: object) -> str:
    """Load what must not load; return the message without the folder."""
    with pytest.raises(InputError) as caught:
        load(data)
    assert caught.value.exit_code == 2
    message = str(caught.value)
    assert message.isprintable(), "one line"
    assert len(message) < 600
    _, found, after = message.partition("config.json: ")
    assert found, "names the file"
    return after


LLAMA = data_of("llama-3.1-8b")

BAD: list[tuple[str, dict[str, object], str]] = [
    # Families.
    ("llama4", {"model_type": "lama"}, "unknown model_type 'lama'; did you mean llama? or descr"),
    ("far off", {"model_type": "zzz"}, "unknown model_type 'zzz'; known: bert, deepseek_v2, "),
    ("next version", {"model_type": "qwen4"}, "unknown model_type 'qwen4'; did you mean qwen"),
    ("no family", {"model_type": None}, "has no model_type; add"),
    ("family of a number", {"model_type": 7}, "model_type is not a text"),
    ("family of two lines", {"model_type": "a\nb"}, "unknown model_type 'a\\nb'"),
    # Keys.
    ("unknown key", {"num_memory_tokens": 16},
     "it could change the shape of a llama model; remove it if it does not, or describe"),
    ("slip", {"num_key_value_head": 8}, "unknown key 'num_key_value_head'; did you mean num_key_v"),
    ("key of another family", {"n_routed_experts": 8}, "unknown key 'n_routed_experts'"),
    ("key of two lines", {"a\nb": 8}, "unknown key 'a\\nb'"),
    ("long key", {"x" * 5000: 8}, "unknown key 'xxx"),
    ("surrogate", {"\ud800": 8}, "unknown key '\\ud800'"),
    ("pruned", {"pruned_heads": {"1": [0]}}, "pruned_heads = {...} is beyond what is known"),
    ("cross-attention", {"add_cross_attention": True}, "add_cross_attention = true is beyond"),
    ("one for false", {"add_cross_attention": 0}, "add_cross_attention = 0 is beyond"),
    ("encoder", {"is_encoder_decoder": True}, "only false is read"),
    ("pictures", {"vision_config": {"depth": 2}}, "vision_config = {...} is beyond"),
    # Sizes.
    ("negative", {"hidden_size": -4096}, "hidden_size = -4096 is not above zero; write"),
    ("zero", {"num_hidden_layers": 0}, "num_hidden_layers = 0 is not above zero"),
    ("true", {"hidden_size": True}, "hidden_size = true is not a whole number; write"),
    ("decimal", {"hidden_size": 4096.0}, "hidden_size = 4096.0 is not a whole number"),
    ("text", {"hidden_size": "4096"}, 'hidden_size = "4096" is not a whole number'),
    ("code", {"hidden_size": "__import__('os')"}, "is not a whole number"),
    ("list", {"hidden_size": [4096]}, "hidden_size = [...] is not a whole number"),
    ("table", {"hidden_size": {}}, "hidden_size = {} is not a whole number"),
    ("null", {"hidden_size": None}, "hidden_size is null; a llama model needs"),
    ("huge", {"vocab_size": 10**30}, "vocab_size is above 1e+15"),
    ("monstrous", {"vocab_size": 10**60}, "has a number of 61 digits"),
    ("deep model", {"num_hidden_layers": 10**6}, "num_hidden_layers is above 1e+05"),
    ("flag of one", {"tie_word_embeddings": 1}, "tie_word_embeddings = 1 is neither true nor"),
    ("flag of text", {"attention_bias": "no"}, 'attention_bias = "no" is neither true nor'),
    ("dropout", {"attention_dropout": 1.5}, "attention_dropout = 1.5 is not a number from 0 to 1"),
    ("negative dropout", {"attention_dropout": -0.1}, "is not a number from 0 to 1"),
    ("dropout of text", {"attention_dropout": "0.1"}, "is not a number from 0 to 1"),
    ("tiny dropout", {"attention_dropout": 1e-300}, ""),
    ("heads", {"num_attention_heads": 30}, "num_key_value_heads = 8"),
    ("heads and width", {"hidden_size": 4100}, "4100 is no multiple of its 32 heads"),
    ("kv heads", {"num_key_value_heads": 5}, "no multiple of num_key_value_heads = 5"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "message"), [r[1:] for r in BAD], ids=[r[0] for r in BAD])
def test_a_rule(load: Load, keys: dict[str, object], message: str) -> None:
    if message:
        assert message in refused(load, LLAMA | keys)
    else:
        with suppress(InputError):
            load(LLAMA | keys)


OF_FAMILIES: list[tuple[str, dict[str, object], str]] = [
    ("gpt2", {"n_embd": 100}, "100 is no multiple of its 12 heads"),
    ("gpt2", {"hidden_size": 5}, "n_embd and hidden_size are one size, but differ; keep n_embd"),
    ("bert-large-uncased", {"position_embedding_type": "relative_key"}, 'only "absolute" is read'),
    ("t5-11b", {"feed_forward_proj": "gatedgelu"}, "unknown feed_forward_proj 'gatedgelu'; did"),
    ("t5-11b", {"feed_forward_proj": 1}, "feed_forward_proj = 1 is not a text"),
    ("t5-11b", {"is_gated_act": True}, "is_gated_act contradicts feed_forward_proj"),
    ("t5-11b", {"is_encoder_decoder": False}, "only true is read"),
    ("mixtral-8x7b", {"num_experts_per_tok": 9}, "= 9 is more than num_local_experts = 8"),
    ("qwen2.5-7b", {"layer_types": ["full_attention"]}, "has 1 entries for 28 layers"),
    ("qwen2.5-7b", {"layer_types": ["chunked_attention"] * 28}, "has 'chunked_attention'; only"),
    ("qwen2.5-7b", {"layer_types": "full"}, "layer_types is not a list"),
    ("qwen2.5-7b", {"layer_types": ["sliding_attention"] * 28}, "but no window is switched on"),
    ("qwen3-30b-a3b", {"mlp_only_layers": [True]}, "mlp_only_layers is not a list of layers"),
    ("qwen3-30b-a3b", {"decoder_sparse_step": 0}, "decoder_sparse_step = 0 is not above zero"),
    ("deepseek-v3", {"moe_layer_freq": 2}, "moe_layer_freq = 2 is beyond what is known"),
    ("deepseek-v3", {"attention_bias": True}, "attention_bias = true is beyond"),
    ("deepseek-v3", {"first_k_dense_replace": -1}, "first_k_dense_replace = -1 is negative"),
    ("deepseek-v2-lite", {"topk_method": "noaux_tc"}, 'only "greedy" or "group_limited_greedy"'),
    ("deepseek-v2-lite", {"num_experts_per_tok": None}, "num_experts_per_tok is null"),
]


@pytest.mark.parametrize(("name", "keys", "message"), OF_FAMILIES)
def test_a_rule_of_a_family(
    load: Load, name: str, keys: dict[str, object], message: str
) -> None:
    assert message in refused(load, data_of(name) | keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not valid JSON (Expecting value: line 1 column 1"),
        (b"[]", "is not a JSON object; it should start with"),
        (b"null", "is not a JSON object"),
        (b"{}", "has no model_type; add"),
        (b'{"model_type": "llama"', "is not valid JSON"),
        (b'{"model_type": "llama"} {}', "is not valid JSON (Extra data"),
        (b'{"model_type": "llama", "vocab_size": NaN}', "NaN is no number of JSON"),
        (b'{"model_type": "llama", "vocab_size": Infinity}', "Infinity is no number of JSON"),
        (b'{"model_type": "llama", "vocab_size": 1e999}', "vocab_size = 1e999 is not a whole"),
        (b'{"model_type": "llama", "a": 1, "a": 1}', "has the key 'a' twice; keep one"),
        (b'{"model_type": "llama", "id2label": {"0": 1, "0": 2}}', "has the key '0' twice"),
        (b"{" + b'"a": 1, ' * 100_000 + b'"b": 1}', "has the key 'a' twice"),
        (b"{" + b"".join(b'"%d":1,' % i for i in range(80_000)) + b'"7":1}', "key '7' twice"),
        (b'{"vocab_size": ' + b"9" * 100_000 + b"}", "has a number of 100000 digits"),
        (b'{"a": ' + b"[" * 400_000, "is nested too deeply; 30 levels"),
        (b'{"a": ' * 31 + b"}" * 31, "is nested too deeply"),
        (b'{"a": "' + b"[" * 1000 + b'"}', "has no model_type"),
        (b'{"a": "\\"' + b"[" * 1000 + b'"}', "has no model_type"),
        (b'"' + b'\\"' * 400_000, "is not valid JSON"),
        (b" " * 1_000_001, "is larger than 1000 kB; a configuration has a few kB"),
        (b"\xff\xfe{", "is not UTF-8 text"),
        (b"import os", "is not valid JSON"),
        (b"model_type = 'llama'", "is not valid JSON"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else "",
)
def test_a_file_that_is_no_configuration(load: Load, text: bytes, message: str) -> None:
    assert message in refused(load, text)


def test_a_mark_at_the_start_is_read_over(load: Load) -> None:
    assert load(b'\xef\xbb\xbf{"model_type": "gpt2"}').name == "gpt2"


def test_null_means_absent_for_keys_that_nobody_knows(load: Load) -> None:
    assert load(LLAMA | {"some_new_key": None, "pruned_heads": None}).d_model == 4096


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; check the path"):
        load_model(str(tmp_path / "none.json"))
    folder = tmp_path / "folder.json"
    folder.mkdir()
    with pytest.raises(InputError, match="is not a file; give the path of a JSON file"):
        load_model(str(folder))


def test_an_unknown_family_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean gpt2\?"):
        build(model_type="gpt-2")


@pytest.mark.parametrize("name", ["deepseek-v3", "t5-11b", "qwen3-30b-a3b"])
def test_a_file_that_breaks_off_is_refused(load: Load, name: str) -> None:
    text = Path(path_of(name)).read_bytes().rstrip()
    for end in range(0, len(text), 17):
        refused(load, text[:end])


STRANGE: list[object] = [
    None, True, False, 0, -1, 1, 3, 7, 2.5, 10**20, "", "x", "relu", [], [1], ["x"], {}, {"a": 1},
    "\ud800", [[]], -0.0,
]  # fmt: skip


@pytest.mark.parametrize("name", [row[0] for row in CONFIGS])
def test_strange_values_are_read_or_refused(name: str) -> None:
    """Whatever stands under any key, the answer is a model of positive size or one line."""
    draw = random.Random(name)
    whole = data_of(name)
    family = str(whole["model_type"])
    keys = sorted({*whole, *KEYS[family].defaults, *KEYS[family].harmless} - {"model_type"})
    for key in keys:
        for value in draw.sample(STRANGE, 8):
            try:
                model = build_config(whole | {key: value}, "config.json")
            except InputError as error:
                problem = str(error)
            else:
                assert parameters(model) > 0
                continue
            assert problem.isprintable()
            assert problem.startswith("config.json: ")
            assert len(problem) < 400
