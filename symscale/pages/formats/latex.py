r"""Documents as LaTeX: a standalone article, or only its body.

The preamble needs amsmath, amssymb, booktabs and longtable, no more.
"""

import math
from dataclasses import replace

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
from symscale.pages.formats.markdown import cases_latex
from symscale.pages.formulas import formula
from symscale.pages.formulas.breaking import breakable, text_width, width
from symscale.pages.formulas.lines import latex_lines
from symscale.pages.formulas.names import in_its_names

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=2.5cm]{geometry}
\usepackage{amsmath,amssymb,array,booktabs,longtable}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
\emergencystretch=2em
"""
_LONG_TABLE = 24  # rows
_LINE = 450.0  # points
_DISPLAY = 410.0  # of them beside the number of an equation
_UNBROKEN = 330.0  # of a formula in running text
_SEPARATION = 12.0  # between columns
_SMALL = 0.82  # of the width, in a table that is too wide
_SECTIONS = {1: "section", 2: "section", 3: "subsection"}
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "µ": r"\ensuremath{\mu}", "μ": r"\ensuremath{\mu}", "×": r"\ensuremath{\times}",
    "\n": " ", "[": "{[}", "*": "{*}",  # after a line break they would be its arguments
}


@in_its_names
def render(document: Document) -> str:
    """Print a document as a standalone LaTeX file."""
    graphics = any(isinstance(item, FigureBlock) for item in document.blocks)
    preamble = PREAMBLE + ("\\usepackage{graphicx}\n" if graphics else "")
    parts = [
        preamble + rf"\title{{{prose(document.title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        body(document),
        r"\end{document}",
    ]
    return "\n".join(parts) + "\n"


@in_its_names
def body(document: Document) -> str:
    """Print the blocks of a document, without preamble and title."""
    return "\n\n".join(block(item) for item in document.blocks)


def escape(text: str) -> str:
    r"""Escape every character that LaTeX would read as a command.

    Characters outside Latin-1 that no rule covers are printed by their code point.

    Example:
        >>> print(escape(r"\input{x} & 5%"))
        \textbackslash{}input\{x\} \& 5\%
    """
    return "".join(_ESCAPES.get(c, c if _is_plain(c) else f"[U+{ord(c):04X}]") for c in text)


def _is_plain(character: str) -> bool:
    return " " <= character <= "~" or "\u00c0" <= character <= "\u00ff"


def inline(value: Inline, room: float = _UNBROKEN) -> str:
    """Print a string, formula or number; a formula wider than the room may be broken."""
    if isinstance(value, Formula):
        tex = formula.latex(value.value)
        return f"${tex if width(tex, display=False) <= room else breakable(tex)}$"
    if isinstance(value, Code):
        return rf"\texttt{{{escape(value.text)}}}"
    if isinstance(value, Number):
        mantissa, exponent = value.parts
        number = rf"${mantissa} \times 10^{{{exponent}}}$" if exponent else f"${mantissa}$"
        return rf"{number}~{escape(value.unit)}" if value.unit not in ("", "1") else number
    return prose(value)


def prose(text: str) -> str:
    """Escaped text in which names of symbols, such as d_model, are set as formulas."""
    return "".join(
        escape(part) if isinstance(part, str) else f"${formula.latex(part)}$"
        for part in formula.symbols_in(text)
    )


def _cell(value: Cell, room: float) -> str:
    if isinstance(value, str | Formula | Number | Code):
        return inline(value, room)
    return "".join(inline(v, room) for v in value)


def block(item: Block) -> str:
    """Print one block of a document."""
    if isinstance(item, Heading):
        return rf"\{_SECTIONS[item.level]}{{{prose(item.text)}}}"
    if isinstance(item, Paragraph):
        return "".join(inline(c) for c in item.content)
    if isinstance(item, Equation):
        return equation(item)
    if isinstance(item, Cases):
        return f"\\begin{{equation}}\n{cases_latex(item)}\n\\end{{equation}}"
    if isinstance(item, FigureBlock):
        drawn = rf"\includegraphics[width=\linewidth]{{{item.file}}}"
        lines = [r"\begin{center}", drawn, r"\end{center}", "", prose(item.caption)]
        return "\n".join(lines)
    return table(item)


def equation(item: Equation, prefix: str = "") -> str:
    """Print a formula on lines of its own, broken at a sum's terms where it is long.

    Args:
        item: The formula with its label.
        prefix: What its label begins with, after eq:.
    """
    label = ""
    if item.label:
        label = rf"\label{{eq:{prefix}{_label(item.label)}}}\tag{{{escape(item.label)}}}"
    lines = latex_lines(item.value)
    tex = lines[0] if len(lines) == 1 else _aligned(lines)
    if any(width(line) > _DISPLAY for line in lines):
        whole = breakable(formula.latex(item.value))
        tex = rf"\parbox{{0.88\linewidth}}{{\raggedright ${whole}$}}"
    return f"\\begin{{equation}}{label}\n{tex}\n\\end{{equation}}"


def _aligned(lines: list[str]) -> str:
    """Lines under each other, those after the first set in."""
    first, *rest = lines
    joined = " \\\\\n".join([f"&{first}", *(rf"&\quad {line}" for line in rest)])
    return f"\\begin{{aligned}}\n{joined}\n\\end{{aligned}}"


def plain_comment(text: str) -> str:
    """A text that may stand after a percent sign: on one line."""
    return " ".join(text.split())


def _label(text: str) -> str:
    """A label of letters, digits and hyphens."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)


