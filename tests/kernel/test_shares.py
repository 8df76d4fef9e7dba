"""Theorems by shares: what they say, and false ones written by hand, which are refused."""

import json
from typing import Any

import pytest

from symscale.kernel.check import check
from symscale.kernel.limits import Refused
from theorems import Data, at_least, constraint, file, problem, reason, sentence, term, theorem

EVERY = "for all positive parameters"

# The least of a/x + b/y with x + y <= c: (sqrt a + sqrt b)^2/c.
SHARED = problem(
    "minimize", "x y", [{"a": "1", "x": "-1"}, {"b": "1", "y": "-1"}],
    constraint("in all", {"x": "1", "c": "-1"}, {"y": "1", "c": "-1"}),
)  # fmt: skip
COSTS = "a/x + b/y"
# The least x + y with x y^2 = k.
EQUAL = problem(
    "minimize", "x y", [{"x": "1"}, {"y": "1"}],
    constraint("fixed", {"x": "-1", "y": "-2", "k": "1"}, relation="=="),
)  # fmt: skip
# The greatest x with x <= A and x <= B.
CAPPED = problem(
    "maximize", "x", [{"x": "1"}],
    constraint("A", {"x": "1", "A": "-1"}), constraint("B", {"x": "1", "B": "-1"}),
)  # fmt: skip


def refusal(data: Data) -> str:
    """Why a file, or the last of its theorems that fails, is refused."""
    try:
        failed = [f.text for f in check(json.dumps(data)).findings if not f.holds]
    except Refused as refused:
        return str(refused)
    return failed[-1] if failed else ""


# Tangents


def tangent(**data: Any) -> Data:
    """The tangent of a/x + b/y at a = 4 b, which is exact there, near it: changed."""
    given: Data = {
        "shares": {"objective": ["2/3", "1/3"], "in all": ["2/3", "1/3"]},
        "value": {"357": "1", "100": "-1", "a": "2/3", "b": "1/3", "c": "-1"},
        "point": {"x": "69/100", "y": "31/100"},
        "within": "1/250",
    }
    return theorem("tangent", data.pop("witness", "a=5 b=1 c=1"), **{**given, **data})


def of_equal(**data: Any) -> Data:
    """The tangent of x + y with x y^2 = k, which is exact: changed."""
    given: Data = {
        "shares": {"objective": ["1/3", "2/3"], "fixed": ["1/3"]},
        "value": {"3": "1", "2": "-2/3", "k": "1/3"},
        "point": {"x": "1/2", "y": {"10": "1/2"}},
        "within": "1/7",
    }
    return theorem("tangent", "k=5", **{**given, **data})


def of_capped(**data: Any) -> Data:
    """The tangent sqrt(A B) of the greatest x below A and B: changed."""
    given: Data = {
        "shares": {"objective": ["1"], "A": ["1/2"], "B": ["1/2"]},
        "value": {"A": "1/2", "B": "1/2"},
        "point": {"x": "2"},
        "within": "1/4",
    }
    return theorem("tangent", "A=3 B=2", **{**given, **data})


def test_a_tangent() -> None:
    bound = f"{EVERY}: every feasible point has {COSTS} >= 357*a^(2/3)*b^(1/3)/(100*c)"
    assert sentence(tangent(), about=SHARED) == (
        f"{bound}; at a = 5, b = 1, c = 1 the point x = 69/100, y = 31/100 is feasible, and its "
        f"{COSTS} is at most 0.4 % above that bound"
    )
    # Exact where the shares are: 9/c at a = 4 b.
    exact = tangent(
        value={"3": "2", "2": "-4/3", "a": "2/3", "b": "1/3", "c": "-1"},
        point={"x": "2/3", "y": "1/3"}, within="0", witness="a=4 b=1 c=1",
    )  # fmt: skip
    assert "is at most 0 % above that bound" in sentence(exact, about=SHARED)
    # The point may be one of the parameters as well.
    moved = {"x": {"69": "1", "100": "-1", "c": "1"}, "y": {"31": "1", "100": "-1", "c": "1"}}
    assert "x = 69*c/100" in sentence(tangent(point=moved, witness="a=5 b=1 c=7"), about=SHARED)


def test_a_tangent_with_an_equality() -> None:
    """Its point is no rational one: x = 1/2 leaves y = sqrt 10, where k = 5."""
    assert "x = 1/2, y = 2^(1/2)*5^(1/2) is feasible, and its x + y is at most 50 %" in sentence(
        of_equal(within="1/2"), about=EQUAL
    )
    of_parameters = {"x": "2", "y": {"k": "1/2", "2": "-1/2"}}
    assert sentence(of_equal(point=of_parameters), about=EQUAL)


def test_a_tangent_of_a_maximum() -> None:
    assert sentence(of_capped(), about=CAPPED) == (
        f"{EVERY}: every feasible point has x <= A^(1/2)*B^(1/2); at A = 3, B = 2 the point x = 2 "
        "is feasible, and that bound is at most 25 % above its x"
    )
    inverse = {**SHARED, "sense": "maximize-inverse"}
    up = {"100": "1", "357": "-1", "a": "-2/3", "b": "-1/3", "c": "1"}
    assert f"and that bound is at most 0.4 % above its 1/({COSTS})" in sentence(
        tangent(value=up), about=inverse
    )


def test_shares_within_which_a_tangent_is() -> None:
    for within, shown in (("1/3", "100/3 %"), ("1/80", "1.25 %"), ("3", "300 %")):
        assert f"at most {shown} above" in sentence(tangent(within=within), about=SHARED)


