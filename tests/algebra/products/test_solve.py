"""The solver against a numerical linear program in logarithms, on random programs.

HiGHS decides at random parameters what the optimum is and whether there is one; the
closed form must say the same there. What the solver says beyond that (directions,
witnesses, certificates) is verified exactly.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

from random_programs import (
    ALPHA,
    ALPHAS,
    Case,
    Outcome,
    Values,
    numeric_optimum,
    random_case,
    random_values,
)
from sampling import sample
from symscale.algebra.certify.theorems import certify
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Limit, Piece
from symscale.algebra.products.program import Constraint, Program, at_most, equals
from symscale.algebra.products.solve import solve
from symscale.errors import (
    FormulaError,
    InfeasibleError,
    NoAnswerError,
    RegionError,
    TooLargeError,
    UnboundedError,
)
from symscale.language.symbols import symbol, symbols

PROGRAMS = sample(120)
SAMPLE = PROGRAMS.seeds[::2]
SYMBOLIC = sample(16)
TOLERANCE = 1e-8


@cache
def case_of(seed: int) -> Case:
    return random_case(seed)


@cache
def limit_of(seed: int) -> Limit:
    return solve(case_of(seed).program)


def outcome(limit: Limit, values: Values) -> tuple[Outcome, float]:
    """What the closed form says at given parameters."""
    try:
        return "optimal", float(mp.log(limit.at(values)))
    except InfeasibleError:
        return "infeasible", math.nan
    except UnboundedError:
        return "unbounded", math.inf


def same(one: tuple[Outcome, float], other: tuple[Outcome, float]) -> bool:
    """Whether two outcomes agree, the logarithm of an optimum to 1e-8."""
    if one[0] != "optimal" or other[0] != "optimal":
        return one[0] == other[0]
    return math.isclose(one[1], other[1], rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def better(piece: Piece, other: Piece, program: Program, values: Values) -> int:
    """1 where the bound of `piece` is strictly the tighter one at exact parameters."""
    sign = (piece.bound / other.bound).compare_one(values)
    return -sign if program.sense == "maximize" else sign


# Numbers in, optimum out


def test_the_optimum_is_the_numerical_one() -> None:
    points: Counter[str] = Counter()
    programs: Counter[str] = Counter()
    wrong = []
    for seed in PROGRAMS.seeds:
        case, limit, random = case_of(seed), limit_of(seed), Random(seed)
        seen = set()
        for agree in (True, True, False) if case.twins else (True, True):
            values = random_values(random, case, agree=agree)
            expected, found = numeric_optimum(case.program, values), outcome(limit, values)
            if not same(expected, found):
                wrong.append((seed, case.kind, expected, found))
            seen.add(expected[0])
        points.update(seen)
        programs.update(features(case, limit, seen))
    assert not wrong
    least = PROGRAMS.least(14)
    assert min(points[name] for name in ("optimal", "infeasible", "unbounded")) >= least, points
    assert all(count >= PROGRAMS.least(4) for count in programs.values()), programs
    assert len(programs) == 9


def features(case: Case, limit: Limit, outcomes: set[Outcome]) -> Iterator[str]:
    """What a program is an example of, so that none of it goes missing unnoticed."""
    program = case.program
    ratios = [c.ratio for c in program.constraints]
    yield program.sense
    if len(set(ratios)) < len(ratios):
        yield "a duplicate"
    if program.domain.at_least_one:
        yield "a bounded parameter"
    if case.twins and "optimal" in outcomes:
        yield "equalities that agree on a curve"
    if len(limit.pieces) >= 2 and "optimal" in outcomes:
        yield "pieces that compete"
    if len(limit.pieces) >= 4:
        yield "many pieces"
    if len(outcomes) >= 2:
        yield "a change of outcome"
    if len(program.constraints) >= 11:
        yield "many constraints"


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
def test_a_free_direction_is_one(sense: str) -> None:
    """It improves the objective, and leaves every constraint; exactly."""
    count = 0
    for seed in PROGRAMS.seeds:
        program, limit = case_of(seed).program, limit_of(seed)
        if limit.pieces or program.sense != sense:
            continue
        count += 1
        assert limit.direction is not None
        assert set(limit.direction) <= set(program.variables)
        gain = slope(program.objective, limit.direction)
        assert gain > 0 if sense == "maximize" else gain < 0
        for constraint in program.constraints:
            change = slope(constraint.ratio, limit.direction)
            assert change == 0 if constraint.is_equality else change <= 0
    assert count >= PROGRAMS.least(5)


def slope(monomial: Monomial, direction: Values) -> Any:
    return sum((monomial.exponent(x) * v for x, v in direction.items()), sp.Integer(0))


# Pieces


def has_interior(limit: Limit) -> bool:
    """Whether parameters satisfy every condition strictly, by a numerical program."""
    program = limit.program
    weak = [c.ratio for c in limit.feasibility]
    weak += [m**-1 for m in program.domain.at_least_one]
    names = program.parameters
    if not weak:
        return True
    rows = [[float(m.exponent(s)) for s in names] + [1.0] for m in weak]
    bounds = [-float(mp.log(m.coefficient.evaluate({}))) for m in weak]
    found = linprog(
        [0.0] * len(names) + [-1.0],
        A_ub=np.array(rows),
        b_ub=np.array(bounds),
        bounds=[(None, None)] * len(names) + [(None, 1.0)],
        method="highs",
    )
    assert found.status == 0
    return bool(-found.fun > 1e-6)


def with_interior() -> list[int]:
    """The sampled programs that have an answer for some open set of parameters."""
    return [s for s in SAMPLE if limit_of(s).pieces and has_interior(limit_of(s))]


def test_every_piece_rules_somewhere() -> None:
    """At its witness the others are strictly worse, and it is the numerical optimum."""
    competing = 0
    for seed in with_interior():
        limit, program = limit_of(seed), case_of(seed).program
        for piece in limit.pieces:
            assert piece.witness is not None, (seed, piece.name)
            others = [p for p in limit.pieces if p is not piece]
            assert all(better(piece, p, program, piece.witness) > 0 for p in others)
            assert all(c.holds(piece.witness) for c in piece.region)
            assert limit.ruling(piece.witness) is piece
            value = float(mp.log(piece.at(piece.witness)))
            if abs(value) < 100:  # beyond, the numerical optimum is not good to 1e-8
                assert same(numeric_optimum(program, piece.witness), ("optimal", value))
            competing += bool(others)
    assert competing >= PROGRAMS.least(15)


def test_the_region_of_a_piece_is_where_it_rules() -> None:
    compared = 0
    for seed in SAMPLE:
        limit, case, random = limit_of(seed), case_of(seed), Random(seed)
        for _ in range(3 if len(limit.pieces) > 1 else 0):
            values = random_values(random, case)
            feasible = all(c.holds(values) for c in limit.feasibility)
            for piece in limit.pieces:
                others = [p for p in limit.pieces if p is not piece]
                best = all(better(piece, p, case.program, values) >= 0 for p in others)
                assert all(c.holds(values) for c in piece.region) == (best and feasible)
                compared += best and feasible
    assert compared >= PROGRAMS.least(15)


def test_every_piece_has_a_certificate() -> None:
    certified = 0
    for seed in with_interior():
        limit = limit_of(seed)
        for proof in certify(limit).values():
            proof.check()
            certified += 1
    assert certified >= PROGRAMS.least(36)


def test_an_answer_for_no_parameters_is_none() -> None:
    """Where the conditions contradict each other, no parameters give a value."""
    count = 0
    for seed in SAMPLE:
        limit = limit_of(seed)
        constants = [c for c in limit.feasibility if not c.ratio.free_symbols]
        if constants:
            count += 1
            with pytest.raises(InfeasibleError):
                limit.check()
            with pytest.raises(InfeasibleError):
                limit.at(random_values(Random(seed), case_of(seed)))
    assert count >= PROGRAMS.least(3)


# Exponents as symbols


def test_symbolic_exponents_against_numbers() -> None:
    """The answer for all alpha, read at one alpha, is the answer for that alpha."""
    solved = refused = 0
    points: Counter[str] = Counter()
    for seed in SYMBOLIC.seeds:
        case, random = random_case(seed, exponent=True), Random(seed)
        try:
            limit = solve(case.program)
        except FormulaError:
            refused += 1
            continue
        solved += 1
        for _ in range(2):
            values = random_values(random, case)
            chosen = {ALPHA: values[ALPHA]} if ALPHA in values else {}
            numbers = solve(case.program.substitute(chosen))
            found = outcome(limit, values)
            assert same(found, outcome(numbers, values)), (seed, values)
            assert same(found, numeric_optimum(case.program, values)), (seed, values)
            points[found[0]] += 1
    assert solved >= SYMBOLIC.least(12)
    assert refused >= SYMBOLIC.least(2)
    assert min(points.values()) >= SYMBOLIC.least(2), points


T, P, C, W_net, W_mem, d_model, d_ff = symbols("T P C W_net W_mem d_model d_ff")


def program_of(*constraints: Constraint, domain: Domain | None = None) -> Program:
    """The largest T, with P the other unknown."""
    return Program("x", "", "maximize", Monomial.of(T), (T, P), constraints, domain or Domain())


def near_zero(*constraints: Constraint) -> Program:
    return program_of(*constraints, domain=Domain(exponents={ALPHA: ALPHAS}))


@pytest.mark.parametrize(
    "program",
    [
        # T <= sqrt(C W_net) for every alpha but 0, where it is the lesser of the two.
        near_zero(at_most("a", T * P**ALPHA, C, ""), at_most("b", T / P**ALPHA, W_net, "")),
        # A bound where alpha > 0 only.
        near_zero(at_most("a", T, C * P, ""), at_most("b", P**ALPHA, W_net, "")),
        # A bound for every alpha, but where alpha = 0 a condition on W_net as well.
        near_zero(at_most("a", T, C, ""), equals("b", P**ALPHA, W_net, "")),
        # C where alpha < 1/4, W_net beyond.
        near_zero(
            at_most("a", T * P ** (4 * ALPHA - 1), C, ""),
            at_most("b", T, W_net, ""),
            at_most("c", 1, P, ""),
        ),
    ],
)
def test_no_answer_in_one_form(program: Program) -> None:
    """An answer that changes form within the exponents' domain is refused, not given in part."""
    with pytest.raises(FormulaError):
        solve(program)
    for alpha in (sp.Rational(-1, 8), sp.Integer(0), sp.Rational(1, 3)):
        limit = solve(program.substitute({ALPHA: alpha}))
        values = {C: sp.Integer(3), W_net: sp.Integer(2)}
        assert same(outcome(limit, values), numeric_optimum(limit.program, values))


