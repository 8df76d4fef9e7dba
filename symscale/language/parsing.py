"""Expressions and relations from a user's text, by a whitelist: nothing in it is executed.

A scan turns `^` into `**` and blanks out the numbers, Python's `ast` finds the
structure, and a walk over a few kinds of node builds the expression. Numbers are
exact: 0.1 is 1/10. Every size has a limit, compared before SymPy gets the work.

Example:
    >>> from symscale.language.symbols import NOTATION
    >>> names = {name: entry.symbol for name, entry in NOTATION.items()}
    >>> parse_expression("0.5*C/W_net^2*E", names)
    C*E/(2*W_net**2)
"""

import ast
import keyword
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from symscale.errors import ParseError, printable, unknown_name
from symscale.language.arithmetic import UnusableError, call, power, product, real, within
from symscale.language.units import DIMENSIONLESS, is_unit, parse_number, parse_quantity

MAX_LENGTH = 10_000  # characters of a text
MAX_DEPTH = 100  # of brackets, and of operations within operations
MAX_NODES = 5_000  # numbers, names and operators


@dataclass(frozen=True)
class Relation:
    """Two expressions and how they compare.

    Attributes:
        lhs: The left-hand side.
        operator: One of "<=", ">=" and "==".
        rhs: The right-hand side.

    Example:
        >>> Relation(sp.Integer(1), "<=", sp.Integer(2)).operator
        '<='
    """

    lhs: sp.Expr
    operator: str
    rhs: sp.Expr


def parse_expression(
    text: str, names: Mapping[str, sp.Expr], units: Mapping[str, sp.Expr] | None = None
) -> sp.Expr:
    """Read an expression of + - * / ^ **, brackets, decimal numbers, sqrt, max and min.

    Both `^` and `**` are powers, and a unary minus binds less tightly. Under a
    root, or a power that is no integer, all factors but one must show that they
    are positive; sqrt((b - D)^2) is refused. `max` and `min` compare numbers only.
    `names` holds what each name stands for. With `units`, what each base unit stands for,
    a number may have a unit behind it, of names that are not in `names`: `4 FLOP/token*c`.

    Raises:
        ParseError: If it is anything else, or beyond a limit.
        UnknownNameError: If a name is not in `names`.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> parse_expression("-b^2*3", {"b": symbol("b")})
        -3*b**2
    """
    reader = _Reader(text, names, units or {})
    return reader.value(reader.body)


def parse_relation(
    text: str, names: Mapping[str, sp.Expr], units: Mapping[str, sp.Expr] | None = None
) -> Relation:
    """Read two expressions with <=, >= or == between them, as `parse_expression` does.

    Raises:
        ParseError: If it is anything else, or beyond a limit.
        UnknownNameError: If a name is not in `names`.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> parse_relation("2*b >= D", {"b": symbol("b"), "D": symbol("D")})
        Relation(lhs=2*b, operator='>=', rhs=D)
    """
    reader = _Reader(text, names, units or {})
    node = reader.body
    if not isinstance(node, ast.Compare):
        raise ParseError(f"{printable(text)!r} compares nothing; write such as N_DP <= b")
    if len(node.ops) > 1 or type(node.ops[0]) not in _RELATIONS:
        raise ParseError(f"{printable(text)!r}: a relation has one comparison, by <=, >= or ==")
    lhs, rhs = reader.value(node.left), reader.value(node.comparators[0])
    return Relation(lhs, _RELATIONS[type(node.ops[0])], rhs)


