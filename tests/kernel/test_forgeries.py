"""False theorems written by hand, with the kernel's code in view: each is refused, and why."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from symscale.kernel.check import check
from symscale.kernel.limits import Refused
from theorems import (
    HALF,
    Data,
    at_least,
    constraint,
    file,
    multipliers,
    problem,
    term,
    theorem,
)

# Minimize x with B <= x <= A: the least is B where B <= A.
BETWEEN = problem(
    "minimize",
    "x",
    [{"x": "1"}],
    constraint("above", {"x": "1", "A": "-1"}),
    constraint("below", {"B": "1", "x": "-1"}),
)
# Minimize a/x + b x.
WELL = problem("minimize", "x", [{"a": "1", "x": "-1"}, {"b": "1", "x": "1"}])
# Minimize a/x + c: only an infimum, c.
FALL = problem("minimize", "x", [{"a": "1", "x": "-1"}, {"c": "1"}])
# Maximize x with x + y <= 1 and y = 1/K.
SUM = problem(
    "maximize",
    "x y",
    [{"x": "1"}],
    constraint("sum", {"x": "1"}, {"y": "1"}),
    constraint("fixed", {"y": "1", "K": "1"}, relation="=="),
)
UPRIGHT = {**WELL, "sense": "maximize-inverse"}
# Maximize x with x/a + y <= 1: only a supremum, a.
SHRINKS = problem(
    "maximize", "x y", [{"x": "1"}], constraint("sum", {"x": "1", "a": "-1"}, {"y": "1"})
)
D = {"name": "D", "terms": [term({"J": "1"}), term({"K": "1"}, "-1")]}
ZERO = {"name": "Z", "terms": [term({"J": "1"}), term({"J": "1"}, "-1")]}
J_ABOVE_K = at_least("J", "K", ">")
POSITIVE_D = {"positive": "D", "proof": [{"times": {"J > K": 1}}]}


def bound(value: Data, witness: str = "A=2 B=1", **data: Any) -> Data:
    """A bound."""
    return theorem("bound", witness, value=value, **{"multipliers": {}, **data})


def attained(point: Data, value: Data, witness: str = "A=2 B=1", **data: Any) -> Data:
    """A point."""
    return theorem("attained", witness, value=value, point=point, **{"slacks": {}, **data})


def infimum(**data: Any) -> Data:
    """The infimum c of a/x + c, changed."""
    given: Data = {
        "value": {"c": "1"},
        "multipliers": {},
        "weights": {"objective": [None, {}]},
        "direction": {"x": "1"},
        "point": {"x": {}},
        "slacks": {},
    }
    return theorem("infimum", "a=1 c=2", **{**given, **data})


def supremum(**data: Any) -> Data:
    """The supremum a of x with x/a + y <= 1, changed."""
    given: Data = {
        "value": {"a": "1"},
        "multipliers": multipliers(sum="1"),
        "weights": {"sum": [{}, None]},
        "direction": {"y": "-1"},
        "shrink": {"x": "1"},
        "point": {"x": {"a": "1"}, "y": {}},
        "slacks": {},
    }
    return theorem("infimum", "a=2", **{**given, **data})


def under(*others: Data) -> Data:
    """That problem under more constraints."""
    return {**SHRINKS, "constraints": [*SHRINKS["constraints"], *others]}


def inequality(left: str, right: str, proof: Any, *region: Data, **data: Any) -> Data:
    """That one parameter is above another."""
    return theorem(
        "inequality",
        data.pop("witness", "a=2 b=1"),
        left=[term({left: "1"})],
        right=[term({right: "1"})],
        region=region,
        proof=proof,
        **{"relation": ">", **data},
    )


def cover(tree: Any, witness: str = "A=1 B=1", **data: Any) -> Data:
    """A cover."""
    return theorem("cover", witness, "all", tree=tree, **data)


SOME = theorem(
    "attained",
    "A=2 B=1",
    "some",
    [at_least("A", "B")],
    value={"B": "1"},
    point={"x": {"B": "1"}},
    slacks={"above": {"A >= B": "1"}},
)
LEAF = {"theorem": "some", "proofs": {"A >= B": {}}}
A_ABOVE_B = {"name": "s", "terms": at_least("A", "B")["terms"]}
BY_S = {"theorem": "some", "proofs": {"A >= B": {"s": "1"}}}
SQUARE = [term({"a": "2"}), term({"a": "1", "b": "1"}, "-2"), term({"b": "2"})]
Q = {"name": "Q", "terms": SQUARE}

FORGERIES: dict[str, tuple[Data, str]] = {
    # Multipliers and weights.
    "negative multiplier": (
        file(bound({"A": "1"}, multipliers=multipliers(above="-1")), about=BETWEEN),
        "needs a proof that it is not negative",
    ),
    "multiplier that cancels to a negative": (
        file(bound({"A": "1"}, multipliers=multipliers(above="1/3 - 4/3")), about=BETWEEN),
        "needs a proof that it is not negative",
    ),
    "multiplier whose sign depends on the exponent": (
        file(
            bound(
                {"B": "1"}, "A=2 B=1 e=1/4", multipliers=multipliers(below="1 - 2*e", above="-2*e")
            ),
            about=BETWEEN,
            exponents={"e": ["0", "1"]},
        ),
        "changes its sign",
    ),
    "multiplier proved by a condition that is not there": (
        file(
            bound(
                {"A": "1"},
                multipliers={
                    "above": {
                        "value": [term({}, "-1")],
                        "proof": [{"coefficient": "-1", "times": {"no": 1}}],
                    }
                },
            ),
            about=BETWEEN,
        ),
        "no condition is named",
    ),
    "multiplier proved by a negative coefficient": (
        file(
            bound(
                {"A": "1"},
                multipliers={
                    "above": {"value": [term({}, "-1")], "proof": [{"coefficient": "-1"}]}
                },
            ),
            about=BETWEEN,
        ),
        "negative coefficient",
    ),
    "proof that adds up to something else": (
        file(
            bound({"A": "1"}, multipliers={"above": {"value": [term({}, "-1")], "proof": []}}),
            about=BETWEEN,
        ),
        "adds up to something else",
    ),
    "variable that does not cancel": (
        file(bound({"B": "1"}, multipliers={}), about=BETWEEN),
        "x does not cancel",
    ),
    "value other than the product": (
        file(bound({"B": "1", "2": "1"}, multipliers=multipliers(below="1")), about=BETWEEN),
        "multiply to another value",
    ),
    "weights above one": (
        file(
            bound({"4": "1", "a": "1/2", "b": "1/2"}, "a=1 b=1", weights={"objective": [{}, {}]}),
            about=WELL,
        ),
        "do not add up to 1",
    ),
    "weights below one": (
        file(
            bound({"3": "1"}, "a=1 b=1", weights={"objective": [{"3": "-1"}, {"3": "-1"}]}),
            about=WELL,
        ),
        "do not add up to 1",
    ),
    "weights of an equality": (
        file(
            bound(
                {"K": "1"},
                "K=2",
                multipliers=multipliers(sum="1"),
                weights={"sum": [{}, None], "fixed": [{}]},
            ),
            about=SUM,
        ),
        "is an equality",
    ),
    "weights for too few terms": (
        file(bound({"b": "1"}, "a=1 b=1", weights={"objective": [{}]}), about=WELL),
        "not as many terms",
    ),
    "weight that contains a variable": (
        file(
            bound({"b": "1"}, "a=1 b=1", weights={"objective": [{"x": "1"}, {"x": "1"}]}),
            about=WELL,
        ),
        "the variable x stands where parameters are due",
    ),
    "sum without weights": (
        file(bound({"b": "1"}, "a=1 b=1"), about=WELL),
        "needs weights",
    ),
    "formal point that is not one": (
        file(
            bound(
                {"4": "1", "a": "1/2", "b": "1/2"},
                "a=1 b=1",
                weights={"objective": [HALF, HALF]},
                at={"x": {"a": "1/2", "b": "-1/2"}},
            ),
            about=WELL,
        ),
        "is not its weight",
    ),
    # Points.
    "point that violates a constraint": (
        file(attained({"x": {"A": "1"}}, {"A": "1"}, slacks={"below": {}}), about=BETWEEN),
        "leave over",
    ),
    "slack hidden in a condition that is not assumed": (
        file(
            attained({"x": {"A": "1"}}, {"A": "1"}, slacks={"below": {"A >= B": "1"}}),
            about=BETWEEN,
        ),
        "no condition is named",
    ),
    "slack by the opposite of a condition": (
        file(
            attained(
                {"x": {"A": "1"}},
                {"A": "1"},
                "A=1 B=2",
                region=[at_least("B", "A")],
                slacks={"below": {"B >= A": "-1"}},
            ),
            about=BETWEEN,
        ),
        "to a negative power",
    ),
    "slack with a number above one": (
        file(
            attained(
                {"x": {"A": "1", "2": "1"}},
                {"A": "1", "2": "1"},
                region=[at_least("A", "B")],
                slacks={"above": {}, "below": {"A >= B": "1"}},
            ),
            about=BETWEEN,
        ),
        "exceeds 1",
    ),
    "slack with a number to a symbolic power": (
        file(
            attained(
                {"x": {"A": "1", "2": "e"}},
                {"A": "1", "2": "e"},
                "A=2 B=1 e=1/2",
                region=[at_least("A", "B")],
                slacks={"above": {}, "below": {"A >= B": "1"}},
            ),
            about=BETWEEN,
            exponents={"e": ["0", "1"]},
        ),
        "a number to a symbolic power may exceed 1",
    ),
    "point of another value": (
        file(
            attained(
                {"x": {"A": "1"}},
                {"B": "1"},
                region=[at_least("A", "B")],
                slacks={"below": {"A >= B": "1"}},
            ),
            about=BETWEEN,
        ),
        "is not the value",
    ),
    "point without a variable": (
        file(attained({}, {"B": "1"}), about=BETWEEN),
        "gives a product to each variable",
    ),
    "point that contains a variable": (
        file(attained({"x": {"x": "1"}}, {"B": "1"}), about=BETWEEN),
        "the variable x stands where parameters are due",
    ),
    "equality that is not satisfied": (
        file(attained({"x": HALF, "y": HALF}, HALF, "K=3", slacks={"fixed": {}}), about=SUM),
        "is not satisfied at the point",
    ),
    "enclosure without a gap": (
        file(
            theorem(
                "feasible",
                "A=2 B=1",
                region=[at_least("A", "B")],
                value={"B": "1"},
                point={"x": {"A": "1"}},
                slacks={"below": {"A >= B": "1"}},
                gap=[],
            ),
            about=BETWEEN,
        ),
        "the gap",
    ),
    # Regions and witnesses: a statement about no parameters at all must not pass.
    "region without a point": (
        file(
            attained(
                {"x": {"A": "1"}},
                {"A": "1"},
                "A=1 B=1",
                slacks={"below": {"A > B": "1"}},
                region=[at_least("A", "B", ">"), at_least("B", "A", ">")],
            ),
            about=BETWEEN,
        ),
        "does not satisfy",
    ),
    "flat region": (
        file(
            attained(
                {"x": {"A": "1"}},
                {"A": "1"},
                "A=1 B=1",
                slacks={"below": {"A >= B": "1"}},
                region=[at_least("A", "B"), at_least("B", "A")],
            ),
            about=BETWEEN,
        ),
        "does not satisfy",
    ),
    "negative witness": (
        file(bound({"B": "1"}, "A=2 B=-1", multipliers=multipliers(below="1")), about=BETWEEN),
        "parameters are positive",
    ),
    "witness of zero": (
        file(bound({"B": "1"}, "A=0 B=1", multipliers=multipliers(below="1")), about=BETWEEN),
        "parameters are positive",
    ),
    "witness at the end of an interval": (
        file(
            bound({"B": "1"}, "A=1 B=1 e=0", multipliers=multipliers(below="1")),
            about=BETWEEN,
            exponents={"e": ["0", "1"]},
        ),
        "outside its interval",
    ),
    "empty interval": (
        file(
            bound({"B": "1"}, "A=1 B=1 e=1", multipliers=multipliers(below="1")),
            about=BETWEEN,
            exponents={"e": ["1", "1"]},
        ),
        "is empty",
    ),
    "condition with a variable": (
        file(
            attained(
                {"x": {"A": "1"}},
                {"A": "1"},
                "A=2 B=1",
                slacks={"below": {"x": "1"}},
                region=[
                    {
                        "name": "x",
                        "relation": ">=",
                        "terms": [term({"x": "1"}), term({"B": "1"}, "-1")],
                    }
                ],
            ),
            about=BETWEEN,
        ),
        "the variable x stands where parameters are due",
    ),
    "number decided by thirty digits": (
        file(
            theorem(
                "inequality",
                "",
                left=[term({str(10**40): "1"})],
                relation=">=",
                right=[term({str(10**40 + 1): "1"})],
                proof=[{"coefficient": "1"}],
            ),
        ),
        "adds up to something else",
    ),
    "relation that is none": (
        file(
            theorem(
                "inequality",
                "A=2 B=1",
                region=[at_least("A", "B", "<=")],
                left=[term({"A": "1"})],
                relation=">=",
                right=[term({"B": "1"})],
                proof=[{"times": {"A <= B": 1}}],
            )
        ),
        "a relation is >=, > or ==",
    ),
    "strict by one of two conditions": (
        file(
            theorem(
                "inequality",
                "A=2 B=1 C=2 D=1",
                region=[at_least("A", "B", ">"), at_least("C", "D")],
                left=[term({"A": "1", "C": "1"}), term({"B": "1", "D": "1"})],
                relation=">",
                right=[term({"A": "1", "D": "1"}), term({"B": "1", "C": "1"})],
                proof=[{"times": {"A > B": 1, "C >= D": 1}}],
            )
        ),
        "it is strict",
    ),
    "numbers to powers far apart": (
        file(theorem("identity", "", left=[term({"2": "5000"})], right=[term({"2": "1"})])),
        "too far apart",
    ),
    "inequality called an equality": (
        file(
            theorem("inequality", "", left=[term({"a": "1"})], relation="==", right=[], proof=None)
        ),
        "the relation of an inequality is >= or >",
    ),
    "identity of what is larger": (
        file(theorem("identity", "", left=[term({"a": "1"})], right=[])),
        "not shown to be equal",
    ),
    "witness decided by thirty digits": (
        file(
            theorem(
                "inequality",
                f"A={10**40} B={10**40}",
                left=[term({"A": "1"})],
                relation=">",
                right=[term({"B": "1"})],
                region=[at_least("A", "B", ">")],
                proof=[{"times": {"A > B": 1}}],
            ),
        ),
        "does not satisfy",
    ),
    # Abbreviations.
    "abbreviation that is zero": (
        file(
            bound(
                {"J": "1"},
                "A=2 B=1 J=1",
                region=[{"positive": "Z", "proof": []}],
                multipliers={"below": {"value": [term({"Z": "1"})]}},
            ),
            about=BETWEEN,
            abbreviations=[ZERO],
        ),
        "not to be positive",
    ),
    "abbreviation that may be negative": (
        file(
            bound({"D": "1"}, "A=2 B=1 J=2 K=1", region=[{"positive": "D", "proof": D["terms"]}]),
            about=BETWEEN,
            abbreviations=[D],
        ),
        "negative coefficient",
    ),
    "abbreviation that is not shown to be positive": (
        file(bound({"D": "1"}, "A=2 B=1 J=2 K=1"), about=BETWEEN, abbreviations=[D]),
        "not shown to be positive",
    ),
    "abbreviation only in the problem": (
        file(
            bound({"A": "1"}, "A=2 J=2 K=1", multipliers=multipliers(c="1")),
            about=problem(
                "minimize",
                "x",
                [{"x": "1"}, {"D": "1", "x": "2"}],
                constraint("c", {"A": "1", "x": "-1"}),
            ),
            abbreviations=[D],
        ),
        "D is used, but not shown to be positive",
    ),
    "abbreviation of two meanings": (
        file(
            bound({"B": "1"}, multipliers=multipliers(below="1")),
            about=BETWEEN,
            abbreviations=[{"name": "F", "terms": [term({"D": "1"}), term({})]}, D],
        ),
        "is a name of something else as well",
    ),
    "abbreviation declared twice": (
        file(bound({"B": "1"}), about=BETWEEN, abbreviations=[D, D]),
        "something else as well",
    ),
    "abbreviation of itself": (
        file(
            bound({"B": "1"}),
            about=BETWEEN,
            abbreviations=[{"name": "D", "terms": [term({"D": "1"}), term({})]}],
        ),
        "something else as well",
    ),
    "abbreviation named as a variable": (
        file(bound({"B": "1"}), about=BETWEEN, abbreviations=[{**D, "name": "x"}]),
        "something else as well",
    ),
    "abbreviation of the domain": (
        file(
            bound({"B": "1"}),
            about=BETWEEN,
            abbreviations=[{**D, "name": "E"}],
            domain=[at_least("E", "J")],
        ),
        "something else as well",
    ),
    "abbreviation proved positive after its use": (
        file(
            bound(
                {"B": "1"},
                "A=2 B=1 J=2 K=1",
                multipliers=multipliers(below="1"),
                region=[
                    {"name": "D", "relation": ">", "terms": [term({"D": "1"})]},
                    J_ABOVE_K,
                    POSITIVE_D,
                ],
            ),
            about=BETWEEN,
            abbreviations=[D],
        ),
        "not shown to be positive",
    ),
    # Exponents.
    "variable in an exponent": (
        file(attained({"x": {}}, {}), about=problem("maximize", "x y", [{"x": "y - 2"}])),
        "'y' is no exponent symbol",
    ),
    "exponent that divides by zero": (
        file(
            bound({"B": "1/(e - e)"}, "A=1 B=1 e=1/2"), about=BETWEEN, exponents={"e": ["0", "1"]}
        ),
        "divides by zero",
    ),
    "exponent with a pole in the interval": (
        file(
            bound({"B": "1/(2*e - 1)"}, "A=1 B=1 e=1/3"), about=BETWEEN, exponents={"e": ["0", "1"]}
        ),
        "changes its sign, or vanishes",
    ),
    "exponent with a pole of even order": (
        file(
            bound({"B": "1/(2*e - 1)^2"}, "A=1 B=1 e=1/3"),
            about=BETWEEN,
            exponents={"e": ["0", "1"]},
        ),
        "changes its sign, or vanishes",
    ),
    "root of an exponent": (
        file(bound({"B": "sqrt(e)"}, "A=1 B=1 e=1/3"), about=BETWEEN, exponents={"e": ["0", "1"]}),
        "is no exponent symbol",
    ),
    "power of an exponent": (
        file(bound({"B": "e^e"}, "A=1 B=1 e=1/3"), about=BETWEEN, exponents={"e": ["0", "1"]}),
        "a power is a whole number",
    ),
    "exponent symbol as a base that may be negative": (
        file(bound({"e": "1/2"}, "A=1 B=1 e=1/3"), about=BETWEEN, exponents={"e": ["-1", "1"]}),
        "may be negative",
    ),
    "exponent symbol as a variable": (
        file(bound({"B": "1"}, "A=1 B=1 x=1/2"), about=BETWEEN, exponents={"x": ["0", "1"]}),
        "is an exponent symbol",
    ),
    # Infima and directions.
    "attained value called an infimum": (
        file(
            infimum(
                value={"2": "1", "a": "1/2", "c": "1/2"},
                weights={"objective": [HALF, HALF]},
                point={"x": {"a": "1/2", "c": "-1/2"}},
                direction={},
            ),
            about=problem("minimize", "x", [{"a": "1", "x": "-1"}, {"c": "1", "x": "1"}]),
        ),
        "not attained",
    ),
    "infimum along which the objective rises": (
        file(infimum(direction={"x": "-1"}), about=FALL),
        "gets worse",
    ),
    "infimum that is not approached": (
        file(infimum(direction={}), about=FALL),
        "is not the value",
    ),
    "infimum past a constraint": (
        file(
            infimum(),
            about=problem(
                "minimize",
                "x",
                [{"a": "1", "x": "-1"}, {"c": "1"}],
                constraint("cap", {"x": "1", "d": "-1"}),
            ),
        ),
        "fails in the end",
    ),
    "infimum by a constraint without a multiplier": (
        file(
            theorem(
                "infimum",
                "a=1 b=1 c=1",
                value={"a": "1"},
                multipliers={**multipliers(c="1"), "d": {"value": []}},
                weights={"d": [{}, None]},
                direction={"y": "1"},
                point={"x": {"a": "1"}, "y": {}},
                slacks={"d": {}},
            ),
            about=problem(
                "maximize",
                "x y",
                [{"x": "1"}],
                constraint("c", {"x": "1", "a": "-1"}),
                constraint("d", {"x": "1", "a": "-1", "2": "-1"}, {"b": "1", "y": "-1"}),
            ),
        ),
        "not attained",
    ),
    "direction of what is no variable": (
        file(infimum(direction={"x": "1", "a": "-1"}), about=FALL),
        "is no variable",
    ),
    "infimum that shrinks an equality": (
        file(
            theorem(
                "infimum",
                "a=1 b=1",
                value={"a": "1"},
                multipliers=multipliers(c="1", e="0"),
                weights={"c": [{}, None]},
                direction={"y": "1"},
                shrink={"x": "1"},
                point={"x": {"a": "1"}, "y": {}},
                slacks={},
            ),
            about=problem(
                "maximize",
                "x y",
                [{"x": "1"}],
                constraint("c", {"x": "1", "a": "-1"}, {"b": "1", "y": "-1"}),
                constraint("e", {"x": "1", "a": "-1"}, relation="=="),
            ),
        ),
        "as it shrinks",
    ),
    "unbounded along a constraint": (
        file(
            theorem(
                "unbounded",
                "A=2 B=1",
                direction={"x": "-1"},
                point={"x": {"A": "1"}},
                slacks={"below": {"A >= B": "1"}},
                region=[at_least("A", "B")],
            ),
            about=BETWEEN,
        ),
        "fails in the end",
    ),
    "unbounded with a constant term": (
        file(
            theorem("unbounded", "a=1 c=1", direction={"x": "1"}, point={"x": {}}, slacks={}),
            about=FALL,
        ),
        "does not go on for ever",
    ),
    "infeasible at equality": (
        file(
            theorem(
                "infeasible",
                "A=1 B=2",
                region=[at_least("B", "A")],
                multipliers=multipliers(above="1", below="1"),
                excess={"B >= A": "1"},
            ),
            about=BETWEEN,
        ),
        "not to more",
    ),
    "infeasible by the objective": (
        file(
            theorem(
                "infeasible",
                "A=1 B=2",
                region=[at_least("B", "A", ">")],
                multipliers=multipliers(objective="1", below="1"),
                excess={"B > A": "1"},
            ),
            about=BETWEEN,
        ),
        "no constraint is named",
    ),
    # Covers.
    "leaf whose condition is not shown": (file(SOME, cover(LEAF), about=BETWEEN), "leave over"),
    "leaf of a theorem that failed": (
        file({**SOME, "value": {"A": "1"}}, cover(LEAF), about=BETWEEN),
        "no theorem shown before",
    ),
    "leaf of itself": (
        file(SOME, cover({"theorem": "all", "proofs": {}}), about=BETWEEN),
        "no theorem shown before",
    ),
    "leaf of a later theorem": (
        file(cover(LEAF), SOME, about=BETWEEN),
        "no theorem shown before",
    ),
    "contradiction without strictness": (
        file(SOME, cover({"contradiction": {}}), about=BETWEEN),
        "not shown to contradict",
    ),
    "contradiction from a closed split": (
        file(
            SOME,
            cover(
                {
                    "split": {"name": "s", "terms": at_least("A", "B")["terms"]},
                    "yes": {"theorem": "some", "proofs": {"A >= B": {"s": "1"}}},
                    "no": {"contradiction": [{"times": {"not s": 1}}]},
                }
            ),
            about=BETWEEN,
        ),
        "adds up to something else",
    ),
    "case too few": (
        file(
            SOME,
            cover(
                {
                    "least": [
                        {"name": "A", "product": {"A": "1"}},
                        {"name": "B", "product": {"B": "1"}},
                    ],
                    "cases": [LEAF],
                }
            ),
            about=BETWEEN,
        ),
        "a case for each",
    ),
    "tree of nothing": (file(SOME, cover({}), about=BETWEEN), "a cover's tree lacks"),
    "contradiction and more": (
        file(SOME, cover({"contradiction": {}, "note": "sure"}), about=BETWEEN),
        "unknown key",
    ),
    "least of nothing": (
        file(SOME, cover({"least": [], "cases": []}), about=BETWEEN),
        "one at least",
    ),
    "name of a split taken twice": (
        file(
            SOME,
            cover(
                {
                    "split": {"name": "E", "terms": [term({}, "-1")]},
                    "yes": {"contradiction": {}},
                    "no": LEAF,
                },
                witness="A=1 B=1 E=1",
            ),
            about=BETWEEN,
            domain=[{"name": "E", "relation": ">=", "terms": [term({"E": "1"}), term({}, "-1")]}],
        ),
        "two conditions are named",
    ),
    # Orientations: of a maximum, and of one over a sum.
    "bound of one over a sum, the sum's": (
        file(
            bound(
                {"2": "1", "a": "1/2", "b": "1/2"}, "a=1 b=1", weights={"objective": [HALF, HALF]}
            ),
            about=UPRIGHT,
        ),
        "multiply to another value",
    ),
    "one over a sum, enclosed from the wrong side": (
        file(
            theorem(
                "feasible",
                "a=1 b=1",
                value={"a": "-1"},
                point={"x": {}},
                slacks={},
                gap=[term({"b": "1"})],
            ),
            about=UPRIGHT,
        ),
        "the gap",
    ),
    "one over a sum, unbounded where the sum is": (
        file(
            theorem("unbounded", "a=1 b=1", direction={"x": "1"}, point={"x": {}}, slacks={}),
            about=UPRIGHT,
        ),
        "does not go on for ever",
    ),
    "infeasible where it is feasible": (
        file(
            theorem(
                "infeasible",
                "A=2 B=1",
                region=[at_least("A", "B", ">")],
                multipliers=multipliers(above="1", below="1"),
                excess={"A > B": "1"},
            ),
            about=BETWEEN,
        ),
        "leave over",
    ),
    "infeasible by no constraint": (
        file(
            theorem(
                "infeasible",
                "A=1 B=2",
                region=[at_least("B", "A", ">")],
                multipliers={},
                excess={},
            ),
            about=BETWEEN,
        ),
        "not to more",
    ),
    "unbounded from an infeasible point": (
        file(
            theorem(
                "unbounded",
                "A=1 B=2",
                direction={"y": "1"},
                point={"x": {"A": "1"}, "y": {}},
                slacks={},
            ),
            about={**BETWEEN, "sense": "maximize", "variables": ["x", "y"]}
            | {"objective": [{"x": "1", "y": "1"}]},
        ),
        "is not tight, and no slack",
    ),
    # Weights and strictness.
    "weights that leave out every term": (
        file(bound({"b": "1"}, "a=1 b=1", weights={"objective": [None, None]}), about=WELL),
        "do not add up to 1",
    ),
    "weight that leaves out the only term": (
        file(bound({}, weights={"objective": [None]}), about=BETWEEN),
        "do not add up to 1",
    ),
    "weights that add up to one at the witness only": (
        file(
            bound({"b": "1"}, "a=1 b=1 e=1", weights={"objective": [{"2": "-e"}, {"2": "-e"}]}),
            about=WELL,
            exponents={"e": ["0", "2"]},
        ),
        "do not add up to 1",
    ),
    "infimum by a multiplier that vanishes within": (
        file(
            theorem(
                "infimum",
                "a=2 e=1/4",
                value={"a": "1"},
                multipliers=multipliers(c="1", d="(1 - 2*e)^2"),
                weights={"d": [{}, None]},
                direction={"y": "1"},
                point={"x": {"a": "1"}, "y": {}},
                slacks={"d": {}},
            ),
            about=problem(
                "maximize",
                "x y",
                [{"x": "1"}],
                constraint("c", {"x": "1", "a": "-1"}),
                constraint("d", {"2": "-1"}, {"y": "-1"}),
            ),
            exponents={"e": ["0", "1"]},
        ),
        "vanishes, within its interval",
    ),
    "above, by an equality": (
        file(
            inequality(
                "a", "b", [{"times": {"a == b": 1}}], at_least("a", "b", "=="), witness="a=1 b=1"
            )
        ),
        "but it is strict",
    ),
    "above, by a closed condition": (
        file(inequality("a", "b", [{"times": {"a >= b": 1}}], at_least("a", "b"))),
        "but it is strict",
    ),
    "above, by a gap to the power 0": (
        file(inequality("a", "a", [{"gap": {"a > b": "0"}}], at_least("a", "b", ">"))),
        "but it is strict",
    ),
    "at least, by a gap to a negative power": (
        file(
            inequality(
                "b",
                "a",
                [{"product": {"b": "1"}, "gap": {"a >= b": "-1"}}],
                at_least("a", "b"),
                relation=">=",
            )
        ),
        "to a negative power",
    ),
    "above, by a condition to the power 0": (
        file(inequality("b", "a", [{"times": {"a > b": 0}}], at_least("a", "b", ">"))),
        "a whole number from 1 to 8",
    ),
    "ratio of a condition of three terms": (
        file(
            {
                **SOME,
                "witness": {"A": "3", "B": "1", "C": "1"},
                "region": [
                    {
                        "name": "A >= B",
                        "relation": ">=",
                        "terms": [*at_least("A", "B")["terms"], term({"C": "1"}, "-1")],
                    }
                ],
            },
            about=BETWEEN,
        ),
        "no difference of two products",
    ),
    "ratio of a condition that is a sum": (
        file(
            {
                **SOME,
                "region": [
                    {
                        "name": "A >= B",
                        "relation": ">=",
                        "terms": [term({"A": "1"}), term({"B": "1"})],
                    }
                ],
            },
            about=BETWEEN,
        ),
        "no difference of two products",
    ),
    "number to a symbolic power of either sign": (
        file(
            attained({"x": {"2": "e"}}, {"2": "e"}, "e=-1/2", slacks={"c": {}}),
            about=problem("minimize", "x", [{"x": "1"}], constraint("c", {"x": "1"})),
            exponents={"e": ["-1", "1"]},
        ),
        "changes its sign",
    ),
    # Infima that shrink.
    "supremum that does not shrink": (
        file(supremum(shrink={}), about=SHRINKS),
        "must fall below 1",
    ),
    "supremum that grows": (
        file(supremum(shrink={"x": "-1"}), about=SHRINKS),
        "as it shrinks 'sum' fails",
    ),
    "supremum that breaks another constraint as it shrinks": (
        file(supremum(), about=under(constraint("c", {"a": "1", "x": "-1"}))),
        "as it shrinks 'c' fails",
    ),
    "supremum that breaks an equality as it shrinks": (
        file(supremum(), about=under(constraint("c", {"x": "1", "a": "-1"}, relation="=="))),
        "as it shrinks 'c' fails",
    ),
    "supremum that leaves an equality along its direction": (
        file(supremum(), about=under(constraint("c", {"y": "1"}, relation="=="))),
        "along the direction 'c' fails",
    ),
    # Witnesses and domains.
    "witness of an abbreviation": (
        file(
            bound(
                {"B": "1"},
                "A=2 B=1 J=2 K=1 D=5",
                multipliers=multipliers(below="1"),
                region=[J_ABOVE_K, POSITIVE_D],
            ),
            about=BETWEEN,
            abbreviations=[D],
        ),
        "D, which is no parameter",
    ),
    "witness of a variable": (
        file(bound({"B": "1"}, "A=2 B=1 x=1", multipliers=multipliers(below="1")), about=BETWEEN),
        "x, which is no parameter",
    ),
    "witness outside of the domain": (
        file(
            bound({"B": "1"}, "A=1 B=2", multipliers=multipliers(below="1")),
            about=BETWEEN,
            domain=[at_least("A", "B")],
        ),
        "does not satisfy",
    ),
    "witness at the edge of a strict domain": (
        file(
            bound({"B": "1"}, "A=2 B=2", multipliers=multipliers(below="1")),
            about=BETWEEN,
            domain=[at_least("A", "B", ">")],
        ),
        "does not satisfy",
    ),
    "root of a square": (
        file(
            theorem(
                "identity",
                "a=1 b=2",
                region=[
                    {"name": "q", "relation": ">", "terms": SQUARE},
                    {"positive": "Q", "proof": [{"times": {"q": 1}}]},
                ],
                left=[term({"Q": "1/2"})],
                right=[term({"a": "1"}), term({"b": "1"}, "-1")],
            ),
            abbreviations=[Q],
        ),
        "not shown to be equal",
    ),
    "abbreviation positive as a square": (
        file(
            theorem(
                "identity",
                "a=1 b=2",
                region=[{"positive": "Q", "proof": [{"square": at_least("a", "b")["terms"]}]}],
                left=[],
                right=[],
            ),
            abbreviations=[Q],
        ),
        "not to be positive",
    ),
    # Covers that are shown by too little.
    "leaf of a bound": (
        file(
            {**bound({"B": "1"}, multipliers=multipliers(below="1")), "name": "some"},
            cover({"theorem": "some", "proofs": {}}),
            about=BETWEEN,
        ),
        "no theorem shown before that says",
    ),
    "leaf of an enclosure": (
        file(
            theorem(
                "feasible",
                "A=2 B=1",
                "some",
                [at_least("A", "B")],
                value={"A": "1"},
                point={"x": {"B": "1"}},
                slacks={"above": {"A >= B": "1"}},
                gap=[{"times": {"A >= B": 1}}],
            ),
            cover(LEAF),
            about=BETWEEN,
        ),
        "no theorem shown before that says",
    ),
    "leaf shown by its own condition": (
        file(SOME, cover({**LEAF, "proofs": {"A >= B": {"A >= B": "1"}}}), about=BETWEEN),
        "no condition is named",
    ),
    "split by an abbreviation that may be negative": (
        file(
            SOME,
            cover({"split": {"name": "s", "terms": [term({"D": "1"})]}, "yes": LEAF, "no": LEAF}),
            about=BETWEEN,
            abbreviations=[D],
        ),
        "not shown to be positive",
    ),
    "strict leaf of a closed split": (
        file(
            {**SOME, "region": [at_least("A", "B", ">", name="A >= B")]},
            cover({"split": A_ABOVE_B, "yes": BY_S, "no": BY_S}),
            about=BETWEEN,
        ),
        "but it is strict",
    ),
    "leaf of an equality by one side of it": (
        file(
            {**SOME, "region": [at_least("A", "B", "==", "A >= B")]}
            | {"witness": {"A": "1", "B": "1"}},
            cover({"split": A_ABOVE_B, "yes": BY_S, "no": BY_S}),
            about=BETWEEN,
        ),
        "no equality that is known",
    ),
    "case of the greater product": (
        file(
            SOME,
            cover(
                {
                    "least": [
                        {"name": "A", "product": {"A": "1"}},
                        {"name": "B", "product": {"B": "1"}},
                    ],
                    "cases": [{"theorem": "some", "proofs": {"A >= B": {"A <= B": "1"}}}] * 2,
                }
            ),
            about=BETWEEN,
        ),
        "leave over",
    ),
    # Form.
    "parameter named as infinity": (
        file(bound({"oo": "1"}, multipliers=multipliers(below="1")), about=BETWEEN),
        "means infinity",
    ),
    "constraint named as the objective": (
        file(
            bound({"B": "1"}),
            about=problem(
                "minimize", "x", [{"x": "1"}], constraint("objective", {"B": "1", "x": "-1"})
            ),
        ),
        "named 'objective'",
    ),
    "two constraints of one name": (
        file(
            bound({"B": "1"}),
            about=problem(
                "minimize",
                "x",
                [{"x": "1"}],
                constraint("c", {"B": "1", "x": "-1"}),
                constraint("c", {"A": "1", "x": "-1"}),
            ),
        ),
        "two constraints are named",
    ),
    "equality of a sum": (
        file(
            bound({"B": "1"}),
            about=problem(
                "minimize",
                "x",
                [{"x": "1"}],
                constraint("c", {"x": "1"}, {"A": "1"}, relation="=="),
            ),
        ),
        "neither a sum <= nor a product == 1",
    ),
    "maximum of a sum": (
        file(bound({"B": "1"}), about={**WELL, "sense": "maximize"}),
        "one product",
    ),
    "variables as text": (
        file(bound({"B": "1"}), about={**BETWEEN, "variables": "x"}),
        "is no list",
    ),
    "variable twice": (
        file(bound({"B": "1"}), about={**BETWEEN, "variables": ["x", "x"]}),
        "stands twice",
    ),
    "power that is true": (
        file(
            bound(
                {"A": "1"},
                region=[at_least("A", "B")],
                multipliers={
                    "above": {"value": [term({}, "1")], "proof": [{"times": {"A >= B": True}}]}
                },
            ),
            about=BETWEEN,
        ),
        "a whole number from 1 to 8",
    ),
    "number that is no text": (
        file(bound({"B": 1}, multipliers=multipliers(below="1")), about=BETWEEN),
        "an exponent is no text",
    ),
    "key that nothing reads": (
        file(bound({"B": "1"}, multipliers=multipliers(below="1"), note="trust me"), about=BETWEEN),
        "unknown key",
    ),
    "version that is true": (file(bound({"B": "1"}), about=BETWEEN, version=True), "of version 3"),
    "number with a superscript": (
        file(bound({"²": "1"}, multipliers=multipliers(below="1")), about=BETWEEN),
        "is no name",
    ),
    "name with a line break at its end": (
        file(bound({"B\n": "1"}, multipliers=multipliers(below="1")), about=BETWEEN),
        "is no name",
    ),
    "two theorems of one name": (
        file(*[bound({"B": "1"}, multipliers=multipliers(below="1"))] * 2, about=BETWEEN),
        "two theorems have one name",
    ),
    "theorem of nothing": (
        file(bound({"B": "1"}, multipliers=multipliers(below="1"))),
        "the file has no problem",
    ),
}


def refusal(data: Data) -> str:
    """Why a file, or the last of its theorems that fails, is refused."""
    try:
        failed = [f.text for f in check(json.dumps(data)).findings if not f.holds]
    except Refused as refused:
        return str(refused)
    return failed[-1] if failed else ""


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name: str) -> None:
    data, why = FORGERIES[name]
    assert why in refusal(data)


def test_the_forgeries_are_wrong_in_one_thing_only() -> None:
    assert refusal(file(SOME, about=BETWEEN)) == ""
    assert refusal(file(bound({"B": "1"}, multipliers=multipliers(below="1")), about=BETWEEN)) == ""
    assert refusal(file(infimum(), about=FALL)) == ""
    assert refusal(file(supremum(), about=SHRINKS)) == ""
    shown = bound(
        {"B": "1"},
        "A=2 B=1 J=2 K=1",
        multipliers=multipliers(below="1"),
        region=[J_ABOVE_K, POSITIVE_D],
    )
    assert refusal(file(shown, about=BETWEEN, abbreviations=[D])) == ""


def _identity(**data: Any) -> Data:
    return theorem("identity", data.pop("witness", ""), left=[], right=[], **data)


def _long_sum() -> Data:
    names = [term({f"x{k}": "1"}) for k in range(30)]
    power = theorem(
        "identity",
        "",
        region=[{"positive": "S", "proof": names}],
        left=[term({"S": "15"})],
        right=[term({"S": "14", "x1": "1"}), term({})],
    )
    return file(power, abbreviations=[{"name": "S", "terms": names}])


def _nested_squares() -> Data:
    rows = [{"name": "S0", "terms": [term({"a": "1"}), term({"b": "1"})]}]
    for k in range(1, 60):
        rows.append({"name": f"S{k}", "terms": [term({f"S{k - 1}": "2"}), term({"b": "1"})]})
    region = [{"positive": row["name"], "proof": row["terms"]} for row in rows]
    found = theorem(
        "identity",
        "a=2 b=3",
        region=region,
        left=[term({"S59": "1"})],
        right=[term({"S58": "2"}), term({"b": "1"}, "2")],
    )
    return file(found, abbreviations=rows)


def _close_roots() -> Data:
    roots = [term({"a": "1/2"}), term({"b": "1/2"}), term({"c": "1/2"}, "-1")]
    region = [{"name": f"r{k}", "relation": ">", "terms": roots} for k in range(60)]
    return file(
        *({**_identity(region=region, witness="a=2 b=8 c=18"), "name": f"i{k}"} for k in range(100))
    )


def _sturm() -> Data:
    near = f"((e - {10**30 - 1}/{2 * 10**30})^2 - 1/{10**58})^10*(e - 2)^10*(e - 3)^9 + 1/7"
    found = theorem(
        "inequality",
        "e=1/3",
        left=[term({}, near)],
        relation=">=",
        right=[],
        proof=[{"coefficient": near}],
    )
    return file(found, exponents={"e": ["0", "1"]})


def _large_numbers() -> Data:
    product = {str(10**59 + 7 * k): f"{k + 1}/{k + 7}" for k in range(300)}
    return file(_identity() | {"left": [term(product)]})


_ONE = problem("minimize", "x", [{"x": "1"}], constraint("c", {"x": "-1"}))


def _positive(count: int, size: int) -> list[Data]:
    """Conditions that hold at once."""
    rows = range(1, count + 1)
    return [
        {"name": f"c{k}", "relation": ">", "terms": [{"coefficient": str(k)}, *[{}] * size]}
        for k in rows
    ]


def _optima() -> Data:
    """Each point is compared with each bound, condition by condition."""
    near = _positive(200, 0)
    bounds = [
        bound({}, "", name=f"b{k}", multipliers=multipliers(c="1"))
        | {"region": [*near[:-1], {**near[-1], "terms": [{"coefficient": str(1000 + k)}]}]}
        for k in range(70)
    ]
    points = [attained({"x": {}}, {}, "", name=f"a{k}", region=near[::-1]) for k in range(70)]
    return file(*bounds, *points, about=_ONE)


def _leaves() -> Data:
    """Leaves of a theorem of many conditions, none of which needs a proof."""
    tree: Data = {"theorem": "a", "proofs": {}}
    for k in range(9):
        tree = {"split": {"name": f"{k}", "terms": []}, "yes": tree, "no": tree}
    point = attained({"x": {}}, {}, "", name="a", region=_positive(190, 190))
    return file(point, cover(tree, ""), about=_ONE)


def _sentences() -> Data:
    """Sentences that say what many abbreviations stand for."""
    names = [f"a{k}" for k in range(190)]
    region = [{"positive": name, "proof": None} for name in names]
    left = [term(dict.fromkeys(names, "1"))]
    theorems = [
        {**_identity(region=region), "name": f"i{k}", "left": left, "right": left}
        for k in range(120)
    ]
    return file(*theorems, abbreviations=[{"name": n, "terms": [{}] * 190} for n in names])


def _slopes() -> Data:
    """Slopes of many terms along directions of many variables."""
    names = [f"x{k}" for k in range(60)]
    ones: Data = {x: {} for x in names}
    rays = [
        theorem(
            "unbounded", "", f"u{k}", direction=dict.fromkeys(names, "1"), point=ones, slacks={}
        )
        for k in range(30)
    ]
    rows = [constraint(f"c{k}", *[{}] * 200) for k in range(200)]
    return file(*rays, about=problem("minimize", " ".join(names), [{"x0": "-1"}], *rows))


HEAVY: dict[str, Callable[[], Data]] = {
    "30,000 constraints": lambda: file(
        _identity(),
        about=problem(
            "minimize", "x", [{"x": "1"}], *(constraint(f"c{k}", {"x": "1"}) for k in range(30_000))
        ),
    ),
    "degree 997": lambda: file(
        _identity() | {"left": [term({"a": "e^997"})]}, exponents={"e": ["0", "1"]}
    ),
    "a huge exponent": lambda: file(_identity() | {"left": [term({"a": "((9^20)^20)^20"})]}),
    "thirty names to the 15th power": _long_sum,
    "nested squares": _nested_squares,
    "roots that cancel": _close_roots,
    "a double root, nearly": _sturm,
    "three symbols to the 20th power": lambda: file(
        _identity()
        | {"left": [term({}, "(e + f + g + 1)^20")], "right": [term({}, "(e + f + g)^20")]},
        exponents={s: ["-1", "1"] for s in "efg"},
    ),
    "large numbers": _large_numbers,
    "points compared with bounds": _optima,
    "leaves that need no proof": _leaves,
    "sentences of long sums": _sentences,
    "slopes of many terms": _slopes,
}


@pytest.mark.parametrize("name", HEAVY)
def test_work_is_bounded(name: str) -> None:
    why = refusal(HEAVY[name]())
    assert why
    if HEAVY[name] in (_optima, _leaves, _sentences, _slopes):  # which is true, or takes long
        assert why == "it takes more work than a certificate may"
