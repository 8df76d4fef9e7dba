"""The regions of theorems, and proofs of signs in them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.numbers import compare_with_one
from symscale.kernel.polynomials import Exponent, sign
from symscale.kernel.problem import MOST, Declarations, SignCondition
from symscale.kernel.read import (
    as_dict,
    as_list,
    as_name,
    as_object,
    as_rational,
)
from symscale.kernel.terms import (
    ONE,
    Place,
    Product,
    Term,
    Terms,
    multiplied,
    numbers_in,
    power,
    same,
    scaled,
    times,
    vanishes,
)


@dataclass
class ProofRegion:
    """What a theorem assumes: the domain, conditions, and which abbreviations are positive.

    Attributes:
        scope: The names.
        conditions: The conditions, by name, the domain's among them.
        own: The names of those that are not of the domain.
        positive: The abbreviations shown to be positive.
    """

    scope: Declarations
    conditions: dict[str, SignCondition] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    positive: set[str] = field(default_factory=set)

    def add(self, condition: SignCondition) -> None:
        """Assume one condition more.

        Raises:
            Refused: If its name is taken, or it uses what is not shown to be positive.
        """
        if condition.name in self.conditions:
            raise Refused(f"two conditions are named {condition.name!r}")
        self.require_positive(*(p for _, p in condition.terms))
        self.conditions[condition.name] = condition
        self.own.append(condition.name)

    def require_positive(self, *products: Product) -> None:
        """Every abbreviation that is used must have been shown to be positive.

        Raises:
            Refused: If one was not.
        """
        missing = self.scope.used(*products) - self.positive
        if missing:
            raise Refused(f"{min(missing)} is used, but not shown to be positive in the region")

    def product(self, data: object, *, variables: bool = False) -> Product:
        """Read a product whose abbreviations are positive here."""
        found = self.scope.product(data, variables=variables)
        self.require_positive(found)
        return found

    def terms(self, data: object) -> Terms:
        """Read a sum whose abbreviations are positive here."""
        found = self.scope.terms(data)
        self.require_positive(*(p for _, p in found))
        return found

    def copy(self) -> "ProofRegion":
        """A region of the same assumptions, to which others can be added."""
        return ProofRegion(self.scope, dict(self.conditions), list(self.own), set(self.positive))

    def sign(self, e: Exponent) -> int:
        """The sign of an exponent over the whole box."""
        return sign(e, self.scope.box)

    def _condition(self, name: str) -> SignCondition:
        if name not in self.conditions:
            raise Refused(f"no condition is named {shown(name)}")
        return self.conditions[name]

    # Proofs.

    def show_sum(self, terms: Terms, data: object, what: str) -> bool:
        """Show that a sum is not negative; return whether it is shown to be positive.

        Without a proof no coefficient may be negative.

        Raises:
            Refused: If it is not shown.
        """
        if data is None:
            spend(1 + len(terms) // 8)
            signs = [self.sign(c) for c, _ in terms]
            if min(signs, default=0) < 0:
                raise Refused(f"{what} needs a proof that it is not negative")
            return max(signs, default=0) > 0
        total: list[Term] = scaled(terms, Fraction(-1))
        strict = False
        for row in as_list(data, "a proof", MOST):
            summand, positive = self._summand(row)
            total += summand
            strict = strict or positive
        if not vanishes(total, self.scope.abbreviations):
            raise Refused(f"{what}: its proof adds up to something else")
        return strict

    def _summand(self, data: object) -> tuple[Terms, bool]:
        """A summand of a proof, multiplied out, and whether it is positive."""
        row = as_object(data, "a summand", (), ("coefficient", "product", "times", "gap", "square"))
        c = self.scope.exponent(row.get("coefficient", "1"))
        terms: Terms = [(c, self.product(row.get("product", {})))]
        vanishing, strict = False, True
        for name, k in as_dict(row.get("times", {}), "times").items():
            if type(k) is not int or not 1 <= k <= 8:
                raise Refused("a condition's power in a proof is a whole number from 1 to 8")
            condition = self._condition(name)
            vanishing = vanishing or condition.relation == "=="
            strict = strict and condition.strict
            for _ in range(k):
                terms = multiplied(terms, condition.terms)
        side = 0 if vanishing else self.sign(c)  # what is zero may have any coefficient
        if side < 0:
            raise Refused("a summand of a proof has a negative coefficient")
        strict = strict and side > 0
        if "gap" in row:
            ratio, gap_strict = self._ratios(row["gap"])
            terms = [*terms, *scaled(terms, Fraction(-1), ratio)]
            strict = strict and gap_strict
        if "square" in row:
            root = self.terms(row["square"])
            terms = multiplied(terms, multiplied(root, root))
            strict = False
        return terms, strict

    def _ratios(self, data: object) -> tuple[Product, bool]:
        """The product of the ratios of conditions to powers, and whether it is below 1."""
        total, strict = ONE, False
        for name, text in as_dict(data, "powers of conditions").items():
            condition, e = self._condition(name), self.scope.exponent(text)
            if condition.relation != "==":
                side = self.sign(e)
                if side < 0:
                    raise Refused(f"the condition {name!r} is used to a negative power")
                strict = strict or (condition.strict and side > 0)
            total = times(total, power(condition.ratio(), e))
        return total, strict

    def show_at_most_one(self, product: Product, data: object, what: str) -> bool:
        """Show that a product is at most 1 by powers; return whether it is shown to be less.

        Raises:
            Refused: If it is not shown.
        """
        ratios, strict = self._ratios(data)
        left = times(product, power(ratios, Fraction(-1)))
        names = sorted(b for b in left if isinstance(b, str))
        if names:
            raise Refused(f"{what}: the powers of conditions leave over {names[0]}")
        numbers = numbers_in(left)
        for b in left.keys() - numbers.keys():
            # A whole number above 1 to an exponent that is nowhere positive.
            if self.sign(left[b]) > 0:
                raise Refused(f"{what}: a number to a symbolic power may exceed 1")
            strict = strict or self.sign(left[b]) < 0
        compared = compare_with_one(numbers)
        if compared > 0:
            raise Refused(f"{what}: it exceeds 1")
        return strict or compared < 0

    def show_one(self, product: Product, data: object, what: str) -> None:
        """Show that a product is 1, by powers of conditions that are equalities.

        Raises:
            Refused: If it is not shown.
        """
        for name in as_dict(data, "powers of conditions"):
            if self._condition(name).relation != "==":
                raise Refused(f"{what}: the condition {name!r} is no equality")
        if not same(product, self._ratios(data)[0]):
            raise Refused(f"{what} is not satisfied at the point")

    def show_slack(self, terms: Terms, data: object, what: str) -> bool:
        """Show that a sum is at most 1, by powers if it is one product, else by a proof.

        Raises:
            Refused: If it is not shown.
        """
        if isinstance(data, dict) and len(terms) == 1 and terms[0][0] == 1:
            return self.show_at_most_one(terms[0][1], data, what)
        rest: list[Term] = [(Fraction(1), ONE), *scaled(terms, Fraction(-1))]
        return self.show_sum(rest, data, what)

    def show_condition(self, condition: SignCondition, data: object) -> None:
        """Show that another region's condition holds here.

        Raises:
            Refused: If it is not shown.
        """
        what = f"the condition {condition.name!r}"
        if condition.relation == "==":
            if any(
                c.relation == "==" and vanishes(
                    [*condition.terms, *scaled(c.terms, Fraction(s))], self.scope.abbreviations
                )
                for c in self.conditions.values() for s in (1, -1)
            ) or vanishes(condition.terms, self.scope.abbreviations):
                return
            raise Refused(f"{what} is no equality that is known here")
        if isinstance(data, dict):
            strict = self.show_at_most_one(condition.ratio(), data, what)
        else:
            strict = self.show_sum(condition.terms, data, what)
        if condition.strict and not strict:
            raise Refused(f"{what} is shown with equality, but it is strict")


def read_region(
    data: object, scope: Declarations, granted: Iterable[SignCondition] = ()
) -> ProofRegion:
    """Read a region, in which the domain's conditions are granted, and maybe others."""
    region = ProofRegion(scope)
    for condition in (*scope.domain, *granted):
        region.add(condition)
    region.own = []
    for row in as_list(data, "a region", MOST):
        if isinstance(row, dict) and "positive" in row:
            entry = as_object(row, "a region", ("positive", "proof"))
            name = entry["positive"]
            if not isinstance(name, str) or name not in scope.abbreviations:
                raise Refused(f"{shown(name)} is no abbreviation")
            terms = scope.abbreviations[name]
            region.require_positive(*(p for _, p in terms))
            if not region.show_sum(terms, entry["proof"], f"that {name} is positive"):
                raise Refused(f"{name} is shown not to be negative, but not to be positive")
            region.positive.add(name)
        else:
            region.add(scope.condition(row))
    return region


