"""Command `solve`."""

from typing import TYPE_CHECKING, Annotated

import typer

from symscale.cli.options.study import SetOption
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import progress_line
from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.problems.answer import ProblemAnswer
    from symscale.problems.sweep import SweptAnswer


def solve(
    file: Annotated[str, typer.Argument(metavar="PROBLEM.toml", help="The problem.")],
    output: Annotated[
        Output,
        Writes(
            certificate="Write the proof, for `symscale check`.",
            plot="Draw the sweep: one parameter a curve, two a map of regions. FILE ends in "
            ".pdf, .svg or .png.",
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
) -> None:
    """Solve a problem of your own, written as TOML: see docs/problems.md."""
    if output.plot is not None and not sweeps:
        raise InputError("--plot needs a range; give one by --sweep NAME=LOW..HIGH")
    if output.plot is None and len(sweeps or []) > 1:
        raise InputError(
            "two --sweep ranges make a map; say where to draw it by --plot FILE.pdf"
        )
    from symscale.problems.answer import answer
    from symscale.problems.file import load_problem, read_problem_settings

    problem = load_problem(file)
    settings = read_problem_settings(problem, sets or [])
    with progress_line("solving") as progress:
        found = answer(problem, settings, progress)
    emit(_swept(found, sweeps) if sweeps else found, output)


def _swept(found: "ProblemAnswer", sweeps: list[str]) -> "SweptAnswer":
    from symscale.problems.sweep import read_axis, swept

    if len(sweeps) > 2:
        raise InputError("--sweep: give two ranges at most")
    axes = [read_axis(text, found.problem) for text in sweeps]
    if len({a.symbol for a in axes}) < len(axes):
        raise InputError("--sweep: give two different parameters")
    return swept(found, axes)