def test_a_tangent_of_a_problem_with_a_difference() -> None:
    """The domain of a difference is the only condition of a tangent."""
    about = json.loads(json.dumps(SHARED).replace('"c"', '"D"'))
    rest = {"name": "D", "terms": [term({"c": "1"}), term({"d": "1"}, "-1")]}
    value = {"357": "1", "100": "-1", "a": "2/3", "b": "1/3", "D": "-1"}
    region = [at_least("c", "d", ">"), {"positive": "D", "proof": [{"times": {"c > d": 1}}]}]
    given = tangent(value=value, region=region, witness="a=5 b=1 c=3 d=2")
    assert sentence(given, about=about, abbreviations=[rest]).startswith(
        f"{EVERY} with c > d: every feasible point has {COSTS} >="
    )
    assert "not shown to be positive" in reason(
        tangent(value=value), about=about, abbreviations=[rest]
    )


UP = {"3573": "1", "1000": "-1", "a": "2/3", "b": "1/3", "c": "-1"}
FLAT = {"objective": ["1", "0"], "in all": ["1", "0"]}
TANGENTS: dict[str, tuple[Data, str]] = {
    "constant rounded up": (file(tangent(value=UP), about=SHARED), "it exceeds 1"),
    "constant of a maximum rounded down": (
        file(of_capped(value={"A": "1/2", "B": "1/2", "1000001": "-1", "1000000": "1"}),
             about=CAPPED),
        "it exceeds 1",
    ),
    "value of another exponent": (
        file(tangent(value={"a": "2/3", "b": "2/3", "c": "-1"}), about=SHARED),
        "leave over b",
    ),
    "value that lacks a parameter": (
        file(tangent(value={"a": "2/3", "b": "1/3"}), about=SHARED),
        "leave over c",
    ),
    "shares that do not cancel": (
        file(tangent(shares={"objective": ["2/3", "1/3"], "in all": ["1/3", "2/3"]}),
             about=SHARED),
        "x does not cancel",
    ),
    "shares above one": (
        file(tangent(shares={"objective": ["4/3", "2/3"], "in all": ["4/3", "2/3"]}),
             about=SHARED),
        "do not add up to 1",
    ),
    "no shares of the objective": (
        file(tangent(shares={"in all": ["2/3", "1/3"]}), about=SHARED),
        "do not add up to 1",
    ),
    "negative share": (
        file(tangent(shares={"objective": ["4/3", "-1/3"], "in all": ["4/3", "-1/3"]}),
             about=SHARED),
        "are negative",
    ),
    "shares of a constraint that cancel to zero": (
        file(tangent(shares={"objective": ["2/3", "1/3"], "in all": ["0", "0"]}), about=SHARED),
        "all zero",
    ),
    "negative multiplier of one product": (
        file(of_capped(shares={"objective": ["1"], "A": ["2"], "B": ["-1"]},
                       value={"A": "2", "B": "-1"}), about=CAPPED),
        "are negative",
    ),
    "share for each of more terms than there are": (
        file(tangent(shares={"objective": ["2/3", "1/3"], "in all": ["2/3", "1/3", "0"]}),
             about=SHARED),
        "not as many terms as shares",
    ),
    "no shares of an equality": (
        file(of_equal(shares={"objective": ["1/3", "2/3"], "fixed": []}), about=EQUAL),
        "not as many terms as shares",
    ),
    "shares of what is no constraint": (
        file(tangent(shares={"objective": ["2/3", "1/3"], "in none": ["1"]}), about=SHARED),
        "no constraint is named",
    ),
    "terms left out that the bound needs": (
        file(tangent(shares=FLAT, value={"357": "1", "100": "-1", "a": "1", "c": "-1"}),
             about=SHARED),
        "it exceeds 1",
    ),
    "point that violates a constraint": (
        file(tangent(point={"x": "69/100", "y": "32/100"}), about=SHARED),
        "'in all' does not hold",
    ),
    "point that violates a constraint by little": (
        file(tangent(point={"x": "69/100", "y": f"{31 * 10**50 + 1}/{10**52}"}), about=SHARED),
        "'in all' does not hold",
    ),
    "point off an equality": (
        file(of_equal(point={"x": "1/2", "y": "316/100"}, within="1"), about=EQUAL),
        "'fixed' does not hold",
    ),
    "point on the other side of an equality": (
        file(of_equal(point={"x": "1/2", "y": "317/100"}, within="1"), about=EQUAL),
        "'fixed' does not hold",
    ),
    "point farther than it says": (
        file(tangent(within="3/1000"), about=SHARED),
        "not within this share",
    ),
    "point of a maximum farther than it says": (
        file(of_capped(within="1/5"), about=CAPPED),  # 2 is 18 % less, but 22 % more is needed
        "not within this share",
    ),
    "negative share within": (
        file(tangent(within="-1/250"), about=SHARED),
        "is not negative",
    ),
    "point at zero": (
        file(tangent(point={"x": "0", "y": "31/100"}), about=SHARED),
        "'x' is not positive",
    ),
    "point without a variable": (
        file(tangent(point={"x": "69/100"}), about=SHARED),
        "gives a product to each variable",
    ),
    "point of a variable": (
        file(tangent(point={"x": {"y": "1"}, "y": "31/100"}), about=SHARED),
        "stands where parameters are due",
    ),
    "witness without a parameter": (
        file(tangent(witness="a=5 b=1"), about=SHARED),
        "gives no number to c",
    ),
    "witness beyond the region": (
        file(tangent(region=[at_least("b", "a")]), about=SHARED),
        "the witness does not satisfy",
    ),
    "witness elsewhere": (
        file(tangent(witness="a=6 b=1 c=1"), about=SHARED),
        "not within this share",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TANGENTS)
def test_false_tangents_are_refused(name: str) -> None:
    data, why = TANGENTS[name]
    assert why in refusal(data)
