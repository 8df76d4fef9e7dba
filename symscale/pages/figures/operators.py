"""Draws times that operator models predict against those measured."""

from collections.abc import Sequence
from pathlib import Path

from symscale.measure.operators.fitting import OperatorModel
from symscale.measure.operators.measurement import Measurement
from symscale.pages.figures.drawing import COLOURS, drawing, save

Panel = tuple[OperatorModel, Sequence[Measurement], Sequence[Measurement]]


def operators_plot(panels: Sequence[Panel], title: str, path: Path) -> None:
    """Draw a panel for each operator: the error of its model against the measured time.

    Args:
        panels: A model, what it was fitted to, and what was left out.
        title: What was measured, and where.
        path: Where to draw it.
    """
    with drawing() as make:
        figure, axes = make(1, len(panels), (1.0 + 3.4 * len(panels), 3.6))
        for (model, fitted, left_out), panel in zip(panels, axes, strict=True):
            groups = ((fitted, "fitted", "o", COLOURS[0]), (left_out, "left out", "s", COLOURS[1]))
            for found, name, mark, colour in groups:
                panel.plot(
                    [one.seconds * 1e3 for one in found],
                    [(model.predict(one) / one.seconds - 1) * 100 for one in found],
                    mark, ms=4, color=colour, label=f"{name} ({len(found)})",
                )
            panel.axhspan(-15, 15, color="black", alpha=0.06, lw=0)
            panel.axhline(0, color="#444444", lw=0.8)
            panel.set_xscale("log")
            panel.set_xlabel("measured [ms]")
            panel.set_title(model.operator.name)
            panel.legend(fontsize=7)
        axes[0].set_ylabel("predicted over measured, less 1 [%]")
        figure.suptitle(title, fontsize=9)
        save(figure, path)
