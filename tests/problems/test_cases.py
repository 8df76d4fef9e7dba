"""Problems that are several, against a fine search over the expressions as they were written."""

import json
import math
from typing import Any

import numpy as np
import pytest

import symscale as ss
from commands import run
from symscale.errors import InfeasibleError, InputError, UnboundedError
from symscale.pages.page import page_of
from symscale.problems.answer import ProblemAnswer
from symscale.problems.cases import CasesAnswer
from symscale.problems.enclosed import EnclosedAnswer

LINES = """
maximize = "n"
[parameters]
a = {}
b = {}
c = {}
d = {}
[variables]
n = {}
[[constraints]]
name = "line"
expression = "a + b*n <= c*n + d"
"""
SATURATING = """
minimize = "k*b + D*min(1, b/S)/b"
[parameters]
k = {}
D = {}
S = {}
[variables]
b = { lower = 1 }
"""
EXPERTS = """
minimize = "t"
[parameters]
k = {}
D = {}
E = { lower = 2 }
[variables]
b = { lower = 1 }
t = {}
[[constraints]]
name = "time"
expression = "k*b + D*E*(1 - (1 - 1/E)^b)/b <= t"
"""
RANGES = """
maximize = "x*y"
[parameters]
A = {}
B = {}
q_ = { lower = 0.1, upper = 3 }
[variables]
x = {}
y = {}
[[constraints]]
name = "c1"
expression = "x^q_*y <= A"
[[constraints]]
name = "c2"
expression = "x*y^q_ <= B"
[[constraints]]
name = "c3"
expression = "x <= A*B"
"""


def solve(text: str, **values: float) -> Any:
    return ss.solve(text, set=[f"{k}={v!r}" for k, v in values.items()])


def number(found: Any) -> float:
    if found.value is not None:
        return float(found.value)
    return float(found.numerical.value)


# Signs


def test_a_case_for_each_sign() -> None:
    """a + b n <= c n + d: n is at most (d - a)/(b - c) where b > c, and has no bound below."""
    found = solve(LINES)
    assert isinstance(found, CasesAnswer)
    assert [c.words for c in found.cases] == [
        ("a <= d", "b <= c"), ("a <= d", "c <= b"), ("d <= a",),
    ]
    (piece,) = [p for p in found.pieces if p.status == "optimal"]
    assert {str(s) for s in piece.expr.free_symbols} == set("abcd")
    text = " ".join(page_of(found).printed(found, "text").split())
    assert "the objective n has no bound where a <= d and b <= c" in text
    assert "the objective n has no bound where b <= c and d <= a" in text
    assert "d < a" in text or "a < d" in text  # nowhere a difference in a formula vanishes


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ({"a": 1, "b": 5, "c": 2, "d": 7}, 2.0),
        ({"a": 0.5, "b": 1.5, "c": 1.25, "d": 9}, 34.0),
        ({"a": 1, "b": 2, "c": 5, "d": 7}, math.inf),
        ({"a": 8, "b": 2, "c": 5, "d": 7}, math.inf),
        ({"a": 8, "b": 5, "c": 2, "d": 7}, math.nan),
    ],
)
def test_numbers_tell_which_sign(values: dict[str, float], best: float) -> None:
    if math.isinf(best):
        with pytest.raises(UnboundedError):
            solve(LINES, **values)
    elif math.isnan(best):
        with pytest.raises(InfeasibleError):
            solve(LINES, **values)
    else:
        found = solve(LINES, **values)
        assert isinstance(found, ProblemAnswer)  # of the one case
        assert found.ruling is not None
        assert found.exact
        assert number(found) == pytest.approx(best, rel=1e-12)
        assert {str(c) for c in found.ruling.region} >= {"c < b"}
        assert found.certificates().theorems.verdict.holds
        assert values["a"] + values["b"] * best == pytest.approx(
            values["c"] * best + values["d"])


def test_conditions_on_parameters_fix_signs() -> None:
    """With its condition as a constraint the problem is one; b of several sums as well."""
    found = solve(LINES.replace("c*n + d", "c*n + d + e").replace("d = {}", "d = {}\ne = {}") + (
        '[[constraints]]\nname = "falls"\nexpression = "c <= b"\n'
        '[[constraints]]\nname = "starts"\nexpression = "a + e/2 <= d + 2*e"\n'
    ), a=3, b=4, c=2, d=1, e=5)
    assert isinstance(found, ProblemAnswer)
    assert number(found) == pytest.approx((1 + 5 - 3) / (4 - 2), rel=1e-12)


def test_what_is_no_case_is_refused() -> None:
    """Where each sign leaves more than one term on the greater side; and beyond 16 problems."""
    head = "[variables]\nx = {}\n[parameters]\n" + "".join(f"p{k} = {{}}\n" for k in range(12))
    left, right = (" + ".join(f"p{k + 6*j}*x^{k}" for k in range(6)) for j in range(2))
    with pytest.raises(InputError, match=r"p0 - p6 is open.* where p0 <= p6; .*the greater side"):
        solve(f'maximize = "x"\n{head}[[constraints]]\nexpression = "{left} <= {right}"\n')
    rows = "".join(f'[[constraints]]\nexpression = "min(p{k}, x) <= {k + 2}"\n' for k in range(5))
    with pytest.raises(InputError, match=r"more than 16 problems, .*give bounds or numbers"):
        solve(f'maximize = "x"\n{head}{rows}')


# Alternatives


