"""Command `check`."""

from typing import Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit


def check(
    file: Annotated[str, typer.Argument(metavar="CERTIFICATE.json", help="The certificate.")],
    output: Annotated[Output, Writes()],
) -> None:
    """Verify certificates with exact arithmetic; exit code 1 if one does not hold."""
    from symscale.problems.certificate_file import judge_file

    title, verdicts = judge_file(file)  # first, for what prints it loads SymPy
    from symscale.pages.of.check import CheckedCertificates

    found = CheckedCertificates(title, verdicts)
    emit(found, output)
    found.require_all()
