"""The list of worked derivations."""

from collections.abc import Mapping
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.pages.formats.document import Column, Document, Table, paragraph
from symscale.pages.formats.json import Json
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class Derivations(Answer):
    """Worked derivations, to be listed.

    Attributes:
        titles: Their titles by name.
    """

    page = "derivations"
    titles: Mapping[str, str]


def titles_document(found: Derivations) -> Document:
    """The list of derivations."""
    columns = (Column("name"), Column("title", wrap=True, share=0.6))
    return Document(
        "Worked derivations",
        (
            Table(columns, tuple(found.titles.items())),
            paragraph(
                "Print one: symscale derive NAME, with --format json, latex, markdown, pdf, html, "
                "python, c or javascript for something else than text."
            ),
        ),
    )


def titles_data(found: Derivations) -> dict[str, Json]:
    """The list of derivations as JSON data."""
    return {"derivations": [{"name": n, "title": t} for n, t in found.titles.items()]}


PAGES = (Page(Derivations, titles_document, titles_data),)
