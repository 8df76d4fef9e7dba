"""Known answers, each against an independent route: a hand formula, a root, a search."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy as sp

from places import DATA, ROOT
from symscale.errors import InfeasibleError, InputError, UnboundedError
from symscale.language.parsing import parse_expression
from symscale.problems.answer import (
    ProblemAnswer,
    answer,
)
from symscale.problems.file import load_problem
from symscale.problems.pieces import AnswerPiece
from symscale.problems.problem import Problem
from symscale.problems.settings import read_problem_settings
from symscale.problems.sweep import read_axis

PROBLEMS = ROOT / "docs" / "problems"
BOOK = DATA / "known-closed-forms.csv"


def book(name: str) -> float:
    """A value of the book, recomputed from its inputs."""
    lines = [x for x in BOOK.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    (row,) = [r for r in csv.DictReader(lines) if r["id"] == name]
    return float(row["value_recomputed"])


def example(name: str, *sets: str) -> ProblemAnswer:
    problem = load_problem(str(PROBLEMS / f"{name}.toml"))
    return answer(problem, read_problem_settings(problem, sets))


def own(tmp_path: Path, text: str, *sets: str) -> ProblemAnswer:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    problem = load_problem(str(path))
    return answer(problem, read_problem_settings(problem, sets))


def symbols_of(problem: Problem) -> dict[str, Any]:
    return {q.entry.name: q.symbol for q in (*problem.variables, *problem.parameters)}


def piece(found: ProblemAnswer, name: str) -> AnswerPiece:
    (only,) = [p for p in found.pieces if p.name == name]
    return only


def value(found: ProblemAnswer, expr: sp.Expr | None = None) -> float:
    """The ruling piece's value, or that of an expression, at the numbers given."""
    if expr is None:
        assert found.ruling is not None
        expr = found.ruling.expr
    return float(sp.N(expr.xreplace(dict(found.values)), 25))


def assert_every_piece_proved(found: ProblemAnswer) -> None:
    assert set(found.theorems.missing) <= {"cover"}
    for piece in found.pieces:
        assert piece.name in found.theorems.shown or f"{piece.name} (1)" in found.theorems.shown


def same(left: sp.Expr, right: sp.Expr) -> bool:
    return bool(sp.simplify(left - right) == 0)


# Mixed parallelism

MIXED = ("B=48000", "D=8192", "F=32768", "N=64", "W=9e10")


def test_mixed_parallelism_has_two_pieces() -> None:
    found = example("mixed-parallelism")
    assert [p.name for p in found.pieces] == ["interior", "X >= 1"]
    assert found.exact
    s = symbols_of(found.problem)
    inside, edge = (piece(found, n) for n in ("interior", "X >= 1"))
    hand = sp.sqrt(s["B"] / s["F"] * s["M_X"] / s["M_Y"] * s["N"])
    assert same(inside.point[s["X"]], hand)
    assert edge.point[s["X"]] == 1
    both = 4 * s["w"] * s["D"] * sp.sqrt(s["B"] * s["F"] / (s["M_X"] * s["M_Y"] * s["N"])) / s["W"]
    assert same(inside.expr, both)
    alone = 2 * s["w"] * s["D"] * s["F"] / (s["N"] * s["W"] * s["M_X"])
    assert same(edge.expr, alone + 2 * s["w"] * s["B"] * s["D"] / (s["W"] * s["M_Y"]))
    ((left, right, _),) = inside.conditions
    assert same(left / right, s["F"] * s["M_Y"] / (s["B"] * s["M_X"] * s["N"]))
    assert edge.conditions[0][:2] == (right, left)


def test_mixed_parallelism_in_numbers() -> None:
    found = example("mixed-parallelism", *MIXED)
    x = symbols_of(found.problem)["X"]
    assert found.ruling is not None
    assert value(found, found.ruling.point[x]) == pytest.approx(book("x_opt"), rel=1e-14)
    assert book("x_opt") == 13.693063937629153
    assert found.numerical is not None
    assert found.numerical.value == pytest.approx(value(found), rel=1e-9)
    few = example("mixed-parallelism", "B=100", *MIXED[1:])
    assert few.ruling is not None
    assert few.ruling.name == "X >= 1"


