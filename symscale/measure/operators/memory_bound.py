"""Operators that the bandwidth of the memory bounds: they read tensors and write one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from symscale.measure.operators.operator import Call, DeviceOperator, Library, Sizes

_BLOCK = 2**15  # elements that stay in the cache of a core while they are normalised


@dataclass(frozen=True, eq=False, kw_only=True)
class MemoryBound(DeviceOperator):
    """An operator on tensors of tokens x width, which it reads and writes once.

    Attributes:
        joins: Whether inputs of the first one's shape are counted; others are small.

    Example:
        >>> LAYER_NORM.flop({}), LAYER_NORM.moved({"tokens": 10, "width": 8, "inputs": 1}, 2)
        (0, 320.0)
    """

    joins: bool = False
    sizes = ("tokens", "width", "inputs")

    def moved(self, sizes: Sizes, word_bytes: int) -> float:
        """Inputs are read, and one tensor of their size is written."""
        return float(word_bytes * (sizes["inputs"] + 1) * sizes["tokens"] * sizes["width"])

    def label(self, sizes: Mapping[str, int]) -> str:
        """Sizes in words."""
        more = f", {sizes['inputs']} inputs" if sizes["inputs"] > 1 else ""
        return f"{sizes['tokens']} x {sizes['width']}{more}"

    def sizes_of(self, shapes: Sequence[Sequence[int]]) -> dict[str, int] | None:
        """Sizes from the first shape, whose last length is the width."""
        if not shapes or not shapes[0]:
            return None
        (*tokens, width), inputs = shapes[0], shapes.count(shapes[0]) if self.joins else 1
        return {"tokens": prod(tokens), "width": width, "inputs": inputs}


def _norm_sizes(dense: int) -> list[dict[str, int]]:
    widths = (1024,) if dense == 1 else (512, 1024, 4096)
    return sorted(
        ({"tokens": 2**p // width, "width": width} for p in range(16, 25) for width in widths),
        key=lambda size: size["tokens"] * size["width"],
    )


def _norm_numpy(library: Library, sizes: Mapping[str, int]) -> Call:
    np, x = library.module, library.random((sizes["tokens"], sizes["width"]))
    out = np.empty_like(x)
    rows = max(1, _BLOCK // x.shape[1])

    def norm() -> None:
        for start in range(0, len(x), rows):
            part, to = x[start : start + rows], out[start : start + rows]
            np.subtract(part, part.mean(axis=1, keepdims=True), out=to)
            scale = np.einsum("ij,ij->i", to, to)
            scale = 1 / np.sqrt(scale / x.shape[1] + 1e-5)
            np.multiply(to, scale[:, None], out=to)

    return norm


def _norm_torch(library: Library, sizes: Mapping[str, int]) -> Call:
    x, width = library.random((sizes["tokens"], sizes["width"])), (sizes["width"],)
    return lambda: library.module.nn.functional.layer_norm(x, width)


def _elementwise_sizes(dense: int) -> list[dict[str, int]]:
    """Beyond the caches, which would show a bandwidth that is none of the memory."""
    return [{"tokens": 2**p, "width": 1024, "inputs": 2} for p in (12, 13, 14, 15)]


def _add(library: Library, sizes: Mapping[str, int]) -> Call:
    shape = sizes["tokens"], sizes["width"]
    x, other, out = library.random(shape), library.random(shape), library.empty(shape)
    return lambda: library.module.add(x, other, out=out)


# What normalises does more than move: elementwise operators come first.
LAYER_NORM = MemoryBound(
    name="layer norm", meaning="each token is normalised", defaults={"inputs": 1},
    precedence=1, ladder=_norm_sizes, share=0.2, numpy=_norm_numpy, torch=_norm_torch,
    profiled=("aten::native_layer_norm",), labels=("layer_norm", "layernorm"),
    stand_in="elementwise",
)
ELEMENTWISE = MemoryBound(
    name="elementwise", meaning="inputs tensors are read and one is written",
    defaults={"inputs": 1}, joins=True,
    precedence=0, ladder=_elementwise_sizes, share=0.15, numpy=_add, torch=_add,
    profiled=("aten::gelu", "aten::add", "aten::mul", "aten::relu"), labels=("gelu", "add"),
    stand_in=LAYER_NORM.name,
)
MEMORY_BOUND = (LAYER_NORM, ELEMENTWISE)
