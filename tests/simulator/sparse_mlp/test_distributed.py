"""Curves on Dask workers: the same rows, also when a worker is killed."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from commands import answer, refusal
from symscale.errors import InputError
from symscale.facts.machines.lumped import load_machine
from symscale.simulator.sparse_mlp.curve import curve
from symscale.simulator.sparse_mlp.distributed import curve_in_chunks, dask_runner, run_task
from symscale.simulator.sparse_mlp.shapes import make_shape

H100 = load_machine("h100-sxm")
SHAPES = [make_shape(12288 * k) for k in (1, 2, 3, 4, 6, 8)]


@pytest.fixture
def distributed() -> object:
    if os.environ.get("CI"):
        import distributed
    else:
        distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    return distributed


def test_chunks_are_the_curve() -> None:
    expected = list(curve(H100, SHAPES))
    for chunk in (1, 2, 5, 100):
        assert list(curve_in_chunks(H100, SHAPES, chunk=chunk)) == expected


def test_a_curve_that_ends_within_a_chunk_ends() -> None:
    day = 86400.0
    shapes = [make_shape(12288 * k) for k in (1, 4, 16, 32, 64, 128)]
    expected = list(curve(H100, shapes, duration_s=day))
    assert 0 < len(expected) < len(shapes)
    assert list(curve_in_chunks(H100, shapes, duration_s=day, chunk=2)) == expected


def test_two_workers_give_the_same_rows_though_one_is_killed(distributed: object) -> None:
    expected = list(curve(H100, SHAPES))
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2

        def kill() -> None:
            time.sleep(0.5)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with dask_runner(cluster.scheduler_address) as run:
            found = list(curve_in_chunks(H100, SHAPES, run, chunk=1))
        killer.join()
    assert found == expected


def test_the_command_writes_the_same_table(distributed: object, tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    common = ("simulate", "--hardware", "h100-sxm", "--widths", "12288,24576,49152")
    here = answer(*common, "--csv", str(one))
    there = answer(*common, "--csv", str(other), "--scheduler", "local")
    assert one.read_bytes() == other.read_bytes()
    assert here == there


def test_where_there_is_no_scheduler() -> None:
    said = refusal("simulate", "--hardware", "h100-sxm", "--scheduler", "there")
    assert "tcp://host:8786" in said


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def missing(name: str, *rest: object, **more: object) -> object:
        if name == "distributed":
            raise ImportError(name)
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"symscale\[dask\]"), dask_runner("local"):
        pass


def test_a_task_is_what_a_worker_gets() -> None:
    import pickle

    sent: list[bytes] = []

    def run(tasks):  # type: ignore[no-untyped-def]
        for task in tasks:
            sent.append(pickle.dumps(task))
            yield run_task(pickle.loads(sent[-1]))  # noqa: S301  # our own bytes

    assert list(curve_in_chunks(H100, SHAPES[:2], run)) == list(curve(H100, SHAPES[:2]))
    assert len(sent) == 1
