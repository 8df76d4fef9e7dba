"""Reads the tables of a model's TOML file into an `Architecture`.

Every refusal is one line: file, key, what is wrong, what to write instead.
"""

from collections.abc import Mapping
from typing import TypeVar, get_args

import sympy as sp

from symscale.costs.transformer.architecture import (
    ONE,
    ZERO,
    Architecture,
    Attention,
    Block,
    Experts,
    FeedForward,
    Latent,
    NormKind,
    PositionKind,
    Stack,
)
from symscale.errors import SymscaleError, printable, refusal, unknown_name
from symscale.language.symbols import NOTATION, symbol
from symscale.language.tables import TypedNumber, check_keys, read_source, read_table, read_text
from symscale.language.units import parse_number

LARGEST_SIZE = 10**15
MOST_BLOCKS = 10**5
_MOST_STACKS = 8
_MOST_NORMS = 8
_POSITIONS: tuple[PositionKind, ...] = get_args(PositionKind)
_NORMS: tuple[NormKind, ...] = get_args(NormKind)
_T = TypeVar("_T", bound=str)
_NAMES = tuple(name for name, entry in NOTATION.items() if entry.group == "model")

_TOP = (
    "title", "source", "note", "d_model", "vocabulary", "context", "norm", "norm_shift",
    "positions", "position_entries", "tied", "head", "head_bias", "final_norms",
    "embedding_norm", "token_types", "pooler", "dropout", "pattern", "stack",
)
_STACK = (
    "name", "blocks", "encoder", "causal", "parallel", "norms", "attention", "cross", "mlp",
)
_ATTENTION = (
    "heads", "kv_heads", "head_width", "value_width", "qkv_bias", "output_bias", "query_norm",
    "window", "position_product", "latent",
)
_LATENT = ("query_rank", "kv_rank", "rotary_width")
_DENSE = ("width", "gated", "bias")
_EXPERTS = ("experts", "active", "shared_width", "shared_gate", "capacity", "selection_bias")
MODEL_KEYS = frozenset({*_TOP, *_STACK, *_ATTENTION, *_LATENT, *_DENSE, *_EXPERTS})
"""Every key of a model's file."""


def read_model(
    data: Mapping[str, object], where: str, name: str, *, packaged: bool
) -> Architecture:
    """Build the model that a file describes.

    Args:
        data: Its tables.
        where: The file, for errors.
        name: The slug of the model.
        packaged: Whether the file ships with symscale, so that its source must be a known key.

    Raises:
        InputError: If something is missing or wrong.
    """
    check_keys(data, _TOP, where)
    stacks = _stacks(data, where)
    positions = _choice(data, "positions", _POSITIONS, "rotary", where)
    context = _size(data, "context", where, symbol("n_ctx"))
    entries = _entries(data, positions, context, where)
    sides = {stack.encoder for stack in stacks}
    return Architecture(
        name=name,
        title=read_text(data, "title", where) or name,
        d_model=_width(data, where),
        vocabulary=_size(data, "vocabulary", where, symbol("n_vocab")),
        context=context,
        stacks=stacks,
        order=_order(data, stacks, where),
        norm=_choice(data, "norm", _NORMS, "layer", where),
        norm_shift=_flag(data, "norm_shift", where, True),
        positions=positions,
        position_entries=entries,
        tied=_flag(data, "tied", where, False),
        head=_flag(data, "head", where, True),
        head_bias=_flag(data, "head_bias", where, False),
        final_norms=_count(data, "final_norms", where, len(sides), least=0),
        embedding_norm=_flag(data, "embedding_norm", where, False),
        token_types=_size(data, "token_types", where, ZERO),
        pooler=_flag(data, "pooler", where, False),
        dropout=_flag(data, "dropout", where, False),
        source=read_source(data, where, packaged),
        note=read_text(data, "note", where) or "",
    )


def _width(data: Mapping[str, object], where: str) -> sp.Expr:
    return _size(data, "d_model", where, symbol("d_model"))


def _entries(
    data: Mapping[str, object], positions: str, context: sp.Expr, where: str
) -> sp.Expr:
    if positions == "learned":
        return _size(data, "position_entries", where, context)
    if positions == "relative":
        if "position_entries" not in data:
            remedy = "add position_entries = 32, the buckets of its table"
            raise refusal(where, "has relative positions but no position_entries", remedy)
        return _size(data, "position_entries", where, ZERO)
    if "position_entries" in data:
        raise refusal(
            where, f"has position_entries but {positions} positions, which have no table",
            'remove it, or write positions = "learned"',
        )
    return ZERO


