"""Where answers go: to standard output, or whole into a file."""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.pages.formats.document import Document

_PATIENCE_S = 2.0


class Format(StrEnum):
    """Formats that every command which answers can print."""

    text = "text"
    json = "json"
    latex = "latex"
    markdown = "markdown"
    pdf = "pdf"


class CodeFormat(StrEnum):
    """Those of commands whose closed forms can become code as well."""

    text = "text"
    json = "json"
    latex = "latex"
    markdown = "markdown"
    pdf = "pdf"
    python = "python"
    c = "c"
    javascript = "javascript"


CODES = ("python", "c", "javascript")
"""Formats of closed forms as code."""


class DeriveFormat(StrEnum):
    """Those of derivations."""

    text = "text"
    json = "json"
    latex = "latex"
    markdown = "markdown"
    pdf = "pdf"
    html = "html"
    python = "python"
    c = "c"
    javascript = "javascript"


_ENDINGS = {
    ".json": "json", ".tex": "latex", ".md": "markdown", ".pdf": "pdf", ".html": "html",
    ".htm": "html", ".py": "python", ".c": "c", ".js": "javascript",
}

_OTHERS = (
    ".csv", ".tsv", ".svg", ".png", ".jpg", ".eps", ".ps", ".toml", ".yaml", ".yml", ".xml",
    ".docx", ".odt", ".xlsx", ".ipynb", ".rst", ".jsonl", ".bib",
)
"""Endings of formats that no answer has."""


def chosen(form: StrEnum | None, output: Path | None, known: Iterable[str] = Format) -> str:
    """The format asked for, by name or by the ending of the file that it goes into.

    Example:
        >>> chosen(None, Path("answer.tex")), chosen(Format.text, Path("a.tex"))
        ('latex', 'text')
    """
    if form is not None:
        return form.value
    ending = "" if output is None else _ENDINGS.get(output.suffix.lower(), "")
    return ending if ending in set(known) else Format.text.value


def emit(
    form: StrEnum | None,
    document: "Callable[[], Document]",
    data: Callable[[], dict[str, Any]],
    output: Path | None = None,
    force: bool = False,
    lines: Callable[[], str] | None = None,
    others: Mapping[str, Callable[[], str]] | None = None,
    fragment: str | None = None,
) -> None:
    """Print an answer in a format, to standard output or into a file.

    Args:
        form: The format, or None for the one that the file's name asks for.
        document: Makes the document, for all formats but JSON.
        data: Makes the data, for JSON.
        output: The file, or None.
        force: Whether an existing file may be replaced.
        lines: Makes the text format, where it is not the document's.
        others: What makes the text of formats that only this command has.
        fragment: For LaTeX without preamble, what its labels begin with; else None.

    Raises:
        InputError: If the file cannot be written, or a format and an option contradict.
    """
    if output is not None:
        check_writable(output, force)
    wanted = check_emitted(form, output, others or ())
    if fragment is not None and wanted != Format.latex:
        raise InputError("--fragment is a piece of LaTeX; give --format latex")
    if others and wanted in others:
        text = others[wanted]()
    elif wanted == Format.json:
        from symscale.pages.formats.json import dump

        text = dump(data())
    elif wanted == Format.text and lines is not None:
        text = lines()
    elif wanted == Format.pdf and output is not None:
        write_pdf(document(), output)
        return
    elif fragment is not None and wanted == Format.latex:
        from symscale.pages.formats.fragment import fragment as print_fragment

        text = print_fragment(document(), fragment)
    else:
        from symscale.pages.formats import latex, markdown
        from symscale.pages.formats import text as plain

        renderers: dict[str, Callable[[Document], str]] = {
            Format.text: plain.render,
            Format.latex: latex.render,
            Format.markdown: markdown.render,
        }
        text = renderers[wanted](document())
    if output is not None:
        write_whole(output, text)
        return
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        leave_output()
        raise InputError(f"standard output: {error.strerror}; use -o FILE") from error


def check_emitted(form: StrEnum | None, output: Path | None, others: Iterable[str] = ()) -> str:
    """Return the format that an answer will have, before any work is done for it.

    Args:
        form: The format, or None for the one that the file's name asks for.
        output: The file, or None.
        others: Formats that only this command has.

    Raises:
        InputError: If the name ends as no format of the command does, or a PDF has no file.
    """
    known = [*Format, *others]
    if form is None and output is not None:
        _check_ending(output, known)
    wanted = chosen(form, output, known)
    if wanted == Format.pdf and output is None:
        raise InputError("--format pdf goes into a file; give -o FILE.pdf")
    return wanted


def _check_ending(output: Path, known: Iterable[str]) -> None:
    """Refuse a file whose ending promises what a command does not write."""
    ending = output.suffix.lower()
    endings = [".txt", *(e for e, name in _ENDINGS.items() if name in set(known))]
    if ending not in endings and ending in (*_ENDINGS, *_OTHERS):
        raise InputError(
            f"-o {output}: this command writes no {ending}; end the name in "
            f"{', '.join(endings)}, or give --format"
        )


