"""What the kernel found in certificate files, as lines, documents and JSON."""

import shutil
import textwrap
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.errors import CheckFailedError
from symscale.kernel.check import FileVerdict, TheoremVerdict
from symscale.kernel.sentences import quoted
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Heading,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class CheckedCertificates(Answer):
    """A certificate file, and what the kernel found.

    Attributes:
        title: What the file is about, in its own words.
        verdicts: What was found, once for each problem that it speaks of.
    """

    page = "check"
    title: str
    verdicts: tuple[FileVerdict, ...]

    @property
    def theorems(self) -> tuple[TheoremVerdict, ...]:
        """The theorems of all problems."""
        return tuple(t for v in self.verdicts for t in v.findings)

    @property
    def holds(self) -> bool:
        """Whether all hold."""
        return all(t.holds for t in self.theorems)

    def require_all(self) -> None:
        """Raise why the first theorem that does not hold does not.

        Raises:
            CheckFailedError: If there is one.
        """
        for t in self.theorems:
            if not t.holds:
                raise CheckFailedError(f"{quoted(t.name)}: {t.text}")


def verdict_lines(found: CheckedCertificates) -> str:
    """The problem and the theorems, each a line that goes on indented.

    What the file chose freely stands in quotes and never begins a line.
    """
    lines: list[str] = []
    for v in found.verdicts:
        if v.problem:
            lines += [*_wrapped(v.problem), ""]
        for t in v.findings:
            lines += _wrapped(f"{_verdict(t)}: {quoted(t.name)} ({_kind(t)}): {t.text}")
        lines.append("")
    return "\n".join([*lines, summary(found)]) + "\n"


def _wrapped(text: str) -> list[str]:
    width = max(shutil.get_terminal_size((80, 24)).columns, 40)
    return textwrap.wrap(
        text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _kind(theorem: TheoremVerdict) -> str:
    """The kind that a theorem says it is of, in quotes where it is no word."""
    return theorem.kind if theorem.kind.isidentifier() else quoted(theorem.kind)


def _verdict(theorem: TheoremVerdict) -> str:
    return "holds" if theorem.holds else "does not hold"


def verdict_document(found: CheckedCertificates) -> Document:
    """The problem and every theorem."""
    blocks: list[Block] = [paragraph(f"{summary(found).capitalize()}.")]
    for v in found.verdicts:
        if v.problem:
            blocks += [Heading("Problem", 3), paragraph(v.problem)]
        columns = (
            Column("theorem", wrap=True), Column("kind"), Column("holds"),
            Column("what was shown, or why not", wrap=True, share=0.5),
        )  # fmt: skip
        rows = tuple(
            (quoted(t.name), _kind(t), "yes" if t.holds else "no", t.text) for t in v.findings
        )
        blocks.append(Table(columns, rows))
    return Document(f"Check of {quoted(found.title)}", tuple(blocks))


def verdict_data(found: CheckedCertificates) -> dict[str, Json]:
    """The problem and every theorem as JSON data."""
    return {
        "problem": found.title,
        "holds": found.holds,
        "certificates": [
            {
                "piece": v.title,
                "holds": v.holds,
                "problem": v.problem,
                "theorems": [
                    {"name": t.name, "kind": t.kind, "holds": t.holds, "text": t.text}
                    for t in v.findings
                ],
                "work": v.work,
            }
            for v in found.verdicts
        ],
        "checks": [{"name": t.name, "holds": t.holds, "detail": t.text} for t in found.theorems],
    }


def summary(found: CheckedCertificates) -> str:
    """How many theorems hold."""
    held, count = sum(t.holds for t in found.theorems), len(found.theorems)
    if held == count:
        return f"all {count} theorems hold" if count > 1 else "the theorem holds"
    return f"{held} of {count} theorems hold"


PAGES = (Page(CheckedCertificates, verdict_document, verdict_data, summary, text=verdict_lines),)
