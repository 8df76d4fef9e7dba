"""Theorems by shares: tangents, boxes that tangents cover, and curves in one share."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from symscale.kernel.claim import Claim
from symscale.kernel.limits import Refused, shown
from symscale.kernel.numbers import compare_with_one
from symscale.kernel.polynomials import Exponent, symbol
from symscale.kernel.problem import Declarations, SignCondition, StatedProblem, UnitConstraint
from symscale.kernel.read import as_dict, as_name, as_object, as_rational
from symscale.kernel.terms import ONE, Place, Product, numbers_in, of_number, power, put, times

MOST_NUMBERS = 4
MOST_CORNERS = 1000
MOST_DEPTH = 60

_UNIT = Fraction(1)
_Corner: TypeAlias = tuple[Fraction, ...]
_Values: TypeAlias = Mapping[str, Product]


def show_tangent(claim: Claim) -> None:
    """Nothing is below a product of powers, and at the witness a point comes near it."""
    claim.read_value()
    claim.bound_by_shares(claim.row["shares"], claim.value)
    claim.point = _point(claim, claim.row["point"])
    within = _within(claim)
    _check_constraints(claim.witness, claim.problem.constraints.values(), claim.point)
    least = claim.problem.cost_of(claim.value)
    _check_cost(claim.witness, claim.problem.cost, claim.point, within, least)


def _within(claim: Claim) -> Fraction:
    within = as_rational(claim.row["within"])
    if within < 0:
        raise Refused("a share within which something lies is not negative")
    claim.facts["within"] = within
    return within


def _point(claim: Claim, data: object) -> dict[str, Product]:
    """A point of which some values may be plain numbers."""
    rows = dict(as_dict(data, "a point"))
    numbers: dict[str, Product] = {}
    for x, value in rows.items():
        if isinstance(value, str):
            number, rows[x] = as_rational(value), {}
            if number <= 0:
                raise Refused(f"at the point {shown(x)} is not positive")
            numbers[x] = of_number(number)
    return claim.read_point(rows) | numbers


def _check_constraints(
    place: Place, constraints: Iterable[UnitConstraint], values: _Values
) -> None:
    for c in constraints:
        side = place.sign([(_UNIT, ONE), *((-_UNIT, put(t, values)) for t in c.terms)])
        if side < 0 or (side > 0 and c.relation == "=="):
            raise Refused(f"at the point {c.name!r} does not hold")


def _check_cost(
    place: Place, cost: Iterable[Product], values: _Values, within: Fraction, least: Product
) -> None:
    rows = [(-_UNIT, put(t, values)) for t in cost]
    if place.sign([(1 + within, least), *rows]) < 0:
        raise Refused("at the point the objective is not within this share of the value")


# Curves: the optimum as a function of a share, which determines one of the parameters.


def read_share(data: object, scope: Declarations) -> tuple[SignCondition, SignCondition]:
    """The conditions that a share lies in its open interval."""
    row = as_object(data, "a share", ("name", "from", "to"))
    name, low, high = as_name(row["name"]), as_rational(row["from"]), as_rational(row["to"])
    if name in {*scope.box, *scope.variables, *scope.abbreviations}:
        raise Refused(f"the share {name} is a name of something else as well")
    if not 0 <= low < high:
        raise Refused("the interval of a share is empty, or begins below 0")
    scope.used_names.add(name)
    here: Product = {name: _UNIT}
    return (
        SignCondition("from", ">", [(_UNIT, here), *([(-low, ONE)] if low else [])]),
        SignCondition("to", ">", [(high, ONE), (-_UNIT, here)]),
    )


def show_curve(claim: Claim) -> None:
    """A bound and a point of one value, of the problem with one parameter replaced."""
    share = claim.row["share"]["name"]
    name, given = _replaced(claim, share)
    problem, values = claim.problem, {name: given}
    constraints = {
        c.name: UnitConstraint(c.name, c.relation, tuple(put(t, values) for t in c.terms))
        for c in problem.constraints.values()
    }
    objective = tuple(put(t, values) for t in problem.objective)
    claim.problem = StatedProblem(problem.sense, objective, constraints)
    claim.row = {**claim.row, "at": claim.row["point"]}
    claim.bounded()
    claim.feasible(lambda c: c.terms)
    claim.require_value(claim.problem.cost)
    claim.facts |= {"given": given, "parameter": name}
    row = claim.row["share"]
    claim.facts["share"] = {"name": share} | {k: as_rational(row[k]) for k in ("from", "to")}
    reach = _reach(claim, share, name, given)
    claim.facts |= {} if reach is None else {"reach": reach}


def _replaced(claim: Claim, share: str) -> tuple[str, Product]:
    """The parameter that is replaced, and the product in the share that replaces it."""
    scope, region = claim.scope, claim.region
    rows = as_dict(claim.row["given"], "what is given")
    if len(rows) != 1:
        raise Refused("a curve replaces one parameter")
    ((name, data),) = rows.items()
    given, problem = region.product(data), claim.problem.products()
    plain = {b for p in problem for b in p} - {*scope.variables, *scope.box, *scope.abbreviations}
    if name not in plain:
        raise Refused(f"{shown(name)} is no parameter of the problem that stands as a factor")
    if share in scope.inside(*problem):
        raise Refused(f"the share {share} is a parameter of the problem")
    assumed = [given, *(p for c in region.conditions.values() for _, p in c.terms)]
    assumed += [{a: _UNIT} for a in region.positive]
    if name in scope.inside(*assumed):
        raise Refused(f"{name} is replaced, and stands in a condition or an abbreviation as well")
    if name in claim.witness.values:
        raise Refused(f"{name} is replaced, so the witness gives it no number")
    return name, given


def _reach(claim: Claim, share: str, name: str, given: Product) -> list[SignCondition] | None:
    """Which values the replaced parameter takes as the share goes through its interval.

    The product is continuous in the share, so that it takes every value between its limits
    at the ends. None where conditions hold for a part of the interval only.
    """
    conditions = claim.region.conditions
    others = [c.terms for n, c in conditions.items() if n not in ("from", "to")]
    if share in claim.scope.inside(*(p for found in others for _, p in found)):
        return None
    ends = claim.facts["share"]
    (side, least), (other, greatest) = (
        _limit(claim, share, given, ends[key]) for key in ("from", "to")
    )
    if least is not None and greatest is not None:
        ratio = times(least, power(greatest, -_UNIT))
        if ratio.keys() != numbers_in(ratio).keys():
            raise Refused("the limits of what is given are not compared")
        side = compare_with_one(numbers_in(ratio))
    if side == other:
        raise Refused(f"{name} has the same limit at both ends of the share's interval")
    if side > other:
        least, greatest = greatest, least
    here: Product = {name: _UNIT}
    sides = (
        ("above the least", least, [(_UNIT, here), (-_UNIT, least or ONE)]),
        ("below the greatest", greatest, [(_UNIT, greatest or ONE), (-_UNIT, here)]),
    )
    return [SignCondition(text, ">", terms) for text, limit, terms in sides if limit is not None]


def _limit(
    claim: Claim, share: str, given: Product, end: Fraction
) -> tuple[int, Product | None]:
    """Where what is given goes as the share goes to an end of its interval.

    Returns:
        -1 and None for 0, 1 and None for infinity, else 0 and the limit.
    """
    scope, rest = claim.scope, ONE
    order: Exponent = Fraction(0)
    values: list[tuple[Exponent, Exponent]] = []
    for base, e in given.items():
        if share not in scope.inside({base: _UNIT}):
            rest = times(rest, {base: e})
            continue
        constant: Exponent = Fraction(0)
        slope: Exponent = Fraction(0)
        for c, p in scope.abbreviations.get(str(base), [(_UNIT, {share: _UNIT})]):
            powers = {b: e for b, e in p.items() if not (b in scope.box and e == 1)}
            for b in p.keys() - powers.keys():
                c = c * symbol(str(b))
            if powers not in ({}, {share: _UNIT}):
                raise Refused(f"{base} is not linear in the share alone")
            constant, slope = (constant, slope + c) if powers else (constant + c, slope)
        value = constant + slope * end
        if claim.region.sign(value) == 0:
            order, value = order + e, slope
        values.append((value, e))
    side = claim.region.sign(order)
    if side:
        return -side, None
    for value, e in values:
        if not isinstance(value, Fraction):
            raise Refused("the limit of what is given is no product of numbers and parameters")
        rest = times(rest, power(of_number(abs(value)), e))
    return 0, rest