def parse_assignment(text: str) -> tuple[str, str]:
    """Split `name=value` into its two texts.

    Raises:
        ParseError: If it is anything else; the value is not looked into.

    Example:
        >>> parse_assignment("W_net = 100GB/s")
        ('W_net', '100GB/s')
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if not name.isidentifier() or not value or value.startswith("="):
        raise ParseError(f"{printable(text)!r}: write name=value, such as W_net=100GB/s")
    return name, value


_RELATIONS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "=="}
_LOOKALIKES = {"×": "*", "·": "*", "−": "-", "–": "-", "÷": "/", "≤": "<=", "≥": ">="}
_DIGITS = "[0-9]++(?:_[0-9]++)*+"
_NUMBER = rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<name>[^\W\d]\w*)|(?P<power>\^|\*\*)|(?P<bracket>[\[\](){},])|"
    rf"(?P<number>(?<![\w.]){_NUMBER}(?![\w.]))|"
    r"(?P<other>\.(?![0-9])|[-+*/:;<>=!@%&|~])"
)
_UNIT = re.compile(r"\s+([^\W\d_]+)(?:\^[0-9]{1,2})?(?![\w.(])")
_PER_UNIT = re.compile(r"\s*/\s*([^\W\d_]+)(?:\^[0-9]{1,2})?(?![\w.(])")
_Pair = tuple[type[ast.operator], type[ast.operator]]


class _Reader:
    """One text: its scan, its tree, and the walk that builds expressions from it."""

    def __init__(
        self, text: str, names: Mapping[str, sp.Expr], units: Mapping[str, sp.Expr]
    ) -> None:
        if not text.strip() or len(text) > MAX_LENGTH:
            raise ParseError(f"{printable(text)!r} has no or more than {MAX_LENGTH} characters")
        self.text, self.names, self.units = text.strip(), names, units
        self.shown = repr(printable(self.text))
        # Where in the text each character of the code comes from: messages quote the text.
        self.origin: list[int] = []
        code = self.scan()
        self.origin.append(len(self.text))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.body = ast.parse(code, mode="eval").body
        except SyntaxError as error:
            raise self.unreadable(error.offset or 0) from None
        except (RecursionError, MemoryError, ValueError):
            raise self.too_deep() from None

    def scan(self) -> str:
        code: list[str] = []
        position = depth = nodes = 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self.strange(position)
            written, kind = match[0], match.lastgroup or ""
            end = match.end()
            code.append({"space": " ", "power": "**"}.get(kind, written))
            if kind == "name":
                code[-1] = self.plain_name(written)
            elif kind == "number":
                parse_number(written)
                code[-1] = "1" * len(written)  # so that Python never reads the number itself
                end = self.unit_end(end)
                if end > match.end():
                    code[-1] = "_" * (end - position)  # one name, for the number with its unit
            # No character of the code lies past its token: `^` is shorter than `**`.
            self.origin += [min(position + i, end - 1) for i in range(len(code[-1]))]
            position = end
            nodes += kind not in ("space", "bracket")
            depth += (written in "([{") - (written in ")]}")
            if depth > MAX_DEPTH:
                raise self.too_deep()
        if nodes > MAX_NODES:
            raise ParseError(f"{self.shown} has more than {MAX_NODES} names and operators")
        return "".join(code)

    def plain_name(self, name: str) -> str:
        if "__" in name:
            raise ParseError(f"the name {printable(name)!r} is not allowed: it has two underscores")
        if not name.isascii() and name not in self.names:
            codes = ", ".join(f"{c} is U+{ord(c):04X}" for c in name[:40] if not c.isascii())
            raise ParseError(f"unknown symbol {printable(name)!r}, not all of it ASCII: {codes}")
        if keyword.iskeyword(name) and name in self.names:
            return "_" * len(name)  # what it is called is read from the text
        return "".join(c if c.isascii() else "_" for c in name)

    def unit_end(self, position: int) -> int:
        """Where the unit ends that stands behind a number; there where it has none."""
        pattern = _UNIT
        while self.units and (match := pattern.match(self.text, position)):
            name = match[1]
            if name in self.names or not is_unit(name):
                break
            position, pattern = match.end(), _PER_UNIT
        return position

    def strange(self, position: int) -> ParseError:
        char, rest = self.text[position], printable(self.text[position:])
        if run := re.match(r"[0-9.][\w.]*", rest):
            return ParseError(f"{printable(run[0])!r} is not a number; a product is written with *")
        remedy = f"; write {_LOOKALIKES[char]}" if char in _LOOKALIKES else ""
        return ParseError(f"{char!r} (U+{ord(char):04X}) is not allowed: {rest!r}{remedy}")

    def unreadable(self, offset: int) -> ParseError:
        if re.search(r"(?<![<>=!:])=(?!=)", self.text):
            return ParseError(f"{self.shown} has a single =; a relation has <=, >= or ==")
        start = self.origin[min(max(offset - 1, 0), len(self.origin) - 1)]
        where = f" from {printable(self.text[start:])!r} on" if 0 < start < len(self.text) else ""
        return ParseError(f"cannot read {self.shown}{where}")

    def too_deep(self) -> ParseError:
        return ParseError(f"{self.shown} is nested deeper than {MAX_DEPTH} levels")

    def quote(self, node: ast.expr) -> str:
        return self.text[self.origin[node.col_offset] : self.origin[node.end_col_offset or 0]]

    def value(self, node: ast.expr, depth: int = 0) -> sp.Expr:
        if depth > MAX_DEPTH:
            raise self.too_deep()
        try:
            value = self.build(node, depth + 1)
            return value if depth else real(value)
        except UnusableError as problem:
            raise ParseError(f"{printable(self.quote(node))!r}: {problem}") from None
        except RecursionError:
            raise self.too_deep() from None

    def build(self, node: ast.expr, depth: int) -> sp.Expr:
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                parts = self.chain(node, (ast.Add, ast.Sub), depth)
                return within(sp.Add(*(-value if inverse else value for value, inverse in parts)))
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                parts = self.chain(node, (ast.Mult, ast.Div), depth)
                return product(power(v, sp.Integer(-1)) if inverse else v for v, inverse in parts)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return power(self.value(left, depth), self.value(right, depth))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = self.value(operand, depth)
                return -value if isinstance(sign, ast.USub) else value
            case ast.Constant(value=int()) if self.quote(node)[0] in "0123456789.":
                return within(sp.Rational(parse_number(self.quote(node))))
            case ast.Name() if self.units and self.quote(node)[0] in "0123456789.":
                return self.quantity(self.quote(node))
            case ast.Name() | ast.Attribute() if self.quote(node) in self.names:
                return self.names[self.quote(node)]
            case ast.Name():
                raise unknown_name("symbol", self.quote(node), self.names)
            case ast.Attribute() if "." in "".join(self.names):
                raise unknown_name("name", self.quote(node), self.names)
            case ast.Call(func=ast.Name(id="sqrt" | "max" | "min" as name), keywords=[]):
                return call(name, [self.value(part, depth) for part in node.args])
        # The name of the node or of its operator: "list comp", "floor div".
        kind = re.sub(r"\B(?=[A-Z])", " ", type(getattr(node, "op", node)).__name__).lower()
        raise UnusableError(f"not allowed in an expression ({kind})")

    def quantity(self, text: str) -> sp.Expr:
        quantity = parse_quantity(text)
        unit = quantity.unit or DIMENSIONLESS
        powers = (self.units[name] ** sp.Rational(p) for name, p in unit.dimensions)
        return product([within(sp.Rational(quantity.value * unit.scale)), *powers])

    def chain(self, node: ast.expr, pair: _Pair, depth: int) -> list[tuple[sp.Expr, bool]]:
        """Return the parts of a chain of operators, each with whether it is inverted."""
        parts: list[tuple[ast.expr, bool]] = []
        # A loop, because the tree of a thousand terms is a thousand levels deep.
        while isinstance(node, ast.BinOp) and isinstance(node.op, pair):
            parts.append((node.right, isinstance(node.op, pair[1])))
            node = node.left
        return [(self.value(part, depth), flag) for part, flag in [(node, False), *parts[::-1]]]
