"""Draws how the limits depend on alpha, the growth of the critical batch over the depth."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sympy as sp

from symscale.errors import InputError
from symscale.language.symbols import symbol
from symscale.pages.figures.drawing import colour, label_of, new_figure, save, styled
from symscale.studies.requests.parameters import numbers
from symscale.studies.training.answer import LimitsAnswer, training_limits

LARGEST = sp.Rational(3, 10)  # of alpha; at 1/2 the exponents have a pole
POINTS = 81


def alpha_plot(answers: Sequence[LimitsAnswer], *paths: Path) -> None:
    """Draw every piece of the limit against alpha, for one machine or several.

    Args:
        answers: The limits of machines; every parameter but alpha must have a number.
        paths: Where to draw it.

    Raises:
        InputError: If a parameter has no number.
    """
    pieces = training_limits().limit.pieces
    steps = [LARGEST * i / (POINTS - 1) for i in range(POINTS)]
    with styled():
        figure, axes = new_figure([1], 4.0)
        for place, answer in enumerate(answers):
            known = {**numbers(answer.parameters)}
            known.pop(symbol("alpha"), None)
            title = label_of(answer.machine.title) if answer.machine else "as set"
            curves = {}
            for piece in pieces:
                missing = piece.bound.free_symbols - known.keys() - {symbol("alpha")}
                if missing:
                    names = ", ".join(sorted(map(str, missing)))
                    raise InputError(f"--plot needs numbers for {names}; name a machine")
                curves[piece.name] = [
                    float(piece.bound.evaluate({**known, symbol("alpha"): a})) for a in steps
                ]
            least = np.minimum.reduce(list(curves.values()))
            xs = [float(a) for a in steps]
            axes.plot(xs, least, color=colour(place), lw=2.2, label=title)
            for (name, curve), style in zip(curves.items(), ("--", ":", "-."), strict=False):
                axes.plot(xs, curve, color=colour(place), lw=0.9, ls=style,
                          label=f"{title}: {name}")
        axes.set_yscale("log")
        axes.set_xlabel(r"$\alpha$: the critical batch over the depth grows as $T^\alpha$")
        axes.set_ylabel("largest training run, $T$ [FLOP]")
        axes.legend(fontsize=7)
        save(figure, *paths)
