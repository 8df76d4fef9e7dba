"""The command line; the only place that knows Typer."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the `symscale` command."""
    try:
        with _ended_as_by_hand():
            from symscale.cli.app import app

            app()
    except KeyboardInterrupt:  # before there was an application to hear it, or after
        sys.stderr.write("symscale: interrupted\n")
        sys.exit(130)


@contextmanager
def _ended_as_by_hand() -> Iterator[None]:
    """Let who asks the program to end (SIGTERM) leave nothing half-written behind."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    ):
        yield
        return

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
