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
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from symscale.errors import ParseError, printable, unknown_name
from symscale.language.units import parse_number

MAX_LENGTH = 10_000  # characters of a text
MAX_DEPTH = 100  # of brackets, and of operations within operations
MAX_NODES = 5_000  # numbers, names and operators
MAX_WEIGHT = 16  # of a sum under or in a power: its degree, and 2 for each power of a sum
MAX_BITS = 4096  # of every number on the way
MAX_EXPONENT = 1000  # of a power; of a number's, also of the denominator of the exponent
MAX_DENOMINATOR = 10**6  # of the exponent of what has a name: T^0.3271
MAX_PRIME = 2**15  # of the factors of a number under a root, but for one below its square
MAX_ROOT_BITS = 512  # of all numbers under roots in one product


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


def parse_expression(text: str, names: Mapping[str, sp.Expr]) -> sp.Expr:
    """Read an expression of + - * / ^ **, brackets, decimal numbers, sqrt, max and min.

    Both `^` and `**` are powers, and a unary minus binds less tightly. Under a
    root, or a power that is no integer, all factors but one must show that they
    are positive; sqrt((b - D)^2) is refused. `max` and `min` compare numbers only.
    `names` holds what each name stands for.

    Raises:
        ParseError: If it is anything else, or beyond a limit.
        UnknownNameError: If a name is not in `names`.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> parse_expression("-b^2*3", {"b": symbol("b")})
        -3*b**2
    """
    reader = _Reader(text, names)
    return reader.value(reader.body)


def parse_relation(text: str, names: Mapping[str, sp.Expr]) -> Relation:
    """Read two expressions with <=, >= or == between them.

    Raises:
        ParseError: If it is anything else, or beyond a limit.
        UnknownNameError: If a name is not in `names`.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> parse_relation("2*b >= D", {"b": symbol("b"), "D": symbol("D")})
        Relation(lhs=2*b, operator='>=', rhs=D)
    """
    reader = _Reader(text, names)
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
_Pair = tuple[type[ast.operator], type[ast.operator]]


class _Reader:
    """One text: its scan, its tree, and the walk that builds expressions from it."""

    def __init__(self, text: str, names: Mapping[str, sp.Expr]) -> None:
        if not text.strip() or len(text) > MAX_LENGTH:
            raise ParseError(f"{printable(text)!r} has no or more than {MAX_LENGTH} characters")
        self.text, self.names = text.strip(), names
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
            code.append({"space": " ", "power": "**"}.get(kind, written))
            if kind == "name":
                code[-1] = self.plain_name(written)
            elif kind == "number":
                parse_number(written)
                code[-1] = "1" * len(written)  # so that Python never reads the number itself
            # No character of the code lies past its token: `^` is shorter than `**`.
            self.origin += [min(position + i, match.end() - 1) for i in range(len(code[-1]))]
            position = match.end()
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
        return "".join(c if c.isascii() else "_" for c in name)

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
            return value if depth else _real(value)
        except _Refused as problem:
            raise ParseError(f"{printable(self.quote(node))!r}: {problem}") from None
        except RecursionError:
            raise self.too_deep() from None

    def build(self, node: ast.expr, depth: int) -> sp.Expr:
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                parts = self.chain(node, (ast.Add, ast.Sub), depth)
                return _within(sp.Add(*(-value if inverse else value for value, inverse in parts)))
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                parts = self.chain(node, (ast.Mult, ast.Div), depth)
                return _product(_power(v, sp.Integer(-1)) if inverse else v for v, inverse in parts)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _power(self.value(left, depth), self.value(right, depth))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = self.value(operand, depth)
                return -value if isinstance(sign, ast.USub) else value
            case ast.Constant(value=int()) if self.quote(node)[0] in "0123456789.":
                return _within(sp.Rational(parse_number(self.quote(node))))
            case ast.Name() | ast.Attribute() if self.quote(node) in self.names:
                return self.names[self.quote(node)]
            case ast.Name():
                raise unknown_name("symbol", self.quote(node), self.names)
            case ast.Attribute() if "." in "".join(self.names):
                raise unknown_name("name", self.quote(node), self.names)
            case ast.Call(func=ast.Name(id="sqrt" | "max" | "min" as name), keywords=[]):
                return _call(name, [self.value(part, depth) for part in node.args])
        # The name of the node or of its operator: "list comp", "floor div".
        kind = re.sub(r"\B(?=[A-Z])", " ", type(getattr(node, "op", node)).__name__).lower()
        raise _Refused(f"not allowed in an expression ({kind})")

    def chain(self, node: ast.expr, pair: _Pair, depth: int) -> list[tuple[sp.Expr, bool]]:
        """Return the parts of a chain of operators, each with whether it is inverted."""
        parts: list[tuple[ast.expr, bool]] = []
        # A loop, because the tree of a thousand terms is a thousand levels deep.
        while isinstance(node, ast.BinOp) and isinstance(node.op, pair):
            parts.append((node.right, isinstance(node.op, pair[1])))
            node = node.left
        return [(self.value(part, depth), flag) for part, flag in [(node, False), *parts[::-1]]]


