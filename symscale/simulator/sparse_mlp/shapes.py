"""Shapes of models: width, depth, sparsity and batch by scaling rules.

A rule is an expression in the notation, the published one or a user's own, that gives
a real number; depth, experts and batch are the nearest number that divides well.

Example:
    >>> shape = published_shapes()[0]
    >>> shape.d_model, shape.layers, shape.batch_tokens, f"{shape.training_flop:.6g}"
    (12288, 192, 7340032, '6.45488e+24')
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.errors import InputError, ParseError, UnknownNameError
from symscale.language.parsing import parse_expression
from symscale.language.symbols import symbol
from symscale.simulator.compiled import Compiled

SEQUENCE_TOKENS = 2048
"""Tokens of a sequence; a batch is a whole number of sequences."""

DUAL_WIDTH = 4
"""d_ff over d_model."""

_WIDTH_FACTORS, _WIDTH_POWERS = range(1, 16, 2), range(11, 22)
_NARROWEST, _WIDEST = 12288, 128 * 12288
_MOST_SIZE, _MOST_TOKENS = 2.0**53, 1e40
_ROUND_FACTORS, _ROUND_POWERS = range(1, 10, 2), range(64)

BATCH_RULES: Mapping[str, str] = MappingProxyType(
    {
        "default": "2048^2*sqrt(E)*(T/3e23)^(1/6)",
        "none": "2048^2",
        "deepseek": "0.2920*sqrt(E)*T^0.3271",
    }
)
"""Batch size in tokens: with compute to the power 1/6, constant, or as DeepSeek fitted it."""

DENSE, SPARSE = "1", "8*sqrt(d_model*d_ff/(4*12288^2))"
"""Experts: one, or growing with the width."""

_USED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "depth": ("d_model", "d_ff"),
        "experts": ("d_model", "d_ff", "L"),
        "data": ("d_model", "d_ff", "L", "E", "P"),
        "batch": ("d_model", "d_ff", "L", "E", "P", "D", "T"),
    }
)


@dataclass(frozen=True)
class Rules:
    """How a model grows; each rule is an expression in the notation.

    Attributes:
        depth: Number of blocks, L, from d_model and d_ff.
        experts: Sparsity factor, E, from those and L.
        data: Tokens of the run, D, from those, E and P.
        batch: Batch size b in tokens from all of these and T; or a name in `BATCH_RULES`.
    """

    depth: str = "0.10056*(d_model*d_ff)^0.3751"
    experts: str = DENSE
    data: str = "20*P"
    batch: str = "default"


PUBLISHED = Rules()
"""The dense models of the data-movement study."""


@dataclass(frozen=True)
class Shape:
    """A model and its run.

    Attributes:
        d_model: Width of the residual stream.
        d_ff: Width of the hidden layer.
        layers: Blocks.
        experts: Experts, of which each token sees one.
        batch_tokens: Tokens of a batch.
        run_tokens: Tokens of the run.
    """

    d_model: int
    d_ff: int
    layers: int
    experts: int
    batch_tokens: int
    run_tokens: float

    @property
    def parameters(self) -> float:
        """Number of parameters, of all experts."""
        return 2.0 * self.layers * self.d_model * self.d_ff * self.experts

    @property
    def training_flop(self) -> float:
        """FLOP of the run, 6 for each active parameter and token."""
        return 6.0 * self.parameters / self.experts * self.run_tokens

    def values(self) -> dict[str, float]:
        """The shape as values of the notation."""
        return {
            "d_model": float(self.d_model), "d_ff": float(self.d_ff), "L": float(self.layers),
            "E": float(self.experts), "b": float(self.batch_tokens), "D": float(self.run_tokens),
        }  # fmt: skip


@lru_cache(maxsize=1)
def round_numbers() -> tuple[int, ...]:
    """The numbers f 2^i with f in 1, 3, 5, 7, 9, which have many divisors.

    Example:
        >>> round_numbers()[:12]
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14)
    """
    return tuple(sorted({f << i for f in _ROUND_FACTORS for i in _ROUND_POWERS}))


def nearest_round(value: float) -> int:
    """The nearest round number, the smaller at a tie.

    Example:
        >>> nearest_round(11), nearest_round(11.1), nearest_round(0.2)
        (10, 12, 1)
    """
    numbers = round_numbers()
    place = bisect_left(numbers, value)
    near = numbers[max(0, place - 1) : place + 1]
    return min(near, key=lambda n: abs(n - value))


def published_widths() -> tuple[int, ...]:
    """The widths of the study: f 2^i, f odd below 16, from 12288 to 128 x 12288.

    Example:
        >>> len(published_widths()), published_widths()[:3]
        (55, (12288, 14336, 16384))
    """
    every = {f << i for f in _WIDTH_FACTORS for i in _WIDTH_POWERS}
    return tuple(sorted(w for w in every if _NARROWEST <= w <= _WIDEST))


@lru_cache(maxsize=64)
def _rule(name: str, text: str) -> Callable[[Mapping[str, float]], float]:
    """Read a rule and compile it.

    Raises:
        ParseError: If it is no expression of what it may depend on.
    """
    names = {n: symbol(n) for n in _USED[name]}
    where = f"rule of the {name}"
    try:
        expr = parse_expression(text, names)
    except (ParseError, UnknownNameError) as error:
        raise error.with_context(where) from None
    compiled = Compiled({name: expr})

    def value(of: Mapping[str, float]) -> float:
        result = float(compiled(of)[name])
        if not 0 < result < (_MOST_TOKENS if name == "data" else _MOST_SIZE):
            raise InputError(f"{where}: {text} is {result:.4g}, no size that a model can have")
        return result

    return value


def make_shape(d_model: int, rules: Rules = PUBLISHED) -> Shape:
    """The shape of a width by scaling rules.

    Args:
        d_model: Its width.
        rules: The rules.

    Raises:
        InputError: If a rule is malformed, or gives no size that a model can have.

    Example:
        >>> make_shape(12288, Rules(experts=SPARSE)).experts
        8
    """
    d_ff = DUAL_WIDTH * d_model
    known = {"d_model": float(d_model), "d_ff": float(d_ff)}
    known["L"] = float(nearest_round(_rule("depth", rules.depth)(known)))
    known["E"] = float(nearest_round(_rule("experts", rules.experts)(known)))
    known["P"] = float(_parameters()(known)["P"])
    known["D"] = _rule("data", rules.data)(known)
    known["T"] = 6.0 * known["P"] / known["E"] * known["D"]
    experts = int(known["E"])
    wanted = _rule("batch", BATCH_RULES.get(rules.batch, rules.batch))(known)
    tokens = experts * nearest_round(wanted / SEQUENCE_TOKENS / experts) * SEQUENCE_TOKENS
    if tokens > _MOST_SIZE:
        raise InputError(f"rule of the batch: {tokens:.4g} tokens are more than 2^53")
    return Shape(d_model, d_ff, int(known["L"]), experts, tokens, known["D"])


@lru_cache(maxsize=1)
def _parameters() -> Compiled:
    return Compiled({"P": sparse_mlp().parameters})


def published_shapes(rules: Rules = PUBLISHED) -> list[Shape]:
    """The shape of every published width, narrowest first."""
    return [make_shape(width, rules) for width in published_widths()]