@pytest.mark.parametrize(
    ("name", "share"), [("mixed-parallelism", 2), ("overlapped-parallelism", 1)]
)
def test_mixed_parallelism_is_compute_bound_iff(name: str, share: int) -> None:
    """T_math/T_comms = sqrt(B F M_X M_Y/N)/(2 A); the overlapped bound is 4 times lower."""
    found = example(name)
    s = symbols_of(found.problem)
    rate = sp.Symbol("C", positive=True)
    inside = found.pieces[0]
    math_time = 4 * s["B"] * s["D"] * s["F"] / (s["N"] * rate)
    ratio = (math_time / inside.expr).subs(s["w"], 2)
    intensity = rate / s["W"]
    hand = sp.sqrt(s["B"] * s["F"] * s["M_X"] * s["M_Y"] / s["N"]) / (share * intensity)
    assert same(ratio, hand)
    # Solve ratio = 1 for B/N, with the book's numbers.
    at = {s["F"]: 32768, s["M_X"]: 2, s["M_Y"]: 1, s["B"]: s["N"] * s["D"]}
    (root,) = sp.solve(ratio.subs(at).subs(rate, 2550 * s["W"]) - 1, s["D"])
    assert float(root) == pytest.approx(book("mixed_bound") * share**2 / 4, rel=1e-12)


def test_plus_and_max_in_one_file(tmp_path: Path) -> None:
    """Changing the sum into a maximum in the text halves the time, in the interior."""
    text = (PROBLEMS / "mixed-parallelism.toml").read_text(encoding="utf-8")
    before = "2*w*D*F*X/(N*W*M_X) + 2*w*B*D/(X*W*M_Y) <= t_comms"
    assert text.count(before) == 1
    after = "max(2*w*D*F*X/(N*W*M_X), 2*w*B*D/(X*W*M_Y)) <= t_comms"
    one, other = (own(tmp_path, t, *MIXED) for t in (text, text.replace(before, after)))
    assert value(one) == pytest.approx(2 * value(other), rel=1e-14)


TENSOR = """
minimize = "t_comms"
[parameters]
B = {}
D = {}
F = {}
C = { unit = "FLOP/s" }
W = { unit = "byte/s" }
w = { unit = "byte", default = 2 }
M = {}
k = { unit = "FLOP", default = 4 }
[variables]
t_comms = { unit = "s" }
t_math = { unit = "s" }
n = { lower = 1 }
[[constraints]]
name = "words"
expression = "{words} <= t_comms"
[[constraints]]
name = "arithmetic"
expression = "k*B*D*F/(n*C) == t_math"
[[constraints]]
name = "hidden"
expression = "t_comms <= t_math"
"""


@pytest.mark.parametrize(
    ("words", "sense", "bound"),
    [
        ("2*w*D*F/(W*M)", "maximize", "B*M*W*k/(2*C*w)"),  # data: n <= B M/A
        ("2*w*B*D/(W*M)", "maximize", "F*M*W*k/(2*C*w)"),  # tensor: n <= M F/A
    ],
)
def test_compute_bound_conditions(tmp_path: Path, words: str, sense: str, bound: str) -> None:
    """The largest degree at which communication hides behind arithmetic."""
    text = TENSOR.replace("{words}", words).replace('minimize = "t_comms"', f'{sense} = "n"')
    found = own(tmp_path, text)
    (only,) = found.pieces
    names = symbols_of(found.problem)
    assert same(only.expr, parse_expression(bound, names))
    at = {names["k"]: 4, names["w"]: 2, names["C"]: 2550 * names["W"], names["M"]: 1}
    per_device = only.expr.subs(at)
    if names["B"] in only.expr.free_symbols:
        assert float(names["B"] / per_device) == pytest.approx(book("dp_fsdp_bound"))
        three = only.expr.subs({**at, names["M"]: 3})
        assert float(names["B"] / three) == pytest.approx(book("dp_fsdp_bound_axes"))
    else:
        assert float(per_device.subs(names["F"], 30000)) == pytest.approx(book("tp_bound"))


# Pipelines, tensor splits, allocations, checkpoints


def test_pipeline_microbatches() -> None:
    found = example("pipeline-microbatches")
    s = symbols_of(found.problem)
    (only,) = found.pieces
    assert found.exact
    assert same(only.point[s["m"]], sp.sqrt((s["p"] - 1) * s["t_c"] / s["t_o"]))
    hand = found.problem.objective.subs(s["m"], only.point[s["m"]])
    assert same(sp.expand(hand), sp.expand(only.expr))


