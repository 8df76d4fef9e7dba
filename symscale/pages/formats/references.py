"""Numbered references: citations in tables shrink to [1], a list below spells them out."""

from collections.abc import Mapping, Sequence
from itertools import count

from symscale.language.sources import cite, describe, load_sources
from symscale.pages.formats.document import Bibliography, Block, Column, Heading


class References:
    """Collects the sources that a document cites, in the order of first use.

    Example:
        >>> references = References()
        >>> references.cite("hoffmann-2022")
        '[1]'
        >>> references.shorten("20; Hoffmann and others 2022, arXiv 2203.15556")
        '20; [1]'
    """

    def __init__(self, beside: str = "") -> None:
        """Start an empty list.

        Args:
            beside: A user's own words; a number that stands in brackets in them is no reference.
        """
        self._beside = beside
        self._texts: dict[str, int] = {}

    def number(self, text: str) -> str:
        """Return the number of a citation's text in brackets."""
        if text not in self._texts:
            after = max(self._texts.values(), default=0) + 1
            self._texts[text] = next(k for k in count(after) if f"[{k}]" not in self._beside)
        return f"[{self._texts[text]}]"

    def cite(self, key: str) -> str:
        """Return the number of a source by its key; "" for none."""
        return self.number(cite(key)) if key else ""

    def words(self, source: str) -> str:
        """Return a user's words about a source: what is known in them as a number.

        Example:
            >>> References().words("hoffmann-2022"), References().words("our own runs")
            ('[1]', 'our own runs')
        """
        return self.shorten(describe(source))

    def shorten(self, text: str) -> str:
        """Replace every citation of a known source within a text by its number."""
        known = [c for c in (cite(key) for key in load_sources()) if c in text]
        # The longest first: one citation may be the beginning of another.
        places = sorted(known, key=text.index)
        for citation in sorted(places, key=lambda c: (-len(c), text.index(c))):
            if citation in text:
                text = text.replace(citation, self.number(citation))
        return text

    def blocks(self) -> list[Block]:
        """The list of what was cited."""
        if not self._texts:
            return []
        return [Heading("Sources"), _table(self._texts)]


def source_table(texts: Sequence[str]) -> Bibliography:
    """A numbered table of citations, with the keys of those that are known sources."""
    return _table({text: k for k, text in enumerate(texts, 1)})


def _table(numbered: Mapping[str, int]) -> Bibliography:
    columns = (Column("no."), Column("source", wrap=True, share=0.85))
    rows = tuple((f"[{k}]", text) for text, k in numbered.items())
    known = {source.short: key for key, source in load_sources().items()}
    return Bibliography(columns, rows, keys=tuple(known.get(text, "") for text in numbered))
