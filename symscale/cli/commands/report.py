"""Command `report`."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.output.aside import aside
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError, SymscaleError

MOST_NAMES = 12
OWN_FIGURES = 1
"""How many figures are drawn here, the others by a second process: both take as long then."""


def report(
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="Where to write; made if missing."),
    ],
    hardware: Annotated[
        str,
        typer.Option("--hardware", metavar="NAME,NAME", help="Machines: presets or TOML files."),
    ] = "h100-sxm",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME,NAME", help="Transformers: names or files."),
    ] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf/--no-pdf", help="Whether to make the PDF, if LaTeX is installed.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that is not empty.")
    ] = False,
) -> None:
    """One document on machines and models, with its figures, data and sources.

    Writes report.tex, report.pdf, report.html, report.md, references.bib, the figures as PDF
    and SVG, and the numbers as JSON in data/.
    """
    _check_folder(folder, force)
    machines, models = _names("--hardware", hardware), _names("--model", model or "")
    if not machines:
        raise InputError("--hardware: name at least one machine")
    with progress_text("report") as show:
        note = _write(folder, lambda place: _fill(place, machines, models, pdf, show))
    for line in note:
        typer.echo(f"symscale: {line}", err=True)


def _names(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) > MOST_NAMES:
        raise InputError(f"{option}: {len(names)} names are too many; at most {MOST_NAMES}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{option}: {twice[0]} is named twice; name it once")
    return names


def _check_folder(folder: Path, force: bool) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"-o {folder}: it is a file; name a folder")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise InputError(f"-o {folder}: the folder is not empty; use --force to write into it")
    except OSError as error:
        raise InputError(f"-o {folder}: {error.strerror}; name another folder") from error


def _fill(
    place: Path, machines: Sequence[str], models: Sequence[str], pdf: bool,
    show: Callable[[str], object],
) -> list[str]:
    """Write everything into a folder; return what had to be left out."""
    # Half of the time and more goes into figures, which need nothing of the rest.
    with aside(_draw, machines, bool(models), place) as drawn:
        from symscale.pages.figures.of_report import draw_figures
        from symscale.pages.formats import html, latex, markdown
        from symscale.pages.formats.json import dump
        from symscale.pages.of.report import make_report

        made = make_report(machines, models, show)
        tex = latex.render(made.document)
        (place / "report.tex").write_text(tex, encoding="utf-8")
        (place / "report.md").write_text(markdown.render(made.document), encoding="utf-8")
        (place / "references.bib").write_text(made.bibliography, encoding="utf-8")
        (place / "data").mkdir()
        for name, data in made.data.items():
            (place / "data" / name).write_text(dump(data), encoding="utf-8")
        show("figures")
        draw_figures(made.figures[:OWN_FIGURES], place)
        drawn()
    drawings = {d.name: (place / f"{d.name}.svg").read_bytes() for d in made.figures}
    (place / "report.html").write_text(html.render(made.document, drawings), encoding="utf-8")
    if not pdf:
        return []
    from symscale.pages.formats.pdf import make_pdf

    show("PDF")
    try:
        figures = [place / f"{d.name}.pdf" for d in made.figures]
        (place / "report.pdf").write_bytes(make_pdf(tex, figures))
    except SymscaleError as error:
        return [f"report.pdf is left out: {error}"]
    return []


def _draw(machines: Sequence[str], with_models: bool, place: Path) -> None:
    from symscale.pages.figures.of_report import draw_figures, report_figures

    draw_figures(report_figures(machines, with_models)[OWN_FIGURES:], place)


def _write(folder: Path, fill: Callable[[Path], list[str]]) -> list[str]:
    """Let `fill` write into a temporary folder beside the wanted one, then move its files."""
    made: list[Path] = []
    try:
        target = Path(os.path.realpath(folder))
        made = [p for p in target.parents if not p.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:50]}."))
        try:
            notes = fill(temporary)
            _move(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except BaseException as error:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise InputError(f"-o {folder}: {error.strerror}; name another folder") from error
        raise
    return notes


def _move(source: Path, target: Path) -> None:
    if not target.exists():
        source.chmod(0o755)
        source.rename(target)
        return
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if place.exists() and place.is_dir() != path.is_dir():
            kind = "a folder" if place.is_dir() else "a file"
            raise InputError(f"-o {target}: {place.name} in it is {kind}; move it away")
    for path in sorted(source.rglob("*")):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
