"""Theorems of every kind are accepted, and the sentences say what was shown."""

import pytest

from symscale.kernel.check import check
from symscale.kernel.limits import Refused
from symscale.kernel.read import as_rational
from theorems import (
    HALF,
    Data,
    at_least,
    checked,
    constraint,
    multipliers,
    problem,
    reason,
    sentence,
    term,
    theorem,
)

# The least of a/x + b x.
WELL = problem("minimize", "x", [{"a": "1", "x": "-1"}, {"b": "1", "x": "1"}])
LEAST = {"2": "1", "a": "1/2", "b": "1/2"}
WELL_BOUND = theorem(
    "bound", "a=2 b=3", "means", value=LEAST, multipliers={}, weights={"objective": [HALF, HALF]}
)
WELL_POINT = theorem(
    "attained", "a=2 b=3", "point", value=LEAST, point={"x": {"a": "1/2", "b": "-1/2"}}, slacks={}
)

# The least x between B and A.
BETWEEN = problem(
    "minimize",
    "x",
    [{"x": "1"}],
    constraint("above", {"x": "1", "A": "-1"}),
    constraint("below", {"B": "1", "x": "-1"}),
)
NONE = theorem(
    "infeasible",
    "A=1 B=2",
    "none",
    [at_least("B", "A", ">")],
    multipliers=multipliers(above="1", below="1"),
    excess={"B > A": "1"},
)
SOME = theorem(
    "attained",
    "A=2 B=1",
    "some",
    [at_least("A", "B")],
    value={"B": "1"},
    point={"x": {"B": "1"}},
    slacks={"above": {"A >= B": "1"}},
)

EVERY = "for all positive parameters"


def test_a_bound_by_weighted_means_and_a_point_that_attains_it() -> None:
    assert sentence(WELL_BOUND, about=WELL) == (
        f"{EVERY}: every feasible point has a/x + b*x >= 2*a^(1/2)*b^(1/2)"
    )
    assert sentence(WELL_POINT, about=WELL) == (
        f"{EVERY}: the point x = a^(1/2)/b^(1/2) is feasible and has a/x + b*x = 2*a^(1/2)*b^(1/2)"
    )
    # A point is called the optimum only where a bound of the same value says so.
    assert sentence(WELL_BOUND, WELL_POINT, about=WELL).endswith(
        ', which is the optimum by "means"'
    )
    elsewhere = {**WELL_BOUND, "region": [at_least("a", "b")], "witness": {"a": "3", "b": "2"}}
    assert "optimum" not in sentence(elsewhere, WELL_POINT, about=WELL)


def test_the_problem_is_printed() -> None:
    assert checked(SOME, about=BETWEEN).problem == (
        'minimize x over x > 0 subject to x/A <= 1 ["above"]; B/x <= 1 ["below"]'
    )
    rate = problem("maximize-inverse", "x", WELL["objective"])
    greatest = {**WELL_BOUND, "value": {"2": "-1", "a": "-1/2", "b": "-1/2"}}
    assert checked(greatest, about=rate).problem.startswith("maximize 1/(a/x + b*x) over x > 0")
    assert sentence(greatest, about=rate).endswith("1/(a/x + b*x) <= 1/(2*a^(1/2)*b^(1/2))")


def test_shares_that_depend_on_parameters() -> None:
    # x/a + b/x^2 <= 1 at the largest x^2/(a^2): a sum that binds, with a constant term.
    about = problem("minimize", "x", [{"a": "1", "x": "1"}, {"b": "1", "x": "-1"}, {"c": "1"}])
    root = {"name": "S", "terms": [term({"2": "1", "a": "1/2", "b": "1/2"}), term({"c": "1"})]}
    positive = {"positive": "S", "proof": root["terms"]}
    side = {"a": "1/2", "b": "1/2", "S": "-1"}
    bound = theorem(
        "bound",
        "a=1 b=2 c=3",
        region=[positive],
        value={"S": "1"},
        multipliers={},
        weights={"objective": [side, side, {"c": "1", "S": "-1"}]},
        at={"x": {"a": "-1/2", "b": "1/2"}},
    )
    assert sentence(bound, about=about, abbreviations=[root]) == (
        f"{EVERY}: every feasible point has a*x + b/x + c >= S, where S = 2*a^(1/2)*b^(1/2) + c"
    )
    assert "S is used, but not shown to be positive" in reason(
        {**bound, "region": []}, about=about, abbreviations=[root]
    )
    no_point = {k: v for k, v in bound.items() if k != "at"}
    assert "need a formal point" in reason(no_point, about=about, abbreviations=[root])


