"""The one rule for parallelism: what a contraction costs, however it is split.

A contraction such as `ik,kj->ij` has an output and inputs. Split dimension x over
N_x devices. A tensor is replicated over the degrees of the dimensions that it
lacks, and it (the output) or its gradient (an input) is all-reduced over them
once per step. Data parallelism is the split of tokens, which weights lack;
tensor parallelism the split of d_model or d_ff; layers and experts are dimensions
that every tensor has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from symscale.costs.collectives import all_gather_words, all_reduce_words, reduce_scatter_words
from symscale.costs.cost import Cost, cost, total
from symscale.errors import InputError

Pass = Literal["forward", "activation gradient", "weight gradient"]


@dataclass(frozen=True)
class Dimension:
    """A dimension of a contraction.

    Attributes:
        length: Its length.
        split: Over how many groups of devices it is split.
    """

    length: sp.Expr
    split: sp.Expr = sp.Integer(1)


@dataclass(frozen=True)
class Tensor:
    """An operand or the output of a contraction.

    Attributes:
        name: Its name.
        letters: Its dimensions.
        parameters: Whether it holds parameters.
    """

    name: str
    letters: str
    parameters: bool = False


@dataclass(frozen=True)
class Reduction:
    """An all-reduce that a split makes necessary, once per step.

    Attributes:
        tensor: The tensor, or the tensor whose gradient it is.
        of_gradient: Whether the gradient is reduced.
        payload: Words of the tensor, all shards together.
        participants: Over how many replicas.
        parameters: Whether the tensor holds parameters: data parallelism's reduction.
    """

    tensor: str
    of_gradient: bool
    payload: sp.Expr
    participants: sp.Expr
    parameters: bool

    @property
    def phase(self) -> Pass:
        """The product after which it takes place."""
        if not self.of_gradient:
            return "forward"
        return "weight gradient" if self.parameters else "activation gradient"

    @property
    def words(self) -> Cost:
        """Words over the network, summed over devices."""
        return cost(all_reduce_words(self.payload, self.participants), "word")


@dataclass(frozen=True)
class Contraction:
    """An einsum of two operands, with dimensions that may be split.

    Attributes:
        name: What it computes.
        operands: The two inputs.
        output: The output.
        dimensions: Length and split of each letter.
        density: Share of its multiplications that are done, below 1 where a mask
            makes a kernel skip the rest.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> I, J, K, N_I, N_J, N_K = symbols("I J K N_I N_J N_K")
        >>> product = einsum("product", "ik,kj->ij", {
        ...     "i": Dimension(I, N_I), "j": Dimension(J, N_J), "k": Dimension(K, N_K)},
        ...     parameters=(1,))
        >>> product.forward_flop.expr
        2*I*J*K
        >>> sp.expand(product.network_words.expr - 2*(I*J*(N_K - 1) + K*J*(N_I - 1)
        ...     + I*K*(N_J - 1)))
        0
    """

    name: str
    operands: tuple[Tensor, Tensor]
    output: Tensor
    dimensions: Mapping[str, Dimension]
    density: sp.Expr = sp.Integer(1)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Operands, then the output."""
        return (*self.operands, self.output)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The products of a step: forward, then the gradient of each operand."""
        gradients: list[Pass] = [
            "weight gradient" if t.parameters else "activation gradient" for t in self.operands
        ]
        return ("forward", *gradients)

    @property
    def forward_flop(self) -> Cost:
        """FLOP of the forward product: a multiplication and an addition a combination."""
        combinations = sp.Mul(*(d.length for d in self.dimensions.values()))
        return cost(2 * combinations * self.density, "FLOP")

    def flop(self, phase: Pass) -> Cost:
        """FLOP of all products of one kind; each gradient is a product of the same size."""
        return self.forward_flop * self.passes.count(phase)

    @property
    def training_flop(self) -> Cost:
        """FLOP of a step: the forward product and the gradients of both operands."""
        return self.forward_flop * len(self.passes)

    @property
    def devices(self) -> sp.Expr:
        """Devices that the splits occupy."""
        return sp.Mul(*(d.split for d in self.dimensions.values()))

    def per_device(self, amount: Cost) -> Cost:
        """A device's share of an amount that is summed over devices and spread evenly.

        Example:
            >>> from symscale.language.symbols import symbols
            >>> I, J, K, N_I = symbols("I J K N_I")
            >>> product = einsum("product", "ik,kj->ij", {
            ...     "i": Dimension(I, N_I), "j": Dimension(J), "k": Dimension(K)})
            >>> product.per_device(product.forward_flop).expr
            2*I*J*K/N_I
        """
        return amount / self.devices

    def words(self, tensor: Tensor) -> Cost:
        """Words of a tensor, all shards together, no replica counted twice."""
        return cost(sp.Mul(*(self.dimensions[x].length for x in tensor.letters)), "word")

    def words_per_device(self, tensor: Tensor) -> Cost:
        """Words of the shard of a tensor that one device holds."""
        return self.words(tensor) / sp.Mul(*(self.dimensions[x].split for x in tensor.letters))

    def replicas(self, tensor: Tensor) -> sp.Expr:
        """Over how many devices each shard of a tensor is replicated."""
        return sp.Mul(*(d.split for x, d in self.dimensions.items() if x not in tensor.letters))

    @property
    def parameter_words(self) -> Cost:
        """Words of the operands that hold parameters."""
        return total([self.words(t) for t in self.operands if t.parameters], "word")

    @property
    def activation_words(self) -> Cost:
        """Words of the operands that are activations: what the gradients need kept."""
        return total([self.words(t) for t in self.operands if not t.parameters], "word")

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """The all-reduce of each tensor over its replicas."""
        return tuple(
            Reduction(
                t.name, t is not self.output, self.words(t).expr, self.replicas(t), t.parameters
            )
            for t in self.tensors
        )

    @property
    def network_words(self) -> Cost:
        """Words over the network in a step, summed over devices."""
        return total([r.words for r in self.reductions], "word")

    @property
    def gather_words(self) -> Cost:
        """Words to gather weights that are stored in shares over their replicas (FSDP), once."""
        weights = [t for t in self.operands if t.parameters]
        return total(
            [cost(all_gather_words(self.words(t).expr, self.replicas(t)), "word") for t in weights],
            "word",
        )

    @property
    def scatter_words(self) -> Cost:
        """Words to sum the gradients of such weights and leave each replica its share (FSDP)."""
        weights = [t for t in self.operands if t.parameters]
        return total(
            [
                cost(reduce_scatter_words(self.words(t).expr, self.replicas(t)), "word")
                for t in weights
            ],
            "word",
        )

    def weight_traffic(self, phase: Pass, repeats: sp.Expr) -> Cost:
        """Words of weights through memory in one kind of product, summed over devices.

        The product is done `repeats` times, on a part of the tokens each, and no
        part leaves weights in the cache for the next. The forward product and the
        activation gradient read each weight once; the weight gradient reads its
        accumulator and writes it back. Every replica does so for itself.

        Args:
            phase: Which of the three products.
            repeats: How often each replica streams its weights.
        """
        touches = 2 if phase == "weight gradient" else 1
        weights = [t for t in self.operands if t.parameters]
        return total(
            [self.words(t) * self.replicas(t) * touches * repeats for t in weights], "word"
        )

    @property
    def sequential_products(self) -> sp.Expr:
        """Products of a step that wait for each other: forward and activation gradient.

        The weight gradient needs nothing that comes later, and nothing waits for it.
        The gradients of two activations do not wait for each other.
        """
        return sp.Integer(2 if "activation gradient" in self.passes else 1)


def einsum(
    name: str,
    expression: str,
    dimensions: Mapping[str, Dimension],
    *,
    names: tuple[str, str, str] = ("A", "B", "C"),
    parameters: tuple[int, ...] = (1,),
    density: sp.Expr = sp.Integer(1),
) -> Contraction:
    """Make a contraction from an einsum of two operands.

    Args:
        name: What it computes.
        expression: Such as "ik,kj->ij"; a letter is a dimension.
        dimensions: Length and split of each letter.
        names: Names of the operands and of the output.
        parameters: Which operands (0, 1) hold parameters.
        density: Share of the multiplications that are done.

    Raises:
        InputError: If the expression is no einsum of two operands, a letter has no
            dimension, or an output letter occurs in no operand.
    """
    left, arrow, output = expression.replace(" ", "").partition("->")
    operands = left.split(",")
    if not arrow or len(operands) != 2:
        raise InputError(f"{expression!r} is no einsum of two operands; write it like 'ik,kj->ij'")
    letters = set(left.replace(",", "")) | set(output)
    for part in (*operands, output):
        if len(set(part)) != len(part) or not part.isalpha():
            raise InputError(f"{expression!r}: {part!r} must be distinct letters")
    missing = sorted(letters - set(dimensions))
    if missing:
        raise InputError(f"{expression!r}: no dimension is given for {missing[0]!r}")
    unused = sorted(set(dimensions) - letters)
    if unused:
        raise InputError(f"{expression!r}: dimension {unused[0]!r} occurs nowhere")
    stray = sorted(set(output) - set("".join(operands)))
    if stray:
        raise InputError(f"{expression!r}: output letter {stray[0]!r} is in no operand")
    return Contraction(
        name,
        (
            Tensor(names[0], operands[0], 0 in parameters),
            Tensor(names[1], operands[1], 1 in parameters),
        ),
        Tensor(names[2], output),
        dict(dimensions),
        density,
    )
