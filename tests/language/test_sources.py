"""The sources of facts."""

import re

import pytest

from symscale.errors import UnknownNameError
from symscale.language.sources import Source, cite, describe, load_sources, source
from symscale.language.symbols import NOTATION

NEEDED = [
    "erdil-schneider-joseph-2024",
    "erdil-schneider-joseph-program",
    "hoffmann-2022",
    "nvidia-v100-datasheet",
    "nvidia-a100-datasheet",
    "nvidia-h100-datasheet",
]


@pytest.mark.parametrize("key", NEEDED)
def test_the_needed_sources_exist(key: str) -> None:
    assert source(key).key == key


@pytest.mark.parametrize("entry", list(load_sources().values()), ids=lambda entry: entry.key)
def test_every_source_is_complete(entry: Source) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.key)
    assert entry.title
    assert entry.authors
    assert all(author.strip() for author in entry.authors)
    assert 1900 < entry.year < 2100
    assert entry.where
    for text in (entry.title, entry.where, entry.note, entry.short):
        assert text.isprintable()


def test_arxiv_numbers() -> None:
    assert source("erdil-schneider-joseph-2024").where == "arXiv 2411.01137"
    assert source("hoffmann-2022").where == "arXiv 2203.15556"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("erdil-schneider-joseph-2024", "Erdil and Schneider-Joseph 2024, arXiv 2411.01137"),
        ("hoffmann-2022", "Hoffmann and others 2022, arXiv 2203.15556"),
        ("nvidia-v100-datasheet", "NVIDIA 2020, V100 data sheet"),
    ],
)
def test_cite(key: str, text: str) -> None:
    assert cite(key) == text
    assert describe(key) == text


def test_words_of_a_user_stay_as_they_are() -> None:
    assert describe("measured on our cluster") == "measured on our cluster"


@pytest.mark.parametrize("look_up", [source, cite])
def test_an_unknown_key_offers_the_nearest(look_up: object) -> None:
    assert callable(look_up)
    with pytest.raises(UnknownNameError, match="did you mean hoffmann-2022"):
        look_up("hofmann-2022")


def test_the_sources_of_the_notation_exist() -> None:
    assert {entry.source for entry in NOTATION.values() if entry.source} <= set(load_sources())


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        load_sources()["x"] = source("hoffmann-2022")  # type: ignore[index]