def test_infeasible_where_a_condition_fails() -> None:
    assert sentence(NONE, about=BETWEEN) == f"{EVERY} with B > A: no point is feasible"
    # Sums: x/A + x/C <= 1 alone keeps x below A.
    about = problem(
        "minimize",
        "x",
        [{"x": "1"}],
        constraint("above", {"x": "1", "A": "-1"}, {"x": "1", "C": "-1"}),
        constraint("below", {"B": "1", "x": "-1"}),
    )
    dropped = {**NONE, "weights": {"above": [{}, None]}}
    assert sentence(dropped, about=about).endswith("no point is feasible")


def test_a_point_whose_slack_is_a_condition() -> None:
    assert sentence(SOME, about=BETWEEN) == (
        f"{EVERY} with A >= B: the point x = B is feasible and has x = B"
    )
    by_sum = {**SOME, "slacks": {"above": [{"product": {"A": "-1"}, "times": {"A >= B": 1}}]}}
    assert sentence(by_sum, about=BETWEEN) == sentence(SOME, about=BETWEEN)


def test_an_enclosure_by_a_point() -> None:
    about = problem(
        "minimize", "x", [{"x": "1"}, {"a": "1"}], constraint("c", {"b": "1", "x": "-1"})
    )
    found = theorem(
        "feasible",
        "a=1 b=2",
        region=[at_least("b", "a")],
        value={"2": "1", "b": "1"},
        point={"x": {"b": "1"}},
        slacks={},
        gap=[{"times": {"b >= a": 1}}],
    )
    assert sentence(found, about=about) == (
        f"{EVERY} with b >= a: the point x = b is feasible and has x + a <= 2*b"
    )


def test_an_infimum_that_nothing_attains() -> None:
    about = problem("minimize", "x", [{"a": "1", "x": "-1"}, {"c": "1"}])
    found = theorem(
        "infimum",
        "a=1 c=2",
        value={"c": "1"},
        multipliers={},
        weights={"objective": [None, {}]},
        direction={"x": "1"},
        point={"x": {}},
        slacks={},
    )
    assert sentence(found, about=about) == (
        f"{EVERY}: every feasible point has a/x + c > c, and feasible points come as close to it "
        "as one likes: from x = 1 with t -> oo and x times t^(1)"
    )
    both = problem(
        "maximize",
        "x y",
        [{"x": "1"}],
        constraint("c", {"x": "1", "a": "-1"}, {"b": "1", "y": "-1"}),
    )
    sup = theorem(
        "infimum",
        "a=1 b=2",
        value={"a": "1"},
        multipliers=multipliers(c="1"),
        weights={"c": [{}, None]},
        direction={"y": "1"},
        shrink={"x": "1"},
        point={"x": {"a": "1"}, "y": {}},
        slacks={},
    )
    assert "every feasible point has x < a," in sentence(sup, about=both)
    assert "must fall below 1" in reason({**sup, "shrink": {}}, about=both)


def test_what_vanishes_altogether_along_a_direction() -> None:
    """A constraint whose terms all vanish holds in the end; one that falls may be unbounded."""
    vanishing = constraint("least", {"d": "1", "x": "-1"})
    about = problem("minimize", "x", [{"a": "1", "x": "-1"}, {"c": "1"}], vanishing)
    found = theorem(
        "infimum",
        "a=1 c=2",
        value={"c": "1"},
        multipliers={},
        weights={"objective": [None, {}]},
        direction={"x": "1"},
        point={"x": {}},
        slacks={},
    )
    assert "every feasible point has a/x + c > c," in sentence(found, about=about)
    above = problem("minimize", "x", [{"x": "-1"}], vanishing)
    ray = theorem("unbounded", "d=1", direction={"x": "1"}, point={"x": {"d": "1"}}, slacks={})
    assert "bring 1/x as close to 0 as one likes" in sentence(ray, about=above)
    fixed = problem("maximize", "x y", [{"y": "1"}], constraint("c", {"x": "1"}, relation="=="))
    along = theorem("unbounded", "", direction={"y": "1"}, point={"x": {}, "y": {}}, slacks={})
    assert "bring y as far towards infinity" in sentence(along, about=fixed)
    astray = {**along, "direction": {"y": "1", "x": "-1"}}
    assert "fails in the end" in reason(astray, about=fixed)


