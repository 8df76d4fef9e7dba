"""Draws utilization against training compute in closed form, with its cliffs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sympy as sp

from symscale.errors import InputError
from symscale.language.symbols import symbol
from symscale.pages.figures.drawing import colour, label_of, new_figure, save, styled
from symscale.studies.training.answer import CliffsAnswer
from symscale.studies.training.cliffs import END

DECADES = 3  # below the first cliff, and above the last where no end is known
POINTS = 240


def cliffs_plot(answers: Sequence[CliffsAnswer], *paths: Path) -> None:
    """Draw U(T) of one machine or several, cliffs marked, up to where no run fits.

    Args:
        answers: The answers; every parameter but T must have a number.
        paths: Where to draw it.

    Raises:
        InputError: If an answer lacks numbers.
    """
    with styled():
        figure, axes = new_figure([1], 3.8)
        for place, answer in enumerate(answers):
            _curve(axes, answer, colour(place))
        axes.set_xscale("log")
        axes.set_ylim(0, 1.08)
        axes.set_xlabel("training compute, $T$ [FLOP]")
        axes.set_ylabel("utilization of the peak rate, $U$")
        axes.legend(loc="lower left", fontsize=8)
        save(figure, *paths)


def _curve(axes: Any, answer: CliffsAnswer, shade: str) -> None:
    known = answer.known
    title = label_of(answer.machine.title) if answer.machine else "parameters as set"
    if known is None:
        raise InputError("--plot needs a number for every parameter; name a machine by --hardware")
    marks = [float(value) for c in answer.cliffs if (value := answer.compute_at(c)) is not None]
    ends = [c for c in answer.cliffs if c.between[1] == END]
    low = min(marks, default=1e28) / 10**DECADES
    high = max(marks, default=1e28) * (1 if ends else 10**DECADES)
    xs = [low * (high / low) ** (i / (POINTS - 1)) for i in range(POINTS)]
    xs = sorted({*xs, *(m for m in marks if m <= high)})
    T = symbol("T")
    # Each piece is a power of T: its logarithm is a straight line.
    lines = [
        (float(p.bound.logarithm({**known, T: sp.Integer(1)})), float(p.bound.exponent(T)))
        for p in answer.limit.pieces
    ]
    curve = [math.exp(min(c + slope * math.log(x) for c, slope in lines)) for x in xs]
    axes.plot(xs, curve, color=shade, lw=2, label=title)
    for mark in marks:
        axes.axvline(mark, color=shade, lw=0.8, ls=":")
    if ends:
        axes.plot([high], [curve[-1]], "x", color=shade)
