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
            "j": (tp, self.tp),
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


Device = tuple[int, int, int]
Key = tuple[str, bool]  # a tensor, and whether its gradient is meant
Element = tuple[object, ...]  # letters of a tensor, and an index for each
Holders = dict[Key, dict[Element, dict[Device, frozenset[object]]]]


@dataclass(frozen=True)
class Product:
    """An einsum: letters of its operands and output, and names of the tensors.

    Of one operand it is a copy along the letters that only the output has, which multiplies
    nothing. Tensors of one name and other letters are parts of one tensor, side by side.
    """

    operands: tuple[str, ...]
    output: str
    names: tuple[str, ...]

    @property
    def flop(self) -> int:
        """FLOP of one combination of indices: a multiplication and an addition."""
        return 2 if len(self.operands) == 2 else 0

    @property
    def letters(self) -> list[str]:
        """All its letters."""
        return sorted(set("".join((*self.operands, self.output))))

    def indices(
        self, sizes: dict[str, int], where: dict[str, tuple[int, int]]
    ) -> Iterator[tuple[int, ...]]:
        """Yield every multiplication that a device does, as an index for each letter."""
        return product(*(part(sizes[x], *where.get(x, (0, 1))) for x in self.letters))


def flop_by_device(products: list[Product], sizes: dict[str, int], grid: Grid) -> list[int]:
    """Forward FLOP of each device: two for every multiplication."""
    return [
        sum(p.flop for p in products for _ in p.indices(sizes, grid.place(device)))
        for device in grid.devices
    ]


def held(products: list[Product], sizes: dict[str, int], grid: Grid) -> Holders:
    """Return, of each element of each output and operand's gradient, what each device does for it.

    A device contributes to an element of an output if one of its multiplications does,
    and to an element of an operand's gradient likewise.
    """
    Done = dict[Device, set[object]]  # noqa: N806
    holders: dict[Key, dict[Element, Done]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    for device in grid.devices:
        where = grid.place(device)
        for number, p in enumerate(products):
            roles = []
            for i, (letters, name) in enumerate(zip((*p.operands, p.output), p.names, strict=True)):
                places = [p.letters.index(x) for x in letters]
                roles.append((letters, places, holders[name, i < len(p.operands)]))
            for index in p.indices(sizes, where):
                for letters, places, elements in roles:
                    elements[letters, *(index[i] for i in places)][device].add((number, index))
    return {
        key: {
            element: {device: frozenset(done) for device, done in devices.items()}
            for element, devices in elements.items()
        }
        for key, elements in holders.items()
    }


AXES = {"data": (0,), "context": (1,), "tensor": (2,), "tokens": (0, 1), "all": (0, 1, 2)}
"""Which coordinates of the devices differ within one group of each parallelism."""


def reductions(holders: Holders, axis: str = "all") -> dict[Key, Counter[tuple[Device, int]]]:
    """Return, by tensor and whether its gradient is meant, how many words a device reduces.

    An element to which p devices of a group contribute is all-reduced over them; those that
    do the same multiplications for it count once.
    Result: for each tensor a count of (device, participants).
    """
    found: dict[Key, Counter[tuple[Device, int]]] = defaultdict(Counter)
    for key, elements in holders.items():
        for devices in elements.values():
            groups: dict[Device, list[Device]] = defaultdict(list)
            for device in devices:
                dp, cp, tp = (-1 if i in AXES[axis] else x for i, x in enumerate(device))
                groups[dp, cp, tp].append(device)
            for group in groups.values():
                participants = len({devices[device] for device in group})
                if participants > 1:
                    found[key].update((device, participants) for device in group)
    return found
