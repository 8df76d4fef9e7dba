"""Documents as plain text that fits a terminal."""

import shutil
import textwrap
from collections.abc import Sequence

from symscale.pages.formats.document import (
    Block,
    Cases,
    Cell,
    Code,
    Column,
    Document,
    Equation,
    FigureBlock,
    Formula,
    Heading,
    Inline,
    Number,
    Paragraph,
    Table,
)
from symscale.pages.formulas import formula

_LEAST_COLUMN = 14


def render(document: Document, width: int | None = None) -> str:
    """Print a document as text.

    Args:
        document: The document.
        width: Columns of the terminal; by default those of the present one, or 80.
    """
    columns = width or max(shutil.get_terminal_size((80, 24)).columns, 40)
    parts = [*_underlined(document.title, "=", columns), ""]
    for block in document.blocks:
        parts += [*_block(block, columns), ""]
    return "\n".join(line.rstrip() for line in parts).rstrip() + "\n"


def inline(value: Inline) -> str:
    """Print a string, formula or number."""
    if isinstance(value, Formula):
        return formula.text(value.value)
    if isinstance(value, Code):
        return value.text
    if isinstance(value, Number):
        mantissa, exponent = value.parts
        number = f"{mantissa}e{exponent}" if exponent else mantissa
        return f"{number} {value.unit}".rstrip() if value.unit not in ("", "1") else number
    return value


def cell(value: Cell) -> str:
    """Print a cell of a table."""
    if isinstance(value, str | Formula | Number | Code):
        return inline(value)
    return "".join(inline(v) for v in value)


def _block(block: Block, width: int) -> list[str]:
    if isinstance(block, Heading):
        return _underlined(block.text, "-" if block.level < 3 else "~", width)
    if isinstance(block, Paragraph):
        return _wrap("".join(inline(c) for c in block.content), width)
    if isinstance(block, Equation):
        label = f"   ({block.label})" if block.label else ""
        return _hang(formula.text(block.value) + label, width)
    if isinstance(block, Cases):
        head = f"    {formula.text(block.left)} = {block.function} of"
        return [head, *(line for p in block.pieces for line in _hang(formula.text(p), width, 8))]
    if isinstance(block, FigureBlock):
        return _wrap(f"[{block.file}.pdf] {block.caption}", width)
    return _table(block, width)


def _underlined(title: str, line: str, width: int) -> list[str]:
    lines = _wrap(title, width)
    return [*lines, line * max(map(len, lines))]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _hang(text: str, width: int, indent: int = 4) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
        break_long_words=False, break_on_hyphens=False,
    )


def _table(table: Table, width: int) -> list[str]:
    rows = [[cell(c) for c in row] for row in table.rows]
    widths = _widths(table.columns, rows, width)
    lines = [*_wrap(table.caption, width)] if table.caption else []
    if any(c.title for c in table.columns):
        lines += _row([c.title for c in table.columns], table.columns, widths)
        lines.append("  ".join("-" * w for w in widths))
    for row in rows:
        lines += _row(row, table.columns, widths)
    return lines


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Natural widths, then the widest wrapping columns narrowed until the table fits."""
    widths = [
        max([1, len(c.title), *(len(row[i]) for row in rows)]) for i, c in enumerate(columns)
    ]
    room = width - 2 * (len(columns) - 1)
    while sum(widths) > room:
        soft = [i for i, c in enumerate(columns) if c.wrap and widths[i] > _LEAST_COLUMN]
        soft = soft or [i for i, w in enumerate(widths) if w > 1]
        if not soft:
            break
        widest = max(soft, key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    split = [
        textwrap.wrap(c, w, break_long_words=True, break_on_hyphens=False) or [""]
        for c, w in zip(cells, widths, strict=True)
    ]
    height = max(len(s) for s in split)
    lines = []
    for k in range(height):
        parts = []
        for column, pieces, w in zip(columns, split, widths, strict=True):
            piece = pieces[k] if k < len(pieces) else ""
            parts.append(piece.rjust(w) if column.right else piece.ljust(w))
        lines.append("  ".join(parts))
    return lines
