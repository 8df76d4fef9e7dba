"""Contractions against a simulated grid of devices that really multiplies and really sends.

Every device owns its blocks of both inputs, multiplies what it has, one number by
one number, and takes part in ring all-reduces of actual values. The sums must
come out right, and then the multiplications and the words are counted.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from sampling import examples
from symscale.costs.collectives import all_gather_words, all_reduce_words, reduce_scatter_words
from symscale.costs.contraction import Contraction, Dimension, Pass, Tensor, einsum
from symscale.errors import InputError
from symscale.language.symbols import symbols
from symscale.language.units import parse_unit

Index = tuple[int, ...]
Shard = dict[Index, int]
WORD, FLOP = parse_unit("word"), parse_unit("FLOP")
PHASES: tuple[Pass, ...] = ("forward", "activation gradient", "weight gradient")

# A ring, and the grid


@dataclass
class Ring:
    """What went over the links in the two phases of ring all-reduces."""

    scattered: int = 0
    gathered: int = 0

    @property
    def words(self) -> int:
        return self.scattered + self.gathered

    def all_reduce(self, held: list[list[int]]) -> list[list[int]]:
        """Sum vectors over a ring; chunk c is every p-th word from the c-th on."""
        held, p = [list(vector) for vector in held], len(held)
        for turn in range(p - 1):
            sent = [held[i][(i - turn) % p :: p] for i in range(p)]
            for i, chunk in enumerate(sent):
                goal, c = held[(i + 1) % p], (i - turn) % p
                goal[c::p] = [mine + new for mine, new in zip(goal[c::p], chunk, strict=True)]
                self.scattered += len(chunk)
        for turn in range(p - 1):
            sent = [held[i][(i + 1 - turn) % p :: p] for i in range(p)]
            for i, chunk in enumerate(sent):
                held[(i + 1) % p][(i + 1 - turn) % p :: p] = chunk
                self.gathered += len(chunk)
        return held


@dataclass(frozen=True)
class Grid:
    """An einsum over a grid of devices, one coordinate for each letter."""

    operands: tuple[str, str]
    output: str
    lengths: Mapping[str, int]
    splits: Mapping[str, int]

    @property
    def letters(self) -> list[str]:
        return list(self.lengths)

    @property
    def tensors(self) -> tuple[str, str, str]:
        return (*self.operands, self.output)

    def devices(self) -> Iterator[dict[str, int]]:
        for place in product(*(range(self.splits[x]) for x in self.letters)):
            yield dict(zip(self.letters, place, strict=True))

    def block(self, letters: str | Sequence[str], device: Mapping[str, int]) -> Iterator[Index]:
        """Every index of a tensor that lies in the block of a device."""
        ranges = []
        for x in letters:
            size = self.lengths[x] // self.splits[x]
            ranges.append(range(device[x] * size, (device[x] + 1) * size))
        return product(*ranges)

    def whole(self, letters: str) -> Iterator[Index]:
        return product(*(range(self.lengths[x]) for x in letters))

    def multiply(
        self, goal: int, given: Sequence[Mapping[Index, int] | None], device: Mapping[str, int]
    ) -> tuple[Shard, int]:
        """A device's part of one of the three products, and its multiply-adds.

        Args:
            goal: Which tensor (0, 1, 2) comes out; it is summed over what it lacks.
            given: The shards of the three tensors; that of `goal` is not read.
            device: Where.
        """
        position = {x: k for k, x in enumerate(self.letters)}
        first, second = (t for t in range(3) if t != goal)
        left, right = given[first], given[second]
        assert left is not None
        assert right is not None
        result: Shard = dict.fromkeys(self.block(self.tensors[goal], device), 0)
        count = 0
        for point in self.block(self.letters, device):
            at = [tuple(point[position[x]] for x in t) for t in self.tensors]
            result[at[goal]] += left[at[first]] * right[at[second]]
            count += 1
        return result, count


@dataclass(frozen=True)
class Count:
    """What one product of a step cost, all devices together, and one tensor's layout."""

    multiply_adds: int
    scattered: int
    gathered: int
    words_per_device: int
    replicas: int

    @property
    def words(self) -> int:
        return self.scattered + self.gathered