def test_pipeline_of_one_stage() -> None:
    """p - 1 vanishes: nothing keeps m up, and the least value t_c is only approached."""
    found = example("pipeline-microbatches", "p=1", "t_o=1", "t_c=3")
    assert not found.attained
    assert (found.status, found.exact) == ("infimum", True)
    assert found.value == 3
    assert found.numerical is not None
    assert found.numerical.value == pytest.approx(3, rel=1e-9)


def test_largest_tensor_split() -> None:
    """AM-GM: N_TP,model d_ff = N_TP,ff d_model."""
    found = example("network-energy")
    s = symbols_of(found.problem)
    inside = next(p for p in found.pieces if not any(">= 1" in b for b in p.binding))
    point = inside.point
    assert same(point[s["N_TP_model"]] * s["d_ff"], point[s["N_TP_ff"]] * s["d_model"])
    assert same(point[s["N_TP_model"]] * point[s["N_TP_ff"]], s["N_0"])
    assert found.ruling is inside


def chinchilla(numbers: dict[str, float]) -> tuple[float, float]:
    """P* and D* from the root of the derivative, in numbers."""
    p = sp.Symbol("p", positive=True)
    at = {k: sp.Rational(str(v)) for k, v in numbers.items()}
    loss = at["A"] * p ** -at["a"] + at["B_"] * (at["T"] / (6 * p)) ** -at["b_"]
    u = sp.Symbol("u", real=True)
    slope = sp.diff(loss.subs(p, sp.exp(u)), u)
    root = sp.nsolve(slope, u, 24, prec=40)
    best = sp.exp(root)
    return float(best), float(at["T"] / 6 / best)


def test_compute_optimal_allocation() -> None:
    numbers = {"a": 0.34, "b_": 0.28, "A": 406.4, "B_": 410.7, "T": 5.76e23}
    found = example("compute-optimal", "T=5.76e23")
    s = symbols_of(found.problem)
    assert found.ruling is not None
    least_p, least_d = chinchilla(numbers)
    assert value(found, found.ruling.point[s["P"]]) == pytest.approx(least_p, rel=1e-9)
    assert value(found, found.ruling.point[s["D"]]) == pytest.approx(least_d, rel=1e-9)


def test_compute_optimal_allocation_with_symbolic_exponents() -> None:
    problem = load_problem(str(PROBLEMS / "compute-optimal.toml"))
    free = tuple(
        replace(q, default=None) if q.entry.name in ("a", "b_") else q for q in problem.parameters
    )
    found = answer(replace(problem, parameters=free))
    (only,) = found.pieces
    assert found.exact
    s = symbols_of(found.problem)
    share = 1 / (s["a"] + s["b_"])
    hand = (s["a"] * s["A"] / (s["b_"] * s["B_"])) ** share * (s["T"] / s["f"]) ** (s["b_"] * share)
    random = Random(3)
    for _ in range(5):
        numbers = {
            "a": round(random.uniform(0.1, 0.9), 3), "b_": round(random.uniform(0.1, 0.9), 3),
            "A": 406.4, "B_": 410.7, "T": 1e21,
        }  # fmt: skip
        at: Any = {s[k]: sp.Rational(str(v)) for k, v in numbers.items()} | {s["f"]: 6}
        mine = float(sp.N(only.point[s["P"]].xreplace(at), 25))
        assert mine == pytest.approx(float(sp.N(hand.xreplace(at), 25)), rel=1e-12)
        assert mine == pytest.approx(chinchilla(numbers)[0], rel=1e-9)


def test_checkpoint_interval() -> None:
    found = example("checkpoint-interval")
    s = symbols_of(found.problem)
    (only,) = found.pieces
    assert same(only.point[s["x"]], sp.sqrt(2 * s["t_c"] * s["M"]))
    assert value(found, only.point[s["x"]]) == pytest.approx(math.sqrt(2 * 60 * 10800), rel=1e-14)


# Regimes


def test_three_regimes() -> None:
    found = example("sequential-bounds")
    assert len(found.pieces) == 3
    s = symbols_of(found.problem)
    hand = [
        s["C"] * s["t_d"] * s["N_0"], s["C"] * s["t_d"] * s["b_0"] / s["n"], s["J_0"] / s["e"],
    ]  # fmt: skip
    assert all(any(same(p.expr, h) for p in found.pieces) for h in hand)
    numbers = {"C": 1e15, "t_d": 1e7, "n": 100, "b_0": 4e6, "e": 1e-12}
    rules = set()
    for n_0, j_0 in ((1e3, 1e20), (1e6, 1e20), (1e6, 1e10)):
        at = {**numbers, "N_0": n_0, "J_0": j_0}
        here = example("sequential-bounds", *(f"{k}={v}" for k, v in at.items()))
        best = min(1e15 * 1e7 * n_0, 1e15 * 1e7 * 4e6 / 100, j_0 / 1e-12)
        assert value(here) == pytest.approx(best, rel=1e-12)
        assert here.ruling is not None
        rules.add(here.ruling.name)
    assert len(rules) == 3


