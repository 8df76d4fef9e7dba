"""Collectives over processes of one machine, through shared memory.

What a machine without accelerators can measure. Each process holds a buffer in shared
memory; an all-reduce is a reduce-scatter (each sums its share of all buffers) and an
all-gather (each copies the shares of the others), with a barrier after each phase.
"""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from symscale.measure.operators.workload import (
    LEAST_REPETITIONS,
    MOST_REPETITIONS,
    WARM_UPS,
    median_and_spread,
)

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "point-to-point")
# Containers lend 64 MiB of shared memory by default: two buffers of four processes fit.
SIZES = tuple(2**p for p in range(14, 23, 2))
TIMEOUT_S = 120.0
LEAST_SIZES = 3  # without so many nothing can be fitted
_RUNS = LEAST_REPETITIONS + WARM_UPS
STOP = -1


def largest_bytes() -> int:
    """Bytes of the largest message."""
    return SIZES[-1]


class Buffers:
    """Two buffers for each process, in one block of shared memory."""

    def __init__(self, memory: SharedMemory, processes: int) -> None:
        """Lay arrays over the memory: `source` and `target`, a row for each process."""
        import numpy as np

        whole = np.ndarray((2, processes, largest_bytes() // 4), np.float32, memory.buf)
        self.source, self.target = whole[0], whole[1]
        self.processes = processes

    def step(self, name: str, size_bytes: int, rank: int, phase: int) -> None:
        """Do one phase of a collective of one process."""
        p = self.processes
        each = size_bytes // 4 // p
        words = each * p
        share = [slice(each * i, each * (i + 1)) for i in range(p)]
        if name in ("all-reduce", "reduce-scatter") and phase == 0:
            own = self.target[rank, share[rank]]
            own[:] = self.source[rank, share[rank]]
            for other in range(p):
                if other != rank:
                    own += self.source[other, share[rank]]
        elif name == "all-gather" or (name == "all-reduce" and phase == 1):
            held = self.source if name == "all-gather" else self.target
            for other in range(p):
                if other != rank:
                    self.target[rank, share[other]] = held[other, share[other]]
        elif name == "all-to-all":
            for other in range(p):
                if other != rank:
                    self.target[rank, share[other]] = self.source[other, share[rank]]
        elif name == "point-to-point":
            self.target[rank, :words] = self.source[rank - 1, :words]


def phases_of(name: str) -> int:
    """Phases of a collective, each ended by a barrier."""
    return 2 if name == "all-reduce" else 1


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
        buffers = Buffers(block, processes)
        if connection is None:
            _follow(buffers, rank, barrier, control)
        else:
            for message in _lead(buffers, barrier, control, budget_s):
                connection.send(message)
            connection.send(("done",))
        del buffers
    except BaseException:
        barrier.abort()  # let the others end too
        raise
    finally:
        block.close()


def _follow(buffers: Buffers, rank: int, barrier: Any, control: Any) -> None:
    while True:
        barrier.wait(TIMEOUT_S)
        index, size = control[0], control[1]
        if index == STOP:
            return
        _run(buffers, COLLECTIVES[index], size, rank, barrier)


def _run(buffers: Buffers, name: str, size: int, rank: int, barrier: Any) -> None:
    for phase in range(phases_of(name)):
        buffers.step(name, size, rank, phase)
        barrier.wait(TIMEOUT_S)


def _lead(
    buffers: Buffers, barrier: Any, control: Any, budget_s: float
) -> Iterator[tuple[Any, ...]]:
    def once(index: int, size: int) -> float:
        control[0], control[1] = index, size
        barrier.wait(TIMEOUT_S)
        start = time.perf_counter()
        _run(buffers, COLLECTIVES[index], size, 0, barrier)
        return time.perf_counter() - start

    yield from paced(once, SIZES, 4, buffers.processes, budget_s)
    control[0] = STOP
    barrier.wait(TIMEOUT_S)


def paced(
    once: Callable[[int, int], float], ladder: Sequence[int], word_bytes: int, processes: int,
    budget_s: float,
) -> Iterator[tuple[Any, ...]]:
    """Time every collective at growing sizes, until the budget is used.

    Three sizes of each at least; a larger one is not begun if its runs would not fit.

    Args:
        once: Runs the collective of an index of COLLECTIVES with so many bytes, on all
            processes, and returns its seconds.
        ladder: Bytes, growing; rounded down to equal shares of whole words.
        word_bytes: Bytes of a word.
        processes: How many take part.
        budget_s: Seconds for all collectives.

    Yields:
        ("next", operator, sizes), then ("measured", operator, sizes, 0, median, spread,
        repetitions), as `symscale.measure.operators.workload.measure_operators` sends them.

    Example:
        >>> sent = list(paced(lambda index, size: 1e-3 * size, [4, 8, 16, 32], 4, 1, 0.0))
        >>> [len(sent), sent[0], sent[1][4]]
        [30, ('next', 'all-reduce', {'size_bytes': 4, 'devices': 1}), 0.004]
    """
    deadline = time.monotonic() + budget_s
    for index, name in enumerate(COLLECTIVES):
        left = (deadline - time.monotonic()) / (len(COLLECTIVES) - index)
        median = 0.0
        for place, wanted in enumerate(ladder):
            size = wanted - wanted % (word_bytes * processes)
            growth = wanted / ladder[max(place - 1, 0)]
            if place >= LEAST_SIZES and _RUNS * growth * median > left:
                break
            allotted = left / (len(ladder) - place)
            sizes = {"size_bytes": size, "devices": processes}
            yield "next", name, sizes
            begin = time.monotonic()
            times: list[float] = []
            while len(times) < _RUNS or (
                len(times) < MOST_REPETITIONS and time.monotonic() - begin < allotted
            ):
                times.append(once(index, size))
            left -= time.monotonic() - begin
            median, spread = median_and_spread(times[WARM_UPS:])
            yield "measured", name, sizes, 0, median, spread, len(times) - WARM_UPS
