"""`symscale profile`: operators do what they say, budgets and Ctrl-C are kept to.

No time is asserted; that operators are measured well is shown in `benchmarks/`.
"""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np
import pytest

from commands import run
from symscale.errors import InputError
from symscale.measure.operators import profiling
from symscale.measure.operators.collectives import COLLECTIVES, Collective
from symscale.measure.operators.memory_bound import LAYER_NORM
from symscale.measure.operators.operator import DeviceOperator
from symscale.measure.operators.operators import DEVICE_OPERATORS, OPERATORS
from symscale.measure.operators.processes import (
    SIZES,
    Participant,
    SharedParticipant,
    largest_bytes,
    take_part,
)
from symscale.measure.operators.products import MATRIX_PRODUCT, product_sizes
from symscale.measure.operators.workload import (
    Settings,
    _numpy,
    measure_operators,
    median_and_spread,
    timed,
)
from symscale.measure.readers.files import read_measurements


def test_products_cover_the_range_evenly() -> None:
    for dense in (1, 3):
        flop = [2 * s["m"] * s["n"] * s["k"] for s in product_sizes(dense)]
        assert min(flop) <= 70e6
        assert max(flop) >= 60e9
        assert all(0.5 < a / b < 3 for a, b in zip(flop[dense:], flop, strict=False))
        assert len({tuple(s.values()) for s in product_sizes(dense)}) == len(flop)


def test_operators_are_those_of_the_documentation() -> None:
    assert list(OPERATORS) == [
        "matrix product", "batched product", "layer norm", "elementwise", "all-reduce",
        "all-gather", "reduce-scatter", "all-to-all", "point-to-point",
    ]
    assert sum(operator.share for operator in DEVICE_OPERATORS) == pytest.approx(1)
    for operator in DEVICE_OPERATORS:
        assert not operator.stand_in or operator.stand_in in OPERATORS


@pytest.mark.parametrize("operator", DEVICE_OPERATORS, ids=str)
def test_ladders_grow(operator: DeviceOperator) -> None:
    def cost(size: dict[str, int]) -> float:
        full = operator.complete(size)
        return operator.flop(full) or full["tokens"] * full["width"]

    costs = [cost(size) for size in operator.ladder(1)]
    assert costs == sorted(costs)
    assert len(costs) >= 4


def test_the_norm_normalises() -> None:
    """What is timed is a layer norm: by its definition, on the arrays that the call uses."""
    for tokens, width in ((3, 64), (100, 1024), (5, 40_000)):
        call = _numpy().prepare(LAYER_NORM, {"tokens": tokens, "width": width})
        call()
        cells = dict(zip(call.__code__.co_freevars, call.__closure__ or (), strict=True))
        x, out = cells["x"].cell_contents, cells["out"].cell_contents
        centred = x - x.mean(axis=1, keepdims=True)
        expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        assert out == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("processes", [2, 3, 4])
