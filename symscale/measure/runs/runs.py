"""Training runs that somebody measured: a model, a plan, and the time of a step."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, get_args

import sympy as sp

from symscale.costs.memory import RECIPES
from symscale.costs.switches import Mask, Recomputation, Schedule
from symscale.costs.transformer.architecture import (
    Architecture,
    Attention,
    Block,
    FeedForward,
    Stack,
)
from symscale.costs.transformer.plan import Plan
from symscale.errors import printable, refusal, unknown_name
from symscale.language.tables import read_file_bytes

Metric = Literal["iteration_s", "tflops_per_device"]

PUBLISHED: Traversable = files("symscale.measure.runs").joinpath("published")
"""The files of published runs."""

VOCABULARY = 51200
"""Entries of the vocabulary where a file does not say: GPT-2's, padded as Megatron-LM does."""

LARGEST_FILE_BYTES = 5_000_000
MOST_ROWS = 20_000
MOST_MODELS = 200
"""Different models of a file: each takes some time, its runs hardly any."""
LEAST, MOST = 1e-6, 10**9
MOST_BLOCKS = 10**5
COUNTS = (
    "devices", "batch", "microbatch", "d_model", "heads", "layers", "seq", "tp", "dp", "pp",
)
"""Columns that every file of runs has, whole numbers."""
MEASURED = ("iteration_ms", "tflops_per_gpu")
"""Columns of what was measured, of which a file has one."""
OPTIONAL_COUNTS = ("vocab", "d_ff", "kv_heads", "cp", "interleaving")
FLAGS = ("gated", "sequence_parallel", "fused_attention")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "recompute": get_args(Recomputation), "zero": ("0", "1", "2", "3"),
    "schedule": get_args(Schedule), "mask": get_args(Mask), "recipe": tuple(RECIPES),
}
COLUMNS = (*COUNTS, *MEASURED, "params_1e9", *OPTIONAL_COUNTS, *FLAGS, *CHOICES, "device")
"""Every column that means something; those of the plan are called as its options."""
RENAMED = {
    "gpus": "devices", "global_batch": "batch", "seq_len": "seq", "causal": "mask",
    "sharded_optimizer": "zero",
}
"""What columns were called up to version 0.1, and are called now."""
MASKS = {"0": "full", "1": "causal"}
"""What the column causal said."""


@dataclass(frozen=True)
class Run:
    """One measured run.

    Attributes:
        where: Which row it is, for tables and errors.
        model: What it trains; runs of one model are ranked against each other.
        architecture: Its sizes.
        context: Tokens of a sequence.
        plan: Its plan.
        sequences: Sequences of a batch.
        published: The measured value.
        metric: What it is: seconds of a step, or TFLOP/s of a device.
        device: The class or device that its row names; "" for none.
        vocabulary_assumed: Whether its row leaves the vocabulary open.
        old_columns: The columns of its file that have another name now.

    Example:
        >>> run = published_runs("vtrain-a100.csv")[0]
        >>> run.plan.devices, run.plan_text
        (64, 'tp 1, dp 64, pp 1, microbatch 8')
    """

    where: str
    model: str
    architecture: Architecture
    context: int
    plan: Plan[int]
    sequences: int
    published: float
    metric: Metric = "iteration_s"
    device: str = ""
    vocabulary_assumed: bool = False
    old_columns: tuple[str, ...] = field(default=(), compare=False)

    @property
    def plan_text(self) -> str:
        """Its plan in one line."""
        p = self.plan
        size = self.sequences // (p.N_DP * p.m)
        more = f", cp {p.N_CP}" if p.N_CP > 1 else ""
        more += f", interleaved {p.v}" if p.v > 1 else ""
        return f"tp {p.N_TP}{more}, dp {p.N_DP}, pp {p.N_PP}, microbatch {size}"


