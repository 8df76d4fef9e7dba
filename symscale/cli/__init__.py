"""The command line; the only place that knows Typer."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_AGAIN_S = 0.05


def main() -> None:
    """Run the `symscale` command."""
    try:
        with _ended_as_by_hand():
            from symscale.cli.app import program

            program()
    except KeyboardInterrupt:  # before there was an application to hear it, or after
        sys.stderr.write("symscale: interrupted\n")
        sys.exit(130)


@contextmanager
def _ended_as_by_hand() -> Iterator[None]:
    """Let who asks the program to end leave nothing half-written behind.

    SIGTERM raises as Ctrl-C does, and both wait while a module loads: there are libraries
    that drop whatever is raised then. Who started the program may have it ignore either.
    """
    handlers: dict[signal.Signals, Any] = {
        signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler
    }
    heard = [number for number, usual in handlers.items() if signal.getsignal(number) == usual]
    if threading.current_thread() is not threading.main_thread():
        heard = []

    def leave(number: int, frame: FrameType | None) -> None:
        if _loading(frame):
            signal.signal(signal.SIGALRM, lambda _, frame: leave(number, frame))
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    for number in heard:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, handlers[number])


def _loading(frame: FrameType | None) -> bool:
    """Whether what runs is part of an import, where its end can be waited for."""
    while frame and hasattr(signal, "setitimer"):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
