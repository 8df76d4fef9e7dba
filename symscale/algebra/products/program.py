"""Monomial programs: an objective under named constraints, each with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError

Sense = Literal["maximize", "minimize"]


@dataclass(frozen=True)
class Constraint:
    """A named relation between two monomials.

    Attributes:
        name: Short name; unique within a program.
        lhs: Left-hand side.
        relation: "<=" or "==".
        rhs: Right-hand side.
        reason: Why it holds.
        source: Key of a source, or "".
    """

    name: str
    lhs: Monomial
    relation: Literal["<=", "=="]
    rhs: Monomial
    reason: str
    source: str = ""

    def __post_init__(self) -> None:
        """Check the relation: greater-or-equal is written with its sides exchanged."""
        if self.relation not in ("<=", "=="):
            raise FormulaError(f"a constraint is <= or ==, not {self.relation!r}")

    @cached_property
    def ratio(self) -> Monomial:
        """Left over right: at most 1, or equal to 1."""
        return self.lhs / self.rhs

    @property
    def is_equality(self) -> bool:
        """Whether it is an equality."""
        return self.relation == "=="

    @property
    def relational(self) -> Relational:
        """The relation as SymPy prints it."""
        kind = sp.Eq if self.is_equality else sp.Le
        return kind(self.lhs.expr, self.rhs.expr, evaluate=False)

    def substitute(self, values: Mapping[sp.Symbol, sp.Expr | Monomial]) -> "Constraint":
        """Replace symbols on both sides."""
        return replace(
            self, lhs=self.lhs.substitute(values), rhs=self.rhs.substitute(values)
        )


def at_most(
    name: str, lhs: sp.Expr | int | Monomial, rhs: sp.Expr | int | Monomial, reason: str,
    source: str = "",
) -> Constraint:
    """Return the constraint `lhs <= rhs`.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> N_PP, L = symbols("N_PP L")
        >>> at_most("stages", N_PP, L, "a stage holds a block at least").ratio.expr
        N_PP/L
    """
    return Constraint(name, Monomial.of(lhs), "<=", Monomial.of(rhs), reason, source)


def equals(
    name: str, lhs: sp.Expr | int | Monomial, rhs: sp.Expr | int | Monomial, reason: str,
    source: str = "",
) -> Constraint:
    """Return the constraint `lhs == rhs`."""
    return Constraint(name, Monomial.of(lhs), "==", Monomial.of(rhs), reason, source)


@dataclass(frozen=True)
class Program:
    """An objective under constraints, all monomials.

    Attributes:
        name: Its slug.
        title: One line for people.
        sense: "maximize" or "minimize".
        objective: What is optimised.
        variables: The unknowns; every other symbol is a parameter.
        constraints: The constraints.
        domain: Where the parameters live.
        piece_names: Names for pieces, by the set of constraints that bind in them.
    """

    name: str
    title: str
    sense: Sense
    objective: Monomial
    variables: tuple[sp.Symbol, ...]
    constraints: tuple[Constraint, ...]
    domain: Domain = field(default_factory=Domain)
    piece_names: Mapping[frozenset[str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the sense, that names are unique, and that no variable stands in an exponent."""
        if self.sense not in ("maximize", "minimize"):
            raise FormulaError(f"sense is maximize or minimize, not {self.sense!r}")
        names = [c.name for c in self.constraints]
        doubled = sorted({n for n in names if names.count(n) > 1})
        if doubled:
            raise FormulaError(f"two constraints are named {doubled[0]!r}")
        unknown = set(self.variables)
        for constraint in self.constraints:
            inside = constraint.ratio.exponent_symbols & unknown
            if inside:
                raise FormulaError(
                    f"constraint {constraint.name!r}: variable {min(map(str, inside))} "
                    "stands in an exponent"
                )
            for atom in constraint.ratio.atoms:
                if not atom.is_Symbol and atom.free_symbols & unknown:
                    raise FormulaError(
                        f"constraint {constraint.name!r}: {atom} is no monomial in the variables"
                    )

    @property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """Every symbol that is not a variable, sorted by name."""
        found = set(self.objective.free_symbols)
        for constraint in self.constraints:
            found |= constraint.ratio.free_symbols
        return tuple(sorted(found - set(self.variables), key=str))

    @property
    def exponent_symbols(self) -> tuple[sp.Symbol, ...]:
        """The symbols that stand in exponents, sorted by name."""
        found = set(self.objective.exponent_symbols)
        for constraint in self.constraints:
            found |= constraint.ratio.exponent_symbols
        return tuple(sorted(found, key=str))

    def constraint(self, name: str) -> Constraint:
        """Return the constraint called `name`."""
        for constraint in self.constraints:
            if constraint.name == name:
                return constraint
        raise FormulaError(f"no constraint is named {name!r}")

    def substitute(self, values: Mapping[sp.Symbol, sp.Expr | Monomial]) -> "Program":
        """Give parameters values: numbers or monomials in other parameters."""
        domain = Domain(
            tuple(
                m
                for m in (g.substitute(values) for g in self.domain.at_least_one)
                if m.atoms
            ),
            {s: i for s, i in self.domain.exponents.items() if s not in values},
        )
        return replace(
            self,
            objective=self.objective.substitute(values),
            constraints=tuple(c.substitute(values) for c in self.constraints),
            domain=domain,
        )