def test_no_finite_optimum(tmp_path: Path) -> None:
    text = 'minimize = "x/y + y/z"\n[variables]\nx = { lower = 1 }\ny = {}\nz = {}\n'
    with pytest.raises(UnboundedError, match="has no bound: it falls for ever"):
        own(tmp_path, text).check()
    with pytest.raises(UnboundedError, match="grows for ever"):
        own(tmp_path, 'maximize = "x"\n[variables]\nx = { lower = 2 }\n').check()


INFEASIBLE = """
minimize = "x"
[parameters]
a = { default = 3 }
b = { default = 2 }
[variables]
x = {}
y = {}
[[constraints]]
name = "up"
expression = "x + y <= b"
[[constraints]]
name = "down"
expression = "x*y >= a"
"""


def test_infeasible_at_the_defaults(tmp_path: Path) -> None:
    """Its largest terms alone can be satisfied; the sums cannot: (b/2)^2 < a."""
    with pytest.raises(InfeasibleError, match="up, down"):
        own(tmp_path, INFEASIBLE).check()
    own(tmp_path, INFEASIBLE, "b=4").check()


def test_infeasible_always(tmp_path: Path) -> None:
    text = 'minimize = "x"\n[variables]\nx = { upper = 3 }\n[[constraints]]\nname = "floor"\n'
    with pytest.raises(InfeasibleError, match="floor, x <= 3 together"):
        own(tmp_path, text + 'expression = "x >= 4"\n').check()
    with pytest.raises(InfeasibleError, match=r"'floor': .* can never hold"):
        own(tmp_path, text + 'expression = "2*x <= x"\n').check()


def test_a_degenerate_vertex(tmp_path: Path) -> None:
    """Four constraints meet at x = y = a; any two of them would do."""
    text = 'maximize = "x*y"\n[parameters]\na = {}\n[variables]\nx = {}\ny = {}\n'
    for k, relation in enumerate(("x <= a", "y <= a", "x*y <= a^2", "x*y^2 <= a^3")):
        text += f'[[constraints]]\nname = "c{k}"\nexpression = "{relation}"\n'
    found = own(tmp_path, text)
    (only,) = found.pieces
    s = symbols_of(found.problem)
    assert same(only.expr, s["a"] ** 2)
    assert same(only.point[s["x"]] * only.point[s["y"]], s["a"] ** 2)
    assert_every_piece_proved(found)
    sums = own(tmp_path, text.replace('maximize = "x*y"', 'minimize = "1/x + 1/y"'), "a=2")
    assert value(sums) == pytest.approx(1, rel=1e-15)


# The rest of an answer


def test_a_budget(tmp_path: Path) -> None:
    """maximize x y under a x + b y <= k."""
    text = (
        'maximize = "x*y"\n[parameters]\na = {}\nb = {}\nk = {}\n[variables]\nx = {}\ny = {}\n'
        '[[constraints]]\nname = "budget"\nexpression = "a*x + b*y <= k"\n'
    )
    found = own(tmp_path, text)
    (only,) = found.pieces
    s = symbols_of(found.problem)
    assert found.exact
    assert only.name == "budget"
    assert same(only.expr, s["k"] ** 2 / (4 * s["a"] * s["b"]))
    assert same(only.point[s["x"]], s["k"] / (2 * s["a"]))


def test_a_constraint_that_binds_beside_the_sum_gives_its_name(tmp_path: Path) -> None:
    text = (
        'minimize = "x + 4/x"\n[parameters]\nM = {}\n[variables]\nx = {}\n'
        '[[constraints]]\nname = "memory"\nexpression = "x <= M"\n'
    )
    assert {p.name for p in own(tmp_path, text).pieces} == {"interior", "memory"}
    ruling = own(tmp_path, text, "M=1").ruling
    assert ruling is not None
    assert ruling.name == "memory"


