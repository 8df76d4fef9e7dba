"""Points, regions and theorems of problems without sums: against an independent solver's optima,
against points sampled in each region, and by the kernel."""

import json
import random
from functools import cache
from pathlib import Path

import mpmath as mp
import pytest
import sympy as sp

from random_programs import random_case
from sampling import sample
from symscale.algebra.certify.limits import theorems_of
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Limit, Piece
from symscale.algebra.products.points import RegionPoint, points_in
from symscale.algebra.products.program import Program, at_most, equals
from symscale.algebra.products.ranges import ranges
from symscale.algebra.products.solve import solve
from symscale.errors import FormulaError, InfeasibleError, TooLargeError, UnboundedError
from symscale.kernel.check import FileVerdict, check
from symscale.language.symbols import symbols
from symscale.problems.answer import answer
from symscale.problems.file import load_problem

DATA = Path(__file__).parents[2] / "data" / "products"
CASES = json.loads((DATA / "cases.json").read_text())
CHANGES_FORM = {"g-e03_sym_1", "g-e04_talpha"}  # within the domain of an exponent
ERRORS = {"infeasible": InfeasibleError, "at infinity": UnboundedError}
BEYOND_FLOATS = ("g-e04_talpha", 0.999)  # 1.4e-797, which that solver calls infeasible

Values = dict[sp.Symbol, sp.Rational]


@cache
def limit_of(name: str) -> Limit:
    found = answer(load_problem(str(DATA / f"{name}.toml"))).limit
    assert found is not None
    return found


def points_of(limit: Limit, piece: Piece) -> list[RegionPoint]:
    return points_in(limit.points[piece.name])


def verdict(limit: Limit) -> tuple[FileVerdict, list[str]]:
    found = theorems_of(limit)
    return check(json.dumps(found.writer.data("test"))), found.missing


def require_attained(limit: Limit, piece: Piece, values: Values) -> None:
    """One of the piece's points is feasible at parameters where it rules, and attains it."""
    point = next(
        p for p in points_of(limit, piece)
        if all(m.compare_one(values) <= 0 for m in p.conditions)
    )
    program = limit.program
    for c in program.constraints:
        ratio = c.ratio.substitute(point.values).evaluate(values)
        assert ratio <= 1 + mp.mpf("1e-9")
        assert not c.is_equality or ratio >= 1 - mp.mpf("1e-9")
    reached = program.objective.substitute(point.values).evaluate(values)
    assert abs(reached / piece.at(values) - 1) < mp.mpf("1e-9")


def drawn(limit: Limit, rng: random.Random) -> Values:
    """Parameters anywhere in the domain."""
    values: Values = {}
    for s in limit.program.parameters:
        interval = limit.program.domain.exponents.get(s)
        share = sp.Rational(rng.randint(1, 99), 100)
        values[s] = (
            sp.Rational(f"{10 ** rng.uniform(-3, 3):.3g}") if interval is None
            else interval.sample(share)
        )
    return values


@pytest.mark.parametrize("name", sorted(CASES))
def test_status_and_value_are_an_independent_solvers(name: str) -> None:
    problem = load_problem(str(DATA / f"{name}.toml"))
    for case in CASES[name]:
        settings = {}
        for parameter, value in case["parameters"].items():
            q = problem.quantity(parameter)
            assert q is not None
            settings[q.symbol] = sp.Rational(str(value))
        limit = answer(problem, settings).limit
        assert limit is not None
        values = {s: settings[s] for s in limit.program.parameters}
        if (name, case["parameters"].get("q_")) == BEYOND_FLOATS:
            assert 0 < limit.at(values) < mp.mpf("1e-700")
            continue
        if case["status"] != "optimal":
            with pytest.raises(ERRORS[case["status"]]):
                limit.ruling(values)
            continue
        piece = limit.ruling(values)
        assert float(piece.at(values)) == pytest.approx(case["value"], rel=1e-6)
        require_attained(limit, piece, values)


@pytest.mark.parametrize("name", sorted(CASES.keys() - CHANGES_FORM))
def test_a_point_attains_its_piece_in_all_of_its_region(name: str) -> None:
    limit = limit_of(name)
    rng = random.Random(name)
    for _ in range(60):
        values = drawn(limit, rng)
        if all(m.compare_one(values) >= 0 for m in limit.program.domain.at_least_one):
            for piece in limit.pieces:
                if all(c.holds(values) for c in piece.region):
                    require_attained(limit, piece, values)


