"""Curves as tables, with the columns of the published program's figures.

Degrees over tiers are written lowest first, `2x4`.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.errors import InputError
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.curve import LINEAR_SHARE, QUARTER_S, Point
from symscale.simulator.sparse_mlp.parameters import device_values

MONTH_S = QUARTER_S / 3
"""Seconds of a month in these tables: a third of a quarter year of 3.154e7 s a year."""

Row = dict[str, Any]

CURVE_COLUMNS = (
    "d_model", "d_ff", "params", "layers", "sparsity", "batch_tokens", "compute_flop", "months",
    "utilization", "N", "N_TP_model", "N_TP_ff", "N_TP", "N_PP", "pp_interleaving", "N_DP", "N_EP",
    "N_DP_levels", "N_TP_model_levels", "N_TP_ff_levels", "N_PP_levels", "N_EP_levels",
    "num_microbatches", "tp_comm_s", "dp_comm_s", "pp_ep_comm_s", "latency_s",
    "hardware", "zero_bubble", "recompute", "batch_rule",
)  # fmt: skip
"""Columns of a curve; the last four are ours."""

_TEXTS = frozenset(("hardware", "batch_rule", *(f"{name}_levels" for name in DEGREES)))
_REALS = frozenset(
    ("params", "batch_tokens", "compute_flop", "months", "utilization", "tp_comm_s", "dp_comm_s",
     "pp_ep_comm_s", "latency_s")
)  # fmt: skip
END, LAST = "end of linear scaling", "last feasible run"

_MOST_ROWS = 2_000_000


def levels_text(degrees: Sequence[int]) -> str:
    """A degree by tier, lowest first.

    Example:
        >>> levels_text((2, 4))
        '2x4'
    """
    return "x".join(str(d) for d in degrees)


def run_seconds(point: Point) -> dict[str, float]:
    """Seconds of traffic and latency over a whole run, by column."""
    parts, steps = point.parts, point.steps
    return {
        "tp_comm_s": parts["t_TP"] * steps,
        "dp_comm_s": parts["t_DP"] * steps,
        "pp_ep_comm_s": parts["t_PP"] * steps,
        "latency_s": (parts["l_TP"] + parts["l_PP"] + parts["l_DP"]) * steps,
    }


def curve_row(point: Point, hardware: str, batch_rule: str = "default") -> Row:
    """A point as a row of a curve's table.

    Args:
        point: The point.
        hardware: Name of the machine.
        batch_rule: Name or expression of the batch's scaling rule.
    """
    plan, shape = point.plan, point.plan.problem.shape
    totals = {name: prod(d) for name, d in plan.degrees.items()}
    row: Row = {
        "d_model": shape.d_model, "d_ff": shape.d_ff, "params": shape.parameters,
        "layers": shape.layers, "sparsity": shape.experts,
        "batch_tokens": float(shape.batch_tokens), "compute_flop": shape.training_flop,
        "months": point.training_s / MONTH_S,
        "utilization": point.utilization, "N": plan.problem.devices, **totals,
        "N_TP": totals["N_TP_model"] * totals["N_TP_ff"], "pp_interleaving": plan.interleaving,
        **{f"{name}_levels": levels_text(d) for name, d in plan.degrees.items()},
        "num_microbatches": plan.microbatches, **run_seconds(point), "hardware": hardware,
        "zero_bubble": int(plan.schedule.zero_bubble),
        "recompute": int(plan.schedule.recompute),
        "batch_rule": batch_rule,
    }  # fmt: skip
    return {name: row[name] for name in CURVE_COLUMNS}


def read_curve_rows(rows: Iterable[Mapping[str, str]], where: str) -> list[Row]:
    """Rows of a curve's table from their text.

    Raises:
        InputError: If a value is no number.
    """
    found = []
    for place, row in enumerate(rows, start=2):
        typed: Row = {}
        for name in CURVE_COLUMNS:
            try:
                typed[name] = row[name] if name in _TEXTS else _number(row[name], name)
            except ValueError:
                raise InputError(
                    f"{where}: line {place}: {name} {row[name][:40]!r} is no number; "
                    "remove the file"
                ) from None
        found.append(typed)
    return found


def _number(text: str, name: str) -> float:
    return float(text) if name in _REALS else int(text)


def marked(rows: Sequence[Row], machine: Machine, ended: bool) -> list[Row]:
    """Rows of one curve with the marks of where linear scaling ends, and of the last run.

    Args:
        rows: The rows.
        machine: The machine.
        ended: Whether the next model finishes on no cluster.
    """
    device = device_values(machine)
    linear = LINEAR_SHARE * device["C_s"] / device["C"]
    end = next((k for k, row in enumerate(rows) if row["utilization"] <= linear), -1)
    last = len(rows) - 1 if ended else -1
    texts = [
        "; ".join(text for text, place in ((END, end), (LAST, last)) if place == k)
        for k in range(len(rows))
    ]
    return [{**row, "mark": text} for row, text in zip(rows, texts, strict=True)]


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], header: bool = True) -> str:
    r"""Rows as CSV, numbers with all their digits.

    Example:
        >>> csv_text([{"a": 0.1, "b": "x"}], ["a", "b"])
        'a,b\n0.1,x\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    return stream.getvalue()


def read_csv(text: str, where: str, needed: Sequence[str]) -> list[dict[str, str]]:
    """Read CSV with named columns.

    Raises:
        InputError: If it is empty, lacks a column, or has a row of another length.
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV ({error}); save it as comma-separated text") \
            from None
    if not lines:
        raise InputError(f"{where}: is empty; its first line names the columns")
    names = [name.strip() for name in lines[0]]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise InputError(f"{where}: two columns are called {twice[:40]!r}; keep one")
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"{where}: has no column {missing[0]}; needed: {', '.join(needed)}")
    if len(lines) < 2:
        raise InputError(f"{where}: has no rows below the names of its columns; add one")
    if len(lines) > _MOST_ROWS:
        raise InputError(f"{where}: has more than {_MOST_ROWS} rows; split it")
    for place, line in enumerate(lines[1:], start=2):
        if len(line) != len(names):
            raise InputError(
                f"{where}: line {place} has {len(line)} values for {len(names)} columns; correct it"
            )
    return [dict(zip(names, line, strict=True)) for line in lines[1:]]
