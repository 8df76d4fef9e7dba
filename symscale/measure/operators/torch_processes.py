"""Collectives of PyTorch: over the accelerators of one machine, or its processes.

With two accelerators or more each process drives one, and the collectives are those of its
library (NCCL, RCCL): the links that join the devices of a node. Without, gloo's over
processes of one machine.
"""

import os
import signal
import sys
import time
import warnings
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from symscale.measure.operators.collectives import COLLECTIVES
from symscale.measure.operators.processes import SIZES, TIMEOUT_S, Participant

ACCELERATED_SIZES = tuple(2**p for p in range(16, 31, 2))
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
        TorchParticipant(torch, dist, place, processes).take_part(connection, budget_s)
    finally:
        dist.destroy_process_group()


class TorchParticipant(Participant):
    """One that holds what it sends and receives as tensors."""

    def __init__(self, torch: Any, dist: Any, place: Any, processes: int) -> None:
        """Reserve memory for the largest message."""
        self.torch, self.dist, self.processes = torch, dist, processes
        self.accelerated = place.type == "cuda"
        kind, self.word_bytes = (torch.bfloat16, 2) if self.accelerated else (torch.float32, 4)
        self.ladder, self.most_inner = (
            (ACCELERATED_SIZES, _MOST_INNER) if self.accelerated else (SIZES, 1)
        )
        most = self.ladder[-1] // self.word_bytes
        self.source = torch.ones(most, dtype=kind, device=place)
        self.target = torch.zeros(most, dtype=kind, device=place)
        self.order = torch.zeros(3, dtype=torch.int64, device=place)

    def tell(self, index: int, size_bytes: int, inner: int) -> None:
        """Send it to all."""
        self.order.copy_(self.torch.tensor([index, size_bytes, inner]))
        self.dist.broadcast(self.order, 0)

    def heard(self) -> tuple[int, int, int]:
        """Receive it."""
        self.dist.broadcast(self.order, 0)
        index, size_bytes, inner = (int(x) for x in self.order.tolist())
        return index, size_bytes, inner

    def run(self, index: int, size_bytes: int, inner: int) -> float:
        """Run a collective so many times and return the seconds of one.

        The bytes are what each process holds (all-reduce, all-to-all, point-to-point) or the
        whole, gathered or to be scattered.
        """
        words = size_bytes // self.word_bytes
        call = COLLECTIVES[index].torch(self.dist, self.source[:words], self.target[:words])
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