def test_the_domain_of_an_exponent_counts() -> None:
    """The same constraints have one answer on either side."""
    constraints = (at_most("a", T, C * P, ""), at_most("b", P**ALPHA, W_net, ""))
    right = Domain(exponents={ALPHA: Interval(sp.Integer(0), None)})
    limit = solve(program_of(*constraints, domain=right))
    assert Monomial.of(limit.expr) == Monomial.of(C * W_net ** (1 / ALPHA))
    values = {C: sp.Integer(3), W_net: sp.Integer(4)}
    assert mp.almosteq(limit.at({**values, ALPHA: sp.Rational(1, 2)}), 48)
    assert limit.pieces[0].exponent_conditions == (ALPHA,)
    with pytest.raises(RegionError):
        limit.at({**values, ALPHA: sp.Integer(-1)})
    left = Domain(exponents={ALPHA: Interval(None, sp.Integer(0))})
    with pytest.raises(UnboundedError):
        solve(program_of(*constraints, domain=left)).check()


# Parameters on a curve, or with a bound


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("power", [1, 2, sp.Rational(2, 3)])
def test_pieces_that_rule_on_a_curve_only(number: int, power: Any) -> None:
    """Two equalities agree where d_model is a power of d_ff; both pieces rule there."""
    limit = solve(
        program_of(
            equals("one", P, d_model, ""),
            equals("other", P, number * d_ff**power, ""),
            at_most("linear", T, C * P, ""),
            at_most("square", T, W_net * P**2, ""),
        )
    )
    assert len(limit.pieces) == 2
    values = {d_ff: sp.Integer(8), d_model: number * sp.Integer(8) ** power}
    for rate in (sp.Integer(1), sp.Integer(1000)):
        at = {**values, C: rate, W_net: sp.Integer(1)}
        width = values[d_model]
        assert mp.almosteq(limit.at(at), int(min(rate * width, width**2)))
    with pytest.raises(InfeasibleError):
        limit.at({**values, d_model: sp.Integer(7), C: sp.Integer(1), W_net: sp.Integer(1)})


