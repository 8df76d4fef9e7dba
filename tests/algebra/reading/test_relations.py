"""Relations and objectives brought to sums of monomials, and signs of coefficients.

Every reduction is checked by its consequences: the optimum that comes out against a
fine search over the expression as it was written.
"""

import math
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize_scalar

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import OpenSignError, positive_monomial, sign_over
from symscale.algebra.products.program import Sense
from symscale.algebra.reading.relations import constraints_of, objective_of
from symscale.algebra.reading.scope import Scope
from symscale.algebra.sums.program import SumConstraint, all_monomial
from symscale.errors import FormulaError, InfeasibleError, UnboundedError
from symscale.language.parsing import parse_expression, parse_relation
from symscale.language.symbols import NOTATION, Notation, symbols
from symscale.problems.answer import answer
from symscale.problems.problem import Problem, ProblemSymbol

T, N, P, C, W = symbols("T N P C W_net")
L, E, tau = symbols("L E tau")
NAMES: dict[str, sp.Expr] = {n: e.symbol for n, e in NOTATION.items()}


def scope(*variables: sp.Symbol, **lower: int) -> Scope:
    numbers = count(1)
    bounds: dict[sp.Symbol, sp.Rational] = {
        NOTATION[n].symbol: sp.Integer(v) for n, v in lower.items()
    }

    def fresh() -> sp.Symbol:
        return Notation(f"z_{next(numbers)}", "1", "z", "").symbol

    return Scope(frozenset(variables), bounds, fresh)


def reduced(text: str, *variables: sp.Symbol, **lower: int) -> list[SumConstraint]:
    relation = parse_relation(text, NAMES)
    chosen = scope(*(variables or (T, N, P)), **lower)
    return constraints_of("c", relation.lhs, relation.operator, relation.rhs, chosen, "", "")


def shown(constraints: list[SumConstraint]) -> list[str]:
    return [f"{c.expr} {c.relation} 1" for c in constraints]


# Relations


def test_a_product_on_each_side() -> None:
    assert shown(reduced("2*T*N <= C*P^2")) == ["2*N*T/(C*P**2) <= 1"]
    assert shown(reduced("C*P^2 >= 2*T*N")) == ["2*N*T/(C*P**2) <= 1"]
    assert shown(reduced("2*T*N == C*P^2")) == ["2*N*T/(C*P**2) == 1"]


def test_terms_move_across() -> None:
    (one,) = reduced("T + N - C*P <= 0")
    (other,) = reduced("T + N <= C*P")
    assert one.terms == other.terms
    (third,) = reduced("0 >= T - C*P + N")
    assert set(third.terms) == set(one.terms)


def test_terms_that_cancel() -> None:
    assert shown(reduced("T + N*P - P*N <= C")) == ["T/C <= 1"]
    assert shown(reduced("2*T + N <= T + C")) in (["N/C + T/C <= 1"], ["T/C + N/C <= 1"])
    assert reduced("T <= T + N") == []
    assert reduced("T <= T") == reduced("T == T") == reduced("1 <= 2") == []
    assert shown(reduced("3*T <= 5*T - C")) == ["C/(2*T) <= 1"]


def test_terms_whose_difference_is_open_stay_where_they_are() -> None:
    assert shown(reduced("C*T <= W_net*T")) == ["C/W_net <= 1"]
    assert shown(reduced("C*T == W_net*T")) == ["C/W_net == 1"]
    assert shown(reduced("C <= W_net")) == ["C/W_net <= 1"]


def test_denominators_are_multiplied_out() -> None:
    """1/T - 1/N >= 1/C is (1/C + 1/N) T <= 1."""
    (found,) = reduced("1/N + 1/C <= 1/T", T, N)
    values: Any = {T: 2, N: 3, C: 7}
    assert found.expr.subs(values) == sp.Rational(2, 3) + sp.Rational(2, 7)


def test_coefficients_whose_sign_bounds_fix() -> None:
    (found,) = reduced("(L - 1)*T <= C", L=1)
    assert found.terms[0] == Monomial.of(T / C) * positive_monomial(L - 1)
    (turned,) = reduced("(1 - L)*T + N <= 0", L=1)  # (1 - L) T belongs on the other side
    assert turned.terms == (Monomial.of(N / T) / positive_monomial(L - 1),)
    with pytest.raises(FormulaError, match="the greater side is a sum"):
        reduced("N <= C + (L - 1)*T", L=1)
    with pytest.raises(FormulaError, match="the sign of L - 1 is open; give bounds on L"):
        reduced("(L - 1)*T <= C")


