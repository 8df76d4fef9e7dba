"""What a terminal shows while a long command works: a line on stderr, wiped at the end."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE_S = 2.0


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far the exact solver is; see `progress_text`."""
    with progress_text(what) as show:
        yield lambda done, held: show(f"{done} rows done, {held} rays held")


@contextmanager
def progress_text(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr how far a long computation is; nothing elsewhere.

    The line appears after two seconds, and is wiped at the end.
    """
    start = time.monotonic()
    shown = False

    def report(how_far: str) -> None:
        nonlocal shown
        if _on_terminal() and time.monotonic() - start > _PATIENCE_S:
            shown = True
            sys.stderr.write(f"\r{what}: {how_far} ")
            sys.stderr.flush()

    try:
        yield report
    finally:
        if shown:
            _wipe()


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr what a long command is at; nothing elsewhere.

    The line appears after two seconds, and is wiped at the end.
    """
    start = time.monotonic()
    longest = 0

    def say(text: str) -> None:
        nonlocal longest
        elapsed = time.monotonic() - start
        if _on_terminal() and elapsed > _PATIENCE_S:
            line = f"{elapsed:.0f} s: {text}"[:78]
            longest = max(longest, len(line))
            sys.stderr.write(f"\r{line:<{longest}}")
            sys.stderr.flush()

    try:
        yield say
    finally:
        if longest:
            sys.stderr.write("\r" + " " * longest + "\r")
            sys.stderr.flush()


@contextmanager
def waiting_line(what: str) -> Iterator[None]:
    """Say on a terminal's stderr what a long computation is; nothing elsewhere.

    For computations that cannot tell how far they are. The line appears after two
    seconds, and is wiped at the end.
    """
    shown = threading.Event()

    def show() -> None:
        shown.set()
        sys.stderr.write(f"\r{what} ... ")
        sys.stderr.flush()

    timer = threading.Timer(_PATIENCE_S, show)
    timer.daemon = True
    if _on_terminal():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()
        if shown.is_set():
            _wipe()


def _on_terminal() -> bool:
    """Whether somebody watches stderr, which may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def _wipe() -> None:
    """Clear the line on the terminal's stderr."""
    sys.stderr.write("\r" + " " * 60 + "\r")
    sys.stderr.flush()