def test_bounds_stand_where_there_is_no_closed_form(tmp_path: Path) -> None:
    text = 'minimize = "x + a*x^2 + x^3 + 1/x"\n[parameters]\na = {}\n[variables]\nx = {}\n'
    found = own(tmp_path, text, "a=2")
    assert not found.exact
    assert found.bounds is not None
    assert found.factor is not None
    low, high = (float(b.at(found.values)) for b in (found.bounds.loose, found.bounds.tight))
    x = symbols_of(found.problem)["x"]
    root = float(sp.nsolve(1 + 4 * x + 3 * x**2 - 1 / x**2, x, 0.5))
    best = root + 2 * root**2 + root**3 + 1 / root
    assert low <= best <= high
    assert high / low <= float(found.factor) * (1 + 1e-12)
    assert found.numerical is not None
    assert found.numerical.value == pytest.approx(best, rel=1e-9)


def test_integers_are_reported_beside_the_closed_form() -> None:
    found = example("pipeline-microbatches", "p=8", "t_o=1ms", "t_c=2")
    assert found.ruling is not None
    assert found.integers is not None
    m = symbols_of(found.problem)["m"]
    corners = {corner.numbers[m]: corner.value for corner in found.integers.corners}
    assert set(corners) == {118, 119}
    for whole, gives in corners.items():
        assert gives == pytest.approx((1 + 7 / whole) * (whole * 0.001 + 2), rel=1e-9)
    assert found.integers.proved
    assert found.integers.best is not None
    assert found.integers.best.value == min(corners.values())


def test_elasticities_are_slopes() -> None:
    """Against differences of the logarithm."""
    found = example("mixed-parallelism", "B=100", *MIXED[1:])
    assert found.ruling is not None
    table = found.ruling.elasticities(found.values)
    step = sp.Rational(1, 10**6)
    for s, slope in table.items():
        moved: Any = {**found.values, s: found.values[s] * (1 + step)}
        grown = math.log(float(sp.N(found.ruling.expr.xreplace(moved), 25)) / value(found))
        assert float(slope) == pytest.approx(grown / math.log1p(1e-6), abs=1e-5)


def test_settings_of_formulas() -> None:
    found = example("mixed-parallelism", "B=5*N")
    s = symbols_of(found.problem)
    assert all(s["B"] not in p.expr.free_symbols for p in found.pieces)
    assert same(
        piece(found, "interior").point[s["X"]] ** 2,
        5 * s["N"] ** 2 * s["M_X"] / (s["F"] * s["M_Y"]),
    )


def test_settings_of_sums() -> None:
    """A parameter may be a sum of others, or a difference whose sign the bounds fix."""
    found = example("mixed-parallelism", "B=2*F + 3*N")
    s = symbols_of(found.problem)
    assert same(
        piece(found, "interior").point[s["X"]] ** 2,
        (2 + 3 * s["N"] / s["F"]) * s["N"] * s["M_X"] / s["M_Y"],
    )
    assert_every_piece_proved(found)
    pipeline = example("pipeline-microbatches", "t_c=(p - 1)*t_o")
    p, m = (symbols_of(pipeline.problem)[n] for n in "pm")
    at: Any = {p: sp.Integer(7)}  # (p - 1) t_c/t_o is (p - 1)^2
    assert pipeline.pieces[0].point[m].xreplace(at) == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [("B=N - F", "give bounds on F, N"), ("B=-N*F", "not positive"), ("B=max(N, F)", "maximum")],
)
def test_settings_whose_sign_is_open(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        example("mixed-parallelism", text)


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_has_an_answer_and_certificates(path: Path) -> None:
    found = answer(load_problem(str(path)))
    found.check()
    assert found.exact
    assert_every_piece_proved(found)


def test_numbers_beyond_floating_point(tmp_path: Path) -> None:
    text = 'minimize = "x + a^3/x"\n[parameters]\na = { default = 1e300 }\n[variables]\nx = {}\n'
    found = own(tmp_path, text)
    assert found.ruling is not None
    large = found.ruling.value(found.values)
    assert large is not None
    assert large / sp.Integer(10) ** 450 == pytest.approx(2)
    assert found.numerical is None


def test_axes_of_sweeps_are_read_from_problems() -> None:
    problem = load_problem(str(PROBLEMS / "pipeline-microbatches.toml"))
    with pytest.raises(InputError, match="p must be at least 1"):
        read_axis("p=0.5..3", problem)
