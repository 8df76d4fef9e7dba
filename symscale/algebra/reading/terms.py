"""Both sides of a relation, multiplied out into positive and negative terms."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import term_count
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import OpenSignError
from symscale.algebra.reading.scope import Scope
from symscale.errors import FormulaError

MAX_TERMS = 400


@dataclass(frozen=True)
class SignedTerms:
    """The terms of a difference, by their sign.

    Attributes:
        above: Those above zero.
        below: Those below zero, turned round.
        open: The coefficients whose sign is open: what is positive of them is in `above`, what is
            negative in `below`.
    """

    above: list[Monomial]
    below: list[Monomial]
    open: list[sp.Expr]


def signed_terms(small: sp.Expr, large: sp.Expr, scope: Scope) -> SignedTerms:
    """The terms of small - large by their sign, denominators multiplied out."""
    small_top, small_bottom = sp.fraction(sp.together(small))
    large_top, large_bottom = sp.fraction(sp.together(large))
    for bottom in (small_bottom, large_bottom):
        require_positive(bottom, scope)
    _require_few_terms(small_top * large_bottom)
    _require_few_terms(large_top * small_bottom)
    left, right = (
        _collect(expr, scope) for expr in (small_top * large_bottom, large_top * small_bottom)
    )
    sides: tuple[dict[sp.Expr, sp.Expr], dict[sp.Expr, sp.Expr]] = ({}, {})
    found = SignedTerms([], [], [])
    zero = sp.Integer(0)
    for powers in {**left, **right}:
        for part, sign in _parts(
            left.get(powers, zero), -right.get(powers, zero), scope, found.open
        ):
            if sign:
                home = sides[0 if sign > 0 else 1]
                home[powers] = home.get(powers, zero) + sign * part
    for terms, side in zip((found.above, found.below), sides, strict=True):
        terms += [scope.monomial(c) * Monomial.of(powers) for powers, c in side.items()]
    return found


def _parts(
    left: sp.Expr, right: sp.Expr, scope: Scope, open_ones: list[sp.Expr]
) -> list[tuple[sp.Expr, int]]:
    """The parts of a coefficient, each with its sign: one, or more where its sign is open."""
    whole = sp.expand(left + right) if left and right else left + right
    try:
        return [(whole, scope.sign(sp.factor_terms(whole)))]
    except OpenSignError as error:
        open_ones.append(error.expr)
    try:  # what is left of the two is open, so each stays on its side
        return [(part, scope.sign(sp.factor_terms(part))) for part in (left, right)]
    except OpenSignError:
        parts = sp.Add.make_args(sp.expand(whole))
        return [(part, scope.sign(part)) for part in parts]


def _collect(expr: sp.Expr, scope: Scope) -> dict[sp.Expr, sp.Expr]:
    """The coefficients of a sum, multiplied out, by powers of variables.

    A sum of parameters stays a factor where its term is the only one with these powers.
    """
    sums = [
        node for node in sp.preorder_traversal(expr)
        if isinstance(node, sp.Add) and not scope.varies(node)
    ]
    places: dict[Any, Any] = {node: sp.Dummy(positive=True) for node in dict.fromkeys(sums)}
    back = {place: node for node, place in places.items()}
    collected: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(sp.expand(expr.xreplace(places))):
        coefficient, powers = term.as_independent(*scope.variables, as_Add=False)
        if coefficient:
            powers = powers.xreplace(back)
            _require_powers(powers, scope)
            collected.setdefault(powers, []).append(coefficient.xreplace(back))
    return {
        powers: parts[0] if len(parts) == 1 else sp.expand(sp.Add(*parts))
        for powers, parts in collected.items()
    }


def _require_few_terms(expr: sp.Expr) -> None:
    """Raise before an expression is multiplied out that would grow beyond all bounds."""
    if term_count(expr) > MAX_TERMS:
        raise FormulaError(
            f"multiplied out, it has more than {MAX_TERMS} terms; name parts of it as variables "
            "with constraints of their own"
        )


def require_positive(bottom: sp.Expr, scope: Scope) -> None:
    """Raise unless a denominator is known to be positive."""
    _require_few_terms(bottom)
    coefficient, rest = bottom.as_independent(*scope.variables, as_Add=False)
    try:
        signs = {scope.sign(coefficient)}
        for term in sp.Add.make_args(sp.expand(rest)):
            signs.add(scope.sign(term.as_independent(*scope.variables, as_Add=False)[0]))
    except OpenSignError:
        signs = {0}
    if signs != {1}:
        raise FormulaError(f"the denominator {bottom} is not known to be positive")


def _require_powers(powers: sp.Expr, scope: Scope) -> None:
    """Raise unless an expression is a product of powers of variables, exponents free of them."""
    for factor in sp.Mul.make_args(powers):
        base, exponent = factor.as_base_exp()
        if factor == 1:
            continue
        if not base.is_Symbol or exponent.free_symbols & scope.variables:
            raise FormulaError(f"{factor} is no power of a variable, nor a product of such")


def require_fixed_powers(expr: sp.Expr, scope: Scope) -> None:
    """Raise where an unknown stands in an exponent."""
    for power in sorted(expr.atoms(sp.Pow), key=str):
        names = ", ".join(sorted(str(s) for s in power.exp.free_symbols & scope.variables))
        if names:
            raise FormulaError(
                f"{power} has a variable in its exponent: declare {names} as a parameter and "
                "solve for several of its values (--set), or write what bounds the power"
            )