def _stacks(data: Mapping[str, object], where: str) -> tuple[Stack, ...]:
    entries = data.get("stack")
    if not isinstance(entries, list) or not 1 <= len(entries) <= _MOST_STACKS:
        problem = f"has no list of 1 to {_MOST_STACKS} stacks of blocks"
        raise refusal(where, problem, "write [[stack]] above each kind of block")
    stacks = tuple(
        _stack(entry, _width(data, where), f"{where}: stack {place}")
        for place, entry in enumerate(entries, start=1)
    )
    names = [stack.name for stack in stacks]
    if len(set(names)) < len(names):
        raise refusal(where, "two stacks have one name", 'give each its own: name = "dense"')
    unsized = [stack for stack in stacks if stack.blocks == symbol("L")]
    if len(stacks) > 1 and len(unsized) > 1:
        remedy = "say how many blocks each has: blocks = 24"
        raise refusal(where, "leaves out the blocks of more than one stack", remedy)
    return stacks


def _stack(entry: object, d_model: sp.Expr, where: str) -> Stack:
    table = read_table(entry, where, "[[stack]] and its keys below")
    check_keys(table, _STACK, where)
    name = read_text(table, "name", where) or ""
    if name:
        where = f"{where} ({printable(name)})"
    blocks = _size(table, "blocks", where, symbol("L"))
    if blocks.is_Integer and blocks > MOST_BLOCKS:
        raise refusal(where, f"has more than {MOST_BLOCKS} blocks", "check blocks")
    for key in ("attention", "mlp"):
        if key not in table:
            example = "{ heads = 32 }" if key == "attention" else "{ width = 11008, gated = true }"
            raise refusal(where, f"has no {key}", f"add {key} = {example}")
    encoder = _flag(table, "encoder", where, False)
    cross = None
    if "cross" in table:
        cross = _attention(table["cross"], d_model, f"{where}: cross")
    block = Block(
        attention=_attention(table["attention"], d_model, f"{where}: attention"),
        mlp=_mlp(table["mlp"], f"{where}: mlp"),
        norms=_count(table, "norms", where, 2 if cross is None else 3, least=0),
        parallel=_flag(table, "parallel", where, False),
        cross=cross,
        causal=_flag(table, "causal", where, not encoder),
    )
    return Stack(name, blocks, block, encoder)


def _attention(value: object, d_model: sp.Expr, where: str) -> Attention:
    table = read_table(value, where, "{ heads = 32, kv_heads = 8 }")
    check_keys(table, _ATTENTION, where)
    heads = _size(table, "heads", where, symbol("n_heads"))
    latent = _latent(table["latent"], f"{where}: latent") if "latent" in table else None
    if "head_width" not in table and (d_model / heads).is_Rational and d_model % heads:
        problem = f"d_model = {d_model} is no multiple of heads = {heads}"
        raise refusal(where, problem, "add head_width = 128, say, or correct them")
    kv_heads = _size(table, "kv_heads", where, heads)
    if (heads / kv_heads).is_Rational and not (heads / kv_heads).is_Integer:
        problem = f"heads = {heads} is no multiple of kv_heads = {kv_heads}"
        raise refusal(where, problem, "each key head serves as many query heads as any other")
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_width=_size(table, "head_width", where, d_model / heads),
        value_width=_optional(table, "value_width", where),
        qkv_bias=_flag(table, "qkv_bias", where, False),
        output_bias=_flag(table, "output_bias", where, False),
        query_norm=_flag(table, "query_norm", where, False),
        window=_optional(table, "window", where),
        position_product=_flag(table, "position_product", where, False),
        latent=latent,
    )


def _latent(value: object, where: str) -> Latent:
    table = read_table(value, where, "{ query_rank = 1536, kv_rank = 512, rotary_width = 64 }")
    check_keys(table, _LATENT, where)
    kv_rank, rotary = (_optional(table, key, where) for key in ("kv_rank", "rotary_width"))
    if kv_rank is None or rotary is None:
        missing = "kv_rank" if kv_rank is None else "rotary_width"
        example = 512 if kv_rank is None else 64
        raise refusal(where, f"has no {missing}", f"add {missing} = {example}, say")
    return Latent(_optional(table, "query_rank", where), kv_rank, rotary)


