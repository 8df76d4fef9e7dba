"""Collectives of PyTorch: over the accelerators of one machine, or its processes.

With two accelerators or more each process drives one, and the collectives are those of its
library (NCCL, RCCL): the links that join the devices of a node. Without, gloo's over
processes of one machine.
"""

import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from symscale.measure.operators.processes import COLLECTIVES, SIZES, STOP, TIMEOUT_S, paced

ACCELERATED_SIZES = tuple(2**p for p in range(16, 31, 2))
_SHORTEST_S = 2e-3  # what is timed at once, so that the clock and the start do not matter
_MOST_INNER = 1000


def take_part(
    rank: int, processes: int, meeting: str, accelerated: bool, connection: Connection | None,
    budget_s: float,
) -> None:
    """Be one of the processes; the first decides what is done, times it and reports.

    Args:
        rank: Which one; on accelerators also which of them it drives.
        processes: How many there are.
        meeting: A file, not there yet, by which they find each other.
        accelerated: Whether each drives an accelerator.
        connection: Of the first, where it reports; None of the others.
        budget_s: Seconds for all collectives.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this decides
    warnings.simplefilter("ignore")  # old names of collectives, kept for old versions
    if not accelerated and sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # host names need not resolve
    torch: Any = import_module("torch")
    dist: Any = import_module("torch.distributed")
    place = torch.device("cuda", rank) if accelerated else torch.device("cpu")
    if accelerated:
        torch.cuda.set_device(place)
    dist.init_process_group(
        "nccl" if accelerated else "gloo", init_method=f"file://{meeting}", rank=rank,
        world_size=processes, timeout=timedelta(seconds=TIMEOUT_S),
    )
    try:
        buffers = TorchBuffers(torch, dist, place, rank, processes)
        if connection is None:
            while buffers.follow():
                pass
        else:
            ladder = ACCELERATED_SIZES if accelerated else SIZES
            words = buffers.word_bytes
            for message in paced(buffers.lead, ladder, words, processes, budget_s):
                connection.send(message)
            buffers.tell(STOP, 0, 0)
            connection.send(("done",))
    finally:
        dist.destroy_process_group()


class TorchBuffers:
    """What a process sends and receives, and how it runs each collective."""

    def __init__(self, torch: Any, dist: Any, place: Any, rank: int, processes: int) -> None:
        """Reserve memory for the largest message."""
        self.torch, self.dist, self.place = torch, dist, place
        self.rank, self.processes = rank, processes
        self.accelerated = place.type == "cuda"
        kind, self.word_bytes = (torch.bfloat16, 2) if self.accelerated else (torch.float32, 4)
        most = (ACCELERATED_SIZES if self.accelerated else SIZES)[-1] // self.word_bytes
        self.source = torch.ones(most, dtype=kind, device=place)
        self.target = torch.zeros(most, dtype=kind, device=place)
        self.order = torch.zeros(3, dtype=torch.int64, device=place)
        self.inner: dict[tuple[int, int], int] = {}

    def tell(self, index: int, size_bytes: int, inner: int) -> None:
        """Say to the others what is done next."""
        self.order.copy_(self.torch.tensor([index, size_bytes, inner]))
        self.dist.broadcast(self.order, 0)

    def follow(self) -> bool:
        """Do what the first process says; False when there is nothing more to do."""
        self.dist.broadcast(self.order, 0)
        index, size, inner = (int(x) for x in self.order.tolist())
        if index == STOP:
            return False
        self.run(index, size, inner)
        return True

    def lead(self, index: int, size_bytes: int) -> float:
        """Run a collective on all processes and return its seconds; short ones several times."""
        inner = self.inner.get((index, size_bytes), 1)
        self.tell(index, size_bytes, inner)
        seconds = self.run(index, size_bytes, inner)
        wanted = math.ceil(_SHORTEST_S / max(seconds, 1e-7)) if self.accelerated else 1
        self.inner.setdefault((index, size_bytes), min(wanted, _MOST_INNER))
        return seconds

    def run(self, index: int, size_bytes: int, inner: int) -> float:
        """Run a collective so many times and return the seconds of one."""
        call = self.collective(COLLECTIVES[index], size_bytes // self.word_bytes)
        self.dist.barrier()
        self.finish()
        start = time.perf_counter()
        for _ in range(inner):
            call()
        self.finish()
        return (time.perf_counter() - start) / inner

    def finish(self) -> None:
        """Wait for what the accelerator still does."""
        if self.accelerated:
            self.torch.cuda.synchronize()

    def collective(self, name: str, words: int) -> Callable[[], Any]:
        """A function that runs a collective of so many words once.

        Words are what each process holds (all-reduce, all-to-all, point-to-point) or the
        whole, gathered or to be scattered.
        """
        dist, each = self.dist, words // self.processes
        source, target = self.source[:words], self.target[:words]
        own = slice(each * self.rank, each * (self.rank + 1))
        if name == "all-reduce":
            return lambda: dist.all_reduce(target)
        if name == "all-gather":
            return lambda: dist.all_gather_into_tensor(target, source[own])
        if name == "reduce-scatter":
            return lambda: dist.reduce_scatter_tensor(target[own], source)
        if name == "all-to-all":
            return lambda: dist.all_to_all_single(target, source)
        after, before = (self.rank + 1) % self.processes, (self.rank - 1) % self.processes

        def pass_on() -> None:
            there, back = dist.P2POp(dist.isend, source, after), dist.P2POp(
                dist.irecv, target, before
            )
            for request in dist.batch_isend_irecv([there, back]):
                request.wait()

        return pass_on
