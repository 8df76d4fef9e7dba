"""Bounds where there is no closed form: max <= sum <= k max, as monomial programs.

Replacing every sum by its largest term loosens a problem, replacing it by k times
the largest tightens it. Both are monomial programs with the same dual vertices, so
their optima differ by a constant in each piece, and the true optimum lies between.
"""

from dataclasses import dataclass
from typing import Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.program import Constraint, Program, Sense
from symscale.algebra.products.solve import solve
from symscale.algebra.sums.program import GeometricProgram
from symscale.language.symbols import Notation


@dataclass(frozen=True)
class Bounds:
    """A problem with sums, enclosed by two without.

    Attributes:
        loose: The optimum with every sum replaced by its largest term: no feasible point
            is better, whatever the parameters are.
        tight: The optimum with every sum of k terms replaced by k times the largest: a
            feasible point attains it where that problem is feasible, see `region`.
        factor: There the two differ by at most this factor.
    """

    loose: Limit
    tight: Limit
    factor: sp.Expr

    @property
    def region(self) -> tuple[Relational, ...]:
        """Where the tight problem is feasible, so that its optimum says something."""
        return tuple(c.relational for c in self.tight.feasibility if c.ratio.free_symbols)

    @property
    def nowhere(self) -> bool:
        """Whether the tight problem is feasible nowhere."""
        numbers = [c for c in self.tight.feasibility if not c.ratio.free_symbols]
        return any(c.ratio.compare_one() > 0 for c in numbers)


def monomial_program(
    program: GeometricProgram, *, sense: Sense, tight: bool = False, title: str = ""
) -> Program:
    """Return a program without sums: the same one, or one that bounds it.

    Args:
        program: The program.
        sense: Whether the optimum asked for is a maximum or a minimum.
        tight: Whether sums of k terms become k times their largest term.
        title: Its title.
    """
    constraints: list[Constraint] = []
    objective = program.objective[0]
    variables = program.variables
    if len(program.objective) > 1:
        objective, bound = _epigraph(program)
        variables = (*variables, bound)
        constraints += _split(
            "objective", tuple(t / Monomial.of(bound) for t in program.objective), tight
        )
    for c in program.constraints:
        if c.relation == "==":
            constraints.append(_constraint(c.name, c.terms[0], "==", c.reason, c.source))
        else:
            constraints += _split(c.name, c.terms, tight, c.reason, c.source)
    if sense == "maximize":
        objective = objective**-1
    return Program(
        "problem", title, sense, objective, variables, tuple(constraints), program.domain
    )


def enclose(program: GeometricProgram, *, sense: Sense, title: str = "") -> Bounds:
    """Solve the two programs without sums that enclose one with sums.

    Example:
        >>> from symscale.algebra.exact.domain import Domain
        >>> from symscale.language.symbols import symbols
        >>> I, J, K = symbols("I J K")
        >>> sums = GeometricProgram((I,), (Monomial.of(J*I), Monomial.of(K/I)), (), Domain())
        >>> bounds = enclose(sums, sense="minimize")
        >>> bounds.loose.expr, bounds.tight.expr, bounds.factor
        (sqrt(J)*sqrt(K), 2*sqrt(J)*sqrt(K), 2)
    """
    loose, tight = (
        solve(monomial_program(program, sense=sense, tight=tight, title=title))
        for tight in (False, True)
    )
    counts = {c.name: sp.Integer(len(c.terms)) for c in program.constraints}
    counts["objective"] = sp.Integer(len(program.objective))
    factor: sp.Expr = sp.Integer(1)
    for piece in (*loose.pieces, *tight.pieces):
        gap: sp.Expr = sp.Integer(1)
        for name, weight in piece.multipliers.items():
            gap *= counts.get(name.rsplit(" [", 1)[0], sp.Integer(1)) ** weight
        factor = gap if _is_greater(gap, factor) else factor
    return Bounds(loose, tight, factor)


def _is_greater(first: sp.Expr, second: sp.Expr) -> bool:
    sample = dict.fromkeys(first.free_symbols | second.free_symbols, sp.Rational(1, 3))
    return bool(sp.N(first.subs(sample)) > sp.N(second.subs(sample)))


def _epigraph(program: GeometricProgram) -> tuple[Monomial, sp.Symbol]:
    """A variable that bounds the objective, with a name that the problem leaves free."""
    taken = {str(s) for s in (*program.variables, *program.parameters)}
    name = "objective"
    while name in taken:
        name += "_"
    bound = Notation(name, "1", r"\mathrm{objective}", "what bounds the objective").symbol
    return Monomial.of(bound), bound


def _split(
    name: str, terms: tuple[Monomial, ...], tight: bool, reason: str = "", source: str = ""
) -> list[Constraint]:
    if len(terms) == 1:
        return [_constraint(name, terms[0], "<=", reason, source)]
    scale = Monomial.of(len(terms)) if tight else ONE
    return [
        _constraint(f"{name} [{k}]", scale * term, "<=", reason, source)
        for k, term in enumerate(terms, 1)
    ]


def _constraint(
    name: str, ratio: Monomial, relation: Literal["<=", "=="], reason: str, source: str
) -> Constraint:
    above = Monomial(tuple((a, e) for a, e in ratio.powers if not _falls(e)))
    return Constraint(name, above, relation, above / ratio, reason, source)


def _falls(exponent: sp.Expr) -> bool:
    value = exponent.subs(dict.fromkeys(exponent.free_symbols, sp.Rational(1, 3)))
    return bool(value.is_negative)
