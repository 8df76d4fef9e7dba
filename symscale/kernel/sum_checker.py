"""The checker of certificates of sums: it trusts nobody, and imports no solver."""

import sympy as sp

from symscale.algebra.exact.combinations import Terms, equal, times, vanishes
from symscale.algebra.exact.inequalities import exceeds_zero, follows
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.sums.program import SumConstraint
from symscale.errors import CheckFailedError
from symscale.kernel.sum_certificate import OBJECTIVE, SumCertificate, check_form

_UNIT = sp.Integer(1)


def _binding_sums(c: SumCertificate) -> list[SumConstraint]:
    return [k for k in c.program.constraints if k.name in c.multipliers and len(k.terms) > 1]


def _check_weights(c: SumCertificate) -> None:
    sizes = {k.name: len(k.terms) for k in _binding_sums(c)}
    if len(c.program.objective) > 1:
        sizes[OBJECTIVE] = len(c.program.objective)
    if {name: len(shares) for name, shares in c.weights.items()} != sizes:
        raise CheckFailedError("weights must be given to the terms of each sum that binds")
    for name, shares in c.weights.items():
        if not vanishes([(-_UNIT, ONE), *((_UNIT, w) for w in shares)]):
            raise CheckFailedError(f"the weights of {name!r} do not add up to 1")


def _shares(c: SumCertificate, name: str) -> tuple[Monomial, ...]:
    return c.weights.get(name, (ONE,))


def _check_bound(c: SumCertificate) -> None:
    """The exponent of each variable in the product of all condensed sums must vanish."""
    for x in c.program.variables:
        total = [
            (t.exponent(x), w)
            for t, w in zip(c.program.objective, _shares(c, OBJECTIVE), strict=True)
        ]
        for k in c.program.constraints:
            for t, w in zip(k.terms, _shares(c, k.name), strict=True) if (
                k.name in c.multipliers
            ) else ():
                total += [(e * t.exponent(x), m) for e, m in times(c.multipliers[k.name], w)]
        if not vanishes(total):
            raise CheckFailedError(f"with these multipliers {x} does not cancel")


def _check_signs(c: SumCertificate) -> None:
    given = _given(c)
    for k in c.program.constraints:
        if k.name in c.multipliers and k.relation == "<=" and not follows(
            c.multipliers[k.name], given, c.program.domain
        ):
            raise CheckFailedError(f"the multiplier of {k.name!r} may be negative")


def _given(c: SumCertificate) -> list[Terms]:
    """What may be taken as at least zero."""
    domain = c.program.domain
    return [*c.conditions, *(((_UNIT, g), (-_UNIT, ONE)) for g in domain.at_least_one)]


def _check_point(c: SumCertificate) -> None:
    """At the point every term is its share, what binds is tight, and the rest holds."""
    value = c.bound**-1 if c.program.inverse else c.bound
    for t, w in zip(c.program.objective, _shares(c, OBJECTIVE), strict=True):
        if not equal(t.substitute(c.point), w * value):
            raise CheckFailedError("at the point a term of the objective is not its share")
    given = _given(c)
    for k in c.program.constraints:
        terms = [t.substitute(c.point) for t in k.terms]
        if k.name in c.multipliers or k.relation == "==":
            if not all(map(equal, terms, _shares(c, k.name))):
                raise CheckFailedError(f"{k.name!r} is not tight at the point, or not as stated")
        elif not follows(((_UNIT, ONE), *((-_UNIT, t) for t in terms)), given, c.program.domain):
            raise CheckFailedError(f"{k.name!r} fails at the point, or needs a condition")


def _check_witness(c: SumCertificate) -> None:
    domain = c.program.domain
    for s, interval in domain.exponents.items():
        if s in c.witness and c.witness[s] not in interval:
            raise CheckFailedError(f"the witness has {s} outside {interval}")
        low, high = interval.lower, interval.upper
        if low is not None and high is not None and low >= high:
            raise CheckFailedError(f"the interval of {s}, {interval}, is empty")
    for m in domain.at_least_one:
        if m.compare_one(c.witness) < 0:
            raise CheckFailedError(f"the witness is outside the domain: {m.expr} < 1")
    for terms in c.conditions:
        if not exceeds_zero(terms, c.witness):
            raise CheckFailedError("the witness does not satisfy a condition strictly")


CHECKS = (
    ("form", "names are unambiguous, exponents defined, nothing is missing", check_form),
    ("weights", "the shares of every sum are positive and add up to 1", _check_weights),
    ("bound", "with the multipliers every variable cancels", _check_bound),
    ("signs", "under the conditions no multiplier is negative", _check_signs),
    ("point", "it is feasible under the conditions and attains the bound", _check_point),
    ("witness", "it is in the domain and satisfies the conditions", _check_witness),
)
"""For each check its name, what it shows, and the check."""
