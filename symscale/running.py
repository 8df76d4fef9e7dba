"""Processes that work for this one: they hear no Ctrl-C, and do not outlive it."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess

_GRACE_S = 5.0


@contextmanager
def deaf() -> Iterator[None]:
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
