"""Command `symbols`."""

import typer

from symscale.cli.options.shared import ForceOption, FormatOption, FragmentOption, OutputOption
from symscale.cli.output.emit import Format, chosen, emit


def symbols(
    form: FormatOption = None,
    output: OutputOption = None,
    fragment: FragmentOption = False,
    force: ForceOption = False,
) -> None:
    """The notation: every symbol with unit and meaning."""
    from symscale.pages.of import hardware as catalogue

    # In plain text a symbol is its name.
    names = chosen(form, output) != Format.text
    emit(
        form, lambda: catalogue.symbols_document(names), catalogue.symbols_data, output, force,
        fragment="notation" if fragment else None,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(symbols)
