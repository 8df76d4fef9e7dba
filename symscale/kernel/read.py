"""Strict reading: every part of a file is what it must be, or the file is refused.

Exponents are text: whole numbers, exponent symbols, + - * / ^ and parentheses.
"""

import json
import re
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.polynomials import Box, Exponent, bounded, quotient, sign, symbol

LARGEST_TEXT = 2_000_000
LONGEST_NAME = 60
LONGEST_LINE = 200
MOST_KEYS = 400
LONGEST_EXPONENT = 600
MOST_DIGITS = 60
LARGEST_POWER = 20
DEEPEST = 30

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}\Z")
_TOKEN = re.compile(r" *([A-Za-z][A-Za-z0-9_]*|[0-9]+|[-+*/^()])")
_RATIONAL = re.compile(r"-?[0-9]{1,60}(/[0-9]{1,60})?\Z")


def read_json(text: str) -> Any:
    """Read JSON in which no key stands twice and no number has a fraction.

    Raises:
        Refused: If it is no such text.
    """
    if len(text) > LARGEST_TEXT:
        raise Refused(f"it has more than {LARGEST_TEXT} characters")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_float=_no_number, parse_constant=_no_number,
            parse_int=_small,
        )
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except ValueError as error:
        raise Refused(f"it is no JSON: {str(error)[:80]}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(k for k, count in Counter(k for k, _ in pairs).items() if count > 1)
        raise Refused(f"the key {shown(twice)} stands twice")
    return found


def _no_number(text: str) -> Any:
    raise Refused(f"{shown(text)} is no whole number; other numbers are written as text")


def _small(text: str) -> int:
    if len(text) > 2:
        raise Refused(f"{shown(text)} is too large; numbers are written as text")
    return int(text)


def as_dict(data: object, what: str) -> dict[str, Any]:
    """An object with any keys."""
    if not isinstance(data, dict) or len(data) > MOST_KEYS:
        raise Refused(f"{what} is no object of at most {MOST_KEYS} keys")
    return data


def as_object(
    data: object, what: str, keys: Collection[str], optional: Collection[str] = ()
) -> dict[str, Any]:
    """An object with exactly these keys, and maybe optional ones."""
    found = as_dict(data, what)
    for key in keys:
        if key not in found:
            raise Refused(f"{what} lacks {key!r}")
    for key in found:
        if key not in keys and key not in optional:
            raise Refused(f"{what} has an unknown key {shown(key)}")
    return found


def as_list(data: object, what: str, most: int) -> list[Any]:
    """A list of at most so many entries."""
    if not isinstance(data, list) or len(data) > most:
        raise Refused(f"{what} is no list of at most {most} entries")
    return data


def as_name(data: object) -> str:
    """A name: a letter, then letters, digits and underscores."""
    if not isinstance(data, str) or not _NAME.match(data):
        raise Refused(f"{shown(data)} is no name; a name matches [A-Za-z][A-Za-z0-9_]*")
    if data == "oo":
        raise Refused("'oo' is no name, but means infinity")
    return data


def as_line(data: object) -> str:
    """One line of printable characters of ASCII."""
    if not isinstance(data, str) or not 1 <= len(data) <= LONGEST_LINE:
        raise Refused(f"{shown(data)} is no line of 1 to {LONGEST_LINE} characters")
    if not data.isascii() or not data.isprintable():
        raise Refused(f"{shown(data)} is no line of printable ASCII characters")
    return data


def as_rational(data: object) -> Fraction:
    """A rational number, as text."""
    if not isinstance(data, str) or not _RATIONAL.match(data):
        raise Refused(f"{shown(data)} is no rational number of up to {MOST_DIGITS} digits")
    above, _, below = data.partition("/")
    if below and not int(below):
        raise Refused(f"{shown(data)} divides by zero")
    return Fraction(int(above), int(below or 1))


def read_exponent(text: object, box: Box) -> Exponent:
    """Read an exponent: whole numbers, exponent symbols, + - * / ^ and parentheses.

    Raises:
        Refused: If the text is nothing else, or divides by what may be zero in the box.
    """
    if not isinstance(text, str) or len(text) > LONGEST_EXPONENT or not text.isascii():
        raise Refused("an exponent is no text of at most 600 characters")
    tokens, position = [], 0
    while text[position:].strip(" "):
        found = _TOKEN.match(text, position)
        if found is None:
            raise Refused(f"{shown(text)} is no exponent")
        tokens.append(found[1])
        position = found.end()
    spend(len(tokens))
    reader = _ExponentReader(tokens, box, text)
    value = reader.sum(0)
    if reader.tokens:
        raise Refused(f"{shown(text)} is no exponent")
    return value


class _ExponentReader:
    """A reader of exponents that goes down into parentheses a few levels only."""

    def __init__(self, tokens: list[str], box: Box, text: str) -> None:
        self.tokens, self.box, self.text = tokens[::-1], box, text

    def _next(self, expected: str) -> str:
        if self.tokens and self.tokens[-1] in expected.split():
            return self.tokens.pop()
        return ""

    def sum(self, depth: int) -> Exponent:
        total = self._term(depth)
        while operator := self._next("+ -"):
            term = self._term(depth)
            total = total + (term if operator == "+" else -term)
        return total

    def _term(self, depth: int) -> Exponent:
        negative = False
        while self._next("-"):
            negative = not negative
        total = self._factor(depth)
        while operator := self._next("* /"):
            factor = self._factor(depth)
            total = total * (factor if operator == "*" else self._inverse(factor))
        return -total if negative else total

    def _inverse(self, value: Exponent) -> Exponent:
        if sign(value, self.box) == 0:
            raise Refused(f"{shown(self.text)} divides by zero")
        if isinstance(value, Fraction):
            return 1 / value
        return quotient(value.below, value.above)

    def _factor(self, depth: int) -> Exponent:
        if depth > DEEPEST:
            raise Refused("an exponent is nested too deeply")
        base = self._atom(depth)
        if not self._next("^"):
            return base
        power = self.tokens.pop() if self.tokens else ""
        if not power.isdigit() or len(power) > 2 or int(power) > LARGEST_POWER:
            raise Refused(f"in an exponent a power is a whole number up to {LARGEST_POWER}")
        result: Exponent = Fraction(1)
        for _ in range(int(power)):
            result = bounded(result * base)
        return result

    def _atom(self, depth: int) -> Exponent:
        token = self.tokens.pop() if self.tokens else ""
        if token == "(":  # noqa: S105  # a parenthesis
            value = self.sum(depth + 1)
            if not self._next(")"):
                raise Refused(f"{shown(self.text)} is no exponent")
            return value
        if token.isdigit():
            if len(token) > MOST_DIGITS:
                raise Refused(f"a number has more than {MOST_DIGITS} digits")
            return Fraction(int(token))
        if token not in self.box:
            raise Refused(f"{shown(token or self.text)} is no exponent symbol")
        return symbol(token)
