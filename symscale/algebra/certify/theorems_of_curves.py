"""Theorems about curves: the optimum where the law of a share replaces one of the parameters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import mpmath as mp
import sympy as sp

from symscale.algebra.certify.slacks import given_of
from symscale.algebra.certify.spelling import Multiplier
from symscale.algebra.certify.statements import Proof, Reason, Share, Summand
from symscale.algebra.certify.theorems_of_sums import SumClaim
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.curves.curve import Curve
from symscale.algebra.sums.piece import SumPiece, Values
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError

_DIGITS = (5, 12, 30)
_Any = TypeVar("_Any")


def write_curve(
    writer: CertificateWriter, program: GeometricProgram, piece: SumPiece, curve: Curve,
    name: str, values: Values | None = None,
) -> None:
    """Write the theorem of a curve.

    Args:
        writer: What it is written to.
        program: The program.
        piece: The formulas.
        curve: The law of their share.
        name: Of the theorem.
        values: Parameters strictly within its region, if some are known.

    Raises:
        FormulaError: If the law gives no parameter as a product of the others and of the share,
            or no witness is known.
    """
    moved = curve.put_in(program)
    if moved is None or curve.given is None or len(piece.places) != 1 or curve.segment.ray:
        raise FormulaError(f"{name!r} has no parameter that its share determines")
    own = curve.put_into(piece)
    witness = piece.witness if values is None else _near(curve, own, values) or piece.witness
    if witness is None:
        raise FormulaError(f"no parameters are known at which {name!r} rules")
    # What goes out with the replaced parameter may be anything.
    witness = {**{s: sp.Integer(1) for s in program.parameters}, **witness}
    # The kernel knows the ends of the share by these names.
    ends = {given_of(r).name: side for r, side in zip(curve.ends, ("to", "from"), strict=False)}
    claim = SumClaim(moved, replace(own, requirements=(*own.requirements, *curve.ends)))
    (place,) = own.places
    proved: dict[str, Multiplier] = {}
    for constraint, found in claim.multipliers().items():
        proved[constraint] = (
            (found[0], _proof(found[1], ends)) if isinstance(found, tuple) else found
        )
    slacks = claim.slacks(place, claim.piece.requirements)
    writer.curve(
        name, Share(curve.symbol, curve.segment.low, curve.segment.high), curve.given, own.value,
        proved, place.values, {n: _reason(r, ends) for n, r in slacks.items()},
        [given_of(r) for r in own.requirements], witness, weights=claim.weights(place),
    )


def _near(curve: Curve, own: SumPiece, values: Values) -> Values | None:
    """A rounded share beside the one at given parameters, and all of these but the replaced one."""
    share = curve.share(values)
    if share is None or curve.given is None:
        return None
    rest = {s: v for s, v in values.items() if s != curve.given[0]}
    for digits in _DIGITS:
        found = {**rest, curve.symbol: sp.Rational(mp.nstr(share, digits))}
        if all(replace(r, relation="<").holds(found) for r in (*curve.ends, *own.requirements)):
            return found
    return None


def _proof(proof: Proof, ends: Mapping[str, str]) -> Proof:
    return tuple(
        replace(s, times=_named(s.times, ends), gap=_named(s.gap, ends)) for s in proof
    )


def _reason(reason: Reason, ends: Mapping[str, str]) -> Reason:
    if isinstance(reason, tuple):
        return _proof(reason, ends)
    if not any(name in ends for name in reason):
        return reason
    return (Summand(gap=_named(reason, ends)),)


def _named(table: Mapping[str, _Any], ends: Mapping[str, str]) -> dict[str, _Any]:
    return {ends.get(name, name): power for name, power in table.items()}
