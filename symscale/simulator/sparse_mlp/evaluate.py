"""What plans achieve: the expressions of the model, compiled, for many plans at once.

Example:
    >>> from symscale.facts.machines.lumped import load_machine
    >>> plan = {"N_DP": (1, 4), "N_TP_model": (4, 1), "N_TP_ff": (2, 4), "N_PP": (1, 32)}
    >>> model = {"d_model": 14336, "d_ff": 57344, "L": 224, "E": 1, "b": 8388608, "m": 64, "v": 1}
    >>> schedule = Schedule(zero_bubble=True)
    >>> found = evaluate(load_machine("h100-sxm"), {**model, **by_tier(plan)}, schedule)
    >>> print(f"{found['utilization']:.12f}")
    0.696410625472
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import tier_notation
from symscale.simulator.compiled import Compiled
from symscale.simulator.sparse_mlp.parameters import (
    WORD_BYTES,
    device_values,
    is_distributed,
    network_values,
)
from symscale.simulator.sparse_mlp.step import (
    PARTS,
    Schedule,
    activation_words,
    block_time,
    parts,
    product_streams,
    state_words,
    step_time,
    training_time,
    utilization,
    with_recomputation,
)

TOKENS_PER_PARAMETER = 20
"""Tokens of a compute-optimal run for each parameter, of all experts."""


@lru_cache(maxsize=4)
def compiled_block(distributed: bool) -> Compiled:
    """The time of a block's products, "t_block"."""
    return Compiled({"t_block": block_time(distributed).expr})


@lru_cache(maxsize=4)
def compiled_streams(distributed: bool) -> Compiled:
    """Seconds of a step that each stream of the products would take alone."""
    return Compiled({name: s.expr for name, s in product_streams(distributed).items()})


@lru_cache(maxsize=8)
def compiled_parts(tiers: int) -> Compiled:
    """The parts of a step, and the parameters P, from t_block and the degrees at each tier."""
    table = {name: part.expr for name, part in parts(tiers).items()}
    return Compiled({**table, "P": sparse_mlp().parameters})


@lru_cache(maxsize=64)
def compiled_step_time(schedule: Schedule) -> Compiled:
    """The time of a step, "t_step", from its parts."""
    return Compiled({"t_step": step_time(schedule).expr})


@lru_cache(maxsize=64)
def compiled_step(schedule: Schedule) -> Compiled:
    """Times, utilization and memory of a step, and the time of a run, from its parts."""
    step = step_time(schedule)
    outputs = {
        "t_step": step, "training": training_time(step), "utilization": utilization(step),
        "state": state_words(), "activations": activation_words(schedule),
    }  # fmt: skip
    return Compiled({name: amount.expr for name, amount in outputs.items()})


def by_tier(degrees: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Name the degrees at each tier, lowest first, and their products.

    A degree that is left out is 1 at every tier.

    Example:
        >>> named = by_tier({"N_DP": (2, 4)})
        >>> named["N_DP"], named["N_DP_2"], named["N_PP_1"], named["N"]
        (8.0, 4, 1, 8.0)
    """
    tiers = max((len(d) for d in degrees.values()), default=1)
    values: dict[str, Any] = {"N": 1.0}
    for name in DEGREES:
        values[name] = 1.0
        for tier, degree in enumerate(degrees.get(name, (1,) * tiers), start=1):
            values[tier_notation(name, tier).name] = degree
            values[name] = values[name] * degree
        values["N"] = values["N"] * values[name]
    return values


def evaluate(machine: Machine, values: Mapping[str, Any], schedule: Schedule) -> dict[str, Any]:
    """What plans achieve on a machine.

    Args:
        machine: The machine; degrees must be given for each of its tiers.
        values: Numbers or arrays for the model (d_model, d_ff, L, E, b), the plan (m, v and
            what `by_tier` names), and D, the tokens of the run, by default 20 a parameter.
        schedule: The schedule of all these plans.

    Returns:
        The parts of a step as named in `symscale.simulator.sparse_mlp.step.PARTS`, t_step and
        "training" in seconds, "utilization", "steps" of a run, and in bytes over all
        devices "state", "activations" and "capacity".

    Raises:
        InputError: If the machine's file lacks a figure that the simulation needs.
        FormulaError: If a value is missing.
    """
    table: dict[str, Any] = {
        **device_values(machine), **network_values(machine), **_as_floats(values),
    }  # fmt: skip
    table |= compiled_block(is_distributed(machine))(table)
    table |= compiled_parts(len(machine.tiers))(table)
    table.setdefault("D", TOKENS_PER_PARAMETER * table["P"])
    found = compiled_step(schedule)(table)
    growth = with_recomputation(schedule)
    result = {name: table[name] * float(growth[name]) for name in PARTS}
    result |= {name: found[name] for name in ("t_step", "training", "utilization")}
    result["steps"] = table["D"] / table["b"]
    result["state"] = found["state"] * WORD_BYTES
    result["activations"] = found["activations"] * WORD_BYTES
    result["capacity"] = table["S_mem"] * table["N"] * WORD_BYTES
    return result


def _as_floats(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v.astype(float) if hasattr(v, "astype") else float(v) for n, v in values.items()}
