"""Curves in chunks on other processes or machines, by Dask where it is installed.

The rows are those of one process: chunks of models are independent, and are put
together in order. A chunk whose worker dies is done again by another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeAlias

from symscale.errors import InputError, NoAnswerError
from symscale.facts.machines.lumped import Machine
from symscale.simulator.sparse_mlp.curve import QUARTER_S, Point, curve
from symscale.simulator.sparse_mlp.shapes import Shape
from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, Space
from symscale.simulator.sparse_mlp.step import OVERLAPPED, Schedule

CHUNK = 8  # models
RETRIES = 3  # of a chunk whose worker died
LOCAL = "local"

Task: TypeAlias = tuple[Mapping[str, Any], tuple[Shape, ...], float, Schedule, Space]
Runner: TypeAlias = Callable[[Sequence[Task]], Iterator[list[Point]]]


def run_task(task: Task) -> list[Point]:
    """Simulate one chunk; what a worker does."""
    machine, shapes, duration_s, schedule, space = task
    thawed = _thaw(machine)
    return list(curve(thawed, shapes, duration_s=duration_s, schedule=schedule, space=space))


def run_here(tasks: Sequence[Task]) -> Iterator[list[Point]]:
    """Simulate chunks one after the other in this process."""
    return map(run_task, tasks)


def curve_in_chunks(
    machine: Machine,
    shapes: Sequence[Shape],
    run: Runner = run_here,
    *,
    duration_s: float = QUARTER_S,
    schedule: Schedule = OVERLAPPED,
    space: Space = PUBLISHED_SPACE,
    progress: Callable[[int], None] | None = None,
    chunk: int = CHUNK,
) -> Iterator[Point]:
    """Return the points of `symscale.simulator.sparse_mlp.curve.curve`, computed chunk by chunk.

    Args:
        machine: The machine.
        shapes: The models.
        run: Gives the points of each chunk, in order.
        duration_s: Seconds that a run may take.
        schedule: What overlaps.
        space: The plans to look at.
        progress: Is told how many models are done.
        chunk: Models of a chunk.

    Yields:
        The points, in the order of the models.

    Example:
        >>> from symscale.facts.machines.lumped import load_machine
        >>> from symscale.simulator.sparse_mlp.shapes import make_shape
        >>> h100, shapes = load_machine("h100-sxm"), [make_shape(d) for d in (12288, 24576)]
        >>> apart = list(curve_in_chunks(h100, shapes, chunk=1))
        >>> apart == list(curve(h100, shapes))
        True
    """
    frozen = _freeze(machine)
    parts = [tuple(shapes[i : i + chunk]) for i in range(0, len(shapes), chunk)]
    tasks = [(frozen, part, duration_s, schedule, space) for part in parts]
    done = 0
    for part, points in zip(parts, run(tasks), strict=True):
        yield from points
        done += len(points)
        if progress is not None:
            progress(done)
        if len(points) < len(part):
            return  # the curve has ended


@contextmanager
def dask_runner(scheduler: str) -> Iterator[Runner]:
    """Give what runs chunks on a Dask cluster.

    Args:
        scheduler: The address of a scheduler, such as tcp://host:8786, or "local" for
            two workers that are started here and stopped at the end.

    Raises:
        InputError: If Dask is not installed, or no scheduler answers.
        NoAnswerError: If a chunk's workers die again and again.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(
            "--scheduler needs Dask, which is not installed; pip install 'symscale[dask]'"
        ) from None
    cluster: AbstractContextManager[Any] = nullcontext(scheduler)
    if scheduler == LOCAL:
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        )
    with cluster as place:
        try:
            client = Client(place, timeout="10s")
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"--scheduler {scheduler}: no Dask scheduler answers there ({error})"
            ) from None
        with client:
            yield lambda tasks: _on(client, tasks)


def _on(client: Any, tasks: Sequence[Task]) -> Iterator[list[Point]]:
    from distributed import KilledWorker

    futures = client.map(run_task, tasks, retries=RETRIES, pure=False)
    try:
        for future in futures:
            try:
                yield future.result()
            except KilledWorker as error:
                raise NoAnswerError(f"workers died again and again: {error}") from None
    finally:
        client.cancel(futures)


def _freeze(machine: Machine) -> Mapping[str, Any]:
    """A machine as a table that can be sent to another process."""
    table = {f.name: getattr(machine, f.name) for f in fields(machine)}
    return {k: dict(v) if isinstance(v, Mapping) else v for k, v in table.items()}


def _thaw(table: Mapping[str, Any]) -> Machine:
    fields_of: dict[str, Any] = {
        k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in table.items()
    }
    return Machine(**fields_of)