def test_differences_whose_sign_is_open_are_moved_across() -> None:
    (one,), (other,) = reduced("T*tau <= C - W_net"), reduced("T*tau + W_net <= C")
    assert set(one.terms) == set(other.terms)
    (found,) = reduced("N*tau <= 3*P*C/W_net - L*P/E", N)
    values: Any = {N: 2, tau: 3, P: 5, C: 7, W: 11, L: 13, E: 17}
    written = values[N] * values[tau] + sp.Rational(13 * 5, 17)
    assert found.expr.subs(values) == written / sp.Rational(3 * 5 * 7, 11)
    with pytest.raises(OpenSignError, match="the sign of C - L is open; give bounds on C, L"):
        reduced("C*T <= L*T + N")
    with pytest.raises(OpenSignError):
        reduced("T == C - L")


def test_a_maximum_is_split() -> None:
    assert shown(reduced("max(T, N^2) <= C")) == ["N**2/C <= 1", "T/C <= 1"]
    assert shown(reduced("T <= min(C, N^2)")) == ["T/C <= 1", "T/N**2 <= 1"]
    assert [c.name for c in reduced("max(T, N) <= min(C, P)")] == [f"c ({k})" for k in (1, 2, 3, 4)]
    assert len(reduced("2*max(T, N)^3/min(P, C) <= W_net")) == 4
    assert len(reduced("max(T, max(N, 2*P)) <= C")) == 3


def test_a_power_of_a_sum_is_taken_to_the_root() -> None:
    assert shown(reduced("(T + N)^2 <= C")) in (
        ["N/sqrt(C) + T/sqrt(C) <= 1"], ["T/sqrt(C) + N/sqrt(C) <= 1"]
    )
    assert reduced("sqrt(T + N) <= C") == reduced("T + N <= C^2")
    assert reduced("P <= C/(T + N)^3") == reduced("T + N <= (C/P)^(1/3)")
    assert reduced("P <= 2*(C - T)^0.5") == reduced("P^2/4 + T <= C")
    assert reduced("P^3 <= (C - T)^3") == reduced("P + T <= C")
    assert len(reduced("max(T, T + N)^2 <= C")) == 2


def test_a_power_within_a_sum_gets_a_variable() -> None:
    """P + sqrt(T + N) <= C holds where P + s <= C and T + N <= s^2 do for the s that is least."""
    first, second = reduced("P + sqrt(T + N) <= C")
    (s,) = {x for c in (first, second) for x in c.expr.free_symbols} - {T, N, P, C}
    random = Random(3)
    held = set()
    for _ in range(50):
        numbers = (sp.Rational(random.randint(1, 40), random.randint(1, 9)) for _ in range(4))
        at: Any = dict(zip((T, N, P, C), numbers, strict=True))
        at[s] = sp.sqrt(at[T] + at[N])
        truth = bool(at[P] + at[s] <= at[C])
        assert truth == all(bool(c.expr.xreplace(at) <= 1) for c in (first, second))
        held.add(truth)
    assert held == {True, False}


def test_a_maximum_within_a_sum_gets_a_variable() -> None:
    found = reduced("P + max(T, N) <= C")
    assert len(found) == 3
    assert sum(len(c.terms) for c in found) == 4
    assert all_monomial(reduced("max(T, N) <= C"))
    assert not all_monomial(found)


