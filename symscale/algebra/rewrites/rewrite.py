"""Rewrites that hand back their result together with its reason and its region.

Each says how the expression before relates to the one after: equal, at most, at
least. One that is not exact says by which factor the two may differ.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError

Relation = Literal["==", "<=", ">="]


@dataclass(frozen=True)
class Minimum:
    """What proves that a value is the least of a sum of products of powers.

    Attributes:
        point: The variables, and where the sum is least.
        lower: Lower bounds of parameters, by which the coefficients are positive.
        curvature: In one variable: the second derivative by its logarithm, at the point.
        bounds: Products of powers that must not exceed 1 for the variables to make sense.
    """

    point: Mapping[sp.Symbol, sp.Expr]
    lower: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)
    curvature: sp.Expr | None = None
    bounds: tuple[sp.Expr, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """An expression, what it became, and why that is allowed.

    Attributes:
        before: The expression before.
        after: The expression after.
        relation: `before relation after`.
        reason: Why.
        conditions: Where it holds, as relations.
        facts: Equalities that were used, symbol to expression.
        factor: Where the rewrite is not exact: the greatest ratio between the two.
        equality: Where it is not exact: relations under which both are equal.
        minimum: Where the expression after is the minimum of the one before: its proof.
        admissible: Where the variables of a minimum stay within their bounds.
    """

    before: sp.Expr
    after: sp.Expr
    relation: Relation
    reason: str
    conditions: tuple[sp.Basic, ...] = ()
    facts: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    factor: sp.Expr | None = None
    equality: tuple[sp.Basic, ...] = ()
    minimum: Minimum | None = None
    admissible: tuple[sp.Basic, ...] = ()

    @property
    def statement(self) -> Relational:
        """`before relation after` as a SymPy relation."""
        return relate(self.before, self.relation, self.after)


def relate(left: sp.Expr, relation: Relation, right: sp.Expr) -> Relational:
    """Return a SymPy relation that stays as written."""
    kinds: dict[str, Any] = {"==": sp.Eq, "<=": sp.Le, ">=": sp.Ge}
    return kinds[relation](left, right, evaluate=False)


def drop_ones(expr: sp.Expr, degrees: Iterable[sp.Symbol], least: int = 2) -> Rewrite:
    """Replace N - 1 by N for each degree N of parallelism.

    The expression grows, by at most the factor least/(least - 1) where every degree
    is at least `least`, or its power where a term has several degrees; where a degree
    is 1 its term vanishes and the bound is crude.

    Args:
        expr: An expression that contains terms N - 1 and increases with each.
        degrees: The degrees.
        least: The least degree of the region where the factor is stated.

    Raises:
        FormulaError: If it is not linear in a degree, or without the -1.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> N_DP, P = symbols("N_DP P")
        >>> drop_ones(2*(N_DP - 1)*P, [N_DP]).after
        2*N_DP*P
    """
    chosen = list(degrees)
    after = expr
    for degree in chosen:
        if degree not in after.free_symbols or sp.diff(after, degree, 2) != 0:
            raise FormulaError(f"{expr} is not linear in {degree}")
        terms = sp.Add.make_args(sp.expand(after))
        slope = sp.Add.make_args(sp.expand(-sp.diff(after, degree)))
        if not set(slope) <= set(terms):
            raise FormulaError(f"{degree} - 1 does not occur in {expr}")
        # A function of N - 1, read at N + 1, is the same function of N.
        after = after.subs(degree, degree + 1)
    names = ", ".join(map(str, chosen))
    return Rewrite(
        expr,
        after,
        "<=",
        f"drop the -1 beside {names}",
        tuple(sp.Ge(d, least, evaluate=False) for d in chosen),
        factor=sp.Rational(least, least - 1) ** sp.Poly(after, *chosen).total_degree(),
    )


def substitute(expr: sp.Expr, facts: Mapping[sp.Symbol, sp.Expr], reason: str) -> Rewrite:
    """Replace symbols by what equalities say they are.

    Raises:
        FormulaError: If none of them occurs.
    """
    values: dict[Any, Any] = dict(facts)
    after = expr.subs(values, simultaneous=True)
    if after == expr:
        raise FormulaError(f"nothing to substitute in {expr}")
    return Rewrite(expr, after, "==", reason, facts=dict(facts))


def rearrange(expr: sp.Expr, after: sp.Expr, reason: str) -> Rewrite:
    """Write the same expression another way; the check verifies that it is the same."""
    return Rewrite(expr, after, "==", reason)


def compose(first: Rewrite, second: Rewrite, reason: str = "") -> Rewrite:
    """Join two rewrites in a row into one.

    Raises:
        FormulaError: If the second does not start where the first ends, or the two point
            in opposite directions.
    """
    if second.before != first.after:
        raise FormulaError(f"{second.before} is not where the first rewrite ends")
    relations = {r for r in (first.relation, second.relation) if r != "=="}
    if len(relations) > 1:
        raise FormulaError("one rewrite goes up, the other down")
    factors = [r.factor for r in (first, second) if r.factor is not None]
    return Rewrite(
        first.before,
        second.after,
        relations.pop() if relations else "==",
        reason or f"{first.reason}; {second.reason}",
        (*first.conditions, *second.conditions),
        {**first.facts, **second.facts},
        sp.Mul(*factors) if factors else None,
        (*first.equality, *second.equality),
    )


def arithmetic_geometric(expr: sp.Expr) -> Rewrite:
    """Bound a sum of k monomials from below by k times their geometric mean.

    The two are equal where all terms are, which is the optimum of a split when the
    product of the terms is fixed.

    Raises:
        FormulaError: If it is no sum of monomials.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> I, J = symbols("I J")
        >>> arithmetic_geometric(I + J).after
        2*sqrt(I)*sqrt(J)
    """
    terms = [Monomial.of(t) for t in sp.Add.make_args(sp.expand(expr))]
    if len(terms) < 2:
        raise FormulaError(f"{expr} is no sum")
    product = terms[0]
    for term in terms[1:]:
        product = product * term
    mean = product ** sp.Rational(1, len(terms))
    after = len(terms) * mean.expr
    equality = tuple(
        sp.Eq(terms[0].expr, other.expr, evaluate=False) for other in terms[1:]
    )
    return Rewrite(
        expr,
        after,
        ">=",
        "the arithmetic mean is at least the geometric mean, and equal where all terms are",
        equality=equality,
    )


def equal_shares(expr: sp.Expr) -> Rewrite:
    """Bound a sum of k terms by k times the largest of them.

    Where the terms can be made equal at the optimum, nothing is lost there.

    Raises:
        FormulaError: If it is no sum of monomials.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> I, J = symbols("I J")
        >>> equal_shares(I + J).after
        Max(2*I, 2*J)
    """
    terms = [Monomial.of(t) for t in sp.Add.make_args(sp.expand(expr))]
    if len(terms) < 2:
        raise FormulaError(f"{expr} is no sum")
    count = sp.Integer(len(terms))
    return Rewrite(
        expr,
        sp.Max(*(count * t.expr for t in terms), evaluate=False),
        "<=",
        f"a sum of {count} terms is at most {count} times the largest, and equal where all are",
        factor=count,
        equality=tuple(
            sp.Eq(terms[0].expr, other.expr, evaluate=False) for other in terms[1:]
        ),
    )


def split_maximum(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    """Return the arguments of a maximum: it is at most x exactly when each of them is.

    Raises:
        FormulaError: If it is no maximum.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> I, J = symbols("I J")
        >>> split_maximum(sp.Max(I, J))
        (I, J)
    """
    if not isinstance(expr, sp.Max):
        raise FormulaError(f"{expr} is no maximum")
    arguments: tuple[Any, ...] = expr.args
    return tuple(sorted(arguments, key=str))
