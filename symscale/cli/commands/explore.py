"""Command `explore`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.shared import ForceOption, LevelOption
from symscale.cli.output.emit import check_writable, waiting_line, write_whole
from symscale.errors import InputError

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="training-limits or edge-and-slack.")
]
PageOption = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Write this file.")
]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--hardware", metavar="NAME|FILE.toml",
        help="Where the parameters start: a preset (list: symscale hardware) or a TOML file. "
        "Default: h100-sxm.",
    ),
]


def explore(
    name: NameArgument = None,
    hardware: StartOption = None,
    level: LevelOption = None,
    output: PageOption = None,
    force: ForceOption = False,
) -> None:
    """Write a page with formulas, sliders and plots that opens in a browser, offline."""
    from symscale.studies.explorers.all import explorer_titles, load_explorer

    if name is None:
        listed = "; ".join(f"{n} ({title})" for n, title in explorer_titles().items())
        raise InputError(f"name what to explore: {listed}")
    if output is None:
        raise InputError("name the file: -o FILE.html; a browser opens it")
    check_writable(output, force)
    from symscale.pages.of.explore import explorer_page

    with waiting_line(f"solving {name[:30]}"):
        text = explorer_page(load_explorer(name, hardware, level))
    write_whole(output, text)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(explore)
