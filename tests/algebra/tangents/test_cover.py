"""Covers: within their share at fresh points, as few pieces as there can be, proved."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sympy as sp

from boxed_problems import PROBLEMS, case, moved
from commands import answer as printed
from commands import refusal, run
from sampling import sample
from symscale.algebra.certify.theorems import judged
from symscale.algebra.certify.writer import CertificateWriter
from symscale.algebra.sums.numeric import minimize
from symscale.algebra.tangents.boxes import box_around
from symscale.algebra.tangents.cover import PieceCover, cover
from symscale.algebra.tangents.theorems import COVERED, write_cover
from symscale.errors import CheckFailedError, NoAnswerError
from symscale.problems.proofs import number_symbols

FILE = str(PROBLEMS / "h-infadj.toml")
ONE_NUMBER = {(5, 1000): 9, (1, 1000): 18, (5, 2): 6}
"""Least numbers of pieces for h-infadj: percent and box; see `fewest`."""


def covered(name: str, percent: int, factor: sp.Rational) -> PieceCover:
    program, values = case(name)
    return cover(program, box_around(values, factor, program.domain), sp.Rational(percent, 100))


def fewest(share: float, factor: float) -> int:
    """How few tangents do for h-infadj, on a fine grid: solved by its one remaining variable."""
    a, b = 0.336, 0.283
    reach = math.log(factor)
    values = {str(s): float(v) for s, v in case("h-infadj")[1].items()}
    middle = math.log(values["D_i"] * values["g"] / values["f"])
    middle += math.log(values["R"] / values["B_"]) / b
    ys = np.linspace(middle - reach * (3 + 2 / b), middle + reach * (3 + 2 / b), 6000)
    low, high = np.full_like(ys, 1e-6), np.full_like(ys, 1e3)
    for _ in range(80):  # where the tokens' share of the cost is what the loss makes of it
        x = (low + high) / 2
        grows = np.exp(x - np.logaddexp(x, ys)) > b / a * np.exp(-b * x) / -np.expm1(-b * x)
        low, high = np.where(grows, low, x), np.where(grows, x, high)
    g = np.logaddexp(x, ys) - np.log1p(-np.exp(-b * x)) / a
    slope = np.exp(ys - np.logaddexp(x, ys))
    count = left = 0
    room = math.log1p(share)
    while left < len(ys) - 1:
        near = g[left] - (g + slope * (ys[left] - ys)) <= room
        touch = int(np.flatnonzero(near & (np.arange(len(ys)) >= left))[-1])
        reached = g - (g[touch] + slope[touch] * (ys - ys[touch])) <= room
        left = int(np.flatnonzero(reached & (np.arange(len(ys)) >= touch))[-1])
        count += 1
    return count


def worst(found: PieceCover, name: str, factor: float, count: int) -> float:
    """By which share the best piece is off at fresh points, judged by another solver."""
    program, values = case(name)
    off = 0.0
    for seed in sample(count).seeds:
        at = moved(values, factor, Random(1000 + seed))
        value = minimize(program, at).value
        bounds = [float(p.bound.value.evaluate(at)) for p in found.pieces]
        gap = value / max(bounds) if not program.inverse else min(bounds) / value
        assert gap >= 1 - 1e-7, "no bound is on the wrong side"
        off = max(off, gap - 1)
    return off


@pytest.mark.parametrize(("percent", "factor"), ONE_NUMBER)
def test_one_number_takes_as_few_pieces_as_there_can_be(percent: int, factor: int) -> None:
    found = covered("h-infadj", percent, sp.Integer(factor))
    assert len(found.pieces) == fewest(percent / 100, factor) == ONE_NUMBER[percent, factor]
    assert worst(found, "h-infadj", factor, 15) <= percent / 100
    writer = CertificateWriter(case("h-infadj")[0])
    assert write_cover(writer, found, number_symbols(writer.program, 1)) == []  # type: ignore[arg-type]
    judged(writer.data("box")).require(COVERED)


def test_each_piece_is_the_best_where_it_says() -> None:
    found = covered("h-infadj", 5, sp.Integer(10))
    (number,) = found.numbers
    _, values = case("h-infadj")
    (other,) = [s for s in values if str(s) == "D_i"]
    for k, piece in enumerate(found.pieces):
        assert piece.span is not None
        middle = math.sqrt(piece.span[0] * piece.span[1])
        scale = middle / float(number.evaluate(values))
        at = {**values, other: sp.Rational(f"{float(values[other]) * scale:.12g}")}
        bounds = [p.bound.logarithm(at) for p in found.pieces]
        assert bounds.index(max(bounds)) == k


def test_two_numbers_are_proved() -> None:
    found = covered("h-infer", 5, sp.Integer(2))
    assert len(found.numbers) == 2
    assert found.proof is not None
    assert worst(found, "h-infer", 2, 15) <= 0.05
    writer = CertificateWriter(case("h-infer")[0])
    assert write_cover(writer, found, number_symbols(writer.program, 2)) == []  # type: ignore[arg-type]
    judged(writer.data("box")).require(COVERED)


def test_a_narrower_share_is_not_proved_by_the_same_pieces() -> None:
    found = covered("h-infadj", 5, sp.Integer(10))
    writer = CertificateWriter(case("h-infadj")[0])
    write_cover(writer, replace(found, share=sp.Rational(3, 100)), number_symbols(
        case("h-infadj")[0], 1))
    with pytest.raises(CheckFailedError):
        judged(writer.data("box")).require(COVERED)


def test_many_numbers_are_seen_and_never_called_proved() -> None:
    found = covered("x-strong", 5, sp.Rational(5, 4))
    assert found.proof is None
    assert "5 numbers decide it" in found.unproved
    seen = found.seen
    assert seen is not None
    assert seen.points + seen.without == 1000
    assert seen.near <= seen.points
    assert (seen.worst <= 0.05) == (seen.near == seen.points)


def test_too_many_pieces_are_refused_with_the_counts() -> None:
    program, values = case("h-infadj")
    with pytest.raises(NoAnswerError, match=r"more than 64 pieces .* of the way"):
        cover(program, box_around(values, 1000, program.domain), sp.Rational(1, 2000))


def test_printed_with_what_is_proved(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    words = " ".join(
        printed("solve", FILE, "--within", "5%", "--box", "10", "--certificate", str(proof)).split()
    )
    assert "products of powers; each bounds the optimum from below" in words
    assert "the greatest of them is within 5 % of it for all parameters with K_1 = " in words
    assert COVERED in proof.read_text()
    data = json.loads(
        printed("solve", FILE, "--within", "0.05", "--box", "10", "--format", "json")
    )["cover"]
    assert data["proved"] is True
    assert data["seen"] is None
    ends = [(p["from"], p["to"]) for p in data["pieces"]]
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(ends))


def test_the_box_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bounded.toml"
    file.write_text(
        'minimize = "a/x + b*x + c"\n[parameters]\na = {lower = 1, upper = 100}\n'
        'b = {default = 1}\nc = {default = 2}\n[variables]\nx = {}\n'
    )
    data = json.loads(printed("solve", str(file), "--within", "2%", "--format", "json"))["cover"]
    assert data["box"] == {"a": [1, 100], "b": [1, 1], "c": [2, 2]}
    for a in (1, 7, 100):  # 2 sqrt(a b) + c
        best = 2 * math.sqrt(a) + 2
        names = {"a": a, "b": 1, "c": 2}
        bounds = [
            p["constant"] * math.prod(names[s] ** float(sp.Rational(e))
                                      for s, e in p["powers"].items())
            for p in data["pieces"]
        ]
        assert best / 1.02 <= max(bounds) * (1 + 1e-9) <= best * (1 + 1e-9)


@pytest.mark.parametrize(("options", "words"), [
    (("--within", "5x", "--box", "2"), "give a share such as 5% or 0.05"),
    (("--within", "5", "--box", "2"), "write 5%"),
    (("--within", "-1%", "--box", "2"), "between 0.01% and 100%"),
    (("--within", "1/0", "--box", "2"), "give a share such as 5% or 0.05"),
    (("--within", "5%", "--box", "1"), "give a factor above 1"),
    (("--within", "5%", "--box", "nan"), "give a factor above 1"),
    (("--within", "5%"), "--within needs a box"),
    (("--box", "2"), "--box needs --within"),
])
def test_bad_requests(options: tuple[str, ...], words: str) -> None:
    said = refusal("solve", FILE, *options)
    assert words in said
    assert said.count("\n") <= 1


def test_products_need_no_pieces(tmp_path: Path) -> None:
    file = tmp_path / "products.toml"
    file.write_text(
        'maximize = "N"\n[parameters]\na = {default = 2}\nb = {default = 3}\n[variables]\nN = {}\n'
        '[[constraints]]\nexpression = "N <= a"\n[[constraints]]\nexpression = "N <= b"\n'
    )
    done = run("solve", str(file), "--within", "5%", "--box", "2")
    assert done.code == 0
    assert "no pieces within a share are needed" in " ".join(done.out.split())
