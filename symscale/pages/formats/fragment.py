r"""Documents as fragments of LaTeX that an author inputs into a paper or a talk.

A fragment needs the packages of `PACKAGES`, no more. It defines what it uses by
\providecommand, cites by \cite with the keys that `symscale.pages.formats.bibtex` prints,
and its labels begin with its own name, so that several fragments fit one document.
"""

import re
from collections.abc import Mapping

from symscale.pages.formats import latex
from symscale.pages.formats.document import (
    Bibliography,
    Block,
    Document,
    Equation,
    Heading,
    Table,
)
from symscale.pages.formulas.names import in_its_names

PACKAGES = ("amsmath", "amssymb", "array", "booktabs")
"""What the preamble of the document must load."""

HEADING = r"\providecommand{\symscaleheading}[1]{\par\medskip\noindent\textbf{#1}\par}"
_CITATION = re.compile(r"(?:\{\[\}|\[)(\d+)\]")


@in_its_names
def fragment(document: Document, name: str) -> str:
    r"""Print the body of a document for inclusion.

    Args:
        document: The document.
        name: What its labels begin with: eq:NAME:LABEL.

    Example:
        >>> from symscale.pages.formats.document import paragraph
        >>> text = fragment(Document("T", (Heading("Result"), paragraph("50 % of x"))), "t")
        >>> print(text.splitlines()[-1])
        50 \% of x
    """
    keys = _numbered_keys(document)
    blocks = [b for b in document.blocks if not isinstance(b, Bibliography)]
    blocks = [b for b in blocks if not (isinstance(b, Heading) and b.text == "Sources")]
    parts = [
        f"% {latex.plain_comment(document.title)}",
        f"% Needs: \\usepackage{{{','.join(PACKAGES)}}}",
        HEADING,
        rf"\symscaleheading{{{latex.prose(document.title)}}}",
    ]
    parts += [_cited(_block(block, name), keys) for block in blocks]
    return "\n\n".join(parts) + "\n"


def cited_keys(document: Document) -> tuple[str, ...]:
    """Return the keys of what a document cites, in order; "" for a user's own words."""
    for block in document.blocks:
        if isinstance(block, Bibliography):
            return block.keys
    return ()


def _numbered_keys(document: Document) -> dict[str, str]:
    """The key of each source that is known, by its number in brackets."""
    return {
        str(row[0]): key for b in document.blocks if isinstance(b, Bibliography)
        for row, key in zip(b.rows, b.keys, strict=True) if key
    }


def _block(block: Block, name: str) -> str:
    if isinstance(block, Heading):
        return rf"\symscaleheading{{{latex.prose(block.text)}}}"
    if isinstance(block, Equation):
        return latex.equation(block, prefix=f"{name}:")
    if isinstance(block, Table):
        return latex.table(block, breaks=False)
    return latex.block(block)


def _cited(text: str, keys: Mapping[str, str]) -> str:
    """Numbers in brackets as citations by key."""

    def key(match: re.Match[str]) -> str:
        known = keys.get(f"[{match.group(1)}]")
        return rf"\cite{{{known}}}" if known else match.group()

    return _CITATION.sub(key, text)