def table(item: Table, breaks: bool = True) -> str:
    """Print a table on one page, or, where it has many rows, one that breaks over pages.

    Args:
        item: The table.
        breaks: Whether it may break; within columns and slides it may not.
    """
    columns, small = _fitted(item)
    spec = "@{}" + "".join(_column(c) for c in columns) + "@{}"
    titles = [prose(c.title) for c in columns]
    head = [" & ".join(titles) + r" \\", r"\midrule"] if any(titles) else []
    rooms = [c.share * _LINE if c.wrap else math.inf for c in columns]
    rows = [
        " & ".join(_cell(c, room) for c, room in zip(row, rooms, strict=True)) + r" \\"
        for row in item.rows
    ]
    if breaks and len(rows) > _LONG_TABLE:
        lines = [
            rf"\begin{{longtable}}{{{spec}}}", r"\toprule", *head, r"\endhead", *rows,
            r"\bottomrule", r"\end{longtable}",
        ]
    else:
        lines = [
            r"\begin{center}", rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *head, *rows,
            r"\bottomrule", r"\end{tabular}", r"\end{center}",
        ]
    if small:
        lines = [r"\begingroup\small\setlength{\tabcolsep}{4pt}", *lines, r"\endgroup"]
    caption = f"{prose(item.caption)}\n\n" if item.caption else ""
    return caption + "\n".join(lines)


def _fitted(table: Table) -> tuple[tuple[Column, ...], bool]:
    """The columns, narrower where all would not fit, and whether to set the table small."""
    natural = [
        0.0 if c.wrap else max([text_width(c.title), *(_natural(row[i]) for row in table.rows)])
        for i, c in enumerate(table.columns)
    ]
    fixed = sum(natural) + _SEPARATION * (len(natural) - 1)
    share = sum(c.share for c in table.columns if c.wrap)
    if fixed + share * _LINE <= _LINE:
        return table.columns, False
    small = not share or _LINE - fixed < _SMALL * share * _LINE
    if small:
        fixed = _SMALL * sum(natural) + 8.0 * (len(natural) - 1)
    factor = min(1.0, max(0.5, (_LINE - fixed) / (share * _LINE))) if share else 1.0
    return tuple(
        replace(c, share=math.floor(c.share * factor * 100) / 100) if c.wrap else c
        for c in table.columns
    ), small


_TYPEWRITER = 1.3  # widths of its letters over those of text


def _natural(cell: Cell) -> float:
    """About how wide a cell is on one line."""
    if isinstance(cell, Formula):
        return width(formula.latex(cell.value), display=False)
    if isinstance(cell, Code):
        return text_width(cell.text) * _TYPEWRITER
    if isinstance(cell, Number):
        mantissa, exponent = cell.parts
        power = 32.0 if exponent else 0.0
        return power + text_width(f"{mantissa} {cell.unit}".strip())
    if isinstance(cell, str):
        return text_width(cell)
    return sum(_natural(part) for part in cell)


def _column(column: Column) -> str:
    if column.wrap:
        flush = r"\raggedleft" if column.right else r"\raggedright"
        return rf">{{{flush}\arraybackslash}}p{{{column.share:.2f}\linewidth}}"
    return "r" if column.right else "l"
