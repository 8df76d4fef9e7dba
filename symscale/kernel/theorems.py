"""The theorems: what each kind claims, and how that is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symscale.kernel.claim import Claim
from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.problem import MOST, Declarations, SignCondition, StatedProblem, UnitConstraint
from symscale.kernel.read import as_dict, as_line, as_list, as_object
from symscale.kernel.region import ProofRegion, check_witness, read_region
from symscale.kernel.shares import read_share, show_box, show_curve, show_tangent
from symscale.kernel.terms import ONE, Product, Terms, power, same, scaled, vanishes

_UNIT = Fraction(1)
_MOST_DEPTH = 60


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
    region: ProofRegion
    data: dict[str, Any] = field(default_factory=dict)


def _whole(c: UnitConstraint) -> tuple[Product, ...]:
    return c.terms


def _bound(claim: Claim) -> None:
    claim.bounded()


def _attained(claim: Claim) -> None:
    claim.read_value()
    claim.feasible(_whole)
    claim.require_value(claim.problem.cost)


def _feasible(claim: Claim) -> None:
    claim.read_value()
    claim.feasible(_whole)
    claim.region.show_sum(claim.cost_at(claim.problem.cost), claim.row["gap"], "the gap")


def _infimum(claim: Claim) -> None:
    """Below no point, and approached: along t -> oo first, then along s -> 1 from below."""
    claim.bounded()
    if not claim.lost:
        raise Refused("nothing shows that the value is not attained")
    direction = claim.direction = claim.directed("direction")
    shrink = claim.shrink = claim.directed("shrink") if "shrink" in claim.row else {}

    def kept(c: UnitConstraint) -> tuple[Product, ...]:
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


def _infeasible(claim: Claim) -> None:
    _, rest = claim.bound()
    if not claim.region.show_at_most_one(power(rest, -_UNIT), claim.row["excess"], "the excess"):
        raise Refused("the constraints are shown to multiply to at least 1, not to more")


def _unbounded(claim: Claim) -> None:
    direction = claim.direction = claim.directed("direction")
    for c in claim.problem.constraints.values():
        sides = [claim.slope(t, direction) for t in c.terms]
        if max(sides) > 0 or (c.relation == "==" and min(sides) < 0):
            raise Refused(f"along the direction {c.name!r} fails in the end")
    if max(claim.slope(t, direction) for t in claim.problem.cost) >= 0:
        raise Refused("along the direction the objective does not go on for ever")
    claim.feasible(_whole)


_POINT = ("value", "point", "slacks")
_BOUND = ("value", "multipliers"), ("weights", "at")
_OF_A_PROBLEM: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Claim], None]]] = {
    "bound": (*_BOUND, _bound),
    "attained": (_POINT, (), _attained),
    "feasible": ((*_POINT, "gap"), (), _feasible),
    "infimum": (
        (*_BOUND[0], "direction", "point", "slacks"), (*_BOUND[1], "shrink"), _infimum,
    ),
    "infeasible": (("multipliers", "excess"), ("weights",), _infeasible),
    "unbounded": (("direction", "point", "slacks"), (), _unbounded),
    "tangent": (("shares", "value", "point", "within"), (), show_tangent),
    "curve": (("share", "given", *_POINT, "multipliers"), ("weights",), show_curve),
    "box": (("numbers", "gauge", "tangents", "corners", "tree", "within"), (), show_box),
}  # fmt: skip
"""For each kind the keys of its data, those that may be absent, and what shows it."""

ENDS = ("attained", "infimum", "infeasible", "unbounded")
"""The kinds that say what the answer is; a cover consists of them."""

_HEAD = ("theorem", "name", "region", "witness")


def show(
    data: object, scope: Declarations, problem: StatedProblem | None, known: Mapping[str, Proved]
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
    share = read_share(row["share"], scope) if kind == "curve" else ()
    region = read_region(row["region"], scope, share)
    witness = check_witness(row["witness"], region)
    proved = Proved(kind, as_line(row["name"]), region, dict(row))
    if kind in _OF_A_PROBLEM:
        if problem is None:
            raise Refused("the file has no problem")
        claim = Claim(row, problem, region, witness)
        test(claim)
        proved.data |= {
            "value": claim.value, "point": claim.point, "direction": claim.direction,
            "shrink": claim.shrink, "witness": witness.values, **claim.facts,
        }  # fmt: skip
        if kind == "attained":
            proved.data["bound"] = _bound_of(proved, known)
    elif kind == "cover":
        used: list[str] = []
        _show_cover(row["tree"], region, known, used, 0)
        proved.data["theorems"] = [known[name] for name in dict.fromkeys(used)]
    else:
        left, right = region.terms(row["left"]), region.terms(row["right"])
        _show_comparison(row, region, [*left, *scaled(right, -_UNIT)])
        proved.data |= {"left": left, "right": right}
    return proved


def _bound_of(attained: Proved, known: Mapping[str, Proved]) -> str:
    """The theorem that no point does better than an attained value in its region, or ""."""
    here = [(c.relation, c.terms) for c in attained.region.conditions.values()]
    for other in known.values():
        spend(1 + len(other.region.conditions) * len(here) // 8)
        if other.kind == "bound" and same(other.data["value"], attained.data["value"]) and all(
            (c.relation, c.terms) in here for c in other.region.conditions.values()
        ):
            return other.name
    return ""


def _show_comparison(row: dict[str, Any], region: ProofRegion, difference: Terms) -> None:
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
    data: object, region: ProofRegion, known: Mapping[str, Proved], used: list[str], depth: int
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
            ("yes", SignCondition(name, ">=", terms)),
            ("no", SignCondition(f"not {name}", ">", scaled(terms, -_UNIT))),
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
                    inner.add(SignCondition(f"{name} <= {other}", ">=", terms))
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
    row: dict[str, Any], region: ProofRegion, known: Mapping[str, Proved], used: list[str]
) -> None:
    name = row["theorem"]
    theorem = known.get(name) if isinstance(name, str) else None
    if theorem is None or not (theorem.kind in ENDS or "reach" in theorem.data):
        raise Refused(f"{shown(name)} is no theorem shown before that says what the answer is")
    proofs = as_dict(row["proofs"], "proofs")
    needed = [theorem.region.conditions[name] for name in theorem.region.own]
    needed += theorem.data.get("reach", ())
    for condition in proofs:
        if condition not in {c.name for c in needed}:
            raise Refused(f"{theorem.name!r} has no condition named {shown(condition)}")
    for found in needed:
        region.require_positive(*(p for _, p in found.terms))
        region.show_condition(found, proofs.get(found.name))
    used.append(theorem.name)
