"""Certificates written by commands."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import symscale
from symscale.cli.output.emit import check_writable, write_whole

if TYPE_CHECKING:
    from symscale.kernel.certificate import Certificate


def check_certificate_path(path: Path | None, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done.

    Raises:
        InputError: If it cannot.
    """
    if path is not None:
        check_writable(path, force, "--certificate")


def write_certificates(
    path: Path | None, title: str, make: "Callable[[], Sequence[Certificate]]", force: bool
) -> None:
    """Write certificates as JSON, if a path is given.

    Raises:
        InputError: If the file cannot be written.
    """
    if path is None:
        return
    from symscale.pages.formats.json import dump
    from symscale.problems.certificate_file import certificates_data

    check_certificate_path(path, force)
    write_whole(path, dump(certificates_data(title, make(), symscale.__version__)), "--certificate")