def check_witness(data: object, region: ProofRegion) -> Place:
    """The witness must lie in the domain, and strictly in the region.

    Without it a statement about no parameters at all would pass for a theorem.

    Raises:
        Refused: If it does not.
    """
    scope = region.scope
    values = {as_name(n): as_rational(v) for n, v in as_dict(data, "a witness").items()}
    for name, value in values.items():
        if name in scope.variables or name in scope.abbreviations:
            raise Refused(f"the witness gives a number to {name}, which is no parameter")
        if name in scope.box:
            low, high = scope.box[name]
            if (low is not None and value <= low) or (high is not None and value >= high):
                raise Refused(f"the witness has {name} outside its interval")
        elif value <= 0:
            raise Refused(f"the witness has {name} = {value}, and parameters are positive")
    missing = sorted(set(scope.box) - set(values))
    if missing:
        raise Refused(f"the witness gives no number to {missing[0]}")
    place = Place(values, scope.abbreviations)
    for condition in region.conditions.values():
        side = place.sign(condition.terms)
        if condition.relation == "==":
            holds = side == 0
        else:
            granted = condition.name not in region.own
            holds = side > 0 or (side == 0 and granted and not condition.strict)
        if not holds:
            raise Refused(f"the witness does not satisfy the condition {condition.name!r}")
    return place