def test_what_goes_to_its_limit_has_a_name_of_its_own() -> None:
    """A parameter that is called t or s is not what grows, or shrinks."""
    about = problem(
        "maximize",
        "x t_",
        [{"x": "1"}],
        constraint("c", {"x": "1", "t": "-1"}, {"s": "1", "t_": "-1"}),
    )
    found = theorem(
        "infimum",
        "t=1 s=2",
        value={"t": "1"},
        multipliers=multipliers(c="1"),
        weights={"c": [{}, None]},
        direction={"t_": "1"},
        shrink={"x": "1"},
        point={"x": {"t": "1"}, "t_": {}},
        slacks={},
    )
    text = sentence(found, about=about)
    assert "with t__ -> oo and t_ times t__^(1)" in text
    assert "s_ -> 1 from below with x times s_^(1)" in text
    ray = theorem("unbounded", "", direction={"t": "1"}, point={"t": {}}, slacks={})
    about = problem("maximize", "t", [{"t": "1"}])
    assert "t_ -> oo and t times t_^(1)" in sentence(ray, about=about)


def test_an_objective_without_a_bound() -> None:
    about = problem(
        "maximize",
        "x y",
        [{"y": "1"}],
        constraint("above", {"x": "1", "A": "-1"}),
        constraint("below", {"B": "1", "x": "-1"}),
    )
    found = theorem(
        "unbounded",
        "A=2 B=1",
        region=[at_least("A", "B")],
        direction={"y": "1"},
        point={"x": {"A": "1"}, "y": {}},
        slacks={"below": {"A >= B": "1"}},
    )
    assert "bring y as far towards infinity as one likes" in sentence(found, about=about)
    assert "no slack is shown" in reason({**found, "slacks": {}}, about=about)


def test_a_cover_by_splits() -> None:
    tree = {
        "split": {"name": "fits", "terms": at_least("A", "B")["terms"]},
        "yes": {"theorem": "some", "proofs": {"A >= B": {"fits": "1"}}},
        "no": {"theorem": "none", "proofs": {"B > A": [{"times": {"not fits": 1}}]}},
    }
    cover = theorem("cover", "A=1 B=1", "all", tree=tree)
    assert sentence(SOME, NONE, cover, about=BETWEEN) == (
        f'{EVERY}: at least one of these theorems applies: "some" (attained), "none" (infeasible)'
    )
    swapped = {**tree, "yes": tree["no"], "no": tree["yes"]}
    assert reason(SOME, NONE, {**cover, "tree": swapped}, about=BETWEEN)
    bound = theorem(
        "bound", "A=1 B=1", "bound", value={"B": "1"}, multipliers=multipliers(below="1")
    )
    only = {**cover, "tree": {"theorem": "bound", "proofs": {}}}
    assert "no theorem shown before" in reason(bound, only, about=BETWEEN)


def test_a_cover_by_the_least_of_products() -> None:
    about = problem(
        "maximize",
        "x",
        [{"x": "1"}],
        constraint("a", {"x": "1", "A": "-1"}),
        constraint("b", {"x": "1", "B": "-1"}),
    )
    pieces = [
        theorem(
            "attained",
            f"{k}=1 {j}=2",
            f"{k} rules",
            [at_least(j, k)],
            value={k: "1"},
            point={"x": {k: "1"}},
            slacks={j.lower(): {f"{j} >= {k}": "1"}},
        )
        for k, j in ("AB", "BA")
    ]
    least = [{"name": k, "product": {k: "1"}} for k in "AB"]
    cases = [
        {"theorem": f"{k} rules", "proofs": {f"{j} >= {k}": {f"{k} <= {j}": "1"}}}
        for k, j in ("AB", "BA")
    ]
    cover = theorem("cover", "A=1 B=3", "all", tree={"least": least, "cases": cases})
    assert '"A rules" (attained), "B rules" (attained)' in sentence(*pieces, cover, about=about)
    assert reason(*pieces, {**cover, "tree": {"least": least, "cases": cases[::-1]}}, about=about)


