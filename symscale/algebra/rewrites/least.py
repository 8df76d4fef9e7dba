"""The least value of a sum of products of powers, as a rewrite with its proof.

The solver finds value and point; what makes them a proof is verified by
`symscale.algebra.rewrites.convexity`, which imports no solver.
"""

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import positive_monomial
from symscale.algebra.products.limit import Condition
from symscale.algebra.reading.relations import objective_of
from symscale.algebra.reading.scope import Scope
from symscale.algebra.rewrites.rewrite import Minimum, Rewrite
from symscale.algebra.sums.program import GeometricProgram
from symscale.algebra.sums.sift import closed_forms
from symscale.errors import FormulaError
from symscale.language.symbols import Notation


def least(
    expr: sp.Expr,
    variables: Sequence[sp.Symbol],
    reason: str,
    *,
    bounds: Sequence[sp.Expr] = (),
    lower: Mapping[sp.Symbol, sp.Rational] | None = None,
    domain: Domain | None = None,
) -> Rewrite:
    """Bound a sum from below by its least value over positive variables.

    Args:
        expr: The sum; every term a positive multiple of powers of the variables.
        variables: The variables that are free.
        reason: Why the variables are free.
        bounds: Products of powers that must not exceed 1 for a choice of the variables to
            make sense. They do not take part in the minimum; where they hold at the
            point that attains it is said by the rewrite's `admissible`.
        lower: Lower bounds of parameters, which fix the signs of coefficients.
        domain: Where exponent symbols live.

    Raises:
        FormulaError: If it is no such sum, or its least value has no closed form that
            holds for all parameters.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> I, J, K = symbols("I J K")
        >>> found = least(J*I + K/I, [I], "I is free", bounds=[1/I])
        >>> found.statement, found.equality, found.admissible
        (I*J + K/I >= 2*sqrt(J)*sqrt(K), (Eq(I, sqrt(K)/sqrt(J)),), (J <= K,))
    """
    signs = dict(lower or {})
    fresh = Notation("extreme", "1", "z", "value of a maximum or minimum").symbol
    scope = Scope(frozenset(variables), signs, lambda: fresh)
    terms, inverse, extra = objective_of(expr, "minimize", scope)
    if inverse or extra:
        raise FormulaError(f"{expr} is no sum of products of powers")
    program = GeometricProgram(tuple(variables), terms, (), domain or Domain())
    pieces, complete = closed_forms(program)
    attained = len(pieces) == 1 and pieces[0].status == "optimal"
    if not (complete and attained) or pieces[0].conditions:
        raise FormulaError(f"the least value of {expr} has no closed form for all parameters")
    (piece,) = pieces
    point = {x: piece.point[x] for x in variables}
    curvature = _curvature(terms, variables[0], point) if len(variables) == 1 else None
    found = Minimum(point, signs, curvature, tuple(bounds))
    conditions = [_at(bound, point) for bound in bounds]
    apart = sp.Add(*(t for t in sp.Add.make_args(expr) if not t.has(*variables)))
    return Rewrite(
        expr,
        apart + sp.expand(piece.expr - apart) if apart else piece.expr,
        ">=",
        reason,
        equality=tuple(sp.Eq(x, p, evaluate=False) for x, p in point.items()),
        minimum=found,
        admissible=tuple(Condition(c).relational for c in conditions if not c.is_one),
    )


def _curvature(
    terms: Sequence[Monomial], x: sp.Symbol, point: Mapping[sp.Symbol, sp.Expr]
) -> sp.Expr:
    """The second derivative of a sum at a point, by the logarithm of its only variable."""
    values = [(t.exponent(x) ** 2, _at(t.expr, point)) for t in terms if t.exponent(x)]
    unit = values[0][1]
    total = sp.factor(sp.Add(*(weight * (value / unit).expr for weight, value in values)))
    return (positive_monomial(total) * unit).expr


def _at(bound: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> Monomial:
    return positive_monomial(bound).substitute(
        {x: positive_monomial(p) for x, p in point.items()}
    )
