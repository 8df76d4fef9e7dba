"""Measurements: what was timed, how long it took, and where that stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from symscale.errors import InputError
from symscale.measure.operators.operator import Operator

MOST_MEASUREMENTS = 5000
LARGEST_SIZE = 2**63
SHORTEST_S, LONGEST_S = 1e-9, 1e7
# Larger work in less than half of the time is no noise, unless repetitions spread as widely.
FALL = 0.5


@dataclass(frozen=True)
class Measurement:
    """One operator at one size, timed.

    Attributes:
        operator: The operator.
        sizes: Its sizes, complete.
        word_bytes: Bytes of a word; 0 where it makes no difference.
        seconds: Its time.
        where: File and line.
        spread: Interquartile range of the repetitions over their median, where known.
        place: "out-of-place" or "in-place" for collectives that say so.
        repetitions: How many times it was timed, where known.
        count: How many times an iteration calls it.

    Example:
        >>> from symscale.measure.operators.products import MATRIX_PRODUCT
        >>> one = Measurement(MATRIX_PRODUCT, {"m": 2, "n": 3, "k": 4, "batch": 1}, 4, 1e-6, "x")
        >>> one.flop, one.moved, one.label
        (48, 104.0, '2 x 4 x 3')
    """

    operator: Operator
    sizes: Mapping[str, int] = field(hash=False)
    word_bytes: int
    seconds: float
    where: str
    spread: float | None = None
    place: str = ""
    repetitions: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not SHORTEST_S <= self.seconds <= LONGEST_S:
            problem = "is not above zero" if self.seconds <= 0 else "lies outside 1 ns to 1e7 s"
            raise InputError(
                f"{self.where}: a time of {self.seconds:g} s {problem}; measure it again"
            )
        if any(size > LARGEST_SIZE for size in self.sizes.values()):
            raise InputError(f"{self.where}: a size beyond 2^63; check the units")

    @cached_property
    def flop(self) -> float:
        """FLOP that it computes."""
        return self.operator.flop(self.sizes)

    @cached_property
    def moved(self) -> float:
        """Bytes that it moves: through memory, or one way over a device's link."""
        return self.operator.moved(self.sizes, self.word_bytes)

    @property
    def label(self) -> str:
        """Its sizes in words."""
        return self.operator.label(self.sizes)


def check_measurements(found: Sequence[Measurement]) -> None:
    """Refuse measurements of one operator that contradict each other.

    Raises:
        InputError: If a size stands twice, or if a larger one took less than half of the
            time of a smaller one; the text names both lines.
    """
    seen: dict[tuple[object, ...], Measurement] = {}
    for one in found:
        key = (one.word_bytes, *one.sizes.values())
        if key in seen:
            raise InputError(
                f"{one.where}: {one.operator} of {one.label} stands twice, before in "
                f"{seen[key].where}; keep one of the two"
            )
        seen[key] = one
    if len(found) > MOST_MEASUREMENTS:
        raise InputError(
            f"{len(found)} measurements of {found[0].operator} are too many; "
            f"at most {MOST_MEASUREMENTS}"
        )
    _check_rising(found)


def _check_rising(found: Sequence[Measurement]) -> None:
    sizes = np.array([list(one.sizes.values()) for one in found], dtype=float)
    words = np.array([one.word_bytes for one in found])
    times = np.array([one.seconds for one in found])
    noise = np.array([1 + (one.spread or 0.0) for one in found])
    for small in np.argsort(times)[::-1]:
        larger = np.all(sizes >= sizes[small], axis=1) & (words == words[small])
        falls = np.nonzero(larger & (times * noise < FALL * times[small] / noise[small]))[0]
        if len(falls):
            large = found[int(falls[0])]
            one = found[int(small)]
            raise InputError(
                f"{large.where}: {one.operator} of {large.label} took {large.seconds:.3g} s, less "
                f"than half of the {one.seconds:.3g} s of the smaller {one.label} "
                f"({one.where}); one of the two is wrong: measure it again, or remove the line"
            )
