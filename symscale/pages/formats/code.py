"""Closed forms as functions in Python (NumPy), C and JavaScript.

The text of a formula is that of SymPy's code printers. Around it stand the units and
meanings of the arguments, and the region: arguments become floats, and outside of the
region a function returns NaN, whatever they are.
"""

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from symscale.language.symbols import NOTATION, Notation
from symscale.pages.formulas import formula
from symscale.pages.formulas.programs import expression
from symscale.version import __version__

_WIDTH = 92


@dataclass(frozen=True)
class ShareLaw:
    """What determines a number that formulas use: `number = law(symbol)`, which rises.

    Attributes:
        symbol: The number.
        low: It is above this.
        high: It is below this.
        number: A formula in the arguments.
        law: A formula in the number, and perhaps in arguments that are exponents.
    """

    symbol: sp.Symbol
    low: sp.Rational
    high: sp.Rational
    number: sp.Expr
    law: sp.Expr


@dataclass(frozen=True)
class Function:
    """A closed form that becomes a function.

    Attributes:
        name: Its name, an identifier.
        meaning: What it returns, in words.
        unit: Unit of what it returns, or "".
        values: The closed form; or several, of which the least or greatest is the optimum.
        names: For a function that returns which value is the optimum: their names.
        least: Whether of several values the least is the optimum.
        requires: Where it holds; elsewhere the function returns NaN.
        cases: Where each value counts; by default all do everywhere.
        shares: Numbers in the formulas that laws determine.
    """

    name: str
    meaning: str
    unit: str
    values: tuple[sp.Expr, ...]
    names: tuple[str, ...] = ()
    least: bool = True
    requires: tuple[Relational, ...] = ()
    cases: tuple[tuple[Relational, ...], ...] = ()
    shares: tuple[ShareLaw, ...] = ()

    @property
    def _symbols(self) -> set[sp.Symbol]:
        parts = (*self.values, *self.requires, *(c for case in self.cases for c in case))
        return {s for e in parts for s in e.free_symbols if isinstance(s, sp.Symbol)}

    @property
    def laws(self) -> tuple[ShareLaw, ...]:
        """The laws of the numbers that stand in it."""
        return tuple(s for s in self.shares if s.symbol in self._symbols)

    @property
    def arguments(self) -> tuple[sp.Symbol, ...]:
        """The symbols it depends on, by name."""
        found = self._symbols
        for share in self.laws:
            inner: set[Any] = share.number.free_symbols | share.law.free_symbols
            found = (found | inner) - {share.symbol}
        return tuple(sorted(found, key=lambda s: str(s).casefold()))

    @property
    def conditions(self) -> tuple[Relational, ...]:
        """What must hold: positive arguments, and the region."""
        positive = [sp.Gt(s, 0, evaluate=False) for s in self.arguments if s.is_positive]
        return (*positive, *self.requires)

    @property
    def pairs(self) -> list[tuple[tuple[Relational, ...], sp.Expr]]:
        """The values, each with where it counts."""
        return list(zip(self.cases or ((),) * len(self.values), self.values, strict=True))


def identifier(*words: str) -> str:
    """Return a name that every language takes, from words.

    Example:
        >>> identifier("training-limits", "data movement")
        'training_limits_data_movement'
    """
    name = re.sub(r"[^a-z0-9]+", "_", " ".join(words).lower()).strip("_")
    return name if name and not name[0].isdigit() else f"f_{name}"


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


def _legend(
    functions: Sequence[Function], notes: Mapping[str, str], entries: Mapping[str, Notation]
) -> list[str]:
    """What the arguments of all functions are, with their units."""
    found = {str(s) for f in functions for s in f.arguments}
    lines = []
    for name in sorted(found, key=str.casefold):
        entry = entries.get(name)
        unit = "" if entry is None or entry.unit == "1" else f" [{entry.unit}]"
        meaning = entry.meaning if entry else "a parameter"
        lines.append(f"{name}{unit}: {meaning}{notes.get(name, '')}")
    return lines


def _remarks(function: Function, mark: str) -> list[str]:
    """What stands above a function: what it returns, and where it holds."""
    unit = "" if function.unit in ("", "1") else f" [{function.unit}]"
    lines = comment(f"{function.meaning}{unit}", mark)
    if function.conditions:
        lines += comment("It holds where " + _all(function.conditions), mark)
    for share in function.laws:
        lines += comment(
            f"{share.symbol} is the number between {share.low} and {share.high} with "
            f"{formula.text(sp.Eq(share.law, share.number, evaluate=False))}", mark,
        )
    for k, case in enumerate(function.cases):
        if case:
            label = f"'{function.names[k]}'" if function.names else f"value {k + 1}"
            lines += comment(f"{label} counts where {_all(case)}", mark)
    return lines


def _all(conditions: Sequence[Relational]) -> str:
    """Conditions in words, the plain signs of arguments first and together."""
    plain = [c for c in conditions if isinstance(c, sp.Gt) and c.lhs.is_Symbol and c.rhs == 0]
    signs = [str(c.lhs) for c in plain]
    others = [formula.text(c) for c in conditions if c not in plain]
    return " and ".join(([f"{', '.join(signs)} > 0"] if signs else []) + others)


