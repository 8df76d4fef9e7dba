"""A closed form of the optimum of a program with sums."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.scalars import Scalars
from symscale.algebra.sums.active import ActiveSystem
from symscale.algebra.sums.optimum import SystemOptimum
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.projection import SumPlace, VariableRange
from symscale.algebra.sums.recession import Direction
from symscale.algebra.sums.values import Requirement, Signed

Values = Mapping[sp.Symbol, sp.Rational]


class Along(Protocol):
    """A law that gives a number, the share, on which the formulas of a piece depend."""

    @property
    def ends(self) -> tuple[Requirement, ...]:
        """Between what the share lies."""

    def holds(self, requirements: Iterable[Requirement], values: Values) -> bool:
        """Whether there is such a share at given parameters, and requirements hold there."""

    def settled(self, requirement: Requirement) -> bool | None:
        """Whether a requirement holds for every share, or for none."""

    def put_in(self, program: GeometricProgram) -> GeometricProgram | None:
        """A program with a parameter as what the law makes of it; None if there is no such."""

    def free_of(self, requirement: Requirement) -> Requirement:
        """A requirement with that parameter put in."""


@dataclass(frozen=True)
class Further:
    """What is known of a system beyond those of which the weights are numbers.

    Attributes:
        optimum: Its optimum; None where it cannot be optimal.
        requirements: What the formulas need.
        along: The law of the share, if they depend on one.
    """

    optimum: SystemOptimum | None
    requirements: tuple[Requirement, ...]
    along: Along | None


class Beyond(Protocol):
    """Solves systems of which the weights are no numbers."""

    def __call__(
        self, program: GeometricProgram, system: ActiveSystem, scalars: Scalars
    ) -> Further | None:
        """What is known of a system; None for nothing."""


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
        witness: Parameters at which it rules strictly, where some are known; with the share
            in place of the parameter that follows from it, where there is one.
        along: The law of the share on which the formulas depend, if they do.
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
    along: Along | None = None

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
        if self.along is not None:
            return self.along.holds(self.requirements, values)
        return all(r.holds(values) for r in self.requirements)
