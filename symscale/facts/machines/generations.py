"""Generations: how devices of a vendor grew, arithmetic against network and memory.

A machine is a generation if its file says who makes the device and when it came out.
All numbers are exact, computed from the figures of the files.

Example:
    >>> for g in generations():
    ...     if g.machine.vendor == "NVIDIA":
    ...         print(g.machine.name, g.year, f"{float(g.node_growth):.2f}")
    v100-sxm 2017 1.00
    a100-sxm 2020 1.24
    h100-sxm 2022 2.63
    h200-sxm 2023 2.63
    b200-sxm 2024 2.99
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from symscale.answers import Answer
from symscale.errors import InputError
from symscale.facts.machines.machine import Machine, Tier
from symscale.facts.machines.reader import load_machine, machine_names

_DENSE_16_BIT = re.compile(r"dense\s*,.*\b16[\s-]*bit.*", re.IGNORECASE)


@dataclass(frozen=True)
class Generation:
    """A device beside the others of its vendor.

    Attributes:
        machine: The machine.
        year: When the device came out.
        flop_rate: Its dense 16-bit rate at the peak, FLOP/s.
        node_bytes: What one device sends over its link in a node, one direction, byte/s.
        cluster_bytes: The same over the outermost tier.
        memory_bytes: Its memory bandwidth, reads and writes together, byte/s.
        capacity_bytes: Its memory, bytes.
        first: The first device of its vendor; None for the first itself.
    """

    machine: Machine
    year: int
    flop_rate: Fraction
    node_bytes: Fraction
    cluster_bytes: Fraction
    memory_bytes: Fraction
    capacity_bytes: Fraction
    first: "Generation | None" = None

    @property
    def flop_per_node_byte(self) -> Fraction:
        """FLOP in the time that a byte takes over the link in a node."""
        return self.flop_rate / self.node_bytes

    @property
    def flop_per_cluster_byte(self) -> Fraction:
        """FLOP in the time that a byte takes over the outermost tier."""
        return self.flop_rate / self.cluster_bytes

    @property
    def flop_per_memory_byte(self) -> Fraction:
        """FLOP in the time that a byte takes to or from memory."""
        return self.flop_rate / self.memory_bytes

    @property
    def node_growth(self) -> Fraction:
        """How many times faster than the node's link arithmetic grew since the first."""
        return self.flop_per_node_byte / (self.first or self).flop_per_node_byte

    @property
    def cluster_growth(self) -> Fraction:
        """How many times faster than the outermost tier arithmetic grew since the first."""
        return self.flop_per_cluster_byte / (self.first or self).flop_per_cluster_byte


@dataclass(frozen=True, repr=False)
class Generations(Answer):
    """Devices by vendor and year.

    Attributes:
        found: The devices.
    """

    page = "generations"
    found: tuple[Generation, ...]


def generations(also: Machine | None = None) -> tuple[Generation, ...]:
    """Return all machines that have a place among the generations, by vendor and year.

    Args:
        also: A machine to put among them, a user's.

    Raises:
        InputError: If that machine has no place there: its file does not say who makes it
            and when it came out, its rate is no dense 16-bit one, or a link is missing.

    Example:
        >>> [g.machine.name for g in generations() if g.machine.vendor == "AMD"]
        ['mi100', 'mi250x', 'mi210', 'mi300x']
    """
    machines = [m for m in map(load_machine, machine_names()) if m.released is not None]
    if also is not None and also not in machines:
        machines.append(also)
    return _chained(map(_generation, machines))


def _chained(found: Iterable[Generation]) -> tuple[Generation, ...]:
    """Put them in order, and each beside the first of its vendor."""
    firsts: dict[str, Generation] = {}
    chained = []
    for g in sorted(found, key=lambda g: (g.machine.vendor.casefold(), g.year)):
        first = firsts.setdefault(g.machine.vendor.casefold(), g)
        chained.append(g if first is g else replace(g, first=first))
    return tuple(chained)


def _generation(machine: Machine) -> Generation:
    if machine.released is None:
        raise InputError(
            f"{machine.title} has no place among the generations; add "
            'vendor = "..." and released = { value = 2026, source = "..." } to its file'
        )
    if not _DENSE_16_BIT.fullmatch(machine.rate_condition):
        raise InputError(
            f"{machine.title} states its rate as {machine.rate_condition!r}, and generations "
            'are compared as "dense, 16 bit"; state that rate'
        )
    if len(machine.tiers) == 1:
        raise InputError(
            f"{machine.title} has one tier, and generations are compared by the link in a node "
            "and that between nodes; give it two tiers"
        )
    node, cluster = machine.tiers[0], machine.tiers[-1]
    memory = machine.figures["memory_bandwidth"]
    return Generation(
        machine=machine,
        year=machine.released.year,
        flop_rate=machine.flop_rate,
        node_bytes=_one_way(machine, node),
        cluster_bytes=_one_way(machine, cluster),
        memory_bytes=memory.both_ways,
        capacity_bytes=machine.memory_capacity_bytes,
    )


def _one_way(machine: Machine, tier: Tier) -> Fraction:
    if tier.bandwidth.unlimited:
        raise InputError(
            f"{machine.title} has no limit on tier {tier.name}, so there is no FLOP per byte "
            "of it; state its bandwidth"
        )
    return tier.bandwidth.one_way
