"""The largest training run: study `training-limits`."""

import sympy as sp

from symscale.algebra.monomial import Monomial
from symscale.algebra.program import Program
from symscale.studies.training import (
    PEAK,
    below,
    domain,
    quantity,
    training_model,
)
from symscale.symbols import DATA_MOVEMENT, symbol

PIECE_NAMES = {
    frozenset({"latency"}): "latency wall",
    frozenset({"DRAM", "network"}): "data movement",
    frozenset({"DRAM", "network, d_model", "network, d_ff"}): "data movement",
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
        >>> from symscale.algebra.loglinear import solve
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


def reduced_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the full program's constraints that the reduced one has no counterpart for."""
    reduced = {c.name for c in limits_program().constraints}
    halves = {"network, d_model", "network, d_ff"}
    return tuple(n for n in names if n not in reduced | halves)


def compute() -> sp.Symbol:
    """The objective, T."""
    return symbol("T")
