"""Formulas as text and as LaTeX.

Monomials print as one fraction, under a common root where they have one, with
positive exponents only. Everything else is left to SymPy's printers, with the
notation's LaTeX names.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter
from sympy.printing.printer import Printer
from sympy.printing.str import StrPrinter

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Condition, plain_content, split_fraction
from symscale.errors import FormulaError, TooLargeError
from symscale.language.symbols import NOTATION
from symscale.pages.formulas.exponents import decimal_text, tidy_exponent
from symscale.pages.formulas.names import OwnNames, own_names, symbol_latex

SIGNS = {
    "text": {sp.Eq: "=", sp.Le: "<=", sp.Ge: ">=", sp.Lt: "<", sp.Gt: ">"},
    "latex": {sp.Eq: "=", sp.Le: r"\le", sp.Ge: r"\ge", sp.Lt: "<", sp.Gt: ">"},
}
_FULL_DIGITS = 7
_MOST_DIGITS = 400  # of numbers that are multiplied out
_MOST_ROOT_DIGITS = 12  # of those under a root
_MOST_DEGREE = 12  # of a root that a product is under
_MOST_CONDITION_DIGITS = 30  # of those in a condition
_NAME = re.compile(r"(?<![\w])(?:[A-Za-z]+_\w+|alpha|tau)(?![\w-])")


class PlusFirst(Printer):
    """A printer that begins a sum with what is added: a - b, not -b + a."""

    def _as_ordered_terms(self, expr: sp.Add, order: str | None = None) -> list[sp.Expr]:
        printer: Any = super()
        terms = list(printer._as_ordered_terms(expr, order=order))
        first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        return [first, *(t for t in terms if t is not first)]


class _Latex(PlusFirst, LatexPrinter):
    """SymPy's LaTeX."""


class _Text(PlusFirst, StrPrinter):
    """SymPy's text with ^ for powers."""

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:  # noqa: N802
        return str(StrPrinter._print_Pow(self, expr, rational=rational)).replace("**", "^")

    def _print_Mul(self, expr: sp.Mul) -> str:  # noqa: N802
        return str(StrPrinter._print_Mul(self, expr)).replace("**", "^").replace("*", " ")

    def _print_Max(self, expr: sp.Max) -> str:  # noqa: N802
        return f"max({', '.join(sorted(text(a) for a in expr.args))})"

    def _print_Min(self, expr: sp.Min) -> str:  # noqa: N802
        return f"min({', '.join(sorted(text(a) for a in expr.args))})"


@dataclass(frozen=True)
class Compared:
    """`left <= right`, between monomials whose numbers may be too long to multiply out.

    Attributes:
        left: The left side.
        right: The right side.
        kind: How they compare: `sp.Le`, `sp.Lt` or `sp.Eq`.
    """

    left: Monomial
    right: Monomial
    kind: type[Relational] = sp.Le

    @property
    def relational(self) -> Relational:
        """The comparison as SymPy's."""
        return self.kind(self.left.expr, self.right.expr, evaluate=False)


def _plain(expr: sp.Basic) -> str:
    printer: Any = _Text()  # type: ignore[no-untyped-call]
    return str(printer.doprint(expr))


def text(value: sp.Basic | Monomial | Compared) -> str:
    """Return a formula as one line of text.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, T, t_d = symbols("C T t_d")
        >>> text(sp.Le(T**2, 4*C*t_d/3, evaluate=False))
        'T^2 <= 4 C t_d / 3'
    """
    if isinstance(value, Monomial):
        return _monomial_text(value)
    if isinstance(value, Compared):
        sign = SIGNS["text"][value.kind]
        return f"{_monomial_text(value.left)} {sign} {_monomial_text(value.right)}"
    if isinstance(value, Relational):
        return f"{text(value.lhs)} {SIGNS['text'][type(value)]} {text(value.rhs)}"
    if value.is_Rational:
        return str(value)
    monomial = as_monomial(value)
    return _plain(value) if monomial is None else _monomial_text(monomial)