def run(grid: Grid, seed: int) -> tuple[Count, Count, Count]:
    """Do a step on the grid: the gradients of the operands, and the output, in this order.

    The result of every product is compared with that of one big device.
    """
    numbers = random.Random(seed)
    values: list[Shard] = [
        {index: numbers.randrange(-9, 10) for index in grid.whole(t)} for t in grid.tensors
    ]
    alone = Grid(grid.operands, grid.output, grid.lengths, dict.fromkeys(grid.letters, 1))
    counts = []
    for goal, letters in enumerate(grid.tensors):
        multiply_adds, ring = 0, Ring()
        groups: dict[Index, list[Shard]] = {}
        for device in grid.devices():
            owned = [{i: v[i] for i in grid.block(t, device)}
                     for t, v in zip(grid.tensors, values, strict=True)]  # fmt: skip
            part, count = grid.multiply(goal, owned, device)
            multiply_adds += count
            groups.setdefault(tuple(device[x] for x in letters), []).append(part)
        expected, _ = alone.multiply(goal, values, dict.fromkeys(grid.letters, 0))
        sizes = {len(part) for group in groups.values() for part in group}
        members = {len(group) for group in groups.values()}
        for group in groups.values():
            order = list(group[0])
            for summed in ring.all_reduce([[part[i] for i in order] for part in group]):
                assert summed == [expected[i] for i in order]
        assert len(sizes) == len(members) == 1
        counts.append(
            Count(multiply_adds, ring.scattered, ring.gathered, sizes.pop(), members.pop())
        )
    return counts[0], counts[1], counts[2]


def contraction_of(grid: Grid, parameters: tuple[int, ...] = (1,)) -> Contraction:
    dimensions = {
        x: Dimension(sp.Integer(grid.lengths[x]), sp.Integer(grid.splits[x])) for x in grid.letters
    }
    return einsum("product", f"{','.join(grid.operands)}->{grid.output}", dimensions,
                  parameters=parameters)  # fmt: skip


def compare(grid: Grid, parameters: tuple[int, ...], seed: int = 0) -> None:
    """Compare everything that a contraction says with what the grid counted."""
    contraction = contraction_of(grid, parameters)
    counts = run(grid, seed)
    kinds: dict[Pass, int] = dict.fromkeys(PHASES, 0)
    kinds["forward"] = counts[2].multiply_adds
    for operand in (0, 1):
        kind: Pass = "weight gradient" if operand in parameters else "activation gradient"
        kinds[kind] += counts[operand].multiply_adds
    for phase, multiply_adds in kinds.items():
        assert contraction.flop(phase).expr == 2 * multiply_adds
        assert contraction.flop(phase).unit == FLOP
    assert contraction.forward_flop.expr == 2 * counts[2].multiply_adds
    assert contraction.training_flop.expr == 2 * sum(kinds.values())
    assert contraction.devices == len(list(grid.devices()))
    assert contraction.network_words.expr == sum(count.words for count in counts)
    assert contraction.network_words.unit == WORD
    for k, (tensor, reduction) in enumerate(
        zip(contraction.tensors, contraction.reductions, strict=True)
    ):
        assert contraction.words(tensor).expr == len(list(grid.whole(grid.tensors[k])))
        assert contraction.words_per_device(tensor).expr == counts[k].words_per_device
        assert contraction.replicas(tensor) == counts[k].replicas
        assert reduction.words.expr == counts[k].words
        assert reduction.of_gradient is (k < 2)
        assert reduction.parameters is (k in parameters)
    sizes = [len(list(grid.whole(t))) for t in grid.operands]
    assert contraction.parameter_words.expr == sum(sizes[k] for k in parameters)
    assert contraction.activation_words.expr == sum(sizes[k] for k in {0, 1} - {*parameters})


