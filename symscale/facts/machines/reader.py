"""Reads machines: what ships with symscale, and users' own files.

A file states a machine, or names a `base` and what differs from it. Its figures
follow the rules of `symscale.facts.machines.figures`; what it may leave out, and who then
misses it, is in `symscale.facts.machines.machine`.
"""

import functools
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from types import MappingProxyType

from symscale.errors import InputError, printable, refusal, unknown_name
from symscale.facts.machines.figures import DEVICE_FIGURES, TIER_FIGURES, Figure, read_figure
from symscale.facts.machines.machine import (
    DEVICE_LEVEL,
    FLAG_SHAPE,
    RATE_FACTORS,
    SHARED_MEMORY,
    Machine,
    Release,
    Tier,
)
from symscale.language.tables import (
    check_keys,
    parse_toml,
    read_source,
    read_table,
    read_text,
    read_toml_file,
)

_REQUIRED = ("memory_bandwidth", "memory_capacity")
_PRESETS: Traversable = files("symscale.facts.machines").joinpath("presets")
_DEEPEST_CHAIN = 5
_MOST_TIERS = 8
_LARGEST_TIER = 10**9
_YEARS = range(1950, 2100)


def machine_names() -> tuple[str, ...]:
    """Return the names of the machines that ship with symscale.

    Example:
        >>> "h100-sxm" in machine_names()
        True
    """
    names = (entry.name for entry in _PRESETS.iterdir())
    return tuple(sorted(name[: -len(".toml")] for name in names if name.endswith(".toml")))


def load_machine(name_or_path: str) -> Machine:
    """Load a machine that ships with symscale, or one from a user's file.

    Args:
        name_or_path: A name without regard to case, spaces, hyphens and underscores,
            or a path that ends in .toml.

    Raises:
        UnknownNameError: If there is no such machine; the text offers the nearest names.
        InputError: If a file cannot be used.

    Example:
        >>> load_machine("H100 SXM").title
        'NVIDIA H100 SXM'
    """
    if name_or_path.lower().endswith(".toml"):
        data = read_toml_file(name_or_path)
        stem = printable(PurePath(name_or_path).stem, 60)
        return _build(data, printable(name_or_path, 160), stem, packaged=False, chain=())
    if "/" in name_or_path or "\\" in name_or_path:
        where = printable(name_or_path, 160)
        raise refusal(where, "is no TOML file", "give a path that ends in .toml")
    return _preset(_known_name(name_or_path, "hardware"), ())


def _known_name(text: str, kind: str) -> str:
    slug = re.sub(r"[\s_-]+", "-", text.strip().lower())
    if slug not in machine_names():
        hint = "symscale hardware"
        raise unknown_name(kind, printable(slug if slug else text, 60), machine_names(), see=hint)
    return slug


@functools.cache
def _preset(slug: str, chain: tuple[str, ...]) -> Machine:
    data = _PRESETS.joinpath(f"{slug}.toml").read_bytes()
    where = f"hardware/{slug}.toml"
    return _build(parse_toml(data, where), where, slug, packaged=True, chain=(*chain, slug))


def _build(
    data: Mapping[str, object], where: str, name: str, *, packaged: bool, chain: tuple[str, ...]
) -> Machine:
    known = (
        "title", "vendor", "released", "base", "reason", "without_tiers", "tier", SHARED_MEMORY,
        *DEVICE_FIGURES,
    )
    check_keys(data, known, where)
    title = read_text(data, "title", where) or name
    reason = read_text(data, "reason", where) or ""
    base = _base(data, where, chain)
    if base is not None and not reason:
        raise refusal(where, "has a base but no reason", 'add reason = "..." saying what differs')
    own = {
        key: read_figure(data[key], spec, f"{where}: {key}", packaged)
        for key, spec in DEVICE_FIGURES.items()
        if key in data
    }
    figures = _merged(own, base, where)
    tiers = _tiers(data, base, where, packaged)
    flag, flag_source = (
        (base.distributed_shared_memory, base.distributed_shared_memory_source)
        if base is not None
        else (None, "")
    )
    if SHARED_MEMORY in data:
        flag, flag_source = _flag(data[SHARED_MEMORY], f"{where}: {SHARED_MEMORY}", packaged)
    return Machine(
        name=name,
        title=title,
        base=base.name if base is not None else None,
        reason=reason,
        figures=figures,
        tiers=tiers,
        distributed_shared_memory=flag,
        distributed_shared_memory_source=flag_source,
        vendor=read_text(data, "vendor", where) or "",
        released=_release(data, where, packaged),
        preset=packaged,
    )


def _release(data: Mapping[str, object], where: str, packaged: bool) -> Release | None:
    """Read when a device came out; a what-if does not inherit it."""
    if "released" not in data:
        return None
    if "vendor" not in data:
        raise refusal(where, "has released but no vendor", 'add vendor = "..."')
    where = f"{where}: released"
    table = read_table(data["released"], where, '{ value = 2020, source = "..." }')
    check_keys(table, ("value", "source", "note"), where)
    year = table.get("value")
    if isinstance(year, bool) or not isinstance(year, int) or year not in _YEARS:
        raise refusal(where, "value is no year", "write value = 2020, say")
    note = read_text(table, "note", where) or ""
    return Release(year, read_source(table, where, packaged), note)


def _base(data: Mapping[str, object], where: str, chain: tuple[str, ...]) -> Machine | None:
    text = read_text(data, "base", where)
    if text is None:
        return None
    try:
        slug = _known_name(text, "base")
    except InputError as error:
        raise error.with_context(where) from None
    if slug in chain:
        raise refusal(where, f"base {slug} leads back to itself", "base it on another machine")
    if len(chain) >= _DEEPEST_CHAIN:
        raise refusal(where, f"base {slug} is too far down a chain", "state the figures instead")
    return _preset(slug, chain)