@pytest.mark.parametrize(
    "values", [{"k": 2, "D": 50, "S": 7}, {"k": 2, "D": 5000, "S": 7}, {"k": 0.01, "D": 3, "S": 90}]
)
def test_a_saturating_factor_is_exact(values: dict[str, float]) -> None:
    found = solve(SATURATING, **values)
    b = np.geomspace(1, 1e5, 2_000_001)
    best = np.min(values["k"] * b + values["D"] * np.minimum(1, b / values["S"]) / b)
    assert isinstance(found, CasesAnswer)
    assert found.exact
    assert number(found) == pytest.approx(best, rel=1e-8)
    assert found.certificates().theorems.verdict.holds
    data = json.loads(json.dumps(found.to_dict()))
    assert data["limit"]["value"] == pytest.approx(best, rel=1e-8)
    assert len(data["cases"]) == 2
    assert data["cases"][data["limit"]["case"]]["limit"]["value"] == data["limit"]["value"]


def test_an_alternative_in_a_constraint() -> None:
    """t is least where x*min(1, y) >= c does not bind: min on the greater side is a bound."""
    text = (
        'maximize = "x*y"\n[parameters]\nc = {{}}\n[variables]\nx = {{ upper = 9 }}\n'
        'y = {{ upper = 20 }}\n[[constraints]]\nexpression = "x{}*min(1, y) <= c"\n'
    )
    for power, c in (("", 4.0), ("^2", 50.0), ("^2", 0.5)):
        found = solve(text.format(power), c=c)
        x, y = np.meshgrid(np.geomspace(1e-3, 9, 1501), np.geomspace(1e-3, 20, 1501))
        e = 2 if power else 1
        best = np.max(np.where(x**e * np.minimum(1, y) <= c * (1 + 1e-12), x * y, 0))
        assert number(found) >= best * (1 - 1e-9)
        assert number(found) == pytest.approx(best, rel=0.02)


# Exponentials


@pytest.mark.parametrize(
    "values",
    [{"k": 3, "D": 100, "E": 16}, {"k": 0.01, "D": 100, "E": 16}, {"k": 5, "D": 7, "E": 2.5}],
)
def test_an_exponential_is_enclosed(values: dict[str, float]) -> None:
    found = solve(EXPERTS, **values)
    assert isinstance(found, EnclosedAnswer)
    k, d, e = (values[n] for n in "kDE")
    b = np.geomspace(1, 1e6, 1_000_001)
    best = float(np.min(k * b + d * e * (1 - (1 - 1 / e) ** b) / b))
    low, high = (float(end or math.nan) for end in found.ends)
    assert low <= best * (1 + 1e-9)
    assert best <= high * (1 + 1e-9)
    assert high / low <= 125 / 79 * (1 + 1e-9)
    text = page_of(found).printed(found, "text")
    assert "is at most min(1, b / E) and at least 79/125 times that, where 1 <= b" in (
        " ".join(text.split()))
    data = json.loads(json.dumps(found.to_dict()))
    assert data["bounds"] == {"lower": pytest.approx(low), "upper": pytest.approx(high)}
    assert [c["sympy"] for c in data["conditions"]] == ["1 <= b"]


def test_the_share_of_the_minimum_is_safe() -> None:
    """0.632 min(1, n u) <= 1 - (1 - u)^n <= min(1, n u) at n >= 1 and u <= 1."""
    u, n = np.meshgrid(np.geomspace(1e-6, 1, 801), np.geomspace(1, 1e7, 801))
    true, bound = -np.expm1(n * np.log1p(-np.minimum(u, 1 - 1e-15))), np.minimum(1, n * u)
    assert np.all(true <= bound * (1 + 1e-9))
    assert np.all(true >= 79 / 125 * bound)


def test_an_exponential_of_another_kind_is_refused() -> None:
    for goal in ("x + 2^x", "x + (1 - 1/E)^x/x^2 - 1", "1/x + E^(x - 1)"):
        with pytest.raises(InputError, match="has a variable in its exponent: declare x"):
            solve(f'minimize = "{goal}"\n[parameters]\nE = {{}}\n[variables]\nx = {{}}\n')


# Ranges of exponents


def test_a_case_for_each_range_of_an_exponent() -> None:
    """Each case's pieces agree with the answer at numbers, whose optimum is another solver's."""
    found: Any = solve(RANGES)
    assert type(found) is CasesAnswer
    words = [c.words[-1] for c in found.cases]
    assert words[-1] == "q_ = 1"
    known = (
        (1.74, 1.32, 0.216, 1.981418888206043), (2.19, 3.39, 2.17, 1.8821361869457582),
        (2.81, 0.403, 0.982, 1.0647580727840624), (1.17, 0.374, 1.45, 0.3926745289645587),
    )
    for a, b, q, best in known:
        cases: list[tuple[Any, Any]] = list(zip(found.cases, found.answers, strict=True))
        (inside,) = [one for case, one in cases if not case.at
                     and case.problem.parameters[2].lower < q < case.problem.parameters[2].upper]
        values = dict(zip((p.symbol for p in inside.problem.parameters),
                          (inside.problem.parameters[0].read(str(x)) for x in (a, b, q)),
                          strict=True))
        ruling = [p for p in inside.pieces if p.holds(values)]
        assert float(ruling[0].value(values)) == pytest.approx(best, rel=1e-6)


# The command


@pytest.mark.parametrize("text", [LINES, SATURATING, EXPERTS, RANGES])
@pytest.mark.parametrize("form", ["text", "json", "latex", "markdown"])
def test_every_format(text: str, form: str, tmp_path: Any) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    done = run("solve", str(path), "--format", form)
    assert done.code == 0
    assert done.out


def test_a_sweep_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "own.toml"
    path.write_text(SATURATING, encoding="utf-8")
    done = run("solve", str(path), "--sweep", "k=1..2")
    assert done.code == 2
    assert "this problem is several geometric programs" in done.err