_PYTHON_HEAD = '''

import numpy as np


def _float(argument):
    # Integers would overflow; one beyond all doubles counts as infinite.
    try:
        return np.asarray(argument, dtype=float)
    except OverflowError:
        scalar = np.ndim(argument) == 0
        return np.asarray(np.inf if scalar else [_float(a) for a in argument])


def _best(valid, sign, cases, names=None):
    # The least value (sign 1) or the greatest (-1), or its name; without any, NaN or "".
    values = [np.where(holds, sign*value, np.inf) for holds, value in cases]
    valid, *values = np.broadcast_arrays(valid, *values)
    place = np.argmin(values, axis=0)
    best = sign*np.take_along_axis(np.array(values), place[None], axis=0)[0]
    valid = valid & np.isfinite(best)
    if names is None:
        return np.where(valid, best, np.nan)[()]
    return np.where(valid, np.array(names)[place], "")[()]
'''


_PYTHON_SHARE = '''

def _share(low, high, number, law):
    # Where a law that rises from low to high is a number; NaN where it is so nowhere.
    below, above = (np.full(np.shape(number), float(end)) for end in (low, high))
    for _ in range(200):
        middle = (below + above)/2
        rises = law(middle) < number
        below, above = np.where(rises, middle, below), np.where(rises, above, middle)
    return np.where((below > low) & (above < high), (below + above)/2, np.nan)[()]
'''


def python(
    title: str, functions: Sequence[Function], notes: Mapping[str, str],
    entries: Mapping[str, Notation] = NOTATION,
) -> str:
    """Return a Python module; its functions take numbers, lists or NumPy arrays by keyword."""
    lines = [*_head(title, functions, notes, entries, "#"), *_PYTHON_HEAD.splitlines()[1:]]
    if any(f.laws for f in functions):
        lines += _PYTHON_SHARE.splitlines()[1:]
    if any(re.search("coding[:=]", line) for line in lines[:2]):  # as of "Decoding: a batch"
        lines.insert(0, "# coding: utf-8")
    for function in functions:
        names = ", ".join(map(str, function.arguments))
        lines += ["", "", *_remarks(function, "#")]
        lines.append(f"def {function.name}({'*, ' if names else ''}{names}):")
        if names:
            lines.append(f"    {names}{'' if ',' in names else ','} = map(_float, [{names}])")
        lines.append('    with np.errstate(all="ignore"):')
        for share in function.laws:
            number, law = (expression(e, "python") for e in (share.number, share.law))
            ends = ", ".join(expression(e, "python") for e in (share.low, share.high))
            lines.append(f"        {share.symbol} = _share({ends}, {number},")
            lines.append(f"                   lambda {share.symbol}: {law})")
        lines.append("        valid = (")
        tests = [f"({test})" for test in _tests(function, "python", "np.inf")] or ["True"]
        lines += [f"            {'& ' if k else ''}{test}" for k, test in enumerate(tests)]
        lines += ["        )", f"        return _best(valid, {1 if function.least else -1}, ["]
        for case, value in function.pairs:
            holds = " & ".join(f"({expression(c, 'python')})" for c in case) or "True"
            lines.append(f"            ({holds}, {expression(value, 'python')}),")
        shown = ", ".join(json.dumps(n) for n in function.names)
        lines.append(f"        ]{f', names=[{shown}]' if shown else ''})")
    return "\n".join(lines) + "\n"


def c(
    title: str, functions: Sequence[Function], notes: Mapping[str, str],
    entries: Mapping[str, Notation] = NOTATION,
) -> str:
    """Return a C99 source file; its functions take doubles, in the order of the alphabet."""
    lines = [*_head(title, functions, notes, entries, "//"), "", "#include <math.h>"]
    for function in functions:
        names = ", ".join(f"double {s}" for s in function.arguments) or "void"
        kind = "const char *" if function.names else "double "
        lines += ["", *_remarks(function, "//"), f"{kind}{function.name}({names}) {{"]
        lines += _body(function, "c", _C_WORDS)
    return "\n".join(lines) + "\n"


_JS_HEAD = """"use strict";

const _float = x => ["number", "bigint"].includes(typeof x) ? Number(x) : NaN;"""


def javascript(
    title: str, functions: Sequence[Function], notes: Mapping[str, str],
    entries: Mapping[str, Notation] = NOTATION,
) -> str:
    """Return a JavaScript file, a script and a CommonJS module; functions take one object."""
    lines = [*_head(title, functions, notes, entries, "//"), _JS_HEAD]
    for function in functions:
        names = ", ".join(map(str, function.arguments))
        given = f"{{ {names} }} = {{}}" if names else ""
        lines += ["", *_remarks(function, "//"), f"function {function.name}({given}) {{"]
        if names:
            lines.append(f"    [{names}] = [{names}].map(_float);")
        lines += _body(function, "javascript", _JS_WORDS)
    names = ", ".join(f.name for f in functions)
    lines += ["", f'if (typeof module !== "undefined") module.exports = {{ {names} }};']
    return "\n".join(lines) + "\n"


