"""`symscale profile` with PyTorch: its operators and collectives, on the processor.

The paths of accelerators are the same code with other devices; what differs is tried with a
stand-in. No time is asserted.
"""

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from commands import run
from programs import need_module
from symscale.errors import InputError
from symscale.measure.operators import profiling, torch_processes, workload
from symscale.measure.operators.collectives import COLLECTIVES
from symscale.measure.operators.memory_bound import ELEMENTWISE, LAYER_NORM
from symscale.measure.operators.operators import OPERATORS
from symscale.measure.operators.products import BATCHED_PRODUCT, MATRIX_PRODUCT
from symscale.measure.operators.workload import Settings
from symscale.measure.readers.files import read_measurements

WORDS = 12
# Each process writes what it received, in a group of two and then, the third as well, of three.
SCRIPT = """
import os
import sys
from pathlib import Path
import torch
import torch.distributed as dist
import warnings
from symscale.measure.operators.torch_processes import TorchParticipant
from symscale.measure.operators.collectives import COLLECTIVES

warnings.simplefilter("ignore")
folder = sys.argv[1]
rank = next((rank for rank in (1, 2) if os.fork() == 0), 0)  # PyTorch loads once, and slowly
for count in range(max(rank + 1, 2), 4):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting-{count}", rank=rank,
                            world_size=count)
    buffers = TorchParticipant(torch, dist, torch.device("cpu"), count)
    for index, collective in enumerate(COLLECTIVES):
        name = collective.name
        held = torch.arange(12.0) * (rank + 1) + 100 * rank
        buffers.source[:12] = held
        buffers.target[:12] = held if name == "all-reduce" else -1
        assert buffers.run(index, 48, 1) > 0
        Path(f"{folder}/{name}-{rank}-of-{count}").write_text(repr(buffers.target[:12].tolist()))
    dist.destroy_process_group()
if rank == 0:
    assert [os.wait()[1] for _ in range(2)] == [0, 0]
"""


