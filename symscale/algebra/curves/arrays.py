"""Shares over arrays of parameters, in floating point."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symscale.algebra.curves.curve import Curve
from symscale.algebra.sums.piece import Values

if TYPE_CHECKING:
    import numpy as np

_REACH = 690.0  # of the logarithm of (r - low)/(high - r), as far as floats go
_HALVINGS = 70


def shares_over(
    curve: Curve, symbols: Sequence[sp.Symbol], fixed: Values
) -> Callable[..., "np.ndarray"]:
    """The share as a function of arrays of parameters; NaN where there is none.

    Args:
        curve: The law.
        symbols: The parameters that are arrays.
        fixed: Numbers of the others.
    """
    import numpy as np

    number = sp.lambdify(
        list(symbols), curve.number.expr.xreplace(dict(fixed)).evalf(17), "numpy", cse=True
    )
    power = float(curve.power)
    factors = [
        tuple(float(e.xreplace(dict(fixed))) for e in (n.start, n.end, p))
        for n, p in curve.segment.factors
    ]
    low, high = float(curve.segment.low), float(curve.segment.high)

    def level(depth: "np.ndarray") -> "np.ndarray":
        part, rest = 1 / (1 + np.exp(-depth)), 1 / (1 + np.exp(depth))
        total = np.zeros_like(depth)
        for start, end, p in factors:
            total = total + power * p * np.log(start * rest + end * part)
        return total

    def shares(*values: "np.ndarray") -> "np.ndarray":
        with np.errstate(all="ignore"):
            goal = np.broadcast_to(
                np.log(np.asarray(number(*values), dtype=float)), np.broadcast(*values).shape
            )
            below, above = (np.full(goal.shape, side * _REACH) for side in (-1, 1))
            exists = (level(below) < goal) & (level(above) > goal)
            for _ in range(_HALVINGS):
                middle = (below + above) / 2
                rises = level(middle) < goal
                below, above = np.where(rises, middle, below), np.where(rises, above, middle)
            share = low + (high - low) / (1 + np.exp(-below))
        return np.asarray(np.where(exists, share, np.nan))

    return shares