@pytest.mark.parametrize(("first", "second"), [(10**22, 10**23), (3 * 10**20, 8 * 10**20)])
def test_a_curve_with_numbers_too_large_to_factor(first: int, second: int) -> None:
    """On the curve d_model = p q d_ff; the product p q stands in one place as one number.

    Its logarithm and the sum of theirs are rounded to either side, at 40 digits.
    """
    N = symbol("N")
    p, q = (sp.Integer(sp.nextprime(start)) for start in (first, second))
    constraints = (
        at_most("a", P, p * q * d_ff, ""),
        at_most("b", d_model, P, ""),
        at_most("c", p * d_ff, N, ""),
        at_most("d", q * N, d_model, ""),
        at_most("linear", T, C * P, ""),
        at_most("square", T, W_net * P**2, ""),
    )
    limit = solve(Program("x", "", "maximize", Monomial.of(T), (T, P, N), constraints))
    assert len(limit.pieces) == 2
    at = {d_ff: sp.Integer(1), d_model: p * q, W_net: sp.Integer(1)}
    assert mp.almosteq(limit.at({**at, C: sp.Integer(1)}), int(p * q))
    assert mp.almosteq(limit.at({**at, C: p**4}), int((p * q) ** 2))


def test_a_bound_on_a_parameter_prunes() -> None:
    """A piece that could rule below E = 1 only is left out."""
    E = symbol("E")
    constraints = (at_most("plain", T, C, ""), at_most("with E", T, C * E**2, ""))
    assert len(solve(program_of(*constraints)).pieces) == 2
    limit = solve(program_of(*constraints, domain=Domain((Monomial.of(E),))))
    assert [p.expr for p in limit.pieces] == [C]


