"""Reads users' JSON files, within limits that are checked before anything is parsed."""

import json
import re

from symscale.errors import printable, refusal
from symscale.language.tables import TypedNumber, read_file_bytes

LARGEST_JSON_BYTES = 1_000_000
DEEPEST_JSON = 30
_LONGEST_INTEGER = 40
# A string, ended or not, so that the brackets in it do not count; or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\[\s\S]?)*+"?|[\[\]{}]')


def read_json_file(path: str, too_large: str) -> dict[str, object]:
    """Read a user's JSON file; decimals come as `TypedNumber`.

    Args:
        path: Where it is.
        too_large: What to do where it is larger than 1 MB.

    Raises:
        InputError: If it is no readable file of at most 1 MB with a JSON object.
    """
    data = read_file_bytes(path, "a JSON file", LARGEST_JSON_BYTES, too_large)
    return parse_json(data, printable(path, 160))


def parse_json(data: bytes, where: str) -> dict[str, object]:
    """Parse a JSON object; decimals come as `TypedNumber`.

    Raises:
        InputError: If it is no UTF-8, no JSON object, nested deeply, or has a key twice.

    Example:
        >>> parse_json(b'{"d_ff": 4096, "dropout": 0.1}', "config.json")
        {'d_ff': 4096, 'dropout': TypedNumber(text='0.1')}
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refusal(where, "is not UTF-8 text", "save it as UTF-8") from None
    if _too_deep(text):
        raise refusal(where, "is nested too deeply", f"{DEEPEST_JSON} levels are enough")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        table: dict[str, object] = {}
        for name, value in pairs:
            if name in table:
                raise refusal(where, f"has the key {printable(name, 60)!r} twice", "keep one")
            table[name] = value
        return table

    def constant(name: str) -> object:
        raise refusal(where, f"{name} is no number of JSON", "write a number, or null")

    def integer(digits: str) -> int:
        if len(digits) > _LONGEST_INTEGER:
            problem = f"has a number of {len(digits)} digits"
            raise refusal(where, problem, f"{_LONGEST_INTEGER} are enough")
        return int(digits)

    try:
        found = json.loads(
            text, object_pairs_hook=unique, parse_constant=constant, parse_int=integer,
            parse_float=TypedNumber,
        )
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON ({printable(str(error))})"
        raise refusal(where, problem, "correct it, or download it again") from None
    if not isinstance(found, dict):
        raise refusal(where, "is not a JSON object", 'it should start with {"model_type": ...}')
    return found


def _too_deep(text: str) -> bool:
    """Whether brackets outside strings nest deeply; whether they match is for the parser."""
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in ("{", "["):
            depth += 1
            if depth > DEEPEST_JSON:
                return True
        elif match[0] in ("}", "]"):
            depth -= 1
    return False
