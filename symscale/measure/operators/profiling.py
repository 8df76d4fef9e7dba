"""Measures the operators of the machine at hand, within a budget of time."""

import multiprocessing
import os
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symscale.answers import Answer
from symscale.errors import InputError, NoAnswerError
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.operators import OPERATORS
from symscale.measure.operators.processes import largest_bytes, take_part
from symscale.measure.operators.torch_processes import take_part as take_torch_part
from symscale.measure.operators.workload import Settings, measure_operators
from symscale.running import running

LIBRARIES = ("numpy", "torch")
CLOCKS = ("wall", "cpu")
_PATIENCE_S = 120.0  # beyond the budget: libraries load, the largest size ends
LEAST_BUDGET_S, MOST_BUDGET_S = 1.0, 3600.0
_COLLECTIVES_SHARE = 0.2
_PROCESSES = (
    "collectives ran over processes of this machine {how}, not over an accelerator's network; "
    "their time is by the wall clock"
)
_ACCELERATORS = (
    "collectives ran over the {count} accelerators of this machine, by PyTorch; their time is "
    "by the wall clock"
)
_MOST_PROCESSES = 4
# What numerical libraries read when they are loaded.
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)
# What glibc's memory reads: it keeps what was freed, as the memory of accelerators does, so
# that no time is spent on pages anew at every call.
_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}


@dataclass(repr=False)
class Profile(Answer):
    """What was measured, and on what.

    Attributes:
        machine: What is known of the machine, as the file holds it.
        measurements: The measurements so far.
        interrupted: Whether a user ended it.
    """

    page = "profile"
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
    alone = replace(settings, budget_s=settings.budget_s * (1 - share))
    try:
        with _threads_fixed(settings.threads):
            _collect(found, report, _operators(alone), settings.budget_s)
        if collectives:
            accelerators = int(found.machine.get("accelerators", 0))
            key, source = _how_collectives(found, settings, accelerators, share)
            with _threads_fixed(1):
                try:
                    _collect(found, report, source, settings.budget_s)
                except (NoAnswerError, OSError) as error:  # what else was measured is kept
                    found.machine[key] += f"; they ended early ({error})"
    except KeyboardInterrupt:
        found.interrupted = True
    return found


def _how_collectives(
    found: Profile, settings: Settings, accelerators: int, share: float
) -> tuple[str, Any]:
    """What measures collectives, and the key of the machine that says so."""
    budget_s = settings.budget_s * share
    if settings.library == "torch" and accelerators > 1:
        found.machine["collectives"] = _ACCELERATORS.format(count=accelerators)
        return "collectives", _torch_collectives(budget_s, accelerators, True)
    found.machine["processes"] = True
    by_torch = settings.library == "torch" and not accelerators
    how = "by PyTorch's gloo" if by_torch else "through shared memory"
    found.machine["processes_note"] = _PROCESSES.format(how=how)
    if by_torch:
        return "processes_note", _torch_collectives(budget_s, _processes(), False)
    return "processes_note", _collectives(budget_s)


def _processes() -> int:
    return min(max(cores(), 2), _MOST_PROCESSES)


@contextmanager
def _threads_fixed(threads: int) -> Iterator[None]:
    """Let processes that start within use so many threads, and keep their memory."""
    wanted = {**dict.fromkeys(_THREADS, str(threads)), **_MEMORY}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _operators(settings: Settings) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    with running([context.Process(target=measure_operators, args=(theirs, settings))]):
        theirs.close()
        yield ours


@contextmanager
def _collectives(budget_s: float) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    count = _processes()
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
        with running(processes):
            theirs.close()
            yield ours
    finally:
        memory.close()
        memory.unlink()


@contextmanager
def _torch_collectives(
    budget_s: float, count: int, accelerated: bool
) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory(prefix="symscale-") as folder:
        ours, theirs = context.Pipe(duplex=False)
        meeting = str(Path(folder) / "meeting")
        processes = [
            context.Process(
                target=take_torch_part,
                args=(rank, count, meeting, accelerated, theirs if rank == 0 else None, budget_s),
            )
            for rank in range(count)
        ]
        with running(processes):
            theirs.close()
            yield ours


def _collect(
    found: Profile, report: Callable[[str], None] | None, source: Any, budget_s: float
) -> None:
    """Take what a process measures until it is done, or until one of its kind fails."""
    with source as connection:
        children = multiprocessing.active_children()
        while True:
            watched = [connection, *(c.sentinel for c in children if c.exitcode != 0)]
            if not wait(watched, budget_s + _PATIENCE_S):
                raise NoAnswerError("a process that measures does not answer; measure again")
            failed = any(c.exitcode for c in children)
            try:
                if failed and not connection.poll():
                    raise EOFError
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
                found.machine.update(rest[1])
                if "accelerators" in rest[1] and found.machine["clock"] == "cpu":
                    raise InputError(
                        "--clock cpu counts a processor's time, not the accelerator's; leave it "
                        "out, or measure the processor with --library numpy"
                    )
            elif kind == "next" and report is not None:
                name, sizes = rest
                report(f"{name} {OPERATORS[name].label(OPERATORS[name].complete(sizes))}")
            elif kind == "measured":
                name, sizes, word, median, spread, repetitions = rest
                operator = OPERATORS[name]
                found.measurements.append(
                    Measurement(operator, operator.complete(sizes), word, median, "this machine",
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
