"""Inequalities between sums of monomials that follow from given ones, shown exactly."""

from collections.abc import Iterable, Mapping, Sequence

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.combinations import Terms, equal, times, vanishes, without_rational
from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.monomial import Monomial, canonical_exponent


def follows(claim: Terms, given: Sequence[Terms], domain: Domain) -> bool:
    """Whether it is shown that a sum is at least zero where the given ones are.

    It is where no coefficient is negative, where it is a number that is not, where it
    is a positive monomial times a given sum, and where both are differences of two
    monomials of which one ratio is a positive power of the other.

    Example:
        >>> from symscale.algebra.exact.monomial import ONE
        >>> from symscale.language.symbols import symbols
        >>> a, b = (Monomial.of(s) for s in symbols("J K"))
        >>> one = sp.Integer(1)
        >>> follows(((one, a**2), (-one, b**2)), [((one, ONE), (-one, b/a))], Domain())
        True
    """
    merged = _merged(claim)
    try:
        if all(domain.sign(c) >= 0 for c, _ in merged):
            return True
    except IndeterminateSignError:
        pass
    if not any(m.free_symbols or c.free_symbols for c, m in merged):
        return vanishes(merged) or exceeds_zero(merged, {})
    return any(
        _is_multiple(merged, _merged(other)) or _is_power(merged, _merged(other))
        for other in given
    )


def exceeds_zero(terms: Terms, values: Mapping[sp.Symbol, sp.Rational]) -> bool:
    """Whether a sum is above zero at given values, by more than 20 digits can hide.

    Raises:
        FormulaError: If a symbol has no value, or an atom is not positive there.
    """
    with mp.workdps(30):
        parts = [
            mp.mpf(sp.N(c.xreplace(dict(values)), 30)._mpf_) * m.evaluate(values)
            for c, m in terms
        ]
        return bool(mp.fsum(parts) > mp.mpf("1e-20") * mp.fsum(abs(p) for p in parts))


def _merged(terms: Iterable[tuple[sp.Expr, Monomial]]) -> Terms:
    """The coefficients added of monomials that differ by a rational factor only."""
    table: dict[Monomial, sp.Expr] = {}
    for coefficient, monomial in terms:
        rational, rest = without_rational(monomial)
        table[rest] = sp.expand(table.get(rest, sp.Integer(0)) + coefficient * rational)
    return tuple((c, m) for m, c in table.items() if c != 0)


def _is_multiple(claim: Terms, given: Terms) -> bool:
    """Whether the one is a positive monomial times the other."""
    for c, m in claim:
        for d, n in given:
            ratio = sp.cancel(c / d)
            if ratio.is_Rational and ratio > 0:
                scaled = times(given, m / n * Monomial.of(ratio))
                if vanishes([*claim, *((-d, n) for d, n in scaled)]):
                    return True
    return False


def _is_power(claim: Terms, given: Terms) -> bool:
    """Whether both say that a ratio is at most 1, the one a positive power of the other."""
    ratios = [_ratio(claim), _ratio(given)]
    if ratios[0] is None or ratios[1] is None or not ratios[1].powers:
        return False
    atom, exponent = ratios[1].powers[0]
    power = canonical_exponent(ratios[0].exponent(atom) / exponent)
    if not (power.is_Rational and power > 0):
        return False
    return equal(ratios[0], ratios[1] ** power)


def _ratio(terms: Terms) -> Monomial | None:
    """What a difference of two monomials says to be at most 1."""
    if len(terms) != 2 or not all(c.is_Rational for c, _ in terms):
        return None
    (c, m), (d, n) = sorted(terms, key=lambda term: -sp.sign(term[0]))
    if not (c > 0 > d):
        return None
    return n * Monomial.of(-d) / (m * Monomial.of(c))
