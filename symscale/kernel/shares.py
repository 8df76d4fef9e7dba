"""Theorems by shares: tangents, boxes that tangents cover, and curves in one share."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from symscale.kernel.claim import Claim
from symscale.kernel.limits import Refused, shown
from symscale.kernel.problem import UnitConstraint
from symscale.kernel.read import as_dict, as_rational
from symscale.kernel.terms import ONE, Place, Product, of_number, put

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
