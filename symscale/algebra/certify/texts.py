"""Names, lines and exponents as certificates of format 3 spell them."""

import re
import zlib
from collections.abc import Iterable
from functools import lru_cache

import sympy as sp

from symscale.errors import FormulaError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}\Z")
_LONGEST_LINE = 200


def is_name(text: str) -> bool:
    """Whether the format has this name of a symbol."""
    return bool(_NAME.match(text))


def line(text: str) -> str:
    r"""A text as a name of the format: one line of printable ASCII, not too long.

    Example:
        >>> line("N \u2264 b\n")
        'N ? b'
    """
    cleaned = " ".join(text.split()).encode("ascii", "replace").decode()
    cleaned = "".join(c if c.isprintable() else "?" for c in cleaned)
    if len(cleaned) > _LONGEST_LINE:
        cleaned = f"{cleaned[:_LONGEST_LINE - 12]}... {_mark(cleaned)}"
    return cleaned or "?"


def _mark(text: str) -> str:
    """A short mark that keeps long names apart which begin alike."""
    return f"{zlib.crc32(text.encode()):08x}"


def unique_lines(names: Iterable[str]) -> dict[str, str]:
    """Names of the format for constraints' names, no two alike and none that is taken."""
    found: dict[str, str] = {}
    for name in names:
        label, number = line(name), 2
        while label in found.values() or label == "objective":
            label, number = line(f"{line(name)[:_LONGEST_LINE - 20]} ({number})"), number + 1
        found[name] = label
    return found


@lru_cache(maxsize=4096)
def exponent_text(exponent: sp.Expr) -> str:
    """A rational function of exponents in the format's words.

    Raises:
        FormulaError: If it is none.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> exponent_text(2/(1 - 2*symbol("alpha"))**2)
        '(2)/((1 - 2*alpha)^2)'
    """
    if exponent.is_Rational:
        return str(exponent)
    above, below = sp.fraction(exponent)
    if not (above.is_polynomial() and below.is_polynomial()):
        above, below = sp.fraction(sp.together(exponent))
    if not (above.is_polynomial() and below.is_polynomial()):
        raise FormulaError(f"exponent {exponent} is no rational function")
    texts = [str(part).replace("**", "^") for part in (above, below)]
    return texts[0] if below == 1 else f"({texts[0]})/({texts[1]})"
