"""Optima that one share decides, against the numerical optimum and against study by hand."""

import json
import math
import random

import mpmath as mp
import pytest
import sympy as sp

from places import DATA
from symscale.algebra.curves.curve import Curve
from symscale.algebra.curves.solve import beyond
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.sift import closed_forms
from symscale.errors import NoAnswerError
from symscale.kernel.check import check
from symscale.language.symbols import symbols
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem
from symscale.problems.pieces import AnswerPiece, Values

CURVES = DATA / "curves"
BOX = 10.0


def solved(name: str, **sets: str) -> ProblemAnswer:
    """A problem of the data, with other numbers."""
    problem = load_problem(str(CURVES / f"{name}.toml"))
    named = {q.entry.name: q.symbol for q in problem.parameters}
    return answer(problem, {named[n]: sp.Rational(v) for n, v in sets.items()})


def drawn(found: ProblemAnswer, rng: random.Random) -> dict[sp.Symbol, sp.Rational]:
    """Parameters at random about the given ones; exponents stay."""
    return {
        s: v if s in found.problem.exponents
        else sp.Rational(str(float(f"{float(v) * BOX ** rng.uniform(-1, 1):.9g}")))
        for s, v in found.values.items()
    }


def ruling(found: ProblemAnswer, values: Values) -> AnswerPiece | None:
    return next((p for p in found.pieces if p.holds(values)), None)


@pytest.mark.parametrize("name", ["cauchy", "served", "latency", "triple"])
def test_they_are_the_numerical_optimum(name: str) -> None:
    found, rng = solved(name), random.Random(name)
    compared = 0
    for _ in range(12):
        values = drawn(found, rng)
        try:
            best = minimize(found.program, values).value
        except NoAnswerError:
            assert ruling(found, values) is None
            continue
        piece = ruling(found, values)
        assert piece is not None
        value = piece.value(values)
        assert value is not None
        assert math.isclose(float(value), best, rel_tol=1e-6)
        compared += 1
    assert compared > 3


def test_two_budgets_in_closed_form() -> None:
    """By the inequality of Cauchy and Schwarz."""
    a, b, c = sp.symbols("a b c", positive=True)
    (piece,) = solved("cauchy").pieces
    assert piece.curve is None
    assert sp.simplify(piece.expr - (sp.sqrt(a) + sp.sqrt(b)) ** 2 / c) == 0


def scale(loss: float, exponent: float, share: float) -> float:
    return float((loss / share) ** (1 / exponent))


@pytest.mark.parametrize(
    ("model", "served", "smaller", "longer", "saved"),
    [(13e9, 2e12, 6.969e9, 2.165, 0.174), (30e9, 1e13, 13.61e9, 2.845, 0.280)],
)
def test_training_for_what_is_served(
    model: float, served: float, smaller: float, longer: float, saved: float
) -> None:
    """Table 1 of arXiv 2401.00448: the quality of a model trained as Chinchilla's."""
    a, b, small, large = 0.336, 0.283, 406.4, 410.7
    # Chinchilla's ratio: shares of the loss b/(a + b) and a/(a + b).
    loss = small * model**-a * (a + b) / b
    tokens = scale(large * (a + b) / (a * loss), b, 1.0)
    found = solved("served", R=f"{loss:.15g}", D_i=f"{served:.0f}")
    (piece,) = found.pieces
    point = {str(x): float(piece.number(e, found.values) or 0) for x, e in piece.point.items()}
    assert math.isclose(point["P"], smaller, rel_tol=1e-3)
    assert math.isclose(point["D"] / tokens, longer, rel_tol=1e-3)
    old = 6 * model * tokens + 2 * model * served
    assert math.isclose(1 - float(piece.value(found.values) or 0) / old, saved, abs_tol=1e-3)


def test_the_curve_of_training_for_what_is_served() -> None:
    found = solved("served")
    (piece,) = found.pieces
    curve = piece.curve
    assert curve is not None
    assert found.complete
    f, g, scale_d, loss, served = sp.symbols("f g B_ R D_i", positive=True)
    power = sp.Rational(1000, 283)
    assert curve.number == (
        Monomial.of(f / (served * g)) * Monomial.of(scale_d / loss) ** power
    )
    theorem = found.theorems.shown["loss"]
    assert "for every D_i > 0 there is such a number r" in theorem
    slopes = piece.elasticities(found.values)
    share = curve.share(found.values)
    assert share is not None
    assert mp.almosteq(mp.mpf(str(slopes[f])), share, 1e-12)
    assert mp.almosteq(mp.mpf(str(slopes[served])), 1 - share, 1e-12)