# Matrix products


@pytest.mark.parametrize(
    ("lengths", "splits"),
    [
        ((2, 3, 4), (1, 1, 1)),
        ((4, 3, 5), (4, 1, 1)),
        ((2, 6, 3), (1, 3, 1)),
        ((3, 2, 8), (1, 1, 4)),
        ((4, 6, 2), (2, 3, 2)),
        ((6, 2, 10), (3, 2, 5)),
        ((3, 3, 3), (3, 3, 3)),
    ],
)
def test_a_matrix_product_on_a_grid(lengths: Index, splits: Index) -> None:
    grid = Grid(
        ("ik", "kj"), "ij", dict(zip("ijk", lengths, strict=True)),
        dict(zip("ijk", splits, strict=True)),
    )  # fmt: skip
    compare(grid, (1,))


def matrix_product() -> Contraction:
    i, j, k, n_i, n_j, n_k = symbols("I J K N_I N_J N_K")
    lengths = {"i": Dimension(i, n_i), "j": Dimension(j, n_j), "k": Dimension(k, n_k)}
    return einsum("product", "ik,kj->ij", lengths)


def test_the_formula_of_the_matrix_product() -> None:
    i, j, k, n_i, n_j, n_k = symbols("I J K N_I N_J N_K")
    words = 2 * (i * j * (n_k - 1) + k * j * (n_i - 1) + i * k * (n_j - 1))
    assert sp.expand(matrix_product().network_words.expr - words) == 0
    assert sp.expand(matrix_product().forward_flop.expr - 2 * i * j * k) == 0
    assert sp.expand(matrix_product().training_flop.expr - 6 * i * j * k) == 0


def test_a_device_has_its_share_of_the_products() -> None:
    """Every device multiplies its own block: that of I/N_I by K/N_K by J/N_J."""
    product = matrix_product()
    shares = {x: d.length / d.split for x, d in product.dimensions.items()}
    block = 2 * sp.Mul(*shares.values())
    assert sp.simplify(product.per_device(product.forward_flop).expr - block) == 0
    assert product.per_device(product.training_flop).unit == product.training_flop.unit


def test_whose_reduction_each_term_is() -> None:
    """With tokens in rows, weights are reduced over the split of the tokens."""
    i, j, k, n_i, n_j, n_k = symbols("I J K N_I N_J N_K")
    found = {(r.tensor, r.of_gradient, r.parameters): r for r in matrix_product().reductions}
    assert sp.expand(found["A", True, False].words.expr - 2 * i * k * (n_j - 1)) == 0
    assert sp.expand(found["B", True, True].words.expr - 2 * k * j * (n_i - 1)) == 0
    assert sp.expand(found["C", False, False].words.expr - 2 * i * j * (n_k - 1)) == 0


