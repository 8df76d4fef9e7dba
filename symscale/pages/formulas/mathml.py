"""Formulas as MathML, which browsers show without a script.

Monomials print as in LaTeX: one fraction, under a common root where they have one.
Everything else is left to SymPy's presentation printer. Every symbol carries its name
in `data-s`, from which a page explains it.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Any
from xml.dom.minidom import Element

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.mathml import MathMLPresentationPrinter

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import split_fraction
from symscale.language.letters import ACCENTS, GREEK, SIGNS, Typeset, name_parts, parse_latex
from symscale.pages.formulas.exponents import decimal_text, tidy_exponent
from symscale.pages.formulas.formula import (
    Compared,
    PlusFirst,
    as_monomial,
    factors_of,
    integer_parts,
    root_of,
)
from symscale.pages.formulas.names import own_names

_SIGNS = {sp.Eq: "=", sp.Le: "≤", sp.Ge: "≥", sp.Lt: "<", sp.Gt: ">"}
# Brackets around what is no taller than they: as glyphs that stretch they take more space.
_LOW = re.compile(r"<mo>\(</mo>((?:(?!<mo>[()]</mo>|<mfrac|<msqrt|<mtable).)*)<mo>\)</mo>")
_VARIANTS = {"mathbf": "bold", "mathit": "italic", "mathsf": "sans-serif", "mathtt": "monospace",
             "mathcal": "script"}
_TIMES = "&#8290;"
_SPACE = '<mspace width="0.17em"/>'


class _Presentation(PlusFirst, MathMLPresentationPrinter):
    """SymPy's printer, with the symbols of the notation."""

    def _print_Symbol(self, sym: sp.Symbol, style: str = "plain") -> Element:  # noqa: N802
        own = dict(own_names()).get(sym.name)
        found = self._named(sym.name) if own is None else self._typeset(parse_latex(own, len(own)))
        found.setAttribute("data-s", sym.name)
        return found

    def _named(self, name: str) -> Element:
        head, tail = name_parts(name)
        base = self._element("mi", GREEK.get(head, head))
        if not tail:
            return base
        shown = ",".join(GREEK.get(part, part) for part in tail.split(","))
        return self._around(
            "msub", base, self._element("mn" if tail.isdigit() else "mi", shown)
        )

    def _typeset(self, name: Typeset) -> Element:
        """A name as a problem has it typeset."""
        parts = [self._typeset(part) for part in name.parts]
        match name.kind:
            case "sign":
                return self._element("mn" if name.text.isdigit() else "mi",
                                     SIGNS.get(name.text, name.text))
            case "accent":
                return self._around("mover", parts[0], self._element("mo", ACCENTS[name.text]))
            case "font":
                found = self._around("mrow", parts[0])
                for letter in found.getElementsByTagName("mi"):
                    letter.setAttribute("mathvariant", _VARIANTS.get(name.text, "normal"))
                return found
            case "row":
                return self._around("mrow", *parts)
        _, below, above = name.parts
        kept = [parts[0], *(e for e, p in zip(parts[1:], (below, above), strict=True) if p.parts)]
        kind = "msubsup" if len(kept) == 3 else "msub" if below.parts else "msup"
        return self._around(kind, *kept)

    def _around(self, tag: str, *children: Element) -> Element:
        element: Element = self.dom.createElement(tag)
        for child in children:
            element.appendChild(child)
        return element

    def _element(self, tag: str, text: str) -> Element:
        element: Element = self.dom.createElement(tag)
        element.appendChild(self.dom.createTextNode(text))
        return element


def math(value: sp.Basic | Monomial | Compared, *, block: bool = False) -> str:
    """Return a formula as a `math` element.

    Args:
        value: The formula.
        block: Whether it stands on a line of its own.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, t_d = symbols("C t_d")
        >>> math(C**2)
        '<math><msup><mi data-s="C">C</mi><mn>2</mn></msup></math>'
    """
    return _element(mathml(value), block)


def least_of(left: sp.Basic, function: str, pieces: Iterable[sp.Basic | Monomial]) -> str:
    """Return `left = min { ...`, a piece on each line, as a `math` element."""
    left_set = '<mtr><mtd style="text-align:left">'
    rows = "".join(f"{left_set}{mathml(p)}</mtd></mtr>" for p in pieces)
    return _element(
        f'{mathml(left)}<mo>=</mo><mi>{escape(function)}</mi><mo stretchy="true">{{</mo>'
        f'<mtable displaystyle="true">{rows}</mtable>', True,
    )


def _element(inner: str, block: bool) -> str:
    inner = _LOW.sub(r'<mo stretchy="false">(</mo>\1<mo stretchy="false">)</mo>', inner)
    return f'<math display="block">{inner}</math>' if block else f"<math>{inner}</math>"


