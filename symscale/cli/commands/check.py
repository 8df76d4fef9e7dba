"""Command `check`."""

from typing import Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit


def check(
    file: Annotated[str, typer.Argument(metavar="CERTIFICATE.json", help="The certificate.")],
    output: Annotated[Output, Writes()],
) -> None:
    """Verify certificates with exact arithmetic; exit code 1 if one does not hold."""
    from symscale.pages.of.check import checked_certificates
    from symscale.problems.certificate_file import load_certificates

    found = checked_certificates(*load_certificates(file))
    emit(found, output)
    found.require_all()
