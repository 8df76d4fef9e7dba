"""A Transformer's parallel plan: the degrees, and what goes with them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Literal

import sympy as sp

from symscale.errors import InputError
from symscale.language.symbols import symbols

ONE = sp.Integer(1)
Recomputation = Literal["none", "selective", "full"]
Schedule = Literal["1f1b", "zero-bubble"]


@dataclass(frozen=True)
class TransformerPlan:
    """How a training step is spread over N_DP N_TP N_PP N_CP devices.

    Expert parallelism divides the replicas: the N_EP devices that share the experts of
    one layer hold N_EP different parts of the batch for everything else. So N_EP divides
    N_DP, and each expert has N_DP/N_EP replicas.

    Attributes:
        N_DP: Data parallelism: sequences.
        N_TP: Tensor parallelism: heads, hidden width of the MLP, vocabulary.
        N_PP: Pipeline parallelism: blocks.
        N_CP: Context parallelism: tokens of a sequence; keys and values go round a ring.
        N_EP: Expert parallelism: experts, within data parallelism.
        m: Microbatches of a replica in one step.
        v: Interleaving: model chunks on each pipeline stage.
        kv_split: Of N_TP, the part that splits key and value heads; the rest repeats
            each of them. None for all of it.
        sequence_parallel: Whether what tensor parallelism leaves whole (norms, dropout) is
            split over the tokens instead: all-reduces become reduce-scatter and all-gather.
        zero: What is sharded over the replicas: 0 nothing, 1 optimizer states, 2 gradients
            too, 3 weights too (fully sharded data parallelism).
        schedule: "1f1b", interleaved where v > 1, or "zero-bubble".
        recompute: What the backward pass computes again: "none", "selective" (scores and
            softmax of attention), "full" (each block from its input).
        fused_attention: Whether a kernel never writes attention's scores to memory.

    Example:
        >>> symbolic_transformer_plan().devices
        N_CP*N_DP*N_PP*N_TP
    """

    N_DP: sp.Expr = ONE
    N_TP: sp.Expr = ONE
    N_PP: sp.Expr = ONE
    N_CP: sp.Expr = ONE
    N_EP: sp.Expr = ONE
    m: sp.Expr = ONE
    v: sp.Expr = ONE
    kv_split: sp.Expr | None = None
    sequence_parallel: bool = False
    zero: int = 0
    schedule: Schedule = "1f1b"
    recompute: Recomputation = "none"
    fused_attention: bool = False

    @property
    def devices(self) -> sp.Expr:
        """Devices in all."""
        return self.N_DP * self.N_TP * self.N_PP * self.N_CP

    @property
    def token_degree(self) -> sp.Expr:
        """Into how many parts the tokens of a step are split."""
        return self.N_DP * self.N_CP

    @property
    def split_of_kv(self) -> sp.Expr:
        """Into how many groups of devices key and value heads are split."""
        return self.N_TP if self.kv_split is None else self.kv_split

    @property
    def repeats_of_kv(self) -> sp.Expr:
        """On how many devices of a tensor-parallel group each key and value head lies."""
        return self.N_TP / self.split_of_kv

    @property
    def kept_split(self) -> sp.Expr:
        """Into how many parts a tensor-parallel group splits what tensor parallelism does not."""
        return self.N_TP if self.sequence_parallel else ONE

    def serial(self) -> "TransformerPlan":
        """Return the plan of one device."""
        return replace(
            self, N_DP=ONE, N_TP=ONE, N_PP=ONE, N_CP=ONE, N_EP=ONE, m=ONE, v=ONE, kv_split=None
        )


SERIAL = TransformerPlan()
"""The plan of one device."""


def symbolic_transformer_plan() -> TransformerPlan:
    """Return the plan in which every degree is its own symbol."""
    dp, tp, pp, cp, ep, m, v = symbols("N_DP N_TP N_PP N_CP N_EP m v")
    return TransformerPlan(dp, tp, pp, cp, ep, m, v)


def whole(value: sp.Expr) -> int | None:
    """The whole number that an expression is; None where it is a formula.

    Example:
        >>> whole(sp.Integer(8)), whole(symbols("N_TP")[0])
        (8, None)
    """
    return int(value) if value.is_Integer else None


def nearest_divisor(number: int, wish: int) -> int:
    """The divisor of `number` that lies nearest to `wish`; of two the smaller.

    Example:
        >>> nearest_divisor(12, 5), nearest_divisor(96, 7)
        (4, 6)
    """
    divisors = [d for d in range(1, min(number, 100_000) + 1) if number % d == 0]
    divisors.append(number)
    return min(divisors, key=lambda d: (abs(d - wish), d))


def require_divides(option: str, degree: sp.Expr, sizes: Mapping[str, sp.Expr]) -> None:
    """Raise unless `degree` divides every size, where they are numbers.

    Args:
        option: How the user names the degree.
        degree: The degree.
        sizes: What it has to divide, by name.

    Raises:
        InputError: With the nearest degree that divides them all.

    Example:
        >>> require_divides("--tp", sp.Integer(8), {"the heads": sp.Integer(96)})
    """
    parts = whole(degree)
    lengths = {what: whole(size) for what, size in sizes.items()}
    known = {what: length for what, length in lengths.items() if length is not None}
    if parts is None:
        return
    for what, length in known.items():
        if length % parts:
            nearest = nearest_divisor(gcd(*known.values()), parts)
            raise InputError(
                f"{option} {parts} does not divide {what}, {length}; "
                f"the nearest that fits is {nearest}"
            )
