"""The figures of a machine as values of the symbols of the simulation."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from symscale.costs.times import MEMORY_DIRECTIONS
from symscale.errors import InputError
from symscale.facts.machines.lumped import Machine
from symscale.language.symbols import tier_symbol

WORD_BYTES = 2
"""Bytes of a word: 16 bit."""

_SHARED_BYTES_PER_CLOCK = 128
"""What a multiprocessor reads from its shared memory in a clock, bytes."""


NEEDED = (
    "multiprocessors", "clock", "sustained_fraction", "register_bytes", "processing_blocks",
    "l2_capacity", "l2_bandwidth", "product_latency",
)
"""Figures that the simulation needs besides those of every machine."""


@lru_cache(maxsize=64)
def device_values(machine: Machine) -> Mapping[str, float]:
    """Values of the symbols of `symscale.simulator.sparse_mlp.device`, in words, seconds and FLOP.

    Bandwidths of memory and cache are whole, reads and writes together, but for W_mem,
    which counts one direction.

    Raises:
        InputError: If the machine's file lacks a figure that the simulation needs.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> device_values(load_machine("a100-sxm"))["S_L2"]
        20971520.0
    """
    machine.require(NEEDED)
    processors = machine.figure("multiprocessors").si
    clock = machine.figure("clock").si * machine.figure("sustained_fraction").si
    values = {
        "C_s": machine.sustained_flop_rate,
        "W_mem": machine.figure("memory_bandwidth").both_ways / WORD_BYTES / MEMORY_DIRECTIONS,
        "W_L2": machine.figure("l2_bandwidth").both_ways / WORD_BYTES,
        "W_sh": _SHARED_BYTES_PER_CLOCK * processors * clock / WORD_BYTES,
        "S_R": machine.figure("register_bytes").si / WORD_BYTES,
        "S_L2": machine.figure("l2_capacity").si / WORD_BYTES,
        "S_mem": machine.memory_capacity_bytes / WORD_BYTES,
        "k_MP": processors,
        "k_PB": machine.figure("processing_blocks").si,
        "tau_mm": machine.product_latency_s,
        "C": machine.flop_rate,
    }
    return MappingProxyType({name: float(value) for name, value in values.items()})


@lru_cache(maxsize=64)
def network_values(machine: Machine) -> Mapping[str, float]:
    """Values of W_net and tau_net at each tier, one direction, in words; inf if unlimited.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> network_values(load_machine("h100-sxm"))["W_net_2"]
        25000000000.0
    """
    values: dict[str, float] = {}
    for place, tier in enumerate(machine.tiers, start=1):
        bandwidth = tier.bandwidth
        words = float("inf") if bandwidth.unlimited else float(bandwidth.one_way / WORD_BYTES)
        values[tier_symbol("W_net", place).name] = words
        latency = machine.figure(f"{tier.name}.latency").si
        values[tier_symbol("tau_net", place).name] = float(latency)
    return MappingProxyType(values)


def is_distributed(machine: Machine) -> bool:
    """Whether multiprocessors reach each other's memory.

    Raises:
        InputError: If the machine's file does not say.
    """
    if machine.distributed_shared_memory is None:
        raise InputError(
            f"{machine.title} does not say whether multiprocessors reach each other's memory; "
            'add distributed_shared_memory = { value = false, source = "..." } to its file'
        )
    return machine.distributed_shared_memory
