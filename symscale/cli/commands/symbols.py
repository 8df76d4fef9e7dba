"""Command `symbols`."""

from typing import Annotated

from symscale.cli.output.output import Output, Writes, emit


def symbols(output: Annotated[Output, Writes(fragment=True)]) -> None:
    """The notation: every symbol with unit and meaning."""
    from symscale.pages.of.symbols import Symbols

    emit(Symbols(), output)
