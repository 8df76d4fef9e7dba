"""Operators as they run on this machine, with NumPy or PyTorch, and how each is timed.

This runs in a process of its own, started after the number of threads was fixed: the
libraries read it once, when they are loaded. Each operator gets a share of the budget; its
sizes grow, and those that would not fit into what is left of the share are not begun.
"""

import math
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from symscale.measure.operators.operator import DeviceOperator, Library
from symscale.measure.operators.operators import DEVICE_OPERATORS

WARM_UPS, LEAST_REPETITIONS, MOST_REPETITIONS = 1, 3, 50
_SHORTEST_S = 2e-3  # what is timed at once, so that the clock does not matter


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        library: "numpy" or "torch".
        threads: Threads, each pinned to a core of its own where the system can.
        budget_s: Seconds for all operators of this process.
        clock: "wall", or "cpu": the time that this one thread had on a processor.
        dense: How many shapes of matrix products there are of each number of FLOP.
        shares: Names of operators, and their shares of the budget.
    """

    library: str = "numpy"
    threads: int = 1
    budget_s: float = 60.0
    clock: str = "wall"
    dense: int = 1
    shares: tuple[tuple[str, float], ...] = tuple((o.name, o.share) for o in DEVICE_OPERATORS)


def measure_operators(connection: Connection, settings: Settings) -> None:
    """Measure operators, and send each as soon as it is done.

    What is sent: ("library", text, facts of the machine), then ("measured", operator, sizes,
    word_bytes, median, spread, repetitions), ("next", operator, sizes) before each, and at the
    end ("done",).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this decides
    _pin(settings.threads)
    library = _torch(settings) if settings.library == "torch" else _numpy()
    connection.send(("library", library.title, library.facts))
    deadline = time.monotonic() + settings.budget_s
    shares = list(settings.shares)
    operators = {operator.name: operator for operator in DEVICE_OPERATORS}
    for place, (name, share) in enumerate(shares):
        part = share / sum(later for _, later in shares[place:])
        left = (deadline - time.monotonic()) * part
        for message in _operator(operators[name], left, library, settings):
            connection.send(message)
    connection.send(("done",))


def _pin(threads: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:threads])


def _operator(
    operator: DeviceOperator, share_s: float, library: Library, settings: Settings
) -> Iterator[tuple[Any, ...]]:
    left, before = share_s, None
    sizes = [operator.complete(size) for size in operator.ladder(settings.dense)]
    for index, size in enumerate(sizes):
        cost = float(operator.flop(size) or operator.moved(size, library.word_bytes))
        if before is not None:
            expected = before[0] * cost / before[1]
            if (WARM_UPS + LEAST_REPETITIONS) * expected > left:
                break
        yield "next", operator.name, size
        start = time.monotonic()
        call = library.prepare(operator, size)
        times = timed(call, left / (len(sizes) - index), settings.clock, library.finish)
        left -= time.monotonic() - start
        median, spread = median_and_spread(times)
        before = (median, cost)
        yield "measured", operator.name, size, library.word_bytes, median, spread, len(times)


def timed(
    call: Callable[[], Any], allotted_s: float, clock: str = "wall",
    finish: Callable[[], Any] = lambda: None,
) -> list[float]:
    """Time a function: warm up, then repeat until the time allotted is used.

    Three repetitions at least, fifty at most; short calls are repeated within each, and
    what they began is waited for at the end of each.

    Example:
        >>> len(timed(lambda: None, 0.0))
        3
    """
    now = time.thread_time if clock == "cpu" else time.perf_counter
    begin = time.monotonic()
    call()
    finish()
    start = time.perf_counter()
    call()
    finish()
    inner = max(1, math.ceil(_SHORTEST_S / max(time.perf_counter() - start, 1e-9)))
    inner = min(inner, 10_000)
    times: list[float] = []
    while len(times) < LEAST_REPETITIONS or (
        len(times) < MOST_REPETITIONS and time.monotonic() - begin < allotted_s
    ):
        start = now()
        for _ in range(inner):
            call()
        finish()
        times.append((now() - start) / inner)
    return times


def median_and_spread(times: list[float]) -> tuple[float, float]:
    """Median of times, and their interquartile range over it.

    Example:
        >>> median_and_spread([1.0, 2.0, 3.0, 4.0, 5.0])
        (3.0, 0.6666666666666666)
    """
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    return median, (high - low) / median


def _numpy() -> Library:
    import numpy as np

    rng = np.random.default_rng(0)
    return Library(
        f"NumPy {np.__version__}, float32", np, 4, partial(rng.random, dtype=np.float32),
        partial(np.empty, dtype=np.float32), attrgetter("numpy"),
    )


def _torch(settings: Settings) -> Library:
    """PyTorch, on the accelerator where there is one."""
    torch: Any = import_module("torch")
    torch.set_num_threads(settings.threads)
    accelerated = bool(torch.cuda.is_available())
    device = "cuda" if accelerated else "cpu"
    kind, word = (torch.bfloat16, 2) if accelerated else (torch.float32, 4)
    facts: dict[str, Any] = {}
    if accelerated:
        about = torch.cuda.get_device_properties(0)
        facts = {"device": about.name, "memory_bytes": int(about.total_memory),
                 "accelerators": int(torch.cuda.device_count())}
    where = facts.get("device", "CPU")
    return Library(
        f"PyTorch {torch.__version__}, {str(kind)[6:]} on {where}", torch, word,
        partial(torch.rand, device=device, dtype=kind),
        partial(torch.empty, device=device, dtype=kind), attrgetter("torch"),
        torch.cuda.synchronize if accelerated else lambda: None, facts,
    )
