"""Several documents as one: chapters, with one list of sources and one of symbols."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symscale.pages.formats.document import (
    Bibliography,
    Block,
    Cell,
    Document,
    Equation,
    Heading,
    Inline,
    Paragraph,
    Table,
)
from symscale.pages.formats.references import source_table

_CITATION = re.compile(r"\[(\d+)\]")
_DEEPEST = 3


@dataclass(frozen=True)
class Chapter:
    """A document within another.

    Attributes:
        name: What its labels begin with.
        document: What it says.
        extra: Blocks that follow it, such as figures.
    """

    name: str
    document: Document
    extra: tuple[Block, ...] = ()


def combine(title: str, lead: Sequence[Block], chapters: Sequence[Chapter]) -> Document:
    """Join documents: their titles become sections, their citations one numbering.

    Example:
        >>> from symscale.pages.formats.document import paragraph
        >>> joined = combine("All", (), [Chapter("a", Document("A", (paragraph("x"),)))])
        >>> [b.text for b in joined.blocks if isinstance(b, Heading)]
        ['A']
    """
    texts: list[str] = []
    keys: dict[str, str] = {}
    blocks: list[Block] = list(lead)
    for chapter in chapters:
        numbers = _renumber(chapter.document, texts, keys)
        blocks.append(Heading(chapter.document.title))
        for block in chapter.document.blocks:
            if isinstance(block, Bibliography):
                continue
            if isinstance(block, Heading) and block.text == "Sources":
                continue
            blocks.append(_adapted(block, chapter.name, numbers))
        blocks += chapter.extra
    if texts:
        blocks += [Heading("Sources"), source_table(texts)]
    return Document(title, tuple(blocks))


def _renumber(document: Document, texts: list[str], keys: dict[str, str]) -> Mapping[str, str]:
    """The new number of each source of a chapter by its old one."""
    found: dict[str, str] = {}
    for block in document.blocks:
        if isinstance(block, Bibliography):
            for (number, text), key in zip(block.rows, block.keys, strict=True):
                if text not in texts:
                    texts.append(str(text))
                    keys[str(text)] = key
                found[str(number)] = f"[{texts.index(str(text)) + 1}]"
    return found


def _adapted(block: Block, name: str, numbers: Mapping[str, str]) -> Block:
    if isinstance(block, Heading):
        return replace(block, level=min(block.level + 1, _DEEPEST))
    if isinstance(block, Paragraph):
        return Paragraph(tuple(_inline(c, numbers) for c in block.content))
    if isinstance(block, Equation) and block.label:
        return replace(block, label=f"{name}: {block.label}")
    if isinstance(block, Table):
        rows = tuple(tuple(_cell(c, numbers) for c in row) for row in block.rows)
        return replace(block, rows=rows, caption=_text(block.caption, numbers))
    return block


def _inline(value: Inline, numbers: Mapping[str, str]) -> Inline:
    return _text(value, numbers) if isinstance(value, str) else value


def _cell(value: Cell, numbers: Mapping[str, str]) -> Cell:
    if isinstance(value, str):
        return _text(value, numbers)
    if isinstance(value, Sequence):
        return [_inline(v, numbers) for v in value]
    return value


def _text(text: str, numbers: Mapping[str, str]) -> str:
    return _CITATION.sub(lambda match: numbers.get(match.group(), match.group()), text)