def latex(value: sp.Basic | Monomial | Compared) -> str:
    r"""Return a formula as LaTeX, without dollar signs.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> W_net, C = symbols("W_net C")
        >>> latex(W_net**2/(3*C))
        '\\frac{W_{\\mathrm{net}}^{2}}{3\\, C}'
    """
    return _latex(value, own_names())


@lru_cache(maxsize=4096)  # a document prints a formula in several formats
def _latex(value: sp.Basic | Monomial | Compared, names: OwnNames) -> str:
    """A formula as LaTeX, where `names` are the own names at present."""
    if isinstance(value, Monomial):
        return _monomial_latex(value)
    if isinstance(value, Compared):
        sign = SIGNS["latex"][value.kind]
        return f"{_monomial_latex(value.left)} {sign} {_monomial_latex(value.right)}"
    if isinstance(value, Relational):
        return f"{latex(value.lhs)} {SIGNS['latex'][type(value)]} {latex(value.rhs)}"
    if isinstance(value, sp.Min | sp.Max):
        head = r"\min" if isinstance(value, sp.Min) else r"\max"
        arguments = r",\; ".join(sorted(latex(a) for a in value.args))
        return head + rf"\left( {arguments} \right)"
    if value.is_Rational:
        return _sympy_latex(value) if value.is_Integer else str(value)
    monomial = as_monomial(value)
    return _sympy_latex(value) if monomial is None else _monomial_latex(monomial)


def as_monomial(value: sp.Basic) -> Monomial | None:
    """The monomial that an expression is, unless it is a sum or no monomial."""
    if value.is_Add:
        return None
    try:
        return Monomial.of(value) if isinstance(value, sp.Expr) else None
    except FormulaError:
        return None


def condition(ratio: Monomial, kind: type[Relational] = sp.Le) -> Compared:
    """Return `ratio <= 1` as `A <= B`, of that power of it which has the plainest numbers.

    Args:
        ratio: The monomial.
        kind: How it compares to 1: `sp.Le`, `sp.Lt` or `sp.Eq`.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, T = symbols("C T")
        >>> text(condition(Monomial.of(9*C/(4*T)) ** sp.Rational(5000, 3)))
        '9 C <= 4 T'
    """
    power = plain_content(ratio)
    if power == ratio.content and _digits(_numbers(ratio ** (1 / power))) > _MOST_CONDITION_DIGITS:
        power = ratio.coefficient.content
    return Compared(*split_fraction(ratio ** (1 / power)), kind)


def condition_of(condition_met: Condition) -> Compared:
    """Return a condition of a region, `A <= B` or, where parameters are tied, `A = B`."""
    return condition(condition_met.ratio, sp.Eq if condition_met.equal else sp.Le)


def sympy_text(value: sp.Basic | Monomial | Compared) -> str:
    """Return a formula as SymPy writes it, long numbers as powers.

    Raises:
        TooLargeError: If a number in it has more digits than Python prints.

    Example:
        >>> sympy_text(Monomial.of(sp.Rational(27, 2560)) ** 5000)
        '(27/2560)**5000'
    """
    if isinstance(value, Compared):
        left, right = sympy_text(value.left), sympy_text(value.right)
        tied = value.kind is sp.Eq
        return f"Eq({left}, {right})" if tied else f"{left} {SIGNS['text'][value.kind]} {right}"
    if isinstance(value, Monomial) and _digits(_numbers(value)) > _MOST_DIGITS:
        root = root_of(value)
        above, below = map(_python_product, split_fraction(value ** (1 / root)))
        return f"({above}/{below})**{_python_power(root)}"
    try:
        return str(value.expr if isinstance(value, Monomial) else value)
    except ValueError:
        raise TooLargeError("the formula has a number too long to print") from None


