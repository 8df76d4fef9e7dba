"""Command `symbols`."""

import typer

from symscale.cli.options import ForceOption, FormatOption, FragmentOption, OutputOption
from symscale.cli.output import emit


def symbols(
    form: FormatOption = None,
    output: OutputOption = None,
    fragment: FragmentOption = False,
    force: ForceOption = False,
) -> None:
    """The notation: every symbol with unit and meaning."""
    from symscale.render import catalogue

    emit(
        form, catalogue.symbols_document, catalogue.symbols_data, output, force,
        fragment="notation" if fragment else None,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(symbols)
