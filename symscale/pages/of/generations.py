"""The table of generations: what devices do, and how arithmetic outgrew their links."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from symscale.facts.machines.generations import Generation, Generations
from symscale.facts.machines.machine import RATE_FACTORS
from symscale.language.sources import describe
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json
from symscale.pages.formats.references import References
from symscale.pages.page import Page


def generations_document(answer: Generations) -> Document:
    """The generations as two tables, with sources and notes.

    Example:
        >>> from symscale.facts.machines.generations import generations
        >>> generations_document(Generations(generations())).title
        'Generations'
    """
    found = answer.found
    references = References()
    return Document(
        "Generations",
        (
            paragraph(
                "One device: its dense 16-bit rate at the peak; what its link in a node and that "
                "between nodes carry in one direction; its memory's bandwidth, reads and writes "
                "together, and capacity."
            ),
            _figures_table(found, references),
            Heading("FLOP for each byte"),
            paragraph(
                "What a device computes in the time of one byte over a link or to memory. "
                "Growth: this quotient over that of the vendor's first device, so how many times "
                "faster than the link arithmetic grew: k of the study of computation against "
                "communication."
            ),
            _ratios_table(found),
            *_notes_blocks(found),
            *references.blocks(),
        ),
    )


def _figures_table(found: Sequence[Generation], references: References) -> Table:
    columns = (
        Column("device"), Column("year"), Column("TFLOP/s", right=True),
        Column("node GB/s", right=True), Column("between GB/s", right=True),
        Column("memory GB/s", right=True), Column("GB", right=True),
        Column("sources", wrap=True, share=0.12),
    )
    rows: list[tuple[Cell, ...]] = []
    for g in found:
        bytes_ = (g.node_bytes, g.cluster_bytes, g.memory_bytes, g.capacity_bytes)
        values = (g.flop_rate / 10**12, *(value / 10**9 for value in bytes_))
        numbers = dict.fromkeys(references.number(source) for source in _sources(g))
        rows.append((g.machine.name, str(g.year), *map(_number, values), " ".join(numbers)))
    return Table(columns, tuple(rows))


def _ratios_table(found: Sequence[Generation]) -> Table:
    columns = (
        Column("device"), Column("memory", right=True), Column("node", right=True),
        Column("between nodes", right=True), Column("growth, node", right=True),
        Column("growth, between", right=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for g in found:
        values = (
            g.flop_per_memory_byte, g.flop_per_node_byte, g.flop_per_cluster_byte,
            g.node_growth, g.cluster_growth,
        )
        rows.append((g.machine.name, *map(_number, values)))
    return Table(columns, tuple(rows))


def _number(value: Fraction) -> Number:
    return Number(sp.Rational(value.numerator, value.denominator))


def _links(g: Generation) -> tuple[str, str]:
    """The names of the figures of both links."""
    return f"{g.machine.tiers[0].name}.bandwidth", f"{g.machine.tiers[-1].name}.bandwidth"


def _sources(g: Generation) -> list[str]:
    """Where the figures of a row come from, each source once."""
    rate = RATE_FACTORS if g.machine.rate_is_derived else ("flop_rate",)
    names = (*rate, *_links(g), "memory_bandwidth", "memory_capacity")
    return list(dict.fromkeys(describe(g.machine.figure(name).source) for name in names))


def _notes_blocks(found: Sequence[Generation]) -> list[Block]:
    """What to know of each rate and link; the notes on a rate's factors stay with the machine."""
    rows = []
    for g in found:
        rate = () if g.machine.rate_is_derived else ("flop_rate",)
        for name in (*rate, *_links(g)):
            if note := g.machine.figure(name).note:
                rows.append((g.machine.name, name, note))
    if not rows:
        return []
    columns = (Column("device"), Column("figure"), Column("note", wrap=True, share=0.6))
    return [Heading("Notes"), Table(columns, tuple(rows))]


def generations_data(found: Generations) -> dict[str, Json]:
    """The generations as JSON data; every number with its exact text.

    Example:
        >>> from symscale.facts.machines.generations import generations
        >>> found = Generations(generations()[:1])
        >>> generations_data(found)["generations"][0]["flop_per_node_byte"]["exact"]
        '92300/69'
    """
    return {
        "conditions": {
            "flop_rate": "dense, 16 bit, peak",
            "node_bytes_per_s": "one device, one direction",
            "cluster_bytes_per_s": "one device, one direction",
            "memory_bytes_per_s": "one device, reads and writes together",
        },
        "generations": [_entry(g) for g in found.found],
    }


def _entry(g: Generation) -> dict[str, Json]:
    numbers = {
        "flop_rate": g.flop_rate,
        "node_bytes_per_s": g.node_bytes,
        "cluster_bytes_per_s": g.cluster_bytes,
        "memory_bytes_per_s": g.memory_bytes,
        "capacity_bytes": g.capacity_bytes,
        "flop_per_memory_byte": g.flop_per_memory_byte,
        "flop_per_node_byte": g.flop_per_node_byte,
        "flop_per_cluster_byte": g.flop_per_cluster_byte,
        "node_growth": g.node_growth,
        "cluster_growth": g.cluster_growth,
    }
    return {
        "name": g.machine.name,
        "title": g.machine.title,
        "vendor": g.machine.vendor,
        "year": g.year,
        "first": (g.first or g).machine.name,
        "condition": g.machine.rate_condition,
        **{key: {"value": float(v), "exact": str(v)} for key, v in numbers.items()},
        "sources": [*_sources(g)],
    }


PAGES = (Page(Generations, generations_document, generations_data),)
