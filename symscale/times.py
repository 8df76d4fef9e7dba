"""Times: costs divided by what a machine does in a second."""

import sympy as sp

from symscale.costs.cost import Cost, cost
from symscale.symbols import notation, symbol

MEMORY_DIRECTIONS = 2
"""W_mem counts one direction; reads and writes together may use both."""


def rate(name: str) -> Cost:
    """Return a rate of the notation (C, W_net, W_mem) as a cost with its unit.

    Example:
        >>> str(rate("C").unit)
        'FLOP/s'
    """
    return cost(symbol(name), notation(name).unit)


def arithmetic_time(flop: Cost, devices: sp.Expr) -> Cost:
    """Time of arithmetic that is spread evenly over devices at their peak rate C."""
    return flop / (rate("C") * devices)


def network_time(words: Cost, devices: sp.Expr) -> Cost:
    """Time of network traffic that is spread evenly over the devices' links, W_net each."""
    return words / (rate("W_net") * devices)


def mesh_time(words: Cost, devices: sp.Expr, axes: sp.Expr) -> Cost:
    """Time of network traffic over some axes of a mesh, W_axis a device and axis."""
    return words / (rate("W_axis") * devices * axes)


def memory_time(words: Cost, devices: sp.Expr) -> Cost:
    """Time of memory traffic, reads and writes, spread evenly over devices.

    Both share the full bandwidth of a memory, 2 W_mem.
    """
    return words / (rate("W_mem") * devices * MEMORY_DIRECTIONS)
