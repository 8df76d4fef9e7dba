"""Components of a Transformer: contractions, parameters that no product uses, what is kept.

Which parallelism splits a dimension follows from its letter, the same in every
contraction of the model.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import sympy as sp

from symscale.costs.contraction import Contraction, Dimension, Tensor
from symscale.costs.cost import Cost, cost, total
from symscale.costs.model import Parallelism
from symscale.errors import FormulaError
from symscale.language.symbols import symbol

ONE = sp.Integer(1)
Place = Literal["blocks", "first stage", "last stage", "both ends"]

LETTERS: Mapping[str, Parallelism] = {
    "s": "data",  # sequences
    "t": "context",  # tokens of a sequence
    "c": "data",  # tokens that an expert sees
    "e": "expert",  # experts
    "g": "tensor",  # key and value heads
    "r": "tensor",  # query heads that share one of them
    "f": "tensor",  # hidden width of an MLP
    "y": "tensor",  # vocabulary
}
"""The parallelism that splits each dimension; the others are never split."""


@dataclass(frozen=True)
class Vector:
    """Parameters that no product uses: a norm's, a bias, a table of positions.

    Attributes:
        name: What they are.
        length: How many.
        split: Over how many devices of a tensor-parallel group.
    """

    name: str
    length: sp.Expr
    split: sp.Expr = ONE


@dataclass(frozen=True)
class Kept:
    """An activation that the forward pass keeps for the backward pass.

    Attributes:
        name: What it is.
        words: How many entries, of all tokens of a step.
        bytes_each: Bytes of one entry: w, or 1 for a mask.
        split: Over how many devices of a tensor-parallel group.
        core: Whether it is attention's own (scores and softmax), which selective
            recomputation and fused kernels do not keep.
    """

    name: str
    words: sp.Expr
    bytes_each: sp.Expr
    split: sp.Expr
    core: bool = False


@dataclass(frozen=True)
class Copies:
    """A tensor that is copied along dimensions that it lacks; its gradient is the copies' sum.

    It costs no FLOP, but where those dimensions are split, the sum runs over devices.

    Attributes:
        tensor: The tensor.
        dimensions: Its dimensions, and those along which it is copied.
    """

    tensor: Tensor
    dimensions: Mapping[str, Dimension]


@dataclass(frozen=True)
class Exchange:
    """A tensor, or its gradient, that a split makes devices sum up, once per step and block.

    Attributes:
        tensor: The tensor.
        of_gradient: Whether it is its gradient.
        parameters: Whether it holds parameters.
        payload: Words of it that each device takes part with.
        participants: Over how many devices, by parallelism.
        of_tokens: Whether it is of tokens. What is of none, such as keys of relative
            positions, follows from weights alone, and its gradient is part of theirs.
        weighted: Whether weights multiply it, so that their gradient needs all of it.
    """

    tensor: str
    of_gradient: bool
    parameters: bool
    payload: sp.Expr
    participants: Mapping[Parallelism, sp.Expr]
    of_tokens: bool
    weighted: bool

    def over(self, parallelism: Parallelism) -> sp.Expr:
        """Over how many devices of one parallelism; 1 where none."""
        return self.participants.get(parallelism, ONE)


class Role(StrEnum):
    """What a component is for, and so where it lies and who shares it; its value is a text."""

    EMBEDDING = "embedding"
    ATTENTION = "attention"
    CROSS_ATTENTION = "cross-attention"
    MLP = "mlp"
    ROUTER = "router"
    EXPERTS = "experts"
    SHARED_EXPERT = "shared expert"
    NORMS = "norms"
    FINAL_NORM = "final norm"
    POOLER = "pooler"
    LOGITS = "logits"

    @property
    def place(self) -> Place:
        """Which stages of a pipeline have it.

        Example:
            >>> Role.POOLER.place, Role.NORMS.place
            ('last stage', 'blocks')
        """
        if self is Role.EMBEDDING:
            return "first stage"
        ends = (Role.FINAL_NORM, Role.POOLER, Role.LOGITS)
        return "last stage" if self in ends else "blocks"


@dataclass(frozen=True)
class Component:
    """A part of a model, per block; costs are per step, summed over devices.

    Attributes:
        role: What it is for.
        contractions: Its products.
        vectors: Its other parameters.
        kept: What it keeps for the backward pass.
        blocks: How many blocks have one.
        tied: Whether its weights are those of another component.
        stack: Name of the stack it belongs to.
        copies: What it copies.
        core: Of its products, attention's own, which selective recomputation does again.

    Example:
        >>> Component(Role.NORMS, ()).forward_flop.expr
        0
    """

    role: Role
    contractions: tuple[Contraction, ...]
    vectors: tuple[Vector, ...] = ()
    kept: tuple[Kept, ...] = ()
    blocks: sp.Expr = ONE
    tied: bool = False
    stack: str = ""
    copies: tuple[Copies, ...] = ()
    core: tuple[Contraction, ...] = ()

    @property
    def name(self) -> str:
        """What it is called where it is printed; no cost depends on it."""
        return f"{self.stack} {self.role}".strip()

    @property
    def layered(self) -> bool:
        """Whether it belongs to the blocks, which a pipeline spreads."""
        return self.role.place == "blocks"

    @property
    def products(self) -> tuple[Contraction, ...]:
        """The products that cost FLOP: a lookup only selects rows."""
        return () if self.role is Role.EMBEDDING else self.contractions

    @property
    def forward_flop(self) -> Cost:
        """FLOP of the forward pass, all blocks."""
        return total([c.forward_flop for c in self.products], "FLOP") * self.blocks

    @property
    def training_flop(self) -> Cost:
        """FLOP of forward and backward pass, all blocks, nothing computed twice."""
        return total([c.training_flop for c in self.products], "FLOP") * self.blocks

    @property
    def forward_flop_per_device(self) -> Cost:
        """FLOP of the forward pass of one device, all blocks as if it held them."""
        return total([c.per_device(c.forward_flop) for c in self.products], "FLOP") * self.blocks

    @property
    def training_flop_per_device(self) -> Cost:
        """FLOP of forward and backward pass of one device, all blocks as if it held them."""
        return total([c.per_device(c.training_flop) for c in self.products], "FLOP") * self.blocks

    @property
    def parameters_of_block(self) -> sp.Expr:
        """Parameters of one block."""
        weights = () if self.tied else self.contractions
        return sp.Add(
            *(c.parameter_words.expr for c in weights), *(v.length for v in self.vectors)
        )

    @property
    def parameters(self) -> sp.Expr:
        """Parameters of all blocks."""
        return self.parameters_of_block * self.blocks

    @property
    def parameters_per_device(self) -> sp.Expr:
        """Parameters that a device holds of one block, nothing sharded over replicas.

        A tied component's weights lie on its device all the same.
        """
        return sp.Add(
            *(
                c.words_per_device(tensor).expr
                for c in self.contractions
                for tensor in c.operands
                if tensor.parameters
            ),
            self.vectors_per_device,
        )

    @property
    def vectors_per_device(self) -> sp.Expr:
        """Parameters that a device holds of one block and that no product uses."""
        return sp.Add(*(v.length / v.split for v in self.vectors))

    @property
    def kept_bytes(self) -> Cost:
        """Bytes kept of one block by all devices together, nothing held twice."""
        return total([cost(k.words * k.bytes_each, "byte") for k in self.kept], "byte")


def exchanges(
    contractions: Iterable[Contraction], copies: Iterable[Copies] = ()
) -> tuple[Exchange, ...]:
    """Return what the splits of contractions make devices exchange, each tensor once.

    Contractions that share an input share its gradient's reduction: it runs over the
    largest degree that the input lacks in any of them.

    Args:
        contractions: The contractions.
        copies: The tensors that are copied besides.

    Raises:
        FormulaError: If a letter is split that `LETTERS` does not know.
    """
    found: dict[tuple[str, bool], Exchange] = {}

    def add(
        tensor: Tensor, of_gradient: bool, dimensions: Mapping[str, Dimension], weighted: bool
    ) -> None:
        key = (tensor.name, of_gradient)
        degrees = _lacking(tensor, dimensions)
        if key in found:
            old = found[key]
            for kind, degree in old.participants.items():
                # The degrees of one parallelism lie on the same devices: not a product.
                degrees[kind] = sp.Max(degree, degrees[kind]) if kind in degrees else degree
            found[key] = replace(
                old, participants=degrees, weighted=old.weighted or weighted
            )
            return
        payload = sp.Mul(*(dimensions[x].length / dimensions[x].split for x in tensor.letters))
        of_tokens = any(LETTERS.get(x) == "data" for x in tensor.letters)
        found[key] = Exchange(
            tensor.name, of_gradient, tensor.parameters, payload, degrees, of_tokens, weighted
        )

    for contraction in contractions:
        weighted = any(operand.parameters for operand in contraction.operands)
        for tensor in contraction.tensors:
            of_gradient = tensor is not contraction.output
            add(tensor, of_gradient, contraction.dimensions, weighted)
    for copied in copies:
        add(copied.tensor, True, copied.dimensions, False)
    return tuple(exchange for exchange in found.values() if exchange.participants)


def _lacking(
    tensor: Tensor, dimensions: Mapping[str, Dimension]
) -> dict[Parallelism, sp.Expr]:
    """Over how many devices of each parallelism a tensor is replicated."""
    degrees: dict[Parallelism, sp.Expr] = {}
    for letter, dimension in dimensions.items():
        if letter not in tensor.letters and dimension.split != 1:
            if letter not in LETTERS:
                known = ", ".join(LETTERS)
                raise FormulaError(
                    f"dimension {letter!r}, which {tensor.name!r} lacks, is split over "
                    f"{dimension.split} devices, but of no parallelism; LETTERS in "
                    f"symscale/costs/transformer/component.py knows {known}"
                )
            kind = LETTERS[letter]
            degrees[kind] = degrees.get(kind, ONE) * dimension.split
    return degrees


def word_bytes() -> sp.Expr:
    """Bytes of a word, w."""
    return symbol("w")
