"""Theorems about local laws and covers, for the kernel."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.certify.statements import Cut, Scale, Tangent
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.tangents.cells import Cell
from symscale.algebra.tangents.cover import PieceCover
from symscale.algebra.tangents.law import LocalLaw
from symscale.errors import SymscaleError

LAW, COVERED = "local law", "pieces within the share"
_STEPS = 10_000  # a share is said to one over so many, rounded up
_ROOM = 2e-6


def write_law(writer: CertificateWriter, law: LocalLaw) -> list[str]:
    """Write that a law bounds the optimum everywhere, and how near it is at its numbers.

    Returns:
        What could not be written.
    """
    if law.point is None:
        return [LAW]
    within = sp.Rational(math.ceil((law.gap + _ROOM) * _STEPS), _STEPS)
    try:
        writer.tangent(
            LAW, law.bound.value, law.bound.shares, law.point, within, (), law.values
        )
    except SymscaleError:
        return [LAW]
    return []


def write_cover(
    writer: CertificateWriter, found: PieceCover, symbols: Sequence[sp.Symbol]
) -> list[str]:
    """Write that the best of a cover's pieces is near enough in all of the box.

    Args:
        writer: What it is written to.
        found: The cover.
        symbols: The names of its dimensionless numbers.

    Returns:
        What could not be written.
    """
    proof = found.proof
    if proof is None:
        return []
    scales = [
        Scale(str(s), k, low, high)
        for s, k, (low, high) in zip(symbols, found.numbers, proof.ends, strict=True)
    ]
    tangents = {
        _name(k): Tangent(p.bound.shares, p.bound.value) for k, p in enumerate(found.pieces)
    }
    corners = {
        tuple(sp.Rational(u.numerator, u.denominator) for u in place): point
        for place, point in proof.corners.items()
    }
    tree = _cut(proof.tree, [s.name for s in scales])
    try:
        writer.box(
            COVERED, scales, found.form.scaling.gauge, tangents, corners, tree,
            found.share, (), _middle(found),
        )
    except SymscaleError:
        return [COVERED]
    return []


def _name(piece: int) -> str:
    return f"piece {piece + 1}"


def _cut(tree: Cell | int, names: Sequence[str]) -> Cut | str:
    if isinstance(tree, int):
        return _name(tree)
    at = sp.Rational(tree.at.numerator, tree.at.denominator)
    return Cut(names[tree.number], at, _cut(tree.below, names), _cut(tree.above, names))


def _middle(found: PieceCover) -> Mapping[sp.Symbol, sp.Rational]:
    """Parameters in the middle of the box."""
    middle: dict[Any, sp.Rational] = {}
    for s, (low, high) in found.box.ranges.items():
        near = sp.Rational(f"{math.sqrt(float(low) * float(high)):.6g}")
        middle[s] = near if low < near < high else low
    return middle