# The study's example


def reduced_study(*, split: bool = False, alpha: Any = 0, beta: Any = 0) -> Program:
    """The constraints of the closed-form analysis with E = 1, typed in by hand, in FLOP."""
    b, L, N, N_TP, N_DP, N_PP = symbols("b L N N_TP N_DP N_PP")
    tau, t_d, b_0, L_0, T_0 = symbols("tau t_d b_0 L_0 T_0")
    a = sp.Rational(4, 3) * (C / 2) / W_net
    n = (C / 2) / W_mem
    tokens = 20 * P
    compute = 6 * P * tokens
    relation = (
        (at_most("compute, up", T, compute, ""), at_most("compute, down", compute, T, ""))
        if split
        else (equals("compute", T, compute, ""),)
    )
    return Program(
        "reduced", "", "maximize", Monomial.of(T), (T, P, b, L, N, N_TP, N_DP, N_PP),
        (
            *relation,
            equals("devices", N, N_TP * N_DP * N_PP, ""),
            equals("depth", L, L_0 * (T / T_0) ** beta, ""),
            at_most("arithmetic", T, N * C * t_d, ""),
            at_most("network", N_TP, (P / (2 * L)) / a**2, ""),
            at_most("DRAM and slicing", n, b / (N_DP * 2 * N_PP), ""),
            at_most("critical batch", b, b_0 * (T / T_0) ** (alpha + beta), ""),
            at_most("latency", (tokens / b) * 4 * L * tau, t_d, ""),
        ),
        Domain(exponents={s: i for s, i in EXPONENTS.items() if s in (alpha, beta)}),
    )  # fmt: skip


EXPONENTS = {
    symbol("alpha"): Interval(None, sp.Rational(1, 2)),
    symbol("alpha_L"): Interval(None, None),
}