def _mlp(value: object, where: str) -> FeedForward | Experts:
    table = read_table(value, where, "{ width = 11008, gated = true }")
    check_keys(table, (*_DENSE, *_EXPERTS), where)
    dense = FeedForward(
        width=_size(table, "width", where, symbol("d_ff")),
        gated=_flag(table, "gated", where, False),
        bias=_flag(table, "bias", where, False),
    )
    given = [key for key in _EXPERTS if key in table]
    if not given:
        return dense
    if "experts" not in table:
        remedy = "add experts = 8, say, or remove it"
        raise refusal(where, f"has {given[0]} but no experts", remedy)
    experts = _size(table, "experts", where, symbol("E"))
    active = _size(table, "active", where, symbol("E_k"))
    if (experts - active).is_negative:
        problem = f"active = {active} is more than experts = {experts}"
        raise refusal(where, problem, "a token sees some of the experts at most")
    shared = _optional(table, "shared_width", where)
    shared_gate = _flag(table, "shared_gate", where, False)
    if shared_gate and shared is None:
        raise refusal(where, "has a shared_gate but no shared_width", "add the width, or remove it")
    capacity = _capacity(table, where)
    if (experts - active * capacity).is_negative:
        problem = f"capacity gives an expert more room than all tokens, {experts / active} times"
        raise refusal(where, problem, "write a smaller one, such as 1.25")
    return Experts(
        experts=experts,
        active=active,
        expert=dense,
        shared=None if shared is None else FeedForward(shared, dense.gated, dense.bias),
        shared_gate=shared_gate,
        capacity=capacity,
        selection_bias=_flag(table, "selection_bias", where, False),
    )


def _capacity(table: Mapping[str, object], where: str) -> sp.Expr:
    value = table.get("capacity", 1)
    text = value.text if isinstance(value, TypedNumber) else str(value)
    try:
        number = parse_number(text[:80]) if not isinstance(value, bool) else None
    except SymscaleError:
        number = None
    if number is None or not 1 <= number <= LARGEST_SIZE:
        raise refusal(where, "capacity is no number from 1", "write capacity = 1.25, say")
    return sp.Rational(number.numerator, number.denominator)


def _order(
    data: Mapping[str, object], stacks: tuple[Stack, ...], where: str
) -> tuple[int, ...]:
    if "pattern" not in data:
        return ()
    pattern, names = data["pattern"], [stack.name for stack in stacks]
    if not isinstance(pattern, list) or not pattern or len(pattern) > MOST_BLOCKS:
        raise refusal(where, "pattern is not a list of names", 'write ["sliding", "full"], say')
    for name in pattern:
        if not isinstance(name, str) or name not in names:
            error = unknown_name("stack", str(name), filter(None, names))
            raise error.with_context(f"{where}: pattern")
    if not all(stack.blocks.is_Integer for stack in stacks):
        raise refusal(where, "has a pattern but a stack without blocks", "add blocks = 24, say")
    total = sum(int(stack.blocks) for stack in stacks)
    order = tuple(names.index(pattern[place % len(pattern)]) for place in range(total))
    for index, stack in enumerate(stacks):
        found = order.count(index)
        if found != stack.blocks:
            problem = f"pattern gives stack {stack.name!r} {found} blocks, not {stack.blocks}"
            raise refusal(where, problem, "correct blocks or pattern; it repeats over all blocks")
    return order


def _size(table: Mapping[str, object], key: str, where: str, default: sp.Expr) -> sp.Expr:
    """Read a size: a whole number above zero, or a symbol of the notation by its name."""
    if key not in table:
        return default
    value = table[key]
    if isinstance(value, str):
        if value not in _NAMES:
            error = unknown_name("symbol", value, _NAMES, see="symscale symbols")
            raise error.with_context(f"{where}: {key}")
        return symbol(value)
    if isinstance(value, bool) or not isinstance(value, int):
        remedy = "write such as 4096, or leave it out for a symbol"
        raise refusal(where, f"{key} is not a whole number", remedy)
    if value <= 0:
        remedy = "write a count, or leave out what the model does not have"
        raise refusal(where, f"{key} is not above zero", remedy)
    if value > LARGEST_SIZE:
        raise refusal(where, f"{key} is above {LARGEST_SIZE:.0e}", "check it")
    return sp.Integer(value)


def _optional(table: Mapping[str, object], key: str, where: str) -> sp.Expr | None:
    return _size(table, key, where, ONE) if key in table else None


def _count(
    table: Mapping[str, object], key: str, where: str, default: int, least: int
) -> int:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_NORMS:
        problem = f"{key} is not a whole number from {least} to {_MOST_NORMS}"
        raise refusal(where, problem, f"write {key} = {default}, say")
    return value


def _flag(table: Mapping[str, object], key: str, where: str, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        problem = f"{key} is neither true nor false"
        raise refusal(where, problem, f"write {key} = true or {key} = false")
    return value


def _choice(
    table: Mapping[str, object], key: str, choices: tuple[_T, ...], default: _T, where: str
) -> _T:
    text = read_text(table, key, where) or default
    for choice in choices:
        if text == choice:
            return choice
    raise unknown_name(key, text, choices).with_context(where)
