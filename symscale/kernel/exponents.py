"""Exponents as text: whole numbers, exponent symbols, + - * / ^ and parentheses."""

import re
from fractions import Fraction

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.polynomials import Box, Exponent, bounded, quotient, sign, symbol

LONGEST = 600
MOST_DIGITS = 60
LARGEST_POWER = 20
DEEPEST = 30

_TOKEN = re.compile(r" *([A-Za-z][A-Za-z0-9_]*|[0-9]+|[-+*/^()])")


def read_exponent(text: object, box: Box) -> Exponent:
    """Read an exponent: whole numbers, exponent symbols, + - * / ^ and parentheses.

    Raises:
        Refused: If the text is nothing else, or divides by what may be zero in the box.
    """
    if not isinstance(text, str) or len(text) > LONGEST or not text.isascii():
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
