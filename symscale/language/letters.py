r"""How names are typeset: Greek letters, and LaTeX that a user gives for a name.

That LaTeX is read by a small grammar into a tree, and printed from the tree: letters, digits,
Greek letters, accents, upright and other fonts, one subscript and one superscript each. All
else is refused, so nothing that a user writes can break a document or do anything in it.

Example:
    >>> print(parse_latex(r"\hat t_{step}").tex, parse_latex(r"N^\star").tex)
    \hat{t}_{step} {N^{\star}}
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from symscale.errors import ParseError, printable

_LOWER = (
    ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
     "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi",
     "omega"), "αβγδεζηθικλμνξπρστυφχψω",
)  # fmt: skip
_UPPER = (
    ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
    "ΓΔΘΛΞΠΣΥΦΨΩ",
)
GREEK = MappingProxyType(
    {name: letter for names, letters in (_LOWER, _UPPER)
     for name, letter in zip(names, letters, strict=True)}
)
"""The Greek letters that LaTeX has, by name."""

SIGNS = MappingProxyType({
    **GREEK, "varepsilon": "ε", "vartheta": "ϑ", "varphi": "φ", "varrho": "ϱ", "varsigma": "ς",
    "ell": "ℓ", "star": "⋆", "ast": "∗", "dagger": "†", "prime": "′", "infty": "∞",
    "parallel": "∥", "perp": "⟂", "circ": "∘", "bullet": "∙", "max": "max", "min": "min",
})  # fmt: skip
"""The commands for one sign."""

ACCENTS = MappingProxyType(
    {"hat": "^", "bar": "¯", "tilde": "~", "dot": "˙", "ddot": "¨", "vec": "→", "overline": "¯"}
)
"""The commands that put a sign above."""

FONTS = frozenset({"mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal"})
"""The commands for letters of another kind."""

MOST_CHARACTERS = 60  # of what a user writes; printed again it has more braces
_TOKEN = re.compile(r"\s*(\\[A-Za-z]+|[A-Za-z0-9{}_^',+*./-])\s*")

Kind = Literal["sign", "accent", "font", "row", "scripts"]


@dataclass(frozen=True)
class Typeset:
    """A name as it is typeset.

    Attributes:
        kind: What it is: a sign, an accent or a font around its part, parts in a row, or a part
            with scripts below and above.
        text: The sign, or the command.
        parts: What it consists of; of scripts the base, then what is below and above, or an
            empty row.
    """

    kind: Kind
    text: str = ""
    parts: tuple["Typeset", ...] = ()

    @property
    def tex(self) -> str:
        """As LaTeX that may stand before a superscript."""
        inside = self._tex
        single = self.kind != "row" or len(self.parts) == 1
        raised = "^" in inside and self.kind in ("scripts", "row")
        return inside if single and not raised else f"{{{inside}}}"

    @property
    def _tex(self) -> str:
        match self.kind:
            case "sign":
                return f"\\{self.text}" if len(self.text) > 1 else self.text
            case "accent" | "font":
                return f"\\{self.text}{{{self.parts[0]._tex}}}"
            case "row":
                found = ""
                for part in self.parts:
                    between = re.search(r"\\[A-Za-z]+$", found) and part._tex[:1].isalpha()
                    found += (" " if between else "") + part._tex
                return found
        base, below, above = self.parts
        scripts = [f"{mark}{{{p._tex}}}" for mark, p in (("_", below), ("^", above)) if p.parts]
        return base.tex + "".join(scripts)


_NOTHING = Typeset("row")


@lru_cache(maxsize=1024)
def parse_latex(text: str, most: int = MOST_CHARACTERS) -> Typeset:
    r"""Read the LaTeX of a name.

    Args:
        text: The LaTeX.
        most: How many characters it may have.

    Raises:
        ParseError: If it is anything but a name; the text says what may stand there.

    Example:
        >>> parse_latex(r"\input{/etc/passwd}")
        Traceback (most recent call last):
        ...
        symscale.errors.ParseError: '\\input{/etc/passwd}' is no LaTeX of a name: write letters, ...
    """
    plain = _TOKEN.sub("", text)
    if plain or not text.strip() or len(text) > most:
        raise _refused(text)
    tokens = _TOKEN.findall(text)[::-1]
    found = _row(tokens, text)
    if tokens or not found.parts:
        raise _refused(text)
    return found.parts[0] if len(found.parts) == 1 else found


def _refused(text: str) -> ParseError:
    return ParseError(
        f"{printable(text)!r} is no LaTeX of a name: write letters, digits, Greek letters, {{}}, "
        f"one _ and one ^ each, or {', '.join(sorted(f'{chr(92)}{a}' for a in ACCENTS))}, "
        f"{', '.join(sorted(f'{chr(92)}{f}' for f in FONTS))}, {MOST_CHARACTERS} characters "
        "at most"
    )


def _row(tokens: list[str], text: str) -> Typeset:
    """Read what stands side by side, off the end of `tokens`, up to a closing brace."""
    parts: list[Typeset] = []
    while tokens and tokens[-1] != "}":
        if tokens[-1] in ("_", "^", "'"):
            raise _refused(text)
        base, scripts = _single(tokens, text), {"_": _NOTHING, "^": _NOTHING}
        while tokens and tokens[-1] in ("_", "^", "'"):
            mark = tokens.pop()
            prime = mark == "'"
            if scripts["^" if prime else mark].parts:
                raise _refused(text)
            script = Typeset("sign", "prime") if prime else _single(tokens, text)
            scripts["^" if prime else mark] = (
                script if script.kind == "row" else Typeset("row", "", (script,))
            )
        whole = (base, scripts["_"], scripts["^"])
        parts.append(base if whole[1:] == (_NOTHING, _NOTHING) else Typeset("scripts", "", whole))
    return Typeset("row", "", tuple(parts))


def _single(tokens: list[str], text: str) -> Typeset:
    """Read a sign, a command with what it applies to, or what braces hold."""
    found = tokens.pop() if tokens else "}"
    name = found.removeprefix("\\")
    if found == "{":
        inside = _row(tokens, text)
        if tokens and tokens.pop() == "}" and inside.parts:
            return inside.parts[0] if len(inside.parts) == 1 else inside
    elif found.startswith("\\") and (name in ACCENTS or name in FONTS):
        kind: Kind = "accent" if name in ACCENTS else "font"
        if tokens and tokens[-1] not in ("_", "^", "'"):
            return Typeset(kind, name, (_single(tokens, text),))
    elif (name in SIGNS and found != name) or (found == name and found not in "}_^'"):
        return Typeset("sign", name)
    raise _refused(text)


def latex_of_name(name: str) -> str:
    r"""Return LaTeX for a name: Greek letters as such; after the first _ an upright subscript.

    Example:
        >>> print(latex_of_name("t_comms"), latex_of_name("M_X"), latex_of_name("tau_1"))
        t_{\mathrm{comms}} M_{X} \tau_{1}
    """
    head, tail = name_parts(name)
    first = _word(head)
    if not tail:
        return first
    if len(tail) == 1:
        return f"{first}_{{{tail}}}"
    parts = tail.split(",")
    if any(p in GREEK for p in parts):
        return f"{first}_{{{','.join(map(_word, parts))}}}"
    return rf"{first}_{{\mathrm{{{tail}}}}}"


def name_parts(name: str) -> tuple[str, str]:
    """The base of a name, and its subscript.

    Example:
        >>> name_parts("N_TP_model"), name_parts("tau")
        (('N', 'TP,model'), ('tau', ''))
    """
    head, _, tail = name.partition("_")
    return head, tail.strip("_").replace("_", ",")


def _word(text: str) -> str:
    if text in GREEK:
        return f"\\{text}"
    return text if len(text) == 1 else rf"\mathrm{{{text}}}"
