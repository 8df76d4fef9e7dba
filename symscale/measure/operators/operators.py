"""Operators: what each computes, moves through memory, or sends over a link.

Sizes are whole numbers; bytes come in here, because measurements print them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from symscale.errors import InputError, unknown_name

PRODUCT, ELEMENTWISE, COLLECTIVE = "product", "elementwise", "collective"


@dataclass(frozen=True)
class Operator:
    """A kind of operator.

    Attributes:
        name: What files and reports call it.
        kind: "product", "elementwise" or "collective".
        sizes: Names of its sizes.
        defaults: Sizes that may be left out, and what they are then.
        phases: Of a collective, how many phases each wait for the latency of a link.
        meaning: What its sizes are.
    """

    name: str
    kind: str
    sizes: tuple[str, ...]
    defaults: Mapping[str, int]
    phases: int
    meaning: str


def _operator(
    name: str, kind: str, sizes: str, meaning: str, phases: int = 0, **defaults: int
) -> Operator:
    return Operator(name, kind, tuple(sizes.split()), MappingProxyType(defaults), phases, meaning)


OPERATORS: Mapping[str, Operator] = MappingProxyType({
    o.name: o
    for o in (
        _operator("matrix product", PRODUCT, "m n k batch", "m x k times k x n", batch=1),
        _operator("batched product", PRODUCT, "m n k batch", "batch times m x k times k x n"),
        _operator("layer norm", ELEMENTWISE, "tokens width inputs", "each token is normalised",
                  inputs=1),
        _operator("elementwise", ELEMENTWISE, "tokens width inputs",
                  "inputs tensors are read and one is written", inputs=1),
        _operator("all-reduce", COLLECTIVE, "size_bytes devices",
                  "each device holds size_bytes, and then their sum", 2),
        _operator("all-gather", COLLECTIVE, "size_bytes devices",
                  "each device ends with size_bytes, of which it held its share", 1),
        _operator("reduce-scatter", COLLECTIVE, "size_bytes devices",
                  "each device holds size_bytes, and ends with its share of their sum", 1),
        _operator("all-to-all", COLLECTIVE, "size_bytes devices",
                  "each device holds size_bytes, an equal share for each", 1),
        _operator("point-to-point", COLLECTIVE, "size_bytes devices",
                  "each device sends size_bytes to its neighbour", 1, devices=2),
    )
})
"""Every operator by its name."""


def operator(name: str) -> Operator:
    """Return the operator of a name, without regard to case, hyphens and underscores.

    Raises:
        UnknownNameError: If there is none.

    Example:
        >>> operator("All_Reduce").sizes
        ('size_bytes', 'devices')
    """
    plain = {known.replace("-", " "): known for known in OPERATORS}
    key = " ".join(name.lower().replace("-", " ").replace("_", " ").split())
    if key not in plain:
        raise unknown_name("operator", name, OPERATORS)
    return OPERATORS[plain[key]]


def bus_factor(name: str, devices: int) -> Fraction:
    """Return what a device sends over its link for each byte of a collective's size.

    It is what benchmarks multiply their algbw by to get their busbw: 2 (p - 1)/p for an
    all-reduce, (p - 1)/p for its halves and an all-to-all, 1 for point to point.

    Raises:
        InputError: If fewer than two devices take part.

    Example:
        >>> bus_factor("all-reduce", 8), bus_factor("all-gather", 8)
        (Fraction(7, 4), Fraction(7, 8))
    """
    if devices < 2:
        raise InputError(f"{name} over {devices} device sends nothing; it needs two at least")
    if name == "point-to-point":
        return Fraction(1)
    import sympy as sp  # processes that only measure do without it

    from symscale.costs import collectives

    words = {
        "all-reduce": collectives.all_reduce_words,
        "all-gather": collectives.all_gather_words,
        "reduce-scatter": collectives.reduce_scatter_words,
        "all-to-all": collectives.all_to_all_words,
    }[name]
    return Fraction(int(words(sp.Integer(1), sp.Integer(devices))), devices)


def complete(name: str, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of an operator, in their order, with those that may be left out.

    Raises:
        InputError: If one is missing, not positive, or not a size of the operator.

    Example:
        >>> complete("matrix product", {"m": 8, "n": 4, "k": 2})
        {'m': 8, 'n': 4, 'k': 2, 'batch': 1}
    """
    entry = OPERATORS[name]
    for size, value in sizes.items():
        if size not in entry.sizes:
            raise unknown_name(f"size of {name}", size, entry.sizes)
        if value < 1:
            raise InputError(f"{size} = {value} is not above zero")
    found = {**entry.defaults, **sizes}
    missing = [size for size in entry.sizes if size not in found]
    if missing:
        raise InputError(f"{name} needs {', '.join(missing)} ({entry.meaning})")
    if entry.kind == COLLECTIVE:
        bus_factor(name, found["devices"])  # refuses one alone
    return {size: found[size] for size in entry.sizes}


def work_flop(name: str, sizes: Mapping[str, int]) -> int:
    """FLOP of a product: 2 m n k for each of the batch; 0 for all else, which no one counts.

    Example:
        >>> work_flop("matrix product", {"m": 8, "n": 4, "k": 2, "batch": 1})
        128
    """
    if OPERATORS[name].kind != PRODUCT:
        return 0
    return 2 * sizes["m"] * sizes["n"] * sizes["k"] * sizes["batch"]


def moved_bytes(name: str, sizes: Mapping[str, int], word_bytes: int) -> Fraction:
    """Bytes that must move: through memory, or for a collective over a device's link one way.

    A product reads two matrices and writes one; an elementwise operator reads its inputs and
    writes one tensor of their size.

    Example:
        >>> int(moved_bytes("layer norm", {"tokens": 10, "width": 8, "inputs": 1}, 2))
        320
        >>> int(moved_bytes("all-reduce", {"size_bytes": 800, "devices": 4}, 2))
        1200
    """
    kind = OPERATORS[name].kind
    if kind == COLLECTIVE:
        return sizes["size_bytes"] * bus_factor(name, sizes["devices"])
    if kind == PRODUCT:
        m, n, k = sizes["m"], sizes["n"], sizes["k"]
        return Fraction(word_bytes * sizes["batch"] * (m * k + k * n + m * n))
    return Fraction(word_bytes * (sizes["inputs"] + 1) * sizes["tokens"] * sizes["width"])
