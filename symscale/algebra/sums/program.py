"""Geometric programs: the least sum of monomials under sums of monomials at most 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial


@dataclass(frozen=True)
class SumConstraint:
    """A sum of monomials that is at most 1, or a monomial that equals 1.

    Attributes:
        name: Its name.
        terms: The monomials.
        relation: "<=" or "==".
        reason: Why it holds.
        source: Where it is from.
    """

    name: str
    terms: tuple[Monomial, ...]
    relation: Literal["<=", "=="]
    reason: str
    source: str = ""

    @property
    def expr(self) -> sp.Expr:
        """The sum."""
        return sp.Add(*(t.expr for t in self.terms))


@dataclass(frozen=True)
class GeometricProgram:
    """The least sum of monomials under constraints.

    Attributes:
        variables: The unknowns.
        objective: The terms of the sum.
        constraints: The constraints.
        domain: Where the parameters live.
        inverse: Whether the optimum asked for is one over the least sum.
    """

    variables: tuple[sp.Symbol, ...]
    objective: tuple[Monomial, ...]
    constraints: tuple[SumConstraint, ...]
    domain: Domain
    inverse: bool = False

    @property
    def exponent_symbols(self) -> tuple[sp.Symbol, ...]:
        """The symbols that stand in exponents."""
        found = set().union(*(t.exponent_symbols for t in self.objective))
        for constraint in self.constraints:
            found |= set().union(*(t.exponent_symbols for t in constraint.terms))
        return tuple(sorted(found, key=str))

    @property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """Every symbol that is no variable."""
        found = set().union(*(t.free_symbols for t in self.objective))
        for constraint in self.constraints:
            found |= set().union(*(t.free_symbols for t in constraint.terms))
        return tuple(sorted(found - set(self.variables), key=str))


def all_monomial(constraints: Sequence[SumConstraint]) -> bool:
    """Whether no constraint is a sum."""
    return all(len(c.terms) == 1 for c in constraints)
