"""The time of a matrix product: against published times, hand counts and plain arithmetic."""

import math
import random
from functools import lru_cache

import numpy as np
import pytest
import sympy as sp

from paper_code import rows
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.language.symbols import symbol, symbols
from symscale.language.units import parse_unit
from symscale.pages.formulas.formula import latex
from symscale.simulator.compiled import BLOCK, Compiled
from symscale.simulator.sparse_mlp.device import (
    TiledProduct,
    compiled_product,
    product_flop,
    product_time,
    symbolic_product,
    tiles,
    traffic,
)
from symscale.simulator.sparse_mlp.parameters import device_values, is_distributed

ONE = sp.Integer(1)


@lru_cache
def machine(name: str) -> Machine:
    return load_machine(name)


def seconds(name: str, weight_gradient: bool, d_out: float, d_in: float, n: float) -> float:
    device = machine(name)
    shape = {"d_out": d_out, "d_in": d_in, "n": n}
    compiled = compiled_product(weight_gradient, is_distributed(device))
    return float(compiled({**device_values(device), **shape})["time"])


def test_the_published_times_of_300_products() -> None:
    published = rows("matmul-times.csv")
    assert len(published) == 300
    wrong = []
    for row in published:
        shape = (float(row["d1"]), float(row["d2"]), float(row["b"]))
        time = seconds(row["gpu"], row["for_weight_grads"] == "True", *shape)
        if not math.isclose(time, float(row["time_s"]), rel_tol=1e-12):
            wrong.append((row, time))
    assert not wrong


def test_many_products_at_once_are_each_alone() -> None:
    published = [r for r in rows("matmul-times.csv") if r["gpu"] == "H100 SXM"]
    for_weights = [r for r in published if r["for_weight_grads"] == "True"]
    columns = {
        name: np.array([float(r[key]) for r in for_weights])
        for name, key in (("d_out", "d1"), ("d_in", "d2"), ("n", "b"))
    }
    together = compiled_product(True, True)({**device_values(machine("h100-sxm")), **columns})
    assert len(together["time"]) == len(for_weights) > 10
    expected = [float(r["time_s"]) for r in for_weights]
    np.testing.assert_allclose(together["time"], expected, rtol=1e-12)


@pytest.mark.parametrize("weight_gradient", [False, True])
@pytest.mark.parametrize("distributed", [False, True])
def test_compiled_is_what_is_printed(weight_gradient: bool, distributed: bool) -> None:
    """SymPy's own arithmetic on the expression, at random sizes, against the compiled one."""
    rng = random.Random(5)
    expr = product_time(symbolic_product(weight_gradient), distributed).expr
    compiled = compiled_product(weight_gradient, distributed)
    device = device_values(machine("h100-sxm"))
    for _ in range(6):
        shape = {n: 2 ** rng.randint(3, 14) * rng.choice((1, 3, 5)) for n in ("d_out", "d_in", "n")}
        floats = {**device, **{n: float(v) for n, v in shape.items()}}
        point = {symbol(n): sp.Rational(v) for n, v in floats.items() if n != "C"}
        exact = expr.xreplace(point)
        assert math.isclose(compiled(floats)["time"], float(exact), rel_tol=1e-13)


def test_the_expression_prints_as_latex() -> None:
    text = latex(product_time(symbolic_product(True), True).expr)
    for part in (r"\max", r"\left\lceil", r"\begin{cases}", r"W_{\mathrm{mem}}", "d_{"):
        assert part in text


@pytest.mark.parametrize(
    ("height", "width", "capacity", "down", "across"),
    [
        (64, 64, 4096, ONE, ONE),  # it fits
        (64, 64, 1024, 2 * ONE, 2 * ONE),  # four square tiles
        (400, 100, 2500, 8 * ONE, 2 * ONE),  # 16 squares of 50 x 50
        (8, 4096, 1024, ONE, 32 * ONE),  # flatter than a square tile: one row of tiles
        (4096, 8, 1024, 32 * ONE, ONE),  # narrower: one column
        (96, 96, 3072, sp.sqrt(3), sp.sqrt(3)),  # three tiles of equal area
    ],
)
def test_tiles_by_hand(
    height: int, width: int, capacity: int, down: sp.Expr, across: sp.Expr
) -> None:
    cut = tiles(sp.Integer(height), sp.Integer(width), sp.Integer(capacity))
    assert cut.rows == down
    assert cut.columns == across


