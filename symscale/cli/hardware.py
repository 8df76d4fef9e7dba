"""Command `hardware`."""

from typing import Annotated

import typer

from symscale.cli.options import ForceOption, FormatOption, OutputOption
from symscale.cli.output import Format, emit


def hardware(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE.toml]", help="A preset, or a TOML file to read."),
    ] = None,
    form: FormatOption = Format.text,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """List machines, or every figure of one with unit, condition and source."""
    from symscale.machine import load_machine, machine_names
    from symscale.render import catalogue

    if name is None:
        machines = [load_machine(n) for n in machine_names()]
        emit(
            form,
            lambda: catalogue.machines_document(machines),
            lambda: catalogue.machines_data(machines),
            output,
            force,
        )
        return
    machine = load_machine(name)
    emit(
        form,
        lambda: catalogue.machine_document(machine),
        lambda: catalogue.machine_data(machine),
        output,
        force,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(hardware)
