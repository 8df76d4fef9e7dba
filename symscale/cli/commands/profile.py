"""Command `profile`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.plan import one_of
from symscale.cli.options.shared import ForceOption, FormatOption
from symscale.cli.output.emit import check_writable, emit, status_line, write_whole
from symscale.errors import InputError


def profile(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", help="Write the measurements."),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="How long to measure.")
    ] = "60s",
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", help="Threads. Default: one for each core."),
    ] = None,
    library: Annotated[
        str | None,
        typer.Option(
            "--library", metavar="numpy|torch", help="What runs the operators. Default: PyTorch "
            "if it is installed, else NumPy.",
        ),
    ] = None,
    clock: Annotated[
        str,
        typer.Option(
            "--clock", metavar="wall|cpu", help="On a machine shared with others cpu counts the "
            "time that the thread had; it needs --threads 1.",
        ),
    ] = "wall",
    no_collectives: Annotated[
        bool, typer.Option("--no-collectives", help="Measure no collectives over processes.")
    ] = False,
    form: FormatOption = None,
    force: ForceOption = False,
) -> None:
    """Measure operators on this machine: products, norms, collectives over processes.

    Ctrl-C ends it and keeps what was measured.
    """
    from symscale.measure.operators.profiling import CLOCKS, LIBRARIES, cores, library_of
    from symscale.measure.operators.profiling import profile as measure
    from symscale.measure.operators.workload import Settings
    from symscale.measure.readers.json_files import measurements_data
    from symscale.pages.formats.json import dump
    from symscale.pages.of.profile import profile_document

    if output is not None:
        if output.suffix.lower() != ".json":
            raise InputError(f"-o {output}: measurements go into a file that ends in .json")
        check_writable(output, force)
    one_of("--clock", clock, CLOCKS)
    if library is not None:
        one_of("--library", library, LIBRARIES)
    settings = Settings(
        library_of(library), cores() if threads is None else threads, _seconds(budget), clock
    )
    with status_line() as say:
        found = measure(settings, not no_collectives, say)
    if not found.measurements:
        typer.echo("symscale: interrupted before the first measurement", err=True)
        raise typer.Exit(130)
    data = measurements_data(found.measurements, found.machine)
    if found.interrupted:
        data["interrupted"] = True
    if output is not None:
        write_whole(output, dump(data))
    emit(form, lambda: profile_document(found), lambda: data)
    if found.interrupted:
        kept = len(found.measurements)
        typer.echo(f"symscale: interrupted; {kept} measurements are kept", err=True)
        raise typer.Exit(130)


def _seconds(text: str) -> float:
    from symscale.errors import SymscaleError
    from symscale.language.units import parse_quantity, parse_unit
    from symscale.measure.operators.profiling import LEAST_BUDGET_S, MOST_BUDGET_S

    try:
        quantity = parse_quantity(text)
        if quantity.unit is None:
            raise InputError("it has no unit; write 60s, say")
        seconds = float(quantity.to(parse_unit("s")))
    except SymscaleError as error:
        raise error.with_context(f"--budget {text[:40]}") from None
    if not LEAST_BUDGET_S <= seconds <= MOST_BUDGET_S:
        raise InputError(f"--budget {text[:40]}: give 1s to 1h")
    return seconds


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(profile)
