"""Closed forms of sums that rule somewhere, each formula once.

A region that is empty, or that has no inside although others do, is left out: by an exact
linear program in logarithms where its requirements are products of powers, else by a
search. Regions of one formula of which one contains the other, or which differ by one
requirement and its contrary, become one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import Terms, term_count
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.exact.regions import find_witness, impossible
from symscale.algebra.sums.piece import Beyond, SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.solve import candidates
from symscale.algebra.sums.values import Requirement, signed_terms
from symscale.algebra.sums.witness import sum_witness

_MOST_TERMS = 60
Witness = dict[sp.Symbol, sp.Rational]


def closed_forms(
    program: GeometricProgram, beyond: Beyond | None = None
) -> tuple[tuple[SumPiece, ...], bool]:
    """Find closed forms of the optimum that rule somewhere.

    Args:
        program: The program.
        beyond: What solves systems that have one term more than determines them.

    Returns:
        The pieces, and whether together they cover all parameters at which there is a
        bound: see `candidates`.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> x, a, b = symbols("N J K")
        >>> terms = Monomial.of(a*x), Monomial.of(b/x)
        >>> (piece,), complete = closed_forms(GeometricProgram((x,), terms, (), Domain()))
        >>> piece.expr, piece.point, complete
        (2*sqrt(J)*sqrt(K), {N: sqrt(K)/sqrt(J)}, True)
    """
    pieces, complete = candidates(program, beyond)
    return sift(pieces, program), complete


def sift(pieces: Sequence[SumPiece], program: GeometricProgram) -> tuple[SumPiece, ...]:
    """Leave out closed forms that rule nowhere, and merge those of one formula."""
    kept: list[SumPiece] = []
    flat: list[SumPiece] = []
    for piece in _merged(pieces, program):
        piece = replace(piece, requirements=_needed(piece.requirements, program.domain))
        witness, nowhere = _witness(piece, program)
        if witness is not None or not nowhere:
            kept.append(replace(piece, witness=witness))
        elif piece.along is None and not _empty(piece.requirements, program):
            flat.append(piece)
    return tuple(kept or flat)


def _witness(piece: SumPiece, program: GeometricProgram) -> tuple[Witness | None, bool]:
    """Parameters, or a share and parameters, at which a piece rules; and whether there are none."""
    if piece.along is None:
        return inside(piece.requirements, program)
    moved = piece.along.put_in(program)
    if moved is None:
        return None, False
    requirements = [piece.along.free_of(r) for r in piece.requirements]
    return inside([*requirements, *piece.along.ends], moved)


def inside(
    requirements: Sequence[Requirement], program: GeometricProgram
) -> tuple[Witness | None, bool]:
    """Parameters at which requirements hold strictly; and whether there are none."""
    strict = [r.ratio**-1 for r in requirements if r.relation != "=="]
    level = [r.ratio for r in requirements if r.relation == "=="]
    weak = [*program.domain.at_least_one, *level, *(m**-1 for m in level)]
    if _plain([*strict, *weak]):
        witness, proven = find_witness(strict, weak, program.parameters, program.domain)
        if witness is None or all(s in witness for s in program.parameters):
            return witness, witness is None and proven
    if impossible(strict, weak, program.domain):
        return None, True
    if level:
        return None, False
    conditions = [_difference(r.ratio) for r in requirements]
    atoms = [a for r in requirements for a in r.ratio.atoms if not a.is_Symbol]
    for atom in dict.fromkeys(atoms):
        conditions.append(signed_terms(atom))
    every = [*program.objective, *(t for c in program.constraints for t in c.terms)]
    coefficients = [t.split(program.variables)[1] for t in every]
    return sum_witness(conditions, coefficients, program)


def implied(requirement: Requirement, given: Iterable[Requirement], domain: Domain) -> bool:
    """Whether a requirement follows from others, by an exact linear program.

    Sums count as independent of each other, so a "no" can be too strict.
    """
    others = list(given)
    if requirement in others or replace(requirement, relation="<") in others:
        return True
    if requirement.relation != "<=":
        return False
    weak = [r.ratio**-1 for r in others] + [r.ratio for r in others if r.relation == "=="]
    return impossible([requirement.ratio], [*weak, *domain.at_least_one], domain)


def _needed(requirements: Sequence[Requirement], domain: Domain) -> tuple[Requirement, ...]:
    """Requirements without those that follow from the others and the domain."""
    kept = list(requirements)
    for r in reversed(requirements):
        others = [k for k in kept if k is not r]
        if implied(r, others, domain):
            kept = others
    return tuple(kept)


def _merged(pieces: Sequence[SumPiece], program: GeometricProgram) -> list[SumPiece]:
    """Pieces of one formula whose regions contain one another, or fill up one region."""
    found = list(pieces)
    changed = True
    while changed:
        changed = False
        for one in found:
            for other in found:
                if one is other or one.value != other.value or one.status != other.status:
                    continue
                union = _union(one, other, program.domain)
                if union is not None:
                    position = min(found.index(one), found.index(other))
                    found = [p for p in found if p is not one and p is not other]
                    found.insert(position, union)
                    changed = True
                    break
            if changed:
                break
    return found


def _union(one: SumPiece, other: SumPiece, domain: Domain) -> SumPiece | None:
    """The piece that rules where either does; with the point of the one that rules there."""
    # Where more binds than is needed for the value, the point is one of those that the
    # other piece leaves free.
    needed = one.optimality if set(one.binding) < set(other.binding) else one.requirements
    if all(implied(r, other.requirements, domain) for r in needed):
        return one
    mine = [r for r in one.requirements if r not in other.requirements]
    theirs = [r for r in other.requirements if r not in one.requirements]
    if not (len(mine) == len(theirs) == 1 and mine[0].relation == theirs[0].relation == "<="):
        return None
    if mine[0].ratio != theirs[0].ratio**-1:
        return None
    places = [
        replace(p, requirements=(*p.requirements, extra))
        for piece, extra in ((one, mine[0]), (other, theirs[0]))
        for p in piece.places
    ]
    return replace(
        one, requirements=tuple(r for r in one.requirements if r not in mine),
        places=tuple(places), binding=tuple(n for n in one.binding if n in other.binding),
    )


def _empty(requirements: Sequence[Requirement], program: GeometricProgram) -> bool:
    """Whether nothing satisfies requirements, not even their limits."""
    strict = [r.ratio**-1 for r in requirements if r.relation == "<"]
    weak = [r.ratio**-1 for r in requirements if r.relation != "<"]
    weak += [r.ratio for r in requirements if r.relation == "=="]
    return impossible(strict, [*weak, *program.domain.at_least_one], program.domain, weak_too=True)


def _plain(monomials: Sequence[Monomial]) -> bool:
    return all(a.is_Symbol for m in monomials for a in m.atoms)


def _difference(ratio: Monomial) -> Terms:
    """A sum above zero exactly where a monomial is below 1, sums multiplied out if that is short.

    Where these stand to whole powers only, a search can follow.
    """
    sums: list[Any] = [e for a, e in ratio.powers if a.is_Add and e.is_Rational]
    scale = sp.Rational(
        math.lcm(*(int(e.q) for e in sums)), math.gcd(*(int(e.p) for e in sums)) or 1
    )
    sides: tuple[list[Monomial], list[Monomial]] = ([], [])
    for atom, exponent in (ratio**scale).powers:
        negative = bool(exponent.is_negative)
        sides[negative].append(Monomial.from_powers({atom: -exponent if negative else exponent}))
    below, above = (sp.Mul(*(m.expr for m in side)) for side in sides)
    if term_count(below) + term_count(above) > _MOST_TERMS:
        return ((sp.Integer(1), ratio**-1), (sp.Integer(-1), ONE))
    return (*signed_terms(sp.expand(above)),
            *((-c, m) for c, m in signed_terms(sp.expand(below))))
