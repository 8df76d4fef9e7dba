"""Products of matrices: 2 FLOP for each multiplication and addition, bound by arithmetic."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symscale.measure.operators.operator import Call, DeviceOperator, Library, Sizes

LEAST_FLOP, MOST_FLOP = 64e6, 64e9
_SHAPES = ((1, 1, 1), (4, 1, 1), (1, 2, 0.5), (0.5, 4, 1), (2, 2, 0.25), (0.25, 1, 2))


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(DeviceOperator):
    """An operator that multiplies m x k by k x n, for each of a batch.

    Attributes:
        rank: Of its factors, how many lengths they have.

    Example:
        >>> sizes = MATRIX_PRODUCT.complete({"m": 8, "n": 4, "k": 2})
        >>> sizes
        {'m': 8, 'n': 4, 'k': 2, 'batch': 1}
        >>> MATRIX_PRODUCT.flop(sizes), MATRIX_PRODUCT.moved(sizes, 2)
        (128, 112.0)
    """

    rank: int
    sizes = ("m", "n", "k", "batch")

    def flop(self, sizes: Sizes) -> float:
        """2 m n k for each of the batch."""
        return 2 * sizes["m"] * sizes["n"] * sizes["k"] * sizes["batch"]

    def moved(self, sizes: Sizes, word_bytes: int) -> float:
        """Two matrices are read and one is written."""
        m, n, k = sizes["m"], sizes["n"], sizes["k"]
        return float(word_bytes * sizes["batch"] * (m * k + k * n + m * n))

    def label(self, sizes: Mapping[str, int]) -> str:
        """Sizes in words."""
        product = f"{sizes['m']} x {sizes['k']} x {sizes['n']}"
        return product if sizes["batch"] == 1 else f"{sizes['batch']} of {product}"

    def sizes_of(self, shapes: Sequence[Sequence[int]]) -> dict[str, int] | None:
        """Sizes from the last two shapes that are factors; what is added stands before them."""
        factors = [shape for shape in shapes if len(shape) == self.rank][-2:]
        if len(factors) < 2 or factors[0][-1] != factors[1][-2]:
            return None
        (*batch, m, k), (*_, n) = factors
        return {"m": m, "n": n, "k": k, "batch": math.prod(batch)}


def product_sizes(dense: int) -> list[dict[str, int]]:
    """Shapes of matrix products from 64 MFLOP to 64 GFLOP, by doubling.

    Args:
        dense: How many shapes of each number of FLOP; with one, the shapes take turns.

    Example:
        >>> sizes = product_sizes(1)
        >>> len(sizes), sizes[0], sizes[-1]
        (11, {'m': 320, 'n': 320, 'k': 320}, {'m': 3200, 'n': 6400, 'k': 1600})
    """
    found = []
    steps = round(math.log2(MOST_FLOP / LEAST_FLOP))
    for step in range(steps + 1):
        side = (LEAST_FLOP * 2**step / 2) ** (1 / 3)
        for turn in range(dense):
            shape = _SHAPES[(turn if dense > 1 else step % 4) % len(_SHAPES)]
            scale = math.prod(shape) ** (1 / 3)
            m, n, k = (max(round(side * part / scale / 16) * 16, 16) for part in shape)
            found.append({"m": m, "n": n, "k": k})
    return found


def _batched_sizes(dense: int) -> list[dict[str, int]]:
    return [
        {"batch": 2**b, "m": s, "n": s, "k": 64}
        for b, s in ((3, 128), (4, 256), (3, 512), (5, 256), (4, 512), (6, 512), (5, 1024))
    ]


def _multiply(library: Library, sizes: Mapping[str, int]) -> Call:
    batch = (sizes["batch"],) if sizes["batch"] > 1 else ()
    left = library.random((*batch, sizes["m"], sizes["k"]))
    right = library.random((*batch, sizes["k"], sizes["n"]))
    out = library.empty((*batch, sizes["m"], sizes["n"]))
    return lambda: library.module.matmul(left, right, out=out)


MATRIX_PRODUCT = Product(
    name="matrix product", meaning="m x k times k x n", defaults={"batch": 1}, rank=2,
    precedence=2, ladder=product_sizes, share=0.5, numpy=_multiply, torch=_multiply,
    profiled=("aten::mm", "aten::addmm"), labels=("mm", "matmul", "gemm"),
)
BATCHED_PRODUCT = Product(
    name="batched product", meaning="batch times m x k times k x n", rank=3,
    precedence=3, ladder=_batched_sizes, share=0.15, numpy=_multiply, torch=_multiply,
    profiled=("aten::bmm", "aten::baddbmm"), labels=("bmm",), stand_in=MATRIX_PRODUCT.name,
)
PRODUCTS = (MATRIX_PRODUCT, BATCHED_PRODUCT)
