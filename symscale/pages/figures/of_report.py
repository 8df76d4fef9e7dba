"""The figures of a report: what each shows, and how it is drawn.

What draws is imported when something is drawn, which a process of its own may do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import sympy as sp

from symscale.facts.machines.lumped import Machine, load_machine
from symscale.language.symbols import symbol
from symscale.pages.formats.document import FigureBlock
from symscale.studies.comp_vs_comm.future import future_cases
from symscale.studies.requests.parameters import numbers
from symscale.studies.training.answer import LimitsAnswer, cliffs, training_limits

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
    def block(self) -> FigureBlock:
        """It as a block of a document."""
        return FigureBlock(self.name, self.caption)


def limit_figures(
    hardware: Sequence[str], limits: Sequence[LimitsAnswer] | None = None
) -> tuple[Drawing, ...]:
    """The figures on limits of machines; none where numbers are missing.

    Args:
        hardware: Names or files of machines.
        limits: Their limits, where they are known.
    """
    known = limits or [training_limits(name) for name in hardware]
    hardware = [name for name, limit in zip(hardware, known, strict=True) if _numeric(limit)]
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


def _numeric(answer: LimitsAnswer) -> bool:
    """Whether everything that limits depend on has a number, the network's bandwidth too."""
    return _needed() - {symbol("alpha")} <= numbers(answer.parameters).keys()


@cache
def _needed() -> frozenset[sp.Symbol]:
    pieces = training_limits().limit.pieces
    return frozenset(s for piece in pieces for s in piece.bound.free_symbols)


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
    from symscale.pages.figures.cliffs import cliffs_plot

    cliffs_plot([cliffs(name) for name in hardware], *paths)


def _draw_alpha(hardware: Sequence[str], *paths: Path) -> None:
    from symscale.pages.figures.alpha import alpha_plot

    alpha_plot([training_limits(name) for name in hardware], *paths)


def _draw_share(machine: Machine, *paths: Path) -> None:
    from symscale.pages.figures.shares import share_plot

    cases = future_cases(machine, [Fraction(k) for k in KS])
    share_plot(cases, KS, machine.title, *paths)


def report_figures(hardware: Sequence[str], with_models: bool) -> tuple[Drawing, ...]:
    """All figures of a report.

    Args:
        hardware: Names or files of machines.
        with_models: Whether the report is on models too.
    """
    return limit_figures(hardware) + (share_figures(hardware) if with_models else ())


def draw_figures(drawings: Sequence[Drawing], folder: Path) -> None:
    """Draw figures into a folder, as PDF and SVG."""
    for drawing in drawings:
        drawing.draw(*(folder / (drawing.name + ending) for ending in ENDINGS))
