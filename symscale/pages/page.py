"""Pages: how answers of one kind print, draw and prove themselves.

A module `symscale.pages.of.NAME` lists the pages of command NAME in `PAGES`, one for each
kind of answer that it prints. The command line, notebooks and reports all go by them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from symscale.answers import Answer
from symscale.errors import InputError, NoAnswerError, unknown_name
from symscale.pages.files import check_writable, file_path, write_by, write_whole
from symscale.version import __version__

if TYPE_CHECKING:
    from symscale.algebra.certify.theorems import Theorems
    from symscale.pages.formats.code import ClosedForms
    from symscale.pages.formats.document import Document
    from symscale.pages.formats.json import Json

A = TypeVar("A", bound=Answer)

SCHEMA = 1
"""Of the JSON of answers: keys are added under one number, and renamed under the next."""

PLAIN = ("text", "json", "latex", "markdown", "pdf")
"""Formats that every answer has."""

CODES = ("python", "c", "javascript")
"""Formats of closed forms as code."""

ENDINGS = {
    ".txt": "text", ".json": "json", ".tex": "latex", ".md": "markdown", ".pdf": "pdf",
    ".html": "html", ".htm": "html", ".py": "python", ".c": "c", ".js": "javascript",
}  # fmt: skip
"""The format that a file's name asks for."""


_KINDS = {
    "bound": ("bound", "bounds"), "attained": ("attained value", "attained values"),
    "curve": ("curve", "curves"),
    "infimum": ("infimum", "infima"), "feasible": ("feasible point", "feasible points"),
    "infeasible": ("case without a feasible point", "cases without a feasible point"),
    "unbounded": ("case without a bound", "cases without a bound"),
    "tangent": ("tangent", "tangents"), "box": ("box", "boxes"),
    "cover": ("cover", "covers"),
}  # fmt: skip


_COVER = "cover"

UNCHECKED = "Not checked by the kernel, as was asked for."
"""What a document says where the kernel was not asked."""


@dataclass(frozen=True)
class Certificates:
    """What the kernel shows of an answer, and what that leaves open.

    Attributes:
        theorems: The theorems.
    """

    theorems: "Theorems"

    def to_dict(self) -> "dict[str, Json]":
        """Return them as the JSON that `symscale check` reads.

        Raises:
            NoAnswerError: If the kernel shows nothing of it.
        """
        if self.theorems.data is None:
            raise NoAnswerError("the kernel shows no theorem about this; give numbers by --set")
        return dict(self.theorems.data)

    def summary(self) -> str:
        """Return in a sentence or two what is shown and what is not.

        Example:
            >>> import symscale as ss
            >>> ss.limits("h100-sxm").certificates().summary()[:43]
            'The kernel shows 5 theorems of this answer:'
        """
        if self.theorems.verdict is None:
            return " ".join(["The kernel shows nothing of this answer.", *self._missing()])
        counts = Counter(f.kind for f in self.theorems.verdict.findings)
        parts = [f"{n} {_KINDS[kind][n > 1]}" for kind in _KINDS if (n := counts[kind])]
        if counts["cover"]:
            parts[-1] += " of the parameters in its region" if self._is_limited() else (
                " of all parameters"
            )
        total = sum(counts.values())
        shown = f"{total} theorem{'s' * (total > 1)}"
        return " ".join(
            [f"The kernel shows {shown} of this answer: {', '.join(parts)}.", *self._missing()]
        )

    def _is_limited(self) -> bool:
        """Whether a cover assumes conditions, such as that parameters are tied."""
        theorems = (self.theorems.data or {}).get("theorems", ())
        covers = [t for t in theorems if t["theorem"] == _COVER]
        return any("terms" in row for t in covers for row in t["region"])

    def _missing(self) -> list[str]:
        missing = [f"'{name}'" for name in self.theorems.missing if name != _COVER]
        if _COVER in self.theorems.missing:
            missing.append("that the regions fill all in which a point is feasible")
        return [f"Not shown: {', '.join(missing)}."] if missing else []

    def save(self, path: str | Path, *, force: bool = False, option: str = "save") -> None:
        """Write them for `symscale check`.

        Raises:
            InputError: If the file cannot be written.
        """
        from symscale.pages.formats.json import dump

        file = file_path(path, option)
        check_writable(file, force, option)
        write_whole(file, dump(self.to_dict()), option)