@pytest.mark.parametrize("name", sorted(CASES.keys() - CHANGES_FORM))
def test_the_kernel_shows_every_theorem(name: str) -> None:
    found, missing = verdict(limit_of(name))
    assert not missing
    wrong = {f.name: f.text for f in found.findings if not f.holds}
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("seed", "exponent"),
    [(s, False) for s in sample(40).seeds] + [(s, True) for s in sample(10).seeds],
)
def test_the_kernel_shows_every_theorem_about_random_programs(seed: int, exponent: bool) -> None:
    try:
        limit = solve(random_case(seed, exponent=exponent).program)
    except (TooLargeError, FormulaError):  # too many pieces; or they change with the exponent
        return
    written = theorems_of(limit)
    tied = any(c.equal for p in limit.pieces for c in p.region)
    assert not written.missing or tied or exponent
    if not written.writer.data("")["theorems"]:
        assert exponent
        return
    found, _ = verdict(limit)
    wrong = [f.text for f in found.findings if not f.holds]
    assert not wrong, wrong


T, N, J, K, C = symbols("T N J K C")


def capped(*, domain: Domain | None = None) -> Limit:
    return solve(Program("capped", "", "maximize", Monomial.of(T), (T, N), (
        at_most("energy", T, J, ""), at_most("rate", T, N, ""), at_most("cap", N, K, ""),
    ), domain or Domain()))


def test_a_free_variable_is_tied_to_what_holds_in_all_of_the_region() -> None:
    limit = capped()
    (point,) = points_of(limit, limit.piece("energy"))
    assert point.values[N].expr in (J, K)
    (shown,) = ranges(limit, limit.piece("energy")).values()
    assert str(shown) == "anything from J to K"
    assert not ranges(limit, limit.piece("rate + cap"))


def test_declared_bounds_leave_pieces_and_conditions_out() -> None:
    below = Domain((Monomial.of(K / 3), Monomial.of(2 / J)))  # K >= 3, J <= 2
    (piece,) = capped(domain=below).pieces
    assert (piece.name, piece.region) == ("energy", ())


def test_where_no_one_point_is_feasible_the_region_is_divided() -> None:
    x, y = symbols("I L")
    limit = solve(Program("open", "", "minimize", Monomial.of(x), (x, y), (
        at_most("needed", J, x, ""), at_most("room", y, K, ""), at_most("rate", y, C, ""),
    )))
    points = points_of(limit, limit.pieces[0])
    assert {p.values[y].expr for p in points} == {K, C}
    found, missing = verdict(limit)
    assert not missing
    assert all(f.holds for f in found.findings)


def test_feasibility_is_asked_before_a_bound() -> None:
    x, y = symbols("I L")
    limit = solve(Program("ray", "", "maximize", Monomial.of(x * y), (x, y), (
        at_most("most", x, J, ""), at_most("least", K, x, ""),
    )))
    with pytest.raises(UnboundedError, match="where K <= J, and nothing is feasible elsewhere"):
        limit.check()
    with pytest.raises(InfeasibleError, match="most, least"):
        limit.check({J: sp.Integer(1), K: sp.Integer(2)})
    with pytest.raises(UnboundedError):
        limit.check({J: sp.Integer(2), K: sp.Integer(1)})


def test_what_is_nowhere_feasible_within_the_bounds_is_said_so() -> None:
    limit = solve(Program("none", "", "maximize", Monomial.of(T), (T,), (
        at_most("most", T, J, ""), at_most("least", K, T, ""),
    ), Domain((Monomial.of(K / 3), Monomial.of(2 / J)))))
    with pytest.raises(InfeasibleError, match="most, least"):
        limit.check()
    found, _ = verdict(limit)
    assert [f.text for f in found.findings if f.kind == "infeasible" and f.holds]


def test_parameters_that_are_tied_make_one_equality() -> None:
    limit = solve(Program("tied", "", "minimize", Monomial.of(T), (T,), (
        equals("same", J, K, ""), at_most("least", J, T, ""),
    )))
    (condition,) = limit.pieces[0].region
    assert condition.equal
    assert str(condition.relational) == "Eq(J, K)"
    assert condition.holds({J: sp.Integer(2), K: sp.Integer(2)})
    assert not condition.holds({J: sp.Integer(1), K: sp.Integer(2)})
