"""Collectives: what devices send each other, and how each is run over processes here.

Through shared memory each process holds a row of two buffers; an all-reduce is a
reduce-scatter (each sums its share of all buffers) and an all-gather (each copies the
shares of the others), with a barrier after each phase.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symscale.errors import InputError
from symscale.measure.operators.operator import Call, Operator, Sizes

Phase = Callable[[Any, Any, int, Sequence[slice]], None]
"""Does its part of a phase: from rows of sources, target rows, a rank, equal shares of a row."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Collective(Operator):
    """An operator of several devices.

    Attributes:
        phases: What a process does in shared memory, with a barrier after each; so many
            phases wait for the latency of a link.
        torch: Prepares it with `torch.distributed`, a source and a target.
        nccl: What its program in nccl-tests is called, words apart by "_".
        keeps: Whether each device keeps its own of p shares to itself.

    Example:
        >>> ALL_REDUCE.moved({"size_bytes": 800, "devices": 4}, 2)
        1200.0
    """

    phases: tuple[Phase, ...]
    torch: Callable[[Any, Any, Any], Call]
    nccl: str
    keeps: bool = True
    sizes = ("size_bytes", "devices")

    def bus_factor(self, devices: int) -> Fraction:
        """Return what a device sends over its link for each byte of the size.

        It is what benchmarks multiply their algbw by to get their busbw: 2 (p - 1)/p for an
        all-reduce, (p - 1)/p for its halves and an all-to-all, 1 for point to point.

        Raises:
            InputError: If fewer than two devices take part.

        Example:
            >>> ALL_REDUCE.bus_factor(8), ALL_GATHER.bus_factor(8)
            (Fraction(7, 4), Fraction(7, 8))
        """
        if devices < 2:
            raise InputError(f"{self} over {devices} device sends nothing; it needs two at least")
        return len(self.phases) * Fraction(devices - 1 if self.keeps else devices, devices)

    def moved(self, sizes: Sizes, word_bytes: int) -> float:
        """What a device sends over its link."""
        return float(sizes["size_bytes"] * self.bus_factor(int(sizes["devices"])))

    def label(self, sizes: Mapping[str, int]) -> str:
        """Sizes in words."""
        return f"{bytes_text(sizes['size_bytes'])} over {sizes['devices']}"

    def complete(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return sizes as every operator does, and refuse one device alone."""
        found = super().complete(sizes)
        self.bus_factor(found["devices"])
        return found


def bytes_text(count: int) -> str:
    """Return a number of bytes in the largest binary unit that keeps it short.

    Example:
        >>> bytes_text(8), bytes_text(3 * 2**20)
        ('8 B', '3 MiB')
    """
    amount, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    return f"{amount:.4g} {units[0]}"


def _sum_share(source: Any, target: Any, rank: int, shares: Sequence[slice]) -> None:
    own = target[rank, shares[rank]]
    own[:] = source[rank, shares[rank]]
    for other in range(len(shares)):
        if other != rank:
            own += source[other, shares[rank]]


def _gather(source: Any, target: Any, rank: int, shares: Sequence[slice]) -> None:
    for other, share in enumerate(shares):
        if other != rank:
            target[rank, share] = source[other, share]


def _gather_sums(source: Any, target: Any, rank: int, shares: Sequence[slice]) -> None:
    _gather(target, target, rank, shares)


def _exchange(source: Any, target: Any, rank: int, shares: Sequence[slice]) -> None:
    for other, share in enumerate(shares):
        if other != rank:
            target[rank, share] = source[other, shares[rank]]


def _take(source: Any, target: Any, rank: int, shares: Sequence[slice]) -> None:
    whole = slice(shares[-1].stop)
    target[rank, whole] = source[rank - 1, whole]


def _own(dist: Any, tensor: Any) -> Any:
    """The share of a tensor that is this process's."""
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]


def _torch_gather(dist: Any, source: Any, target: Any) -> Call:
    own = _own(dist, source)
    return lambda: dist.all_gather_into_tensor(target, own)


def _torch_scatter(dist: Any, source: Any, target: Any) -> Call:
    own = _own(dist, target)
    return lambda: dist.reduce_scatter_tensor(own, source)


def _torch_pass_on(dist: Any, source: Any, target: Any) -> Call:
    rank, processes = dist.get_rank(), dist.get_world_size()
    after, before = (rank + 1) % processes, (rank - 1) % processes

    def pass_on() -> None:
        there, back = dist.P2POp(dist.isend, source, after), dist.P2POp(dist.irecv, target, before)
        for request in dist.batch_isend_irecv([there, back]):
            request.wait()

    return pass_on


ALL_REDUCE = Collective(
    name="all-reduce", meaning="each device holds size_bytes, and then their sum", precedence=0,
    phases=(_sum_share, _gather_sums),
    torch=lambda dist, source, target: lambda: dist.all_reduce(target), nccl="all_reduce",
)
ALL_GATHER = Collective(
    name="all-gather", meaning="each device ends with size_bytes, of which it held its share",
    precedence=1, phases=(_gather,), torch=_torch_gather,
    nccl="all_gather",
)
REDUCE_SCATTER = Collective(
    name="reduce-scatter", precedence=2, phases=(_sum_share,), torch=_torch_scatter,
    meaning="each device holds size_bytes, and ends with its share of their sum",
    nccl="reduce_scatter",
)
ALL_TO_ALL = Collective(
    name="all-to-all", meaning="each device holds size_bytes, an equal share for each",
    precedence=4, phases=(_exchange,), nccl="all_to_all",
    torch=lambda dist, source, target: lambda: dist.all_to_all_single(target, source),
)
POINT_TO_POINT = Collective(
    name="point-to-point", meaning="each device sends size_bytes to its neighbour",
    defaults={"devices": 2}, precedence=3, phases=(_take,), keeps=False, torch=_torch_pass_on,
    nccl="send_recv",
)
COLLECTIVES = (ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, POINT_TO_POINT)
