"""Where facts come from: the sources that presets and symbols name by a key.

Example:
    >>> from symscale.language.sources import cite
    >>> cite("erdil-schneider-joseph-2024")
    'Erdil and Schneider-Joseph 2024, arXiv 2411.01137'
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from symscale.errors import InputError, unknown_name


@dataclass(frozen=True)
class Source:
    """A document, data sheet or program that a fact was taken from.

    Attributes:
        key: What presets write, such as "hoffmann-2022".
        title: Its title.
        authors: Full names of persons, or names of organisations, those of several words in
            braces as in BibTeX.
        year: When this version of it came out.
        where: What finds it: an arXiv number, a vendor's document, a repository.
        note: What it is good for, or what to mind when reading it.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    where: str
    note: str = ""

    @property
    def short(self) -> str:
        """A citation of one line.

        Example:
            >>> source("hoffmann-2022").short
            'Hoffmann and others 2022, arXiv 2203.15556'
        """
        families = [_family(name) for name in self.authors]
        who = " and ".join(families) if len(families) <= 2 else f"{families[0]} and others"
        return f"{who} {self.year}, {self.where}"


def _family(author: str) -> str:
    """A person's last name, or all of an organisation's, which stands in braces as in BibTeX."""
    return author[1:-1] if author.startswith("{") else author.split()[-1]


@functools.cache
def load_sources() -> Mapping[str, Source]:
    """Return every known source by its key.

    Example:
        >>> load_sources()["hoffmann-2022"].year
        2022
    """
    text = files("symscale.language").joinpath("sources.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {key: read_entry(key, entry) for key, entry in tomllib.loads(text).items()}
    )


def read_entry(key: str, entry: Mapping[str, Any]) -> Source:
    """Return the source that an entry of `sources.toml` states.

    Raises:
        InputError: If it lacks a part.

    Example:
        >>> read_entry("x-2020", {"title": "X", "authors": ["A B"], "year": 2020})
        Traceback (most recent call last):
        symscale.errors.InputError: sources.toml: x-2020 has no where
    """
    for name in ("title", "authors", "year", "where"):
        if name not in entry:
            raise InputError(f"sources.toml: {key} has no {name}")
    return Source(
        key, entry["title"], tuple(entry["authors"]), entry["year"], entry["where"],
        entry.get("note", ""),
    )


def source(key: str) -> Source:
    """Return the source called `key`.

    Raises:
        UnknownNameError: If there is none; the text offers the nearest keys.

    Example:
        >>> source("nvidia-a100-datasheet").where
        'A100 data sheet'
    """
    known = load_sources()
    if key not in known:
        raise unknown_name("source", key, known)
    return known[key]


def cite(key: str) -> str:
    """Return a citation of one line for the source called `key`.

    Raises:
        UnknownNameError: If there is none.

    Example:
        >>> cite("nvidia-h100-datasheet")
        'NVIDIA 2023, H100 data sheet'
    """
    return source(key).short


def describe(text: str) -> str:
    """Return the citation of a key, or a user's own words about a source as they are.

    Example:
        >>> describe("nvidia-h100-datasheet")
        'NVIDIA 2023, H100 data sheet'
        >>> describe("measured on our cluster")
        'measured on our cluster'
    """
    known = load_sources()
    return known[text].short if text in known else text
