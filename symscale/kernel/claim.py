"""Claims about a problem: bounds by weighted means, points, directions, and how they are shown."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.polynomials import Exponent
from symscale.kernel.problem import MOST, OBJECTIVE, StatedProblem, UnitConstraint
from symscale.kernel.read import as_dict, as_list, as_object, as_rational
from symscale.kernel.region import ProofRegion
from symscale.kernel.terms import (
    ONE,
    Place,
    Product,
    Term,
    Terms,
    is_one,
    of_number,
    power,
    put,
    same,
    scaled,
    times,
    vanishes,
)

_UNIT = Fraction(1)


class Claim:
    """A theorem about a problem while it is shown."""

    def __init__(
        self, row: dict[str, Any], problem: StatedProblem, region: ProofRegion, witness: Place
    ) -> None:
        self.row, self.problem, self.region, self.scope = row, problem, region, region.scope
        self.witness = witness
        region.require_positive(*problem.products())
        self.lost = False  # whether a term was left out that makes the bound strict
        self.value: Product = ONE
        self.point: dict[str, Product] = {}
        self.direction: dict[str, Exponent] = {}
        self.shrink: dict[str, Exponent] = {}
        self.facts: dict[str, Any] = {}  # what else its kind says

    def constraint(self, name: str) -> UnitConstraint:
        """The constraint of a name."""
        if name not in self.problem.constraints:
            raise Refused(f"no constraint is named {shown(name)}")
        return self.problem.constraints[name]

    def terms_of(self, name: str) -> tuple[Product, ...]:
        """The terms of a constraint, or of the cost."""
        return self.problem.cost if name == OBJECTIVE else self.constraint(name).terms

    # Bounds by weighted means: sum t_i >= prod (t_i/w_i)**w_i for weights w_i of sum 1.

    def weights(self) -> dict[str, tuple[Product | None, ...]]:
        """The weights that are given; None for a term that is left out."""
        found: dict[str, tuple[Product | None, ...]] = {}
        for name, rows in as_dict(self.row.get("weights", {}), "weights").items():
            if len(as_list(rows, "weights", MOST)) != len(self.terms_of(name)):
                raise Refused(f"{name!r} has not as many terms as weights")
            if name != OBJECTIVE and self.constraint(name).relation == "==":
                raise Refused(f"{name!r} is an equality and has no weights")
            weights = tuple(None if w is None else self.region.product(w) for w in rows)
            total: list[Term] = [(-_UNIT, ONE), *((_UNIT, w) for w in weights if w is not None)]
            if not vanishes(total, self.scope.abbreviations):
                raise Refused(f"the weights of {name!r} do not add up to 1")
            found[name] = weights
        return found

    def multipliers(self) -> tuple[dict[str, Terms], dict[str, bool]]:
        """The multipliers, none negative, and which of them are shown to be positive."""
        found: dict[str, Terms] = {}
        positive: dict[str, bool] = {}
        for name, data in as_dict(self.row["multipliers"], "multipliers").items():
            row = as_object(data, "a multiplier", ("value",), ("proof",))
            found[name] = self.region.terms(row["value"])
            positive[name] = False
            if self.constraint(name).relation == "<=":
                what = f"the multiplier of {name!r}"
                positive[name] = self.region.show_sum(found[name], row.get("proof"), what)
        return found, positive

    def bound(self) -> tuple[Product, Product]:
        """Show what no cost is below; return the constant left by constant weights.

        Returns:
            The least of the cost, and what the constraints multiply to, both only where
            no formal point gives the constant.
        """
        weights = self.weights()
        multipliers, positive = self.multipliers()
        if self.row["theorem"] != "infeasible":
            multipliers[OBJECTIVE], positive[OBJECTIVE] = [(_UNIT, ONE)], True
        unused = sorted(set(weights) - set(multipliers))
        if unused:
            raise Refused(f"{unused[0]!r} has weights and no multiplier")
        self.lost = any(None in shares and positive[name] for name, shares in weights.items())
        kept = self._kept(weights, multipliers)
        if "at" in self.row:
            self._check_formal_point(kept)
            return ONE, ONE
        return self._constant(kept, multipliers)

    def bound_by_shares(self, data: object, value: Product) -> None:
        """Show that no cost is below a value's, by shares of terms that are numbers.

        The shares of a sum, over their total, are its weights; the total is its multiplier.
        """
        weights: dict[str, tuple[Product | None, ...]] = {}
        multipliers: dict[str, Terms] = {}
        for name, rows in as_dict(data, "shares").items():
            terms = self.terms_of(name)
            shares = [as_rational(s) for s in as_list(rows, "shares", MOST)]
            total = sum(shares, Fraction(0))
            multipliers[name] = [(total, ONE)]
            if len(shares) != len(terms):
                raise Refused(f"{name!r} has not as many terms as shares")
            if name != OBJECTIVE and self.constraint(name).relation == "==":
                continue
            if min(shares) < 0 or not total:
                raise Refused(f"the shares of {name!r} are negative, or all zero")
            weights[name] = tuple(of_number(s / total) if s else None for s in shares)
        if multipliers.get(OBJECTIVE) != [(_UNIT, ONE)]:
            raise Refused("the objective's shares do not add up to 1")
        least = times(*self._constant(self._kept(weights, multipliers), multipliers))
        ratio = times(self.problem.cost_of(value), power(least, -_UNIT))
        self.region.show_at_most_one(ratio, {}, "the value, over what the shares give")

    def _kept(
        self, weights: Mapping[str, tuple[Product | None, ...]], multipliers: Mapping[str, Terms]
    ) -> list[tuple[str, Product, Product]]:
        """The terms that have weights, with these; all variables must cancel in them."""
        kept: list[tuple[str, Product, Product]] = []
        for name in multipliers:
            terms, shares = self.terms_of(name), weights.get(name, (ONE,))
            if len(shares) != len(terms):
                raise Refused(f"{name!r} is a sum and needs weights")
            kept += [(name, t, w) for t, w in zip(terms, shares, strict=True) if w is not None]
        for x in self.scope.variables:
            total = [
                (c * t[x], times(p, w))
                for name, t, w in kept if x in t for c, p in multipliers[name]
            ]
            if not vanishes(total, self.scope.abbreviations):
                raise Refused(f"with these multipliers and weights {x} does not cancel")
        return kept

    def _constant(
        self, kept: list[tuple[str, Product, Product]], multipliers: dict[str, Terms]
    ) -> tuple[Product, Product]:
        """The product of all terms over their weights, to their multipliers: a constant."""
        cost, rest = ONE, ONE
        for name, t, w in kept:
            exponent = _number_of(w) * _exponent_of(name, multipliers[name])
            factor = power(times(t, power(w, -_UNIT)), exponent)
            if name == OBJECTIVE:
                cost = times(cost, factor)
            else:
                rest = times(rest, factor)
        return cost, rest

    def _check_formal_point(self, kept: list[tuple[str, Product, Product]]) -> None:
        """At some positive values of the variables every term is its weight.

        All powers of variables cancel in the product of the terms over their weights, so
        that this product is the same everywhere: what it is at these values.
        """
        at = self.read_point(self.row["at"])
        for name, t, w in kept:
            wanted = times(w, self.problem.cost_of(self.value)) if name == OBJECTIVE else w
            if not self._equal(put(t, at), wanted):
                raise Refused(f"at the formal point a term of {name!r} is not its weight")

    def _equal(self, first: Product, second: Product) -> bool:
        return same(first, second) or vanishes(
            [(_UNIT, first), (-_UNIT, second)], self.scope.abbreviations
        )

    # Points.

    def read_point(self, data: object) -> dict[str, Product]:
        """Read a product of parameters for each variable."""
        found = {x: self.region.product(p) for x, p in as_dict(data, "a point").items()}
        if set(found) != set(self.scope.variables):
            raise Refused("a point gives a product to each variable, and to nothing else")
        return found

    def directed(self, key: str) -> dict[str, Exponent]:
        """Read by which powers the variables change."""
        found = {x: self.scope.exponent(e) for x, e in as_dict(self.row[key], key).items()}
        unknown = sorted(set(found) - set(self.scope.variables))
        if unknown:
            raise Refused(f"{shown(unknown[0])} is no variable")
        return found

    def slope(self, term: Product, direction: Mapping[str, Exponent]) -> int:
        """The sign of the power by which a term changes."""
        spend(1 + len(term))
        total: Exponent = Fraction(0)
        for x, e in term.items():
            if x in direction:
                total = total + e * direction[str(x)]
        return self.region.sign(total)

    def feasible(self, kept: Callable[[UnitConstraint], tuple[Product, ...]]) -> None:
        """Show that the point satisfies what is kept of each constraint."""
        self.point = self.read_point(self.row["point"])
        slacks = as_dict(self.row["slacks"], "slacks")
        for name in slacks:
            self.constraint(name)
        for name, c in self.problem.constraints.items():
            terms: Terms = [(_UNIT, put(t, self.point)) for t in kept(c)]
            if not terms:
                continue
            gap = [(_UNIT, ONE), *scaled(terms, -_UNIT)]
            tight = (len(terms) == 1 and is_one(terms[0][1])) or vanishes(
                gap, self.scope.abbreviations
            )
            if tight:
                continue
            if name not in slacks:
                raise Refused(f"at the point {name!r} is not tight, and no slack is shown")
            if c.relation == "==":
                self.region.show_one(terms[0][1], slacks[name], f"the equality {name!r}")
                continue
            self.region.show_slack(terms, slacks[name], f"the slack of {name!r}")

    def cost_at(self, terms: tuple[Product, ...]) -> Terms:
        """The difference of the value's cost and the sum of terms at the point."""
        rows = [(-_UNIT, put(t, self.point)) for t in terms]
        return [(_UNIT, self.problem.cost_of(self.value)), *rows]

    def read_value(self) -> None:
        """Read the value."""
        self.value = self.region.product(self.row["value"])

    def require_value(self, terms: tuple[Product, ...]) -> None:
        """The terms at the point must add up to the value."""
        if not vanishes(self.cost_at(terms), self.scope.abbreviations):
            raise Refused("at the point the objective is not the value")

    def bounded(self) -> None:
        """Show that the cost is at least that of the value."""
        self.read_value()
        cost, rest = self.bound()
        if "at" not in self.row and not self._equal(
            times(cost, rest), self.problem.cost_of(self.value)
        ):
            raise Refused("the constraints multiply to another value")


def _number_of(weight: Product) -> Fraction:
    """A weight that is a rational number."""
    value = Fraction(1)
    for base, e in weight.items():
        if not isinstance(base, int) or not isinstance(e, Fraction) or e.denominator != 1:
            raise Refused("weights that are no rational numbers need a formal point")
        if abs(e) > 64:
            raise Refused("a weight is too small or too large")
        value *= Fraction(base) ** int(e)
    return value


def _exponent_of(name: str, terms: Terms) -> Exponent:
    """A multiplier that is an exponent."""
    total: Exponent = Fraction(0)
    for c, p in terms:
        if p:
            raise Refused(f"the multiplier of {name!r} is no exponent, and needs a formal point")
        total = total + c
    return total
