"""Machines as their files state them, and what a file leaves out.

A file may lack what not everyone needs. Whoever needs such a figure asks for it
by name, and where it is missing one line says so and what to add.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from symscale.answers import Answer
from symscale.errors import InputError, unknown_name
from symscale.facts.machines.figures import DEVICE_FIGURES, TIER_FIGURES, Figure

DEVICE_LEVEL = "device"
RATE_FACTORS = (
    "flop_per_clock_per_thread", "threads_per_multiprocessor", "multiprocessors", "clock"
)
SHARED_MEMORY = "distributed_shared_memory"
FLAG_SHAPE = '{ value = true, source = "..." }'

SIMULATION_FIGURES = (
    "multiprocessors", "clock", "sustained_fraction", "register_bytes", "processing_blocks",
    "l2_capacity", "l2_bandwidth", SHARED_MEMORY, "product_latency",
)
"""What a simulation of products needs of a device and a closed form does not, but for tau."""


@dataclass(frozen=True)
class Tier:
    """A level of the network.

    Attributes:
        name: Its name, such as "node".
        size: How many units of the tier below it joins (devices, for the lowest);
            None for the outermost, which takes the rest.
        bandwidth: What one device can send and receive over it.
        latency: Of one phase of a collective over it; None where the file does not say.
        source: Where the size comes from; "" where the file does not say.
    """

    name: str
    size: int | None
    bandwidth: Figure
    latency: Figure | None
    source: str = ""


@dataclass(frozen=True)
class Release:
    """When a device came out, which gives it a place among the generations of its vendor.

    Attributes:
        year: The year in which its vendor introduced it.
        source: Where that comes from.
        note: What else to know.
    """

    year: int
    source: str
    note: str = ""


@dataclass(frozen=True, repr=False)
class Machine(Answer):
    """A device and the network that joins many of it.

    Attributes:
        name: The slug of a preset, or the stem of a user's file.
        title: How reports call it.
        base: The preset it differs from, for a what-if.
        reason: What a what-if asks.
        figures: The figures of one device, by name.
        tiers: The levels of the network, lowest first.
        distributed_shared_memory: Whether multiprocessors reach each other's memory,
            None where the file does not say.
        distributed_shared_memory_source: Where that comes from.
        vendor: Who makes the device, "" where the file does not say.
        released: When it came out, None where the file does not say.
        preset: Whether it ships with symscale, so that its file is not the user's to change.

    Example:
        >>> from symscale.facts.machines.reader import load_machine
        >>> h100 = load_machine("h100-sxm")
        >>> int(h100.flop_rate), h100.levels(), h100.default_level()
        (989429760000000, ('device', 'node'), 'node')
    """

    page = "hardware"
    name: str
    title: str
    base: str | None
    reason: str
    # A mapping has no hash; name, title and tiers tell machines apart well enough.
    figures: Mapping[str, Figure] = field(hash=False)
    tiers: tuple[Tier, ...]
    distributed_shared_memory: bool | None = None
    distributed_shared_memory_source: str = ""
    vendor: str = ""
    released: Release | None = None
    preset: bool = False

    def figure(self, name: str) -> Figure:
        """Return the figure called `name`, one of a tier with the tier before a dot.

        Raises:
            UnknownNameError: If no machine has such a figure.
            InputError: If this machine's file does not state it.

        Example:
            >>> from symscale.facts.machines.reader import load_machine
            >>> load_machine("a100-sxm").figure("node.bandwidth").text
            '600 GB/s'
        """
        self.require([name])
        return self._stated()[name]

    def require(self, names: Iterable[str], otherwise: str = "") -> None:
        """Raise unless the file states all figures of these names.

        Args:
            names: Names of figures, one of a tier with the tier before a dot, or
                "distributed_shared_memory".
            otherwise: What a user may do instead of adding them.

        Raises:
            UnknownNameError: If no machine has such a figure.
            InputError: If the file lacks one: the line names all that it lacks, the
                machine, and what to add.

        Example:
            >>> from symscale.facts.machines.reader import load_machine
            >>> load_machine("mi300x").require(["memory_capacity", "clock"])
            Traceback (most recent call last):
                ...
            symscale.errors.InputError: AMD Instinct MI300X has no clock; add clock = { value = \
..., unit = "MHz", source = "..." } to a file with base = "mi300x"
        """
        lacking = [name for name in names if not self.states(name)]
        if not lacking:
            return
        where = f'a file with base = "{self.name}"' if self.preset else "its file"
        have = _listed([f"no {_called(name)}" for name in lacking])
        more = f", or {otherwise}" if otherwise else ""
        added = _listed(_additions(lacking))
        raise InputError(f"{self.title} has {have}; add {added} to {where}{more}")

    def states(self, name: str) -> bool:
        """Whether the file states the figure of this name.

        Raises:
            UnknownNameError: If no machine has such a figure.
        """
        if name == SHARED_MEMORY:
            return self.distributed_shared_memory is not None
        if name in self._stated():
            return True
        known = [*DEVICE_FIGURES, *(f"{t.name}.{key}" for t in self.tiers for key in TIER_FIGURES)]
        if name not in known:
            raise unknown_name("figure", name, known)
        return False

    def missing(self) -> tuple[str, ...]:
        """Return the names of what a simulation or tau needs and the file does not state.

        Example:
            >>> from symscale.facts.machines.reader import load_machine
            >>> load_machine("mi300x").missing()[-3:]
            ('product_latency', 'node.latency', 'cluster.latency')
            >>> load_machine("h100-sxm").missing()
            ()
        """
        wanted = dict.fromkeys((*SIMULATION_FIGURES, *self.latencies()))
        return tuple(name for name in wanted if not self.states(name))

    def latencies(self) -> tuple[str, ...]:
        """Return the names of the figures that tau is the sum of, as `figure` takes them.

        Example:
            >>> from symscale.facts.machines.reader import load_machine
            >>> load_machine("h100-sxm").latencies()
            ('product_latency', 'node.latency', 'cluster.latency')
        """
        return ("product_latency", *(f"{tier.name}.latency" for tier in self.tiers))

    def _stated(self) -> dict[str, Figure]:
        found = dict(self.figures)
        for tier in self.tiers:
            found[f"{tier.name}.bandwidth"] = tier.bandwidth
            if tier.latency is not None:
                found[f"{tier.name}.latency"] = tier.latency
        return found

    @property
    def rate_is_derived(self) -> bool:
        """Whether the arithmetic rate is a product of counts and clock, not a figure."""
        return "flop_rate" not in self.figures

    @property
    def rate_condition(self) -> str:
        """What the arithmetic rate holds for, such as "dense, 16 bit"."""
        name = RATE_FACTORS[0] if self.rate_is_derived else "flop_rate"
        return self.figures[name].condition or ""

    @property
    def flop_rate(self) -> Fraction:
        """Peak arithmetic rate at the maximum clock, FLOP/s."""
        if not self.rate_is_derived:
            return self.figures["flop_rate"].si
        rate = Fraction(1)
        for name in RATE_FACTORS:
            rate *= self.figures[name].si
        return rate

    @property
    def known_flop_rate(self) -> tuple[Fraction, bool]:
        """The sustained rate where the file states one, else the peak; and whether it does."""
        stated = "sustained_fraction" in self.figures
        return (self.sustained_flop_rate if stated else self.flop_rate), stated

    @property
    def sustained_flop_rate(self) -> Fraction:
        """Arithmetic rate at the sustained clock, FLOP/s.

        Raises:
            InputError: If the file does not state the sustained fraction.
        """
        return self.flop_rate * self.figure("sustained_fraction").si

    @property
    def memory_capacity_bytes(self) -> Fraction:
        """Memory of one device, bytes."""
        return self.figures["memory_capacity"].si

    @property
    def product_latency_s(self) -> Fraction:
        """Latency of one matrix product, seconds.

        Raises:
            InputError: If the file does not state it.
        """
        return self.figure("product_latency").si

    def levels(self) -> tuple[str, ...]:
        """The levels at which devices can be lumped: a device, or any tier but the outermost."""
        return (DEVICE_LEVEL, *(tier.name for tier in self.tiers[:-1]))

    def default_level(self) -> str:
        """The level "node" where there is one, else the device."""
        return "node" if "node" in self.levels() else DEVICE_LEVEL


def _called(name: str) -> str:
    tier, dot, key = name.partition(".")
    return f"{key} of tier {tier}" if dot else name


def _additions(names: list[str]) -> list[str]:
    """What to write into a file; the same key of several tiers once, with their names."""
    parts = []
    for name in names:
        if "." not in name:
            shape = FLAG_SHAPE if name == SHARED_MEMORY else DEVICE_FIGURES[name].shape
            parts.append(f"{name} = {shape}")
    for key, spec in TIER_FIGURES.items():
        tiers = [name.partition(".")[0] for name in names if name.endswith(f".{key}")]
        if tiers:
            parts.append(f"{key} = {spec.shape} below [[tier]] {_listed(tiers)}")
    return parts


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
