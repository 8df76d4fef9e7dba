"""Draws utilization of simulated curves beside that of the closed form."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symscale.compare.simulated import ComparedCurves, ComparedPoint
from symscale.facts.machines.lumped import Machine
from symscale.pages.figures.drawing import colour, new_figure, save, styled
from symscale.simulator.sparse_mlp.curve import end_of_linear_scaling


def comparison_plot(compared: ComparedCurves, path: Path) -> None:
    """Draw both utilizations against training compute, on logarithmic scales."""
    with styled():
        figure, axes = new_figure((1.0,), 4.2)
        for index, (machine, rows) in enumerate(compared.curves):
            _pair(axes, machine, rows, colour(index))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.01, 1.1)
        axes.set_xlabel("training compute $T$ [FLOP]")
        axes.set_ylabel("utilization $U$")
        figure.legend(fontsize=8, loc="outside upper left", ncols=2)
        save(figure, path)


def _pair(axes: Any, machine: Machine, rows: Sequence[ComparedPoint], shade: str) -> None:
    xs = [r.point.plan.problem.shape.training_flop for r in rows]
    axes.plot(xs, [r.closed for r in rows], color=shade, lw=1.2, ls="--",
              label=f"{machine.title}, closed form")  # fmt: skip
    axes.plot(xs, [r.point.utilization for r in rows], color=shade, lw=1.4, marker="o", ms=3,
              label=f"{machine.title}, simulated")  # fmt: skip
    end = end_of_linear_scaling(machine, [r.point for r in rows])
    if end is not None:
        axes.axvline(end.plan.problem.shape.training_flop, color=shade, lw=0.9, ls=":")
