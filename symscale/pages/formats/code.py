"""Closed forms as functions in Python (NumPy), C and JavaScript.

The text of a formula is that of SymPy's code printers. Around it stand the units and
meanings of the arguments, and the region: outside of it a function returns NaN.
"""

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.c import C99CodePrinter
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.printing.numpy import NumPyPrinter

from symscale.errors import TooLargeError
from symscale.language.symbols import NOTATION
from symscale.pages.formulas import formula
from symscale.version import __version__

_WIDTH = 92
_LARGEST_INT = 2**31 - 1
_SIGNS = {sp.Eq: "==", sp.Le: "<=", sp.Ge: ">=", sp.Lt: "<", sp.Gt: ">"}


@dataclass(frozen=True)
class Function:
    """A closed form that becomes a function.

    Attributes:
        name: Its name, an identifier.
        meaning: What it returns, in words.
        unit: Unit of what it returns, or "".
        values: The closed form; or, with names, those of which one is the optimum.
        names: For a function that returns which piece rules: the pieces' names.
        least: Whether of several values the least is the optimum.
        requires: Where it holds; elsewhere the function returns NaN.
    """

    name: str
    meaning: str
    unit: str
    values: tuple[sp.Expr, ...]
    names: tuple[str, ...] = ()
    least: bool = True
    requires: tuple[Relational, ...] = ()

    @property
    def arguments(self) -> tuple[sp.Symbol, ...]:
        """The symbols it depends on, by name."""
        found = {s for e in (*self.values, *self.requires) for s in e.free_symbols}
        return tuple(
            sorted((s for s in found if isinstance(s, sp.Symbol)), key=lambda s: str(s).casefold())
        )

    @property
    def conditions(self) -> tuple[Relational, ...]:
        """What must hold: positive arguments, and the region."""
        positive = [sp.Gt(s, 0, evaluate=False) for s in self.arguments if s.is_positive]
        return (*positive, *self.requires)


def identifier(*words: str) -> str:
    """Return a name that every language takes, from words.

    Example:
        >>> identifier("training-limits", "data movement")
        'training_limits_data_movement'
    """
    name = re.sub(r"[^a-z0-9]+", "_", " ".join(words).lower()).strip("_")
    return name if name and not name[0].isdigit() else f"f_{name}"


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


