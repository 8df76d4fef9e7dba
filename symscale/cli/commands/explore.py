"""Command `explore`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.study import LevelOption, SetOption
from symscale.cli.output.progress import waiting_line
from symscale.errors import InputError, unknown_name
from symscale.pages.files import check_writable, write_whole


def explore(
    name: Annotated[
        str | None, typer.Argument(
            metavar="NAME|FILE.toml",
            help="training-limits, edge-and-slack, or a problem of your own.",
        ),
    ] = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml",
            help="Where the parameters start: a preset (list: symscale hardware) or a TOML file. "
            "Default: h100-sxm.",
        ),
    ] = None,
    level: LevelOption = None,
    sets: SetOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Write this file.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
) -> None:
    """Write a page with formulas, sliders and plots that opens in a browser, offline."""
    from symscale.studies.explorers.all import explorer_titles, load_explorer

    if name is None:
        listed = "; ".join(f"{n} ({title})" for n, title in explorer_titles().items())
        raise InputError(f"name what to explore: {listed}")
    own = name.endswith(".toml")
    if own and (hardware is not None or level is not None):
        raise InputError("--hardware and --level are of the explorers of studies, not of a file")
    if not own and sets:
        raise InputError("--set is of a problem of your own: FILE.toml")
    if not own and name not in explorer_titles():
        raise unknown_name("explorer", name, explorer_titles())
    if output is None:
        raise InputError("name the file: -o FILE.html; a browser opens it")
    check_writable(output, force)
    from symscale.pages.of.explore import explorer_page

    with waiting_line(f"solving {name[:30]}"):
        text = _own(name, sets) if own else explorer_page(load_explorer(name, hardware, level))
    write_whole(output, text)


def _own(file: str, sets: Sequence[str] | None) -> str:
    """The page of a problem of one's own."""
    from symscale.pages.of.explore_own import own_explorer_page
    from symscale.problems.answer import ProblemAnswer
    from symscale.problems.enclosed import solved_or_enclosed
    from symscale.problems.file import load_problem
    from symscale.problems.settings import read_problem_settings

    problem = load_problem(file)
    found = solved_or_enclosed(problem, read_problem_settings(problem, sets or ()))
    if not isinstance(found, ProblemAnswer):
        raise InputError(
            "this problem is several geometric programs; give the numbers by --set that tell "
            "which, or write one of them"
        )
    return own_explorer_page(found)