def test_tiles_cover_the_matrix_and_fit() -> None:
    """Their number is rows times columns, and each of them fits the capacity."""
    rng = random.Random(3)
    for _ in range(200):
        height, width, capacity = (rng.randint(1, 5000) for _ in range(3))
        cut = tiles(sp.Integer(height), sp.Integer(width), sp.Integer(capacity))
        count = cut.rows * cut.columns
        assert count == -(-height * width // capacity)
        assert sp.Rational(height * width) / count <= capacity
        assert cut.rows >= 1
        assert cut.columns >= 1


def test_traffic_by_hand() -> None:
    """Weights 64 x 64, 10 tokens, four tiles, two rows and two columns.

    Forward, weights are read (4096), the right operand twice (2 x 640), and the output
    is written, and read and written again (3 x 640). For the weight gradient the weights
    are read and written (8192), both operands read twice.
    """
    d, n = sp.Integer(64), sp.Integer(10)
    forward = traffic(TiledProduct(d, d, n, False), sp.Integer(1024), sp.Integer(1))
    assert forward.direct.expr == 4096 + 2 * 640 + 3 * 640
    assert forward.between.expr == 0
    gradient = traffic(TiledProduct(d, d, n, True), sp.Integer(1024), sp.Integer(1))
    assert gradient.direct.expr == 8192 + 2 * 640 + 2 * 640


def test_traffic_between_units_by_hand() -> None:
    """16 units make one tile of the whole; among them it is cut into two by two.

    The weights fit twice into all of them, so they stay.
    """
    d, n = sp.Integer(64), sp.Integer(10)
    forward, backward = (TiledProduct(d, d, n, gradient) for gradient in (False, True))
    whole = traffic(forward, sp.Integer(1024), sp.Integer(16), distributed=True)
    assert whole.direct.expr == 640 + 640
    assert whole.between.expr == 2 * 640 + 2 * 640
    gradient = traffic(backward, sp.Integer(1024), sp.Integer(16), distributed=True)
    assert gradient.between.expr == 2 * 640 + 2 * 640


def test_weights_stay_where_they_fit_twice() -> None:
    d, n = sp.Integer(64), sp.Integer(10)
    for units, stay in ((7, False), (8, True)):
        product = TiledProduct(d, d, n, False)
        moved = traffic(product, sp.Integer(1024), sp.Integer(units)).direct.expr
        assert moved == 5 * 640 + (0 if stay else 4096)


def test_a_long_product_runs_at_the_sustained_rate() -> None:
    """Of a large square product, arithmetic takes all but the latency."""
    edge = 16384
    rate = float(machine("h100-sxm").sustained_flop_rate)
    time = seconds("h100-sxm", False, edge, edge, edge)
    assert math.isclose(time, 2 * edge**3 / rate + 4.5e-6, rel_tol=1e-12)


def test_fragments_are_whole() -> None:
    product = TiledProduct(sp.Integer(1), sp.Integer(9), sp.Integer(16), False)
    assert product_flop(product).expr == 2 * 8 * 16 * 16


def test_the_unit_is_seconds() -> None:
    assert product_time(symbolic_product(False), False).unit == parse_unit("s")


def test_ceilings_of_whole_numbers_are_exact() -> None:
    """k d / (3 k) for multiples of three: a division that rounds up would be off by one."""
    d, n = symbols("d_out n")
    compiled = Compiled({"tiles": sp.ceiling(4 * d * n / (3 * symbol("S_R")))})
    for factor in range(1, 400):
        values = {"d_out": 3.0 * factor, "n": 49.0, "S_R": 49.0}
        assert compiled(values)["tiles"] == 4 * factor


def test_blocks_of_rows_join() -> None:
    d, n = symbols("d_out n")
    compiled = Compiled({"a": sp.sqrt(d) + sp.Piecewise((n, d > 7), (d / n, True)), "b": n**2})
    length = 2 * BLOCK + 17
    values = np.arange(1.0, length + 1)
    found = compiled({"d_out": values, "n": 3.0})
    np.testing.assert_allclose(
        found["a"], np.sqrt(values) + np.where(values > 7, 3.0, values / 3), rtol=1e-15
    )
    assert found["b"] == 9.0