def write_pdf(document: "Document", output: Path) -> None:
    """Make a PDF.

    Raises:
        InputError: If there is no LaTeX engine, or the file cannot be written.
        NoAnswerError: If the engine fails.
    """
    from symscale.pages.formats import latex
    from symscale.pages.formats.pdf import make_pdf

    data = make_pdf(latex.render(document))
    write_by(output, lambda temporary: temporary.write_bytes(data))


def leave_output() -> None:
    """Let nothing more be written to a standard output that takes nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_writable(path: Path, force: bool, option: str = "-o") -> None:
    """Refuse a path that is no ordinary file, or an existing file without --force.

    Raises:
        InputError: If the path cannot be used.
    """
    try:
        if path.is_dir():
            raise InputError(f"{option} {path}: it is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise InputError(f"{option} {path}: it is a device, not a file; name a file")
        if path.exists() and not force:
            raise InputError(f"{option} {path}: the file exists; use --force to replace it")
        above = next(folder for folder in (path.absolute()).parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"{option} {path}: {above} takes no files; name another folder")
    except OSError as error:
        raise _unusable(path, error, option) from error


def check_paths(paths: dict[str, Path | None], force: bool) -> None:
    """Refuse what cannot be written before any work is done.

    Raises:
        InputError: If a file cannot be written, or two options name the same.
    """
    given: dict[Path, str] = {}
    for option, path in paths.items():
        if path is not None:
            check_writable(path, force, option)
            other = given.setdefault(Path(os.path.realpath(path)), option)
            if other != option:
                raise InputError(f"{option} {path}: {other} names the same file; name another")
    plot = paths.get("--plot")
    if plot is not None:
        from symscale.pages.figures.drawing import check_format

        check_format(plot)


def write_whole(path: Path, text: str, option: str = "-o") -> None:
    """Write a text file completely or not at all.

    Raises:
        InputError: If the file cannot be written.
    """
    write_by(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), option)


def write_by(path: Path, write: Callable[[Path], object], option: str = "-o") -> None:
    """Let `write` make a temporary file beside `path`, then rename it.

    A link stays, and a file that is replaced keeps its permissions. Missing folders are
    made, and removed again if the file cannot be written.

    Raises:
        InputError: If the file cannot be written.
    """
    made: list[Path] = []
    try:
        target = Path(os.path.realpath(path))
        made = [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:50]}.", suffix=target.suffix[:10]
        )
        os.close(handle)
        try:
            write(Path(name))
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except BaseException as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError | ValueError):
            raise _unusable(path, error, option) from error
        raise


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far the exact solver is; see `progress_text`."""
    with progress_text(what) as show:
        yield lambda done, held: show(f"{done} rows done, {held} rays held")


@contextmanager
def progress_text(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr how far a long computation is; nothing elsewhere.

    The line appears after two seconds, and is wiped at the end.
    """
    start = time.monotonic()
    shown = False

    def report(how_far: str) -> None:
        nonlocal shown
        if _on_terminal() and time.monotonic() - start > _PATIENCE_S:
            shown = True
            sys.stderr.write(f"\r{what}: {how_far} ")
            sys.stderr.flush()

    try:
        yield report
    finally:
        if shown:
            _wipe()


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr what a long command is at; nothing elsewhere.

    The line appears after two seconds, and is wiped at the end.
    """
    start = time.monotonic()
    longest = 0

    def say(text: str) -> None:
        nonlocal longest
        elapsed = time.monotonic() - start
        if _on_terminal() and elapsed > _PATIENCE_S:
            line = f"{elapsed:.0f} s: {text}"[:78]
            longest = max(longest, len(line))
            sys.stderr.write(f"\r{line:<{longest}}")
            sys.stderr.flush()

    try:
        yield say
    finally:
        if longest:
            sys.stderr.write("\r" + " " * longest + "\r")
            sys.stderr.flush()


@contextmanager
def waiting_line(what: str) -> Iterator[None]:
    """Say on a terminal's stderr what a long computation is; nothing elsewhere.

    For computations that cannot tell how far they are. The line appears after two
    seconds, and is wiped at the end.
    """
    shown = threading.Event()

    def show() -> None:
        shown.set()
        sys.stderr.write(f"\r{what} ... ")
        sys.stderr.flush()

    timer = threading.Timer(_PATIENCE_S, show)
    timer.daemon = True
    if _on_terminal():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()
        if shown.is_set():
            _wipe()


def _on_terminal() -> bool:
    """Whether somebody watches stderr, which may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def _wipe() -> None:
    """Clear the line on the terminal's stderr."""
    sys.stderr.write("\r" + " " * 60 + "\r")
    sys.stderr.flush()


def _unusable(path: Path, error: Exception, option: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{option} {path}: {reason}; name another file")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