@pytest.fixture(scope="module")
def exchanged_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what processes received."""
    need_module("torch")
    folder = tmp_path_factory.mktemp("collectives")
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], check=False, timeout=120)
    assert done.returncode == 0
    return folder


@pytest.mark.parametrize("count", [2, 3])
def test_collectives_are_collectives(count: int, exchanged_in: Path) -> None:
    """Against their definitions, on real processes."""
    held = np.array([np.arange(12.0) * (r + 1) + 100 * r for r in range(count)])
    each = WORDS // count
    own = [slice(each * r, each * (r + 1)) for r in range(count)]

    def received(name: str, rank: int) -> np.ndarray:
        text = (exchanged_in / f"{name}-{rank}-of-{count}").read_text(encoding="utf-8")
        return np.array(json.loads(text))

    for r in range(count):
        assert (received("all-reduce", r) == held.sum(axis=0)).all()
        scattered = received("reduce-scatter", r)
        assert (scattered[own[r]] == held.sum(axis=0)[own[r]]).all()
        assert (np.delete(scattered, np.r_[own[r]]) == -1).all()
        gathered = np.concatenate([held[o, own[o]] for o in range(count)])
        assert (received("all-gather", r) == gathered).all()
        exchanged = np.concatenate([held[o, own[r]] for o in range(count)])
        assert (received("all-to-all", r) == exchanged).all()
        assert (received("point-to-point", r) == held[r - 1]).all()
    assert len(COLLECTIVES) == 5


def test_operators_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call computes what its name says, on the arrays that it holds."""
    need_module("torch")
    torch: Any = import_module("torch")
    threads = torch.get_num_threads()
    try:
        library = workload._torch(Settings("torch", 1))
    finally:
        torch.set_num_threads(threads)
    assert (library.word_bytes, dict(library.facts)) == (4, {})
    assert library.title.endswith("float32 on CPU")

    def cells(call: object) -> dict[str, object]:
        names = call.__code__.co_freevars  # type: ignore[attr-defined]
        return dict(zip(names, (c.cell_contents for c in call.__closure__), strict=True))  # type: ignore[attr-defined]

    for operator, sizes in (
        (MATRIX_PRODUCT, {"m": 3, "n": 5, "k": 7}),
        (BATCHED_PRODUCT, {"batch": 2, "m": 3, "n": 5, "k": 7}),
        (ELEMENTWISE, {"tokens": 4, "width": 6, "inputs": 2}),
    ):
        call = library.prepare(operator, operator.complete(sizes))
        call()
        held = {key: np.asarray(x) for key, x in cells(call).items() if key != "library"}
        expected = held["x"] + held["other"] if operator is ELEMENTWISE else (
            held["left"] @ held["right"])
        assert held["out"] == pytest.approx(expected, rel=1e-5)
    norm = library.prepare(LAYER_NORM, {"tokens": 9, "width": 64})
    x = np.asarray(cells(norm)["x"], dtype=np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    wanted = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    assert np.asarray(norm()) == pytest.approx(wanted, abs=2e-5)


def test_a_profile_with_pytorch(tmp_path: Path) -> None:
    need_module("torch")
    file = tmp_path / "cpu.json"
    done = run("profile", "--budget", "1s", "--threads", "1", "--library", "torch", "-o", str(file))
    assert (done.code, done.err) == (0, ""), done.err
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["machine"]["library"].startswith("PyTorch ")
    assert "gloo" in data["machine"]["processes_note"]
    assert "ended early" not in data["machine"]["processes_note"]
    assert "gloo" in done.out
    operators = {one.operator for one in read_measurements(str(file)).measurements}
    assert operators == set(OPERATORS.values())
    assert not multiprocessing.active_children()


class Machine:
    """Stands in for what measures on a machine with accelerators."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, accelerators: int) -> None:
        facts = {"device": "NVIDIA H100 80GB HBM3", "memory_bytes": 80 * 10**9,
                 "accelerators": accelerators}
        self.asked: list[tuple[object, ...]] = []
        operators = [
            ("library", "PyTorch 2, bfloat16 on NVIDIA H100 80GB HBM3", facts),
            ("measured", "elementwise", {"tokens": 4096, "width": 1024, "inputs": 2}, 2, 1e-5,
             0.01, 9),
            ("done",),
        ]
        collectives = [
            ("measured", "all-reduce", {"size_bytes": 2**20, "devices": max(accelerators, 2)}, 0,
             1e-4, 0.01, 9),
            ("done",),
        ]

        def stand_in(name: str, sent: Sequence[tuple[object, ...]]) -> None:
            def begin(*given: object) -> object:
                self.asked.append((name, *given))
                return nullcontext(SimpleNamespace(recv=partial(next, iter(sent))))

            monkeypatch.setattr(profiling, name, begin)

        monkeypatch.setattr(profiling, "wait", lambda *_: True)
        stand_in("_operators", operators)
        stand_in("_torch_collectives", collectives)
        stand_in("_collectives", collectives)


def test_accelerators_are_named_and_their_links_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine = Machine(monkeypatch, 8)
    monkeypatch.setattr(profiling, "find_spec", lambda name: True)
    file = tmp_path / "h100.json"
    done = run("profile", "--library", "torch", "--threads", "1", "-o", str(file))
    assert (done.code, done.err) == (0, "")
    assert ("_torch_collectives", 12.0, 8, True) in machine.asked
    assert "over the 8 accelerators" in " ".join(done.out.split())
    facts = read_measurements(str(file)).facts
    assert (facts.device, facts.memory_bytes, facts.processes) == (
        "NVIDIA H100 80GB HBM3", 80 * 10**9, False
    )
    assert facts.hosts == 1  # so that a fit takes the links for those within a node


def test_one_accelerator_has_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, 1)
    found = profiling.profile(Settings("torch", 1))
    assert [asked[0] for asked in machine.asked] == ["_operators", "_collectives"]
    assert "not over an accelerator's network" in found.machine["processes_note"]


def test_the_processor_s_clock_times_no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, 8)
    with pytest.raises(InputError, match="--clock cpu counts a processor's time"):
        profiling.profile(Settings("torch", 1, clock="cpu"))


def test_short_calls_are_waited_for_once_a_round() -> None:
    begun: list[int] = []
    waited: list[int] = []
    times = workload.timed(
        lambda: begun.append(1), 0.0, finish=lambda: waited.append(len(begun))
    )
    assert len(times) == 3
    assert len(waited) == 5  # warm-up, how long one takes, three rounds
    assert waited[-1] == len(begun) > 100


def test_messages_on_accelerators_are_repeated() -> None:
    """The first process measures one run, and then as many as last long enough."""
    asked: list[tuple[int, int, int]] = []
    torch = SimpleNamespace(
        bfloat16=1, float32=2, int64=3, ones=lambda *_, **__: None, zeros=lambda *_, **__: None
    )
    buffers = torch_processes.TorchParticipant(torch, None, SimpleNamespace(type="cuda"), 4)
    buffers.tell = lambda *given: asked.append(given)  # type: ignore[method-assign]
    buffers.run = lambda *_: 1e-4  # type: ignore[method-assign]
    buffers.ladder = [2**16, 2**18, 2**20]
    list(buffers.paced(0.0))
    assert [inner for index, size, inner in asked if (index, size) == (0, 2**16)] == [1, 20, 20, 20]
    assert buffers.word_bytes == 2