def published(alpha: Any = 0) -> dict[str, Any]:
    """The published formulas: T in MAC, with C' = C/2, turned into FLOP."""
    tau, t_d, b_0, L_0, T_0 = symbols("tau t_d b_0 L_0 T_0")
    mac_rate = C / 2
    a = sp.Rational(4, 3) * mac_rate / W_net
    n = mac_rate / W_mem
    scale = (b_0 / L_0) * (T_0 / 2) ** -alpha
    return {
        "data movement": 2
        * ((scale * mac_rate * t_d / (a**2 * n)) ** 2 / 960) ** (1 / (1 - 2 * alpha)),
        "latency": 2
        * (sp.Rational(3, 320) * (scale * t_d / tau) ** 2) ** (1 / (1 - 2 * alpha)),
    }


def published_at_zero() -> set[Any]:
    """The published table for alpha = 0, in MAC, turned into FLOP."""
    tau, t_d, b_0, L_0 = symbols("tau t_d b_0 L_0")
    mac_rate = C / 2
    return {
        2 * 27 * W_mem**2 * W_net**4 * b_0**2 * t_d**2 / (81920 * mac_rate**4 * L_0**2),
        2 * 3 * b_0**2 * t_d**2 / (320 * L_0**2 * tau**2),
    }


@pytest.mark.parametrize("split", [False, True])
def test_the_reduced_study_without_growth(split: bool) -> None:
    """Two pieces, the published ones, also where the equality is two inequalities."""
    limit = solve(reduced_study(split=split))
    assert {p.expr for p in limit.pieces} == published_at_zero()
    assert not limit.feasibility


def test_the_third_basis_is_the_geometric_mean() -> None:
    """What splitting the equality adds rules nowhere: it is the mean of the other two."""
    tau, t_d, b_0, L_0 = symbols("tau t_d b_0 L_0")
    third = 2 * 9 * W_mem * W_net**2 * b_0**2 * t_d**2 / (5120 * (C / 2) ** 2 * L_0**2 * tau)
    assert sp.Mul(*published_at_zero()) == third**2
    ratio = Monomial.of(third)
    limit = solve(reduced_study(split=True))
    mean = limit.pieces[0].bound * limit.pieces[1].bound
    assert (ratio**2 / mean).is_one
    both = [p.multipliers for p in limit.pieces]
    assert {frozenset(m) & {"latency", "network"} for m in both} == {
        frozenset({"latency"}), frozenset({"network"}),
    }  # fmt: skip


def test_the_reduced_study_for_every_growth() -> None:
    """The depth's own exponent drops out; the rest is the published power."""
    alpha, beta = symbols("alpha alpha_L")
    limit = solve(reduced_study(alpha=alpha, beta=beta))
    assert len(limit.pieces) == 2
    assert beta not in set().union(*(p.bound.free_symbols for p in limit.pieces))
    names = {
        "latency" if "latency" in p.multipliers else "data movement": p for p in limit.pieces
    }
    random = Random(1)
    formulas = published(alpha)
    for name, piece in names.items():
        assert (piece.bound / Monomial.of(formulas[name])).is_one
        for _ in range(5):
            at = {s: sp.Integer(random.randint(1, 10**6)) for s in limit.program.parameters}
            at[alpha] = sp.Rational(random.randint(-300, 49), 100)
            at[beta] = sp.Rational(random.randint(-100, 100), 100)
            expected = mp.mpf(formulas[name].subs(at).evalf(30))
            assert mp.almosteq(piece.at(at), expected, rel_eps=1e-14)
            assert same(outcome(limit, at), numeric_optimum(limit.program, at))
        with pytest.raises(RegionError):
            piece.at({**at, alpha: sp.Rational(1, 2)})


