"""Strict reading: every part of a file is what it must be, or the file is refused."""

import json
import re
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from symscale.kernel.exponents import MOST_DIGITS
from symscale.kernel.limits import Refused, shown

LARGEST_TEXT = 2_000_000
LONGEST_NAME = 60
LONGEST_LINE = 200
MOST_KEYS = 400

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}\Z")
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
