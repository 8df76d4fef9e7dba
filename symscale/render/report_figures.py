"""The figures of a report: what each shows, and how it is drawn.

What draws is imported when something is drawn, which a process of its own may do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from symscale.machine import Machine, load_machine
from symscale.render.document import Figure
from symscale.studies.answer import Answer, cliffs, training_limits
from symscale.studies.future import future_cases
from symscale.studies.parameters import numbers
from symscale.symbols import symbol

KS = (1, 2, 4)
ENDINGS = (".pdf", ".svg")


@dataclass(frozen=True)
class Drawing:
    """A figure of a report.

    Attributes:
        name: Its file name without ending.
        caption: What it shows.
        draw: Draws it into files.
    """

    name: str
    caption: str
    draw: Callable[..., None]

    @property
    def block(self) -> Figure:
        """It as a block of a document."""
        return Figure(self.name, self.caption)


def limit_figures(hardware: Sequence[str]) -> tuple[Drawing, ...]:
    """The figures on limits of machines, by names or files; none where numbers are missing."""
    hardware = [name for name in hardware if _numeric(training_limits(name))]
    if not hardware:
        return ()
    return (
        Drawing(
            "utilization",
            "Utilization against training compute, cliffs dotted, the last run crossed.",
            partial(_draw_utilization, hardware),
        ),
        Drawing(
            "alpha",
            "The largest run against the growth of the critical batch over the depth; thin: each "
            "piece.",
            partial(_draw_alpha, hardware),
        ),
    )


def _numeric(answer: Answer) -> bool:
    """Whether everything that limits depend on has a number, the network's bandwidth too."""
    needed = {s for piece in training_limits().limit.pieces for s in piece.bound.free_symbols}
    return needed - {symbol("alpha")} <= numbers(answer.parameters).keys()


def share_figures(hardware: Sequence[str]) -> tuple[Drawing, ...]:
    """The figures on future models, of machines whose links have a bandwidth."""
    machines = [load_machine(name) for name in hardware]
    return tuple(
        Drawing(
            f"share-{machine.name}",
            f"Share of serialized communication over widths and degrees, on {machine.title}, as "
            "arithmetic gets k times faster than the network.",
            partial(_draw_share, machine),
        )
        for machine in machines if not machine.tiers[0].bandwidth.unlimited
    )


def _draw_utilization(hardware: Sequence[str], *paths: Path) -> None:
    from symscale.render.cliff_plots import cliffs_plot

    cliffs_plot([cliffs(name) for name in hardware], *paths)


def _draw_alpha(hardware: Sequence[str], *paths: Path) -> None:
    from symscale.render.alpha_plots import alpha_plot

    alpha_plot([training_limits(name) for name in hardware], *paths)


def _draw_share(machine: Machine, *paths: Path) -> None:
    from symscale.render.share_plots import share_plot

    cases = future_cases(machine, [Fraction(k) for k in KS])
    share_plot(cases, KS, machine.title, *paths)


def draw_figures(hardware: Sequence[str], with_models: bool, folder: Path) -> None:
    """Draw all figures of a report into a folder, as PDF and SVG.

    Args:
        hardware: Names or files of machines.
        with_models: Whether the report is on models too.
        folder: The folder.
    """
    drawings = limit_figures(hardware) + (share_figures(hardware) if with_models else ())
    for drawing in drawings:
        drawing.draw(*(folder / (drawing.name + ending) for ending in ENDINGS))
