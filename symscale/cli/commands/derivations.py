"""Command `derivations`."""

from typing import Annotated

from symscale.cli.output.output import Output, Writes, emit


def derivations(output: Annotated[Output, Writes()]) -> None:
    """List the worked derivations."""
    from symscale.derivation.library import derivation_titles
    from symscale.pages.of.derivations import Derivations

    emit(Derivations(derivation_titles()), output)
