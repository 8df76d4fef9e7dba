"""What the kernel shows of closed forms of sums, and of the bounds that enclose them."""

from collections.abc import Sequence
from dataclasses import replace

from symscale.algebra.certify.covers import COVER, cover_of
from symscale.algebra.certify.enclosures import write_bounds
from symscale.algebra.certify.theorems import Theorems, judged
from symscale.algebra.certify.theorems_of_sums import write_piece
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.sums.bounds import Bounds
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import SymscaleError
from symscale.problems.pieces import AnswerPiece, Values


def theorems_of_sums(
    program: GeometricProgram, pieces: Sequence[AnswerPiece], title: str, *,
    complete: bool, bounds: Bounds | None, values: Values | None,
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
    """
    writer = CertificateWriter(program)
    missing: list[str] = []
    for piece in pieces:
        source = piece.source
        if source is None:
            continue
        inside = values if values is not None and _strictly(source, values) else None
        try:
            write_piece(writer, program, source, piece.name, inside)
        except SymscaleError:
            missing.append(piece.name)
    if bounds is not None and (missing or not complete):
        missing += write_bounds(writer, program, bounds)
    data = writer.data(title)
    cover = cover_of(data) if complete and not missing else None
    if cover is not None:
        data["theorems"].append(cover)
    elif complete:
        missing.append(COVER)
    return judged(data, missing)


def _strictly(piece: SumPiece, values: Values) -> bool:
    return all(
        replace(r, relation="<").holds(values) if r.relation != "==" else r.holds(values)
        for r in piece.requirements
    )
