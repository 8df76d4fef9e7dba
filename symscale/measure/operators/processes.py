"""Collectives over processes of one machine, through shared memory.

What a machine without accelerators can measure. The first process says what is done, times
it and reports; the others follow.
"""

import math
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from symscale.measure.operators.collectives import COLLECTIVES
from symscale.measure.operators.workload import (
    LEAST_REPETITIONS,
    MOST_REPETITIONS,
    WARM_UPS,
    median_and_spread,
)

# Containers lend 64 MiB of shared memory by default: two buffers of four processes fit.
SIZES = tuple(2**p for p in range(14, 23, 2))
TIMEOUT_S = 120.0
LEAST_SIZES = 3  # without so many nothing can be fitted
_SHORTEST_S = 2e-3  # what is timed at once, so that the clock and the start do not matter
_RUNS = LEAST_REPETITIONS + WARM_UPS
STOP = -1


def largest_bytes() -> int:
    """Bytes of the largest message."""
    return SIZES[-1]


class Participant(ABC):
    """One of the processes that run collectives.

    Attributes:
        processes: How many there are.
        word_bytes: Bytes of a word.
        ladder: Bytes to measure, growing; rounded down to equal shares of whole words.
        most_inner: How often a short collective may be run to be timed once.
    """

    processes: int
    word_bytes: int = 4
    ladder: Sequence[int] = SIZES
    most_inner: int = 1

    @abstractmethod
    def tell(self, index: int, size_bytes: int, inner: int) -> None:
        """Say to the others what is done next: an index of COLLECTIVES, or STOP."""

    @abstractmethod
    def heard(self) -> tuple[int, int, int]:
        """What the first process says."""

    @abstractmethod
    def run(self, index: int, size_bytes: int, inner: int) -> float:
        """Run a collective so many times and return the seconds of one."""

    def take_part(self, connection: Connection | None, budget_s: float) -> None:
        """Follow the first process until all is done; or be it, with a connection to report."""
        if connection is None:
            while (order := self.heard())[0] != STOP:
                self.run(*order)
            return
        for message in self.paced(budget_s):
            connection.send(message)
        self.tell(STOP, 0, 0)
        connection.send(("done",))

    def paced(self, budget_s: float) -> Iterator[tuple[Any, ...]]:
        """Time every collective at growing sizes on all processes, until the budget is used.

        Three sizes of each at least; a larger one is not begun if its runs would not fit.

        Yields:
            ("next", operator, sizes), then ("measured", operator, sizes, 0, median, spread,
            repetitions), as `symscale.measure.operators.workload.measure_operators` sends them.
        """
        deadline = time.monotonic() + budget_s
        for index, collective in enumerate(COLLECTIVES):
            left = (deadline - time.monotonic()) / (len(COLLECTIVES) - index)
            median = 0.0
            for place, wanted in enumerate(self.ladder):
                size = wanted - wanted % (self.word_bytes * self.processes)
                growth = wanted / self.ladder[max(place - 1, 0)]
                if place >= LEAST_SIZES and _RUNS * growth * median > left:
                    break
                sizes = {"size_bytes": size, "devices": self.processes}
                yield "next", collective.name, sizes
                begin = time.monotonic()
                times = self._timed(index, size, begin + left / (len(self.ladder) - place))
                left -= time.monotonic() - begin
                median, spread = median_and_spread(times)
                yield "measured", collective.name, sizes, 0, median, spread, len(times)

    def _timed(self, index: int, size: int, end: float) -> list[float]:
        """Times on all processes after those to warm up; short ones are run several times each."""
        times: list[float] = []
        inner = 1
        while len(times) < _RUNS or (len(times) < MOST_REPETITIONS and time.monotonic() < end):
            self.tell(index, size, inner)
            times.append(self.run(index, size, inner))
            if len(times) == WARM_UPS:
                inner = min(math.ceil(_SHORTEST_S / max(times[0], 1e-7)), self.most_inner)
        return times[WARM_UPS:]


class SharedParticipant(Participant):
    """One that has its rows of two buffers in a block of shared memory."""

    def __init__(
        self, memory: SharedMemory, rank: int, processes: int, barrier: Any, control: Any
    ) -> None:
        """Lay arrays over the memory: `source` and `target`, a row for each process."""
        import numpy as np

        whole = np.ndarray((2, processes, largest_bytes() // 4), np.float32, memory.buf)
        self.source, self.target = whole[0], whole[1]
        self.rank, self.processes = rank, processes
        self.barrier, self.control = barrier, control

    def tell(self, index: int, size_bytes: int, inner: int) -> None:
        """Write it where all read it."""
        self.control[0], self.control[1] = index, size_bytes
        self.barrier.wait(TIMEOUT_S)

    def heard(self) -> tuple[int, int, int]:
        """Read it there."""
        self.barrier.wait(TIMEOUT_S)
        return self.control[0], self.control[1], 1

    def run(self, index: int, size_bytes: int, inner: int) -> float:
        """Run each phase once, a barrier after it."""
        start, shares = time.perf_counter(), self.shares(size_bytes)
        for phase in COLLECTIVES[index].phases:
            phase(self.source, self.target, self.rank, shares)
            self.barrier.wait(TIMEOUT_S)
        return time.perf_counter() - start

    def shares(self, size_bytes: int) -> list[slice]:
        """The share of each process of a row with so many bytes."""
        each = size_bytes // self.word_bytes // self.processes
        return [slice(each * i, each * (i + 1)) for i in range(self.processes)]


def take_part(
    rank: int, processes: int, memory: str, barrier: Any, control: Any,
    connection: Connection | None, budget_s: float,
) -> None:
    """Be one of the processes; the first decides what is done, times it and reports.

    Args:
        rank: Which one.
        processes: How many there are.
        memory: Name of the shared memory.
        barrier: A barrier of all.
        control: What to do next: an index of COLLECTIVES, and bytes.
        connection: Of the first, where it reports; None of the others.
        budget_s: Seconds for all collectives.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    block = SharedMemory(name=memory)
    try:
        participant = SharedParticipant(block, rank, processes, barrier, control)
        participant.take_part(connection, budget_s)
        del participant
    except BaseException:
        barrier.abort()  # let the others end too
        raise
    finally:
        block.close()
