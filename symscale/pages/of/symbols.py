"""The notation, as tables by group and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.language.symbols import NOTATION, Notation
from symscale.pages.formats import text
from symscale.pages.formats.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Formula,
    Heading,
    Table,
)
from symscale.pages.formats.json import Json
from symscale.pages.formats.references import References
from symscale.pages.formulas import formula
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class Symbols(Answer):
    """Symbols with unit and meaning.

    Attributes:
        entries: The symbols; all of the notation by default.
    """

    page = "symbols"
    entries: tuple[Notation, ...] = tuple(NOTATION.values())


def symbols_document(found: Symbols, names: bool = True) -> Document:
    """The notation, by group.

    Args:
        found: The notation.
        names: Whether the names that users type stand beside the symbols.
    """
    references = References()
    blocks: list[Block] = []
    for group in dict.fromkeys(e.group for e in found.entries):
        entries = [e for e in found.entries if e.group == group]
        blocks.append(Heading(group.capitalize()))
        blocks.append(notation_table(entries, references, names))
    return Document("Notation", (*blocks, *references.blocks()))


def notation_table(
    entries: Sequence[Notation], references: References, names: bool = False
) -> Table:
    """A table of symbols with unit and meaning, and what to type for them if asked for."""
    named = (Column("name"),) if names else ()
    columns = (
        Column("symbol"), *named, Column("unit"), Column("meaning", wrap=True, share=0.55)
    )
    rows: list[tuple[Cell, ...]] = []
    for e in entries:
        name: tuple[Cell, ...] = (Code(e.name),) if names else ()
        meaning = f"{e.meaning} {references.cite(e.source)}".rstrip()
        rows.append((Formula(e.symbol), *name, e.unit, meaning))
    return Table(columns, tuple(rows))


def symbols_data(found: Symbols) -> dict[str, Json]:
    """The notation as JSON data."""
    return {
        "symbols": [
            {
                "name": e.name,
                "latex": formula.latex(e.symbol),
                "unit": e.unit,
                "meaning": e.meaning,
                "group": e.group,
                "lower": e.lower,
                "source": e.source,
            }
            for e in found.entries
        ]
    }


def _plain(found: Symbols) -> str:
    """In plain text a symbol is its name."""
    return text.render(symbols_document(found, names=False))


PAGES = (
    Page(
        Symbols, symbols_document, symbols_data, lambda found: f"{len(found.entries)} symbols",
        text=_plain, label=lambda found: "notation",
    ),
)
