"""Problem files as people write them: answered, against numbers of another route."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize_scalar

import symscale as ss
from symscale.answers import Answer
from symscale.errors import InputError
from symscale.pages.page import page_of
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import problem_of_text
from symscale.problems.settings import read_problem_settings

RING = """
maximize = "N"
[parameters]
s = {{ unit = "token", default = 1e6 }}
d = {{ default = 16384 }}
d_kv = {{ default = 1024 }}
w = {{ unit = "byte", default = 2 }}
C = {{ unit = "FLOP/s", default = 4e14 }}
W = {{ unit = "byte/s", default = 5e10 }}
tau = {{ unit = "s", default = "10us" }}
[variables]
N = {{ lower = 1 }}
c = {{ unit = "token" }}
[[constraints]]
expression = "c*N == s"
[[constraints]]
name = "bandwidth"
expression = "2*c*d_kv*w/W <= {}*c^2*d/C"
[[constraints]]
name = "latency"
expression = "tau <= {}*c^2*d/C"
"""
FSDP = """
maximize = "N"
[parameters]
P_l = {{ default = 2.1e8 }}
w = {{ unit="byte", default = 2 }}
W = {{ unit="byte/s", default = 5e10 }}
tau = {{ unit="s", default = 1e-5 }}
n = {{ unit="token", default = 8192 }}
C = {{ unit="FLOP/s", default = 4e14 }}
f = {{ unit="FLOP/token", default=2 }}
[variables]
N = {{}}
[[constraints]]
expression = "{}"
"""


def solved(text: str, *sets: str) -> ProblemAnswer:
    problem = problem_of_text(text)
    return answer(problem, read_problem_settings(problem, sets))


def printed(found: Answer) -> str:
    return page_of(found).printed(found, "latex")


def value(found: ProblemAnswer) -> float:
    assert found.value is not None
    return float(found.value)


# Powers of sums


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("sqrt(A*x + B/x)", {"A": 2.0, "B": 3.0}),
        ("((A + x)/3)^(3/2)/x", {"A": 4.0, "B": 1.0}),
        ("sqrt(A*x + B/x)*(1 + x)^0", {"A": 0.7, "B": 11.0}),
        ("(A/x + B*x^2)^2.5", {"A": 0.3, "B": 0.2}),
    ],
)
def test_powers_of_sums_are_minimised(goal: str, values: dict[str, float]) -> None:
    found = solved(
        f'minimize = "{goal}"\n[parameters]\nA = {{}}\nB = {{}}\n[variables]\nx = {{}}\n',
        *(f"{k}={v}" for k, v in values.items()),
    )
    assert found.exact

    x = found.problem.variables[0].symbol
    at: dict[Any, Any] = {q.symbol: values[q.entry.name] for q in found.problem.parameters}
    written = sp.lambdify(x, found.problem.objective.subs(at))
    best = minimize_scalar(
        lambda u: written(math.exp(u)), bounds=(-9, 9), method="bounded", options={"xatol": 1e-12}
    )
    assert value(found) == pytest.approx(best.fun, rel=1e-10)


def test_the_optimum_of_the_tile() -> None:
    """Optima of an independent convex solver: ((S + y)/3)^(3/2)/y is least at y = 2 S."""
    text = 'minimize = "((S + y)/3)^(3/2)/y"\n[parameters]\nS = {}\n[variables]\ny = {}\n'
    for s, best in ((1e6, 500.0), (4, 1.0), (123, 5.545268253204709)):
        found = solved(text, f"S={s}")
        assert value(found) == pytest.approx(best, rel=1e-12)
        assert found.theorems.verdict is not None
        assert found.theorems.verdict.holds
        assert not found.theorems.missing


def test_a_constraint_with_a_square() -> None:
    """(x + y)^2 <= c: x y is greatest at x = y = sqrt(c)/2."""
    found = solved(
        'maximize = "x*y"\n[parameters]\nc = {}\n[variables]\nx = {}\ny = {}\n'
        '[[constraints]]\nexpression = "(x + y)^2 <= c"\n'
    )
    (piece,) = found.pieces
    (c,) = piece.expr.free_symbols
    assert piece.expr == c / 4  # type: ignore[operator]


def test_a_root_beside_other_terms() -> None:
    text = 'minimize = "sqrt(S + y) + b/y"\n[parameters]\nS = {}\nb = {}\n[variables]\ny = {}\n'
    for s, b in ((3.0, 5.0), (0.1, 40.0), (100.0, 0.5)):
        found = solved(text, f"S={s}", f"b={b}")
        y = np.geomspace(1e-4, 1e5, 400_001)
        best = float(np.min(np.sqrt(s + y) + b / y))
        assert found.numerical is not None
        assert found.numerical.value == pytest.approx(best, rel=1e-7)


# Signs


def test_a_difference_is_read_as_what_is_moved_across() -> None:
    minus = solved(FSDP.format("N*tau <= f*P_l*n/C - w*P_l/W"))
    plus = solved(FSDP.format("N*tau + w*P_l/W <= f*P_l*n/C"))
    times = solved(FSDP.format("N*tau <= P_l*(f*n/C - w/W)"))
    by_hand = (2 * 2.1e8 * 8192 / 4e14 - 2 * 2.1e8 / 5e10) / 1e-5
    for found in (minus, plus, times):
        assert found.exact
        assert value(found) == pytest.approx(by_hand, rel=1e-12)
        assert [p.expr for p in found.pieces] == [p.expr for p in plus.pieces]
        assert [p.region for p in found.pieces] == [p.region for p in plus.pieces]
    none = solved(FSDP.format("N*tau <= P_l*(f*n/C - w/W)"), "C=1e15")
    assert none.status == "infeasible"


@pytest.mark.parametrize("g", ["g", "3", "g + 1/2"])
def test_what_is_left_below_an_upper_bound_is_positive(g: str) -> None:
    found = solved(
        f'minimize = "x*(1 - a) + c/(x*(1 - a^({g})))"\n[parameters]\na = {{ upper = 1 }}\n'
        "c = {}\ng = {}\n[variables]\nx = {}\n",
        "a=0.7", "c=3", "g=2",
    )
    power = {"g": 2, "3": 3, "g + 1/2": 2.5}[g]
    assert value(found) == pytest.approx(2 * math.sqrt(3 * 0.3 / (1 - 0.7**power)), rel=1e-12)


def test_a_variable_in_an_exponent_is_refused() -> None:
    with pytest.raises(InputError, match=r"line 1, minimize: .* has a variable in its exponent: "
                                         r"declare g as a parameter and solve for several"):
        solved('minimize = "g + (1 - a)/(1 - a^(g+1))"\n[parameters]\na = { upper = 1 }\n'
               "[variables]\ng = {}\n")


# Units


@pytest.mark.parametrize(
    ("literals", "notes"),
    [
        (("4", "4"), {"bandwidth": ["4 FLOP/token"], "latency": ["4 FLOP/token^2"]}),
        (("4 FLOP/token", "4 FLOP/token^2"), {}),
        (("4", "4 FLOP/token^2"), {"bandwidth": ["4 FLOP/token"]}),
    ],
)
def test_numbers_that_count_flop(
    literals: tuple[str, str], notes: dict[str, list[str]]
) -> None:
    """The largest ring is s over the longest chunk that hides; 2000 by an independent solver."""
    found = solved(RING.format(*literals))
    assert value(found) == pytest.approx(2000, rel=1e-12)
    chunk = max(1024 * 2 * 4e14 / (2 * 16384 * 5e10), math.sqrt(1e-5 * 4e14 / (4 * 16384)))
    assert value(found) == pytest.approx(1e6 / chunk, rel=1e-12)
    assert found.problem.unit == "1"
    data: Any = found.to_dict()
    said = {c["name"]: c["counted"] for c in data["constraints"] if c["counted"]}
    assert said == notes
    text = repr(found.document())
    for name, (literal,) in notes.items():
        assert f"In {name} the number 4 of " in text
        assert f" stands for {literal}." in text


def test_a_unit_that_is_no_count_is_refused() -> None:
    with pytest.raises(InputError, match=r"constraint 'latency': the left side is in s, the right "
                                         r"in s\*token\^2/FLOP; if FLOP are counted, write the "):
        solved(RING.format("4", "d"))
    with pytest.raises(InputError, match="the right in byte"):
        solved(RING.format("4", "4").replace("tau <= 4*c^2*d/C", "tau <= 4*w"))


# Names


def test_words_of_languages_are_names() -> None:
    """Of lambda*in + is/in the least value is 2 sqrt(lambda is)."""
    text = (
        'minimize = "lambda*in + is*cost/(in*machine)"\n[parameters]\nlambda = {}\nis = {}\n'
        "cost = {}\nmachine = {}\n[variables]\nin = {}\n"
    )
    sets = ("lambda=3", "is=7", "cost=2", "machine=5")
    found = solved(text, *sets)
    assert value(found) == pytest.approx(2 * math.sqrt(3 * 7 * 2 / 5), rel=1e-12)
    assert found.theorems.verdict is not None
    assert found.theorems.verdict.holds
    scope: dict[str, Any] = {}
    exec(found.code("python"), scope)  # noqa: S102 - written by the engine
    assert scope["optimum"](lambda_=3, is_=7, cost=2, machine=5) == pytest.approx(value(found))
    built_in = solved(
        'minimize = "cost*t"\n[parameters]\ncost = { unit = "USD/s" }\n'
        '[variables]\nt = { unit = "s" }\n[[constraints]]\n'
        'expression = "cost.training_flop/(cost.devices*machine.flop_rate) <= t"\n'
    )
    assert {"cost", "d_ff", "C"} <= {str(s) for s in built_in.pieces[0].expr.free_symbols}


def test_names_are_typeset_as_the_file_says() -> None:
    found = ss.solve(
        'minimize = "x + tau/x + beta_1"\n[parameters]\n'
        "tau = { latex = '\\hat t_{step}' }\nbeta_1 = {}\n[variables]\nx = { latex = \"N^*\" }\n"
    )
    assert isinstance(found, ProblemAnswer)
    tex = printed(found)
    for part in (r"\hat{t}_{step}", r"{N^{*}}", r"\beta_{1}"):
        assert part in tex
        assert part in json.loads(json.dumps(found.to_dict()))["objective"]["latex"]
    other = ss.solve('minimize = "x + tau/x"\n[parameters]\ntau = {}\n[variables]\nx = {}\n')
    assert r"\hat" not in printed(other)
    assert r"\tau" in printed(other)


# Decimals


def test_decimals_in_exponents_keep_readable_regions() -> None:
    """B <= A^0.33 and B <= 3^0.33 D^0.5: the lesser of the two."""
    found = ss.solve(
        'maximize = "B"\n[parameters]\nA = {}\nD = {}\n[variables]\nB = {}\n[[constraints]]\n'
        'name = "c1"\nexpression = "B <= A^0.33"\n[[constraints]]\nname = "c2"\n'
        'expression = "B <= D^0.5*3^0.33"\n'
    )
    assert isinstance(found, ProblemAnswer)
    text = page_of(found).printed(found, "text")
    for part in ("B <= A^0.33", "B <= 3^0.33 sqrt(D)", "rules where  A^0.66 <= 3^0.66 D"):
        assert part in text
    assert not re.search(r"\d{9}|\^100|\^33", text)
    data: Any = found.to_dict()
    assert [c["sympy"] for c in data["constraints"]] == [
        "B <= A**(33/100)", "B <= 3**(33/100)*sqrt(D)"
    ]
    assert data["pieces"][0]["region"][0]["sympy"] == "A**(33/50) <= 3**(33/50)*D"
    for a, d in ((2.0, 5.0), (900.0, 5.0), (1e6, 1e-3)):
        at = found.problem.parameters
        values = {at[0].symbol: sp.Rational(a), at[1].symbol: sp.Rational(d)}
        best = min(a**0.33, 3**0.33 * d**0.5)
        assert [float(p.value(values) or 0) for p in found.pieces if p.holds(values)] == [
            pytest.approx(best, rel=1e-12)
        ]


@pytest.mark.parametrize("power", ["x^(1/2)", "x**0.5", "sqrt(x)", "x**(2/4)", "x^0.50"])
def test_ways_to_write_a_root(power: str) -> None:
    (piece,) = solved(
        f'minimize = "c/{power}"\n[parameters]\nc = {{}}\nk = {{}}\n[variables]\nx = {{}}\n'
        '[[constraints]]\nexpression = "x <= k**0.5"\n'
    ).pieces
    assert str(piece.expr) == "c/k**(1/4)"


# Division by a difference


def test_a_delay_of_a_queue() -> None:
    """min c m + h/(m - l) is c l + 2 sqrt(c h): by the derivative in m - l."""
    text = (
        'minimize = "c*m + h/(m - l)"\n[parameters]\nc = {}\nh = {}\nl = {}\n[variables]\nm = {}\n'
    )
    for c, h, rate in ((1, 2, 3), (0.3, 11, 0.7), (40, 0.02, 5)):
        found = solved(text, f"c={c}", f"h={h}", f"l={rate}")
        best = c * rate + 2 * math.sqrt(c * h)
        assert found.numerical is not None
        assert found.numerical.value == pytest.approx(best, rel=1e-7)
    assert "taken to be positive" in printed(found)


def test_a_bound_on_a_delay() -> None:
    found = solved(
        'minimize = "m"\n[parameters]\nT = {}\nl = {}\n[variables]\nm = {}\n'
        '[[constraints]]\nname = "delay"\nexpression = "1/(m - l) <= T"\n', "T=0.5", "l=3",
    )
    assert found.exact
    assert value(found) == pytest.approx(5, rel=1e-12)
