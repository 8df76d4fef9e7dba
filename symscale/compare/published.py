"""The published runs that ship with symscale, and what the formulas say of them."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from symscale.compare.measured import ComparedRun, Summary, compare, summary
from symscale.costs.memory import recipe_called
from symscale.costs.transformer.memory import (
    block_activation_bytes,
    live_microbatches,
)
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.language.symbols import symbol
from symscale.language.tables import parse_toml
from symscale.measure.runs.classes import CalibratedClass, load_class
from symscale.measure.runs.runs import PUBLISHED, gpt, published_runs

_MEMORY = "korthikanti-2022-memory.csv"
GIB = 2**30


@dataclass(frozen=True)
class RunSet:
    """Published runs of one source with their comparisons.

    Attributes:
        name: Its name.
        title: What was measured.
        source: Key of its source.
        cluster: The class on which it is computed.
        rows: Its comparisons.
        note: What else to know.
        counted: Whether its runs enter the summary of all.
    """

    name: str
    title: str
    source: str
    cluster: CalibratedClass
    rows: tuple[ComparedRun, ...]
    note: str
    counted: bool

    @property
    def unseen(self) -> tuple[ComparedRun, ...]:
        """The rows that no fit saw."""
        return tuple(row for row in self.rows if not row.seen)

    @property
    def judged(self) -> Summary:
        """The summary of those."""
        return summary(self.unseen)


@dataclass(frozen=True)
class MemoryRow:
    """A published amount of memory beside the computed one.

    Attributes:
        model: The model.
        plan: What of its plan matters.
        what: "parameters and optimizer" or "activations".
        unit: "GiB", or "%" of the activations without recomputation.
        published: The published amount.
        computed: The computed one.
        measured: Whether it was measured; else the authors computed it themselves.
    """

    model: str
    plan: str
    what: str
    unit: str
    published: float
    computed: float
    measured: bool

    @property
    def difference(self) -> float:
        """Computed over published, less one."""
        return self.computed / self.published - 1


def run_sets() -> tuple[RunSet, ...]:
    """Return all published runs, computed.

    Example:
        >>> [s.name for s in run_sets()][:2]
        ['vtrain', 'megatron-2021']
    """
    tables = parse_toml(PUBLISHED.joinpath("sets.toml").read_bytes(), "sets.toml")
    return tuple(
        _run_set(name, table) for name, table in tables.items() if isinstance(table, dict)
    )


def _run_set(name: str, table: Mapping[str, object]) -> RunSet:
    runs = published_runs(str(table["file"]))
    cluster = load_class(str(table["class"]))
    seen = {"odd": range(0, len(runs), 2), "first": range(1), "none": range(0)}[str(table["seen"])]
    return RunSet(
        name, str(table["title"]), str(table["source"]), cluster,
        tuple(compare(runs, cluster, seen)), str(table["note"]), table.get("counted") is not False,
    )


def memory_rows() -> tuple[MemoryRow, ...]:
    """Return the published memory of arXiv 2205.05198, as computed here.

    The absolute amounts equal the authors' own formulas for the blocks; the percentages
    were measured.

    Example:
        >>> row = memory_rows()[0]
        >>> row.what, row.unit, row.published
        ('parameters and optimizer', 'GiB', 45.5625)
    """
    text = PUBLISHED.joinpath(_MEMORY).read_text(encoding="utf-8")
    return tuple(_memory_row(row) for row in csv.DictReader(io.StringIO(text)))


def _memory_row(row: Mapping[str, str]) -> MemoryRow:
    model = _model(row, row["recompute"], row["sequence_parallel"] == "1")
    if row["what"] == "states":
        held = model.memory(recipe_called("mixed"))
        computed = float((held.weights + held.gradients + held.optimizer).expr) / GIB
    else:
        computed = _activations(model)
        if row["unit"] == "%":
            computed *= 100 / _activations(_model(row, "none", False))
        else:
            computed /= GIB
    sequence = ", sequence parallelism" if model.plan.sequence_parallel else ""
    return MemoryRow(
        f"{row['params_1e9']}B", f"{row['recompute']} recomputation{sequence}",
        "parameters and optimizer" if row["what"] == "states" else "activations",
        row["unit"], float(row["published"]), computed, row["unit"] == "%",
    )


def _model(row: Mapping[str, str], recompute: str, sequence_parallel: bool) -> Transformer:
    n = {
        key: int(row[key]) for key in (
            "d_model", "heads", "layers", "seq_len", "tp", "dp", "pp", "interleaving",
            "global_batch", "microbatch",
        )
    }
    whole = {key: sp.Integer(value) for key, value in n.items()}
    plan = Plan(
        whole["dp"], whole["tp"], whole["pp"], v=whole["interleaving"],
        m=sp.Integer(n["global_batch"] // (n["dp"] * n["microbatch"])),
        sequence_parallel=sequence_parallel,
        recompute=recompute,  # type: ignore[arg-type]
    )
    architecture = gpt(n["d_model"], n["layers"], n["heads"], n["seq_len"])
    tokens = whole["global_batch"] * whole["seq_len"]
    return Transformer(architecture, tokens, whole["seq_len"], plan)


def _activations(model: Transformer) -> float:
    """Bytes that the blocks of the first stage keep of all microbatches in flight."""
    blocks = model.architecture.layers / model.plan.N_PP
    kept = block_activation_bytes(model).expr * blocks * live_microbatches(model.plan)
    return float(kept.xreplace({symbol("w"): sp.Integer(2)}))
