"""Reads TOML files of facts: the tables, texts and sources in them.

Every refusal is one line: file, key, what is wrong, what to write instead.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from symscale.errors import InputError, printable, refusal, unknown_name
from symscale.language.sources import load_sources, source

LARGEST_FILE_BYTES = 100_000
# A key of thousands of dots takes tomllib time that grows with their square.
LONGEST_LINE = 2000


@dataclass(frozen=True)
class TypedNumber:
    """A decimal of a file as it was typed, so that 0.1 is a tenth exactly."""

    text: str


def read_file_bytes(path: str, kind: str, largest: int, too_large: str) -> bytes:
    """Read a user's file.

    Args:
        path: Where it is.
        kind: What it should be, such as "a TOML file", for the error.
        largest: Bytes that it may have, in whole kB.
        too_large: What to do where it has more.

    Raises:
        InputError: If it is no readable file of that size.
    """
    where = printable(path, 160)
    try:
        file = Path(path)
        if not file.exists():
            raise refusal(where, "no such file", "check the path")
        if not file.is_file():
            raise refusal(where, "is not a file", f"give the path of {kind}")
        with file.open("rb") as stream:
            data = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is malformed"
        raise refusal(where, f"cannot be read ({reason})", "check the path and its permissions") \
            from None
    if len(data) > largest:
        raise refusal(where, f"is larger than {largest // 1000} kB", too_large)
    return data


def read_toml_file(
    path: str, too_large: str = "keep one machine in one file"
) -> dict[str, object]:
    """Read a user's TOML file; decimals come as `TypedNumber`.

    Raises:
        InputError: If it is no readable file of at most 100 kB of valid TOML.
    """
    data = read_file_bytes(path, "a TOML file", LARGEST_FILE_BYTES, too_large)
    return parse_toml(data, printable(path, 160))


def parse_toml(data: bytes, where: str) -> dict[str, object]:
    """Parse TOML; decimals come as `TypedNumber`.

    Raises:
        InputError: If it is not UTF-8 or not TOML.

    Example:
        >>> parse_toml(b"x = 0.1", "a.toml")
        {'x': TypedNumber(text='0.1')}
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refusal(where, "is not UTF-8 text", "save it as UTF-8") from None
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        raise refusal(where, f"has a line of more than {LONGEST_LINE} characters", "break it")
    try:
        return tomllib.loads(text, parse_float=TypedNumber)
    except RecursionError:
        raise refusal(where, "is nested too deeply", "three levels are enough") from None
    except ValueError as error:  # TOMLDecodeError, or a number or date that Python refuses
        raise refusal(where, f"is not valid TOML ({printable(str(error))})", "correct it") from None


def check_keys(table: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Refuse a table with a key that means nothing, so that no typing slip is passed over.

    Raises:
        UnknownNameError: Naming the nearest keys that exist.
    """
    names = list(known)
    for key in table:
        if key not in names:
            raise unknown_name("key", key, names).with_context(where)


def read_text(table: Mapping[str, object], key: str, where: str) -> str | None:
    """Return a text of a table on one line, or None where it is absent.

    Raises:
        InputError: If it is no text, or empty, or of several lines, or very long.
    """
    if key not in table:
        return None
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise refusal(where, f"{key} is not a text", f'write {key} = "..."')
    if len(value) > 300 or not value.isprintable():
        raise refusal(where, f"{key} is too long or not on one line", "use 300 characters at most")
    return value.strip()


def read_table(value: object, where: str, example: str) -> Mapping[str, object]:
    """Return `value` if it is a table.

    Raises:
        InputError: If it is anything else, with what to write instead.
    """
    if not isinstance(value, dict):
        raise refusal(where, "is not a table", f"write {example}")
    return value


def read_source(table: Mapping[str, object], where: str, packaged: bool) -> str:
    """Return the source of a fact: a known key, or a user's own words in a user's own file.

    Raises:
        InputError: If it is missing or says nothing.
    """
    text = read_text(table, "source", where)
    if text is None:
        raise refusal(where, "has no source", 'add source = "..." saying where the fact comes from')
    if text in load_sources():
        return text
    if packaged:
        try:
            source(text)
        except InputError as error:
            raise error.with_context(where) from None
    if len(text) < 4 or not any(c.isalpha() for c in text):
        raise refusal(where, f"source {text!r} says too little", "name a document or a measurement")
    return text