@dataclass(frozen=True)
class Page(Generic[A]):
    """How answers of one kind are shown.

    Attributes:
        kind: The class of the answers.
        document: Makes the document, for every format but JSON and code.
        data: Makes the JSON.
        line: Says the answer in a line, for the terminal of a Python session.
        text: Makes the plain text where it is not the document's.
        figure: Draws the answer into a file.
        functions: Makes its closed forms as functions.
        table: Makes its rows as CSV.
        certificates_of: Makes its certificates, or None where an answer has none.
        label: What labels in fragments of LaTeX begin with; the command's name by default.
    """

    kind: type[A]
    document: "Callable[[A], Document]"
    data: "Callable[[A], dict[str, Json]]"
    line: Callable[[A], str] | None = None
    text: Callable[[A], str] | None = None
    figure: Callable[[A, Path], None] | None = None
    functions: "Callable[[A], ClosedForms] | None" = None
    table: Callable[[A], str] | None = None
    certificates_of: Callable[[A], Certificates | None] | None = None
    label: Callable[[A], str] | None = None

    def to_dict(self, answer: A, *, check: bool = True) -> "dict[str, Json]":
        """Return the JSON, with what the kernel shows, the version and the schema's number."""
        version: dict[str, Json] = {"symscale_version": __version__, "schema": SCHEMA}
        return {**self.data(answer), **self._theorems_data(answer, check), **version}

    def _theorems_data(self, answer: A, check: bool) -> "dict[str, Json]":
        if self.certificates_of is None:
            return {}
        found: dict[str, Json] = {"checked": check}
        if check:
            certificates = self.certificates_of(answer)
            if certificates is None:
                return {}
            theorems = certificates.theorems
            findings = theorems.verdict.findings if theorems.verdict else ()
            found["shown"] = [
                {"name": f.name, "kind": f.kind, "sentence": f.text} for f in findings
            ]
            found["missing"] = list(theorems.missing)
        return {"theorems": found}

    def checked_document(self, answer: A, *, check: bool = True) -> "Document":
        """Return the document, and in it what the kernel shows of the answer.

        Args:
            answer: The answer.
            check: Whether to ask the kernel; if not, the document says so.
        """
        from symscale.pages.formats.document import Heading, paragraph

        document = self.document(answer)
        if self.certificates_of is None:
            return document
        certificates = self.certificates_of(answer) if check else None
        if check and certificates is None:
            return document
        said = UNCHECKED if certificates is None else certificates.summary()
        blocks = (*document.blocks, Heading("Proof"), paragraph(said))
        return replace(document, blocks=blocks)

    def printed(
        self, answer: A, form: str, *, fragment: bool = False, check: bool = True
    ) -> str:
        """Return an answer in a format of text.

        Args:
            answer: The answer.
            form: The format.
            fragment: For LaTeX: whether to leave the preamble out.
            check: Whether to ask the kernel what it shows of the answer.

        Raises:
            InputError: If answers of this kind have no such format.
        """
        if form == "json":
            from symscale.pages.formats.json import dump

            return dump(self.to_dict(answer, check=check))
        if form in CODES:
            return self.code(answer, form)
        if form == "text" and self.text is not None:
            return self.text(answer)
        document = self.checked_document(answer, check=check)
        if form == "latex" and fragment:
            from symscale.pages.formats.fragment import fragment as print_fragment

            return print_fragment(document, self.label(answer) if self.label else answer.page)
        if form not in ("text", "latex", "markdown", "html"):
            raise unknown_name("format", form, (*PLAIN, "html", *CODES))
        text: str = import_module(f"symscale.pages.formats.{form}").render(document)
        return text

    def code(self, answer: A, language: str) -> str:
        """Return the closed forms of an answer as functions of a language.

        Raises:
            InputError: If answers of this kind have none, or the language is unknown.
        """
        if self.functions is None:
            raise InputError(f"{answer.page} has no closed forms to write as code")
        if language not in CODES:
            raise unknown_name("language", str(language), CODES)
        return self.functions(answer).code(language)

    def write(
        self, answer: A, path: Path, form: str, *, fragment: bool = False, check: bool = True,
        option: str = "-o",
    ) -> None:
        """Write an answer into a file in a format, whole or not at all.

        Raises:
            InputError: If the file cannot be written, or there is no LaTeX engine for a PDF.
            NoAnswerError: If that engine fails.
        """
        if form == "pdf":
            from symscale.pages.formats import latex
            from symscale.pages.formats.pdf import make_pdf

            made = make_pdf(latex.render(self.checked_document(answer, check=check)))
            write_by(path, lambda temporary: temporary.write_bytes(made), option)
        else:
            text = self.printed(answer, form, fragment=fragment, check=check)
            write_whole(path, text, option)

    def save(self, answer: A, path: str | Path, *, force: bool) -> None:
        """Write an answer into a file in the format that its name ends in.

        Raises:
            InputError: If it ends as no format, or the file cannot be written.
        """
        known = [e for e, form in ENDINGS.items() if form not in CODES or self.functions]
        file = file_path(path, "save")
        if file.suffix.lower() not in known:
            raise InputError(f"save {file}: end the name in {', '.join(known)}")
        check_writable(file, force, "save")
        self.write(answer, file, ENDINGS[file.suffix.lower()], option="save")

    def plot(self, answer: A, path: str | Path, *, force: bool) -> None:
        """Draw an answer into a file.

        Raises:
            InputError: If answers of this kind have no figure, or it cannot be written.
        """
        if self.figure is None:
            raise InputError(f"{answer.page} has no figure")
        from symscale.pages.figures.drawing import check_format

        file, figure = file_path(path, "plot"), self.figure
        check_format(file, "plot")
        check_writable(file, force, "plot")
        write_by(file, lambda temporary: figure(answer, temporary), "plot")

    def certificates(self, answer: A) -> Certificates:
        """Return the proofs of an answer.

        Raises:
            InputError: If answers of this kind have none.
        """
        found = None if self.certificates_of is None else self.certificates_of(answer)
        if found is None:
            raise InputError(f"{answer.page} has no certificates")
        return found


def page_of(answer: Answer) -> Page[Any]:
    """Return how an answer is shown.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> page_of(training_limits()).kind.__name__
        'LimitsAnswer'
    """
    pages: Sequence[Page[Any]] = import_module(f"symscale.pages.of.{answer.page}").PAGES
    return next(page for page in pages if isinstance(answer, page.kind))