def test_symbols_in_exponents() -> None:
    """With no numbers at all: the kernel shows it for all positive exponents."""
    problem = load_problem(str(CURVES / "open.toml"))
    found = answer(problem)
    (piece,) = found.pieces
    assert piece.curve is not None
    b, f, g, scale_d, loss, served = sp.symbols("b f g B R D", positive=True)
    number = Monomial.of(f / (served * g)) * Monomial.of(scale_d / loss) ** (1 / b)
    assert piece.curve.number in (number, number**-1)
    assert '"loss" (curve)' in found.theorems.shown["cover"]
    assert not found.theorems.missing


def test_the_fastest_token_at_a_price() -> None:
    """Bound by price, memory and arithmetic at once: K^3 and r of a study by hand."""
    found = solved("latency", q="0.0003")
    piece = found.ruling
    assert piece is not None
    assert piece.curve is not None
    share = piece.curve.share(found.values)
    assert share is not None
    assert math.isclose(share, 0.26708, rel_tol=2e-5)
    assert math.isclose(float(piece.value(found.values) or 0), 6.79065e-3, rel_tol=1e-6)
    level = piece.curve.evaluate(piece.curve.number.expr, found.values)
    assert math.isclose(float(level or 0), 0.1056, rel_tol=1e-4)
    assert piece.name in found.theorems.shown


def test_every_curve_is_shown_by_the_kernel() -> None:
    for name in ("served", "latency", "triple"):
        found = solved(name)
        names = {p.name for p in found.pieces if p.curve is not None}
        assert names
        assert names <= set(found.theorems.shown), name
        assert check(json.dumps(found.theorems.data)).holds


N, J, K, P = symbols("N J K P")


def quadratic() -> GeometricProgram:
    """The least N with N + J/N at most K."""
    bound = SumConstraint("sum", (Monomial.of(N / K), Monomial.of(J / (N * K))), "<=", "")
    return GeometricProgram((N,), (Monomial.of(N),), (bound,), Domain())


def test_a_segment_without_an_end() -> None:
    """Whose law has a finite limit: beyond it nothing is feasible."""
    program = quadratic()
    (piece,), complete = closed_forms(program, beyond)
    assert complete
    curve = piece.along
    assert isinstance(curve, Curve)
    assert curve.segment.ray
    for j in (sp.Rational(1, 100), sp.Rational(2), sp.Rational(624, 100)):
        values = {J: j, K: sp.Integer(5)}
        assert piece.holds(values)
        least = (5 - sp.sqrt(25 - 4 * j)) / 2
        found = curve.evaluate(piece.expr, values)
        assert found is not None
        assert math.isclose(found, float(least), rel_tol=1e-12)
    assert not piece.holds({J: sp.Rational(626, 100), K: sp.Integer(5)})


def test_digits_near_the_ends() -> None:
    """Where the share differs from its end by less than floats tell, the limits are met."""
    terms = (Monomial.of(J * N**3), Monomial.of(K * N), Monomial.of(P / N))
    program = GeometricProgram((N,), terms, (), Domain())
    (piece,), _ = closed_forms(program, beyond)
    curve = piece.along
    assert isinstance(curve, Curve)
    for exponent in (-120, -40, 40, 120):
        values = {J: sp.Integer(10) ** exponent, K: sp.Integer(1), P: sp.Integer(1)}
        value = curve.evaluate(piece.expr, values)
        end = curve.asymptotes[exponent > 0]
        assert value is not None
        assert end is not None
        with mp.workdps(30):
            assert abs(value / end.evaluate(values) - 1) < mp.mpf(10) ** -15
        share = curve.share(values)
        assert share is not None
        assert curve.segment.low < share < curve.segment.high


def test_the_law_rises() -> None:
    (piece,) = solved("served").pieces
    curve = piece.curve
    assert curve is not None
    law = sp.lambdify(curve.symbol, curve.law.expr)
    levels = [law(k / 50) for k in range(1, 50)]
    assert levels == sorted(levels)

