"""Documents as Markdown, with formulas between dollar signs."""

import re

from symscale.pages.formats.document import (
    Block,
    Cases,
    Cell,
    Code,
    Document,
    Equation,
    FigureBlock,
    Formula,
    Heading,
    Inline,
    Number,
    Paragraph,
)
from symscale.pages.formulas import formula
from symscale.pages.formulas.names import in_its_names

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~])")
_TEXT_SPECIAL = re.compile(r"([_%$#&{}])")  # in the text of a formula


@in_its_names
def render(document: Document) -> str:
    """Print a document as Markdown."""
    parts = [f"# {escape(document.title)}"]
    parts += [_block(block) for block in document.blocks]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Escape what Markdown would read as markup.

    Example:
        >>> print(escape("d_model | <b>"))
        d\_model \| \<b\>
    """
    return _SPECIAL.sub(r"\\\1", text)


def inline(value: Inline) -> str:
    """Print a string, formula or number."""
    if isinstance(value, Formula):
        return f"${formula.latex(value.value)}$"
    if isinstance(value, Code):
        return f"`{value.text}`"
    if isinstance(value, Number):
        mantissa, exponent = value.parts
        number = rf"${mantissa} \times 10^{{{exponent}}}$" if exponent else mantissa
        return f"{number} {escape(value.unit)}" if value.unit not in ("", "1") else number
    return "".join(
        escape(part) if isinstance(part, str) else f"${formula.latex(part)}$"
        for part in formula.symbols_in(value)
    )


def _cell(value: Cell) -> str:
    if isinstance(value, str | Formula | Number | Code):
        printed = inline(value)
    else:
        printed = "".join(inline(v) for v in value)
    return printed.replace("\n", " ")


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {escape(block.text)}"
    if isinstance(block, Paragraph):
        return "".join(inline(c) for c in block.content)
    if isinstance(block, Equation):
        name = _TEXT_SPECIAL.sub(r"\\\1", block.label)
        label = f" \\qquad \\text{{({name})}}" if name else ""
        return f"$$\n{formula.latex(block.value)}{label}\n$$"
    if isinstance(block, Cases):
        return f"$$\n{cases_latex(block)}\n$$"
    if isinstance(block, FigureBlock):
        return f"![{escape(block.caption)}]({block.file}.svg)"
    lines = ["| " + " | ".join(escape(c.title) for c in block.columns) + " |"]
    lines.append("|" + "|".join(" ---: " if c.right else " --- " for c in block.columns) + "|")
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in block.rows]
    table = "\n".join(lines)
    return f"{escape(block.caption)}\n\n{table}" if block.caption else table


def cases_latex(block: Cases) -> str:
    """LaTeX of a minimum or maximum over several lines."""
    lines = r" \\[1ex] ".join("& " + formula.latex(p) for p in block.pieces)
    return (
        rf"{formula.latex(block.left)} = \{block.function} "
        rf"\left\{{ \begin{{aligned}} {lines} \end{{aligned}} \right."
    )
