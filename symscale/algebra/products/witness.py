"""Parameters at which a piece rules."""

import math

import sympy as sp

from symscale.algebra.products.limit import Limit, Piece
from symscale.errors import SymscaleError

_TRIALS = 400  # points at which a piece is looked for
_DECADES = 2.0  # of each parameter, up and down


def witness_of(limit: Limit, piece: Piece) -> dict[sp.Symbol, sp.Rational] | None:
    """Parameters at which a piece rules: its own, or, where that lacks some, found by trying.

    It lacks some where coefficients are sums, such as p - 1.
    """
    parameters = limit.program.parameters
    if piece.witness is not None and all(s in piece.witness for s in parameters):
        return dict(piece.witness)
    roots = [math.sqrt(int(sp.prime(k))) for k in range(1, len(parameters) + 1)]
    domain = limit.program.domain
    for trial in range(1, _TRIALS):
        # Fractional parts of multiples of such roots fill the unit cube evenly.
        spread = [_DECADES * (2 * math.fmod(trial * root, 1.0) - 1) for root in roots]
        values = {
            s: sp.Rational(f"{10**x:.3g}") for s, x in zip(parameters, spread, strict=True)
        }
        values |= domain.sample()
        try:
            inside = all(m.compare_one(values) >= 0 for m in domain.at_least_one)
            if inside and limit.ruling(values) is piece:
                return values
        except SymscaleError:
            continue  # a coefficient is not positive there, or nothing is feasible
    return None
