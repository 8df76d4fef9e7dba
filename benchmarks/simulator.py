"""Speed and memory of the simulator, each figure beside what it is compared with.

Times are CPU seconds of the fastest of several rounds. Run it on a quiet machine, with
`python -m benchmarks.simulator`.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from symscale.facts.machines.lumped import Machine, load_machine
from symscale.simulator.sparse_mlp import curve as curves
from symscale.simulator.sparse_mlp.candidates import STEADY, candidates, outline, step_times
from symscale.simulator.sparse_mlp.curve import Point, curve
from symscale.simulator.sparse_mlp.device import compiled_product
from symscale.simulator.sparse_mlp.parameters import device_values, network_values
from symscale.simulator.sparse_mlp.search import search
from symscale.simulator.sparse_mlp.shapes import Shape, published_shapes
from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, SearchProblem, count_plans
from symscale.simulator.sparse_mlp.step import Schedule

ROUNDS = 7
PUBLISHED_CURVE_S = 15.0
"""What the published program takes for the dense H100 curve on a machine of this kind."""


def fastest(act: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """CPU seconds of the fastest of several rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return min(times)


def product_by_hand(d: dict[str, float], shape: dict[str, Any], weight_gradient: bool) -> Any:
    """The time of a product as one would write it in NumPy, from the study's description."""
    d_out, d_in, n = shape["d_out"], shape["d_in"], shape["n"]

    def tiles(height: Any, width: Any, capacity: float) -> tuple[Any, Any]:
        count = np.ceil(height * width / capacity)
        rows = np.minimum(np.maximum(1.0, np.sqrt(count * height / width)), count)
        return rows, count / rows

    def traffic(capacity: float, units: float, distributed: bool = False) -> tuple[Any, Any]:
        rows, columns = tiles(d_out, d_in, capacity * units if distributed else capacity)
        weights = np.where(
            2 * d_out * d_in <= capacity * units, 0.0, d_out * d_in * (1 + weight_gradient)
        )
        left = columns if weight_gradient else 2 * columns - 1
        direct = weights + rows * d_in * n + left * d_out * n
        if not distributed:
            return direct, 0.0
        rows, columns = tiles(d_out, d_in, capacity)
        across = np.where(rows > 1, rows, 0.0) * d_in * n
        if weight_gradient:
            return direct, across + np.where(columns > 1, columns, 0.0) * d_out * n
        return direct, across + 2 * (columns - 1) * d_out * n

    block = 0.75 * d["S_R"]
    processor = d["k_PB"] * block
    cache, _ = traffic(max(0.75 * d["S_L2"], processor), 1.0)
    inner, between = traffic(processor, d["k_MP"], distributed=True)
    registers, _ = traffic(block, d["k_MP"] * d["k_PB"])
    flop = 2 * np.ceil(d_out / 8) * np.ceil(d_in / 8) * np.ceil(n / 8) * 8**3
    slowest = np.maximum(
        np.maximum(cache / (2 * d["W_mem"]), (cache + inner) / d["W_L2"]),
        np.maximum((inner + between + registers) / d["W_sh"], flop / d["C_s"]),
    )
    return slowest + d["tau_mm"]


def compare_with_hand() -> None:
    """The compiled expression against the same formula by hand, in blocks of one size."""
    rng = np.random.default_rng(1)
    device = dict(device_values(load_machine("h100-sxm")))
    count, size = 400_000, 16384
    shape = {n: 2.0 ** rng.integers(5, 15, count) for n in ("d_out", "d_in", "n")}
    for weight_gradient in (False, True):
        compiled = compiled_product(weight_gradient, True)

        def by_hand(weight_gradient: bool = weight_gradient) -> Any:
            parts = [
                product_by_hand(
                    device, {n: v[k : k + size] for n, v in shape.items()}, weight_gradient
                )
                for k in range(0, count, size)
            ]
            return np.concatenate(parts)

        ours = compiled({**device, **shape})["time"]
        np.testing.assert_allclose(ours, by_hand(), rtol=1e-12)
        a = fastest(partial(compiled, {**device, **shape}))
        b = fastest(by_hand)
        what = "weight gradient" if weight_gradient else "forward"
        print(f"product, {what:<34}{count / a / 1e6:8.2f} M/s{a / b:8.2f} of by hand")


def ranked_per_second() -> None:
    """Plans ranked on one core, with products tabulated: in arrays, and with their tiers."""
    machine, shapes = load_machine("h100-sxm"), published_shapes()[15:30]
    problems = [SearchProblem(s, 2**26) for s in shapes]
    plans = outline(machine, problems, PUBLISHED_SPACE, Schedule())
    every = np.arange(len(plans.bound))
    table = candidates(machine, problems, plans, every, PUBLISHED_SPACE, Schedule())
    columns = {**table.columns, **network_values(machine)}
    repeated = {
        n: np.tile(c, 12) if isinstance(c, np.ndarray) else c for n, c in columns.items()
    }
    count = 12 * len(table.row)
    seconds = fastest(lambda: step_times(repeated, STEADY, Schedule(), 2))
    print(f"{'plans ranked, in arrays':<43}{count / seconds / 1e6:8.2f} M/s")
    number = sum(count_plans(machine, p) for p in problems)
    seconds = fastest(lambda: search(machine, problems))
    print(f"{'plans of the space searched':<43}{number / seconds / 1e6:8.2f} M/s, {number} plans")


def curve_times() -> None:
    """The dense H100 curve after compilation, and how time grows with its models."""
    machine, shapes = load_machine("h100-sxm"), published_shapes()
    _whole(machine, shapes)
    seconds = fastest(partial(_whole, machine, shapes))
    faster = PUBLISHED_CURVE_S / seconds
    print(f"{'dense H100 curve':<43}{seconds:8.3f} s{faster:8.0f} x the published speed")
    wide = load_machine("h100-sxm-infinite-network-and-ll")
    for count in (10, 20, 40):
        seconds = fastest(partial(_whole, wide, shapes[:count]))
        plans = sum(count_plans(wide, p.plan.problem) for p in _whole(wide, shapes[:count]))
        print(f"{f'curve of {count} models, {plans} plans':<43}{seconds:8.3f} s"
              f"{1e3 * seconds / count:8.2f} ms a model{1e6 * seconds / plans:8.2f} us a plan")


def _whole(machine: Machine, shapes: list[Shape]) -> list[Point]:
    return list(curve(machine, shapes))


def from_the_shell() -> None:
    """CPU time and peak memory of the command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "symscale", "simulate", "--hardware", "h100-sxm"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{'symscale simulate --hardware h100-sxm':<43}{seconds:8.2f} s"
          f"{after.ru_maxrss / 1e3:8.0f} MB")  # fmt: skip


def main() -> None:
    """Print the table."""
    from_the_shell()
    curve_times()
    ranked_per_second()
    compare_with_hand()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{'peak memory of this process':<43}{peak:8.0f} MB")
    print(f"{'models searched at once':<43}{curves._TOGETHER:8d}")


if __name__ == "__main__":
    main()
