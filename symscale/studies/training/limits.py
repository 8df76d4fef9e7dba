"""The largest training run: study `training-limits`."""

from collections.abc import Iterable

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Program
from symscale.language.symbols import DATA_MOVEMENT, symbol
from symscale.studies.training.constraints import (
    PEAK,
    below,
    domain,
    quantity,
    training_model,
)

PIECE_NAMES = {
    frozenset({"DRAM", "network"}): "data movement",
    frozenset({"DRAM", "network (d_model)", "network (d_ff)"}): "data movement",
    frozenset({"latency"}): "latency wall",
    frozenset({"DRAM", "N_TP_model <= d_model"}): "narrowest shards",
    frozenset({"network (data)", "network (d_model)"}): "deepest pipeline",
    frozenset({"network (data)", "N_TP_model <= d_model"}): "narrowest shards, deepest pipeline",
}


def limits_program(*, full: bool = False, network: bool = True) -> Program:
    """Return the program of the largest training run at full utilization.

    All its parameters are symbols. In the reduced program tensor parallelism is
    split at its optimum and every expert has devices of its own; the full one
    leaves every degree free within its natural bounds.

    Args:
        full: Whether every degree is a variable of its own.
        network: Whether the network's bandwidth is limited.

    Example:
        >>> from symscale.algebra.products.solve import solve
        >>> [piece.name for piece in solve(limits_program()).pieces]
        ['data movement', 'latency wall']
    """
    base = training_model(PEAK, full, network)
    arithmetic = below(
        "arithmetic", quantity("T"), quantity("C") * quantity("t_d") * symbol("N"),
        "all devices at their peak rate for the time allowed", DATA_MOVEMENT,
    )
    return Program(
        "training-limits-full" if full else "training-limits",
        "Largest training run at full utilization",
        "maximize",
        Monomial.of(symbol("T")),
        (symbol("T"), *base.variables),
        (*base.definitions, arithmetic, *base.constraints),
        domain(),
        PIECE_NAMES,
    )


def own_bounds(names: Iterable[str]) -> tuple[str, ...]:
    """Which of the full program's constraints have no counterpart in the reduced one."""
    counterparts = {c.name for c in limits_program().constraints}
    # The reduced program splits tensor traffic at its optimum and gives every expert devices.
    counterparts |= {"network (d_model)", "network (d_ff)", "N_EP <= E"}
    return tuple(n for n in names if n not in counterparts)
