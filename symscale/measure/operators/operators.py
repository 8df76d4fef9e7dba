"""Every operator by its name: products, those that memory binds, collectives."""

from collections.abc import Mapping
from types import MappingProxyType

from symscale.errors import unknown_name
from symscale.measure.operators.collectives import COLLECTIVES
from symscale.measure.operators.memory_bound import MEMORY_BOUND
from symscale.measure.operators.operator import DeviceOperator, Operator
from symscale.measure.operators.products import PRODUCTS

DEVICE_OPERATORS: tuple[DeviceOperator, ...] = (*PRODUCTS, *MEMORY_BOUND)
OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {operator.name: operator for operator in (*DEVICE_OPERATORS, *COLLECTIVES)}
)
SIZES = tuple(dict.fromkeys(size for operator in OPERATORS.values() for size in operator.sizes))
"""Names of the sizes of all."""


def named_operator(name: str) -> Operator:
    """Return the operator of a name, without regard to case, hyphens and underscores.

    Raises:
        UnknownNameError: If there is none.

    Example:
        >>> named_operator("All_Reduce").sizes
        ('size_bytes', 'devices')
    """
    plain = {known.replace("-", " "): known for known in OPERATORS}
    key = " ".join(name.lower().replace("-", " ").replace("_", " ").split())
    if key not in plain:
        raise unknown_name("operator", name, OPERATORS)
    return OPERATORS[plain[key]]
