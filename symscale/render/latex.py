r"""Documents as LaTeX: a standalone article, or only its body.

The preamble needs amsmath, amssymb, booktabs and longtable, no more.
"""

from symscale.render import formula
from symscale.render.document import (
    Block,
    Cases,
    Cell,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Inline,
    Number,
    Paragraph,
    Table,
)
from symscale.render.markdown import cases_latex

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
_SECTIONS = {1: "section", 2: "section", 3: "subsection"}
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "µ": r"\ensuremath{\mu}", "μ": r"\ensuremath{\mu}", "×": r"\ensuremath{\times}",
    "\n": " ", "[": "{[}", "*": "{*}",  # after a line break they would be its arguments
}


def render(document: Document) -> str:
    """Print a document as a standalone LaTeX file."""
    parts = [
        PREAMBLE + rf"\title{{{_prose(document.title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        body(document),
        r"\end{document}",
    ]
    return "\n".join(parts) + "\n"


def body(document: Document) -> str:
    """Print the blocks of a document, without preamble and title."""
    return "\n\n".join(_block(block) for block in document.blocks)


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


def inline(value: Inline) -> str:
    """Print a string, formula or number."""
    if isinstance(value, Formula):
        return f"${formula.latex(value.value)}$"
    if isinstance(value, Number):
        mantissa, exponent = value.parts
        number = rf"${mantissa} \times 10^{{{exponent}}}$" if exponent else f"${mantissa}$"
        return rf"{number}~{escape(value.unit)}" if value.unit not in ("", "1") else number
    return _prose(value)


def _prose(text: str) -> str:
    """Escaped text in which names of symbols, such as d_model, are set as formulas."""
    return "".join(
        escape(part) if isinstance(part, str) else f"${formula.latex(part)}$"
        for part in formula.symbols_in(text)
    )


def _cell(value: Cell) -> str:
    if isinstance(value, str | Formula | Number):
        return inline(value)
    return "".join(inline(v) for v in value)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return rf"\{_SECTIONS[block.level]}{{{_prose(block.text)}}}"
    if isinstance(block, Paragraph):
        return "".join(inline(c) for c in block.content)
    if isinstance(block, Equation):
        label = ""
        if block.label:
            label = rf"\label{{eq:{_label(block.label)}}}\tag{{{escape(block.label)}}}"
        return f"\\begin{{equation}}{label}\n{formula.latex(block.value)}\n\\end{{equation}}"
    if isinstance(block, Cases):
        return f"\\begin{{equation}}\n{cases_latex(block)}\n\\end{{equation}}"
    return _table(block)


def _label(text: str) -> str:
    """A label of letters, digits and hyphens."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)


def _table(table: Table) -> str:
    """A table on one page, or, where it has many rows, one that breaks over pages."""
    spec = "@{}" + "".join(_column(c) for c in table.columns) + "@{}"
    titles = [_prose(c.title) for c in table.columns]
    head = [" & ".join(titles) + r" \\", r"\midrule"] if any(titles) else []
    rows = [" & ".join(_cell(c) for c in row) + r" \\" for row in table.rows]
    if len(rows) > _LONG_TABLE:
        lines = [
            rf"\begin{{longtable}}{{{spec}}}", r"\toprule", *head, r"\endhead", *rows,
            r"\bottomrule", r"\end{longtable}",
        ]
    else:
        lines = [
            r"\begin{center}", rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *head, *rows,
            r"\bottomrule", r"\end{tabular}", r"\end{center}",
        ]
    caption = f"{_prose(table.caption)}\n\n" if table.caption else ""
    return caption + "\n".join(lines)


def _column(column: Column) -> str:
    if column.wrap:
        flush = r"\raggedleft" if column.right else r"\raggedright"
        return rf">{{{flush}\arraybackslash}}p{{{column.share:.2f}\linewidth}}"
    return "r" if column.right else "l"
