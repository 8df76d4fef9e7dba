"""Command `profile`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.plan import one_of
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import status_line
from symscale.errors import InputError
from symscale.language.amounts import amount
from symscale.pages.files import check_writable, write_whole


def profile(
    output: Annotated[Output, Writes(path=False)],
    path: Annotated[
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
) -> None:
    """Measure operators on this machine: products, norms, collectives over processes.

    Ctrl-C ends it and keeps what was measured.
    """
    from symscale.measure.operators.profiling import CLOCKS, LIBRARIES, cores, library_of
    from symscale.measure.operators.profiling import profile as measure
    from symscale.measure.operators.workload import Settings
    from symscale.pages.formats.json import dump
    from symscale.pages.of.profile import profile_data

    if path is not None:
        if path.suffix.lower() != ".json":
            raise InputError(f"-o {path}: measurements go into a file that ends in .json")
        check_writable(path, output.force)
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
    if path is not None:
        write_whole(path, dump(profile_data(found)))
    emit(found, output)
    if found.interrupted:
        kept = len(found.measurements)
        typer.echo(f"symscale: interrupted; {kept} measurements are kept", err=True)
        raise typer.Exit(130)


def _seconds(text: str) -> float:
    from symscale.measure.operators.profiling import LEAST_BUDGET_S, MOST_BUDGET_S

    seconds = float(amount("--budget", text, "s", "60s"))
    if not LEAST_BUDGET_S <= seconds <= MOST_BUDGET_S:
        raise InputError(f"--budget {text[:40]}: give 1s to 1h")
    return seconds