def _python_product(monomial: Monomial) -> str:
    coefficient, rest = factors_of(monomial)
    factors = [str(coefficient)] if coefficient != 1 or not rest else []
    factors += [str(a) if e == 1 else f"{_python_atom(a)}**{_python_power(e)}" for a, e in rest]
    return factors[0] if len(factors) == 1 else f"({'*'.join(factors)})"


def _python_atom(atom: sp.Expr) -> str:
    return str(atom) if atom.is_Atom else f"({atom})"


def _python_power(exponent: sp.Expr) -> str:
    return str(exponent) if exponent.is_Integer and exponent >= 0 else f"({exponent})"


def root_of(monomial: Monomial) -> sp.Expr:
    """The common exponent under which a monomial prints best; 1 where there is none.

    It takes out denominators with exponent symbols, and of the numbers their roots
    or, where that leaves long ones, all of their powers that they share.

    Example:
        >>> root_of(Monomial.of(sp.Rational(27, 2560)) ** 5000)
        5000
    """
    root = monomial.common_exponent
    inner = monomial ** (1 / root)
    numbers = _numbers(inner)
    degree = math.lcm(*(int(e.q) for _, e in numbers))
    if degree > _MOST_DEGREE and _digits(numbers) <= _MOST_DIGITS:
        return root
    if _digits(numbers) * degree > (_MOST_DIGITS if degree == 1 else _MOST_ROOT_DIGITS):
        return root * sp.Rational(math.gcd(*(int(e.p) for _, e in numbers)), degree)
    return root / degree


def _numbers(monomial: Monomial) -> list[tuple[int, sp.Rational]]:
    return [
        (int(a), e) for a, e in monomial.powers if a.is_Integer and isinstance(e, sp.Rational)
    ]


def _digits(powers: Iterable[tuple[int, sp.Rational]]) -> float:
    """About how many digits the numerator and denominator of a product of powers have."""
    return math.fsum(math.log10(n) * float(abs(e)) for n, e in powers)


def symbols_in(text: str) -> list[str | sp.Symbol]:
    """Split a text at names of symbols that cannot be words: those with _ and Greek ones.

    Example:
        >>> symbols_in("the width d_model, at alpha = 0")
        ['the width ', d_model, ', at ', alpha, ' = 0']
    """
    parts: list[str | sp.Symbol] = []
    end = 0
    for match in _NAME.finditer(text):
        if match.group() in NOTATION:
            parts += [text[end : match.start()], NOTATION[match.group()].symbol]
            end = match.end()
    parts.append(text[end:])
    return [p for p in parts if p != ""]


def _sympy_latex(expr: sp.Basic) -> str:
    printer: Any = _Latex  # SymPy has no types
    return str(printer({"symbol_names": symbol_latex(expr.free_symbols)}).doprint(expr))


def _factor_order(power: tuple[sp.Expr, sp.Expr]) -> tuple[str, str]:
    name = str(power[0])
    return (name.casefold(), name)


def factors_of(monomial: Monomial) -> tuple[int, list[tuple[sp.Expr, sp.Expr]]]:
    """The whole coefficient, and the other powers (symbols, roots of numbers) in order.

    Numbers whose product would be very long stay powers.
    """
    numbers = [(n, e) for n, e in _numbers(monomial) if e.is_Integer]
    if _digits(numbers) > _MOST_DIGITS:
        numbers = []
    factors = {n for n, _ in numbers}
    rest = [(a, e) for a, e in monomial.powers if not (e.is_Integer and a in factors)]
    for exponent in {e for a, e in rest if a.is_Integer and e.free_symbols}:
        shared = [a for a, e in rest if a.is_Integer and e == exponent]
        rest = [(a, e) for a, e in rest if a not in shared] + [(sp.Mul(*shared), exponent)]
    return math.prod(n ** int(e) for n, e in numbers), sorted(rest, key=_factor_order)


