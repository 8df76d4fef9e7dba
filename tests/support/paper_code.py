"""The figures of the published program, read from tests/data/paper-code."""

import csv
from math import prod

from places import DATA
from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.simulator.sparse_mlp.evaluate import by_tier
from symscale.simulator.sparse_mlp.step import Schedule

FOLDER = DATA / "paper-code"
Row = dict[str, str]


def rows(name: str) -> list[Row]:
    with (FOLDER / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def degrees(row: Row) -> dict[str, tuple[int, ...]]:
    return {n: tuple(int(x) for x in row[n].split("x")) for n in DEGREES}


def values(row: Row) -> dict[str, float]:
    """The model and plan of a row of plan-times*.csv."""
    model = {
        "d_model": row["d_model"], "d_ff": row["d_ff"], "L": row["layers"],
        "E": row["sparsity"], "m": row["num_microbatches"], "v": row["pp_interleaving"],
    }  # fmt: skip
    tokens = int(row["batch_sequences"]) * int(row["seq_len"])
    numbers = {name: float(text) for name, text in model.items()}
    return {**numbers, "b": float(tokens), **by_tier(degrees(row))}


def schedule(row: Row, as_published: bool = False) -> Schedule:
    def flag(name: str) -> bool:
        return row.get(name, "0") == "1"

    return Schedule(
        flag("overlap_TP"), flag("overlap_PP"), flag("overlap_DP"), flag("zero_bubble"),
        flag("recompute"), as_published,
    )  # fmt: skip


def devices(row: Row) -> int:
    return prod(prod(d) for d in degrees(row).values())