@pytest.mark.parametrize("collective", COLLECTIVES, ids=str)
def test_collectives_over_processes_are_collectives(
    collective: Collective, processes: int
) -> None:
    """Against their definitions, with the phases of all processes done one after the other."""
    words = 12
    memory = SharedMemory(create=True, size=2 * processes * largest_bytes())
    try:
        buffers = SharedParticipant(memory, 0, processes, None, None)
        rng = np.random.default_rng(processes)
        held = rng.integers(0, 100, (processes, words)).astype(np.float32)
        buffers.source[:, :words] = held
        name, shares = collective.name, buffers.shares(4 * words)
        for phase in collective.phases:
            for rank in range(processes):
                phase(buffers.source, buffers.target, rank, shares)
        found = buffers.target[:, :words].copy()
        own = [slice(words // processes * i, words // processes * (i + 1))
               for i in range(processes)]
        for rank in range(processes):
            for other in range(processes):
                part = found[rank, own[other]]
                total = held.sum(axis=0)
                if name == "all-reduce":
                    assert (part == total[own[other]]).all()
                elif name == "reduce-scatter" and other == rank:
                    assert (part == total[own[rank]]).all()
                elif name == "all-gather" and other != rank:
                    assert (part == held[other, own[other]]).all()
                elif name == "all-to-all" and other != rank:
                    assert (part == held[other, own[rank]]).all()
                elif name == "point-to-point":
                    assert (part == held[rank - 1, own[other]]).all()
        del buffers
    finally:
        memory.close()
        memory.unlink()


def test_processes_follow_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol between processes, with threads in their place."""
    # Only the main thread may touch signals.
    monkeypatch.setattr("symscale.measure.operators.processes.signal.signal", lambda *_: None)
    count = 3
    memory = SharedMemory(create=True, size=2 * count * largest_bytes())
    ours, theirs = multiprocessing.Pipe(duplex=False)
    barrier, control = threading.Barrier(count), [0, 0]
    received = []

    def drain() -> None:
        while True:
            received.append(ours.recv())
            if received[-1] == ("done",):
                return

    threads = [threading.Thread(target=drain)] + [
        threading.Thread(
            target=take_part,
            args=(rank, count, memory.name, barrier, control, theirs if rank == 0 else None, 0.2),
        )
        for rank in range(count)
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        memory.unlink()
        memory.close()
    measured = [message for message in received if message[0] == "measured"]
    for collective in COLLECTIVES:
        sizes = [m[2]["size_bytes"] for m in measured if m[1] == collective.name]
        assert sizes == [size - size % 12 for size in SIZES[: len(sizes)]]
        assert len(sizes) >= 3


class Alone(Participant):
    """Takes a millisecond a byte."""

    processes, ladder = 1, (4, 8, 16, 32)

    def tell(self, index: int, size_bytes: int, inner: int) -> None:
        """Nobody hears it."""

    def heard(self) -> tuple[int, int, int]:
        raise AssertionError

    def run(self, index: int, size_bytes: int, inner: int) -> float:
        return 1e-3 * size_bytes


def test_three_sizes_are_measured_whatever_the_budget() -> None:
    sent = list(Alone().paced(0.0))
    assert [len(sent), sent[0], sent[1][4]] == [
        30, ("next", "all-reduce", {"size_bytes": 4, "devices": 1}), 0.004
    ]


def test_timing_warms_up_repeats_and_stops() -> None:
    calls: list[float] = []

    def call() -> None:
        time.sleep(0.003)
        calls.append(0.0)

    times = timed(call, 0.05)
    assert 3 <= len(times) <= 50
    assert len(calls) == len(times) + 2  # warm-up, and how long one takes
    assert len(timed(lambda: time.sleep(0.003), 0.0)) == 3
    assert len(timed(lambda: time.sleep(0.002), 10.0)) == 50
    median, spread = median_and_spread([4.0, 1.0, 2.0, 3.0, 100.0])
    assert (median, spread) == (3.0, 2 / 3)


class Pipe:
    """Keeps what is sent into it."""

    def __init__(self) -> None:
        self.sent: list[tuple[object, ...]] = []

    def send(self, message: tuple[object, ...]) -> None:
        self.sent.append(message)


def test_sizes_fit_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the budget measures no fewer sizes; what cannot fit is not begun."""
    monkeypatch.setattr("symscale.measure.operators.workload._pin", lambda threads: None)
    monkeypatch.setattr("symscale.measure.operators.workload.signal.signal", lambda *_: None)
    pipe = Pipe()
    measure_operators(pipe, Settings(budget_s=0.5))  # type: ignore[arg-type]
    kinds = [message[0] for message in pipe.sent]
    assert (kinds[0], kinds[-1]) == ("library", "done")
    names = {message[1] for message in pipe.sent if message[0] == "measured"}
    assert names == {operator.name for operator in DEVICE_OPERATORS}
    largest = max(
        MATRIX_PRODUCT.flop(message[2])  # type: ignore[arg-type]
        for message in pipe.sent if message[:2] == ("measured", "matrix product")
    )
    assert largest < 64e9


def test_threads_are_fixed_for_processes_only() -> None:
    before = dict(os.environ)
    with profiling._threads_fixed(3):
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["OMP_NUM_THREADS"] == "3"
    assert dict(os.environ) == before


def test_a_profile_is_written_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "cpu.json"
    done = run("profile", "--budget", "1s", "--threads", "1", "--library", "numpy", "-o", str(file))
    assert (done.code, done.err) == (0, ""), done.err
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["machine"]["threads"] == 1
    assert "shared memory" in data["machine"]["processes_note"]
    assert "shared memory" in done.out
    reading = read_measurements(str(file))
    assert reading.facts.processes
    assert reading.facts.memory_bytes > 0
    assert {"matrix product", "layer norm", "all-reduce"} <= {
        one.operator.name for one in reading.measurements
    }
    assert all(one.repetitions >= 3 and one.spread is not None for one in reading.measurements)
    assert "exists" in run("profile", "-o", str(file)).err
    assert not multiprocessing.active_children()


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = profiling._collect

    def collect(
        found: profiling.Profile, report: object, source: object, budget_s: float
    ) -> None:
        def stop_after_two(text: str) -> None:
            if len(found.measurements) == 2:
                raise KeyboardInterrupt

        original(found, stop_after_two, source, budget_s)

    monkeypatch.setattr(profiling, "_collect", collect)
    file = tmp_path / "cpu.json"
    done = run("profile", "--budget", "1s", "--threads", "1", "--library", "numpy", "-o", str(file))
    assert done.code == 130
    assert done.err == "symscale: interrupted; 2 measurements are kept\n"
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (data["interrupted"], len(data["measurements"])) == (True, 2)
    assert len(read_measurements(str(file)).measurements) == 2
    assert not multiprocessing.active_children()


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(profiling, "_collect", nothing)
    for options in (("--budget", "60"), ("--budget", "0.1s"), ("--budget", "5h"),
                    ("--budget", "5GB"), ("--threads", "0"), ("--threads", "999"),
                    ("--library", "jax"), ("--clock", "sun"), ("-o", "a.csv"),
                    ("--clock", "cpu", "--threads", "2")):
        done = run("profile", *options)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), options


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "find_spec", lambda name: None)
    assert profiling.library_of(None) == "numpy"
    with pytest.raises(InputError, match="torch is not installed"):
        profiling.library_of("torch")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_fails_or_stops_ends_it(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed: at once. Stopped: when its time is over. What else was measured is kept."""
    monkeypatch.setattr(profiling, "_PATIENCE_S", 2.0)
    original = profiling._collectives

    @contextmanager
    def one_of_them(budget_s: float) -> Iterator[Connection]:
        with original(budget_s) as connection:
            children = multiprocessing.active_children()
            assert children[-1].pid is not None
            os.kill(children[-1].pid, number)
            yield connection

    monkeypatch.setattr(profiling, "_collectives", one_of_them)
    found = profiling.profile(Settings("numpy", 1, budget_s=1.0))
    assert "they ended early" in found.machine["processes_note"]
    assert "matrix product" in {one.operator.name for one in found.measurements}
    assert not multiprocessing.active_children()
