"""Theorems by shares, as the writer spells them: the kernel shows every one."""

import json

import sympy as sp

from symscale.algebra.certify.statements import Share
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
