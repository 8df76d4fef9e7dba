"""What the kernel shows of closed forms of sums, and of the bounds that enclose them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symscale.algebra.certify.covers import COVER, cover_of
from symscale.algebra.certify.enclosures import write_bounds
from symscale.algebra.certify.theorems import Theorems, judged
from symscale.algebra.certify.theorems_of_curves import write_curve
from symscale.algebra.certify.theorems_of_sums import write_piece
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.sums.bounds import Bounds
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import CheckFailedError, SymscaleError
from symscale.language.symbols import Notation
from symscale.problems.pieces import AnswerPiece, Values

if TYPE_CHECKING:
    from symscale.algebra.tangents.cover import PieceCover
    from symscale.algebra.tangents.law import LocalLaw


def theorems_of_sums(
    program: GeometricProgram, pieces: Sequence[AnswerPiece], title: str, *,
    complete: bool, bounds: Bounds | None, values: Values | None,
    law: "LocalLaw | None" = None, cover: "PieceCover | None" = None,
) -> Theorems:
    """Write all theorems about closed forms of sums, and keep those that the kernel shows.

    Of a closed form: that nothing is better and that its points attain it, in all of its
    region, or that it is an infimum. Of the enclosing bounds: that nothing is better than
    each piece of the loose one, and that each piece of the tight one is reached.

    Args:
        program: The program.
        pieces: The closed forms.
        title: What they are about.
        complete: Whether these cover all parameters.
        bounds: The enclosing bounds, written where they do not, or one could not be.
        values: Numbers of all parameters, where they are known.
        law: The local law, if there is one.
        cover: Pieces that cover a box of the parameters, if they were asked for.
    """
    writer = CertificateWriter(program)
    missing: list[str] = []
    for piece in pieces:
        source = piece.source
        if source is None:
            continue
        inside = values if values is not None and _strictly(source, values) else None
        try:
            if piece.curve is not None:
                write_curve(writer, program, source, piece.curve, piece.name, inside)
            else:
                write_piece(writer, program, source, piece.name, inside)
        except SymscaleError:
            missing.append(piece.name)
    if bounds is not None and (missing or not complete):
        missing += write_bounds(writer, program, bounds)
    if law is not None or cover is not None:
        missing += _write_tangents(writer, program, law, cover)
    data = writer.data(title)
    everywhere = cover_of(data) if complete and not missing else None
    if everywhere is not None:
        data["theorems"].append(everywhere)
    elif complete:
        missing.append(COVER)
    try:
        return judged(data, missing)
    except CheckFailedError:  # a box takes most of the work that a file may cost
        rest = [t for t in data["theorems"] if t["theorem"] != "box"]
        if len(rest) == len(data["theorems"]):
            raise
        dropped = [t["name"] for t in data["theorems"] if t["theorem"] == "box"]
        return judged({**data, "theorems": rest}, [*missing, *dropped])


def _write_tangents(
    writer: CertificateWriter, program: GeometricProgram, law: "LocalLaw | None",
    cover: "PieceCover | None",
) -> list[str]:
    from symscale.algebra.tangents.theorems import write_cover, write_law

    missing = [] if law is None else write_law(writer, law)
    if cover is not None:
        missing += write_cover(writer, cover, number_symbols(program, len(cover.numbers)))
    return missing


def number_symbols(program: GeometricProgram, count: int) -> tuple[sp.Symbol, ...]:
    """Names for dimensionless numbers that the program leaves free: K_1, K_2, ..

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> number_symbols(GeometricProgram((), (), (), Domain()), 2)
        (K_1, K_2)
    """
    taken = {str(s) for s in (*program.variables, *program.parameters)}
    names = [[f"{letter}_{k}" for k in range(1, count + 1)] for letter in ("K", "Pi", "number")]
    free = next((some for some in names if not taken & set(some)), names[-1])
    letters = {"K": "K", "Pi": r"\Pi", "number": r"\mathcal{K}"}
    return tuple(
        Notation(
            name, "1", f"{letters[name.split('_')[0]]}_{{{name.split('_')[1]}}}",
            "a dimensionless number",
        ).symbol
        for name in free
    )


def _strictly(piece: SumPiece, values: Values) -> bool:
    strict = [replace(r, relation="<") if r.relation != "==" else r for r in piece.requirements]
    return replace(piece, requirements=tuple(strict)).holds(values)
