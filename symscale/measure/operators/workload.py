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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from symscale.measure.operators.operators import complete, moved_bytes, work_flop

LEAST_FLOP, MOST_FLOP = 64e6, 64e9
WARM_UPS, LEAST_REPETITIONS, MOST_REPETITIONS = 1, 3, 50
_SHORTEST_S = 2e-3  # what is timed at once, so that the clock does not matter
_BLOCK = 2**15  # elements that stay in the cache of a core while they are normalised
_SHAPES = ((1, 1, 1), (4, 1, 1), (1, 2, 0.5), (0.5, 4, 1), (2, 2, 0.25), (0.25, 1, 2))


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        library: "numpy" or "torch".
        threads: Threads, each pinned to a core of its own where the system can.
        budget_s: Seconds for all operators of this process.
        clock: "wall", or "cpu": the time that this one thread had on a processor.
        dense: How many shapes of matrix products there are of each number of FLOP.
        shares: Operators and their shares of the budget.
    """

    library: str = "numpy"
    threads: int = 1
    budget_s: float = 60.0
    clock: str = "wall"
    dense: int = 1
    shares: tuple[tuple[str, float], ...] = (
        ("matrix product", 0.5), ("batched product", 0.15), ("layer norm", 0.2),
        ("elementwise", 0.15),
    )


def product_sizes(dense: int = 1) -> list[dict[str, int]]:
    """Shapes of matrix products from 64 MFLOP to 64 GFLOP, by doubling.

    Args:
        dense: How many shapes of each number of FLOP; with one, the shapes take turns.

    Example:
        >>> sizes = product_sizes()
        >>> len(sizes), sizes[0], sizes[-1]
        (11, {'m': 320, 'n': 320, 'k': 320}, {'m': 3200, 'n': 6400, 'k': 1600})
    """
    found = []
    steps = round(math.log2(MOST_FLOP / LEAST_FLOP))
    for step in range(steps + 1):
        side = (LEAST_FLOP * 2**step / 2) ** (1 / 3)
        for turn in range(dense):
            shape = _SHAPES[(turn if dense > 1 else step % 4) % len(_SHAPES)]
            scale = math.prod(shape) ** (1 / 3)
            m, n, k = (max(round(side * part / scale / 16) * 16, 16) for part in shape)
            found.append({"m": m, "n": n, "k": k})
    return found


def ladder(name: str, dense: int = 1) -> list[dict[str, int]]:
    """Sizes of an operator that are worth measuring, from the smallest.

    Example:
        >>> ladder("elementwise")[0]
        {'tokens': 4096, 'width': 1024, 'inputs': 2}
    """
    if name == "matrix product":
        return product_sizes(dense)
    if name == "batched product":
        return [
            {"batch": 2**b, "m": s, "n": s, "k": 64}
            for b, s in ((3, 128), (4, 256), (3, 512), (5, 256), (4, 512), (6, 512), (5, 1024))
        ]
    if name == "layer norm":
        widths = (1024,) if dense == 1 else (512, 1024, 4096)
        return sorted(
            ({"tokens": 2**p // width, "width": width} for p in range(16, 25) for width in widths),
            key=lambda size: size["tokens"] * size["width"],
        )
    # Beyond the caches, which would show a bandwidth that is none of the memory.
    return [{"tokens": 2**p, "width": 1024, "inputs": 2} for p in (12, 13, 14, 15)]


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
    for place, (name, share) in enumerate(shares):
        part = share / sum(later for _, later in shares[place:])
        left = (deadline - time.monotonic()) * part
        for message in _operator(name, left, library, settings):
            connection.send(message)
    connection.send(("done",))


def _pin(threads: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:threads])


@dataclass(frozen=True)
class Library:
    """What runs the operators.

    Attributes:
        title: Its name and version.
        word_bytes: Bytes of the words it computes with.
        make: From an operator and its sizes to a function that runs it once, or begins it.
        finish: Waits until all that was begun is done.
        facts: What it knows of the machine that is measured, as the file holds it.
    """

    title: str
    word_bytes: int
    make: Callable[[str, Mapping[str, int]], Callable[[], Any]]
    finish: Callable[[], Any] = lambda: None
    facts: Mapping[str, Any] = field(default_factory=dict)


def _operator(
    name: str, share_s: float, library: Library, settings: Settings
) -> Iterator[tuple[Any, ...]]:
    left, before = share_s, None
    sizes = [complete(name, size) for size in ladder(name, settings.dense)]
    for index, size in enumerate(sizes):
        cost = _cost(name, size, library.word_bytes)
        if before is not None:
            expected = before[0] * cost / before[1]
            if (WARM_UPS + LEAST_REPETITIONS) * expected > left:
                break
        yield "next", name, size
        start = time.monotonic()
        call = library.make(name, size)
        times = timed(call, left / (len(sizes) - index), settings.clock, library.finish)
        left -= time.monotonic() - start
        median, spread = median_and_spread(times)
        before = (median, cost)
        yield "measured", name, size, library.word_bytes, median, spread, len(times)


def _cost(name: str, size: Mapping[str, int], word_bytes: int) -> float:
    return float(work_flop(name, size) or moved_bytes(name, size, word_bytes))


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

    def random(*shape: int) -> Any:
        return rng.random(shape, dtype=np.float32)

    def norm(x: Any, out: Any) -> None:
        rows = max(1, _BLOCK // x.shape[1])
        for start in range(0, len(x), rows):
            part, to = x[start : start + rows], out[start : start + rows]
            np.subtract(part, part.mean(axis=1, keepdims=True), out=to)
            scale = np.einsum("ij,ij->i", to, to)
            scale = 1 / np.sqrt(scale / x.shape[1] + 1e-5)
            np.multiply(to, scale[:, None], out=to)

    def make(name: str, size: Mapping[str, int]) -> Callable[[], Any]:
        if name.endswith("product"):
            b = (size["batch"],) if name.startswith("batched") else ()
            left, right = random(*b, size["m"], size["k"]), random(*b, size["k"], size["n"])
            out = np.empty((*b, size["m"], size["n"]), dtype=np.float32)
            return lambda: np.matmul(left, right, out=out)
        x = random(size["tokens"], size["width"])
        out = np.empty_like(x)
        if name == "layer norm":
            return lambda: norm(x, out)
        other = random(size["tokens"], size["width"])
        return lambda: np.add(x, other, out=out)

    return Library(f"NumPy {np.__version__}, float32", 4, make)


def _torch(settings: Settings) -> Library:
    """PyTorch, on the accelerator where there is one."""
    from importlib import import_module

    torch: Any = import_module("torch")
    torch.set_num_threads(settings.threads)
    accelerated = bool(torch.cuda.is_available())
    device = "cuda" if accelerated else "cpu"
    kind, word = (torch.bfloat16, 2) if accelerated else (torch.float32, 4)

    def random(*shape: int) -> Any:
        return torch.rand(shape, device=device, dtype=kind)

    def make(name: str, size: Mapping[str, int]) -> Callable[[], Any]:
        if name.endswith("product"):
            b = (size["batch"],) if name.startswith("batched") else ()
            left, right = random(*b, size["m"], size["k"]), random(*b, size["k"], size["n"])
            out = torch.empty((*b, size["m"], size["n"]), device=device, dtype=kind)
            return lambda: torch.matmul(left, right, out=out)
        x = random(size["tokens"], size["width"])
        if name == "layer norm":
            return lambda: torch.nn.functional.layer_norm(x, (size["width"],))
        out, other = torch.empty_like(x), random(size["tokens"], size["width"])
        return lambda: torch.add(x, other, out=out)

    facts: dict[str, Any] = {}
    if accelerated:
        about = torch.cuda.get_device_properties(0)
        facts = {"device": about.name, "memory_bytes": int(about.total_memory),
                 "accelerators": int(torch.cuda.device_count())}
    where = facts.get("device", "CPU")
    return Library(
        f"PyTorch {torch.__version__}, {str(kind)[6:]} on {where}", word, make,
        torch.cuda.synchronize if accelerated else lambda: None, facts,
    )