@pytest.mark.parametrize(
    ("text", "blame"),
    [
        ("C <= T + N", r"the greater side is a sum \((N \+ T|T \+ N)\).*leave one term"),
        ("T - N >= C - P", r"the greater side is a sum"),
        ("T + N == C", r"an equality with a sum \(.*\) is no convex.*write <= or >="),
        ("max(T, N) == C", r"equality with max or min.*write <= or >="),
        ("min(T, N) <= C", r"Min\(N, T\) on the smaller side is an alternative"),
        ("P + min(T, N) <= C", r"Min\(N, T\) on the smaller side is an alternative"),
        ("P/max(T, N) <= C", r"Max\(N, T\) on the smaller side is an alternative"),
        ("C <= max(T, N)", r"Max\(N, T\) on the greater side is an alternative"),
        ("2^T <= C", r"2\*\*T has a variable in its exponent: declare T as a parameter"),
        ("sqrt(T + N) == C", r"equality with .* the power of a sum, is no convex"),
        ("C <= sqrt(T + N)", r"the greater side is a sum"),
        ("sqrt(C - T) <= N", r"sqrt\(C - T\) is a power of what is not known to be positive; put"),
        ("P + sqrt(C - T) <= N", r"is a power of what is not known to be positive"),
        ("P + 1/sqrt(T + N) <= C", r"the greater side is a sum"),
        ("(C - T)^2*N <= P", r"the greater side is a sum|no convex"),
        ("T/(C - 1) <= N", r"C - 1"),
        ("(T + N)^500 + P <= C", r"more than 400 terms; name parts"),
        ("(T+1)^9*(N+1)^9*(P+1)^9 <= C", r"more than 400 terms"),
        ("T <= C/((T+1)^9*(N+1)^9*(P+1)^9)", r"more than 400 terms"),
    ],
)
def test_what_is_refused_names_the_terms(text: str, blame: str) -> None:
    with pytest.raises(FormulaError, match=blame):
        reduced(text)


@pytest.mark.parametrize("text", ["T <= -C", "2*T <= T", "3 <= 2", "T <= 0", "1 == 2", "T == -C"])
def test_what_never_holds(text: str) -> None:
    with pytest.raises(InfeasibleError, match="can never hold"):
        reduced(text)


def test_random_relations_hold_where_their_canonical_forms_do() -> None:
    """Maxima and minima of products and sums, at random points."""
    random = Random(7)

    def product() -> str:
        factors = [f"{x}^({random.choice((1, 2, -1, -2))}/{random.choice((1, 2))})" for x in "TNP"]
        return f"{random.randint(1, 9)}*" + "*".join(random.sample(factors, 2))

    def total() -> str:
        return " + ".join(product() for _ in range(random.randint(1, 3)))

    held = set()
    for _ in range(25):
        left = f"{product()}*max({total()}, {total()})"
        right = f"{product()}*min({product()}, {product()})/max({total()}, {product()})"
        relation = parse_relation(f"{left} <= {right}", NAMES)
        found = reduced(f"{left} <= {right}", T, N, P)
        written = sp.lambdify([T, N, P], relation.lhs / relation.rhs)
        compiled = [sp.lambdify([T, N, P], c.expr) for c in found]
        for _ in range(12):
            at = [random.randint(1, 40) / random.randint(1, 40) for _ in range(3)]
            truth = written(*at) <= 1
            assert truth == all(c(*at) <= 1 for c in compiled)
            held.add(truth)
    assert held == {True, False}


# Objectives


def goal(sense: str, text: str, **lower: int) -> tuple[tuple[Monomial, ...], bool]:
    terms, inverse, extra = objective_of(
        parse_expression(text, NAMES), sense, scope(T, N, P, **lower)
    )
    assert extra == []
    return terms, inverse


def test_objectives() -> None:
    assert goal("minimize", "T + C/T") == (
        (Monomial.of(C / T), Monomial.of(T)),
        False,
    ) or set(goal("minimize", "T + C/T")[0]) == {Monomial.of(C / T), Monomial.of(T)}
    assert goal("maximize", "T*N") == ((Monomial.of(1 / (T * N)),), True)
    terms, inverse = goal("maximize", "1/(C*T + W_net/T)")
    assert inverse
    assert set(terms) == {Monomial.of(C * T), Monomial.of(W / T)}


@pytest.mark.parametrize(
    ("sense", "text", "blame"),
    [
        ("minimize", "T - 3", "the term -3"),
        ("minimize", "T - C", "the term -C"),
        ("minimize", "(1 - L)*T + N", r"the term -T\*\(L - 1\)|the term -\(L - 1\)\*T|the term"),
        ("minimize", "0", "the term 0"),
        ("minimize", "-T", "the term -T"),
        ("minimize", "T/(1 + N)", r"divides by the sum N \+ 1"),
        ("maximize", "T + N", r"N \+ T cannot be maximised.*one term at a time"),
        ("maximize", "-T", "cannot be maximised"),
        ("maximize", "0", "the term 0"),
        ("maximize", "T + 1/N", "cannot be maximised"),
    ],
)
def test_objectives_that_are_refused(sense: str, text: str, blame: str) -> None:
    with pytest.raises(FormulaError, match=blame):
        goal(sense, text, L=1)