def _merged(own: dict[str, Figure], base: Machine | None, where: str) -> Mapping[str, Figure]:
    direct, factor = "flop_rate", RATE_FACTORS[0]
    if direct in own and factor in own:
        raise refusal(where, f"has both {direct} and {factor}", "keep one of the two")
    merged = {**(base.figures if base is not None else {}), **own}
    # The rate stated last wins: the other form of the base would contradict it.
    if direct in own:
        merged.pop(factor, None)
    elif factor in own:
        merged.pop(direct, None)
    needed = _REQUIRED if direct in merged else (*RATE_FACTORS, *_REQUIRED)
    for name in needed:
        if name not in merged:
            if name == factor:
                shape = DEVICE_FIGURES[direct].shape
                raise refusal(where, "has no arithmetic rate", f"add {direct} = {shape}")
            raise refusal(where, f"has no {name}", f"add {name} = {DEVICE_FIGURES[name].shape}")
    return MappingProxyType({name: merged[name] for name in DEVICE_FIGURES if name in merged})


def _flag(value: object, where: str, packaged: bool) -> tuple[bool, str]:
    table = read_table(value, where, FLAG_SHAPE)
    check_keys(table, ("value", "source", "note"), where)
    flag = table.get("value")
    if not isinstance(flag, bool):
        raise refusal(where, "value is neither true nor false", "write value = true or false")
    read_text(table, "note", where)
    return flag, read_source(table, where, packaged)


def _tiers(
    data: Mapping[str, object], base: Machine | None, where: str, packaged: bool
) -> tuple[Tier, ...]:
    inherited = {tier.name: tier for tier in base.tiers} if base is not None else {}
    dropped = _left_out(data, inherited, where)
    if "tier" not in data:
        if base is None or dropped:
            raise refusal(where, "has no [[tier]]", "add one for each level of the network")
        return base.tiers
    entries = data["tier"]
    if not isinstance(entries, list) or not 1 <= len(entries) <= _MOST_TIERS:
        problem = f"tier is not a list of 1 to {_MOST_TIERS}"
        raise refusal(where, problem, "write [[tier]] above each")
    tiers = [
        _tier(entry, inherited, f"{where}: tier {place}", packaged, last=place == len(entries))
        for place, entry in enumerate(entries, start=1)
    ]
    names = [tier.name for tier in tiers]
    if len(set(names)) < len(names):
        raise refusal(where, "two tiers have one name", "give each tier its own")
    for name in inherited:
        _check_mentioned_once(name, names, dropped, where)
    return tuple(tiers)


def _left_out(
    data: Mapping[str, object], inherited: Mapping[str, Tier], where: str
) -> list[str]:
    """Read which tiers of the base a machine does not have."""
    dropped = data.get("without_tiers", [])
    if not isinstance(dropped, list) or not all(isinstance(name, str) for name in dropped):
        raise refusal(where, "without_tiers is not a list of names", 'write ["node"], say')
    for name in dropped:
        if name not in inherited:
            raise unknown_name("tier", printable(name, 60), inherited).with_context(
                f"{where}: without_tiers"
            )
    return dropped


def _check_mentioned_once(name: str, names: list[str], dropped: list[str], where: str) -> None:
    """A list that forgets a tier of the base would change the machine without a word."""
    if name in names and name in dropped:
        raise refusal(where, f"tier {name} is both listed and left out", "keep one of the two")
    if name not in names and name not in dropped:
        raise refusal(
            where, f"does not list tier {name} of its base",
            f'add [[tier]] name = "{name}", or without_tiers = ["{name}"] above the tiers',
        )


def _tier(
    entry: object, inherited: Mapping[str, Tier], where: str, packaged: bool, last: bool
) -> Tier:
    table = read_table(entry, where, "[[tier]] and its keys below")
    for key in table:
        if key in DEVICE_FIGURES:
            problem = f"{key} is a figure of the device"
            raise refusal(where, problem, "put it above the first [[tier]]")
    check_keys(table, ("name", "size", "source", *TIER_FIGURES), where)
    name = read_text(table, "name", where)
    if name is None or name == DEVICE_LEVEL or not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", name):
        raise refusal(where, "has no usable name", 'write name = "node", say')
    where = f"{where} ({name})"
    before = inherited.get(name)
    given = {
        key: read_figure(table[key], spec, f"{where}: {key}", packaged)
        for key, spec in TIER_FIGURES.items()
        if key in table
    }
    bandwidth = given.get("bandwidth", before.bandwidth if before is not None else None)
    latency = given.get("latency", before.latency if before is not None else None)
    if bandwidth is None:
        shape = TIER_FIGURES["bandwidth"].shape
        raise refusal(where, "has no bandwidth", f"add bandwidth = {shape}")
    size = table.get("size", before.size if before is not None else None)
    # The base's source vouches for the base's size only.
    source = before.source if before is not None and "size" not in table else ""
    if "source" in table:
        source = read_source(table, where, packaged)
    return Tier(name, _size(size, where, last), bandwidth, latency, source)


def _size(size: object, where: str, last: bool) -> int | None:
    if last:
        if size is not None and size != "rest":
            raise refusal(where, "is outermost and has a size", 'write size = "rest"')
        return None
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= _LARGEST_TIER:
        raise refusal(
            where, "has no usable size", "write how many units of the tier below it joins: size = 8"
        )
    return size