def integer_parts(number: int) -> tuple[str, int]:
    """Digits and decimal exponent of an integer; the exponent is 0 for short ones."""
    digits = str(number)
    if len(digits) <= _FULL_DIGITS:
        return digits, 0
    kept = digits.rstrip("0")
    if len(digits) - len(kept) < 3 or (len(kept) > 12 and len(digits) <= 20):
        return digits, 0
    mantissa = kept if len(kept) == 1 else f"{kept[0]}.{kept[1:]}"
    return mantissa, len(digits) - 1


def _monomial_text(monomial: Monomial) -> str:
    root = root_of(monomial)
    inner = monomial ** (1 / root)
    above, below = split_fraction(inner)
    tops, bottoms = _factors_text(above), _factors_text(below)
    body = " ".join(tops) or "1"
    if bottoms:
        bottom = " ".join(bottoms)
        body += f" / {bottom}" if len(bottoms) == 1 else f" / ({bottom})"
    if root == 1:
        return body
    if root == sp.Rational(1, 2):
        return _sqrt_text(body)
    return f"({body})^{_power_text(root)}"


def _sqrt_text(body: str) -> str:
    """A root of what may be one sum in brackets already."""
    inside = body[1:-1] if body.startswith("(") and body.endswith(")") else "("
    return f"sqrt({body})" if "(" in inside or ")" in inside else f"sqrt{body}"


def _factors_text(monomial: Monomial) -> list[str]:
    coefficient, rest = factors_of(monomial)
    factors = []
    if coefficient != 1:
        mantissa, tens = integer_parts(coefficient)
        factors.append(f"{mantissa}e{tens}" if tens else mantissa)
    for atom, exponent in rest:
        base = str(atom) if atom.is_Symbol or atom.is_Integer else f"({_plain(atom)})"
        if exponent == sp.Rational(1, 2):
            factors.append(_sqrt_text(base))
        else:
            factors.append(base if exponent == 1 else f"{base}^{_power_text(exponent)}")
    return factors


def _power_text(exponent: sp.Expr) -> str:
    tidy = tidy_exponent(exponent)
    if tidy.is_Symbol or (tidy.is_Integer and tidy >= 0):
        return str(tidy)
    decimal = decimal_text(tidy)
    return f"({_plain(tidy)})" if decimal is None or tidy < 0 else decimal


def _monomial_latex(monomial: Monomial) -> str:
    root = root_of(monomial)
    inner = monomial ** (1 / root)
    above, below = split_fraction(inner)
    top, bottom = _product_latex(above), _product_latex(below)
    body = top if bottom == "1" else rf"\frac{{{top}}}{{{bottom}}}"
    if root == 1:
        return body
    if root == sp.Rational(1, 2):
        return rf"\sqrt{{{body}}}"
    return rf"\left( {body} \right)^{{{_power_latex(root)}}}"


def _product_latex(monomial: Monomial) -> str:
    coefficient, rest = factors_of(monomial)
    factors = []
    if coefficient != 1:
        mantissa, tens = integer_parts(coefficient)
        factors.append(rf"{mantissa} \cdot 10^{{{tens}}}" if tens else mantissa)
    for atom, exponent in rest:
        base = _sympy_latex(atom)
        if not (atom.is_Symbol or atom.is_Integer):
            base = rf"\left( {base} \right)"
        if exponent == sp.Rational(1, 2):
            factors.append(rf"\sqrt{{{base}}}")
        else:
            factors.append(base if exponent == 1 else f"{base}^{{{_power_latex(exponent)}}}")
    return r"\, ".join(factors) or "1"


def _power_latex(exponent: sp.Expr) -> str:
    tidy = tidy_exponent(exponent)
    if tidy.is_Rational:
        return decimal_text(tidy) or str(tidy)
    numerator, denominator = sp.fraction(tidy)
    if denominator == 1:
        return _sympy_latex(numerator)
    top, bottom = _sympy_latex(numerator), _sympy_latex(denominator)
    top = f"({top})" if numerator.is_Add else top
    bottom = f"({bottom})" if denominator.is_Add or denominator.is_Mul else bottom
    return f"{top}/{bottom}"
