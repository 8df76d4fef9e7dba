"""Where answers go: to standard output, or whole into files; checked before any work."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import typer

from symscale.answers import Answer
from symscale.errors import InputError
from symscale.pages.files import check_writable, write_by, write_whole
from symscale.pages.page import CODES, ENDINGS, PLAIN, page_of

WITH_CODE = (*PLAIN, *CODES)
"""Formats of answers with closed forms."""

EVERY = (*PLAIN, "html", *CODES)
"""Formats of derivations."""

_OTHERS = (
    ".csv", ".tsv", ".svg", ".png", ".jpg", ".eps", ".ps", ".toml", ".yaml", ".yml", ".xml",
    ".docx", ".odt", ".xlsx", ".ipynb", ".rst", ".jsonl", ".bib",
)
"""Endings of formats that no answer has."""


@dataclass(frozen=True)
class Output:
    """Where an answer goes, as the options of its command say.

    Attributes:
        form: The format, or None for the one that the file's name asks for.
        path: The file, or None for standard output.
        certificate: A file for the proofs, or None.
        plot: A file for the figure, or None.
        csv: A file for the table, or None.
        fragment: Whether LaTeX has no preamble.
        unchecked: Whether the kernel is not asked what it shows of the answer.
        bibliography: A file for the sources that are cited, or None.
        force: Whether existing files may be replaced.
        formats: The formats that the command has.
    """

    form: str | None = None
    path: Path | None = None
    certificate: Path | None = None
    plot: Path | None = None
    csv: Path | None = None
    fragment: bool = False
    unchecked: bool = False
    bibliography: Path | None = None
    force: bool = False
    formats: tuple[str, ...] = PLAIN

    @property
    def chosen(self) -> str:
        """The format asked for, by name or by the ending of the file that it goes into.

        Example:
            >>> Output(path=Path("answer.tex")).chosen, Output("text", Path("a.tex")).chosen
            ('latex', 'text')
        """
        if self.form is not None:
            return self.form
        ending = "" if self.path is None else ENDINGS.get(self.path.suffix.lower(), "")
        return ending if ending in self.formats else "text"

    def check(self) -> None:
        """Refuse what cannot be written before any work is done.

        Raises:
            InputError: If a file cannot be written, two options name the same, or a format
                and an option contradict each other.
        """
        given: dict[Path, str] = {}
        for option, path in self._files().items():
            if path is not None:
                check_writable(path, self.force, option)
                other = given.setdefault(Path(os.path.realpath(path)), option)
                if other != option:
                    raise InputError(f"{option} {path}: {other} names the same file; name another")
        if self.unchecked and self.certificate is not None:
            raise InputError("--certificate writes what the kernel shows; leave --no-check out")
        if self.plot is not None:
            from symscale.pages.figures.drawing import check_format

            check_format(self.plot)
        if self.form is None and self.path is not None:
            self._check_ending(self.path)
        if self.chosen == "pdf" and self.path is None:
            raise InputError("--format pdf goes into a file; give -o FILE.pdf")
        if self.fragment and self.chosen != "latex":
            raise InputError("--fragment is a piece of LaTeX; give --format latex")

    def _files(self) -> dict[str, Path | None]:
        return {
            "--csv": self.csv, "--certificate": self.certificate, "--plot": self.plot,
            "-o": self.path, "--bibliography": self.bibliography,
        }

    def _check_ending(self, path: Path) -> None:
        """Refuse a file whose ending promises what a command does not write."""
        ending = path.suffix.lower()
        endings = [e for e, name in ENDINGS.items() if name in self.formats]
        if ending not in endings and ending in (*ENDINGS, *_OTHERS):
            raise InputError(
                f"-o {path}: this command writes no {ending}; end the name in "
                f"{', '.join(endings)}, or give --format"
            )


_OPTIONS: Mapping[str, tuple[Any, tuple[str, ...], str | None, str]] = MappingProxyType({
    "path": (Path | None, ("-o", "--output"), "FILE", "Write into this file instead of printing."),
    "certificate": (
        Path | None, ("--certificate",), "FILE.json",
        "Write the proof of every piece, for `symscale check`.",
    ),
    "unchecked": (
        bool, ("--no-check",), None,
        "Do not ask the kernel what it shows of the answer; the answer says so.",
    ),
    "plot": (Path | None, ("--plot",), "FILE", ""),
    "csv": (Path | None, ("--csv",), "FILE.csv", ""),
    "fragment": (
        bool, ("--fragment",), None, "LaTeX to be included: no preamble, sources cited by key.",
    ),
    "bibliography": (
        Path | None, ("--bibliography",), "FILE.bib",
        "Write BibTeX entries of the sources that it cites.",
    ),
    "force": (bool, ("--force",), None, "Replace the output file if it exists."),
})  # fmt: skip


class Writes:
    """Which options of `Output` a command has.

    Args:
        formats: The formats that it prints.
        options: Further options by name, each with its help, or True for the usual one;
            `path=False` for a command whose file is not the answer's.
    """

    def __init__(self, formats: tuple[str, ...] = PLAIN, **options: str | bool) -> None:
        self.formats = formats
        self.given: dict[str, str | bool] = {"path": True, **options, "force": True}

    def options(self) -> dict[str, tuple[Any, Any]]:
        """Return type and default of each option, by the name of its field."""
        code = "; as code: its closed forms" if CODES[0] in self.formats else ""
        found: dict[str, tuple[Any, Any]] = {
            "form": (
                Annotated[
                    Literal[self.formats] | None,
                    typer.Option(
                        "--format", help=f"How to print the answer{code}. Default: what the "
                        "ending of -o FILE says (.json, .tex, .md), else text.",
                    ),
                ],
                None,
            )
        }
        for name, (kind, words, metavar, usual) in _OPTIONS.items():
            wanted = self.given.get(name, False)
            if wanted is not False:
                text = wanted if isinstance(wanted, str) else usual
                option = typer.Option(*words, metavar=metavar, help=text)
                found[name] = (Annotated[kind, option], False if kind is bool else None)
        return found

    def build(self, **given: Any) -> Output:
        """Make the output that was asked for, checked."""
        output = Output(**given, formats=self.formats)
        output.check()
        return output


def emit(answer: Answer, output: Output) -> None:
    """Check an answer, write the files that were asked for, and print it.

    Raises:
        CheckFailedError: If the answer does not hold.
        InputError: If something cannot be written.
    """
    answer.check()
    page = page_of(answer)
    if output.certificate is not None:
        proofs = page.certificates(answer)
        proofs.save(output.certificate, force=output.force, option="--certificate")
        if proofs.theorems.missing:
            missing = ", ".join(proofs.theorems.missing)
            typer.echo(f"symscale: the kernel does not show: {missing}", err=True)
    if output.csv is not None and page.table is not None:
        write_whole(output.csv, page.table(answer), "--csv")
    if output.plot is not None and page.figure is not None:
        figure = page.figure
        write_by(output.plot, lambda temporary: figure(answer, temporary), "--plot")
    if output.bibliography is not None:
        from symscale.pages.formats.bibtex import bibtex
        from symscale.pages.formats.fragment import cited_keys

        keys = [key for key in cited_keys(page.document(answer)) if key]
        write_whole(output.bibliography, bibtex(keys), "--bibliography")
    if output.path is not None:
        page.write(
            answer, output.path, output.chosen, fragment=output.fragment,
            check=not output.unchecked,
        )
    else:
        say(page.printed(
            answer, output.chosen, fragment=output.fragment, check=not output.unchecked
        ))


def say(text: str) -> None:
    """Print text to standard output.

    Raises:
        InputError: If it takes nothing more, a full disk behind it say.
    """
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        leave_output()
        raise InputError(f"standard output: {error.strerror}; use -o FILE") from error


def leave_output() -> None:
    """Let nothing more be written to a standard output that takes nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
