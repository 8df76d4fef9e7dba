"""Command `derive`."""

from typing import Annotated

import typer

from symscale.cli.output.output import EVERY, Output, Writes, emit
from symscale.cli.output.progress import waiting_line


def derive(
    name: Annotated[str, typer.Argument(help="A derivation (list: symscale derivations).")],
    output: Annotated[Output, Writes(EVERY, fragment=True, bibliography=True)],
) -> None:
    """Print a worked derivation, each of its steps checked on the way."""
    from symscale.derivation.checks import checked
    from symscale.derivation.library import load_derivation

    with waiting_line(f"deriving {name[:30]} and checking each step"):
        found = checked(load_derivation(name))
    emit(found, output)
