"""Certificates, and a checker that trusts nobody: it imports no solver.

A certificate says: these constraints, each raised to its multiplier, multiply to
this bound; and this point satisfies them all and attains it, at least wherever
these conditions on the parameters hold, as they do at this witness. CHECKS
verify every word with exact arithmetic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from symscale.algebra.exact.domain import Domain, IndeterminateSignError
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.program import Program
from symscale.errors import CheckFailedError


@dataclass(frozen=True)
class Certificate:
    """A claim about the optimum of a program, with everything needed to verify it.

    Attributes:
        program: The program.
        piece: Name of the piece.
        bound: No feasible point does better than this monomial in the parameters.
        multipliers: The power of each constraint in the product that proves it.
        point: For each variable, a monomial in the parameters; together they attain it.
        conditions: Monomials in the parameters; the point is feasible where each is <= 1.
        witness: Exact parameters at which every condition holds.
        condensed: Constraints that stand for sums: the terms and weights by which
            `sum t_i >= prod (t_i/w_i)**w_i`, so that the sum at most 1 implies them.
    """

    program: Program
    piece: str
    bound: Monomial
    multipliers: Mapping[str, sp.Expr]
    point: Mapping[sp.Symbol, Monomial]
    conditions: tuple[Monomial, ...]
    witness: Mapping[sp.Symbol, sp.Rational]
    condensed: Mapping[str, tuple[tuple[Monomial, sp.Expr], ...]] = field(default_factory=dict)


def _fail(text: str) -> None:
    raise CheckFailedError(text)


def _check_form(certificate: Certificate) -> None:
    """Names must be unambiguous, exponents defined over the whole domain, the witness complete."""
    program = certificate.program
    names = [c.name for c in program.constraints]
    if len(set(names)) < len(names):
        _fail("two constraints have one name")
    if set(certificate.point) != set(program.variables):
        _fail("the point must give a value to each variable, and to nothing else")
    monomials = [program.objective, certificate.bound, *certificate.point.values()]
    monomials += [c.ratio for c in program.constraints]
    monomials += [*certificate.conditions, *program.domain.at_least_one]
    symbols = set(program.variables).union(*(m.free_symbols for m in monomials))
    if len({s.name for s in symbols}) < len(symbols):
        _fail("two symbols have one name")
    for s in sorted(symbols - set(program.variables), key=str):
        if not isinstance(certificate.witness.get(s), sp.Rational):
            _fail(f"the witness gives no rational value to {s}")
    exponents = [*certificate.multipliers.values()]
    exponents += [e for _, e in certificate.bound.powers]
    for exponent in exponents:
        if exponent.has(sp.nan, sp.zoo, sp.oo, sp.I):
            _fail(f"{exponent} is no exponent")
        if program.domain.sign(sp.fraction(sp.together(exponent))[1]) == 0:
            _fail(f"the exponent {exponent} is not defined")
    for atom in {a for m in monomials for a in m.atoms if not a.is_Symbol}:
        if not atom.free_symbols & set(program.variables):
            value = atom.xreplace(dict(certificate.witness))
            if not value.is_positive:
                _fail(f"{atom} is not positive at the witness")


def _check_sums(certificate: Certificate) -> None:
    """A condensed constraint must follow from its sum by the weighted means, and be tight.

    At the point every term must equal its weight: then the sum is 1, and satisfied.
    """
    constraints = {c.name: c for c in certificate.program.constraints}
    for name, parts in certificate.condensed.items():
        constraint = constraints.get(name)
        if constraint is None or constraint.is_equality:
            _fail(f"{name!r} is no constraint that a sum could imply")
            return
        product, total = ONE, sp.Integer(0)
        for term, weight in parts:
            if not (isinstance(weight, sp.Rational) and weight > 0):
                _fail(f"the weight {weight} in {name!r} is no positive rational")
            scaled = term / Monomial.of(weight)
            if not scaled.substitute(certificate.point).is_one:
                _fail(f"at the point a term of {name!r} is not its weight")
            product, total = product * scaled**weight, total + weight
        if total != 1 or not (product / constraint.ratio).is_one:
            _fail(f"{name!r} is not its sum condensed")


def _check_bound(certificate: Certificate) -> None:
    """The product of the constraints must be objective/bound, all multipliers of the right sign."""
    program = certificate.program
    known = {c.name for c in program.constraints}
    for name in certificate.multipliers:
        if name not in known:
            _fail(f"a multiplier names no constraint: {name!r}")
    if set(certificate.bound.free_symbols) & set(program.variables):
        _fail("the bound contains a variable")
    product = ONE
    for constraint in program.constraints:
        weight = certificate.multipliers.get(constraint.name, sp.Integer(0))
        if weight == 0:
            continue
        if not constraint.is_equality and not _is_nonnegative(weight, program.domain):
            _fail(f"the multiplier of {constraint.name!r}, {weight}, is negative")
        product = product * constraint.ratio**weight
    claimed = program.objective / certificate.bound
    if program.sense == "minimize":
        claimed = claimed**-1
    if not (product / claimed).is_one:
        _fail(f"the constraints multiply to {product.expr}, not to {claimed.expr}")


def _is_nonnegative(weight: sp.Expr, domain: Domain) -> bool:
    try:
        return domain.sign(weight) >= 0
    except IndeterminateSignError:
        return False


def _check_point(certificate: Certificate) -> None:
    """Every constraint must hold at the point, and the objective must equal the bound there."""
    program = certificate.program
    for x, value in certificate.point.items():
        if set(value.free_symbols) & set(program.variables):
            _fail(f"the point's {x} is not a monomial in parameters")
    granted = {*certificate.conditions, *(g**-1 for g in program.domain.at_least_one)}
    for constraint in program.constraints:
        ratio = constraint.ratio.substitute(certificate.point)
        binds = certificate.multipliers.get(constraint.name, sp.Integer(0)) != 0
        if constraint.is_equality or binds:
            if not ratio.is_one:
                _fail(f"{constraint.name!r} is not tight at the point")
        elif ratio not in granted and (ratio.free_symbols or ratio.compare_one() > 0):
            _fail(f"{constraint.name!r} fails at the point, or needs a condition")
    if not (program.objective.substitute(certificate.point) / certificate.bound).is_one:
        _fail("the point does not attain the bound")


def _check_witness(certificate: Certificate) -> None:
    """The witness must be in the domain and satisfy the conditions."""
    domain = certificate.program.domain
    for s, interval in domain.exponents.items():
        low, high = interval.lower, interval.upper
        if low is not None and high is not None and low >= high:
            _fail(f"the interval of {s}, {interval}, is empty")
        if s in certificate.witness and certificate.witness[s] not in interval:
            _fail(f"the witness has {s} outside {interval}")
    for monomial in domain.at_least_one:
        if monomial.compare_one(certificate.witness) < 0:
            _fail(f"the witness is outside the domain: {monomial.expr} < 1")
    for condition in certificate.conditions:
        if condition.compare_one(certificate.witness) > 0:
            _fail(f"the witness violates {condition.expr} <= 1")


CHECKS = (
    ("form", "names are unambiguous, exponents defined, nothing is missing", _check_form),
    ("sums", "every condensed sum implies its product, and is tight", _check_sums),
    ("bound", "the constraints multiply to the bound", _check_bound),
    ("point", "it is feasible under the conditions and attains the bound", _check_point),
    ("witness", "it is in the domain and satisfies the conditions", _check_witness),
)
"""For each check its name, what it shows, and the check."""
