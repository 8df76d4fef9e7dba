"""Asymptotics: by hand, and against numbers at huge sizes along random growths."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
import sympy as sp

from sampling import Sample, sample
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.asymptotics import Asymptotics, asymptotics
from symscale.algebra.growth.behaviour import Behaviour, ConflictError
from symscale.algebra.growth.crossing import Range, cells, crossings
from symscale.algebra.growth.orders import compare, order_of
from symscale.algebra.growth.paths import RELATIONS, Assumption, Cone, Growth, Relation, cone_of
from symscale.algebra.growth.quotient import MAX_TERMS, quotient_of
from symscale.errors import FormulaError, InputError, TooLargeError
from symscale.language.symbols import NOTATION, PATH_EXPONENT, symbols

d, n, N, L, w, C, W_net, b, N_DP = symbols("d_model n_ctx N_TP L w C W_net b N_DP")
p = PATH_EXPONENT.symbol
LOWER = {e.symbol: sp.Integer(e.lower) for e in NOTATION.values() if e.lower is not None}
EDGE = (18 * d + 3 * n) / (w * N)
SLACK = 4 * b / (N_DP * w)
R = (N - 1) * C / (9 * W_net * d * (1 + n / (6 * d)))
SHARE = R / (1 + R)


def known(
    *growing: sp.Symbol, path: dict[Any, sp.Expr] | None = None, **relations: str
) -> Growth:
    """Growth with a path, and assumptions such as n="O d"."""
    table = {"d": d, "n": n, "N": N, "L": L}
    assumptions = []
    for left, text in relations.items():
        relation, right = text.split()
        assumptions.append(assume(table[left], relation, table[right]))
    monomials = {s: Monomial.of(e) for s, e in (path or {}).items()}
    return Growth(growing, tuple(assumptions), monomials, LOWER)


def assume(left: sp.Expr, relation: str, right: sp.Expr) -> Assumption:
    (kind,) = [r for r in RELATIONS if r == relation]
    return Assumption(Monomial.of(left), kind, Monomial.of(right))


def only(answer: Asymptotics) -> Behaviour:
    (piece,) = answer.pieces
    return piece


def same(left: sp.Expr | None, right: sp.Expr) -> bool:
    return left is not None and bool(sp.simplify(left / right) == 1)


# By hand


def test_edge() -> None:
    piece = only(asymptotics(EDGE, known(d, n, N)))
    assert same(piece.leading, EDGE)
    assert piece.theta == (d + n) / N
    assert piece.limit.kind == "undetermined"
    assert not piece.dropped


def test_slack_grows_like_the_tokens_of_a_replica() -> None:
    piece = only(asymptotics(SLACK, known(b, N_DP)))
    assert piece.theta == b / N_DP
    assert piece.limit.kind == "undetermined"


def test_edge_at_constant_memory() -> None:
    piece = only(asymptotics(EDGE, known(d, L, path={N: L * d**2}, n="O d")))
    assert piece.theta == 1 / (L * d)
    assert same(piece.leading, EDGE.subs(N, L * d**2))  # n_ctx may keep up with d_model
    assert piece.limit.kind == "zero"


def test_the_longer_sequence_counts_where_it_may_outgrow_the_width() -> None:
    piece = only(asymptotics(EDGE, known(d, L, path={N: L * d**2}, n="Omega d")))
    assert piece.theta == n / (L * d**2)
    assert piece.limit.kind == "undetermined"


def test_little_o_drops_the_sequence() -> None:
    piece = only(asymptotics(EDGE, known(d, L, path={N: L * d**2}, n="o d")))
    assert same(piece.leading, 18 / (w * L * d))
    (proof,) = piece.dropped
    assert str(proof.because) == "(('n_ctx = o(d_model)', 1),)"


def test_constants_stay_in_the_leading_term_only() -> None:
    piece = only(asymptotics(EDGE, known(d, path={N: d**2})))
    assert same(piece.leading, 18 / (w * d))
    assert piece.theta == 1 / d
    (proof,) = piece.dropped
    assert str((proof.term, proof.against)) == "(1, ((d_model, 1),))"
    assert str(proof.because) == "(('d_model grows', 1),)"


def test_exponent_of_the_path() -> None:
    answer = asymptotics(EDGE, known(d, path={N: d**p}), ("Omega", sp.Integer(1)))
    assert [piece.where.text("p") for piece in answer.pieces if piece.where] == [
        "0 <= p < 1", "p = 1", "p > 1",
    ]  # fmt: skip
    assert [piece.limit.kind for piece in answer.pieces] == ["infinity", "constant", "zero"]
    assert answer.pieces[1].limit.value == 18 / w
    assert [piece.theta for piece in answer.pieces] == [d ** (1 - p), 1, d ** (1 - p)]
    assert [where.text("p") for where, _ in answer.outside] == ["p < 0"]
    assert "N_TP = d_model^p is at least 1" in answer.outside[0][1]
    assert answer.verdict is not None
    assert answer.verdict.holds is None
    assert answer.verdict.reason == "it holds for 0 <= p <= 1, fails for p > 1"


def test_share_along_an_exponent() -> None:
    answer = asymptotics(SHARE, known(d, path={N: d**p}))
    found = [(x.where.text("p") if x.where else "", x.limit.value) for x in answer.pieces]
    assert found == [
        ("p = 0", 0), ("0 < p < 1", 0), ("p = 1", C / (C + 9 * W_net)), ("p > 1", 1),
    ]  # fmt: skip


def test_share_with_everything_growing() -> None:
    piece = only(asymptotics(SHARE, known(d, n, N)))
    assert piece.theta == N / (N + d + n)
    assert piece.limit.kind == "undetermined"


def test_conditions_on_constants() -> None:
    piece = only(asymptotics(SHARE, known(d)))
    assert piece.conditions == (sp.Gt(N, 1),)
    assert same(piece.leading, C * (N - 1) / (9 * W_net * d))
    assert only(asymptotics(d * (N + 1), known(d))).conditions == ()
    assert only(asymptotics(d * (N * N_DP - 1), known(d))).conditions == (sp.Gt(N * N_DP, 1),)
    assert only(asymptotics(d * (2 * N - 1), known(d))).conditions == ()


@pytest.mark.parametrize(
    ("expr", "growth"),
    [
        (d * (N - 2), known(d)),
        (d - n, known(d, n)),
        (1 / (d**2 + n**2 - 2 * d * n), known(d, n)),
        (d * (N - 1), known(d, N="O d")),
    ],
)
def test_what_may_cancel_is_refused(expr: sp.Expr, growth: Growth) -> None:
    with pytest.raises(FormulaError, match=r"may cancel|is open"):
        asymptotics(expr, growth)


def test_what_cancels_exactly_is_no_trouble() -> None:
    assert only(asymptotics((d + n) ** 2 - (d - n) ** 2, known(d, n))).theta == d * n
    assert same(only(asymptotics((d + 1) ** 2 - d**2, known(d))).leading, 2 * d)
    zero = only(asymptotics((d + n) * w - d * w - n * w, known(d), ("o", d)))
    assert [str(x) for x in (zero.leading, zero.theta, zero.limit.value)] == ["0", "0", "0"]
    assert zero.verdict is not None
    assert zero.verdict.holds


def test_dropped_terms_may_have_any_sign() -> None:
    assert same(only(asymptotics(d**2 - 5 * d + n - 7, known(d, n="O d"))).leading, d**2)
    assert only(asymptotics(7 - d, known(d))).limit.value == -sp.oo


def test_a_term_may_vanish_against_several_together() -> None:
    piece = only(asymptotics(d**3 + n**3 + 5 * d * n, known(d, n)))
    assert same(piece.leading, d**3 + n**3)
    (proof,) = piece.dropped
    assert dict(proof.against).keys() == {d**3, n**3}


def test_classes_are_short() -> None:
    both = known(d, n)
    assert only(asymptotics((d + n) ** 2, both)).theta == (d + n) ** 2
    assert only(asymptotics((d**2 + 5 * n**2) / (d + n), both)).theta == d + n
    assert only(asymptotics(d**2 + 9 * d * n + n**2, both)).theta == (d + n) ** 2
    assert only(asymptotics((d * n + d**2) / (w * d + n), both)).theta == d
    alike = known(d, n="Theta d")
    assert only(asymptotics((d + n) * n**2, alike)).theta == d**3
    answer = only(asymptotics(n / d, alike))
    assert (str(answer.theta), answer.limit.kind) == ("1", "undetermined")
    assert "between two constants" in answer.limit.reason


def test_constant_limits_of_proportional_sums() -> None:
    answer = asymptotics((N - 1) * (d * w + n * w) / (7 * d + 7 * n + 1), known(d, n))
    assert same(only(answer).limit.value, (N - 1) * w / 7)
    expanded = sp.expand((N - 1) * (d + n) * w) / (d + n)
    assert same(only(asymptotics(expanded, known(d, n))).limit.value, (N - 1) * w)


@pytest.mark.parametrize(
    ("relation", "expected", "holds"),
    [
        ("Theta", (d + n) / N, True),
        ("Theta", d / N, None),
        ("O", (d * n) / N, True),
        ("Omega", d / N, True),
        ("o", (d + n) / N, False),
        ("omega", (d + n) / (N * d), True),
        ("omega", (d + n) * N, False),
        ("O", (d + n) / (N * d), False),
        ("Omega", sp.Integer(1), None),
        ("Theta", (7 * d + n - 5) / (N * w), True),
    ],
)
def test_expectations(relation: Relation, expected: sp.Expr, holds: bool | None) -> None:
    verdict = asymptotics(EDGE, known(d, n, N), (relation, expected)).verdict
    assert verdict is not None
    assert verdict.holds is holds
    if holds is None:
        assert "~ t" in verdict.reason


def test_expectations_follow_the_path() -> None:
    growth = known(d, path={N: d**2})
    for expected in (1 / d, d / N, 1 / sp.sqrt(N)):
        verdict = asymptotics(EDGE, growth, ("Theta", expected)).verdict
        assert verdict is not None
        assert verdict.holds


def test_contradictions_name_what_contradicts() -> None:
    twice = (assume(n, "O", d), assume(n, "omega", d))
    with pytest.raises(ConflictError, match=r"n_ctx = O\(d_model\).*n_ctx = omega\(d_model\)"):
        asymptotics(EDGE, Growth((d,), twice))
    with pytest.raises(ConflictError, match="N_TP = 1/d_model is at least 1"):
        asymptotics(EDGE, known(d, path={N: 1 / d}))
    with pytest.raises(ConflictError, match="d_model grows"):
        asymptotics(EDGE, Growth((d,), (assume(d, "O", sp.Integer(1)),)))


def test_paths_are_resolved_before() -> None:
    with pytest.raises(InputError, match="N_TP"):
        known(N, path={N: d})
    with pytest.raises(InputError, match="L"):
        known(d, path={N: L, L: d})


def test_limits_of_size() -> None:
    with pytest.raises(TooLargeError):
        quotient_of((1 + d) ** 40 * (1 + n) ** 40 - 1)
    with pytest.raises(TooLargeError):
        quotient_of(sp.Add(*(d**k for k in range(MAX_TERMS + 1))))
    with pytest.raises(FormulaError, match="not whole"):
        quotient_of(sp.sqrt(d + n))
    assert asymptotics((1 + 1 / d) ** 900, known(d)).pieces[0].limit.value == 1


def test_one_exponent_is_open_at_most() -> None:
    (alpha,) = symbols("alpha")
    with pytest.raises(FormulaError, match="alpha, p"):
        asymptotics(EDGE * d**alpha, known(d, path={N: d**p}))
    with pytest.raises(FormulaError, match="affine"):
        asymptotics(EDGE, known(d, path={N: d ** (p**2)}))


def test_an_open_sign_refuses_its_range_only() -> None:
    answer = asymptotics(SHARE, known(d, L, path={N: L**p * d**2}, n="O d"))
    first, second = answer.pieces
    assert first.leading is None
    assert "may cancel" in first.limit.reason
    assert second.where is not None
    assert (second.where.text("p"), str(second.limit.value)) == ("p >= 0", "1")


def test_cells_and_crossings() -> None:
    assert [where.text("p") for where in cells([sp.Integer(2), sp.Integer(1)])] == [
        "p < 1", "p = 1", "1 < p < 2", "p = 2", "p > 2",
    ]  # fmt: skip
    assert Range(None, None, False, False).text("p") == ""
    one, zero = sp.Integer(1), sp.Integer(0)
    rows = [(one, zero), (zero, one)]
    assert crossings([[(2 * p, zero), (one, zero)]], rows, p) >= {sp.Rational(1, 2)}
    with pytest.raises(FormulaError, match="irrational"):
        crossings([[(p, one), (one, 2 * p), (zero, zero)]], rows, p)


# Against numbers


EXPONENTS = [sp.Rational(k, 2) for k in range(-2, 5)]
BASE = 60  # decimal digits of t
DIGITS = 60  # of values


def random_sum(rng: random.Random, signs: bool) -> sp.Expr:
    terms = []
    for _ in range(rng.randint(1, 4)):
        powers = [x ** rng.choice(EXPONENTS) for x in (d, n, L) if rng.random() < 0.6]
        sign = -1 if signs and rng.random() < 0.3 else 1
        constant = rng.choice([sp.Integer(1), w, C / w, N - 1])
        terms.append(sp.Mul(sp.Integer(sign * rng.randint(1, 9)), constant, *powers))
    return sp.Add(*terms)


def random_quotient(rng: random.Random, signs: bool) -> sp.Expr:
    above, below = random_sum(rng, signs), random_sum(rng, signs)
    if not below or not above:
        return d
    if rng.random() < 0.3:
        return (above / below) / (1 + above / below)
    if rng.random() < 0.3:
        return above * random_sum(rng, False) / below
    return above / below


def random_growth(rng: random.Random) -> Growth:
    sizes = [d, n, L]
    growing = tuple(s for s in sizes if rng.random() < 0.6) or (d,)
    assumptions = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        left, right = rng.sample(sizes, 2)
        power = sp.Rational(rng.choice([1, 2, 3]), rng.choice([1, 2]))
        assumptions.append(assume(left, rng.choice(RELATIONS), right**power))
    return Growth(growing, tuple(assumptions), {}, LOWER)


def allowed(growth: Growth, rates: dict[sp.Symbol, Fraction]) -> bool:
    """Whether rates of growth are as said, decided without the cone."""

    rate_of: dict[Any, Fraction] = dict(rates)

    def rate(monomial: Monomial) -> sp.Expr:
        return sp.Add(*(e * rate_of[a] for a, e in monomial.powers))

    if not all(rates[s] > 0 for s in growth.growing):
        return False
    for one in growth.assumptions:
        difference = rate(one.left) - rate(one.right)
        good = {
            "O": difference <= 0, "o": difference < 0, "Theta": difference == 0,
            "Omega": difference >= 0, "omega": difference > 0,
        }[one.relation]  # fmt: skip
        if not good:
            return False
    return True


def directions(growth: Growth, rng: random.Random, count: int) -> Iterator[dict[Any, Fraction]]:
    """Yield rates of growth that are allowed, found by trying."""
    varying = growth.varying
    for _ in range(300):
        rates = {s: Fraction(rng.randint(0, 6), rng.choice([1, 1, 2])) for s in varying}
        if allowed(growth, rates):
            yield rates
            count -= 1
            if not count:
                return


def value(expr: sp.Expr, rates: dict[Any, Fraction], digits: int) -> mp.mpf:
    """The value where t is 10**digits, and constants are a few units."""
    constants = {s: sp.Integer(2 + k) for k, s in enumerate((w, C, N, W_net, b, d, n, L))}
    sizes: Any = {**constants}
    for s, g in rates.items():
        sizes[s] = sp.Integer(10) ** (sp.Rational(g.numerator, g.denominator) * digits)
    with mp.workdps(DIGITS):
        return mp.mpf(sp.N(expr.xreplace(sizes), DIGITS)._mpf_)


def slope(expr: sp.Expr, rates: dict[Any, Fraction]) -> mp.mpf:
    """The power of t with which a quotient grows."""
    low, high = value(expr, rates, BASE), value(expr, rates, 2 * BASE)
    return mp.log10(abs(high / low)) / BASE


def cases(those: Sample, signs: bool = True) -> Iterator[tuple[random.Random, sp.Expr, Growth]]:
    for seed in those.seeds:
        rng = random.Random(seed)
        yield rng, random_quotient(rng, signs), random_growth(rng)


def test_leading_term_class_and_limit_agree_with_numbers() -> None:
    answered = refused = 0
    kinds: set[str] = set()
    those = sample(40)
    for rng, expr, growth in cases(those):
        try:
            piece = only(asymptotics(expr, growth))
        except (FormulaError, ConflictError):
            refused += 1
            continue
        assert piece.leading is not None
        assert piece.theta is not None
        kinds.add(piece.limit.kind)
        for rates in directions(growth, rng, 4):
            answered += 1
            if piece.leading == 0:
                assert value(expr, rates, BASE) == 0
                continue
            ratio = value(piece.leading, rates, BASE) / value(expr, rates, BASE)
            assert abs(ratio - 1) < mp.mpf(10) ** -10, (expr, growth, rates)
            assert abs(slope(expr / piece.theta, rates)) < 1e-9, (expr, growth, rates)
            assert not piece.theta.free_symbols - set(growth.varying)
            power = slope(expr, rates)
            if piece.limit.kind == "zero":
                assert power < -1e-3
            if piece.limit.kind == "infinity":
                assert power > 1e-3
                assert mp.sign(value(expr, rates, BASE)) == sp.sign(piece.limit.value or 0)
            if piece.limit.kind == "constant" and piece.limit.value is not None:
                assert abs(value(expr, rates, BASE) / value(piece.limit.value, {}, 1) - 1) < 1e-9
    assert answered > those.least(55)
    assert refused <= those.least(24)
    assert kinds == {"zero", "constant", "infinity", "undetermined"}


def test_nothing_is_dropped_that_may_keep_up() -> None:
    """Every kept term has a growth along which no other outgrows it."""
    for _, expr, growth in cases(sample(40), signs=False):
        cone = cone_of(growth, None)
        if cone.conflict():
            continue
        for total, _power in quotient_of(expr).factors:
            vectors = list(dict.fromkeys(cone.vector(m) for m, _ in total.terms))
            gone = cone.vanishing(vectors)
            for i, vector in enumerate(vectors):
                others = [v for j, v in enumerate(vectors) if j != i]
                found = cone.dominance(vector, others)
                assert found.vanishes == (i in gone)
                if not found.vanishes:
                    rates = dict(zip(cone.symbols, found.direction, strict=True))
                    assert allowed(growth, rates)
                    heights = [dot(cone, v, rates) for v in vectors]
                    assert heights[i] == max(heights)


def dot(cone: Cone, vector: Any, rates: dict[sp.Symbol, Fraction]) -> Fraction:
    numbers = cone.numbers(vector)
    return sum((x * rates[s] for x, s in zip(numbers, cone.symbols, strict=True)), Fraction(0))


def test_certificates_add_up() -> None:
    checked, those = 0, sample(60)
    for _, expr, growth in cases(those, signs=False):
        cone = cone_of(growth, None)
        if cone.conflict():
            continue
        for total, _power in quotient_of(expr).factors:
            vectors = list(dict.fromkeys(cone.vector(m) for m, _ in total.terms))
            for i, proof in cone.vanishing(vectors).items():
                assert all(x >= 0 for x in (*proof.shares, *proof.weights))
                assert sum(proof.shares) == 1
                assert any(
                    row.strict and x for row, x in zip(cone.rows, proof.weights, strict=True)
                )
                for k, entry in enumerate(cone.numbers(vectors[i])):
                    above = sum(
                        s * cone.numbers(v)[k] for s, v in zip(proof.shares, vectors, strict=True)
                    )
                    below = sum(
                        x * row.numbers[k] for x, row in zip(proof.weights, cone.rows, strict=True)
                    )
                    assert above - entry == below
                checked += 1
    assert checked > those.least(25)


def test_comparisons_agree_with_numbers() -> None:
    held: dict[Any, int] = {}
    those = sample(20)
    for rng, expr, growth in cases(those, signs=False):
        cone = cone_of(growth, None)
        if cone.conflict():
            continue
        other = random_sum(rng, False) / random_sum(rng, False)
        relation = rng.choice(RELATIONS)
        verdict = asymptotics(expr, growth, (relation, other)).verdict
        assert verdict is not None
        held[verdict.holds] = held.get(verdict.holds, 0) + 1
        first, second = (order_of(quotient_of(e), cone) for e in (expr, other))
        found = compare(first, second)
        assert found.relation(relation) is verdict.holds
        for rates in directions(growth, rng, 4):
            power = slope(expr / other, rates)
            truth = {
                "O": power < 1e-9, "Omega": power > -1e-9, "Theta": abs(power) < 1e-9,
                "o": power < -1e-3, "omega": power > 1e-3,
            }[relation]  # fmt: skip
            assert verdict.holds in (None, truth), (expr, other, relation, growth, rates)
        for way, sign in ((found.above, 1), (found.below, -1), (found.level, 0)):
            if way:
                rates = dict(zip(cone.symbols, way, strict=True))
                assert allowed(growth, rates)
                assert abs(mp.sign(mp.nint(slope(expr / other, rates) * 10**6)) - sign) == 0
    assert min(held.get(x, 0) for x in (True, False, None)) >= those.least(2)


def test_pieces_agree_with_numbers_in_place_of_the_exponent() -> None:
    several, those = 0, sample(5)
    for seed in those.seeds:
        rng = random.Random(seed)
        expr = random_quotient(rng, False)
        path = {L: d**p * n ** rng.choice([0, 0, 1])} if rng.random() < 0.7 else {L: n**p}
        growing: tuple[Any, ...] = (d, n) if rng.random() < 0.5 else (d,)
        assumptions = (assume(n, "O", d ** rng.choice([1, 2])),) if rng.random() < 0.5 else ()
        monomials = {s: Monomial.of(e) for s, e in path.items()}
        growth = Growth(growing, assumptions, monomials, LOWER)
        if not any(e.free_symbols & set(growth.varying) for e in path.values()):
            continue
        answer = asymptotics(expr, growth)
        several += len(answer.pieces) > 2
        tried = {sp.Rational(k, q) for k in range(-6, 10) for q in (2, 3)}
        for where in rng.sample(sorted(tried), 4) + [
            x.where.upper for x in answer.pieces if x.where and x.where.upper is not None
        ]:
            here = [x for x in answer.pieces if x.where is None or contains(x.where, where)]
            try:
                fixed = only(asymptotics(expr, growth.at(p, where)))
            except ConflictError:
                assert not here
                continue
            (piece,) = here
            assert piece.leading is not None
            assert piece.theta is not None
            at: Any = {p: where}
            assert same(piece.leading.xreplace(at), fixed.leading or d)
            gap = compare(
                *(
                    order_of(quotient_of(e), cone_of(growth.at(p, where), None))
                    for e in (piece.theta.xreplace(at), fixed.theta or d)
                )
            )
            assert gap.relation("Theta")
            assert piece.limit.kind == fixed.limit.kind
    assert several >= those.least(1)


def contains(where: Range, number: sp.Rational) -> bool:
    above = where.lower is None or number > where.lower or (
        where.from_lower and number == where.lower
    )
    below = where.upper is None or number < where.upper or (
        where.to_upper and number == where.upper
    )
    return bool(above and below)


def test_pieces_differ_where_bounds_do() -> None:
    """At p = 1 the edge stays above a constant, beyond it may vanish: not the same answer."""
    answer = asymptotics(EDGE, known(d, n, path={N: d**p}))
    found = [(x.where.text("p") if x.where else "", x.limit.kind, x.limit.bounded_below)
             for x in answer.pieces]  # fmt: skip
    assert found == [
        ("0 <= p < 1", "infinity", True), ("p = 1", "undetermined", True),
        ("p > 1", "undetermined", False),
    ]  # fmt: skip
    assert answer.pieces[2].limit.reason.endswith(", at p = 2")


def test_a_quotient_as_path_restricts_its_symbols() -> None:
    growth = known(d, L, path={N: d**2 / L})
    assert [s for s, _ in growth.supposed] == [N]
    piece = only(asymptotics(L / d**3, growth))
    assert piece.limit.kind == "zero"
    assert not known(d, L, path={N: d**2 * L}).supposed
