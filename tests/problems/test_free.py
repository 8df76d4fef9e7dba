"""What the pages of `solve` say of variables that the optimum leaves free, and of ties."""

import json
import math
from pathlib import Path

import sympy as sp

import symscale as ss
from commands import run
from symscale.algebra.products.limit import Condition
from symscale.pages.formats.json import condition_data
from symscale.pages.formulas import formula
from symscale.pages.formulas.mathml import mathml
from symscale.pages.of.functions import problem_functions
from symscale.problems.answer import answer
from symscale.problems.file import problem_of_text

PRODUCTS = Path(__file__).parents[1] / "data" / "products"

FREE = """
title = "t"
maximize = "T"
[parameters]
A = {}
B = {}
J = {}
[variables]
T = {}
N = {}
p = {}
q = {}
[[constraints]]
name = "arith"
expression = "T <= N"
[[constraints]]
name = "split"
expression = "N == p*q"
[[constraints]]
name = "cap1"
expression = "N <= A"
[[constraints]]
name = "cap2"
expression = "N <= B"
[[constraints]]
name = "energy"
expression = "T <= J"
"""
TIED = """
title = "t"
minimize = "t"
[parameters]
A = {}
B = {}
D = {}
[variables]
x = {}
t = {}
[[constraints]]
name = "c1"
expression = "x == A"
[[constraints]]
name = "c2"
expression = "x == B"
[[constraints]]
name = "c3"
expression = "t >= x*D"
"""


def test_a_free_variable_has_a_range_and_no_formula(tmp_path: Path) -> None:
    file = tmp_path / "free.toml"
    file.write_text(FREE, encoding="utf-8")
    given = ("--set", "A=3", "--set", "B=4", "--set", "J=2")
    lines = run("solve", str(file), *given).out
    assert "anything from J to the least of A, B" in " ".join(lines.split())
    assert "from 2 to 3" in lines
    assert "anything above 0" in lines
    data = json.loads(run("solve", str(file), *given, "--format", "json").out)
    energy = data["pieces"][0]
    assert [e["sympy"] for e in energy["free"]["N"]["at_least"]] == ["J"]
    assert [e["sympy"] for e in energy["free"]["N"]["at_most"]] == ["A", "B"]
    assert set(energy["free"]) == {"N", "p", "q"}
    assert [p["sympy"] for p in energy["fixed_products"]] == ["N/(p*q)"]
    assert data["variables"]["N"]["optimum"]["unique"] is False
    assert data["variables"]["T"]["optimum"]["unique"] is True
    (other,) = [p for p in data["pieces"] if p["sympy"] == "A"]
    (product,) = other["fixed_products"]
    assert (product["sympy"], product["equals"]["sympy"]) == ("p*q", "A")
    assert "N" not in other["free"]


def test_no_point_of_one_witness_is_said_of_a_piece() -> None:
    for piece in answer(problem_of_text(FREE)).pieces:
        assert all(not place.region for place in piece.places)
        assert piece.point == piece.places[0].point
        for numbers in ((2, 3, 4), (2, 4, 3), (5, 3, 4), (5, 4, 3)):
            at = {sp.Symbol(n, positive=True): sp.Integer(v)
                  for n, v in zip("JAB", numbers, strict=True)}
            if not piece.holds(at):
                continue
            point = {str(x): e.xreplace(at) for x, e in piece.point.items()}
            assert point["T"] <= point["N"] <= min(numbers[1:])
            assert point["N"] == point["p"] * point["q"]


def test_tied_parameters_print_as_equal() -> None:
    found = answer(problem_of_text(TIED))
    (piece,) = found.pieces
    (relation,) = piece.region
    assert isinstance(relation, sp.Eq)
    assert found.limit is not None
    (condition,) = [c for c in found.limit.pieces[0].region if c.equal]
    shown = formula.condition_of(condition)
    assert formula.text(shown) == "A = B"
    assert formula.latex(shown) == "A = B"
    assert "<mo>=</mo>" in mathml(shown)
    assert condition_data(condition)["sympy"] == "Eq(A, B)"
    assert condition.name == "A == B"
    strict = formula.condition(Condition(condition.ratio).ratio, sp.Lt)
    assert formula.text(strict) == "A < B"
    function = problem_functions(found).functions[0]
    space: dict[str, object] = {}
    exec(problem_functions(found).code("python"), space)  # noqa: S102  # code that we wrote
    optimum: object = space["optimum"]
    assert function.name == "optimum"
    assert callable(optimum)
    assert optimum(A=2, B=2, D=3) == 6
    assert math.isnan(optimum(A=2, B=3, D=3))


def test_a_cover_of_tied_parameters_is_not_called_one_of_all() -> None:
    """Where A = B is assumed, the cover says nothing of other parameters."""
    said = {
        name: ss.solve(str(PRODUCTS / f"{name}.toml")).certificates().summary()
        for name in ("g-l12_eq_param_only", "g-l01")
    }
    assert "cover of the parameters in its region" in said["g-l12_eq_param_only"]
    assert "cover of all parameters" in said["g-l01"]