def test_exponents_that_are_symbols() -> None:
    # The largest T with T <= C T^alpha... : T^(1 - 2 alpha) <= C.
    about = problem("maximize", "T", [{"T": "1"}], constraint("c", {"T": "1 - 2*alpha", "C": "-1"}))
    found = [
        theorem(
            "bound",
            "C=2 alpha=1/4",
            "b",
            value={"C": "1/(1 - 2*alpha)"},
            multipliers=multipliers(c="1/(1 - 2*alpha)"),
        ),
        theorem(
            "attained",
            "C=2 alpha=1/4",
            "p",
            value={"C": "1/(1 - 2*alpha)"},
            point={"T": {"C": "1/(1 - 2*alpha)"}},
            slacks={},
        ),
    ]
    below = {"alpha": [None, "1/2"]}
    assert sentence(*found, about=about, exponents=below) == (
        f"{EVERY} with alpha < 1/2: the point T = C^(1/(1 - 2*alpha)) is feasible and has "
        'T = C^(1/(1 - 2*alpha)), which is the optimum by "b"'
    )
    for interval in ([None, "1"], [None, None], ["0", "3/4"]):
        assert "changes its sign" in reason(found[0], about=about, exponents={"alpha": interval})


def test_identities_and_inequalities() -> None:
    square = [term({"a": "1"}), term({"b": "1"})]
    abbreviations = [{"name": "S", "terms": square}]
    positive = {"positive": "S", "proof": square}
    found = theorem(
        "identity",
        "",
        region=[positive],
        left=[term({"S": "5/2"})],
        right=[
            term({"S": "1/2", "a": "2"}),
            term({"S": "1/2", "a": "1", "b": "1"}, "2"),
            term({"S": "1/2", "b": "2"}),
        ],
    )
    assert "S^(5/2) = a^2*S^(1/2)" in sentence(found, abbreviations=abbreviations).replace(
        "S^(1/2)*a^2", "a^2*S^(1/2)"
    )
    mean = theorem(
        "inequality",
        "",
        left=[term({"a": "1"}), term({"b": "1"})],
        relation=">=",
        right=[term({"a": "1/2", "b": "1/2"}, "2")],
        proof=[{"square": [term({"a": "1/2"}), term({"b": "1/2"}, "-1")]}],
    )
    assert sentence(mean) == f"{EVERY}: a + b >= 2*a^(1/2)*b^(1/2)"
    assert "it is strict" in reason({**mean, "relation": ">"})
    numbers = theorem("identity", "", left=[term({"12": "1/2"})], right=[term({"3": "1/2"}, "2")])
    assert sentence(numbers) == f"{EVERY}: 2*3^(1/2) = 2*3^(1/2)"


