"""Command `solve`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.study import SetOption
from symscale.cli.output.output import EVERY, Output, Writes, emit
from symscale.cli.output.progress import progress_line, progress_text
from symscale.errors import InputError


def solve(
    file: Annotated[str, typer.Argument(metavar="PROBLEM.toml", help="The problem.")],
    output: Annotated[
        Output,
        Writes(
            EVERY, fragment=True, bibliography=True,
            certificate="Write the proof, for `symscale check`.",
            unchecked=True,
            plot="Draw the sweep, one parameter a curve, two a map of regions; or without one the "
            "optimum against the number that decides it. FILE ends in .pdf, .svg or .png.",
        ),
    ],
    sets: SetOption = None,
    sweeps: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep", metavar="NAME=LOW..HIGH",
            help="Let a parameter run over a range: which piece rules where. Twice for two.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            "--within", metavar="SHARE",
            help="Cover a box of the parameters by products of powers of which the best is "
            "within SHARE of the optimum: 5% or 0.05.",
        ),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            "--box", metavar="FACTOR",
            help="The box of --within: each parameter from its value / FACTOR to its value * "
            "FACTOR. Without it: between its own lower and upper.",
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(
            "--digits", metavar="N",
            help="Show the local law, whatever else is known, its shares with denominators up "
            "to 10^N, N = 1 to 3. Default: 1, where no closed form rules.",
        ),
    ] = None,
) -> None:
    """Solve a problem of your own, written as TOML: see docs/problems.md."""
    if output.plot is None and len(sweeps or []) > 1:
        raise InputError(
            "two --sweep ranges make a map; say where to draw it by --plot FILE.pdf"
        )
    from symscale.questions import own

    with progress_line("solving") as progress, progress_text("covering") as covering:
        found = own.solve(
            Path(file), set=sets or (), sweep=sweeps or (), within=within, box=box,
            digits=digits, progress=progress, covering=covering,
        )
    emit(found, output)
