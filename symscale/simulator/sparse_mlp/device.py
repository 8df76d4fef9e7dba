r"""The time of a matrix product on one device, tile by tile.

A product of weights d_out x d_in with n tokens streams through three levels: from
memory into the shared cache, from there into the multiprocessors, and on into the
registers. At each level the output or the weights are cut into tiles that fit, and
an operand is read again for every row or column of tiles. The slowest of the three
streams and of the arithmetic sets the time.

Source: the program of the data-movement study, repository
ege-erdil/limits_to_distributed_training, commit b1f771c.

Example:
    >>> from symscale.facts.machines.lumped import load_machine
    >>> from symscale.simulator.sparse_mlp.parameters import device_values
    >>> h100 = device_values(load_machine("h100-sxm"))
    >>> shape = {"d_out": 2048.0, "d_in": 1024.0, "n": 1536.0}
    >>> print(f"{compiled_product(False, True)({**h100, **shape})['time'] * 1e6:.9f} us")
    13.801823859 us
"""

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from symscale.costs.cost import Cost, cost
from symscale.costs.times import memory_time
from symscale.language.symbols import symbol, symbols
from symscale.simulator.compiled import Compiled
from symscale.simulator.extremes import greatest, least

USABLE = sp.Rational(3, 4)
"""Share of a cache or register file that holds tiles."""

FRAGMENT = 8
"""Tensor cores multiply in fragments of 8 x 8 x 8."""


@dataclass(frozen=True)
class TiledProduct:
    """A matrix product on one device.

    Attributes:
        d_out: Rows of its weights.
        d_in: Columns of its weights.
        n: Tokens.
        weight_gradient: Whether the weights are the output, read and written.
    """

    d_out: sp.Expr
    d_in: sp.Expr
    n: sp.Expr
    weight_gradient: bool


def symbolic_product(weight_gradient: bool) -> TiledProduct:
    """The product whose sizes are symbols of their own.

    Example:
        >>> symbolic_product(False)
        TiledProduct(d_out=d_out, d_in=d_in, n=n, weight_gradient=False)
    """
    d_out, d_in, n = symbols("d_out d_in n")
    return TiledProduct(d_out, d_in, n, weight_gradient)


@dataclass(frozen=True)
class Tiles:
    """How many rows and columns of tiles a matrix is cut into.

    Attributes:
        rows: Rows of tiles, at least 1.
        columns: Columns of tiles, at least 1.
    """

    rows: sp.Expr
    columns: sp.Expr


def tiles(height: sp.Expr, width: sp.Expr, capacity: sp.Expr) -> Tiles:
    """Cut a matrix into the fewest tiles that fit, as square as they can be.

    q = ceil(height width / capacity) tiles of equal area. Square tiles make
    sqrt(q height / width) rows; there are at least 1 and at most q.

    Args:
        height: Rows of the matrix.
        width: Its columns.
        capacity: Words that a tile may have.

    Example:
        >>> cut = tiles(sp.Integer(400), sp.Integer(100), sp.Integer(2500))
        >>> cut.rows, cut.columns
        (8, 2)
    """
    count = sp.ceiling(height * width / capacity)
    rows = least(greatest(sp.Integer(1), sp.sqrt(count * height / width)), count)
    return Tiles(rows, count / rows)


@dataclass(frozen=True)
class Traffic:
    """Words that a product moves into one level of memory.

    Attributes:
        direct: From the level above.
        between: Between the units of the level, where they reach each other.
    """

    direct: Cost
    between: Cost


