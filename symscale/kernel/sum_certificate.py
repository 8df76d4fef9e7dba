"""Certificates of closed forms of sums, and what their form must be.

Let a sum's shares at the claimed point be `w_i`. By the inequality of the weighted
means every point has `sum m_i >= prod (m_i/w_i)**w_i`. Multiplied by the constraints
that bind, each condensed in the same way and raised to its multiplier, every variable
cancels: what is left is the value, and at the point all of it is an equality. Shares
and multipliers are functions of the parameters, so all this is a handful of identities
between functions, and the multipliers' signs are conditions on the parameters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import CheckFailedError

OBJECTIVE = "objective"


@dataclass(frozen=True)
class SumCertificate:
    """A claim about the optimum of a program with sums.

    Attributes:
        program: The program.
        piece: Name of the piece.
        bound: The optimum, as a product of powers of parameters and of sums of such.
        weights: For the objective, where it is a sum, and for each sum that binds: the
            shares of its terms at the point.
        multipliers: For each constraint that binds, a sum of monomials in parameters.
        point: For each variable, a monomial in parameters and in sums of such.
        conditions: The claim is made where each of these sums is at least zero.
        witness: Exact parameters at which every condition holds.
    """

    program: GeometricProgram
    piece: str
    bound: Monomial
    weights: Mapping[str, tuple[Monomial, ...]]
    multipliers: Mapping[str, Terms]
    point: Mapping[sp.Symbol, Monomial]
    conditions: tuple[Terms, ...]
    witness: Mapping[sp.Symbol, sp.Rational]


def _monomials(c: SumCertificate) -> Iterator[Monomial]:
    """All monomials in parameters only."""
    yield c.bound
    yield from c.point.values()
    yield from c.program.domain.at_least_one
    for shares in c.weights.values():
        yield from shares
    for terms in (*c.multipliers.values(), *c.conditions):
        yield from (m for _, m in terms)


def _terms(c: SumCertificate) -> Iterator[Monomial]:
    """All terms of the program."""
    yield from c.program.objective
    for constraint in c.program.constraints:
        yield from constraint.terms


def check_form(c: SumCertificate) -> None:
    """Names must be unambiguous, exponents defined, point and witness complete.

    Raises:
        CheckFailedError: If they are not.
    """
    program, variables = c.program, set(c.program.variables)
    names = [OBJECTIVE, *(k.name for k in program.constraints)]
    if len(set(names)) < len(names):
        raise CheckFailedError("two constraints have one name, or one is named 'objective'")
    unknown = {*c.multipliers, *c.weights} - set(names)
    if unknown or OBJECTIVE in c.multipliers:
        raise CheckFailedError(f"{min(unknown, default=OBJECTIVE)!r} is no constraint")
    if set(c.point) != variables:
        raise CheckFailedError("the point must give a value to each variable, and to nothing else")
    for k in program.constraints:
        if not k.terms or (k.relation == "==" and len(k.terms) > 1):
            raise CheckFailedError(f"{k.name!r} has no term, or is an equality with a sum")
    if not program.objective:
        raise CheckFailedError("the objective has no term")
    coefficients = [e for t in (*c.multipliers.values(), *c.conditions) for e, _ in t]
    for m in _monomials(c):
        if m.free_symbols & variables:
            raise CheckFailedError(f"{m.expr} contains a variable; it may contain parameters only")
    if any(e.free_symbols & variables for e in coefficients):
        raise CheckFailedError("a coefficient contains a variable")
    every = [*_monomials(c), *_terms(c)]
    for m in _terms(c):
        inside = m.exponent_symbols.union(*(a.free_symbols for a in m.atoms if not a.is_Symbol))
        if inside & variables:
            raise CheckFailedError(f"{m.expr} is no monomial in the variables")
    for e in {*coefficients, *(e for m in every for _, e in m.powers)}:
        if e.has(sp.nan, sp.zoo, sp.oo, sp.I):
            raise CheckFailedError(f"{e} is no exponent")
        if e.free_symbols and program.domain.sign(sp.fraction(sp.together(e))[1]) == 0:
            raise CheckFailedError(f"the exponent {e} is not defined")
    symbols: set[Any] = variables.union(
        *(m.free_symbols for m in every), *(e.free_symbols for e in coefficients)
    )
    if len({s.name for s in symbols}) < len(symbols):
        raise CheckFailedError("two symbols have one name")
    for s in sorted(symbols - variables, key=str):
        if not isinstance(c.witness.get(s), sp.Rational):
            raise CheckFailedError(f"the witness gives no rational value to {s}")
    for atom in {a for m in every for a in m.atoms if not a.free_symbols & variables}:
        if not sp.N(atom.xreplace(dict(c.witness)), 30).is_positive:
            raise CheckFailedError(f"{atom} is not positive at the witness")
