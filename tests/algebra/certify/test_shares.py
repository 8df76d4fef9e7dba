"""Theorems by shares, as the writer spells them: the kernel shows every one."""

import json

import sympy as sp

from symscale.algebra.certify.statements import Cut, Scale, Share, Tangent
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.kernel.check import check
from symscale.language.symbols import symbols

a, b, c, d, x, y, r = symbols("J K C P N b w")


def shared(total: Monomial, *, inverse: bool = False) -> GeometricProgram:
    """The least of a/x + b/y where x + y is at most a total."""
    whole = SumConstraint("in all", (Monomial.of(x) / total, Monomial.of(y) / total), "<=", "")
    costs = (Monomial.of(a / x), Monomial.of(b / y))
    return GeometricProgram((x, y), costs, (whole,), Domain(), inverse)


def texts(writer: CertificateWriter) -> list[str]:
    """What the kernel shows of what was written."""
    found = check(json.dumps(writer.data("t"))).findings
    assert all(f.holds for f in found), found
    return [f.text for f in found]


THIRDS = (sp.Rational(2, 3), sp.Rational(1, 3))


def test_a_tangent() -> None:
    writer = CertificateWriter(shared(Monomial.of(c)))
    value = Monomial.of(sp.Rational(357, 100) * sp.cbrt(a**2 * b) / c)
    point = {x: sp.Rational(69, 100), y: Monomial.of(sp.Rational(31, 100))}
    writer.tangent(
        "t", value, {"objective": THIRDS, "in all": THIRDS}, point, sp.Rational(1, 250), (),
        {a: sp.Integer(5), b: sp.Integer(1), c: sp.Integer(1)},
    )  # fmt: skip
    (text,) = texts(writer)
    assert "at C = 1, J = 5, K = 1 the point N = 69/100, b = 31/100 is feasible" in text


def test_a_tangent_of_a_maximum_with_a_difference() -> None:
    """The difference becomes an abbreviation, which the region calls positive."""
    rest = Monomial.from_powers({c - d: sp.Integer(1)})
    writer = CertificateWriter(shared(rest, inverse=True))
    value = Monomial.of(sp.Rational(100, 357) / sp.cbrt(a**2 * b)) * rest
    writer.tangent(
        "t", value, {"objective": THIRDS, "in all": THIRDS},
        {x: sp.Rational(69, 100), y: sp.Rational(31, 100)}, sp.Rational(1, 250), (),
        {a: sp.Integer(5), b: sp.Integer(1), c: sp.Integer(3), d: sp.Integer(2)},
    )  # fmt: skip
    (text,) = texts(writer)
    assert text.startswith("for all positive parameters with C > P: every feasible point has 1/(")


def test_a_curve() -> None:
    """The least of a/x + b/y is b/(c (1 - r)^2) where a/b = (r/(1 - r))^2."""
    share = Share(r, sp.Integer(0), sp.Integer(1))
    rest = Monomial.from_powers({1 - r: sp.Integer(1)})
    part = Monomial.of(r)
    writer = CertificateWriter(shared(Monomial.of(c)))
    writer.curve(
        "all", share, (a, Monomial.of(b) * (part / rest) ** 2), Monomial.of(b / c) / rest**2,
        {"in all": sp.Integer(1)}, {x: part * Monomial.of(c), y: rest * Monomial.of(c)}, {}, (),
        {r: sp.Rational(1, 3), b: sp.Integer(1), c: sp.Integer(1)},
        weights={"objective": [part, rest], "in all": [part, rest]},
    )  # fmt: skip
    assert texts(writer) == [
        "for all positive parameters with 0 < w < 1: with J = K*w^2/D1^2 the point N = C*w, "
        "b = C*D1 is feasible and has J/N + K/b = K/(C*D1^2), which is the optimum; for every "
        "J > 0 there is such a number w, where D1 = 1 - w"
    ]


def test_a_box() -> None:
    """Two tangents within a factor of 4 of a = b."""
    writer = CertificateWriter(shared(Monomial.of(c)))
    value = sp.Rational(384, 100) / c
    less, more = (sp.Rational(2, 5), sp.Rational(3, 5)), (sp.Rational(3, 5), sp.Rational(2, 5))
    tangents = {
        "more b": Tangent(
            {"objective": less, "in all": less}, Monomial.of(value * a ** less[0] * b ** less[1])
        ),
        "more a": Tangent(
            {"objective": more, "in all": more}, Monomial.of(value * a ** more[0] * b ** more[1])
        ),
    }
    half, third = sp.Rational(1, 2), sp.Rational(1, 3)
    corners: dict[tuple[sp.Rational, ...], dict[sp.Symbol, sp.Rational | Monomial]] = {
        (sp.Integer(0),): {x: third, y: 2 * third}, (half,): {x: half, y: half},
        (sp.Integer(1),): {x: 2 * third, y: third},
    }  # fmt: skip
    writer.box(
        "near", [Scale("a/b", Monomial.of(a / b), sp.Rational(1, 4), sp.Integer(4))],
        {x: Monomial.of(c), y: Monomial.of(c)}, tangents, corners,
        Cut("a/b", half, "more b", "more a"), sp.Rational(1, 20), (),
        {a: sp.Integer(1), b: sp.Integer(1), c: sp.Integer(1)},
    )  # fmt: skip
    (text,) = texts(writer)
    assert text.endswith(
        "where 1/4 <= J/K <= 4, a point is feasible, and its J/N + K/b is at most 5 % above the "
        "greatest of these"
    )
