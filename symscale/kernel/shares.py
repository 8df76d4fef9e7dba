"""Theorems by shares: tangents, boxes that tangents cover, and curves in one share."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product as combinations
from typing import TypeAlias

from symscale.kernel.claim import Claim
from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.numbers import compare_with_one
from symscale.kernel.polynomials import Exponent, symbol
from symscale.kernel.problem import MOST, Declarations, SignCondition, StatedProblem, UnitConstraint
from symscale.kernel.read import as_dict, as_line, as_list, as_name, as_object, as_rational
from symscale.kernel.terms import (
    ONE,
    Base,
    Place,
    Product,
    numbers_in,
    of_number,
    power,
    put,
    times,
)

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


# Boxes: products of parameters between bounds, cut into rectangles of their logarithms. In
# these and those of the variables a constraint, and the objective over a tangent, is the
# logarithm of a sum of exponentials of linear functions, which is convex. So what holds at the
# corners of a rectangle holds within, at the geometric means of the corners' points.


class _BoxNumbers:
    """The products of parameters that a box bounds, and other products in terms of them."""

    def __init__(self, claim: Claim) -> None:
        self.variables = claim.scope.variables
        self.ranges: list[tuple[Product, Fraction, Fraction]] = []
        self.names: list[str] = []
        self._rows: list[tuple[Base, Product]] = []
        for data in as_list(claim.row["numbers"], "the numbers", MOST_NUMBERS):
            row = as_object(data, "a number", ("name", "product", "from", "to"))
            name, product = as_line(row["name"]), claim.region.product(row["product"])
            low, high = as_rational(row["from"]), as_rational(row["to"])
            if name in self.names or not 0 < low < high:
                raise Refused(f"the number {name!r} is there twice, or its range is empty")
            for terms in ([(_UNIT, product), (-low, ONE)], [(high, ONE), (-_UNIT, product)]):
                if claim.witness.sign(terms) <= 0:
                    raise Refused(f"the witness has the number {name!r} outside of its range")
            self._solve(times(product, {_label(len(self.names)): -_UNIT}))
            self.names.append(name)
            self.ranges.append((product, low, high))
        if not self.names:
            raise Refused("a box has no numbers")

    def _solve(self, one: Product) -> None:
        """Solve what is 1 for a parameter; it is put into later products."""
        row = self._put(one)
        pivot = min(self._parameters(row), default="")
        e = row.get(pivot, None)
        if not isinstance(e, Fraction):
            raise Refused("a number of a box follows from the others, or has symbolic exponents")
        self._rows.append((pivot, power(row, 1 / e)))

    def _parameters(self, product: Product) -> list[str]:
        return [
            b for b in product
            if isinstance(b, str) and b[0] != "#" and b not in self.variables
        ]  # fmt: skip

    def _put(self, product: Product) -> Product:
        for pivot, row in self._rows:
            product = times(product, power(row, -product.get(pivot, Fraction(0))))
        return product

    def write(self, product: Product) -> Product:
        """A product of numbers, variables and these, which may have had parameters."""
        found = self._put(product)
        if names := self._parameters(found):
            raise Refused(f"{names[0]} stands in what is no product of the box's numbers")
        if not all(isinstance(e, Fraction) for e in found.values()):
            raise Refused("a box has symbolic exponents")
        return found

    def at(self, corner: _Corner) -> dict[str, Product]:
        """What they are at a corner, whose places are shares of the logarithmic ranges."""
        return {
            _label(k): times(power(of_number(low), 1 - u), power(of_number(high), u))
            for k, (u, (_, low, high)) in enumerate(zip(corner, self.ranges, strict=True))
        }


def _label(number: int) -> str:
    return f"#{number}"


def show_box(claim: Claim) -> None:
    """Nothing is below tangents, and within a box points come near the greatest of them."""
    numbers, within = _BoxNumbers(claim), _within(claim)
    gauge = {x: times(g, {x: _UNIT}) for x, g in claim.read_point(claim.row["gauge"]).items()}
    constraints = [
        UnitConstraint(c.name, c.relation, tuple(numbers.write(put(t, gauge)) for t in c.terms))
        for c in claim.problem.constraints.values()
    ]
    values, costs = _tangents(claim, numbers, gauge)
    corners = _corners(claim, numbers)
    place, met, near = Place({}, {}), set[_Corner](), set[tuple[_Corner, str]]()
    ends = (Fraction(0),) * len(numbers.names), (_UNIT,) * len(numbers.names)
    for name, lows, highs in _rectangles(claim.row["tree"], numbers.names, *ends, 0):
        if not isinstance(name, str) or name not in costs:
            raise Refused(f"no tangent is named {shown(name)}")
        for corner in combinations(*zip(lows, highs, strict=True)):
            spend(1)
            if corner not in corners:
                raise Refused(f"no point is given at the corner {', '.join(map(str, corner))}")
            if corner not in met:
                _check_constraints(place, constraints, corners[corner])
            if (corner, name) not in near:
                _check_cost(place, costs[name], corners[corner], within, ONE)
            met.add(corner)
            near.add((corner, name))
    if met != corners.keys() or {name for _, name in near} != costs.keys():
        raise Refused("a corner or a tangent is of no rectangle")
    claim.facts |= {"ranges": numbers.ranges, "tangents": values}


def _tangents(
    claim: Claim, numbers: _BoxNumbers, gauge: _Values
) -> tuple[list[Product], dict[str, list[Product]]]:
    """The values of the tangents, and the costs over each by its name."""
    values: list[Product] = []
    costs: dict[str, list[Product]] = {}
    for data in as_list(claim.row["tangents"], "the tangents", MOST):
        row = as_object(data, "a tangent", ("name", "shares", "value"))
        name, value = as_line(row["name"]), claim.region.product(row["value"])
        if name in costs:
            raise Refused(f"two tangents are named {name!r}")
        claim.bound_by_shares(row["shares"], value)
        most = power(claim.problem.cost_of(value), -_UNIT)
        costs[name] = [numbers.write(times(put(t, gauge), most)) for t in claim.problem.cost]
        values.append(value)
    return values, costs


def _corners(claim: Claim, numbers: _BoxNumbers) -> dict[_Corner, dict[str, Product]]:
    """The points at the corners, over the gauge, with what the numbers are there."""
    found: dict[_Corner, dict[str, Product]] = {}
    for data in as_list(claim.row["corners"], "the corners", MOST_CORNERS):
        row = as_object(data, "a corner", ("at", "point"))
        at = tuple(as_rational(u) for u in as_list(row["at"], "a corner", MOST_NUMBERS))
        if at in found or len(at) != len(numbers.names):
            raise Refused("a corner is there twice, or has not a place for each number")
        point = _point(claim, row["point"])
        if any(p.keys() != numbers_in(p).keys() for p in point.values()):
            raise Refused("at a corner the point is of numbers alone")
        found[at] = point | numbers.at(at)
    return found


def _rectangles(
    data: object, names: list[str], lows: _Corner, highs: _Corner, depth: int
) -> Iterator[tuple[object, _Corner, _Corner]]:
    """The rectangles into which a tree of cuts parts one, each with its tangent."""
    row = as_dict(data, "a box's tree")
    spend(1)
    if depth > MOST_DEPTH:
        raise Refused("a box's tree is nested too deeply")
    if "tangent" in row:
        yield as_object(row, "a rectangle", ("tangent",))["tangent"], lows, highs
        return
    as_object(row, "a cut", ("number", "at", "below", "above"))
    if row["number"] not in names:
        raise Refused(f"no number of the box is named {shown(row['number'])}")
    k, at = names.index(row["number"]), as_rational(row["at"])
    if not lows[k] < at < highs[k]:
        raise Refused("a cut does not part its rectangle")
    below, above = (*highs[:k], at, *highs[k + 1 :]), (*lows[:k], at, *lows[k + 1 :])
    yield from _rectangles(row["below"], names, lows, below, depth + 1)
    yield from _rectangles(row["above"], names, above, highs, depth + 1)
