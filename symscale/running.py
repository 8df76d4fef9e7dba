"""Processes that work for this one: they hear no Ctrl-C, and do not outlive it."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

_GRACE_S = 5.0


@contextmanager
def deaf() -> Iterator[None]:
    """Let processes that start within hear no Ctrl-C from their first moment.

    They inherit that it is blocked. Here it is only put off until the end of this.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not every system has it
        yield
        return
    resource_tracker.ensure_running()  # else it starts within, and ends the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def running(processes: Sequence[BaseProcess]) -> Iterator[None]:
    """Start processes, and end them whatever happens, those that were stopped too."""
    try:
        with deaf():
            for process in processes:
                process.start()
        yield
        for process in processes:
            process.join(_GRACE_S)
    finally:
        for process in processes:
            end(process)


def end(process: BaseProcess) -> None:
    """End a process that still runs, kindly and then not."""
    for how in (process.terminate, process.kill):
        if process.is_alive():
            how()
            process.join(_GRACE_S)
