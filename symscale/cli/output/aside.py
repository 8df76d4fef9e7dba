"""Work that a second process does while the first goes on."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection

from symscale.errors import NoAnswerError
from symscale.running import end, running


@contextmanager
def aside(work: Callable[..., None], *given: object) -> Iterator[Callable[[], None]]:
    """Let a process of its own do some work.

    Args:
        work: A function of a module, which the process imports.
        given: What it is called with.

    Yields:
        A function that waits for the end of the work, and raises what it raised. Work that
        nobody waited for is ended.

    Raises:
        NoAnswerError: If the process ends without an answer.
    """
    context = get_context("spawn")  # a copy of this one could inherit locks that nobody opens
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, work, given))

    def wait() -> None:
        try:
            error = ours.recv()
        except EOFError:
            raise NoAnswerError(
                "a process that helps ended early, for want of memory perhaps"
            ) from None
        if error is not None:
            raise error

    try:
        with running([process]):
            theirs.close()
            try:
                yield wait
            finally:
                end(process)
    finally:
        ours.close()


def _work(connection: Connection, work: Callable[..., None], given: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this decides
    found: Exception | None = None
    try:
        work(*given)
    except Exception as error:
        found = error
    with suppress(OSError):  # nobody may be there to hear it
        connection.send(found)