def test_parameters_tied_by_an_equality() -> None:
    about = problem(
        "minimize",
        "x",
        [{"x": "1"}],
        constraint("c", {"x": "1", "A": "-1"}, relation="=="),
        constraint("d", {"x": "2", "B": "-1"}, relation="=="),
    )
    tied = {"name": "tied", "relation": "==", "terms": [term({"A": "2"}), term({"B": "1"}, "-1")]}
    found = theorem(
        "attained",
        "A=2 B=4",
        region=[tied],
        value={"A": "1"},
        point={"x": {"A": "1"}},
        slacks={"d": {"tied": "-1"}},
    )
    assert sentence(found, about=about) == (
        f"{EVERY} with A^2 == B: the point x = A is feasible and has x = A"
    )
    assert "not satisfied" in reason({**found, "slacks": {"d": {"tied": "1"}}}, about=about)
    leaf = {"theorem": "it", "proofs": {}}
    cover = theorem("cover", "A=2 B=4", "all", [tied], tree=leaf)
    assert sentence(found, cover, about=about).endswith('applies: "it" (attained)')
    assert "no equality that is known" in reason(found, {**cover, "region": []}, about=about)
    untied = {**found, "region": [{**tied, "relation": ">="}], "witness": {"A": "3", "B": "4"}}
    assert "is no equality" in reason(untied, about=about)
    # Sums that are equal, as 1 + 2 = 3, are compared exactly at the witness.
    three = {
        "name": "three",
        "relation": "==",
        "terms": [term({"a": "1"}), term({"b": "1"}), term({"c": "1"}, "-1")],
    }
    equal = theorem("identity", "a=1 b=2 c=3", region=[three], left=[], right=[])
    assert sentence(equal) == f"{EVERY} with a + b == c: 0 = 0"
    assert "does not satisfy" in reason({**equal, "witness": {"a": "1", "b": "2", "c": "4"}})


def test_a_leaf_with_a_strict_condition_needs_a_strict_proof() -> None:
    none = {"theorem": "none", "proofs": {"B > A": {"fits": "1"}}}
    split = {"name": "fits", "terms": at_least("B", "A")["terms"]}
    tree = {"split": split, "yes": none, "no": none}
    assert "it is strict" in reason(
        NONE, theorem("cover", "A=1 B=1", "all", tree=tree), about=BETWEEN
    )


def test_a_gap_between_powers() -> None:
    # Where A >= B, A^3 - A^(3/2) B^(3/2) is A^3 times a gap.
    found = theorem(
        "inequality",
        "A=3 B=2",
        region=[at_least("A", "B", ">")],
        left=[term({"A": "3"})],
        relation=">",
        right=[term({"A": "3/2", "B": "3/2"})],
        proof=[{"product": {"A": "3"}, "gap": {"A > B": "3/2"}}],
    )
    assert sentence(found) == f"{EVERY} with A > B: A^3 > A^(3/2)*B^(3/2)"
    assert "negative power" in reason({**found, "proof": [{"gap": {"A > B": "-1"}}]})


def test_a_domain_is_granted_and_printed() -> None:
    domain = [{"name": "E", "relation": ">=", "terms": [term({"E": "1"}), term({}, "-1")]}]
    about = problem("minimize", "x", [{"x": "1", "E": "1"}], constraint("c", {"x": "-1"}))
    found = theorem(
        "feasible",
        "E=1",
        value={"E": "2"},
        point={"x": {}},
        slacks={},
        gap=[{"product": {"E": "1"}, "times": {"E": 1}}],
    )
    assert sentence(found, about=about, domain=domain).startswith(f"{EVERY} with E >= 1: ")
    assert "does not satisfy" in reason(
        {**found, "witness": {"E": "1/2"}}, about=about, domain=domain
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON"),
        ("[]", "no object"),
        ("{}", "lacks 'format'"),
        ("1.5", "no whole"),
        ("NaN", "no whole number"),
        ('{"format":1,"format":1}', "stands twice"),
        ("[" * 5000, "nested too deeply"),
        ("123456", "too large"),
        ('"' + "a" * 3_000_000, "more than"),
    ],
)
def test_what_is_no_file(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        check(text)


@pytest.mark.parametrize(
    "text", ["1.5", "1e3", "", "1/0", " 1", "+1", "1/-2", "9" * 61, "²", 1, None, True]
)
def test_what_is_no_number(text: object) -> None:
    with pytest.raises(Refused):
        as_rational(text)


def test_names_cannot_forge_a_line() -> None:
    quote: Data = {**WELL_BOUND, "name": 'x" holds: "everything'}
    point = {**WELL_POINT, "name": "p"}
    assert sentence(quote, point, about=WELL).endswith(r'by "x\" holds: \"everything"')
    for name in ("a\nb", "", "a" * 201, "ä", "\x1b[1m", 3, None, ["a"]):
        with pytest.raises(Refused):
            checked({**WELL_BOUND, "name": name}, about=WELL)
