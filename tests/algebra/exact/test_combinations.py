"""Identities between sums of monomials: exact, against numbers."""

from random import Random

import pytest
import sympy as sp

from symscale.algebra.exact.combinations import MOST_FACTORS, Terms, exceeds_zero, vanishes
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.errors import FormulaError
from symscale.language.symbols import symbols

J, K, C = symbols("J K C")
UNIT = sp.Integer(1)


def test_identities_agree_with_numbers() -> None:
    """Random true and false identities, decided exactly and in 50 digits."""
    random = Random(7)
    atoms = [J, K, C, J + K, C - 1, J + 2 * sp.sqrt(J * K) + K]
    for _ in range(60):
        parts = [
            sp.Mul(*(a ** sp.Rational(random.randint(-4, 4), random.choice((1, 2))) for a in
                     random.sample(atoms, 3)))
            for _ in range(3)
        ]  # fmt: skip
        inside = [sp.Integer(random.randint(-3, 3)) for _ in parts]
        base = tuple(zip(inside, map(as_monomial, parts), strict=True))
        factor = as_monomial(random.choice(atoms))
        spread = tuple(
            (c * d, m * n) for c, m in base for d, n in expanded(factor)
        )
        true = (*((c, m * factor) for c, m in base), *((-c, m) for c, m in spread))
        assert vanishes(true)
        false = (*true, (sp.Rational(1, 10**6), as_monomial(parts[0])))
        assert not vanishes(false)


def as_monomial(expr: sp.Expr) -> Monomial:
    powers: dict[sp.Expr, sp.Expr] = {}
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        powers[base] = powers.get(base, sp.Integer(0)) + exponent
    return Monomial.from_powers(powers)


def expanded(factor: Monomial) -> Terms:
    (atom, _), = factor.powers
    pairs = []
    for term in sp.Add.make_args(atom):
        number, rest = term.as_coeff_Mul()
        pairs.append((number, as_monomial(rest) if rest != 1 else ONE))
    return tuple(pairs)


def test_identities_that_would_grow_for_ever_are_refused() -> None:
    base = Monomial.from_powers({J + K + 1: UNIT})
    large = [(UNIT, base ** sp.Integer(MOST_FACTORS + 1)), (-UNIT, ONE)]
    with pytest.raises(FormulaError, match="differ by more"):
        vanishes(large)
    wide = Monomial.from_powers({sp.Add(*symbols("J K C b L N P T E b_0 t_d tau")): UNIT})
    with pytest.raises(FormulaError, match=r"more than|too large"):
        vanishes([(UNIT, wide**40), (-UNIT, ONE)])
    with pytest.raises(FormulaError, match="too large"):
        vanishes([(UNIT, Monomial.of(2) ** sp.Integer(10**9))])


def test_what_exceeds_zero_does_so_by_more_than_digits_hide() -> None:
    root = Monomial.of(sp.sqrt(J))
    terms = ((UNIT, root), (-UNIT, Monomial.of(K)))
    assert exceeds_zero(terms, {J: sp.Integer(2), K: sp.Rational(7, 5)})
    assert not exceeds_zero(terms, {J: sp.Integer(4), K: sp.Integer(2)})
    assert not exceeds_zero(terms, {J: sp.Integer(4), K: 2 - sp.Rational(1, 10**25)})
    with pytest.raises(FormulaError):
        exceeds_zero(terms, {J: sp.Integer(4)})
