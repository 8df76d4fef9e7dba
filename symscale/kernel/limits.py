"""What the kernel refuses, and how much work it does before it refuses.

Work is counted in units of about the same cost, never timed: a file is refused or
accepted alike on every machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WORK = 250_000
"""Units a file may cost, about two seconds; what this project writes costs under a tenth."""

_left: ContextVar[int] = ContextVar("_left", default=MOST_WORK)


class Refused(Exception):  # noqa: N818  # it is a verdict, not a fault
    """What a file says was not shown; the text says why, in one line."""


@contextmanager
def budget(units: int = MOST_WORK) -> Iterator[None]:
    """Allow so many units of work within the block."""
    token = _left.set(units)
    try:
        yield
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Count work.

    Raises:
        Refused: If the budget is used up.
    """
    left = _left.get() - units
    _left.set(left)
    if left < 0:
        raise Refused("it takes more work than a certificate may")


def spent(units: int = MOST_WORK) -> int:
    """How much of a budget of so many units was used."""
    return units - _left.get()


def shown(data: object) -> str:
    """What a file holds, quoted for a message, in printable characters and short."""
    if not isinstance(data, str):
        return f"a {type(data).__name__}" if data is not None else "null"
    return ascii(data) if len(data) <= 60 else ascii(data[:56]) + "..."
