"""Command `hardware`."""

from typing import Annotated

import typer

from symscale.cli.options.shared import ForceOption, FormatOption, OutputOption
from symscale.cli.output.emit import emit


def hardware(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE.toml]", help="A preset, or a TOML file to read."),
    ] = None,
    generations: Annotated[
        bool,
        typer.Option(
            "--generations", help="Compare devices by vendor and year: FLOP for each byte of "
            "their links, and its growth. With a file, that machine among them.",
        ),
    ] = False,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """List machines, or every figure of one with unit, condition and source."""
    from symscale.facts.machines.lumped import load_machine, machine_names
    from symscale.pages.of import hardware as catalogue

    machine = None if name is None else load_machine(name)
    if generations:
        from symscale.facts.machines import generations as table
        from symscale.pages.of.generations import generations_data, generations_document

        found = table.generations(machine)
        emit(
            form,
            lambda: generations_document(found),
            lambda: generations_data(found),
            output,
            force,
        )
        return
    if machine is None:
        machines = [load_machine(n) for n in machine_names()]
        emit(
            form,
            lambda: catalogue.machines_document(machines),
            lambda: catalogue.machines_data(machines),
            output,
            force,
        )
        return
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
