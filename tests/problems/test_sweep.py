"""Sweeps: which piece rules where, against a search over grids, and the boundaries."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

from places import ROOT
from symscale.algebra.sums.numeric import minimize
from symscale.errors import InputError, NoAnswerError
from symscale.pages.figures.drawing import new_figure, styled
from symscale.pages.figures.regions import contours
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.file import load_problem
from symscale.problems.settings import read_problem_settings
from symscale.problems.sweep import (
    INFEASIBLE,
    NOTHING,
    UNKNOWN,
    OptimumMap,
    Regions,
    Segment,
    optimum_map,
    read_axis,
    require_numbers,
    sweep,
)

PROBLEMS = ROOT / "docs" / "problems"
MIXED = ("B=48000", "D=8192", "F=32768", "N=64", "W=9e10")
BOUNDS = ("C=1e15", "t_d=3mo", "n=100", "b_0=4e6", "N_0=1e3", "e=1e-12", "J_0=1e20")
CASES = {
    "mixed": ("mixed-parallelism", MIXED, "B=10..1e6"),
    "overlapped": ("overlapped-parallelism", MIXED, "B=1..1e6"),
    "energy": ("network-energy", (), "N_0=0.1..1e4"),
    "width": ("network-energy", (), "d_ff=10..1e8"),
    "regimes": ("sequential-bounds", BOUNDS, "N_0=1..1e9"),
    "price": ("sequential-bounds", BOUNDS, "e=1e-12..1"),
}


def swept(name: str) -> tuple[ProblemAnswer, Any, tuple[Segment, ...]]:
    file, sets, span = CASES[name]
    problem = load_problem(str(PROBLEMS / f"{file}.toml"))
    found = answer(problem, read_problem_settings(problem, sets))
    axis = read_axis(span, problem)
    return found, axis, sweep(found, axis)


@pytest.mark.parametrize("name", CASES)
def test_segments_cover_the_range(name: str) -> None:
    _, axis, segments = swept(name)
    assert segments[0].low == axis.low
    assert segments[-1].high == axis.high
    assert segments[-1].boundary is None
    for one, other in pairwise(segments):
        assert one.high == other.low
        assert one.low < one.high
        assert one.name != other.name


@pytest.mark.parametrize("name", CASES)
def test_the_named_piece_is_the_optimum_there(name: str) -> None:
    """Against the numerical optimum, which knows no pieces."""
    found, axis, segments = swept(name)
    pieces = {p.name: p for p in found.pieces}
    for segment in segments:
        for share in (0.1, 0.6, 0.9):
            low, high = np.log(float(segment.low)), np.log(float(segment.high))
            here: Any = sp.Rational(repr(float(np.exp(low + share * (high - low)))))
            values = {**found.values, axis.symbol: here}
            if segment.name == NOTHING:
                with pytest.raises(NoAnswerError):
                    minimize(found.program, values)
                continue
            closed = pieces[segment.name].value(values)
            assert closed is not None
            assert minimize(found.program, values).value == pytest.approx(float(closed), rel=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_boundaries_are_where_the_pieces_meet(name: str) -> None:
    found, axis, segments = swept(name)
    pieces = {p.name: p for p in found.pieces}
    assert len(segments) >= 2
    for one, other in pairwise(segments):
        assert one.boundary is not None
        at: Any = sp.N(one.boundary.xreplace(dict(found.values)), 25)
        assert float(one.high) == pytest.approx(float(at), rel=1e-12)
        values = {**found.values, axis.symbol: sp.Rational(repr(float(at)))}
        first, second = (pieces[s.name].value(values) for s in (one, other))
        assert first is not None
        assert second is not None
        assert float(first) == pytest.approx(float(second), rel=1e-12)


def test_a_boundary_in_closed_form_ends_its_segment_exactly() -> None:
    _, _, segments = swept("mixed")
    assert [s.name for s in segments] == ["X >= 1", "interior"]
    assert segments[0].high == 256  # F M_Y/(M_X N) = 32768/(2 * 64)


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., ProblemAnswer]:
    def solve(text: str, *sets: str) -> ProblemAnswer:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        problem = load_problem(str(path))
        return answer(problem, read_problem_settings(problem, sets))

    return solve


def test_a_part_without_optimum(own: Callable[..., ProblemAnswer]) -> None:
    """x <= 5 leaves no room for x >= a beyond a = 5."""
    found = own(
        'minimize = "x + 4/x"\n[parameters]\na = {}\n[variables]\nx = { upper = 5 }\n'
        '[[constraints]]\nname = "least"\nexpression = "x >= a"\n'
    )
    segments = sweep(found, read_axis("a=0.1..100", found.problem))
    assert [s.name for s in segments] == ["interior", "least", NOTHING]
    assert [float(s.high) for s in segments] == pytest.approx([2, 5, 100])


def test_a_part_without_optimum_where_there_are_no_sums(
    own: Callable[..., ProblemAnswer],
) -> None:
    found = own(
        'minimize = "x"\n[parameters]\na = {}\n[variables]\nx = { upper = 5 }\n'
        '[[constraints]]\nname = "least"\nexpression = "x >= a"\n'
    )
    segments = sweep(found, read_axis("a=0.1..100", found.problem))
    assert [s.name for s in segments] == ["least", NOTHING]
    assert float(segments[0].high) == pytest.approx(5, rel=1e-9)


def test_a_boundary_without_closed_form(own: Callable[..., ProblemAnswer]) -> None:
    """sqrt(10/(a^3 + a)) comes down to 1 at a = 2; a^3 + a is no monomial in a."""
    found = own(
        'minimize = "a^3*x + a*x + 10/x"\n[parameters]\na = {}\n[variables]\nx = { lower = 1 }\n'
    )
    segments = sweep(found, read_axis("a=0.01..100", found.problem))
    assert [s.name for s in segments] == ["interior", "x >= 1"]
    assert float(segments[0].high) == pytest.approx(2, rel=1e-9)
    assert segments[0].boundary is None


def test_two_parameters() -> None:
    """A map, point by point, against the numerical optimum."""
    problem = load_problem(str(PROBLEMS / "mixed-parallelism.toml"))
    found = answer(problem, read_problem_settings(problem, ("D=8192", "F=32768", "W=9e10")))
    axes = [read_axis(t, problem) for t in ("B=10..1e6", "N=1..1e4")]
    regions = Regions(found, axes)
    xs, ys = (a.grid(7) for a in axes)
    table = regions.index(xs[None, :], ys[:, None])
    assert set(table.ravel()) == {0, 1}
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            values: Any = {
                **found.values,
                axes[0].symbol: sp.Rational(repr(float(x))),
                axes[1].symbol: sp.Rational(repr(float(y))),
            }
            closed = found.pieces[int(table[i, j])].value(values)
            assert closed is not None
            best = minimize(found.program, values).value
            assert best == pytest.approx(float(closed), rel=1e-7)


def test_units_of_a_range(own: Callable[..., ProblemAnswer]) -> None:
    found = own(
        'minimize = "x/W + V/x"\n[parameters]\nW = { unit = "GB/s" }\nV = { unit = "s*byte" }\n'
        '[variables]\nx = { unit = "byte" }\n',
        "V=1",
    )
    for text in ("W=1..1000", "W=1GB/s..1TB/s", "W=1e9 byte/s .. 8 Tbit/s"):
        axis = read_axis(text, found.problem)
        ends: list[Any] = [axis.low, axis.high]
        assert ends == [10**9, 10**12]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", "write name=low..high"), ("p=", "write name=low..high"), ("p=1", "write name"),
        ("p=1..", "write name"), ("p=..2", "write name"), ("p=5..2", "positive and rising"),
        ("p=2..2", "positive and rising"), ("t_o=0..3", "positive and rising"),
        ("t_o=-1..3", "positive and rising"), ("q=1..2", "q is no parameter; known: p, t_o, t_c"),
        ("m=1..2", "m is no parameter"), ("p=1..2..3", "is not a number"),
        ("p=1 s..2 s", "s does not fit 1"), ("p=nan..3", "is not a number"),
        ("p=1..1e999", "decimal exponent beyond"), ("p=0.5..3", "p must be at least 1"),
        ("p=" + "9" * 5000 + "..3", "more than 100 digits"),
    ],
)  # fmt: skip
def test_ranges_that_are_refused(text: str, expected: str) -> None:
    problem = load_problem(str(PROBLEMS / "pipeline-microbatches.toml"))
    with pytest.raises(InputError, match=expected) as caught:
        read_axis(text, problem)
    assert len(str(caught.value)) < 300


def test_exponents_are_not_swept() -> None:
    problem = load_problem(str(PROBLEMS / "compute-optimal.toml"))
    with pytest.raises(InputError, match="a stands in exponents; use --set"):
        read_axis("a=0.1..0.5", problem)


def test_numbers_that_are_missing() -> None:
    problem = load_problem(str(PROBLEMS / "mixed-parallelism.toml"))
    with pytest.raises(InputError, match="--sweep needs numbers for D, F, N, W; give them by"):
        require_numbers(answer(problem), [read_axis("B=1..2", problem)])


FOUR_TERMS = (
    'minimize = "x + a/x + x^3 + a/x^2"\n[parameters]\na = {}\nb = {}\n[variables]\n'
    'x = { upper = 5 }\n[[constraints]]\nname = "least"\nexpression = "x >= b"\n'
)


def by_brute_force(a: float, b: float) -> float:
    x = np.geomspace(b, 5, 40001)
    return float((x + a / x + x**3 + a / x**2).min())


def mapped(found: ProblemAnswer, *spans: str) -> OptimumMap:
    axes = [read_axis(t, found.problem) for t in spans]
    return optimum_map(found, Regions(found, axes), axes)


def test_a_map_of_an_optimum_without_closed_form(own: Callable[..., ProblemAnswer]) -> None:
    """Against brute force over x, at points searched and between them; b <= 5 is feasible."""
    found = mapped(own(FOUR_TERMS), "a=0.1..1000", "b=0.1..20")
    shown = {found.names[k] for k in np.unique(found.shown)}
    assert {UNKNOWN, INFEASIBLE} < shown
    beyond = found.ys > 5
    infeasible = found.shown == found.names.index(INFEASIBLE)
    assert (infeasible == beyond[:, None]).all()
    assert (np.isnan(found.logs) <= (found.ys > 5 / 1.25)[:, None]).all()
    for step, start, near in ((40, 0, 1e-6), (34, 5, 5e-3)):
        for i in range(start, 170, step):
            for j in range(start, 240, step):
                best = by_brute_force(found.xs[j], found.ys[i])
                assert np.exp(found.logs[i, j]) == pytest.approx(best, rel=near)


def test_contours_are_where_the_optimum_has_their_values(
    own: Callable[..., ProblemAnswer],
) -> None:
    drawn = mapped(own(FOUR_TERMS), "a=0.1..1000", "b=0.1..4")
    with styled():
        _, axes = new_figure((1.0,), 4)
        (handle,) = contours(axes, drawn, "optimum [s]")
    assert handle.get_label() == "optimum [s]"
    (lines,) = axes.collections
    checked = 0
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        for a, b in path.vertices[::25]:
            assert by_brute_force(a, b) == pytest.approx(float(np.exp(level)), rel=1e-2)
            checked += 1
    assert checked > 40
    assert {float(t.get_text()) for t in axes.texts} <= {
        float(f"{np.exp(x):.4g}") for x in lines.levels
    }
    assert axes.texts


def test_a_map_says_why_there_is_no_optimum(own: Callable[..., ProblemAnswer]) -> None:
    found = mapped(
        own('minimize = "p*x"\n[parameters]\np = {}\na = {}\n[variables]\nx = { upper = 5 }\n'
            '[[constraints]]\nname = "least"\nexpression = "x >= a"\n'),
        "p=1..10", "a=0.1..100",
    )
    named = np.array(found.names)[found.shown]
    assert (named == np.where(found.ys > 5, INFEASIBLE, "least")[:, None]).all()
    rows, columns = np.nonzero(found.ys <= 5)[0], found.xs
    assert np.exp(found.logs[rows]) == pytest.approx(found.ys[rows, None] * columns)
