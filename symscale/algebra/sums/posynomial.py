"""Relations with sums, maxima and minima, brought to `sum of monomials <= 1`.

Maxima on the smaller side and minima on the greater one are split exactly, by an
auxiliary variable where they stand within a sum. What cannot be brought to that
form is refused, with the terms that are to blame.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import positive_monomial, sign_over
from symscale.algebra.sums.program import SumConstraint
from symscale.errors import FormulaError, InfeasibleError

MAX_TERMS = 400


@dataclass(frozen=True)
class Scope:
    """What a relation is read with.

    Attributes:
        variables: The unknowns.
        lower: Lower bounds of parameters.
        fresh: Makes an auxiliary variable.
        upper: Upper bounds of parameters.
    """

    variables: frozenset[sp.Symbol]
    lower: Mapping[sp.Symbol, sp.Rational]
    fresh: Callable[[], sp.Symbol]
    upper: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)

    def sign(self, expr: sp.Expr) -> int:
        """The sign of an expression in the parameters."""
        return sign_over(expr, self.lower, self.upper)


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
    if operator == "==":
        return _equality(name, left, right, scope, reason, source)
    small, large = (left, right) if operator == "<=" else (right, left)
    made: list[sp.Symbol] = []

    def fresh() -> sp.Symbol:
        made.append(scope.fresh())
        return made[-1]

    pairs, extra = _without_extremes(small, large, replace(scope, fresh=fresh))
    scope = replace(scope, variables=scope.variables | set(made))
    found: list[SumConstraint] = []
    for position, (low, high) in enumerate(pairs + extra, 1):
        label = name if len(pairs) + len(extra) == 1 else f"{name} ({position})"
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
    if not expr.atoms(sp.Max, sp.Min):
        if sense == "minimize" or expr == 0:
            return _sum_terms(expr, scope), False, []
        try:
            return _sum_terms(1 / expr, scope), True, []
        except FormulaError:
            raise FormulaError(
                f"{expr} cannot be maximised: it is no product of powers, nor one over a sum "
                "of such; maximize one term at a time"
            ) from None
    bound = scope.fresh()
    inside = replace(scope, variables=scope.variables | {bound})
    if sense == "minimize":
        constraints = constraints_of(
            "objective", expr, "<=", bound, inside, "what is minimised", ""
        )
        return (Monomial.of(bound),), False, constraints
    constraints = constraints_of("objective", bound, "<=", expr, inside, "what is maximised", "")
    return (Monomial.of(1 / bound),), True, constraints


def _equality(
    name: str, left: sp.Expr, right: sp.Expr, scope: Scope, reason: str, source: str
) -> list[SumConstraint]:
    if left.atoms(sp.Max, sp.Min) or right.atoms(sp.Max, sp.Min):
        raise FormulaError(
            "an equality with max or min is no convex constraint; write <= or >= "
            "in the direction that the objective pushes against"
        )
    above, below = _signed_terms(left, right, scope)
    if not above and not below:
        return []
    if not above or not below:
        raise InfeasibleError(f"{left} == {right} can never hold")
    if len(above) != 1 or len(below) != 1:
        shown = " + ".join(str(t.expr) for t in above + below)
        raise FormulaError(
            f"an equality with a sum ({shown}) is no convex constraint; write <= or >= "
            "in the direction that the objective pushes against"
        )
    return [SumConstraint(name, (above[0] / below[0],), "==", reason, source)]


def _without_extremes(
    small: sp.Expr, large: sp.Expr, scope: Scope
) -> tuple[list[tuple[sp.Expr, sp.Expr]], list[tuple[sp.Expr, sp.Expr]]]:
    """Split maxima on the small side and minima on the large one.

    Returns:
        Pairs small <= large that replace the relation, and pairs for auxiliary variables.
    """
    lows = _alternatives(small, sp.Max)
    highs = _alternatives(large, sp.Min)
    extra: list[tuple[sp.Expr, sp.Expr]] = []
    lows = [_auxiliary(low, sp.Max, scope, extra) for low in lows]
    highs = [_auxiliary(high, sp.Min, scope, extra) for high in highs]
    return [(low, high) for low in lows for high in highs], extra


def _alternatives(expr: sp.Expr, kind: type[sp.Expr]) -> list[sp.Expr]:
    """The expressions that all must satisfy the relation, where an extreme is a whole factor."""
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        wanted = kind if exponent.is_positive else (sp.Min if kind is sp.Max else sp.Max)
        if isinstance(base, wanted):
            rest = expr / factor
            return [
                each
                for argument in sorted(base.args, key=str)
                for each in _alternatives(rest * argument**exponent, kind)
            ]
    return [expr]


def _auxiliary(
    expr: sp.Expr, kind: type[sp.Expr], scope: Scope, extra: list[tuple[sp.Expr, sp.Expr]]
) -> sp.Expr:
    """Replace extremes within sums by variables that bound them."""
    wrong = sp.Min if kind is sp.Max else sp.Max
    for node in sorted(expr.atoms(sp.Max, sp.Min), key=str):
        if not expr.has(node):
            continue
        z = scope.fresh()
        replaced = expr.xreplace({node: z})
        slope = sp.diff(replaced, z)
        rising = scope.sign(slope) if slope != 0 else 0
        good = kind if rising > 0 else wrong
        if not isinstance(node, good):
            side = "smaller" if kind is sp.Max else "greater"
            raise FormulaError(
                f"{node} on the {side} side is an alternative, not a bound; "
                "solve one problem for each of its arguments"
            )
        arguments: tuple[Any, ...] = node.args
        for argument in sorted(arguments, key=str):
            inner = _auxiliary(argument, type(node), scope, extra)
            extra.append((inner, z) if isinstance(node, sp.Max) else (z, inner))
        expr = replaced
    return expr


def _sum_terms(expr: sp.Expr, scope: Scope) -> tuple[Monomial, ...]:
    """Monomials whose sum an expression is."""
    top, bottom = sp.fraction(sp.together(expr))
    _require_positive(bottom, scope)
    above, below = _signed_terms(top, sp.Integer(0), scope)
    if below or not above:
        term = -below[0].expr if below else 0
        raise FormulaError(
            f"the objective has the term {term}, and only sums of positive terms have "
            "an optimum here: leave it out, or move it into a constraint"
        )
    shares, _ = _signed_terms(bottom, sp.Integer(0), scope)
    if len(shares) > 1:
        raise FormulaError(f"the objective divides by the sum {bottom}; it is no sum of products")
    return tuple(t / shares[0] for t in above)


def _ratio_terms(small: sp.Expr, large: sp.Expr, scope: Scope) -> tuple[Monomial, ...] | None:
    """Monomials whose sum is at most 1 exactly where small <= large; None if always."""
    above, below = _signed_terms(small, large, scope)
    if not above:
        return None
    if not below:
        raise InfeasibleError(f"{small} <= {large} can never hold")
    if len(below) > 1:
        shown = " + ".join(str(t.expr) for t in below)
        raise FormulaError(
            f"the greater side is a sum ({shown}); a bound by a sum is no convex constraint: "
            "leave one term, or bound each term by itself"
        )
    return tuple(t / below[0] for t in above)


def _signed_terms(
    small: sp.Expr, large: sp.Expr, scope: Scope
) -> tuple[list[Monomial], list[Monomial]]:
    """The positive terms of small - large, and the negative ones, denominators multiplied out."""
    small_top, small_bottom = sp.fraction(sp.together(small))
    large_top, large_bottom = sp.fraction(sp.together(large))
    for bottom in (small_bottom, large_bottom):
        _require_positive(bottom, scope)
    _require_few_terms(small_top * large_bottom)
    _require_few_terms(large_top * small_bottom)
    left, right = (
        _collect(sp.expand(expr), scope)
        for expr in (small_top * large_bottom, large_top * small_bottom)
    )
    sides: tuple[dict[sp.Expr, sp.Expr], dict[sp.Expr, sp.Expr]] = ({}, {})
    zero = sp.Integer(0)
    for powers in {**left, **right}:
        parts = [left.get(powers, zero), -right.get(powers, zero)]
        try:
            parts = [sp.Add(*parts)] if all(parts) else parts
            signs = [scope.sign(sp.factor_terms(part)) for part in parts]
        except FormulaError:
            if len(parts) > 1:
                raise
            # What is left of the two is open, so each stays on its side.
            parts = [left[powers], -right[powers]]
            signs = [scope.sign(sp.factor_terms(part)) for part in parts]
        for part, sign in zip(parts, signs, strict=True):
            if sign:
                home = sides[0 if sign > 0 else 1]
                home[powers] = home.get(powers, zero) + sign * part
    above, below = (
        [
            positive_monomial(c, scope.lower, scope.upper) * Monomial.of(powers)
            for powers, c in side.items()
        ]
        for side in sides
    )
    return above, below


def _collect(expr: sp.Expr, scope: Scope) -> dict[sp.Expr, sp.Expr]:
    """The coefficients of an expanded sum by powers of variables."""
    collected: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(expr):
        coefficient, powers = term.as_independent(*scope.variables, as_Add=False)
        if coefficient:
            _require_powers(powers, scope)
            collected[powers] = collected.get(powers, sp.Integer(0)) + coefficient
    return collected


def _require_few_terms(expr: sp.Expr) -> None:
    """Raise before an expression is multiplied out that would grow beyond all bounds."""
    if term_count(expr) > MAX_TERMS:
        raise FormulaError(
            f"multiplied out, it has more than {MAX_TERMS} terms; name parts of it as variables "
            "with constraints of their own"
        )


def term_count(expr: Any) -> int:
    """At most how many terms an expression has when multiplied out."""
    if expr.is_Add:
        return sum(map(term_count, expr.args))
    if expr.is_Mul:
        count = 1
        for factor in expr.args:
            count = min(count * term_count(factor), MAX_TERMS + 1)
        return count
    if expr.is_Pow and expr.exp.is_Integer and expr.base.is_Add:
        power, parts = abs(int(expr.exp)), term_count(expr.base)
        if power > MAX_TERMS or parts > MAX_TERMS:
            return MAX_TERMS + 1
        return min(math.comb(power + parts - 1, power), MAX_TERMS + 1)
    return 1


def _require_positive(bottom: sp.Expr, scope: Scope) -> None:
    _require_few_terms(bottom)
    for term in sp.Add.make_args(sp.expand(bottom)):
        coefficient, _ = term.as_independent(*scope.variables, as_Add=False)
        if not coefficient.is_positive:
            if not bottom.free_symbols & scope.variables and scope.sign(bottom) > 0:
                return
            raise FormulaError(f"the denominator {bottom} is not known to be positive")


def _require_powers(powers: sp.Expr, scope: Scope) -> None:
    """Raise unless an expression is a product of powers of variables, exponents free of them."""
    for factor in sp.Mul.make_args(powers):
        base, exponent = factor.as_base_exp()
        if factor == 1:
            continue
        if not base.is_Symbol or exponent.free_symbols & scope.variables:
            raise FormulaError(f"{factor} is no power of a variable, nor a product of such")


def all_monomial(constraints: Sequence[SumConstraint]) -> bool:
    """Whether no constraint is a sum."""
    return all(len(c.terms) == 1 for c in constraints)