def gpt(
    d_model: int, layers: int, heads: int, context: int, vocabulary: int = VOCABULARY,
    d_ff: int | None = None, kv_heads: int | None = None, gated: bool = False,
) -> Architecture:
    """Return a decoder as files of runs describe it: plain as GPT-3, or gated as Llama.

    Plain: layer norms, biases, dropout, learned positions, one table at both ends.
    Gated: root-mean-square norms, rotary positions, no biases, no dropout, two tables.

    Example:
        >>> gpt(3072, 30, 32, 2048).stacks[0].block.mlp.width
        12288
    """
    kv = kv_heads or heads
    width = sp.Integer(d_ff or 4 * d_model)
    attention = Attention(
        sp.Integer(heads), sp.Integer(kv), sp.Integer(d_model // heads), qkv_bias=not gated,
        output_bias=not gated,
    )
    block = Block(attention, FeedForward(width, gated=gated, bias=not gated))
    return Architecture(
        name=f"{d_model} x {layers}", title=f"d_model {d_model}, {layers} blocks",
        d_model=sp.Integer(d_model), vocabulary=sp.Integer(vocabulary),
        context=sp.Integer(context), stacks=(Stack("", sp.Integer(layers), block),),
        norm="rms" if gated else "layer", positions="rotary" if gated else "learned",
        position_entries=sp.Integer(0 if gated else context), tied=not gated,
        dropout=not gated, source="a row of a file of runs",
    )


# From files


def read_runs(path: str) -> list[Run]:
    """Read a user's file of runs, a CSV with the columns of `COUNTS` and one of `MEASURED`.

    Args:
        path: Where it is.

    Raises:
        InputError: If it is no such file: the line, what is wrong, what to write instead.
    """
    data = read_file_bytes(path, "a CSV file", LARGEST_FILE_BYTES, "keep the runs in several files")
    where = printable(path, 160)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refusal(where, "is not UTF-8 text", "save it as UTF-8") from None
    return runs_of_text(text, where)


def runs_of_text(text: str, where: str) -> list[Run]:
    """Read runs from the text of a CSV.

    Args:
        text: The table.
        where: The file, for errors.

    Raises:
        InputError: As `read_runs`.

    Example:
        >>> head = ",".join((*COUNTS, "iteration_ms"))
        >>> row = "64,512,8,3072,32,30,2048,1,64,1,3566.5"
        >>> found = runs_of_text(f"{head}{chr(10)}{row}", "my.csv")
        >>> found[0].where, found[0].published
        ('row 2', 3.5665)
    """
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise refusal(where, f"is not CSV ({error})", "separate values by commas") from None
    numbered = [(i, row) for i, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    if not numbered:
        raise refusal(where, "is empty", "give a header and a row for each run")
    header = _header(numbered[0][1], where)
    if len(numbered) == 1:
        raise refusal(where, "has a header but no runs", "give a row for each run")
    if len(numbered) > MOST_ROWS:
        raise refusal(where, f"has more than {MOST_ROWS} runs", "keep the runs in several files")
    old = tuple(name for name in header if name in RENAMED)
    found = [
        replace(_run(dict(_cells(header, row, f"{where}:{i}")), f"{where}:{i}"), old_columns=old)
        for i, row in numbered[1:]
    ]
    if len({(run.architecture, run.context, run.plan.switches) for run in found}) > MOST_MODELS:
        raise refusal(where, f"has more than {MOST_MODELS} different models", "split it")
    return found


def published_runs(file: str) -> list[Run]:
    """Return the runs of a file of the package; a row's number counts from 1.

    Example:
        >>> published_runs("mt-nlg-a100.csv")[0].where
        'row 1'
    """
    runs = runs_of_text(PUBLISHED.joinpath(file).read_text(encoding="utf-8"), file)
    return [replace(run, where=f"row {i}") for i, run in enumerate(runs, 1)]


def _header(row: Sequence[str], where: str) -> list[str]:
    before = [cell.strip() for cell in row]
    names = [RENAMED.get(name, name) for name in before]
    measured = [name for name in MEASURED if name in names]
    for name in (*COUNTS, *(measured or MEASURED[:1])):
        if name not in names:
            wanted = ", ".join((*COUNTS, MEASURED[0]))
            raise refusal(where, f"has no column {name}", f"name every column of {wanted}")
    if len(measured) > 1:
        raise refusal(where, "has both iteration_ms and tflops_per_gpu", "keep one")
    for name in names:
        if name not in COLUMNS:
            raise unknown_name("column", printable(name, 60), COLUMNS).with_context(where)
        if names.count(name) > 1:
            raise refusal(where, f"has the column {name} twice", "keep one")
    return before


def _cells(header: Sequence[str], row: Sequence[str], where: str) -> list[tuple[str, str]]:
    if len(row) != len(header):
        raise refusal(
            where, f"has {len(row)} values for {len(header)} columns",
            "write decimals with a point, not a comma, and cut no line short",
        )
    cells = [(name, cell.strip()) for name, cell in zip(header, row, strict=True)]
    return [
        (RENAMED.get(name, name), MASKS.get(cell, cell) if name == "causal" else cell)
        for name, cell in cells
    ]


def _run(cells: Mapping[str, str], where: str) -> Run:
    n = {name: _count(cells[name], name, where) for name in COUNTS}
    more = {name: _count(cells[name], name, where) for name in OPTIONAL_COUNTS if cells.get(name)}
    flags = {name: _flag(cells[name], name, where) for name in FLAGS if cells.get(name)}
    switches: dict[str, Any] = {
        name: _choice(cells[name], name, where) for name in CHOICES if cells.get(name)
    }
    measured = next(name for name in MEASURED if name in cells)
    published = _positive(cells[measured], measured, where)
    timed = measured == "iteration_ms"
    if cells.get("params_1e9"):
        _positive(cells["params_1e9"], "params_1e9", where)
    cp, v = more.get("cp", 1), more.get("interleaving", 1)
    _check(n, more, cp, v, where)
    gated = flags.pop("gated", False)
    switches = {"recompute": "full", **switches, **flags, "zero": int(switches.get("zero", 0))}
    architecture = gpt(
        n["d_model"], n["layers"], n["heads"], n["seq"], more.get("vocab", VOCABULARY),
        more.get("d_ff"), more.get("kv_heads"), gated,
    )
    plan = Plan(
        n["dp"], n["tp"], n["pp"], cp, 1, n["batch"] // (n["dp"] * n["microbatch"]), v, **switches
    )
    return Run(
        f"row {where.rpartition(':')[2]}", cells.get("params_1e9") or architecture.name,
        architecture, n["seq"], plan, n["batch"],
        published / 1000 if timed else published,
        "iteration_s" if timed else "tflops_per_device", cells.get("device", ""),
        "vocab" not in more,
    )


def _check(
    n: Mapping[str, int], more: Mapping[str, int], cp: int, v: int, where: str
) -> None:
    """Refuse degrees that do not fit each other."""
    kv = more.get("kv_heads", n["heads"])
    product = n["tp"] * n["dp"] * n["pp"] * cp
    rules = (
        (product == n["devices"], f"tp x dp x pp is {product}, not devices = {n['devices']}"),
        (n["batch"] % (n["dp"] * n["microbatch"]) == 0,
         f"dp x microbatch = {n['dp'] * n['microbatch']} does not divide batch = {n['batch']}"),
        (n["d_model"] % n["heads"] == 0, f"heads {n['heads']} do not divide d_model"),
        (n["heads"] % kv == 0, f"kv_heads {kv} do not divide heads"),
        (n["heads"] % n["tp"] == 0, f"tp {n['tp']} does not divide heads {n['heads']}"),
        (n["layers"] <= MOST_BLOCKS, f"layers {n['layers']} exceed {MOST_BLOCKS}"),
        (n["pp"] <= n["layers"], f"pp {n['pp']} exceeds {n['layers']} layers"),
        (v <= -(-n["layers"] // n["pp"]), f"interleaving {v} exceeds the layers of a stage"),
        (n["seq"] % cp == 0, f"cp {cp} does not divide seq"),
    )
    for holds, problem in rules:
        if not holds:
            raise refusal(where, problem, "correct the row")


def _count(text: str, name: str, where: str) -> int:
    number = _positive(text, name, where)
    if number != int(number):
        raise refusal(where, f"{name} {printable(text)!r} is not whole", "write a count")
    return int(number)


def _positive(text: str, name: str, where: str) -> float:
    try:
        number = float(text) if len(text) <= 40 and "_" not in text else float("nan")
    except ValueError:
        number = float("nan")
    if not number < float("inf"):
        raise refusal(
            where, f"{name} {printable(text)!r} is not a number", "write one such as 3566.5"
        )
    if number <= 0:
        raise refusal(where, f"{name} is {printable(text)}, not above zero", "correct the row")
    if number > MOST:
        raise refusal(where, f"{name} {printable(text)} is too large", "correct the row")
    if number < LEAST:
        raise refusal(where, f"{name} {printable(text)} is too small", "correct the row")
    return number


def _choice(text: str, name: str, where: str) -> str:
    if text not in CHOICES[name]:
        raise unknown_name(name, printable(text, 60), CHOICES[name]).with_context(where)
    return text


def _flag(text: str, name: str, where: str) -> bool:
    if text not in ("0", "1"):
        raise refusal(where, f"{name} {printable(text)!r} is neither 0 nor 1", "write 0 or 1")
    return text == "1"
