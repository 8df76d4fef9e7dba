"""The theorems: what each claims of a problem, and how that is shown.

Of a minimum the objective is a sum; a maximum is that of one over such a sum, which here
is called the cost: at every feasible point the objective is the cost or one over it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symscale.kernel.exponents import Exponent, shown
from symscale.kernel.limits import Refused, spend
from symscale.kernel.read import as_dict, as_line, as_list, as_object
from symscale.kernel.region import MOST, Condition, Region, Scope, check_witness, read_region
from symscale.kernel.terms import (
    ONE,
    Product,
    Term,
    Terms,
    is_one,
    power,
    put,
    same,
    scaled,
    times,
    vanishes,
)

OBJECTIVE = "objective"
_UNIT = Fraction(1)
_MOST_DEPTH = 60


@dataclass(frozen=True)
class Constraint:
    """A sum of products that is at most 1, or a product that equals 1."""

    name: str
    relation: str
    terms: tuple[Product, ...]


@dataclass(frozen=True)
class Problem:
    """An objective under constraints.

    Attributes:
        sense: "minimize", "maximize", or "maximize-inverse", of one over the objective.
        objective: The products of which it is the sum.
        constraints: The constraints, by name.
    """

    sense: str
    objective: tuple[Product, ...]
    constraints: Mapping[str, Constraint]

    @property
    def cost(self) -> tuple[Product, ...]:
        """The sum that is least at the optimum."""
        if self.sense == "maximize":
            return (power(self.objective[0], -_UNIT),)
        return self.objective

    def products(self) -> list[Product]:
        """Every term in it."""
        return [*self.objective, *(t for c in self.constraints.values() for t in c.terms)]

    def cost_of(self, value: Product) -> Product:
        """The cost at which the objective has a value."""
        return value if self.sense == "minimize" else power(value, -_UNIT)


@dataclass
class Proved:
    """A theorem that was shown.

    Attributes:
        kind: Its kind.
        name: Its name.
        region: What it assumes.
        data: What its kind says beyond that, for the sentence.
    """

    kind: str
    name: str
    region: Region
    data: dict[str, Any] = field(default_factory=dict)


def read_problem(data: object, scope: Scope) -> Problem:
    """Read a problem, whose variables are declared already."""
    row = as_object(data, "a problem", ("sense", "variables", "objective", "constraints"))
    if row["sense"] not in ("minimize", "maximize", "maximize-inverse"):
        raise Refused(
            f"a sense is minimize, maximize or maximize-inverse, not {shown(row['sense'])}"
        )

    def sum_of(rows: object) -> tuple[Product, ...]:
        found = tuple(scope.product(p, variables=True) for p in as_list(rows, "a sum", MOST))
        if not found:
            raise Refused("a sum has no terms")
        return found

    objective = sum_of(row["objective"])
    if row["sense"] == "maximize" and len(objective) > 1:
        raise Refused("what is maximized is one product, or one over a sum")
    constraints: dict[str, Constraint] = {}
    for part in as_list(row["constraints"], "the constraints", MOST):
        c = as_object(part, "a constraint", ("name", "relation", "terms"))
        name, terms = as_line(c["name"]), sum_of(c["terms"])
        if name in constraints or name == OBJECTIVE:
            raise Refused(f"two constraints are named {name!r}, or one is named 'objective'")
        if c["relation"] not in ("<=", "==") or (c["relation"] == "==" and len(terms) > 1):
            raise Refused(f"the constraint {name!r} is neither a sum <= nor a product == 1")
        constraints[name] = Constraint(name, c["relation"], terms)
    return Problem(row["sense"], objective, constraints)


class _Claim:
    """A theorem about a problem while it is shown."""

    def __init__(self, row: dict[str, Any], problem: Problem, region: Region) -> None:
        self.row, self.problem, self.region, self.scope = row, problem, region, region.scope
        region.require_positive(*problem.products())
        self.lost = False  # whether a term was left out that makes the bound strict
        self.value: Product = ONE
        self.point: dict[str, Product] = {}
        self.direction: dict[str, Exponent] = {}
        self.shrink: dict[str, Exponent] = {}

    def constraint(self, name: str) -> Constraint:
        """The constraint of a name."""
        if name not in self.problem.constraints:
            raise Refused(f"no constraint is named {shown(name)}")
        return self.problem.constraints[name]

    # Bounds by weighted means: sum t_i >= prod (t_i/w_i)**w_i for weights w_i of sum 1.

    def weights(self) -> dict[str, tuple[Product | None, ...]]:
        """The weights that are given; None for a term that is left out."""
        found: dict[str, tuple[Product | None, ...]] = {}
        for name, rows in as_dict(self.row.get("weights", {}), "weights").items():
            terms = self.problem.cost if name == OBJECTIVE else self.constraint(name).terms
            if len(as_list(rows, "weights", MOST)) != len(terms):
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
        """Show that variables cancel; return the constant left by constant weights.

        Returns:
            The least of the cost, and what the constraints multiply to, both only where
            no formal point gives the constant.
        """
        weights = self.weights()
        multipliers, positive = self.multipliers()
        sums = {name: self.constraint(name).terms for name in multipliers}
        if self.row["theorem"] != "infeasible":
            sums[OBJECTIVE] = self.problem.cost
            multipliers[OBJECTIVE] = [(_UNIT, ONE)]
        unused = sorted(set(weights) - set(sums))
        if unused:
            raise Refused(f"{unused[0]!r} has weights and no multiplier")
        kept: list[tuple[str, Product, Product]] = []
        for name, terms in sums.items():
            shares = weights.get(name, (ONE,))
            if len(shares) != len(terms):
                raise Refused(f"{name!r} is a sum and needs weights")
            kept += [(name, t, w) for t, w in zip(terms, shares, strict=True) if w is not None]
            if None in shares and (name == OBJECTIVE or positive[name]):
                self.lost = True
        for x in self.scope.variables:
            total = [
                (c * t[x], times(p, w))
                for name, t, w in kept if x in t for c, p in multipliers[name]
            ]
            if not vanishes(total, self.scope.abbreviations):
                raise Refused(f"with these multipliers and weights {x} does not cancel")
        if "at" in self.row:
            self._check_formal_point(kept)
            return ONE, ONE
        return self._constant(kept, multipliers)

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
        at = self._point(self.row["at"])
        for name, t, w in kept:
            wanted = times(w, self.problem.cost_of(self.value)) if name == OBJECTIVE else w
            if not self._equal(put(t, at), wanted):
                raise Refused(f"at the formal point a term of {name!r} is not its weight")

    def _equal(self, first: Product, second: Product) -> bool:
        return same(first, second) or vanishes(
            [(_UNIT, first), (-_UNIT, second)], self.scope.abbreviations
        )

    # Points.

    def _point(self, data: object) -> dict[str, Product]:
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
        total: Exponent = Fraction(0)
        for x, e in direction.items():
            total = total + e * term.get(x, Fraction(0))
        return self.region.sign(total)

    def feasible(self, kept: Callable[[Constraint], tuple[Product, ...]]) -> None:
        """Show that the point satisfies what is kept of each constraint."""
        self.point = self._point(self.row["point"])
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
            if c.relation == "==":
                raise Refused(f"at the point the equality {name!r} is not satisfied")
            if name not in slacks:
                raise Refused(f"at the point {name!r} is not tight, and no slack is shown")
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


def _whole(c: Constraint) -> tuple[Product, ...]:
    return c.terms


def _bound(claim: _Claim) -> None:
    claim.bounded()


def _attained(claim: _Claim) -> None:
    claim.read_value()
    claim.feasible(_whole)
    claim.require_value(claim.problem.cost)


def _feasible(claim: _Claim) -> None:
    claim.read_value()
    claim.feasible(_whole)
    claim.region.show_sum(claim.cost_at(claim.problem.cost), claim.row["gap"], "the gap")


def _infimum(claim: _Claim) -> None:
    """Below no point, and approached: along t -> oo first, then along s -> 1 from below."""
    claim.bounded()
    if not claim.lost:
        raise Refused("nothing shows that the value is not attained")
    direction = claim.direction = claim.directed("direction")
    shrink = claim.shrink = claim.directed("shrink") if "shrink" in claim.row else {}

    def kept(c: Constraint) -> tuple[Product, ...]:
        left = tuple(t for t in c.terms if claim.slope(t, direction) == 0)
        rises = [claim.slope(t, direction) > 0 for t in c.terms]
        if any(rises) or (c.relation == "==" and not left):
            raise Refused(f"along the direction {c.name!r} fails in the end")
        for t in left:
            side = claim.slope(t, shrink)
            if side < 0 or (side > 0 and c.relation == "=="):
                raise Refused(f"as it shrinks {c.name!r} fails")
            if side == 0 and len(left) < len(c.terms):
                raise Refused(f"{c.name!r} loses terms, so that its others must fall below 1")
        return left

    claim.feasible(kept)
    slopes = [claim.slope(t, direction) for t in claim.problem.cost]
    if max(slopes) > 0:
        raise Refused("along the direction the objective gets worse")
    left = tuple(t for t, s in zip(claim.problem.cost, slopes, strict=True) if s == 0)
    claim.require_value(left)


def _infeasible(claim: _Claim) -> None:
    _, rest = claim.bound()
    if not claim.region.show_at_most_one(power(rest, -_UNIT), claim.row["excess"], "the excess"):
        raise Refused("the constraints are shown to multiply to at least 1, not to more")


def _unbounded(claim: _Claim) -> None:
    direction = claim.direction = claim.directed("direction")
    for c in claim.problem.constraints.values():
        sides = [claim.slope(t, direction) for t in c.terms]
        if max(sides) > 0 or (c.relation == "==" and min(sides) < 0):
            raise Refused(f"along the direction {c.name!r} fails in the end")
    if max(claim.slope(t, direction) for t in claim.problem.cost) >= 0:
        raise Refused("along the direction the objective does not go on for ever")
    claim.feasible(_whole)


_BOUND = ("value", "multipliers"), ("weights", "at")
_OF_A_PROBLEM: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[_Claim], None]]] = {
    "bound": (*_BOUND, _bound),
    "attained": (("value", "point", "slacks"), (), _attained),
    "feasible": (("value", "point", "slacks", "gap"), (), _feasible),
    "infimum": (
        (*_BOUND[0], "direction", "point", "slacks"), (*_BOUND[1], "shrink"), _infimum,
    ),
    "infeasible": (("multipliers", "excess"), ("weights",), _infeasible),
    "unbounded": (("direction", "point", "slacks"), (), _unbounded),
}  # fmt: skip
"""For each kind the keys of its data, those that may be absent, and what shows it."""

ENDS = ("attained", "infimum", "infeasible", "unbounded")
"""The kinds that say what the answer is; a cover consists of them."""

_HEAD = ("theorem", "name", "region", "witness")


def show(
    data: object, scope: Scope, problem: Problem | None, known: Mapping[str, Proved]
) -> Proved:
    """Show a theorem.

    Args:
        data: The theorem.
        scope: What the file declares.
        problem: Its problem.
        known: The theorems that were shown before, by name.

    Raises:
        Refused: If it is not shown; the text says where it fails.
    """
    kind = as_dict(data, "a theorem").get("theorem")
    if not isinstance(kind, str):
        raise Refused("a theorem lacks 'theorem'")
    if kind in _OF_A_PROBLEM:
        keys, optional, test = _OF_A_PROBLEM[kind]
    elif kind == "cover":
        keys, optional = ("tree",), ()
    elif kind == "identity":
        keys, optional = ("left", "right"), ()
    elif kind == "inequality":
        keys, optional = ("left", "relation", "right", "proof"), ()
    else:
        raise Refused(f"{shown(kind)} is no kind of theorem")
    row = as_object(data, "a theorem", (*_HEAD, *keys), optional)
    region = read_region(row["region"], scope)
    check_witness(row["witness"], region)
    proved = Proved(kind, as_line(row["name"]), region, dict(row))
    if kind in _OF_A_PROBLEM:
        if problem is None:
            raise Refused("the file has no problem")
        claim = _Claim(row, problem, region)
        test(claim)
        proved.data |= {
            "value": claim.value, "point": claim.point, "direction": claim.direction,
            "shrink": claim.shrink,
        }  # fmt: skip
        if kind == "attained":
            proved.data["bound"] = _bound_of(proved, known)
    elif kind == "cover":
        used: list[str] = []
        _show_cover(row["tree"], region, known, used, 0)
        proved.data["theorems"] = list(dict.fromkeys(used))
    else:
        left, right = region.terms(row["left"]), region.terms(row["right"])
        _show_comparison(row, region, [*left, *scaled(right, -_UNIT)])
        proved.data |= {"left": left, "right": right}
    return proved


def _bound_of(attained: Proved, known: Mapping[str, Proved]) -> str:
    """The theorem that no point does better than an attained value in its region, or ""."""
    here = [(c.relation, c.terms) for c in attained.region.conditions.values()]
    for other in known.values():
        if other.kind == "bound" and same(other.data["value"], attained.data["value"]) and all(
            (c.relation, c.terms) in here for c in other.region.conditions.values()
        ):
            return other.name
    return ""


def _show_comparison(row: dict[str, Any], region: Region, difference: Terms) -> None:
    if row["theorem"] == "identity":
        if not vanishes(difference, region.scope.abbreviations):
            raise Refused("the two sides are not shown to be equal")
        return
    if row["relation"] not in (">=", ">"):
        raise Refused("the relation of an inequality is >= or >")
    strict = region.show_sum(difference, row["proof"], "the inequality")
    if row["relation"] == ">" and not strict:
        raise Refused("the inequality is shown with equality, but it is strict")


def _show_cover(
    data: object, region: Region, known: Mapping[str, Proved], used: list[str], depth: int
) -> None:
    """Show that in all of a region one of the theorems applies.

    Each split adds a condition to the one side and its opposite to the other.
    """
    row = as_dict(data, "a cover's tree")
    spend(1 + len(region.conditions))
    if depth > _MOST_DEPTH:
        raise Refused("a cover is nested too deeply")
    if "split" in row:
        as_object(row, "a split", ("split", "yes", "no"))
        split = as_object(row["split"], "a split", ("name", "terms"))
        name, terms = as_line(split["name"]), region.terms(split["terms"])
        for key, condition in (
            ("yes", Condition(name, ">=", terms)),
            ("no", Condition(f"not {name}", ">", scaled(terms, -_UNIT))),
        ):
            inner = region.copy()
            inner.add(condition)
            _show_cover(row[key], inner, known, used, depth + 1)
    elif "least" in row:
        as_object(row, "a least of products", ("least", "cases"))
        rows = [
            as_object(p, "a product of a least", ("name", "product"))
            for p in as_list(row["least"], "the products of a least", MOST)
        ]
        products = [(as_line(p["name"]), region.product(p["product"])) for p in rows]
        cases = as_list(row["cases"], "the cases of a least", MOST)
        if len(cases) != len(products) or not cases:
            raise Refused("a least needs a case for each of its products, and one at least")
        for k, ((name, product), case) in enumerate(zip(products, cases, strict=True)):
            inner = region.copy()
            for j, (other, second) in enumerate(products):
                if j != k:
                    terms = [(_UNIT, second), (-_UNIT, product)]
                    inner.add(Condition(f"{name} <= {other}", ">=", terms))
            _show_cover(case, inner, known, used, depth + 1)
    elif "theorem" in row:
        as_object(row, "a leaf of a cover", ("theorem", "proofs"))
        _show_leaf(row, region, known, used)
    else:
        as_object(row, "a cover's tree", ("contradiction",))
        proof = row["contradiction"]
        if isinstance(proof, dict):
            if not region.show_at_most_one(ONE, proof, "the contradiction"):
                raise Refused("the conditions are not shown to contradict each other")
        else:
            region.show_sum([(-_UNIT, ONE)], proof, "the contradiction")


def _show_leaf(
    row: dict[str, Any], region: Region, known: Mapping[str, Proved], used: list[str]
) -> None:
    name = row["theorem"]
    theorem = known.get(name) if isinstance(name, str) else None
    if theorem is None or theorem.kind not in ENDS:
        raise Refused(f"{shown(name)} is no theorem shown before that says what the answer is")
    proofs = as_dict(row["proofs"], "proofs")
    own = set(theorem.region.own)
    for condition in proofs:
        if condition not in own:
            raise Refused(f"{theorem.name!r} has no condition named {shown(condition)}")
    for condition in theorem.region.own:
        found = theorem.region.conditions[condition]
        region.require_positive(*(p for _, p in found.terms))
        region.show_condition(found, proofs.get(condition))
    used.append(theorem.name)
