"""Command `explore`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.study import LevelOption
from symscale.cli.output.progress import waiting_line
from symscale.errors import InputError, unknown_name
from symscale.pages.files import check_writable, write_whole


def explore(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="training-limits or edge-and-slack.")
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
    if name not in explorer_titles():
        raise unknown_name("explorer", name, explorer_titles())
    if output is None:
        raise InputError("name the file: -o FILE.html; a browser opens it")
    check_writable(output, force)
    from symscale.pages.of.explore import explorer_page

    with waiting_line(f"solving {name[:30]}"):
        text = explorer_page(load_explorer(name, hardware, level))
    write_whole(output, text)
