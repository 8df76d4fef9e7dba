"""Documents as HTML: one page by itself, with formulas as MathML.

A page loads nothing: style and script are in it, and its policy forbids all else.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.language.symbols import NOTATION, Notation
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
from symscale.pages.formats.json import Json
from symscale.pages.formats.markdown import cases_latex
from symscale.pages.formulas import formula
from symscale.pages.formulas.formula import Compared
from symscale.pages.formulas.mathml import least_of, math
from symscale.pages.formulas.names import in_its_names
from symscale.version import __version__

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@in_its_names
def render(document: Document, drawings: Mapping[str, bytes] | None = None) -> str:
    """Print a document as a page of HTML.

    Args:
        document: The document.
        drawings: SVG of its figures by their file names; others are named only.

    Example:
        >>> render(Document("a < b", ())).splitlines()[0]
        '<!DOCTYPE html>'
    """
    return page(document.title, body(document, drawings), symbols=document.symbols)


@in_its_names
def body(document: Document, drawings: Mapping[str, bytes] | None = None) -> str:
    """Print title and blocks of a document, to stand within a page."""
    known = drawings or {}
    blocks = "\n".join(
        figure(b, known.get(b.file)) if isinstance(b, FigureBlock) else _block(b)
        for b in document.blocks
    )
    return f"<h1>{escape(document.title)}</h1>\n{blocks}"


def page(
    title: str, body: str, *, style: str = "", script: str = "",
    symbols: Mapping[str, Notation] = NOTATION,
) -> str:
    """Return a whole page.

    Args:
        title: Its title, as text.
        body: What stands in it, as HTML.
        style: More style sheets.
        script: More script, run after the page's own.
        symbols: What the symbols in it are, by name.
    """
    names = [name for name in symbols if f'data-s="{name}"' in body]
    known: dict[str, Json] = {n: [symbols[n].unit, symbols[n].meaning] for n in names}
    scripts = asset("page.js") + script
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{asset('page.css')}{style}</style>",
            "</head>",
            "<body>",
            f"<main>\n{body}",
            f"<footer>Made by symscale {__version__}.</footer>",
            "</main>",
            '<div id="tip" role="tooltip" hidden></div>',
            '<div id="said" class="quiet" role="status"></div>',
            embedded("symbols", known),
            f"<script>\n{scripts}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


@cache
def asset(name: str) -> str:
    """Return a style sheet or script of the package."""
    return files("symscale.pages").joinpath("assets", name).read_text(encoding="utf-8")


def embedded(name: str, data: Json) -> str:
    r"""Return JSON as an element that no text in it can end.

    Example:
        >>> print(embedded("x", ["</script>"]))
        <script type="application/json" id="x">["\u003c/script\u003e"]</script>
    """
    return f'<script type="application/json" id="{name}">{script_json(data)}</script>'


def script_json(data: Json) -> str:
    r"""Return JSON that may stand in a script: ASCII, without < and >, & and quotes of HTML.

    Example:
        >>> print(script_json("a<b" + chr(0x2028)))
        "a\u003cb\u2028"
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&'"})


def inline(value: Inline) -> str:
    """Print a string, formula or number.

    Example:
        >>> print(inline("a < d_model"), inline(Number(1.5e30, "FLOP")))
        a &lt; <math><msub data-s="d_model"><mi>d</mi><mi>model</mi></msub></math>
        <span class="number">1.5 × 10<sup>30</sup> FLOP</span>
    """
    if isinstance(value, Formula):
        return math(value.value)
    if isinstance(value, Code):
        return f"<code>{escape(value.text)}</code>"
    if isinstance(value, Number):
        mantissa, exponent = value.parts
        number = f"{mantissa} × 10<sup>{exponent}</sup>" if exponent else mantissa
        unit = f" {escape(value.unit)}" if value.unit not in ("", "1") else ""
        return f"<span class=\"number\">{number.replace('-', '−')}{unit}</span>"
    return "".join(
        escape(part) if isinstance(part, str) else math(part) for part in formula.symbols_in(value)
    )


def cell(value: Cell) -> str:
    """Print a cell of a table."""
    if isinstance(value, str | Formula | Number | Code):
        return inline(value)
    return "".join(inline(v) for v in value)


def equation(value: sp.Basic | Monomial | Compared, label: str = "") -> str:
    """Return a formula on a line of its own, with a button that copies its LaTeX.

    Args:
        value: The formula.
        label: Its label, as text.
    """
    return _display(math(value, block=True), formula.latex(value), label)


def _display(shown: str, latex: str, label: str = "") -> str:
    name = f' aria-label="Formula {escape(label)}"' if label else ' aria-label="Formula"'
    tag = f'<span class="label">({escape(label)})</span>' if label else ""
    return (
        f'<div class="eq"><div class="scroll" tabindex="0" role="group"{name}>{shown}'
        f'</div>{tag}<button type="button" class="copy" data-copy="{escape(latex)}">'
        "Copy LaTeX</button></div>"
    )


def figure(block: FigureBlock, svg: bytes | None) -> str:
    """Return a drawing with its caption; without the drawing, its file name."""
    shown = f"<code>{escape(block.file)}.svg</code>"
    if svg is not None:
        data = b64encode(svg).decode("ascii")
        shown = f'<img alt="{escape(block.caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{shown}<figcaption>{inline(block.caption)}</figcaption></figure>"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        level = min(max(block.level, 2), 4)
        return f"<h{level}>{escape(block.text)}</h{level}>"
    if isinstance(block, Paragraph):
        return f"<p>{''.join(inline(c) for c in block.content)}</p>"
    if isinstance(block, Equation):
        return equation(block.value, block.label)
    if isinstance(block, Cases):
        shown = least_of(block.left, block.function, block.pieces)
        return _display(shown, cases_latex(block))
    if isinstance(block, FigureBlock):
        return figure(block, None)
    return table(block)


def table(block: Table) -> str:
    """Return a table, which scrolls by itself where the page is too narrow."""
    caption = f"<caption>{inline(block.caption)}</caption>" if block.caption else ""
    head = ""
    if any(c.title for c in block.columns):
        cells = "".join(
            f'<th scope="col"{_class(c)}>{inline(c.title)}</th>' for c in block.columns
        )
        head = f"<thead><tr>{cells}</tr></thead>"
    rows = "".join(f"<tr>{_row(block.columns, row)}</tr>" for row in block.rows)
    name = f' aria-label="{escape(block.caption)}"' if block.caption else ' aria-label="Table"'
    return (
        f'<div class="scroll" tabindex="0" role="group"{name}><table>{caption}{head}'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(columns: Iterable[Column], row: Iterable[Cell]) -> str:
    return "".join(
        f"<td{_class(c)}>{cell(value)}</td>" for c, value in zip(columns, row, strict=True)
    )


def _class(column: Column) -> str:
    names = [n for n, on in (("wrap", column.wrap), ("right", column.right)) if on]
    return f' class="{" ".join(names)}"' if names else ""