class _Refused(Exception):  # noqa: N818 - it becomes a ParseError with the text in question
    """What is wrong with a value; the reader adds the text it came from."""


def _real(value: sp.Expr) -> sp.Expr:
    """Return `value`, all of whose numbers must be real and within the limits."""
    for number in value.atoms(sp.Rational):
        _within(number)
    powers = value.atoms(sp.Pow)
    if any(isinstance(p.exp, sp.Rational) and abs(p.exp) > MAX_EXPONENT for p in powers):
        raise _Refused(f"an exponent beyond {MAX_EXPONENT} arises")
    negative = any(isinstance(p.base, sp.Rational) and p.base < 0 for p in powers)
    if negative or value.has(sp.I, sp.zoo, sp.nan, sp.oo, -sp.oo):
        raise _Refused("it has no real value")
    return value


def _within(value: sp.Expr) -> sp.Expr:
    """Return `value`, whose rational coefficients must be within MAX_BITS."""
    for term in sp.Add.make_args(value):
        number = term.args[0] if isinstance(term, sp.Mul) else term
        if isinstance(number, sp.Rational) and _bits(number) > MAX_BITS:
            raise _Refused(f"a number of more than {MAX_BITS} bits arises")
    return value


def _bits(number: sp.Rational) -> int:
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def _product(factors: Iterable[sp.Expr]) -> sp.Expr:
    parts = [part for factor in factors for part in sp.Mul.make_args(factor)]
    number: sp.Expr = sp.Integer(1)
    for part in parts:
        number = _within(number * part) if isinstance(part, sp.Rational) else number
    rest = [part for part in parts if not isinstance(part, sp.Rational)]
    # SymPy multiplies the numbers that stand under like roots, and factors the product.
    bases = [part.base for part in rest if isinstance(part, sp.Pow)]
    if sum(_bits(base) for base in bases if isinstance(base, sp.Rational)) > MAX_ROOT_BITS:
        raise _Refused(f"numbers of more than {MAX_ROOT_BITS} bits stand under roots")
    return _within(sp.Mul(number, *rest)) if number else number


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    if isinstance(exponent, sp.Rational):
        size = max(abs(exponent.p), exponent.q) if base.is_number else abs(exponent)
        if size > MAX_EXPONENT or exponent.q > MAX_DENOMINATOR:
            raise _Refused(f"the exponent is beyond {MAX_EXPONENT}")
    elif not exponent.free_symbols:
        raise _Refused("the exponent is neither rational nor has a name")
    whole = isinstance(exponent, sp.Integer)
    bits: sp.Expr = sp.Integer(0)
    for inner, power in _factors(base):
        if isinstance(inner, sp.Rational) and isinstance(power, sp.Rational) and whole:
            bits += (_bits(inner) - 1) * abs(power * exponent)
        elif inner.is_number and inner.args and not (whole and exponent > 0):
            raise _Refused("a sum of roots has no power but positive whole ones")
        elif max(_weight(inner), _weight(exponent)) > MAX_WEIGHT:
            raise _Refused("a sum of too high a degree, or of too many nested powers, has a power")
    if bits > MAX_BITS:
        raise _Refused(f"a number of more than {MAX_BITS} bits arises")
    if base == 0 and isinstance(exponent, sp.Rational) and exponent < 0:
        raise _Refused("division by zero")
    return _within(sp.Pow(base, exponent)) if whole else _root(base, exponent)


