"""Formulas as expressions of programming languages, by SymPy's code printers."""

import keyword
from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.c import C99CodePrinter
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.printing.numpy import NumPyPrinter

from symscale.errors import TooLargeError

_LARGEST_INT = 2**31 - 1
_SIGNS = {sp.Eq: "==", sp.Le: "<=", sp.Ge: ">=", sp.Lt: "<", sp.Gt: ">"}


def _number(value: int) -> str:
    """A whole number; beyond what C's int holds as a double."""
    if abs(value) <= _LARGEST_INT:
        return str(value)
    try:
        return repr(float(value))
    except OverflowError:
        raise TooLargeError("the formula has a number beyond what a double holds") from None


class _Python(NumPyPrinter):
    """NumPy's functions as `np.`."""

    def _print_Integer(self, expr: sp.Integer) -> str:  # noqa: N802
        return _number(int(expr))

    def _print_Rational(self, expr: sp.Rational) -> str:  # noqa: N802
        return f"{_number(int(expr.p))}/{_number(int(expr.q))}"

    def _print_Min(self, expr: sp.Min) -> str:  # noqa: N802
        return self._nested("np.minimum", expr)

    def _print_Max(self, expr: sp.Max) -> str:  # noqa: N802
        return self._nested("np.maximum", expr)

    def _nested(self, function: str, expr: sp.Basic) -> str:
        parts = [str(self._print(a)) for a in sorted(expr.args, key=str)]
        return reduce(lambda a, b: f"{function}({a}, {b})", parts)


class _C(C99CodePrinter):
    """C99, without M_PI and the like, which strict compilers do not have."""

    def __init__(self) -> None:
        super().__init__({"math_macros": {}})  # type: ignore[no-untyped-call]

    def _print_Integer(self, expr: sp.Integer) -> str:  # noqa: N802
        return _number(int(expr))

    def _print_Rational(self, expr: sp.Rational) -> str:  # noqa: N802
        return f"{float(int(expr.p))!r}/{float(int(expr.q))!r}"


class _JavaScript(JavascriptCodePrinter):
    """JavaScript."""

    def _print_Integer(self, expr: sp.Integer) -> str:  # noqa: N802
        return _number(int(expr))

    def _print_Rational(self, expr: sp.Rational) -> str:  # noqa: N802
        return f"{_number(int(expr.p))}/{_number(int(expr.q))}"


_OTHER_WORDS = (
    "abs cbrt ceil exp fabs floor fmax fmin isfinite log pow sqrt linux unix map arguments await "
    "catch debugger delete eval export extends false function implements instanceof interface let "
    "module new null package private protected public require super switch this throw true try "
    "typeof undefined var with Infinity Math NaN Number NAN INFINITY np best name valid value "
)
RESERVED = frozenset((
    *keyword.kwlist, *_C().reserved_words, *_OTHER_WORDS.split(),
))
"""Names that a language, or what is written in it, uses otherwise."""

_PRINTERS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {"python": _Python, "c": _C, "javascript": _JavaScript}
)


def expression(value: sp.Basic, language: str) -> str:
    """Return a formula or a relation as an expression of a programming language.

    Args:
        value: The formula.
        language: "python", "c" or "javascript".

    Raises:
        TooLargeError: If a number in it is beyond what a double holds.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, t_d = symbols("C t_d")
        >>> expression(sp.Min(sp.sqrt(C), C**3*t_d/7), "c")
        'fmin(sqrt(C), (1.0/7.0)*pow(C, 3)*t_d)'
        >>> expression(sp.Le(C, 2*t_d, evaluate=False), "javascript")
        'C <= 2*t_d'
    """
    if isinstance(value, Relational):
        left, right = (expression(side, language) for side in (value.lhs, value.rhs))
        return f"{left} {_SIGNS[type(value)]} {right}"
    try:
        printed = str(_PRINTERS[language]().doprint(value))
    except OverflowError:
        raise TooLargeError("the formula has a number beyond what a double holds") from None
    return printed.replace("numpy.", "np.")
