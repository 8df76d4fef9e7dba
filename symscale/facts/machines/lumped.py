"""Machines: rates, capacities, bandwidths and latencies, each with its source.

A machine is read from a preset or from a user's TOML file. Here, and nowhere
else, bandwidths turn from bytes into words, and from what data sheets print
into one direction.

Example:
    >>> from fractions import Fraction
    >>> device = lump(load_machine("h100-sxm"), "node")
    >>> for p in parameters_of(device, Fraction(2)):
    ...     print(p.name, float(p.value), p.unit)
    C 7915438080000000.0 FLOP/s
    W_mem 6704000000000.0 word/s
    W_net 200000000000.0 word/s
    tau 9e-06 s
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from symscale.errors import InputError, printable
from symscale.facts.machines.figures import UNLIMITED, Figure, decimal_text
from symscale.facts.machines.machine import DEVICE_LEVEL, RATE_FACTORS, SHARED_MEMORY, Machine, Tier
from symscale.facts.machines.reader import load_machine, machine_names
from symscale.language.sources import describe

__all__ = [
    "Figure",
    "FigureRow",
    "LumpedDevice",
    "Machine",
    "ParameterValue",
    "Tier",
    "figures_of",
    "load_machine",
    "lump",
    "machine_names",
    "parameters_of",
]


@dataclass(frozen=True)
class LumpedDevice:
    """Several devices that act as one, with what an analysis needs to know of them.

    Attributes:
        machine: The machine they are part of.
        level: At which level they are lumped.
        devices: How many physical devices there are in it.
        flop_rate: Their peak arithmetic rate, FLOP/s.
        memory_bandwidth_one_way_bytes: Their memory bandwidth in one direction, byte/s.
        network_one_way_bytes: Their links of the outermost tier in one direction, byte/s;
            None if unlimited.
        memory_capacity_bytes: Their memory, bytes.
    """

    machine: Machine
    level: str
    devices: int
    flop_rate: Fraction
    memory_bandwidth_one_way_bytes: Fraction
    network_one_way_bytes: Fraction | None
    memory_capacity_bytes: Fraction

    @property
    def collective_latency_s(self) -> Fraction:
        """A matrix product and an all-reduce after it, seconds.

        Raises:
            InputError: If the machine's file lacks a latency of which it is the sum.
        """
        product, *waits = _latencies(self.machine)
        # An all-reduce is a reduce-scatter and an all-gather: two phases over each tier.
        return product.si + 2 * sum((wait.si for wait in waits), Fraction(0))


def lump(machine: Machine, level: str) -> LumpedDevice:
    """Take all devices of one unit at `level` as a single device.

    Raises:
        InputError: If the machine has no such level.

    Example:
        >>> lump(load_machine("h100-sxm-superpod"), "superpod").devices
        256
    """
    levels = machine.levels()
    if level not in levels:
        shown = printable(level, 60)
        if len(levels) == 1:
            raise InputError(
                f"{machine.title} has one tier and so no level {shown!r}; "
                f"use --level {DEVICE_LEVEL}"
            )
        raise InputError(f"{machine.title} has no level {shown!r}; it has {', '.join(levels)}")
    devices = 1
    for tier in machine.tiers[: levels.index(level)]:
        devices *= tier.size or 1
    link = machine.tiers[-1].bandwidth
    return LumpedDevice(
        machine=machine,
        level=level,
        devices=devices,
        flop_rate=devices * machine.flop_rate,
        memory_bandwidth_one_way_bytes=devices * machine.figures["memory_bandwidth"].one_way,
        network_one_way_bytes=None if link.unlimited else devices * link.one_way,
        memory_capacity_bytes=devices * machine.memory_capacity_bytes,
    )


def _latencies(machine: Machine) -> list[Figure]:
    """The latencies that tau is made of: of a product, then of each tier."""
    names = machine.latencies()
    machine.require(names, "give their sum instead: --set tau=9us, say")
    return [machine.figure(name) for name in names]


@dataclass(frozen=True)
class ParameterValue:
    """The value of one symbol of the notation, and how it came about.

    Attributes:
        name: The symbol's name, such as "W_net".
        value: Its value; None if unlimited.
        unit: Its unit.
        source: From which figures it was computed, and where they come from.
    """

    name: str
    value: Fraction | None
    unit: str
    source: str


def parameters_of(
    lumped: LumpedDevice, word_bytes: Fraction, without: Collection[str] = ()
) -> tuple[ParameterValue, ...]:
    """Return C, W_mem, W_net and tau of a device, with bandwidths in words in one direction.

    Args:
        lumped: The device.
        word_bytes: Bytes of a word, 2 for 16 bit.
        without: Names of those that nobody asks for, so that a machine may lack their figures.

    Raises:
        InputError: If a word has no bytes, or the machine's file lacks a figure.

    Example:
        >>> h100 = lump(load_machine("h100-sxm"), "node")
        >>> print(parameters_of(h100, Fraction(2))[0].source.partition(";")[0])
        8 x (32 FLOP x 128 threads x 132 multiprocessors x 1830 MHz), dense, 16 bit
    """
    if word_bytes <= 0:
        raise InputError("a word needs more than 0 bytes; 16 bit are 2 byte")
    machine, times = lumped.machine, f"{lumped.devices} x " if lumped.devices > 1 else ""
    network = lumped.network_one_way_bytes
    memory, link = machine.figures["memory_bandwidth"], machine.tiers[-1].bandwidth
    word = f" / ({decimal_text(Fraction(word_bytes))} byte/word)"
    values = [
        ParameterValue("C", lumped.flop_rate, "FLOP/s", _rate_text(machine, times)),
        ParameterValue(
            "W_mem",
            lumped.memory_bandwidth_one_way_bytes / word_bytes,
            "word/s",
            times + _one_way_text(memory, "reads and writes together") + word + _from(memory),
        ),
        ParameterValue(
            "W_net",
            None if network is None else network / word_bytes,
            "word/s",
            UNLIMITED + _from(link)
            if network is None
            else times
            + _one_way_text(link, "both directions together")
            + word
            + f", tier {machine.tiers[-1].name}"
            + _from(link),
        ),
    ]
    if "tau" not in without:
        values.append(_tau(lumped))
    return tuple(value for value in values if value.name not in without)


def _tau(lumped: LumpedDevice) -> ParameterValue:
    product, *waits = _latencies(lumped.machine)
    phases = " + ".join(wait.text for wait in waits)
    path = ", ".join(tier.name for tier in lumped.machine.tiers)
    return ParameterValue(
        "tau",
        lumped.collective_latency_s,
        "s",
        f"{product.text} of a product + 2 x ({phases}): an all-reduce in two phases "
        f"over {path}{_from(product, *waits)}",
    )


def _one_way_text(figure: Figure, both: str) -> str:
    if figure.direction == "both":
        return f"{figure.text} ({both}) / 2 (one direction)"
    return f"{figure.text} (one direction)"


def _rate_text(machine: Machine, times: str) -> str:
    if not machine.rate_is_derived:
        rate = machine.figures["flop_rate"]
        return f"{times}{rate.text}, {rate.condition}{_from(rate)}"
    figures = [machine.figures[name] for name in RATE_FACTORS]
    product = _factors_text(machine)
    counted = f"{times}({product})" if times else product
    return f"{counted}, {figures[0].condition}{_from(*figures)}"


def _factors_text(machine: Machine) -> str:
    flop, threads, multiprocessors, clock = (machine.figures[name].text for name in RATE_FACTORS)
    return f"{flop} x {threads} threads x {multiprocessors} multiprocessors x {clock}"


def _from(*figures: Figure) -> str:
    return "; " + _sources(figures)


def _sources(figures: Iterable[Figure]) -> str:
    return "; ".join(dict.fromkeys(describe(figure.source) for figure in figures))


@dataclass(frozen=True)
class FigureRow:
    """One row of a listing of a machine's figures.

    Attributes:
        name: The figure, with its tier before a dot: "node.bandwidth".
        value: The number as printed, a truth value, or None for unlimited.
        unit: Its unit as printed.
        direction: For a bandwidth "one-way" or "both".
        condition: What it holds for.
        source: A citation, or a user's own words.
        note: What else to know.
        derived: Whether it was computed from other rows.
    """

    name: str
    value: Fraction | bool | None
    unit: str
    direction: str | None
    condition: str | None
    source: str
    note: str = ""
    derived: bool = False

    @property
    def text(self) -> str:
        """The value in words."""
        if self.value is None:
            return UNLIMITED
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        return decimal_text(self.value)


def figures_of(machine: Machine) -> list[FigureRow]:
    """Return every figure of a machine, with the arithmetic rate and the tiers.

    Example:
        >>> for row in figures_of(load_machine("a100-sxm"))[-3:]:
        ...     print(row.name, row.text, row.unit, row.direction)
        node.latency 1.125 us None
        cluster.bandwidth 50 GB/s both
        cluster.latency 1.125 us None
    """
    rows = [_row(name, figure) for name, figure in machine.figures.items()]
    if machine.rate_is_derived:
        factors = [machine.figures[name] for name in RATE_FACTORS]
        rate = FigureRow(
            "flop_rate", machine.flop_rate, "FLOP/s", None, factors[0].condition,
            _sources(factors), _factors_text(machine), derived=True,
        )
        rows.insert(0, rate)
    if machine.released is not None:
        year, where_from = Fraction(machine.released.year), describe(machine.released.source)
        rows.insert(
            0, FigureRow("released", year, "1", None, None, where_from, machine.released.note)
        )
    if machine.distributed_shared_memory is not None:
        where_from = describe(machine.distributed_shared_memory_source)
        rows.append(
            FigureRow(SHARED_MEMORY, machine.distributed_shared_memory, "1", None, None, where_from)
        )
    for tier in machine.tiers:
        if tier.size is not None:
            # Who gives the link says what it joins, unless the file names another source.
            source = describe(tier.source or tier.bandwidth.source)
            size = Fraction(tier.size)
            rows.append(FigureRow(f"{tier.name}.size", size, "1", None, None, source))
        rows.append(_row(f"{tier.name}.bandwidth", tier.bandwidth))
        if tier.latency is not None:
            rows.append(_row(f"{tier.name}.latency", tier.latency))
    return rows


def _row(name: str, figure: Figure) -> FigureRow:
    return FigureRow(
        name, figure.value, figure.unit, figure.direction, figure.condition,
        describe(figure.source), figure.note,
    )
