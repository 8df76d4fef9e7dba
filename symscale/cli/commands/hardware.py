"""Command `hardware`."""

from typing import Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit


def hardware(
    output: Annotated[Output, Writes()],
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
) -> None:
    """List machines, or every figure of one with unit, condition and source."""
    from symscale.facts.machines.lumped import load_machine, machine_names

    machine = None if name is None else load_machine(name)
    if generations:
        from symscale.facts.machines import generations as table

        emit(table.Generations(table.generations(machine)), output)
    elif machine is not None:
        emit(machine, output)
    else:
        from symscale.pages.of.hardware import Machines

        emit(Machines(tuple(load_machine(n) for n in machine_names())), output)