def test_the_reduced_study_in_numbers() -> None:
    """The published figure of the A100 SXM: 8 GPUs as one device, t_d of a quarter year."""
    tau, t_d, b_0, L_0 = symbols("tau t_d b_0 L_0")
    flop = sp.Integer(16) * 128 * 108 * 1410 * 10**6
    values = {
        C: 8 * flop,
        W_net: 8 * sp.Integer(50) * 10**9 / 2 / 2,
        W_mem: 8 * sp.Integer(1555) * 10**9 / 2 / 2,
        t_d: sp.Rational(36525, 100) / 4 * 86400,
        tau: sp.Rational(9, 10**6),
        b_0: sp.Integer(4) * 10**6,
        L_0: sp.Integer(100),
    }
    limit = solve(reduced_study())
    assert mp.almosteq(limit.at(values), mp.mpf("2.6218103967469373e28"), rel_eps=1e-14)
    assert limit.ruling(values).name == "arithmetic + network + DRAM and slicing + critical batch"
    wall = next(p for p in limit.pieces if p.name == "critical batch + latency")
    assert mp.nstr(wall.at(values), 4) == "2.305e+31"


# What a limit answers


def test_names_of_pieces() -> None:
    limit = solve(program_of(at_most("rate", T, C, ""), at_most("link", T, W_net, "")))
    assert {p.name for p in limit.pieces} == {"rate", "link"}
    with pytest.raises(FormulaError, match="no piece is named 'memory'"):
        limit.piece("memory")
    assert limit.expr == sp.Min(C, W_net)
    assert limit.piece("rate").elasticities == {C: 1}
    (condition,) = limit.piece("rate").region
    assert condition.relational == sp.Le(C, W_net)
    assert condition.against == "link"


def test_no_answer_says_why() -> None:
    contradiction = solve(
        program_of(at_most("small", T, C, ""), at_most("large", 2 * C, T, ""))
    )
    with pytest.raises(InfeasibleError, match="small, large"):
        contradiction.check()
    conditional = solve(program_of(at_most("small", T, C, ""), at_most("large", W_net, T, "")))
    conditional.check()
    with pytest.raises(InfeasibleError, match="they need W_net <= C, and the left side is 2"):
        conditional.at({C: sp.Integer(1), W_net: sp.Integer(2)})
    root = solve(program_of(at_most("small", T**2, C, ""), at_most("large", W_net, T**2, "")))
    with pytest.raises(InfeasibleError, match="they need W_net <= C, and the left side is 9"):
        root.at({C: sp.Integer(1), W_net: sp.Integer(9)})
    endless = solve(program_of(at_most("ratio", T, C * P, "")))
    with pytest.raises(UnboundedError, match="the objective T has no bound: it grows"):
        endless.check()
    with pytest.raises(NoAnswerError):
        _ = endless.expr


def test_a_contradiction_with_long_numbers_is_still_told() -> None:
    """In whole powers the condition has 3**20000, more digits than Python prints."""
    tiny = sp.Rational(1, 20000)
    limit = solve(
        program_of(at_most("a", 3 * P**tiny * C, T**tiny, ""), at_most("b", T, W_net * P, ""))
    )
    with pytest.raises(InfeasibleError, match="a, b together: what must be at most 1 is 21"):
        limit.at({C: sp.Integer(7), W_net: sp.Integer(2)})


def test_too_many_rays() -> None:
    b, L, N = symbols("b L N")
    variables = (T, P, b, L, N)
    below = [at_most(f"{x} at most", x, C, "") for x in variables]
    above = [at_most(f"{x} at least", W_net, x, "") for x in variables]
    program = Program(
        "box", "", "maximize", Monomial.of(sp.Mul(*variables)), variables, (*below, *above)
    )
    with pytest.raises(TooLargeError, match="more than 3"):
        solve(program, max_rays=3)
    seen: list[tuple[int, int]] = []
    assert solve(program, progress=lambda done, rays: seen.append((done, rays))).expr == C**5
    assert [done for done, _ in seen] == [1, 2, 3, 4, 5]


# Programs that are none


@pytest.mark.parametrize(
    ("constraints", "text"),
    [
        ((at_most("a", T, C, ""), at_most("a", T, W_net, "")), "two constraints are named 'a'"),
        ((at_most("a", C**T, W_net, ""),), "variable T stands in an exponent"),
        ((at_most("a", T + C, W_net, ""),), "no monomial in the variables"),
    ],
)
def test_what_no_program_is(constraints: tuple[Constraint, ...], text: str) -> None:
    with pytest.raises(FormulaError, match=text):
        program_of(*constraints)
