"""The grid of future models and hardware of the study of computation against communication.

Transformers of 1K to 64K wide, sequences of 1K to 8K, tensor parallelism of 4 to 256:
392 cases, and for each the share of serialized communication as arithmetic gets k
times faster than the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from symscale.answers import Answer
from symscale.costs.memory import RECIPES
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.memory import block_memory
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.errors import InputError
from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import symbols
from symscale.studies.comp_vs_comm.ratios import CompVsComm

WIDTHS = tuple(1024 * 2**i for i in range(7))
BATCHES = (1, 4)
LENGTHS = tuple(1024 * 2**i for i in range(4))
DEGREES = tuple(4 * 2**i for i in range(7))
DEFAULT_MACHINE = "mi210-node-two-cs"


@dataclass(frozen=True)
class Case:
    """One case of the grid.

    Attributes:
        d_model: Width of the residual stream.
        sequences: Sequences of a replica.
        n_ctx: Tokens of a sequence.
        N_TP: Degree of tensor parallelism.
        edge: FLOP for each byte of serialized payload.
        slack: Backward FLOP for each byte of gradient.
        shares: Share of serialized communication, for each k.
        memory_bytes: What one block needs of a device, at least.
        fits: Whether a device has that much.
    """

    d_model: int
    sequences: int
    n_ctx: int
    N_TP: int
    edge: float
    slack: float
    shares: tuple[float, ...]
    memory_bytes: float
    fits: bool


@dataclass(frozen=True, repr=False)
class FutureShares(Answer):
    """Shares of serialized communication over the grid.

    Attributes:
        machine: The machine of today.
        ks: How many times faster than the network arithmetic has become.
        cases: The cases, with a share for each k.
    """

    page = "sweep"
    machine: Machine
    ks: tuple[sp.Expr, ...]
    cases: tuple[Case, ...]


def future_cases(machine: Machine, ks: Sequence[Fraction] = (Fraction(1),)) -> list[Case]:
    """Return every case of the grid on a machine.

    The machine is taken at its sustained rate, if it states one, and at the link of its
    innermost tier, however many devices the tier has: the study asks what a network
    that fast would do. A case fits if the states and activations of a single block
    fit, with sequence parallelism and selective recomputation, so that heads do not
    matter: the least that a device must hold.

    Args:
        machine: The machine.
        ks: How many times faster than the network arithmetic has become.

    Raises:
        InputError: If the link is unlimited.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> cases = future_cases(load_machine("mi210-node-two-cs"))
        >>> len(cases), round(cases[0].shares[0], 2)
        (392, 0.32)
    """
    link = machine.tiers[0].bandwidth
    if link.unlimited:
        raise InputError(f"the link of {machine.name} is unlimited: no share to speak of")
    rate, _ = machine.known_flop_rate
    grid = np.array(list(product(WIDTHS, BATCHES, LENGTHS, DEGREES)), dtype=float)
    edge, slack, ratio, held = _compiled(rate, link.one_way, grid)
    capacity = float(machine.memory_capacity_bytes)
    cases = []
    for i, (width, batch, length, degree) in enumerate(grid.astype(int).tolist()):
        times = [float(k) * float(ratio[i]) for k in ks]
        shares = tuple(r / (1 + r) for r in times)
        cases.append(
            Case(width, batch, length, degree, float(edge[i]), float(slack[i]), shares,
                 float(held[i]), bool(held[i] <= capacity))
        )
    return cases


def _compiled(
    rate: Fraction, link_bytes: Fraction, grid: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Edge, slack, time ratio and memory of a block, over the whole grid at once."""
    b, d_model, n_ctx, N_TP, C, W_net, w = symbols("b d_model n_ctx N_TP C W_net w")
    plan = Plan(N_TP=N_TP, sequence_parallel=True, recompute="selective")
    model = Transformer(transformer(), b, n_ctx, plan)
    # Edge and share are those of the study, which counts nothing that is computed again.
    study = CompVsComm(Transformer(transformer(), b, n_ctx, Plan(N_TP=N_TP)))
    word = sp.Integer(2)
    given = {w: word, C: sp.Rational(rate), W_net: sp.Rational(link_bytes) / word}
    formulas = [
        amount.expr.xreplace(given)
        for amount in (
            study.edge, study.slack, study.time_ratio, block_memory(model, RECIPES["mixed"])
        )
    ]
    compute = sp.lambdify((d_model, b, n_ctx, N_TP), formulas, "numpy", cse=True)
    width, batch, length, degree = grid.T
    found = compute(width, batch * length, length, degree)
    return tuple(np.broadcast_to(np.asarray(x, dtype=float), width.shape) for x in found)


def future_shares(machine: Machine, ks: Sequence[sp.Expr]) -> FutureShares:
    """Return the shares of every case of the grid on a machine.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> found = future_shares(load_machine(DEFAULT_MACHINE), [sp.Integer(1)])
        >>> len(found.cases)
        392
    """
    cases = future_cases(machine, [Fraction(k.p, k.q) for k in map(sp.Rational, ks)])
    return FutureShares(machine, tuple(ks), tuple(cases))
