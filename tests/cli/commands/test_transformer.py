"""The commands `cost`, `ratio`, `sweep` and `models` as a user runs them."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from commands import answer, refusal, run
from latex import compile_latex
from places import DATA, ROOT
from symscale.language.parsing import parse_expression
from symscale.language.symbols import NOTATION
from symscale.pages.formats import latex
from symscale.studies.requests.plan_options import plan_options

CONFIGS = DATA / "configs"
FORMATS = ("text", "json", "latex", "markdown")
LLAMA = ("llama-3.1-405b", "--tp", "8", "--pp", "16", "--dp", "128", "--seq", "8192",
         "--batch", "2048")
OFF = ("--no-fused-attention", "--no-sequence-parallel", "--zero", "0")


def data(*arguments: str) -> dict[str, Any]:
    found = json.loads(answer(*arguments, "--format", "json"))
    assert isinstance(found, dict)
    return found


def test_the_share_with_latency_is_that_counted_by_hand() -> None:
    """GPT-3 over 8 devices of a node: 4 all-reduces of 2 phases a block and microbatch."""
    given = ("ratio", "gpt-3", "--tp", "8", "--dp", "8", "--batch", "64", "--hardware", "h100-sxm",
             "--flop-vs-bw", "1,4", "--latency")
    found = json.loads(answer(*given, "--format", "json"))
    d, blocks, tokens = 12288, 96, 8 * 2048
    computing = blocks * tokens * (72 * d * d + 12 * 2048 * d) / 8
    sent = blocks * 4 * tokens * d * 2 * 7 / 8 / 225e9  # words over a link of 450 GB/s
    waiting = sent + 4 * 2 * blocks * 8 * 1.125e-6
    rate = found["parameters"]["C"]["value"]
    assert found["parameters"]["tau_net"]["value"] == 1.125e-6
    for k, one in zip((1, 4), found["share_with_latency"], strict=True):
        assert one["value"] == pytest.approx(waiting / (waiting + computing / (k * rate)), rel=1e-9)
    assert [s["value"] for s in found["share"]] == pytest.approx(
        [sent / (sent + computing / (k * rate)) for k in (1, 4)], rel=1e-9
    )
    # Over two tiers a phase has the latency of both; none is the share as without.
    far = json.loads(answer("ratio", "gpt-3", "--tp", "32", "--hardware", "h100-sxm", "--latency",
                            "--format", "json"))
    assert far["parameters"]["tau_net"]["value"] == 2.25e-6
    still = json.loads(answer(*given, "--set", "tau_net=1e-30", "--format", "json"))
    assert still["share_with_latency"][0]["value"] == pytest.approx(still["share"][0]["value"])
    alone = json.loads(answer("ratio", "gpt-3", "--tp", "1", "--hardware", "mi210", "--latency",
                              "--format", "json"))
    assert [s["value"] for s in alone["share_with_latency"]] == [0]  # nothing waits there
    assert "no latency of tier node" in refusal(
        "ratio", "gpt-3", "--tp", "8", "--hardware", "mi210", "--latency")


def test_without_a_group_that_waits_the_share_is_zero() -> None:
    found = json.loads(answer("ratio", "gpt-3", "--tp", "1", "--flop-vs-bw", "1,4", "--format",
                              "json"))
    assert (found["edge"], found["edge-word"], found["crossing"]) == (None, None, [])
    assert [(s["k"], s["value"]) for s in found["share"]] == [(1, 0), (4, 0)]
    assert found["slack"]["sympy"] == "4*b/(N_DP*w)"
    text = answer("ratio", "gpt-3", "--tp", "1", "--hardware", "h100-sxm")
    assert "No communication is serialized" in text
    assert "grows like  0" not in text


def test_cost_of_a_named_model_by_hand() -> None:
    found = data("cost", *LLAMA)
    assert found["parameters"] == found["active_parameters"] == 405_853_388_800
    # Every weight but the input embedding takes part in a product with each token.
    weights = 405_853_388_800 - 128256 * 16384 - 16384 * (2 * 126 + 1)
    scores = 4 * 8192 * 16384 * 126
    assert found["flop_per_token"]["forward"] == 2 * weights + scores
    assert found["flop_per_token"]["training"] == 3 * (2 * weights + scores)
    assert sum(found["flop_per_token"]["components"].values()) == 2 * weights + scores
    tokens = 2048 * 8192
    by_name = {c["name"]: c for c in found["components"]}
    assert by_name["mlp"]["flop_forward"] == 6 * 16384 * 53248 * 126 * tokens
    assert by_name["mlp"]["flop_training"] == 3 * by_name["mlp"]["flop_forward"]
    assert found["batch"] == {
        "tokens": tokens, "sequences": 2048, "tokens_per_sequence": 8192,
    }  # fmt: skip
    assert found["plan"]["devices"] == 16384
    assert "the heaviest has 8" in found["plan"]["stages"]


def test_communication_of_a_plan_by_hand() -> None:
    found = data("cost", *LLAMA, *OFF, "--hardware", "h100-sxm")
    table = {(c["parallelism"], c["phase"], c["place"]): c for c in found["communication"]}
    tensor = table["tensor", "forward", "blocks"]
    payload = 2 * 8 * 16384 * 2048 * 8192 // 128  # two a block, eight blocks, a replica's tokens
    assert tensor["payload_words"] == payload
    assert tensor["words"] == 2 * 7 * payload // 8
    assert tensor["calls"] == 2 * 8 * 16
    assert tensor["messages"] == 2 * 7 * tensor["calls"]
    assert (tensor["tier"], tensor["serialized"]) == ("node", True)
    data_parallel = table["data", "backward", "blocks"]
    block = (2 * 16384 * 16384 + 2 * 16384 * 1024 + 3 * 16384 * 53248) // 8 + 2 * 16384
    assert data_parallel["payload_words"] == 8 * block
    assert (data_parallel["tier"], data_parallel["serialized"]) == ("cluster", False)
    for entry in found["communication"]:
        assert sum(entry["words_by_tier"].values()) == pytest.approx(entry["words"], rel=1e-12)


def test_memory_of_a_plan_by_hand() -> None:
    found = data("cost", *LLAMA, "--recompute", "full", "--sequence-parallel", "--zero", "1")
    held = found["memory_bytes"]
    block = (2 * 16384 * 16384 + 2 * 16384 * 1024 + 3 * 16384 * 53248) // 8 + 2 * 16384
    parameters = 8 * block + 128256 * 16384 // 8
    assert held["weights"] == 2 * parameters
    assert held["gradients"] == 4 * parameters
    assert held["optimizer"] == pytest.approx(12 * parameters / 128)
    assert held["activations"] == 2 * 8192 * 16384 // 8 * 8 * 16
    buckets = ("weights", "gradients", "optimizer", "activations", "recomputed")
    assert held["total"] == pytest.approx(sum(held[name] for name in buckets))


def test_a_configuration_costs_what_the_preset_does() -> None:
    for file, name in (("llama-3.1-405b.json", "llama-3.1-405b"), ("gpt2-xl.json", "gpt-2-xl"),
                       ("mixtral-8x7b.json", "mixtral-8x7b"), ("gemma-2-27b.json", "gemma-2-27b")):
        one = data("cost", str(CONFIGS / file), "--seq", "1024")
        other = data("cost", name, "--seq", "1024")
        for key in ("parameters", "active_parameters", "flop_per_token"):
            assert one[key] == other[key], (file, key)


def test_what_is_not_given_stays_symbolic() -> None:
    found = data("cost", "transformer")
    names = {name: entry.symbol for name, entry in NOTATION.items()}
    d, L, n, V = (names[x] for x in ("d_model", "L", "n_ctx", "n_vocab"))
    forward = parse_expression(found["flop_per_token"]["forward"], names)
    assert sp.expand(forward - (24 * L * d**2 + 4 * L * d * n + 2 * d * V)) == 0
    assert found["formulas"]["parameters"]["latex"]
    assert {c["parallelism"] for c in found["communication"]} == {
        "tensor", "context", "data", "pipeline",
    }  # fmt: skip
    settled = data("cost", "transformer", "--set", "d_model=12288", "--set", "L=96",
                   "--set", "n_vocab=50257", "--set", "n_ctx=2048", "--set", "n_heads=96")
    assert settled["parameters"] == data("cost", "gpt-3")["parameters"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "arguments",
    [("cost", "deepseek-v3"), ("cost", "moe-transformer"), ("cost", "t5-11b", "--tp", "8"),
     ("ratio", "palm", "--tp", "16", "--replicate-kv"),
     ("ratio", "mixtral-8x7b", "--tp", "8", "--dp", "8", "--ep", "8"), ("sweep",),
     ("models",)],
    ids=" ".join,
)
def test_every_command_prints_every_format(arguments: tuple[str, ...], form: str) -> None:
    text = answer(*arguments, "--format", form)
    assert text.strip()
    if form == "text":
        assert max(map(len, text.splitlines())) <= 80


def test_ratio_answers_with_formula_growth_and_number() -> None:
    found = data("ratio", "gpt-3", "--tp", "32", "--hardware", "h100-sxm", "--flop-vs-bw", "1,2,4")
    assert [s["k"] for s in found["share"]] == [1, 2, 4]
    for entry in (found["edge"], found["slack"], *found["share"]):
        assert {"latex", "sympy", "leading", "theta", "value", "unit"} <= set(entry)
    assert found["edge"]["value"] == (18 * 12288 + 3 * 2048) / (2 * 32)
    assert found["slack"]["value"] is None  # the batch is open
    symbolic = data("ratio", "transformer", "--cp", "1")
    assert symbolic["edge"]["theta"] == "(d_model + n_ctx)/N_TP"
    assert symbolic["slack"]["theta"] == "b/N_DP"
    assert data("ratio", "transformer")["plan"]["cp"] == "N_CP"  # as in cost


def test_the_sweep_writes_what_it_says(tmp_path: Path) -> None:
    table, plot = tmp_path / "out.csv", tmp_path / "share.pdf"
    answer("sweep", "--csv", str(table), "--plot", str(plot))
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 392
    assert {row["fits"] for row in rows} == {"yes", "no"}
    assert [k for k in rows[0] if k.startswith("share")] == ["share_k1", "share_k2", "share_k4"]
    before = plot.read_bytes()
    assert before.startswith(b"%PDF")
    assert "exists" in refusal("sweep", "--csv", str(table))
    answer("sweep", "--plot", str(plot), "--force")
    assert plot.read_bytes() == before


REFUSED = [
    (("cost", "gpt-4"), "gpt-"),
    (("cost", "gpt-3", "--tp", "36"), "nearest that fits is 32"),
    (("cost", "gpt-3", "--tp", "128"), "at most 96"),
    (("cost", "llama-3.1-8b", "--tp", "16"), "--replicate-kv"),
    (("cost", "llama-3.1-8b", "--tp", "8", "--dp", "3", "--batch", "16"), "nearest that fits is 2"),
    (("cost", "llama-3.1-8b", "--pp", "33"), "at most 32"),
    (("cost", "mixtral-8x7b", "--ep", "3"), "nearest that fits is 2"),
    (("cost", "mixtral-8x7b", "--ep", "8", "--dp", "4"), "nearest that fits is 4"),
    (("cost", "gpt-3", "--ep", "4"), "has no experts"),
    (("cost", "gpt-3", "--tp", "8", "--pp", "1", "--dp", "2", "--devices", "20"), "--devices 16"),
    (("cost", "gpt-3", "--seq", "4096"), "at most 2048"),
    (("cost", "gpt-3", "--tp", "-1"), "at least 1"),
    (("cost", "gpt-3", "--recompute", "ful"), "full"),
    (("cost", "gpt-3", "--schedule", "1b1f"), "1f1b"),
    (("cost", "gpt-3", "--mask", "half"), "causal"),
    (("cost", "gpt-3", "--recipe", "mixd"), "mixed"),
    (("cost", "gpt-3", "--set", "d_model=1"), "no d_model left open"),
    (("cost", "gpt-3", "--hardware", "h100-sxm"), "give each a number"),
    (("cost", "gpt-3", "--pp", "8", "--dp", "1", "--tp", "1", "--batch", "8", "--schedule",
      "zero-bubble"), "--microbatches 16"),
    (("cost", "gpt-3", "--tp", str(10**30)), "more than"),
    (("ratio", "gpt-3", "--flop-vs-bw", "1,x"), "--flop-vs-bw"),
    (("ratio", "gpt-3", "--flop-vs-bw", ","), "--flop-vs-bw"),
    (("ratio", "gpt-3", "--at-share", "75"), "between 0 and 1"),
    (("ratio", "gpt-3", "--tp", "8", "--contention", "1,2"), "one number"),
    (("sweep", "futur"), "future"),
    (("sweep", "--flop-vs-bw", "0"), "above 0"),
    (("sweep", "--plot", "share.txt"), ".pdf"),
]


@pytest.mark.parametrize(("arguments", "part"), REFUSED, ids=lambda x: " ".join(x))
def test_bad_input_gets_one_line(arguments: tuple[str, ...], part: str) -> None:
    assert part in refusal(*arguments)


PAGES = (
    ("cost", "transformer"),
    ("cost", "gated-transformer", "--tp", "4", "--zero", "3", "--recompute", "selective"),
    ("cost", "moe-transformer"),
    ("cost", "t5-11b", "--batch", "128"),
    ("cost", "deepseek-v3", "--seq", "4096", "--pp", "16", "--ep", "64", "--dp", "128"),
    ("cost", *LLAMA, "--hardware", "h100-sxm"),
    ("ratio", "transformer"),
    ("ratio", "moe-transformer"),
    ("asymptotics", "edge", "--along", "N_TP=d_model^p"),
    ("asymptotics", "memory", "--model", "moe-transformer"),
    ("sweep",),
    ("models",),
    ("simulate", "--hardware", "h100-sxm", "--widths", "12288,24576"),
)


def test_latex_fits_the_page(need_program: Callable[[str], str], tmp_path: Path) -> None:
    """Long formulas are broken, in tables, in the text and on lines of their own."""
    bodies = []
    for arguments in PAGES:
        shown = answer(*arguments, "--format", "latex")
        bodies.append(shown.partition("\\maketitle\n")[2].removesuffix("\\end{document}\n"))
    whole = latex.PREAMBLE + "\\begin{document}\n" + "\\clearpage\n".join(bodies)
    compile_latex(need_program("pdflatex"), whole + "\\end{document}\n", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cost", "transformer", "--set", "d_model=1e300"), ["d_model", "1e+12"]),
        (("cost", "transformer", "--set", "d_model=1000.5"), ["2001/2", "whole"]),
        (("cost", "gpt-3", "--set", "b=0.5"), ["whole"]),
        (("cost", "gpt-3", "--set", "w=1e-40"), ["w", "round"]),
        (("cost", "gpt-3", "--set", "C=1e15"), ["no C left open"]),
        (("cost", "gpt-3", "--set", "m=4", "--microbatches", "8"), ["no m left open"]),
        (("cost", "gpt-3", "--tp", "8", "--dp", "4", "--devices", "64"), ["--pp", "--devices 64"]),
        (("cost", "gpt-3", "--sequence-parallel", "--tp", "32", "--seq", "100"), ["32", "100"]),
        (("cost", "gated-transformer", "--set", "d_ff=d_model", "--set", "d_model=d_ff"),
         ["circle"]),
        (("cost", "gated-transformer", "--set", "d_ff=d_model/3", "--set", "d_model=100"),
         ["100/3", "whole"]),
        (("ratio", "gpt-3", "--set", "M_cap=1"), ["no M_cap left open"]),
        (("ratio", "gpt-3", "--flop-vs-bw", "1e300"), ["--flop-vs-bw", "1e15"]),
        (("ratio", "gpt-3", "--at-share", "0.50000000000000000001"), ["--at-share", "digits"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_sizes_that_cannot_be_meant(arguments: tuple[str, ...], words: list[str]) -> None:
    message = refusal(*arguments)
    assert all(word in message for word in words), message


def test_settings_may_name_each_other() -> None:
    sizes = {"d_model": "1024", "n_heads": "16", "n_kv": "16", "d_head": "64", "L": "2",
             "n_vocab": "1000", "d_ff": "4*d_model"}
    given = [part for item in sizes.items() for part in ("--set", "=".join(item))]
    block = 4 * 1024**2 + 3 * 4 * 1024**2 + 2 * 1024
    assert data("cost", "gated-transformer", *given)["parameters"] == (
        2 * block + 2 * 1000 * 1024 + 1024
    )


PLAN = ("plan", "--hardware", "h100-sxm", "--devices", "1024")
GPT = ("--model", "gpt-3", "--batch", "1024")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "transformer", "--batch", "64", "--seq", "2048"), ["d_model", "n_heads"]),
        ((*GPT, "--tp", "7"), ["--tp 7", "6"]),
        ((*GPT, "--tp", "0"), ["--tp 0"]),
        ((*GPT, "--dp", "3"), ["--dp 3", "--devices 1024"]),
        ((*GPT, "--ep", "2"), ["--ep 2", "no experts"]),
        ((*GPT, "--microbatches", "3"), ["--microbatches 3", "2"]),
        ((*GPT, "--interleaving", "1000"), ["1000", "96"]),
        (("--d-model", "12288", "--mask", "causal"), ["--mask", "plan-mlp"]),
        (("--d-model", "12288", "--zero", "3"), ["--zero", "plan-mlp"]),
        (("--d-model", "12288", "--recipe", "full"), ["--recipe", "plan-mlp"]),
        (("--d-model", "12288", "--schedule", "zero-bubble"), ["--schedule", "plan-mlp"]),
        (("--d-model", "12288", "--unfused-attention"), ["--unfused-attention", "plan-mlp"]),
        (("--d-model", "12288", "--no-sequence-parallel"), ["parallel", "plan-mlp"]),
        (("--d-model", "12288", "--schedule", "1f1b"), ["--schedule", "plan-mlp"]),
        (("--d-model", "12288", "--fused-attention"), ["--fused-attention", "plan-mlp"]),
        (("--batch", "64"), ["--model", "plan-mlp"]),
        ((*GPT, "--replicate-kv"), ["--replicate-kv"]),
        ((*GPT, "--zero", "4"), ["--zero", "3"]),
        ((*GPT, "--unfused-attention", "--fused-attention"), ["--no-fused-attention"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_search_refuses_what_cannot_be_meant(
    arguments: tuple[str, ...], words: list[str]
) -> None:
    message = refusal(*PLAN, *arguments)
    assert all(word in message for word in words), message


def test_one_stage_has_no_chunks() -> None:
    assert "--pp above 1" in refusal("cost", "gpt-3", "--pp", "1", "--interleaving", "2")


def test_a_table_without_an_end_is_refused() -> None:
    assert "is not a file" in refusal("evaluate", "/dev/zero")


# Switches that nobody sets


def test_the_defaults_are_what_people_run() -> None:
    """The same numbers as with the switches named, by both routes; and the answer says so."""
    plan = ("gpt-3", "--tp", "8", "--dp", "4", "--pp", "8", "--batch", "64")
    said = ("--fused-attention", "--sequence-parallel", "--zero", "1", "--schedule", "1f1b",
            "--recompute", "none", "--mask", "full", "--recipe", "mixed")
    taken, named, off = (data("cost", *plan, *more) for more in ((), said, OFF))
    assert taken["plan"].pop("defaults") == [
        "sequence_parallel", "zero", "schedule", "recompute", "fused_attention", "mask", "recipe",
    ]
    assert named["plan"].pop("defaults") == []
    assert taken == named
    assert taken["memory_bytes"]["total"] < off["memory_bytes"]["total"]
    # By hand: a sixteenth of the optimizer's states, and no scores.
    assert taken["memory_bytes"]["optimizer"] * 4 == off["memory_bytes"]["optimizer"]
    (first, *_) = taken["communication"]
    assert (first["collective"], off["communication"][0]["collective"]) == (
        "reduce-scatter", "all-reduce",
    )
    text = answer("cost", *plan)
    assert "By default: sequence parallelism, sharding stage 1, 1F1B, no recomputation," in text
    assert "By default: full mask, recipe mixed." in answer("cost", *plan, *said[:8])
    assert "By default" not in answer("cost", *plan, *said)
    share = answer("ratio", "gpt-3", "--tp", "8")
    assert "By default: sequence parallelism, no recomputation, full mask." in share


@pytest.mark.parametrize(
    ("arguments", "parallel"),
    [((), True), (("--tp", "8"), True), (("--tp", "1"), False), (("--set", "N_TP=1"), False),
     (("--tp", "6"), False)],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else str(x),
)  # fmt: skip
def test_sequence_parallelism_goes_with_tensor_parallelism(
    arguments: tuple[str, ...], parallel: bool
) -> None:
    """Where it splits something, and 2048 tokens evenly; who asks for more is refused."""
    found = data("cost", "gpt-3", *arguments)
    assert found["plan"]["sequence_parallel"] is parallel
    if arguments == ("--tp", "6"):
        assert "no sequence parallelism: --tp 6 does not divide 2048 tokens" in found["assumed"]
        refused = refusal("cost", "gpt-3", *arguments, "--sequence-parallel")
        assert "the nearest that fits" in refused


def test_a_plan_keeps_what_is_computed_again() -> None:
    asked = (*PLAN, *GPT, "--tp", "8", "--pp", "8")
    for again in ("none", "selective", "full"):
        found = data(*asked, "--recompute", again)
        assert {plan["recompute"] for plan in found["plans"]} == {again}
    free = data(*asked)
    assert free["plans"][0]["step_s"] == data(*asked, "--recompute", "none")["plans"][0]["step_s"]
    assert free["switches"] == {
        "sequence_parallel": True, "zero": 1, "schedule": "1f1b", "fused_attention": True,
        "mask": "full", "recipe": "mixed",
    }  # fmt: skip
    assert sorted(free["switches"]) == sorted(free["defaults"])


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        (("--model", "gpt-3", "--batch", "64", "--unfused-attention"),
         ("plan", "--model", "gpt-3", "--batch", "64", "--no-fused-attention"),
         "--unfused-attention is --no-fused-attention now"),
        (("--d-model", "12288"), ("plan-mlp", "--d-model", "12288"), "is plan-mlp now"),
        (("--model", "sparse-mlp", "--d-model", "12288"), ("plan-mlp", "--d-model", "12288"),
         "is plan-mlp now"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else str(x),
)
def test_old_spellings_warn(old: tuple[str, ...], new: tuple[str, ...], warning: str) -> None:
    before, now = run(*PLAN, *old), answer(*new, *PLAN[1:])
    assert (before.code, before.out) == (0, now)
    assert before.err.startswith("symscale: warning: ")
    assert before.err.endswith(f"{warning}\n")
    assert before.err.count("\n") == 1


def test_commands_share_their_options() -> None:
    """One name, one help; and no command shows an old spelling."""
    helps = {name: answer(name, "--help") for name in ("cost", "ratio", "plan")}
    for name, (_, option) in plan_options().items():
        first = f"  {option.name.replace('/', ' / ')}"
        for command, text in helps.items():
            assert (first in text) == (command in option.commands), (command, name)
    assert not any("unfused" in text for text in helps.values())


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "future"),
        ("project", "--baseline", "docs/calibration/bert.csv", "--sweep", "future"),
    ],
    ids=" ".join,
)
def test_the_old_name_of_the_grid_is_read_with_a_warning(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    done = run(*command)
    assert (done.code, done.err) == (0, "symscale: warning: there is one grid; leave out future\n")
    assert done.out == answer(*(word for word in command if word not in ("future", "--sweep")))