def _head(
    title: str, functions: Sequence[Function], notes: Mapping[str, str],
    entries: Mapping[str, Notation], mark: str,
) -> list[str]:
    lines = comment(title, mark)
    lines += comment(
        f"Written by symscale {__version__}. Arguments are finite numbers; where a formula does "
        "not hold, its function returns NaN (a name: the empty string).",
        mark,
    )
    for line in _legend(functions, notes, entries):
        lines += comment(f"  {line}", mark, "      ")
    return lines


def _tests(function: Function, language: str, infinity: str) -> list[str]:
    """What must hold: arguments that are finite, positive where they stand for that; the region."""
    bounds = ((s, "0" if s.is_positive else f"-{infinity}") for s in function.arguments)
    joint = " & " if language == "python" else " && "
    shown = [(f"{s} > {low}", f"{s} < {infinity}") for s, low in bounds]
    if language == "python":
        shown = [(f"({low})", f"({high})") for low, high in shown]
    return [*map(joint.join, shown), *(expression(r, language) for r in function.requires)]


@dataclass(frozen=True)
class _Words:
    """How a language like C says what the bodies of functions need."""

    infinity: str
    nan: str
    finite: str
    number: str
    once: str
    name: str
    quote: Callable[[str], str]


def _body(function: Function, language: str, words: _Words) -> list[str]:
    other = '""' if function.names else words.nan
    valid = " &&\n          ".join(_tests(function, language, words.infinity))
    sign, relation = ("", "<") if function.least else ("-", ">")
    lines = [line for share in function.laws for line in _share(share, language, words)]
    lines += [f"    if (!({valid})) return {other};"] if valid else []
    if len(function.values) == 1 and not function.names and not any(function.cases):
        lines.append(f"    {words.once} value = {expression(function.values[0], language)};")
        return [*lines, f"    return {words.finite}(value) ? value : {other};", "}"]
    lines.append(f"    {words.number} best = {sign}{words.infinity}, value;")
    if function.names:
        lines.append(f'    {words.name}name = "";')
    for k, (case, value) in enumerate(function.pairs):
        holds = " && ".join(expression(c, language) for c in case)
        better = "best = value;"
        if function.names:
            better = f"{{ best = value; name = {words.quote(function.names[k])}; }}"
        lines.append(f"    {f'if ({holds}) ' if holds else ''}{{")
        lines.append(f"        value = {expression(value, language)};")
        lines.append(f"        if (value != value) return {other};")
        lines += [f"        if (value {relation} best) {better}", "    }"]
    found = "name" if function.names else "best"
    return [*lines, f"    return {words.finite}(best) ? {found} : {other};", "}"]


def _share(share: ShareLaw, language: str, words: _Words) -> list[str]:
    """How a number is found by halving the interval in which it lies."""
    number, law, low, high = (
        expression(e, language) for e in (share.number, share.law, share.low, share.high)
    )
    r = str(share.symbol)
    index = "int" if language == "c" else "let"
    return [
        f"    {words.number} {r} = {low}, {r}_below = {low}, {r}_above = {high};",
        f"    {words.once} {r}_number = {number};",
        f"    for ({index} {r}_step = 0; {r}_step < 200; {r}_step++) {{",
        f"        {r} = ({r}_below + {r}_above)/2;",
        f"        if ({law} < {r}_number) {r}_below = {r}; else {r}_above = {r};",
        "    }",
        f"    if (!({r}_below > {low} && {r}_above < {high})) {r} = {words.nan};",
    ]


def _c_string(text: str) -> str:
    """A string of C: all that is not plain as the octal bytes of UTF-8."""
    plain = {b: chr(b) for b in range(32, 127) if chr(b) not in '"\\?'}
    return '"' + "".join(plain.get(b, f"\\{b:03o}") for b in text.encode()) + '"'


_C_WORDS = _Words("INFINITY", "NAN", "isfinite", "double", "double", "const char *", _c_string)
_JS_WORDS = _Words("Infinity", "NaN", "Number.isFinite", "let", "const", "let ", json.dumps)

LANGUAGES: Mapping[str, Callable[..., str]] = MappingProxyType(
    {"python": python, "c": c, "javascript": javascript}
)
"""What writes a file in each language: from a title, functions, notes to arguments, entries."""


@dataclass(frozen=True)
class ClosedForms:
    """Closed forms of one answer.

    Attributes:
        title: What they are of.
        functions: The functions.
        notes: What arguments stand for in the answer, by name.
        entries: Unit and meaning of arguments, by name.
    """

    title: str
    functions: Sequence[Function]
    notes: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Notation] = field(default_factory=lambda: NOTATION)

    def code(self, language: str) -> str:
        """Write them in a language: python, c or javascript."""
        return LANGUAGES[language](self.title, self.functions, self.notes, self.entries)