def _root(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return a power that is real only where its base is positive.

    SymPy, given a base of unknown sign, looks for its complex argument, in time
    exponential in the depth. So the factors of the base are raised one by one,
    and a base is refused where that would not be right for all real values.
    """
    factors = _factors(base)
    doubtful = [(inner, p) for inner, p in factors if p.is_Integer and not _positive(inner)]
    if len(doubtful) == 1 and doubtful[0][0].is_number:
        raise _Refused("a root or other real power of what is not positive")
    if len(doubtful) > 1 or any(power % 2 == 0 for _, power in doubtful):
        raise _Refused("this power depends on unknown signs; write the power of each factor")
    if exponent.free_symbols and base.is_Mul and all(map(_positive, base.args)):
        return sp.Pow(base, exponent)
    raised: list[sp.Expr] = []
    for inner, power in factors:
        total = power * exponent
        if isinstance(inner, sp.Rational) and isinstance(total, sp.Rational):
            raised += [_number_root(inner.p, total), _number_root(inner.q, -total)]
        else:
            raised.append((_power if inner.is_Mul else sp.Pow)(inner, total))
    return _product(raised)


def _number_root(number: int, exponent: sp.Rational) -> sp.Expr:
    """Return a power of a positive integer, each of its primes raised by itself.

    SymPy may raise the number to the numerator of the exponent first.
    """
    root, exact = sp.integer_nthroot(number, exponent.q)
    if exact and (int(root).bit_length() - 1) * abs(exponent.p) <= MAX_BITS:
        return sp.Integer(root) ** exponent.p
    bits = number.bit_length()
    fits = bits <= MAX_ROOT_BITS and bits * abs(exponent) <= MAX_BITS
    primes = sp.factorint(number, limit=MAX_PRIME, use_rho=False, use_pm1=False) if fits else {}
    if not primes or max(primes) >= MAX_PRIME**2:  # beyond, a factor need not be prime
        raise _Refused("a root of a number too large, or with large prime factors; name the number")
    return _product(sp.Pow(sp.Integer(prime), k * exponent) for prime, k in primes.items())


def _factors(value: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """Return the factors of a product, each as base and exponent."""
    return [part.as_base_exp() for part in sp.Mul.make_args(value)]


@lru_cache(maxsize=10_000)
def _weight(value: sp.Expr) -> sp.Expr:
    """Return the degree, with all exponents as if 1 or more, and 2 for each power of a sum.

    SymPy asks whether a base is infinite, and an exponent zero. To tell, it looks for the
    roots of polynomials: that takes minutes at degree 1000 or on a tower of twenty powers.
    """
    weights = [_weight(part) for part in value.args]
    if isinstance(value, sp.Pow):
        size = weights[0] * max(1, abs(value.exp)) if value.exp.is_Number else sp.Add(*weights)
        return size if value.base.is_Atom else size + 2
    if isinstance(value, sp.Mul):
        return sp.Add(*weights)
    return max(weights, default=sp.Integer(int(value.is_Symbol)))


@lru_cache(maxsize=10_000)
def _positive(value: sp.Expr) -> bool:
    """Return whether its form shows it positive where it is real; `is_positive` can take hours."""
    if isinstance(value, sp.Pow):
        return _positive(value.base) or not value.exp.is_Integer
    if isinstance(value, sp.Max):
        return any(map(_positive, value.args))
    if isinstance(value, sp.Add | sp.Mul | sp.Min):
        return all(map(_positive, value.args))
    return bool((value.is_Rational or value.is_Symbol) and value.is_positive)


def _call(name: str, values: list[sp.Expr]) -> sp.Expr:
    if (name == "sqrt") is not (len(values) == 1) or not values:
        takes = "one value" if name == "sqrt" else "two values or more"
        raise _Refused(f"{name} takes {takes}, not {len(values)}")
    if name == "sqrt":
        return _power(values[0], sp.Rational(1, 2))
    pick, function = (max, sp.Max) if name == "max" else (min, sp.Min)
    numbers = [value for value in values if isinstance(value, sp.Rational)]
    rest = [value for value in dict.fromkeys(values) if not isinstance(value, sp.Rational)]
    kept = [pick(numbers), *rest] if numbers else rest
    # Not evaluated: SymPy compares every pair, which takes seconds for thirty.
    return kept[0] if len(kept) == 1 else function(*kept, evaluate=False)
