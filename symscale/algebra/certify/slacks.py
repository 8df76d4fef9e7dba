"""Why products and sums of parameters are at most 1 where requirements hold."""

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from symscale.algebra.certify.statements import (
    Hypothesis,
    Proof,
    Reason,
    Summand,
    at_most_one,
    is_one,
)
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.consequences import Premises
from symscale.algebra.products.limit import split_fraction
from symscale.algebra.sums.values import Requirement, as_sum, total
from symscale.errors import FormulaError

_UNIT = sp.Integer(1)


def given_of(requirement: Requirement) -> Hypothesis:
    """A requirement as a condition of a theorem."""
    if requirement.relation == "==":
        return is_one(requirement.ratio)
    return at_most_one(requirement.ratio, strict=requirement.relation == "<")


def premises_of(requirements: Sequence[Requirement], domain: Domain) -> Premises:
    """Requirements and the bounds of the domain, as what other products follow from."""
    given = {given_of(r).name: r.ratio for r in requirements}
    given |= {at_most_one(m**-1).name: m**-1 for m in domain.at_least_one}
    equal = frozenset(given_of(r).name for r in requirements if r.relation == "==")
    return Premises(given, domain, equal)


def gap_of(ratio: Monomial, premises: Premises) -> Proof | None:
    """Why `1 - ratio` is at least zero; None where no reason is found.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> a, b = (Monomial.of(s) for s in symbols("J K"))
        >>> found = gap_of(a**2/b**2, premises_of([Requirement(a/b)], Domain()))
        >>> [(part.coefficient, part.gap) for part in found]
        [(1, {'J <= K': 2})]
    """
    powers = premises.powers(ratio)
    if powers is None:
        return None
    rest = ratio
    for name, power in powers.items():
        rest = rest / premises.given[name] ** power
    if rest.atoms:
        return None
    number = rest.expr
    if not number.is_Rational:
        return None
    parts = (Summand(number, gap=powers),) if powers else ()
    return parts if number == 1 else (*parts, Summand(1 - number))


def slack_of(terms: Sequence[Monomial], premises: Premises) -> Reason | None:
    """Why a sum is at most 1; None where it is 1, or where it has no terms.

    Raises:
        FormulaError: If no reason is found.
    """
    whole = total(terms) if terms else ONE
    if whole.is_one:
        return None
    if len(terms) == 1:
        powers = premises.powers(whole)
        if powers is not None:
            return powers
    proof = difference_of([ONE], terms, premises)
    if proof is None:
        raise FormulaError("a constraint is not shown to hold at the point")
    return proof


def difference_of(
    terms: Sequence[Monomial], minus: Sequence[Monomial], premises: Premises
) -> Proof | None:
    """Why a sum is at least another; None where no reason is found."""
    whole = total(terms)
    proof = gap_of(total(minus) / whole, premises)
    if proof is not None:
        return tuple(replace(part, product=part.product * whole) for part in proof)
    pairs = [split_fraction(m) for n, m in premises.given.items() if n not in premises.equal]
    known = {sp.expand(above.expr - below.expr) for below, above in pairs}
    known |= {a for m in (*premises.given.values(), *terms, *minus) for a in m.atoms if a.is_Add}
    rest = _factored(total(terms, minus), known)
    return None if rest is None else (Summand(_UNIT, rest),)


def _factored(monomial: Monomial, known: set[sp.Expr]) -> Monomial | None:
    """A monomial with its sums factored into ones that are known to be positive."""
    result = ONE
    for atom, exponent in monomial.powers:
        if not atom.is_Add:
            result = result * Monomial.from_powers({atom: exponent})
            continue
        for factor in sp.Mul.make_args(sp.factor(atom)):
            base, power = factor.as_base_exp()
            if base == -1:
                continue
            if not base.is_Add or all(t.is_positive for t in base.args):
                result = result * (as_sum(abs(factor)) if not base.is_Add else
                                   as_sum(base) ** power) ** exponent
                continue
            signed = next((s * base for s in (1, -1) if sp.expand(s * base) in known), None)
            if signed is None:
                return None
            result = result * Monomial.from_powers({sp.expand(signed): power * exponent})
    return result
