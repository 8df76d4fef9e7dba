"""Command `derive`."""

from typing import Annotated

import typer

from symscale.cli.output.output import EVERY, Output, Writes, emit
from symscale.cli.output.progress import waiting_line


def derive(
    name: Annotated[str, typer.Argument(help="A derivation (list: symscale derivations).")],
    output: Annotated[Output, Writes(
        EVERY, fragment=True, bibliography=True, certificate=True,
        unchecked="Check no step, and do not ask the kernel; the derivation says so.",
    )],
) -> None:
    """Print a worked derivation, each of its steps checked on the way."""
    from symscale.derivation.checks import CheckedDerivation, checked
    from symscale.derivation.library import load_derivation

    doing = "" if output.unchecked else " and checking each step"
    with waiting_line(f"deriving {name[:30]}{doing}"):
        derivation = load_derivation(name)
        found = CheckedDerivation(derivation, ()) if output.unchecked else checked(derivation)
    emit(found, output)
