"""Local laws: on the right side everywhere, near at their numbers, and proved."""

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import sympy as sp

from boxed_problems import PROBLEMS, case, moved
from commands import answer as printed
from commands import refusal
from sampling import sample
from symscale.algebra.certify.theorems import judged
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.tangents.law import LocalLaw, goal, local_law
from symscale.algebra.tangents.rounding import OBJECTIVE
from symscale.algebra.tangents.theorems import LAW, write_law
from symscale.errors import CheckFailedError, InfeasibleError
from symscale.kernel.check import check

LAWS = ("h-infadj", "h-infer2", "x-strong")
READ = {
    "h-infadj": (5, 2), "h-infer2": (3, 4), "x-strong": (9, 5)
}
"""One power of each, which a hand count of shares gives: of B_, of L, of C."""


@pytest.fixture(scope="module")
def laws() -> dict[str, LocalLaw]:
    return {name: local_law(*case(name)) for name in LAWS}


@pytest.mark.parametrize("name", LAWS)
def test_near_at_its_numbers(name: str, laws: dict[str, LocalLaw]) -> None:
    program, values = case(name)
    law, best = laws[name], minimize(program, values).value
    value = float(law.bound.value.evaluate(values))
    assert 0 <= (best / value if not program.inverse else value / best) - 1 <= 0.005
    assert law.gap == pytest.approx(abs(math.log(best / value)), rel=1e-2)
    shown = {"h-infadj": "B_", "h-infer2": "L", "x-strong": "C"}[name]
    power = law.bound.powers.exponent(sp.Symbol(shown, positive=True))
    above, below = READ[name]
    assert abs(power) == sp.Rational(above, below)


@pytest.mark.parametrize("name", LAWS)
def test_never_on_the_wrong_side(name: str, laws: dict[str, LocalLaw]) -> None:
    program, values = case(name)
    bound = laws[name].bound
    for seed in sample(12).seeds:
        at = moved(values, 10, Random(seed))
        try:
            best = minimize(program, at).value
        except InfeasibleError:
            continue
        value = float(bound.value.evaluate(at))
        assert (value / best if not program.inverse else best / value) <= 1 + 1e-8


@pytest.mark.parametrize("name", LAWS)
def test_shares_balance(name: str, laws: dict[str, LocalLaw]) -> None:
    """By hand: every variable cancels, and the powers are those of the coefficients."""
    program, _ = case(name)
    bound = laws[name].bound
    sums = {OBJECTIVE: program.objective, **{c.name: c.terms for c in program.constraints}}
    pairs = [(d, t) for n, row in bound.shares.items()
             for d, t in zip(row, sums[n], strict=True)]
    assert sum(bound.shares[OBJECTIVE]) == 1
    for x in program.variables:
        assert sum(d * t.exponent(x) for d, t in pairs) == 0
    sign = -1 if program.inverse else 1
    for s in program.parameters:
        assert sign * sum(d * t.exponent(s) for d, t in pairs) == bound.powers.exponent(s)


@pytest.mark.parametrize("name", LAWS)
def test_proved_and_short(name: str, laws: dict[str, LocalLaw]) -> None:
    program, _ = case(name)
    writer = CertificateWriter(program)
    assert write_law(writer, laws[name]) == []
    judged(writer.data(name)).require(LAW)
    theorem = writer.data(name)["theorems"][0]
    assert len(json.dumps(theorem)) < 2000
    assert sp.Rational(theorem["within"]) <= sp.Rational("0.0051")


@pytest.mark.parametrize("change", ["constant", "share", "gap"])
def test_altered_laws_are_refused(change: str, laws: dict[str, LocalLaw]) -> None:
    program, _ = case("h-infadj")
    law = laws["h-infadj"]
    bound = law.bound
    if change == "constant":
        law = replace(law, bound=replace(bound, constant=bound.constant * sp.Rational(1001, 1000)))
    elif change == "gap":
        law = replace(law, gap=law.gap / 2)
    else:
        shares = {**bound.shares, OBJECTIVE: (sp.Rational(7, 10), sp.Rational(3, 10))}
        law = replace(law, bound=replace(bound, shares=shares))
    writer = CertificateWriter(program)
    assert write_law(writer, law) == []
    with pytest.raises(CheckFailedError):
        judged(writer.data("altered")).require(LAW)


def test_more_digits_are_nearer() -> None:
    program, values = case("h-infadj")
    gaps = [local_law(program, values, digits).gap for digits in (1, 2, 3)]
    assert all(gap <= goal(digits) for digits, gap in enumerate(gaps, 1))
    assert gaps == sorted(gaps, reverse=True)


def test_an_infimum_has_a_law(tmp_path: Path) -> None:
    """No point attains a + b: the law is it, and a point far out shows it."""
    file = tmp_path / "infimum.toml"
    file.write_text(
        'minimize = "a/x + b + c*y + c/y"\n[parameters]\na = {default = 2}\nb = {default = 3}\n'
        'c = {default = 1}\n[variables]\nx = {}\ny = {}\n'
    )
    data = json.loads(printed("solve", str(file), "--digits", "1", "--format", "json"))
    assert data["local_law"]["value"] == pytest.approx(5, rel=0.005)
    assert LAW in {t["name"] for t in data["theorems"]["shown"]}


def test_printed(tmp_path: Path) -> None:
    file, proof = str(PROBLEMS / "h-infadj.toml"), tmp_path / "proof.json"
    words = " ".join(printed("solve", file, "--digits", "1", "--certificate", str(proof)).split())
    assert "For all positive parameters the optimum is at least 79.79 A^(125/42) B_^(5/2)" in words
    assert "At these numbers that is 0.36 % below it" in words
    assert "random points: an estimate" in words
    assert check(proof.read_text()).holds
    exact = json.loads(printed("solve", str(PROBLEMS / "h-infer.toml"), "--format", "json"))
    assert exact["local_law"] is None


def test_logarithms_beside_powers_of_two(tmp_path: Path) -> None:
    """1/(2 sqrt(A B)) at A = B = 2 is 1/4 but for the thirtieth digit."""
    file = tmp_path / "inverse.toml"
    file.write_text(
        'maximize = "1/(A*x + B/x)"\n[parameters]\nA = {default = 2}\nB = {default = 2}\n'
        '[variables]\nx = {}\n'
    )
    data = json.loads(printed("solve", str(file), "--digits", "1", "--format", "json"))
    assert data["local_law"]["gap"] < 1e-9
    assert data["local_law"]["value"] == pytest.approx(0.25)


@pytest.mark.parametrize("digits", ["0", "4", "-1"])
def test_digits_out_of_range(digits: str) -> None:
    file = str(PROBLEMS / "h-infadj.toml")
    assert "give 1 to 3" in refusal("solve", file, "--digits", digits)