@pytest.mark.parametrize("participants", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("payload", [1, 7, 24])
def test_a_ring_all_reduce(payload: int, participants: int) -> None:
    ring = Ring()
    held = [[i * 100 + w for w in range(payload)] for i in range(participants)]
    expected = [sum(column) for column in zip(*held, strict=True)]
    assert ring.all_reduce(held) == [expected] * participants
    sizes = sp.Integer(payload), sp.Integer(participants)
    assert reduce_scatter_words(*sizes) == ring.scattered
    assert all_gather_words(*sizes) == ring.gathered
    assert all_reduce_words(*sizes) == ring.words


# Any einsum


@st.composite
def grids(draw: st.DrawFn, *, split: bool = True, batch: bool = False) -> Grid:
    """A random einsum with random sizes, small enough to multiply out.

    Args:
        draw: How to draw.
        split: Whether dimensions may be split.
        batch: Whether the letter "z" is in all three tensors.
    """
    count = draw(st.integers(2, 4))
    homes = [draw(st.sampled_from(["A", "B", "AB", "AC", "BC", "ABC"])) for _ in range(count)]
    members = dict(zip("abcd", homes, strict=False))
    if batch:
        members["z"] = "ABC"
    tensors = []
    for name in "ABC":
        letters = [x for x, home in members.items() if name in home]
        assume(letters)
        tensors.append("".join(draw(st.permutations(letters))))
    splits = {x: draw(st.integers(1, 3)) if split else 1 for x in members}
    lengths = {x: splits[x] * draw(st.integers(1, 3)) for x in members}
    assume(prod(lengths.values()) <= 600 and prod(splits.values()) <= 40)
    return Grid((tensors[0], tensors[1]), tensors[2], lengths, splits)


some_parameters = st.sampled_from([(), (0,), (1,), (0, 1)])


@examples(30)
@given(grids(), some_parameters, st.integers(0, 99))
def test_any_einsum_on_a_grid(grid: Grid, parameters: tuple[int, ...], seed: int) -> None:
    compare(grid, parameters, seed)


@examples(30)
@given(grids(split=False), some_parameters)
def test_without_a_split_nothing_moves(grid: Grid, parameters: tuple[int, ...]) -> None:
    contraction = contraction_of(grid, parameters)
    assert contraction.network_words.expr == 0
    assert all(contraction.replicas(t) == 1 for t in contraction.tensors)
    assert all(r.words.expr == 0 for r in contraction.reductions)


@examples(30)
@given(grids(batch=True), st.integers(2, 5), st.integers(2, 5))
def test_a_batch_dimension_adds_up(grid: Grid, more: int, pieces: int) -> None:
    """Two batches cost as much together as apart; to split the batch costs no word."""

    def costs(length: int, split: int) -> tuple[sp.Expr, ...]:
        lengths, splits = {**grid.lengths, "z": length}, {**grid.splits, "z": split}
        found = contraction_of(Grid(grid.operands, grid.output, lengths, splits))
        return (found.network_words.expr, found.training_flop.expr, found.parameter_words.expr,
                found.activation_words.expr)  # fmt: skip

    size = grid.lengths["z"]
    once, other, both = costs(size, 1), costs(more, 1), costs(size + more, 1)
    assert both == tuple(x + y for x, y in zip(once, other, strict=True))
    assert costs(size * pieces, pieces) == tuple(x * pieces for x in once)


@examples(30)
@given(grids(), st.integers(2, 5))
def test_words_grow_with_every_length_in_a_tensor(grid: Grid, factor: int) -> None:
    """Scaled by k in every length, a tensor with r letters costs k**r times the words."""
    larger = Grid(grid.operands, grid.output, {x: factor * n for x, n in grid.lengths.items()},
                  grid.splits)  # fmt: skip
    before, after = contraction_of(grid), contraction_of(larger)
    for tensor, small, large in zip(
        before.tensors, before.reductions, after.reductions, strict=True
    ):
        assert large.words.expr == small.words.expr * factor ** len(tensor.letters)
    assert after.training_flop.expr == before.training_flop.expr * factor ** len(grid.letters)


@examples(30)
@given(grids())
def test_words_are_the_sum_over_tensors(grid: Grid) -> None:
    """A reduction depends on nothing but the splits that its tensor lacks."""
    contraction = contraction_of(grid)
    parts = []
    for k, letters in enumerate(grid.tensors):
        own = {x: 1 if x in letters else n for x, n in grid.splits.items()}
        alone = contraction_of(Grid(grid.operands, grid.output, grid.lengths, own))
        parts.append(alone.reductions[k].words.expr)
    assert contraction.network_words.expr == sum(parts)


# Memory, and what waits for what


@pytest.mark.parametrize(("parameters", "weights"), [((1,), "kj"), ((0,), "ik"), ((), None)])
def test_weights_through_memory(parameters: tuple[int, ...], weights: str | None) -> None:
    """Every device streams its shard once a repetition; an accumulator goes both ways."""
    grid = Grid(("ik", "kj"), "ij", {"i": 6, "j": 4, "k": 9}, {"i": 3, "j": 2, "k": 3})
    repeats = 5
    moved: dict[Pass, int] = dict.fromkeys(PHASES, 0)
    for device in grid.devices():
        for _ in range(repeats):
            for _ in grid.block(weights, device) if weights else ():
                moved["forward"] += 1  # read
                moved["activation gradient"] += 1  # read
                moved["weight gradient"] += 1  # read
                moved["weight gradient"] += 1  # written
    contraction = contraction_of(grid, parameters)
    for phase in PHASES:
        traffic = contraction.weight_traffic(phase, sp.Integer(repeats))
        assert traffic.expr == moved[phase]
        assert traffic.unit == WORD


@pytest.mark.parametrize("parameters", [(), (0,), (1,), (0, 1)])
def test_products_that_wait_for_each_other(parameters: tuple[int, ...]) -> None:
    """The longest chain from the inputs of a product to the gradients of its inputs.

    The gradients wait for the forward product (through all that comes after it),
    not for each other; and nothing waits for the gradient of a weight.
    """
    waits_for: dict[str, list[str]] = {"forward": []}
    for operand in {0, 1} - {*parameters}:
        waits_for[f"gradient of {operand}"] = ["forward"]

    def depth(name: str) -> int:
        return 1 + max((depth(before) for before in waits_for[name]), default=0)

    grid = Grid(("ik", "kj"), "ij", {"i": 2, "j": 2, "k": 2}, {"i": 1, "j": 1, "k": 1})
    found = contraction_of(grid, parameters).sequential_products
    assert found == max(depth(name) for name in waits_for)


# Bad input


@pytest.mark.parametrize(
    ("expression", "letters", "says"),
    [
        ("ik,kj", "ijk", "no einsum of two operands"),
        ("", "", "no einsum of two operands"),
        ("ik->ik", "ik", "no einsum of two operands"),
        ("ik,kj,jl->il", "ijkl", "no einsum of two operands"),
        ("ii,ij->j", "ij", "'ii' must be distinct letters"),
        ("ik,kj->ijj", "ijk", "'ijj' must be distinct letters"),
        ("i1,kj->ij", "ijk1", "'i1' must be distinct letters"),
        ("ik,kj->", "ijk", "'' must be distinct letters"),
        (",kj->kj", "jk", "'' must be distinct letters"),
        ("ik,kj->ij->ij", "ijk", "'ij->ij' must be distinct letters"),
        ("ik,k...->i", "ik", "'k...' must be distinct letters"),
        ("ik,kj->ij", "ik", "no dimension is given for 'j'"),
        ("ik,kj->ij", "ijkz", "dimension 'z' occurs nowhere"),
        ("ik,kj->iz", "ijkz", "output letter 'z' is in no operand"),
        ("ik,\nkj->ij", "ijk", r"'\nkj' must be distinct letters"),
    ],
)
def test_a_bad_einsum_is_one_clear_line(expression: str, letters: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        einsum("bad", expression, {x: Dimension(sp.Integer(2)) for x in letters})
    text = str(caught.value)
    assert says in text
    assert repr(expression) in text
    assert "\n" not in text
    assert len(text) < 120


def test_spaces_and_names() -> None:
    sizes = {x: Dimension(sp.Integer(2)) for x in "ijk"}
    found = einsum("up", " ik , kj -> ij ", sizes, names=("x", "W", "h"), parameters=(0,))
    assert found.tensors == (Tensor("x", "ik", True), Tensor("W", "kj"), Tensor("h", "ij"))
    assert found.passes == ("forward", "weight gradient", "activation gradient")
