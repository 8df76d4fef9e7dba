"""Certificates of the pieces of limits, each with a point that attains its bound."""

from collections.abc import Mapping

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.regions import find_witness
from symscale.algebra.products.attained import Values, optimal_point
from symscale.algebra.products.limit import Limit, Piece
from symscale.errors import FormulaError
from symscale.kernel.certificate import Certificate


def certify(limit: Limit, piece: Piece, values: Values | None = None) -> Certificate:
    """Make the certificate of a piece.

    Args:
        limit: The limit.
        piece: One of its pieces.
        values: Parameters at which it rules; by default the piece's own witness.

    Raises:
        FormulaError: If no parameters are given and the piece has no witness.
    """
    witness = values if values is not None else piece.witness
    if witness is None:
        raise FormulaError(f"no parameters are known at which {piece.name!r} rules")
    point = optimal_point(limit.program, witness)
    return Certificate(
        limit.program, piece.name, piece.bound, piece.multipliers, point.values,
        point.conditions, dict(witness),
    )


def certify_at(
    limit: Limit, piece: Piece, point: Mapping[sp.Symbol, Monomial]
) -> Certificate | None:
    """Make the certificate of a piece with a point that is known to attain it.

    Returns:
        The certificate, or None where no parameters were found at which the point is
        feasible.
    """
    program = limit.program
    conditions = []
    for constraint in program.constraints:
        ratio = constraint.ratio.substitute(point)
        if not ratio.is_one and ratio.free_symbols and ratio not in conditions:
            conditions.append(ratio)
    domain = program.domain
    witness, _ = find_witness(
        [c**-1 for c in conditions], domain.at_least_one, program.parameters, domain
    )
    if witness is None or any(s not in witness for s in program.parameters):
        return None
    return Certificate(
        program, piece.name, piece.bound, piece.multipliers, dict(point), tuple(conditions),
        witness,
    )
