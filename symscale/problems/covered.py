"""Answers within a share: pieces that cover a box of a problem's parameters."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symscale.algebra.certify.theorems import judged
from symscale.algebra.certify.writer import CertificateWriter
from symscale.errors import CheckFailedError, InputError
from symscale.problems.answer import ProblemAnswer
from symscale.problems.proofs import number_symbols

if TYPE_CHECKING:
    from symscale.algebra.tangents.boxes import ParameterBox

_LEAST_SHARE, _LARGEST_FACTOR = Fraction(1, 10_000), 10**9


def read_share(text: str) -> sp.Rational:
    """Read a share: `5%` or `0.05`.

    Raises:
        InputError: If it is no number, or not above 0.01 % and at most 100 %.

    Example:
        >>> read_share("5%"), read_share("0.05")
        (1/20, 1/20)
    """
    shown = text.strip()[:40]
    number = _number(shown.removesuffix("%"))
    if number is None:
        raise InputError(f"--within {shown}: give a share such as 5% or 0.05")
    share = number / 100 if shown.endswith("%") else number
    if not _LEAST_SHARE <= share <= 1:
        hint = f"; write {shown}%" if number > 1 and not shown.endswith("%") else ""
        raise InputError(f"--within {shown}: a share is between 0.01% and 100%{hint}")
    return sp.Rational(share.numerator, share.denominator)


def read_factor(text: str) -> sp.Rational:
    """Read the factor of a box.

    Raises:
        InputError: If it is no number above 1.
    """
    shown = text.strip()[:40]
    factor = _number(shown)
    if factor is None or not 1 < factor <= _LARGEST_FACTOR:
        raise InputError(f"--box {shown}: give a factor above 1, such as 2")
    return sp.Rational(factor.numerator, factor.denominator)


def read_digits(number: int) -> int:
    """Read how many digits a local law's shares have.

    Raises:
        InputError: If they are not 1 to 3.
    """
    from symscale.algebra.tangents.law import MOST_DIGITS

    if not 1 <= number <= MOST_DIGITS:
        raise InputError(f"--digits {number}: give 1 to {MOST_DIGITS}")
    return number


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip()) if len(text) <= 40 and text.isascii() else None
    except (ValueError, ZeroDivisionError):
        return None


def covered(
    found: ProblemAnswer, share: sp.Rational, factor: sp.Rational | None,
    progress: Callable[[str], None],
) -> ProblemAnswer:
    """An answer with pieces that cover a box of its parameters.

    Args:
        found: The answer.
        share: How near the best piece must be.
        factor: Each parameter lies between its number over the factor and times it; None:
            between its own lower and upper.
        progress: Told how far it is.

    Raises:
        InputError: If there is no such box.
        InfeasibleError: If no point of it satisfies the constraints.
        NoAnswerError: If too many pieces are needed.
    """
    if found.limit is not None:
        return replace(found, share=share)
    from symscale.algebra.tangents.cover import cover, unproved_cover
    from symscale.algebra.tangents.theorems import COVERED, write_cover

    pieces = cover(found.program, _box(found, factor), share, progress)
    if pieces.proof is not None:
        progress("the kernel checks the proof")
        writer = CertificateWriter(found.program)
        write_cover(writer, pieces, number_symbols(found.program, len(pieces.numbers)))
        try:
            judged(writer.data(found.problem.title)).require(COVERED)
        except CheckFailedError:
            pieces = unproved_cover(pieces, "it is more than the kernel takes", progress)
    return replace(found, share=share, cover=pieces)


def _box(found: ProblemAnswer, factor: sp.Rational | None) -> "ParameterBox":
    """Between what numbers the parameters lie."""
    from symscale.algebra.tangents.boxes import ParameterBox, box_around

    needed = set(found.program.parameters)
    exponents = sorted(str(s) for s in found.program.exponent_symbols)
    if exponents:
        raise InputError(f"--within: {', '.join(exponents)} in exponents need numbers; use --set")
    numbers = {s: v for s, v in found.values.items() if s in needed}
    spans: dict[sp.Expr, Any] = {
        q.symbol: (q.lower, q.upper) for q in found.problem.parameters
        if q.symbol in needed and q.lower is not None and q.upper is not None and q.lower > 0
    }
    if factor is not None:
        around = box_around(numbers, factor, found.program.domain).ranges
        ranges = {**{s: spans[s] for s in spans if s not in numbers}, **around}
    else:
        if not spans:
            raise InputError(
                "--within needs a box: give --box FACTOR, or parameters a lower and an upper "
                "bound in the file"
            )
        ranges = {**{s: (v, v) for s, v in numbers.items()}, **spans}
    missing = sorted(str(s) for s in needed if s not in ranges)
    if missing:
        raise InputError(
            f"--within: {', '.join(missing)} has neither a number nor lower and upper bounds; "
            "use --set"
        )
    return ParameterBox(ranges)