def mathml(value: sp.Basic | Monomial | Compared) -> str:
    """Return a formula as MathML without the `math` element around it."""
    if isinstance(value, Monomial):
        return _monomial(value)
    if isinstance(value, Compared):
        sign = escape(_SIGNS[value.kind])
        return f"<mrow>{_monomial(value.left)}<mo>{sign}</mo>{_monomial(value.right)}</mrow>"
    if isinstance(value, Relational):
        sign = escape(_SIGNS[type(value)])
        return f"<mrow>{mathml(value.lhs)}<mo>{sign}</mo>{mathml(value.rhs)}</mrow>"
    if isinstance(value, sp.Min | sp.Max):
        head = "min" if isinstance(value, sp.Min) else "max"
        inner = "<mo>,</mo>".join(mathml(a) for a in sorted(value.args, key=str))
        return f"<mrow><mi>{head}</mi><mo>(</mo>{inner}<mo>)</mo></mrow>"
    if isinstance(value, sp.Rational) and not value.is_Integer:
        fraction = f"<mfrac><mn>{abs(value.p)}</mn><mn>{value.q}</mn></mfrac>"
        return fraction if value > 0 else f"<mrow><mo>−</mo>{fraction}</mrow>"
    monomial = as_monomial(value)
    return _sympy(value) if monomial is None else _monomial(monomial)


def _sympy(value: sp.Basic) -> str:
    printer: Any = _Presentation()  # type: ignore[no-untyped-call]
    text: str = printer._print(value).toxml().replace("<mo>-</mo>", "<mo>−</mo>")
    return text.replace("&InvisibleTimes;", _TIMES).replace("&amp;InvisibleTimes;", _TIMES)


def _monomial(monomial: Monomial) -> str:
    root = root_of(monomial)
    above, below = split_fraction(monomial ** (1 / root))
    top, bottom = _product(above), _product(below)
    body = top if bottom == "<mn>1</mn>" else f"<mfrac>{top}{bottom}</mfrac>"
    if root == 1:
        return body
    if root == sp.Rational(1, 2):
        return f"<msqrt>{body}</msqrt>"
    return f"<msup><mrow><mo>(</mo>{body}<mo>)</mo></mrow>{_power(root)}</msup>"


def _product(monomial: Monomial) -> str:
    coefficient, rest = factors_of(monomial)
    parts = []
    if coefficient != 1:
        mantissa, tens = integer_parts(coefficient)
        parts.append(
            f"<mn>{mantissa}</mn><mo>·</mo><msup><mn>10</mn><mn>{tens}</mn></msup>" if tens
            else f"<mn>{mantissa}</mn>"
        )
    alone = len(rest) == 1 and coefficient == 1
    for atom, exponent in rest:
        base = _sympy(atom)
        if not (atom.is_Symbol or atom.is_Integer or (alone and exponent == 1)):
            base = f"<mrow><mo>(</mo>{base}<mo>)</mo></mrow>"
        if exponent == sp.Rational(1, 2):
            parts.append(f"<msqrt>{base}</msqrt>")
        else:
            parts.append(base if exponent == 1 else _raised(atom, base, exponent))
    if not parts:
        return "<mn>1</mn>"
    return parts[0] if len(parts) == 1 and "·" not in parts[0] else (
        f"<mrow>{f'<mo>{_TIMES}</mo>{_SPACE}'.join(parts)}</mrow>"
    )


def _raised(atom: sp.Expr, base: str, exponent: sp.Expr) -> str:
    """A power; the exponent stands above the subscript of a symbol, not after it."""
    power = _power(exponent)
    if not (isinstance(atom, sp.Symbol) and base.startswith("<msub ")):
        return f"<msup>{base}{power}</msup>"
    inner = base.partition(">")[2].removesuffix("</msub>")
    name = base.partition(">")[0].removeprefix("<msub")
    return f"<msubsup{name}>{inner}{power}</msubsup>"


def _power(exponent: sp.Expr) -> str:
    """An exponent, on one line."""
    tidy = tidy_exponent(exponent)
    if tidy.is_Integer:
        return f"<mn>{tidy}</mn>" if tidy >= 0 else f"<mrow><mo>−</mo><mn>{-tidy}</mn></mrow>"
    decimal = decimal_text(tidy)
    if decimal is not None:
        sign = "<mo>−</mo>" if tidy < 0 else ""
        return f"<mrow>{sign}<mn>{decimal.removeprefix('-')}</mn></mrow>"
    numerator, denominator = sp.fraction(tidy)
    if denominator == 1:
        return f"<mrow>{_sympy(numerator)}</mrow>"
    top, bottom = _sympy(numerator), _sympy(denominator)
    top = f"<mo>(</mo>{top}<mo>)</mo>" if numerator.is_Add else top
    if denominator.is_Add or denominator.is_Mul:
        bottom = f"<mo>(</mo>{bottom}<mo>)</mo>"
    return f'<mrow>{top}<mo lspace="0" rspace="0">/</mo>{bottom}</mrow>'