def comment(text: str, mark: str, indent: str = "") -> list[str]:
    r"""Return a text as lines of comments, which nothing in it can end.

    Args:
        text: The text.
        mark: What begins a comment.
        indent: What stands before all lines but the first.

    Example:
        >>> comment("two" + chr(0x2028) + "lines, and a tail" + chr(92), "//")
        ['// two lines, and a tail\\.']
    """
    plain = "".join(c if c.isprintable() else " " for c in text).replace("??/", "?? /")
    room = _WIDTH - len(mark)
    lines = textwrap.wrap(plain, room, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return [f"{mark} {line}{'.' if line.endswith(chr(92)) else ''}" for line in lines]


def _legend(functions: Sequence[Function], notes: Mapping[str, str]) -> list[str]:
    """What the arguments of all functions are, with their units."""
    found = {str(s): s for f in functions for s in f.arguments}
    lines = []
    for name in sorted(found, key=str.casefold):
        entry = NOTATION.get(name)
        unit = "" if entry is None or entry.unit == "1" else f" [{entry.unit}]"
        meaning = entry.meaning if entry else "a parameter"
        lines.append(f"{name}{unit}: {meaning}{notes.get(name, '')}")
    return lines


def _remarks(function: Function, mark: str) -> list[str]:
    """What stands above a function: what it returns, and where it holds."""
    unit = "" if function.unit in ("", "1") else f" [{function.unit}]"
    lines = comment(f"{function.meaning}{unit}", mark)
    if function.requires:
        lines += comment("It holds where " + " and ".join(map(_plain, function.requires)), mark)
    return lines


def _plain(relation: Relational) -> str:
    return formula.text(relation)


def python(title: str, functions: Sequence[Function], notes: Mapping[str, str]) -> str:
    """Return a Python module; its functions take numbers or NumPy arrays by keyword."""
    lines = [*_head(title, functions, notes, "#"), "", "import numpy as np"]
    for function in functions:
        lines += ["", ""]
        lines += _remarks(function, "#")
        names = ", ".join(map(str, function.arguments))
        lines.append(f"def {function.name}({'*, ' if names else ''}{names}):")
        values = [expression(v, "python") for v in function.values]
        valid = " & ".join(f"({expression(c, 'python')})" for c in function.conditions) or "True"
        if function.names:
            pick = "argmin" if function.least else "argmax"
            shown = ", ".join(json.dumps(n) for n in function.names)
            lines.append(f"    names = np.array([{shown}])")
            lines.append("    values = np.broadcast_arrays(")
            lines += [f"        {v}," for v in values]
            lines.append("    )")
            value, other = f"names[np.{pick}(np.stack(values), axis=0)]", '""'
        else:
            (value,), other = values, "np.nan"
        lines.append(f"    valid = {valid}")
        lines.append('    with np.errstate(all="ignore"):')
        lines.append(f"        return np.where(valid, {value}, {other})[()]")
    return "\n".join(lines) + "\n"


def c(title: str, functions: Sequence[Function], notes: Mapping[str, str]) -> str:
    """Return a C99 source file; its functions take doubles, in the order of the alphabet."""
    lines = [*_head(title, functions, notes, "//"), "", "#include <math.h>"]
    for function in functions:
        lines.append("")
        lines += _remarks(function, "//")
        names = ", ".join(f"double {s}" for s in function.arguments) or "void"
        kind = "const char *" if function.names else "double "
        lines.append(f"{kind}{function.name}({names}) {{")
        lines += _guard(function, "c", '""' if function.names else "NAN")
        lines += _body(function, "c", "double best = ", "const char *name = ", _c_string)
    return "\n".join(lines) + "\n"


def javascript(title: str, functions: Sequence[Function], notes: Mapping[str, str]) -> str:
    """Return a JavaScript file, a script and a CommonJS module; functions take one object."""
    lines = [*_head(title, functions, notes, "//"), '"use strict";']
    for function in functions:
        lines.append("")
        lines += _remarks(function, "//")
        names = ", ".join(map(str, function.arguments))
        lines.append(f"function {function.name}({f'{{ {names} }}' if names else ''}) {{")
        lines += _guard(function, "javascript", '""' if function.names else "NaN")
        lines += _body(function, "javascript", "let best = ", "let name = ", json.dumps)
    names = ", ".join(f.name for f in functions)
    lines += ["", f'if (typeof module !== "undefined") module.exports = {{ {names} }};']
    return "\n".join(lines) + "\n"


def _head(
    title: str, functions: Sequence[Function], notes: Mapping[str, str], mark: str
) -> list[str]:
    lines = comment(title, mark)
    lines += comment(
        f"Written by symscale {__version__}. All arguments but exponents are positive; "
        "where a formula does not hold, its function returns NaN (a name: the empty string).",
        mark,
    )
    for line in _legend(functions, notes):
        lines += comment(f"  {line}", mark, "      ")
    return lines


def _guard(function: Function, language: str, other: str) -> list[str]:
    valid = " && ".join(expression(c, language) for c in function.conditions)
    return [f"    if (!({valid})) return {other};"] if valid else []


def _body(
    function: Function, language: str, best: str, name: str, quote: Callable[[str], str]
) -> list[str]:
    values = [expression(v, language) for v in function.values]
    if not function.names:
        return [f"    return {values[0]};", "}"]
    (first, *others), (label, *labels) = values, function.names
    lines = [f"    {best}{first};", f"    {name}{quote(label)};"]
    kind, sign = best.partition(" ")[0], "<" if function.least else ">"
    for k, (value, text) in enumerate(zip(others, labels, strict=True), 1):
        lines.append(f"    {kind} value_{k} = {value};")
        better = f"best = value_{k}; name = {quote(text)};"
        lines.append(f"    if (value_{k} {sign} best) {{ {better} }}")
    if not others:
        lines.append("    (void)best;" if language == "c" else "    void best;")
    return [*lines, "    return name;", "}"]


def _c_string(text: str) -> str:
    """A string of C: all that is not plain as the octal bytes of UTF-8."""
    plain = {b: chr(b) for b in range(32, 127) if chr(b) not in '"\\?'}
    return '"' + "".join(plain.get(b, f"\\{b:03o}") for b in text.encode()) + '"'


LANGUAGES: Mapping[str, Callable[[str, Sequence[Function], Mapping[str, str]], str]] = (
    MappingProxyType({"python": python, "c": c, "javascript": javascript})
)
"""What writes a file in each language: from a title, functions, and notes to arguments."""


@dataclass(frozen=True)
class ClosedForms:
    """Closed forms of one answer.

    Attributes:
        title: What they are of.
        functions: The functions.
        notes: What arguments stand for in the answer, by name.
    """

    title: str
    functions: Sequence[Function]
    notes: Mapping[str, str] = field(default_factory=dict)

    def code(self, language: str) -> str:
        """Write them in a language: python, c or javascript."""
        return LANGUAGES[language](self.title, self.functions, self.notes)
