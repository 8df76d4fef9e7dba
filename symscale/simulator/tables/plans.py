"""Tables of plans: one plan a row in, what it achieves out.

The columns are those of the published program's figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.errors import InputError, SymscaleError
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.simulator.sparse_mlp.evaluate import by_tier, evaluate
from symscale.simulator.sparse_mlp.step import Schedule
from symscale.simulator.tables.curves import Row, levels_text

_NUMBERS = (
    "d_model", "d_ff", "layers", "sparsity", "batch_sequences", "seq_len", "num_microbatches",
    "pp_interleaving",
)  # fmt: skip
_FLAGS = ("zero_bubble", "overlap_TP", "overlap_DP", "overlap_PP")
PLAN_COLUMNS = ("gpu", *_NUMBERS, *DEGREES, *_FLAGS)
"""Columns that a table of plans must have; `recompute` may be there as well."""

RESULT_COLUMNS = (
    "training_time_s", "utilization", "tp_comm_s", "dp_comm_s", "pp_ep_comm_s", "latency_s",
    "memory_bytes_with_activations",
)  # fmt: skip
"""Columns that evaluating plans adds."""

_MOST = 10**15


@dataclass(frozen=True)
class _Plan:
    machine: str
    schedule: Schedule
    values: dict[str, float]


def evaluate_rows(
    rows: Sequence[Mapping[str, str]], where: str, *, as_published: bool = False
) -> list[Row]:
    """Evaluate plans given as rows of text, with the columns of `PLAN_COLUMNS`.

    Args:
        rows: The plans.
        where: The file, for messages.
        as_published: Whether zero-bubble schedules leave latency out.

    Returns:
        The rows with the columns of `RESULT_COLUMNS` added or replaced.

    Raises:
        InputError: Naming the line, what is wrong and what to write instead.
    """
    machines: dict[str, Machine] = {}
    groups: dict[tuple[str, Schedule], list[tuple[int, dict[str, float]]]] = {}
    for index, row in enumerate(rows):
        try:
            plan = _read_plan(row, machines, as_published)
        except SymscaleError as error:
            raise error.with_context(f"{where}: line {index + 2}") from None
        groups.setdefault((plan.machine, plan.schedule), []).append((index, plan.values))
    results: list[Row] = [dict(row) for row in rows]
    for (name, schedule), members in groups.items():
        columns = {n: np.array([v[n] for _, v in members]) for n in members[0][1]}
        found = evaluate(machines[name], columns, schedule)
        steps = found["steps"]
        latency = found["l_TP"] + found["l_PP"] + found["l_DP"]
        answers = (
            found["training"], found["utilization"], found["t_TP"] * steps, found["t_DP"] * steps,
            found["t_PP"] * steps, latency * steps, found["state"] + found["activations"],
        )  # fmt: skip
        table = zip(*(np.broadcast_to(a, len(members)).tolist() for a in answers), strict=True)
        for (index, _), values in zip(members, table, strict=True):
            results[index] |= dict(zip(RESULT_COLUMNS, values, strict=True))
    return results


def _read_plan(
    row: Mapping[str, str], machines: dict[str, Machine], as_published: bool
) -> _Plan:
    name = row["gpu"]
    if name not in machines:
        machines[name] = load_machine(name)
    machine = machines[name]
    numbers = {n: _whole(row[n], n) for n in _NUMBERS}
    degrees = {n: _degrees(row[n], n, machine) for n in DEGREES}
    flags = {n: _flag(row[n], n) for n in _FLAGS}
    recompute = _flag(row.get("recompute", "0"), "recompute")
    _check_tiers(degrees, machine)
    totals = {n: prod(d) for n, d in degrees.items()}
    _check_fit(numbers, totals, flags["zero_bubble"])
    values = {
        "d_model": numbers["d_model"], "d_ff": numbers["d_ff"], "L": numbers["layers"],
        "E": numbers["sparsity"], "b": numbers["batch_sequences"] * numbers["seq_len"],
        "m": numbers["num_microbatches"], "v": numbers["pp_interleaving"],
    }  # fmt: skip
    schedule = Schedule(
        flags["overlap_TP"], flags["overlap_PP"], flags["overlap_DP"], flags["zero_bubble"],
        recompute, as_published,
    )  # fmt: skip
    floats = {n: float(v) for n, v in {**values, **by_tier(degrees)}.items()}
    return _Plan(name, schedule, floats)


def _whole(text: str, name: str) -> int:
    try:
        value = float(text.encode("ascii"))
        if value != int(value) or not 1 <= value <= _MOST:
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError(
            f"{name} {text[:40]!r} is no whole number from 1 to 1e15; write such as 64"
        ) from None
    return int(value)


def _flag(text: str, name: str) -> bool:
    table = {"0": False, "1": True, "false": False, "true": True}
    if text.strip().lower() not in table:
        raise InputError(f"{name} {text[:40]!r} is neither 0 nor 1; write one of them")
    return table[text.strip().lower()]


def _degrees(text: str, name: str, machine: Machine) -> tuple[int, ...]:
    degrees = tuple(_whole(part, name) for part in text.lower().split("x"))
    if len(degrees) != len(machine.tiers):
        tiers = ", ".join(t.name for t in machine.tiers)
        example = levels_text((1,) * len(machine.tiers))
        raise InputError(
            f"{name} {text[:40]!r} has {len(degrees)} tiers, {machine.title} has "
            f"{len(machine.tiers)} ({tiers}); write such as {example}"
        )
    return degrees


def _check_tiers(degrees: Mapping[str, Sequence[int]], machine: Machine) -> None:
    """Units of a tier must be full before a tier above is used."""
    used = [prod(d[t] for d in degrees.values()) for t in range(len(machine.tiers))]
    for place, tier in enumerate(machine.tiers[:-1]):
        size = tier.size or 1
        if used[place] > size or (used[place] < size and prod(used[place + 1 :]) > 1):
            raise InputError(
                f"the degrees take {used[place]} of the {size} units of a {tier.name}; "
                f"make their product there {size}"
            )


def _check_fit(numbers: Mapping[str, int], totals: Mapping[str, int], steady: bool) -> None:
    """Degrees must divide what they split."""
    tokens = numbers["batch_sequences"] * numbers["seq_len"]
    m, v, stages = numbers["num_microbatches"], numbers["pp_interleaving"], totals["N_PP"]
    for what, whole, name, degree in (
        ("layers", numbers["layers"], "N_PP x pp_interleaving", stages * v),
        ("d_model", numbers["d_model"], "N_TP_model", totals["N_TP_model"]),
        ("d_ff", numbers["d_ff"], "N_TP_ff", totals["N_TP_ff"]),
        ("sparsity", numbers["sparsity"], "N_EP", totals["N_EP"]),
        ("batch tokens", tokens, "sparsity x N_DP x num_microbatches",
         numbers["sparsity"] * totals["N_DP"] * m),
    ):  # fmt: skip
        if whole % degree:
            raise InputError(
                f"{name} = {degree} does not divide {what} = {whole}; choose a divisor"
            )
    if steady and (v != 1 or (stages > 1 and m < 2 * stages)):
        raise InputError(
            f"zero_bubble needs pp_interleaving 1 and num_microbatches of at least 2 N_PP = "
            f"{2 * stages}; they are {v} and {m}"
        )
