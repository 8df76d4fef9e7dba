"""Pieces that cover a box of parameters within a share: products of powers, proved if possible.

Each piece bounds the optimum for all parameters; the best of them at given parameters is
within the share of it, wherever in the box these are.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.tangents.boxes import ParameterBox
from symscale.algebra.tangents.cells import Cell, cell_cover
from symscale.algebra.tangents.convex import Array, TermTable
from symscale.algebra.tangents.line import LineCover, line_cover
from symscale.algebra.tangents.normal import NormalForm, Place, Point, normal_form
from symscale.algebra.tangents.rounding import TangentBound
from symscale.algebra.tangents.samples import Tangents, cover_points, solve_at
from symscale.errors import InfeasibleError, NoAnswerError

MOST_PIECES = 64
PROVED_NUMBERS = 2
"""Up to so many dimensionless numbers a cover is proved; for up to MOST_TRIED it is tried."""
MOST_TRIED = 4
FRESH_POINTS = 1000
_FIRST_POINTS, _ROUND_POINTS, _ROUNDS = 400, 300, 6
_PART = 0.8
_DIGITS = 4
_ROUNDING = 1e-12
Progress = Callable[[str], None]


@dataclass(frozen=True)
class CoverPiece:
    """One of the pieces.

    Attributes:
        bound: The product of powers.
        touch: The numbers at which it touches the optimum, but for rounding.
        span: Of one number: between what values it is the best; None for several.
    """

    bound: TangentBound
    touch: tuple[float, ...]
    span: tuple[float, float] | None = None


@dataclass(frozen=True)
class BoxProof:
    """What a kernel needs to see that the pieces cover a box of the numbers.

    Attributes:
        ends: Between what each number lies.
        corners: Feasible points, in the variables' own units.
        tree: Which piece is near enough on which rectangle.
    """

    ends: tuple[tuple[sp.Rational, sp.Rational], ...]
    corners: Mapping[Place, Point]
    tree: Cell | int


@dataclass(frozen=True)
class Seen:
    """How the pieces did at random points of the box, none of which they were made with.

    Attributes:
        points: How many of them have an optimum.
        near: At how many of these the best piece was within the share.
        worst: By which share it was off, at most.
        without: At how many no point satisfies the constraints.
    """

    points: int
    near: int
    worst: float
    without: int


@dataclass(frozen=True)
class PieceCover:
    """Pieces that cover a box of parameters.

    Attributes:
        share: How near the best piece was to be.
        box: The parameters' box.
        form: The program in its dimensionless numbers.
        pieces: The pieces.
        proof: Why they cover the box, and more: all parameters with such numbers.
        unproved: Why there is no proof.
        seen: How they did at fresh points; None where they are proved.
    """

    share: sp.Rational
    box: ParameterBox
    form: NormalForm
    pieces: tuple[CoverPiece, ...]
    proof: BoxProof | None
    unproved: str
    seen: Seen | None

    @property
    def numbers(self) -> tuple[Monomial, ...]:
        """The dimensionless numbers that decide the program."""
        return self.form.scaling.numbers


def cover(
    program: GeometricProgram, box: ParameterBox, share: sp.Rational,
    progress: Progress = lambda text: None,
) -> PieceCover:
    """Cover a box of parameters by products of powers within a share of the optimum.

    Args:
        program: The program, without symbols in exponents.
        box: Between what numbers its parameters lie.
        share: By which share the best piece may be off.
        progress: Told how far it is.

    Raises:
        InputError: If a sum that stands as a factor is not positive in all of the box.
        InfeasibleError: If no point satisfies the constraints anywhere.
        NoAnswerError: If more than MOST_PIECES pieces are needed.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.language.symbols import symbols
        >>> N, J, K, L = symbols("N J K L")
        >>> terms = tuple(map(Monomial.of, (J/N, K*N, L)))
        >>> side = sp.Integer(1), sp.Integer(2)
        >>> box = ParameterBox({J: side, K: side, L: side})
        >>> found = cover(GeometricProgram((N,), terms, (), Domain()), box, sp.Rational(1, 20))
        >>> len(found.pieces), found.proof is not None
        (2, True)
    """
    form = normal_form(TermTable(program))
    spans = [box.span(number) for number in form.scaling.numbers]
    ends = tuple((_rational(low, up=False), _rational(high, up=True)) for low, high in spans)
    low, high = (np.array([_log(e[k]) for e in ends]) for k in (0, 1))
    proof, unproved = None, ""
    pieces: tuple[CoverPiece, ...] = ()
    if len(ends) > MOST_TRIED:
        unproved = f"{len(ends)} numbers decide it; for more than {MOST_TRIED} no proof is tried"
    else:
        try:
            pieces, tree, places = _proved(form, low, high, float(share), progress)
            proof = BoxProof(ends, _corners(form, ends, low, high, places), tree)
        except InfeasibleError:
            unproved = "in part of the box no point satisfies the constraints"
        except NoAnswerError as error:
            if len(ends) <= 1:
                raise
            unproved = str(error)
    if proof is not None:
        return PieceCover(share, box, form, pieces, proof, "", None)
    pieces = _sampled(form, box, float(share), progress)
    return unproved_cover(PieceCover(share, box, form, pieces, None, "", None), unproved, progress)


def unproved_cover(found: PieceCover, why: str, progress: Progress) -> PieceCover:
    """A cover without a proof, judged at fresh random points instead."""
    seen = _seen(found.form, found.box, found.pieces, float(found.share), progress)
    return replace(found, proof=None, unproved=why, seen=seen)


def _proved(
    form: NormalForm, low: Array, high: Array, share: float, progress: Progress
) -> tuple[tuple[CoverPiece, ...], Cell | int, tuple[Place, ...]]:
    if len(low) == 1:
        line = line_cover(form, float(low[0]), float(high[0]), share, MOST_PIECES, progress)
        places: tuple[Place, ...] = tuple((c,) for c in line.cuts)
        return _along(form, line, float(low[0]), float(high[0])), _cuts(line.cuts, 0), places
    found = cell_cover(form, low, high, share, MOST_PIECES, progress)
    return _pieces(found.tangents), found.tree, found.corners


def _pieces(tangents: Tangents) -> tuple[CoverPiece, ...]:
    return tuple(
        CoverPiece(b, tuple(float(x) for x in np.exp(t)))
        for b, t in zip(tangents.bounds, tangents.touches, strict=True)
    )


def _along(form: NormalForm, line: LineCover, low: float, high: float) -> tuple[CoverPiece, ...]:
    """Pieces in one number, with where each is the best: up to where the next one meets it."""
    zero = form.offsets(np.zeros(1))
    levels = [b.at(zero) for b in line.tangents]
    slopes = [float(b.row @ form.slopes[:, 0]) for b in line.tangents]
    meet = [low]
    for k in range(len(levels) - 1):
        steeper = slopes[k + 1] - slopes[k]
        meet.append((levels[k] - levels[k + 1]) / steeper if steeper else meet[-1])
    meet.append(high)
    return tuple(
        CoverPiece(b, (math.exp(t),), (math.exp(meet[k]), math.exp(meet[k + 1])))
        for k, (b, t) in enumerate(zip(line.tangents, line.touches, strict=True))
    )


def _cuts(cuts: tuple[Fraction, ...], first: int) -> Cell | int:
    """A balanced tree of the intervals between cuts."""
    count = len(cuts) - 1
    if count == 1:
        return first
    half = count // 2
    return Cell(
        0, cuts[half], _cuts(cuts[: half + 1], first), _cuts(cuts[half:], first + half)
    )


def _corners(
    form: NormalForm, ends: tuple[tuple[sp.Rational, sp.Rational], ...], low: Array, high: Array,
    places: tuple[Place, ...],
) -> Mapping[Place, Point]:
    """A feasible point at each place."""
    found = {}
    for place in places:
        parts = [sp.Rational(u.numerator, u.denominator) for u in place]
        exactly = [
            Monomial.of(a) ** (1 - u) * Monomial.of(b) ** u
            for u, (a, b) in zip(parts, ends, strict=True)
        ]
        numbers = low + np.array([float(u) for u in place]) * (high - low)
        found[place] = form.point(numbers, exactly)
    return found


def _sampled(
    form: NormalForm, box: ParameterBox, share: float, progress: Progress
) -> tuple[CoverPiece, ...]:
    """Pieces near enough at random points, until fresh ones need no more."""
    room = math.log1p(share)
    tangents = Tangents(form, MOST_PIECES)
    domain = form.table.program.domain
    points = form.logarithms(box.sample(form.table.atoms, _FIRST_POINTS, domain))
    cover_points(tangents, solve_at(form, points, progress, "first points"), room, _PART)
    for k in range(1, _ROUNDS + 1):
        fresh = box.sample(form.table.atoms, _ROUND_POINTS, domain, seed=k)
        what = f"{len(tangents.bounds)} pieces, round {k}"
        solved = solve_at(form, form.logarithms(fresh), progress, what)
        clean = True
        while True:
            gaps = solved.values - tangents.values(solved.points).max(axis=0)
            worst = int(gaps.argmax())
            if gaps[worst] <= room:
                break
            clean = False
            at = solved.points[worst]
            needed = [float(solved.values[worst]) - room / 4]
            if not tangents.add(solved.shares[worst], at, [at], needed):
                break
        if clean:
            break
    return _pieces(tangents)


def _seen(
    form: NormalForm, box: ParameterBox, pieces: tuple[CoverPiece, ...], share: float,
    progress: Progress,
) -> Seen:
    """How pieces do at fresh points."""
    domain = form.table.program.domain
    fresh = box.sample(form.table.atoms, FRESH_POINTS, domain, seed=_ROUNDS + 1)
    solved = solve_at(form, form.logarithms(fresh), progress, "fresh points")
    tangents = Tangents(form, MOST_PIECES, [p.bound for p in pieces], [])
    gaps = solved.values - tangents.values(solved.points).max(axis=0)
    near = int((gaps <= math.log1p(share)).sum())
    worst = math.expm1(max(0.0, float(gaps.max())))
    return Seen(len(gaps), near, worst, solved.missed)


def _rational(logarithm: float, *, up: bool) -> sp.Rational:
    """A number of few digits beyond the exponential of a logarithm."""
    number = mp.exp(mp.mpf(logarithm))
    power = int(mp.floor(mp.log10(number))) - _DIGITS + 1
    scaled = number / mp.mpf(10) ** power
    near = mp.nint(scaled)
    if abs(scaled - near) > _ROUNDING * scaled:
        near = mp.ceil(scaled) if up else mp.floor(scaled)
    return sp.Rational(int(near)) * sp.Integer(10) ** power


def _log(number: sp.Rational) -> float:
    return float(mp.log(mp.mpf(int(number.p)) / int(number.q)))
