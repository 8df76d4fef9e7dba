"""What an operator is: what it computes and moves, and how it is prepared and timed here.

Sizes are whole numbers; bytes come in here, because measurements print them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from symscale.errors import InputError, unknown_name

Sizes = Mapping[str, float]
Call = Callable[[], Any]
"""Runs an operator once, or begins it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Operator(ABC):
    """An operator; its class is its kind, and there is one object of each.

    Attributes:
        name: What files and reports call it.
        meaning: What its sizes are.
        defaults: Sizes that may be left out, and what they are then.
        precedence: Of operators that show the same bandwidth the one with the least is taken.
    """

    name: str
    meaning: str
    defaults: Mapping[str, int] = field(default_factory=dict)
    precedence: int

    sizes: ClassVar[tuple[str, ...]]
    """Names of its sizes."""

    def __str__(self) -> str:
        return self.name

    def flop(self, sizes: Sizes) -> float:
        """FLOP of a product; 0 for all else, which no one counts."""
        return 0

    @abstractmethod
    def moved(self, sizes: Sizes, word_bytes: int) -> float:
        """Bytes that must move: through memory, or for a collective over a link one way."""

    @abstractmethod
    def label(self, sizes: Mapping[str, int]) -> str:
        """Sizes in words."""

    def complete(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return sizes in their order, with those that may be left out.

        Raises:
            InputError: If one is missing, not positive, or not a size of the operator.
        """
        for size, value in sizes.items():
            if size not in self.sizes:
                raise unknown_name(f"size of {self}", size, self.sizes)
            if value < 1:
                raise InputError(f"{size} = {value} is not above zero")
        found = {**self.defaults, **sizes}
        missing = [size for size in self.sizes if size not in found]
        if missing:
            raise InputError(f"{self} needs {', '.join(missing)} ({self.meaning})")
        return {size: found[size] for size in self.sizes}


@dataclass(frozen=True)
class Library:
    """What runs operators: NumPy or PyTorch.

    Attributes:
        title: Its name and version.
        module: Itself.
        word_bytes: Bytes of the words it computes with.
        random: Makes an array of a shape, filled.
        empty: Makes one to be written.
        way: Of an operator the way to prepare it with this library.
        finish: Waits until all that was begun is done.
        facts: What it knows of the machine that is measured, as the file holds it.
    """

    title: str
    module: Any
    word_bytes: int
    random: Callable[[tuple[int, ...]], Any]
    empty: Callable[[tuple[int, ...]], Any]
    way: "Callable[[DeviceOperator], Prepare]"
    finish: Call = lambda: None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, operator: "DeviceOperator", sizes: Mapping[str, int]) -> Call:
        """Make the arrays of an operator; what is returned runs it on them."""
        return self.way(operator)(self, sizes)


Prepare = Callable[[Library, Mapping[str, int]], Call]


@dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOperator(Operator):
    """An operator that one device runs.

    Attributes:
        ladder: Sizes worth measuring, from the smallest; its argument is how many shapes
            there are of each number of FLOP or bytes.
        share: Its share of the time of a profile.
        numpy: Prepares it with NumPy.
        torch: Prepares it with PyTorch.
        profiled: What `torch.profiler` calls it.
        labels: What benchmarks of PyTorch call it besides its name.
        stand_in: Name of the operator whose model is used where this one was not measured.
    """

    ladder: Callable[[int], list[dict[str, int]]]
    share: float
    numpy: Prepare
    torch: Prepare
    profiled: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    stand_in: str = ""

    @abstractmethod
    def sizes_of(self, shapes: Sequence[Sequence[int]]) -> dict[str, int] | None:
        """Sizes from the shapes of its inputs, or None where they are not its own."""
