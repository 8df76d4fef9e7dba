"""Draws computed against published values of measured runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symscale.compare.measured import UNITS, ComparedRun
from symscale.pages.figures.drawing import COLOURS, drawing, save

BAND = 0.1


def parity_plot(groups: Sequence[tuple[str, Sequence[ComparedRun]]], path: Path) -> None:
    """Draw computed against published, times and rates apart; a band of 10 % about parity.

    Args:
        groups: Comparisons with the name of each group.
        path: Where to draw it.
    """
    metrics = [
        metric for metric in UNITS
        if any(row.run.metric == metric for _, rows in groups for row in rows)
    ]
    with drawing(shared=False) as make:
        figure, panels = make(1, len(metrics), (1.0 + 4.0 * len(metrics), 4.2))
        for metric, axes in zip(metrics, panels, strict=True):
            _panel(axes, groups, metric)
        figure.suptitle("band: within 10 %; filled: seen by a fit", fontsize=9)
        save(figure, path)


def _panel(
    axes: Any, groups: Sequence[tuple[str, Sequence[ComparedRun]]], metric: str
) -> None:
    values: list[float] = []
    for i, (name, rows) in enumerate(groups):
        part = [row for row in rows if row.run.metric == metric]
        if not part:
            continue
        colour = COLOURS[i % len(COLOURS)]
        for seen, face in ((False, "none"), (True, colour)):
            these = [row for row in part if row.seen is seen]
            axes.plot(
                [row.run.published for row in these], [row.computed for row in these], "o", ms=4.5,
                mfc=face, mec=colour, mew=0.9, ls="",
                label=name if seen is any(row.seen for row in part) else None,
            )
        values += [x for row in part for x in (row.run.published, row.computed)]
    low, high = min(values) / 1.15, max(values) * 1.15
    ends = [low, high]
    axes.plot(ends, ends, color="#333333", lw=0.9)
    axes.fill_between(
        ends, [x * (1 - BAND) for x in ends], [x * (1 + BAND) for x in ends], color="black",
        alpha=0.08, lw=0,
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    _ticks(axes, low, high)
    unit = UNITS[metric]
    what = "time of a step" if metric == "iteration_s" else "rate of a device"
    axes.set_xlabel(f"published {what} [{unit}]")
    axes.set_ylabel(f"computed {what} [{unit}]")
    axes.legend(fontsize=7, loc="upper left")


def _ticks(axes: Any, low: float, high: float) -> None:
    """Few round numbers, written out."""
    steps = (1, 2, 5) if high / low > 6 else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    ticks = [s * 10.0**e for e in range(-9, 13) for s in steps if low <= s * 10.0**e <= high]
    labels = [f"{x:g}" for x in ticks]
    axes.set_xticks(ticks, labels)
    axes.set_yticks(ticks, labels)
    axes.minorticks_off()