def traffic(
    product: TiledProduct, capacity: sp.Expr, units: sp.Expr, *, distributed: bool = False
) -> Traffic:
    """Words of a product into a level of memory.

    Weights that fit into all units twice stay there. The right operand is read for
    every row of tiles; the left one for every column, and if it is an output that is
    accumulated, written and read again but for the first time. Units that reach each
    other's memory make one tile of all of theirs, and pass parts of it on.

    Args:
        product: The product, weights d_out x d_in on n tokens.
        capacity: Words that one unit holds.
        units: Units at work.
        distributed: Whether units reach each other's memory.

    Example:
        >>> product = TiledProduct(sp.Integer(5), sp.Integer(3), sp.Integer(7), False)
        >>> traffic(product, sp.Integer(1000), sp.Integer(1)).direct.expr
        56
    """
    d_out, d_in, n = product.d_out, product.d_in, product.n
    weight_gradient = product.weight_gradient
    whole = capacity * units
    big = tiles(d_out, d_in, whole if distributed else capacity)
    weights = sp.Piecewise(
        (0, 2 * d_out * d_in <= whole), (d_out * d_in * (2 if weight_gradient else 1), True)
    )
    left = big.columns if weight_gradient else 2 * big.columns - 1
    direct = weights + big.rows * d_in * n + left * d_out * n
    between: sp.Expr = sp.Integer(0)
    if distributed:
        small = tiles(d_out, d_in, capacity)
        between = _if_several(small.rows) * d_in * n
        if weight_gradient:
            between += _if_several(small.columns) * d_out * n
        else:
            between += 2 * (small.columns - 1) * d_out * n
    return Traffic(cost(direct, "word"), cost(between, "word"))


def _if_several(count: sp.Expr) -> sp.Expr:
    return sp.Piecewise((count, count > 1), (0, True))


def product_flop(product: TiledProduct) -> Cost:
    """FLOP of a product in whole fragments: 2 ceil(d_out/8) ceil(d_in/8) ceil(n/8) 8^3.

    Example:
        >>> product_flop(TiledProduct(sp.Integer(9), sp.Integer(8), sp.Integer(8), False)).expr
        2048
    """
    lengths = (product.d_out, product.d_in, product.n)
    edges = [FRAGMENT * sp.ceiling(x / FRAGMENT) for x in lengths]
    return cost(2 * sp.Mul(*edges), "FLOP")


STREAMS = ("arithmetic", "memory", "cache", "shared memory")
"""What a product can be limited by; the slowest sets its time."""


def streams(product: TiledProduct, distributed: bool) -> dict[str, Cost]:
    """Seconds of a product's arithmetic and of each of its streams, by the names of `STREAMS`.

    In the sizes of the product and C_s, W_mem, W_L2, W_sh, S_L2, S_R, k_MP and k_PB of
    the device.

    Args:
        product: The product.
        distributed: Whether multiprocessors reach each other's memory.
    """
    registers, cache, processors, blocks = symbols("S_R S_L2 k_MP k_PB")
    block = USABLE * registers
    multiprocessor = blocks * block
    shared_cache = greatest(USABLE * cache, multiprocessor)
    into_cache = traffic(product, shared_cache, sp.Integer(1))
    into_processors = traffic(product, multiprocessor, processors, distributed=distributed)
    into_registers = traffic(product, block, processors * blocks)
    through_cache = into_cache.direct + into_processors.direct
    shared = into_processors.direct + into_processors.between + into_registers.direct
    return {
        "arithmetic": product_flop(product) / cost(symbol("C_s"), "FLOP/s"),
        "memory": memory_time(into_cache.direct, sp.Integer(1)),
        "cache": through_cache / cost(symbol("W_L2"), "word/s"),
        "shared memory": shared / cost(symbol("W_sh"), "word/s"),
    }


def product_time(product: TiledProduct, distributed: bool) -> Cost:
    """Seconds of one matrix product: the slowest of its streams, plus its latency.

    In the symbols of `streams`, and tau_mm.

    Args:
        product: The product.
        distributed: Whether multiprocessors reach each other's memory.

    Example:
        >>> str(product_time(symbolic_product(False), True).unit)
        's'
    """
    first, *others = streams(product, distributed).values()
    for other in others:
        first.require_same_unit(other)
    slowest = greatest(first.expr, *(other.expr for other in others))
    return first.with_expr(slowest + symbol("tau_mm"))


def least_product_time(product: TiledProduct) -> Cost:
    """A time that no product is below: its arithmetic at the sustained rate, and latency.

    Example:
        >>> least_product_time(symbolic_product(False)).expr
        tau_mm + 2*d_in*d_out*n/C_s
    """
    flop = cost(2 * product.d_out * product.d_in * product.n, "FLOP")
    return flop / cost(symbol("C_s"), "FLOP/s") + cost(symbol("tau_mm"), "s")


@lru_cache(maxsize=8)
def compiled_product(weight_gradient: bool, distributed: bool) -> Compiled:
    """The time of a product as a function of arrays; its result is called "time"."""
    product = symbolic_product(weight_gradient)
    return Compiled({"time": product_time(product, distributed).expr})
