"""Relations with sums, maxima and minima, brought to `sum of monomials <= 1`.

What cannot be brought to that form is refused, with the terms that are to blame.
"""

from collections.abc import Sequence

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import OpenSignError
from symscale.algebra.reading.nodes import Pair, Splitter, special_nodes
from symscale.algebra.reading.scope import Scope
from symscale.algebra.reading.terms import (
    SignedTerms,
    require_fixed_powers,
    require_positive,
    signed_terms,
)
from symscale.algebra.sums.program import SumConstraint
from symscale.algebra.sums.values import total
from symscale.errors import FormulaError, InfeasibleError


def constraints_of(
    name: str, left: sp.Expr, operator: str, right: sp.Expr, scope: Scope, reason: str, source: str
) -> list[SumConstraint]:
    """Bring a relation to canonical constraints.

    Args:
        name: Its name; further constraints that it needs are numbered.
        left: Left-hand side.
        operator: "<=", ">=" or "==".
        right: Right-hand side.
        scope: Variables, bounds and auxiliary variables.
        reason: Why it holds.
        source: Where it is from.

    Raises:
        FormulaError: If it has no such form; the text names the terms to blame.
        InfeasibleError: If it never holds.
    """
    require_fixed_powers(left, scope)
    require_fixed_powers(right, scope)
    if operator == "==":
        return _equality(name, left, right, scope, reason, source)
    splitter = Splitter(scope)
    small, large = (left, right) if operator == "<=" else (right, left)
    pairs = splitter.pairs(small, large)
    return _of_pairs(name, pairs, splitter.scope, reason, source)


def _of_pairs(
    name: str, pairs: Sequence[Pair], scope: Scope, reason: str, source: str, *,
    numbered: bool = False,
) -> list[SumConstraint]:
    """The canonical constraints of relations without maxima, minima and powers of sums."""
    found: list[SumConstraint] = []
    for position, (low, high) in enumerate(pairs, 1):
        label = name if len(pairs) == 1 and not numbered else f"{name} ({position})"
        terms = _ratio_terms(low, high, scope)
        if terms is not None:
            found.append(SumConstraint(label, terms, "<=", reason, source))
    return found


def objective_of(
    expr: sp.Expr, sense: str, scope: Scope
) -> tuple[tuple[Monomial, ...], bool, list[SumConstraint]]:
    """Bring an objective to a sum of monomials to be minimised.

    Returns:
        The terms; whether the optimum is one over their minimum; further constraints.

    Raises:
        FormulaError: If it has no such form.
    """
    require_fixed_powers(expr, scope)
    if not special_nodes(expr, scope):
        if sense == "minimize" or expr == 0:
            return _sum_terms(expr, scope), False, []
        try:
            return _sum_terms(1 / expr, scope), True, []
        except FormulaError:
            raise FormulaError(
                f"{expr} cannot be maximised: it is no product of powers, nor one over a sum "
                "of such; maximize one term at a time"
            ) from None
    splitter = Splitter(scope)
    reason = f"what is {sense}d".replace("zed", "sed")
    if sense == "minimize" and expr.is_Add:
        left = splitter.without(expr, below=True)
        pairs = splitter.rest()
        terms, inverse = _sum_terms(left, splitter.scope), False
    else:
        bound = splitter.variable()
        pairs = splitter.pairs(*((expr, bound) if sense == "minimize" else (bound, expr)))
        inverse = sense == "maximize"
        terms = (Monomial.of(1 / bound if inverse else bound),)
    found = _of_pairs("objective", pairs, splitter.scope, reason, "", numbered=True)
    return terms, inverse, found


def _equality(
    name: str, left: sp.Expr, right: sp.Expr, scope: Scope, reason: str, source: str
) -> list[SumConstraint]:
    if special_nodes(left, scope) + special_nodes(right, scope):
        raise FormulaError(
            "an equality with max or min, or with the power of a sum, is no convex constraint; "
            "write <= or >= in the direction that the objective pushes against"
        )
    found = signed_terms(left, right, scope)
    above, below = found.above, found.below
    if not above and not below:
        return []
    if not above or not below:
        raise InfeasibleError(f"{left} == {right} can never hold")
    if len(above) != 1 or len(below) != 1:
        _require_signs(found)
        shown = " + ".join(str(t.expr) for t in above + below)
        raise FormulaError(
            f"an equality with a sum ({shown}) is no convex constraint; write <= or >= "
            "in the direction that the objective pushes against"
        )
    return [SumConstraint(name, (above[0] / below[0],), "==", reason, source)]


def _sum_terms(expr: sp.Expr, scope: Scope) -> tuple[Monomial, ...]:
    """Monomials whose sum an expression is."""
    top, bottom = sp.fraction(sp.together(expr))
    require_positive(bottom, scope)
    found = signed_terms(top, sp.Integer(0), scope)
    _require_signs(found)
    above, below = found.above, found.below
    if below or not above:
        term = -below[0].expr if below else 0
        raise FormulaError(
            f"the objective has the term {term}, and only sums of positive terms have "
            "an optimum here: leave it out, or move it into a constraint"
        )
    shares = signed_terms(bottom, sp.Integer(0), scope).above
    if len(shares) > 1:
        raise FormulaError(f"the objective divides by the sum {bottom}; it is no sum of products")
    return tuple(t / shares[0] for t in above)


def _ratio_terms(small: sp.Expr, large: sp.Expr, scope: Scope) -> tuple[Monomial, ...] | None:
    """Monomials whose sum is at most 1 exactly where small <= large; None if always."""
    found = signed_terms(small, large, scope)
    above, below = found.above, found.below
    if not above:
        return None
    if not below:
        raise InfeasibleError(f"{small} <= {large} can never hold")
    if len(below) > 1 and not scope.varies(small - large):
        return (total(above) / total(below),)
    if len(below) > 1:
        _require_signs(found)
        shown = " + ".join(str(t.expr) for t in below)
        raise FormulaError(
            f"the greater side is a sum ({shown}); a bound by a sum is no convex constraint: "
            "leave one term, or bound each term by itself"
        )
    return tuple(t / below[0] for t in above)


def _require_signs(found: SignedTerms) -> None:
    """Raise where the sign of a coefficient is open."""
    if found.open:
        raise OpenSignError.of(found.open[0])
