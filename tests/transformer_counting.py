"""Counts a tiny Transformer's costs one element at a time, device by device.

Nothing here knows a formula: a product is a loop over its multiplications, a device is
its coordinates in the plan, and a tensor is the set of its elements. What the devices
must sum up is found by asking, of each element, which of them hold a part of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Grid:
    """The degrees: replicas, tensor, context, experts within the replicas."""

    dp: int = 1
    tp: int = 1
    cp: int = 1
    ep: int = 1
    kv: int = 0  # of tp, what splits the key and value heads; 0 for all

    @property
    def devices(self) -> list[tuple[int, int, int]]:
        """Coordinates of the devices of one stage."""
        return list(product(range(self.dp), range(self.cp), range(self.tp)))

    def place(self, device: tuple[int, int, int]) -> dict[str, tuple[int, int]]:
        """Return which part of how many the device has of each dimension that is split."""
        dp, cp, tp = device
        kv = self.kv or self.tp
        return {
            "s": (dp, self.dp),
            "t": (cp, self.cp),
            "f": (tp, self.tp),
            "y": (tp, self.tp),
            "g": (tp // (self.tp // kv), kv),
            "r": (tp % (self.tp // kv), self.tp // kv),
            "e": (dp % self.ep, self.ep),
            # Replicas of an expert share its tokens among them.
            "c": (dp // self.ep * self.cp + cp, self.dp // self.ep * self.cp),
        }


def part(length: int, index: int, parts: int) -> range:
    """Return one of equal parts of a dimension."""
    assert length % parts == 0
    size = length // parts
    return range(index * size, (index + 1) * size)


@dataclass(frozen=True)
class Product:
    """An einsum: letters of its operands and output, and names of the tensors."""

    operands: tuple[str, str]
    output: str
    names: tuple[str, str, str]

    def indices(
        self, sizes: dict[str, int], where: dict[str, tuple[int, int]]
    ) -> Iterator[dict[str, int]]:
        """Yield every multiplication that a device does, as indices by letter."""
        letters = sorted(set("".join(self.operands)))
        ranges = [part(sizes[x], *where.get(x, (0, 1))) for x in letters]
        for values in product(*ranges):
            yield dict(zip(letters, values, strict=True))


def flop_by_device(products: list[Product], sizes: dict[str, int], grid: Grid) -> list[int]:
    """Forward FLOP of each device: two for every multiplication."""
    return [
        sum(2 for p in products for _ in p.indices(sizes, grid.place(device)))
        for device in grid.devices
    ]


def reductions(
    products: list[Product], sizes: dict[str, int], grid: Grid
) -> dict[tuple[str, bool], Counter[tuple[int, int]]]:
    """Return, by tensor and whether its gradient is meant, how many words a device reduces.

    A device contributes to an element of an output if one of its multiplications does,
    and to an element of an operand's gradient likewise. An element to which p devices
    contribute is all-reduced over them; those that do the same multiplications for it
    count once.
    Result: for each tensor a count of (device, participants).
    """
    Done = dict[int, set[tuple[object, ...]]]  # noqa: N806
    holders: dict[tuple[str, bool], dict[tuple[int, ...], Done]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    for number, device in enumerate(grid.devices):
        where = grid.place(device)
        for p in products:
            for index in p.indices(sizes, where):
                done = (p.names, *index.items())
                for letters, name, gradient in (
                    (p.operands[0], p.names[0], True),
                    (p.operands[1], p.names[1], True),
                    (p.output, p.names[2], False),
                ):
                    element = tuple(index[x] for x in letters)
                    holders[name, gradient][element][number].add(done)
    found: dict[tuple[str, bool], Counter[tuple[int, int]]] = defaultdict(Counter)
    for key, elements in holders.items():
        for devices in elements.values():
            participants = len({frozenset(done) for done in devices.values()})
            if participants > 1:
                for number in devices:
                    found[key][number, participants] += 1
    return found
