"""Measures the operators of the machine at hand, within a budget of time."""

import multiprocessing
import os
import platform
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

from symscale.errors import InputError, NoAnswerError
from symscale.projection.measurement import Measurement
from symscale.projection.operators import complete
from symscale.projection.processes import largest_bytes, take_part
from symscale.projection.workload import Settings, measure_operators

LIBRARIES = ("numpy", "torch")
CLOCKS = ("wall", "cpu")
LEAST_BUDGET_S, MOST_BUDGET_S = 1.0, 3600.0
_COLLECTIVES_SHARE = 0.2
_GRACE_S = 5.0
_PROCESSES = (
    "collectives ran over processes of this machine through shared memory, not over an "
    "accelerator's network; their time is by the wall clock"
)
_MOST_PROCESSES = 4
# What numerical libraries read when they are loaded.
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)


@dataclass
class Profile:
    """What was measured, and on what.

    Attributes:
        machine: What is known of the machine, as the file holds it.
        measurements: The measurements so far.
        interrupted: Whether a user ended it.
    """

    machine: dict[str, Any]
    measurements: list[Measurement] = field(default_factory=list)
    interrupted: bool = False


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def library_of(name: str | None) -> str:
    """The library to measure with: the one named, else PyTorch if it is installed, else NumPy.

    Raises:
        InputError: If it is not installed.

    Example:
        >>> library_of("numpy")
        'numpy'
    """
    if name is None:
        return "torch" if find_spec("torch") else "numpy"
    if find_spec(name) is None:
        raise InputError(f"{name} is not installed; measure with numpy")
    return name


def profile(
    settings: Settings, collectives: bool = True, report: Callable[[str], None] | None = None
) -> Profile:
    """Measure operators and, over processes of this machine, collectives.

    Ctrl-C ends it, and what was measured until then is kept.

    Args:
        settings: How; its budget is that of all.
        collectives: Whether to measure collectives too.
        report: Called with what is measured next.

    Raises:
        InputError: If the settings make no sense.
        NoAnswerError: If a process fails.
    """
    if settings.clock == "cpu" and settings.threads != 1:
        raise InputError("the clock cpu counts one thread's time; give --threads 1")
    if not 1 <= settings.threads <= cores():
        raise InputError(f"--threads {settings.threads}: this machine lends 1 to {cores()} cores")
    found = Profile(_machine(settings))
    share = _COLLECTIVES_SHARE if collectives else 0.0
    alone = Settings(
        settings.library, settings.threads, settings.budget_s * (1 - share), settings.clock,
        settings.dense, settings.shares,
    )
    try:
        with _threads_fixed(settings.threads):
            _collect(found, report, _operators(alone))
        if collectives:
            found.machine["processes"] = True
            found.machine["processes_note"] = _PROCESSES
            with _threads_fixed(1):
                try:
                    _collect(found, report, _collectives(settings.budget_s * share))
                except (NoAnswerError, OSError) as error:  # what else was measured is kept
                    found.machine["processes_note"] += f"; they ended early ({error})"
    except KeyboardInterrupt:
        found.interrupted = True
    return found


@contextmanager
def _threads_fixed(threads: int) -> Iterator[None]:
    """Let processes that start within use so many threads."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _deaf() -> Iterator[None]:
    """Let processes that start within ignore Ctrl-C from their first moment."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _running(processes: list[Any]) -> Iterator[None]:
    """Start processes, and end them whatever happens."""
    try:
        with _deaf():
            for process in processes:
                process.start()
        yield
        for process in processes:
            process.join(_GRACE_S)
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join(_GRACE_S)


@contextmanager
def _operators(settings: Settings) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    with _running([context.Process(target=measure_operators, args=(theirs, settings))]):
        theirs.close()
        yield ours


@contextmanager
def _collectives(budget_s: float) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    count = min(max(cores(), 2), _MOST_PROCESSES)
    memory = SharedMemory(create=True, size=2 * count * largest_bytes())
    try:
        ours, theirs = context.Pipe(duplex=False)
        barrier, control = context.Barrier(count), context.Array("q", 2, lock=False)
        processes = [
            context.Process(
                target=take_part,
                args=(rank, count, memory.name, barrier, control,
                      theirs if rank == 0 else None, budget_s),
            )
            for rank in range(count)
        ]
        with _running(processes):
            theirs.close()
            yield ours
    finally:
        memory.close()
        memory.unlink()


def _collect(found: Profile, report: Callable[[str], None] | None, source: Any) -> None:
    """Take what a process measures until it is done."""
    with source as connection:
        while True:
            try:
                wait([connection])
                message = connection.recv()
            except EOFError:
                raise NoAnswerError(
                    "a process that measured ended early, for want of memory perhaps; "
                    "give a smaller --budget"
                ) from None
            kind, *rest = message
            if kind == "done":
                return
            if kind == "library":
                found.machine["library"] = rest[0]
            elif kind == "next" and report is not None:
                name, sizes = rest
                shown = Measurement(name, complete(name, sizes), 4, 1.0, "")
                report(f"{name} {shown.label}")
            elif kind == "measured":
                name, sizes, word, median, spread, repetitions = rest
                found.measurements.append(
                    Measurement(name, complete(name, sizes), word, median, "this machine",
                                spread=spread, repetitions=repetitions)
                )


def _machine(settings: Settings) -> dict[str, Any]:
    facts: dict[str, Any] = {"device": _device(), "cores": cores(), "threads": settings.threads,
                             "clock": settings.clock}
    try:
        facts["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        facts["load"] = round(os.getloadavg()[0], 1)
    except (AttributeError, ValueError, OSError):  # not every system counts them
        pass
    return facts


def _device() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if match := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
            return match[1].strip()[:100]
    except OSError:
        pass
    return (platform.processor() or platform.machine() or "processor")[:100]
