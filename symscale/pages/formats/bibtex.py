r"""Sources as BibTeX entries.

Example:
    >>> print(bibtex(["hoffmann-2022"]).splitlines()[0])
    @misc{hoffmann-2022,
"""

import re
from collections.abc import Iterable

from symscale.language.sources import Source, source

_ARXIV = re.compile(r"^arXiv (\d{4}\.\d{4,5})$")
_SPECIAL = re.compile(r"([&%$#_{}])")


def bibtex(keys: Iterable[str]) -> str:
    """Return entries for sources, in the order of their keys' first occurrence.

    Args:
        keys: Keys of `language/sources.toml`.

    Raises:
        UnknownNameError: If a key is unknown.
    """
    return "\n".join(_entry(source(key)) for key in dict.fromkeys(keys))


def _entry(found: Source) -> str:
    fields = {
        "author": " and ".join(_author(name) for name in found.authors),
        "title": f"{{{_escape(found.title)}}}",
        "year": str(found.year),
    }
    arxiv = _ARXIV.match(found.where)
    if arxiv:
        fields |= {"eprint": arxiv.group(1), "archiveprefix": "arXiv"}
    fields["howpublished"] = _escape(found.where)
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{found.key},\n{lines},\n}}\n"


def _author(name: str) -> str:
    """A person as BibTeX splits names; a vendor's name of several words stays whole."""
    if name.startswith("{"):
        return f"{{{_escape(name[1:-1])}}}"
    escaped = _escape(name)
    is_person = re.fullmatch(r"[A-Z][\w.'-]*( [\w.'-]+)* [\w'-]+", name) is not None
    return escaped if is_person else f"{{{escaped}}}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
