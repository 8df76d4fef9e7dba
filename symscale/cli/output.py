"""Where answers go: to standard output, or whole into a file."""

import os
import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.render.document import Document


class Format(StrEnum):
    """Formats that every command which answers can print."""

    text = "text"
    json = "json"
    latex = "latex"
    markdown = "markdown"


def emit(
    form: Format,
    document: "Callable[[], Document]",
    data: Callable[[], dict[str, Any]],
    output: Path | None = None,
    force: bool = False,
) -> None:
    """Print an answer in a format, to standard output or into a file.

    Args:
        form: The format.
        document: Makes the document, for all formats but JSON.
        data: Makes the data, for JSON.
        output: The file, or None.
        force: Whether an existing file may be replaced.
    """
    if output is not None:
        check_writable(output, force)
    if form is Format.json:
        from symscale.render.data import dump

        text = dump(data())
    else:
        from symscale.render import latex, markdown
        from symscale.render import text as plain

        renderers: dict[Format, Callable[[Document], str]] = {
            Format.text: plain.render,
            Format.latex: latex.render,
            Format.markdown: markdown.render,
        }
        text = renderers[form](document())
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)


def check_writable(path: Path, force: bool) -> None:
    """Refuse a path that is a folder, or an existing file without --force.

    Raises:
        InputError: If the path cannot be used.
    """
    if path.is_dir():
        raise InputError(f"-o {path}: it is a folder; name a file in it")
    if path.exists() and not force:
        raise InputError(f"-o {path}: the file exists; use --force to replace it")


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all: to a temporary one beside it, then renamed.

    Raises:
        InputError: If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"-o {path}: {reason}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
