"""Plots of simulated curves: utilization and what the clusters are split by, against compute."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symscale.pages.figures.drawing import colour, new_figure, save, styled
from symscale.simulator.tables.curves import END, LAST
from symscale.simulator.tables.runs import SimulatedRun

_MARKERS = "osD^vP*X"
_SPLITS = {
    "N_TP_model": "tensor, d_model", "N_TP_ff": "tensor, d_ff", "N_PP": "pipeline",
    "N_DP": "data", "N_EP": "expert",
}  # fmt: skip
_MOST_PANELS = 4


def curve_plot(runs: Sequence[SimulatedRun], path: Path) -> None:
    """Draw utilization against training compute, and below it the shares of each split.

    The share of a split is the logarithm of its degree over that of the cluster.
    """
    shown = [run for run in runs if run.rows]
    below = shown if len(shown) <= _MOST_PANELS else []
    with styled():
        figure, axes = new_figure((1.8, *(1.0 for _ in below)), 3.4 + 1.5 * len(below))
        panels = list(axes.flat) if below else [axes]
        for index, run in enumerate(shown):
            _utilization(panels[0], run, index, run.title(shown))
        panels[0].set_xscale("log")
        panels[0].set_ylim(0, 1)
        panels[0].set_ylabel("utilization $U$")
        if any(LAST in row["mark"] for run in shown for row in run.rows):
            panels[0].plot([], [], color="#444444", marker="x", mew=2, ls="", label=LAST)
        figure.legend(*panels[0].get_legend_handles_labels(), fontsize=8, loc="outside upper left")
        for panel, run in zip(panels[1:], below, strict=True):
            _shares(panel, run, run.title(shown))
        panels[-1].set_xlabel("training compute $T$ [FLOP]")
        if below:
            handles, labels = panels[1].get_legend_handles_labels()
            figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=5)
        save(figure, path)


def _utilization(panel: Any, run: SimulatedRun, index: int, label: str) -> None:
    xs, ys = _column(run, "compute_flop"), _column(run, "utilization")
    end = next((row for row in run.rows if END in row["mark"]), None)
    if end is not None:
        panel.axvline(end["compute_flop"], color=colour(index), lw=0.9, ls=":")
        label += f", linear to {_flop(end['compute_flop'])}"
    panel.plot(xs, ys, color=colour(index), marker=_MARKERS[index % len(_MARKERS)], ms=3, lw=1.4,
               label=label)  # fmt: skip
    if any(LAST in row["mark"] for row in run.rows):
        panel.plot(xs[-1], ys[-1], color=colour(index), marker="x", ms=9, mew=2, ls="")


def _flop(value: float) -> str:
    mantissa, _, power = f"{value:.2e}".partition("e")
    return rf"${mantissa} \times 10^{{{int(power)}}}$ FLOP"


def _shares(panel: Any, run: SimulatedRun, title: str) -> None:
    xs = _column(run, "compute_flop")
    whole = [math.log(row["N"]) if row["N"] > 1 else 1.0 for row in run.rows]
    below = [0.0] * len(xs)
    for index, (name, label) in enumerate(_SPLITS.items()):
        degrees = zip(_column(run, name), whole, below, strict=True)
        above = [base + math.log(degree) / size for degree, size, base in degrees]
        panel.fill_between(xs, below, above, color=colour(index), alpha=0.75, lw=0, label=label)
        below = above
    panel.set_ylim(0, 1)
    panel.set_ylabel("share of log $N$")
    panel.set_title(title, fontsize=8, loc="left")


def _column(run: SimulatedRun, name: str) -> list[float]:
    return [row[name] for row in run.rows]