def own(name: str, default: int | None = None, lower: int | None = None) -> ProblemSymbol:
    return ProblemSymbol(
        Notation(name, "1", name, name),
        None if default is None else sp.Integer(default),
        None if lower is None else sp.Integer(lower),
    )


OBJECTIVES = [
    ("minimize", "max(2*x, 3/x) + x"),
    ("minimize", "x + max(1/x, 2/x^2, 3)"),
    ("minimize", "max(x, 1/x)^2 + 1/min(x, 2)"),
    ("minimize", "sqrt(max(x, 4/x))*(1 + 1/x)"),
    ("minimize", "max(x + 1/x^2, max(3/x, 2 + x/4))"),
    ("minimize", "(1 + (p - 1)/x)*(2*x + c)"),
    ("minimize", "max(x, c/x) + max(1/x, x^2)"),
    ("minimize", "max(x + max(1/x, 2), c/x)"),
    ("minimize", "max(p - 1, x) + c/x"),
    ("minimize", "max((p - 1)*x, c/x)"),
    ("minimize", "x + 1/x + (p - 1)*x - p*x + 2*x"),
    ("minimize", "x^(p - 1) + 1/x"),
    ("minimize", "x*x + c/x + 1/x"),
    ("minimize", "x + 2*x^2 + 3/x"),
    ("minimize", "(x + 1/x)^2"),
    ("minimize", "1/min(x, c/x)"),
    ("minimize", "max(x, 1/x)/min(x, c)"),
    ("minimize", "x + 1/x + max(x, c)*max(2, 1/x)"),
    ("minimize", "max(x, 2)*(1 + max(1/x, x/4))"),
    ("maximize", "min(x, 4/x)"),
    ("maximize", "min(x, 9/x)/(1 + x)"),
    ("maximize", "1/(2*x + 3/x)"),
    ("maximize", "x/(x^2 + c)"),
    ("maximize", "min(x, c)*min(2, 4/x^2)"),
    ("maximize", "min(x, c/x)/(x + 1/x)"),
    ("maximize", "min(1/(x + 1/x), x)"),
    ("maximize", "1/max(x, c/x)"),
    ("maximize", "min(c, 1/x)"),
    ("minimize", "sqrt(c*x + 1/x)"),
    ("minimize", "((c + x)/3)^(3/2)/x"),
    ("minimize", "sqrt(c + x) + c/x"),
    ("minimize", "(x + 1/x)^0.7 + sqrt(x^2 + c/x)"),
    ("minimize", "x^(1/4)*(1 + 1/x)^1.5"),
    ("minimize", "sqrt(x + sqrt(x + c/x))"),
    ("minimize", "max(sqrt(x + 1), c/x)"),
    ("minimize", "sqrt(max(x, c) + 1/x)*(1 + 1/x)"),
    ("minimize", "(x + 1)^3/x"),
    ("minimize", "1/sqrt(c - x) + 1/x"),
    ("minimize", "(x + c)^(p/4)/x"),
    ("maximize", "x/sqrt(x^3 + c)"),
    ("maximize", "sqrt(x/(x^2 + c))"),
    ("maximize", "min(x, c)/(1 + x)^(3/2)"),
    ("maximize", "x*sqrt(c - x)"),
    ("maximize", "min(sqrt(c - x), x^2)"),
]


