"""Where the steps of derivations hold: what is said beside a formula, and checked with it."""

from collections.abc import Iterable, Sequence

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.certify.theorems import PieceProof
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Condition, Limit


def intervals(
    domain: Domain, statement: Relational, weights: Iterable[sp.Expr]
) -> tuple[Relational, ...]:
    """The intervals of exponent symbols that a statement rests on.

    A power may change its sign, or be undefined, where what divides it does: there the
    statement needs the interval in which the divisor has one sign.

    Args:
        domain: Where exponent symbols live.
        statement: The statement.
        weights: The powers to which its premises are raised.

    Example:
        >>> from symscale.algebra.exact.domain import Interval
        >>> from symscale.language.symbols import symbols
        >>> T, N, alpha = symbols("T N alpha")
        >>> domain = Domain(exponents={alpha: Interval(None, sp.Rational(1, 2))})
        >>> intervals(domain, T <= N**(1/(1 - 2*alpha)), []), intervals(domain, T <= N**alpha, [])
        ((alpha < 1/2,), ())
    """
    powers = [*weights, *(p.exp for p in statement.atoms(sp.Pow))]
    used = set().union(*(sp.fraction(sp.together(p))[1].free_symbols for p in powers))
    found: list[Relational] = []
    for s in sorted(used & set(domain.exponents), key=str):
        lower, upper = domain.exponents[s].lower, domain.exponents[s].upper
        found += [sp.Gt(s, lower, evaluate=False)] if lower is not None else []
        found += [sp.Lt(s, upper, evaluate=False)] if upper is not None else []
    return tuple(found)


def at_meeting(
    conditions: Iterable[Monomial], x: sp.Symbol, value: sp.Expr
) -> tuple[Relational, ...]:
    """What is left of the conditions of two bounds where they are equal.

    Args:
        conditions: Monomials that must be at most 1 for the one or the other.
        x: The symbol for which the meeting is solved.
        value: Its value there.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, N, T = symbols("C N T")
        >>> at_meeting([Monomial.of(T/N), Monomial.of(T/(2*C))], T, N)
        (N <= 2*C,)
    """
    there = [c.substitute({x: Monomial.of(value)}) for c in conditions]
    kept = [Condition(c).relational for c in there if not c.is_one]
    return tuple(dict.fromkeys(kept))


def not_attained(limit: Limit | None, proofs: Sequence[PieceProof]) -> list[str]:
    """The pieces of a limit that no proof attains in all of the region where they rule.

    Whatever a proof asks for must be a condition of the piece's region, of there being any
    point at all, or of the domain.
    """
    if limit is None:
        return []
    always = [Condition(c.ratio).primitive for c in limit.feasibility]
    always += [Condition(m**-1).primitive for m in limit.program.domain.at_least_one]
    missing = []
    for piece in limit.pieces:
        granted = {*always, *(c.primitive for c in piece.region)}
        if not any(
            p.program == limit.program and p.bound == piece.bound
            and {Condition(c).primitive for c in p.conditions} <= granted
            for p in proofs
        ):
            missing.append(piece.name)
    return missing
