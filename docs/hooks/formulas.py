"""Formulas of the site's pages as MathML, which browsers show without any script."""

import re
from typing import Any

from symscale.language.symbols import NOTATION
from symscale.pages.formulas import formula
from symscale.pages.formulas.mathml import math

_FORMULA = re.compile(r"\$([^$\n]+)\$")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.M | re.S)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace every formula, which is a symbol of the notation, outside code."""
    known = {formula.latex(entry.symbol): entry.symbol for entry in NOTATION.values()}

    def printed(found: re.Match[str]) -> str:
        if found.group(1) not in known:
            raise ValueError(f"{found.group()} is no symbol of the notation; write it in backticks")
        return math(known[found.group(1)])

    parts = _CODE.split(markdown)
    parts[::2] = [_FORMULA.sub(printed, part) for part in parts[::2]]
    return "".join(parts)
