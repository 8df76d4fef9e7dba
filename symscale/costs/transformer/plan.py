"""A parallel plan: the degrees, and the switches that go with them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import gcd
from typing import Any, Generic, TypeVar

import sympy as sp

from symscale.costs.switches import Switches
from symscale.errors import InputError
from symscale.language.symbols import symbols

ONE: Any = sp.Integer(1)
Size = TypeVar("Size", bound=Any, covariant=True)
"""A degree: an expression in costs, a whole number or an array of them in a search."""


@dataclass(frozen=True)
class Plan(Switches, Generic[Size]):
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

    Example:
        >>> symbolic_transformer_plan().devices
        N_CP*N_DP*N_PP*N_TP
        >>> Plan(N_DP=4, N_TP=8, N_PP=2, zero=1).devices
        64
    """

    N_DP: Size = ONE
    N_TP: Size = ONE
    N_PP: Size = ONE
    N_CP: Size = ONE
    N_EP: Size = ONE
    m: Size = ONE
    v: Size = ONE
    kv_split: Size | None = None

    @property
    def devices(self) -> Size:
        """Devices in all."""
        product: Size = self.N_DP * self.N_TP * self.N_PP * self.N_CP
        return product

    @property
    def degrees(self) -> dict[str, Size]:
        """The degrees by name, with m and v."""
        return {name: getattr(self, name) for name in DEGREES}

    @property
    def switches(self) -> Switches:
        """The switches alone."""
        return Switches(**{f.name: getattr(self, f.name) for f in fields(Switches)})

    @property
    def words(self) -> dict[str, str]:
        """Each switch in words, by name; sequence parallelism only where tensors are split."""
        split = self.N_TP != 1
        return {n: x for n, x in super().words.items() if split or n != "sequence_parallel"}

    @property
    def token_degree(self) -> Size:
        """Into how many parts the tokens of a step are split."""
        product: Size = self.N_DP * self.N_CP
        return product

    @property
    def split_of_kv(self) -> Size:
        """Into how many groups of devices key and value heads are split."""
        return self.N_TP if self.kv_split is None else self.kv_split

    @property
    def repeats_of_kv(self) -> Size:
        """On how many devices of a tensor-parallel group each key and value head lies."""
        quotient: Size = self.N_TP / self.split_of_kv
        return quotient

    @property
    def kept_split(self) -> Size:
        """Into how many parts a tensor-parallel group splits what tensor parallelism does not."""
        return self.N_TP if self.sequence_parallel else ONE


DEGREES = ("N_DP", "N_TP", "N_PP", "N_CP", "N_EP", "m", "v")
"""The degrees of a plan, with m and v."""

SERIAL: Plan[sp.Expr] = Plan()
"""The plan of one device."""


def symbolic_transformer_plan() -> Plan[sp.Expr]:
    """Return the plan in which every degree is its own symbol."""
    return Plan(*symbols(" ".join(DEGREES)))


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
