"""A closed form of the optimum of a program with sums."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.projection import SumPlace, VariableRange
from symscale.algebra.sums.recession import Direction
from symscale.algebra.sums.values import Requirement, Signed

Values = Mapping[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class SumPiece:
    """A closed form of the optimum, valid where its requirements hold.

    Attributes:
        value: The optimum.
        binding: The constraints that bind.
        requirements: Where it rules.
        places: The optimal variables, as monomials in parameters and sums of such; each
            place where requirements of its own hold, of which some always do.
        free: Between what variables lie that the optimum leaves free.
        status: "infimum" where the value is approached and not attained: the place is
            then what it is approached from, moved along the direction.
        direction: By which powers the variables change together as it is approached.
        shrink: By which they change so that constraints that lost terms become strict.
        optimality: Those of the requirements that are not about feasibility.
        worth: Of each constraint that binds, equalities included, its multiplier: how much
            less the (least) objective is for a share by which the constraint is slackened.
        witness: Parameters at which it rules strictly, where some are known.
    """

    value: Monomial
    binding: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    places: tuple[SumPlace, ...]
    free: Mapping[sp.Symbol, VariableRange] = field(default_factory=dict)
    status: Literal["optimal", "infimum"] = "optimal"
    direction: Direction = field(default_factory=dict)
    shrink: Direction = field(default_factory=dict)
    optimality: tuple[Requirement, ...] = ()
    worth: Mapping[str, Signed] = field(default_factory=dict)
    witness: Mapping[sp.Symbol, sp.Rational] | None = None

    @property
    def expr(self) -> sp.Expr:
        """The optimum as an expression."""
        return self.value.expr

    @property
    def point(self) -> Mapping[sp.Symbol, sp.Expr]:
        """The variables of the first place."""
        return {x: m.expr for x, m in self.places[0].values.items()}

    @property
    def conditions(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """The sides of each requirement."""
        return tuple(r.pair for r in self.requirements)

    def holds(self, values: Values) -> bool:
        """Whether the requirements hold at given parameters."""
        return all(r.holds(values) for r in self.requirements)