@pytest.mark.parametrize(("sense", "text"), OBJECTIVES)
def test_the_optimum_of_an_objective_as_it_was_written(sense: Sense, text: str) -> None:
    x, p, c = own("x"), own("p", 5, 1), own("c", 3)
    names: dict[str, sp.Expr] = {q.entry.name: q.symbol for q in (x, p, c)}
    expr = parse_expression(text, names)
    compiled = sp.lambdify(x.symbol, expr.subs({p.symbol: 5, c.symbol: 3}))
    sign = 1 if sense == "minimize" else -1

    def value(u: float) -> float:
        with np.errstate(invalid="ignore"):  # a root of what is below zero
            found = sign * float(compiled(math.exp(u)))
        return math.inf if math.isnan(found) else found

    grid = np.linspace(-9, 9, 1801)
    k = int(np.argmin([value(u) for u in grid]))
    span = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
    fine = minimize_scalar(value, bounds=span, method="bounded", options={"xatol": 1e-13})
    best = sign * min(fine.fun, value(grid[k]))

    found = answer(Problem(text, sense, expr, (x,), (p, c), ()))
    assert found.numerical is not None
    assert found.numerical.value == pytest.approx(best, rel=1e-7)
    if found.ruling is not None:
        closed = found.ruling.value(found.values)
        assert closed is not None
        assert float(closed) == pytest.approx(best, rel=1e-7)
    if found.bounds is not None:
        loose, tight = (float(b.at(found.values)) for b in (found.bounds.loose, found.bounds.tight))
        low, high = (loose, tight) if sense == "minimize" else (tight, loose)
        assert low * (1 - 1e-9) <= found.numerical.value <= high * (1 + 1e-9)
        assert high / low <= float(sp.N(found.bounds.factor)) * (1 + 1e-12)
    assert found.ruling is not None or not found.complete


def test_a_maximum_without_bound() -> None:
    x = own("x")
    with pytest.raises(UnboundedError):
        answer(Problem("", "maximize", x.symbol, (x,), (), ())).check()


# Signs


@pytest.mark.parametrize(
    ("text", "lower", "sign"),
    [
        ("L - 1", {"L": 1}, 1), ("1 - L", {"L": 1}, -1), ("L^2 - 2*L + 1", {"L": 2}, 1),
        ("L*E - 1", {"L": 1, "E": 1}, 1), ("(L - 1)*(E - 1)", {"L": 1, "E": 1}, 1),
        ("(L - 1)/(1 - E)", {"L": 1, "E": 1}, -1), ("L - L", {}, 0), ("-3*L", {}, -1),
        ("2^L - 1", {}, 1), ("1 - E^L", {"E": 1}, -1), ("3 - 3*2^(-L)", {}, 1),
        ("L + E", {}, 1), ("1/(L - 1)", {"L": 1}, 1), ("1 - 1/L", {"L": 1}, 1),
    ],
)  # fmt: skip
def test_signs(text: str, lower: dict[str, int], sign: int) -> None:
    bounds: Any = {NOTATION[n].symbol: sp.Integer(v) for n, v in lower.items()}
    assert sign_over(parse_expression(text, NAMES), bounds) == sign


@pytest.mark.parametrize("text", ["1 - E^(L + 1)", "1 - E*E^L", "(1 - E)/(1 - E^L)", "2 - E^L"])
def test_signs_below_an_upper_bound(text: str) -> None:
    """Of E below 1 and L: positive, and so at every point of a grid."""
    expr = parse_expression(text, NAMES)
    assert sign_over(expr, {}, {E: sp.Integer(1)}) == 1
    grid: list[dict[Any, Any]] = [{E: e / 7, L: n / 3} for e in range(1, 7) for n in range(1, 20)]
    assert all(sp.N(expr.subs(at)) > 0 for at in grid)
    assert sign_over(-expr, {}, {E: sp.Integer(1)}) == -1
    with pytest.raises(OpenSignError):
        sign_over(parse_expression("1 - E^(L - 1)", NAMES), {}, {E: sp.Integer(1)})


@pytest.mark.parametrize("text", ["L - 1", "L - E", "L^2 - 3*L + 1", "1/(L - 1)"])
def test_open_signs(text: str) -> None:
    with pytest.raises(FormulaError, match=r"is open; give bounds on (E, )?L"):
        sign_over(parse_expression(text, NAMES), {})


def test_positive_monomials_keep_their_value() -> None:
    values: Any = {L: 5, E: 3, tau: 2}
    for text in ("L - 1", "2*(L - 1)/(E - 1)^2", "(1 - L)*(1 - E)*tau", "4*L*E - 4*E", "3"):
        expr = parse_expression(text, NAMES)
        assert positive_monomial(expr).expr.subs(values) == expr.subs(values)
