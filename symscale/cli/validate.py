"""Command `validate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symscale.cli.options import ForceOption, FormatOption, OutputOption
from symscale.cli.output import check_paths, emit, write_by
from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.render.validation import OwnRuns


def validate(
    runs: Annotated[
        str | None,
        typer.Argument(
            metavar="RUNS.csv", help="Your own runs, one a row: see docs/accuracy.md. "
            "Default: every published run that ships with symscale.",
        ),
    ] = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml",
            help="A machine whose rates are taken as they stand, such as symscale fit writes.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="NAME",
            help="A calibrated cluster class: a100, a100-jean-zay, a100-selene, h100. Default: "
            "that of the column device, else a100.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw computed against published: FILE ends in .pdf, "
            ".svg or .png.",
        ),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Measured runs against computed ones: difference of each, mean, worst, bias, ranks."""
    check_paths({"--plot": plot, "-o": output}, force)
    if runs is None:
        if hardware is not None or name is not None:
            raise InputError(
                "--hardware and --class are for runs of your own; name their file, RUNS.csv"
            )
        _published(plot, form, output, force)
        return
    own = _own(runs, hardware, name)
    from symscale.render.validation import own_data, own_document, parity_plot

    if plot is not None:
        write_by(plot, lambda p: parity_plot([(Path(own.file).name, own.rows)], p), "--plot")
    emit(form, lambda: own_document(own), lambda: own_data(own), output, force)


def _published(
    plot: Path | None, form: FormatOption, output: OutputOption, force: ForceOption
) -> None:
    from symscale.render.validation import parity_plot, published_data, published_document
    from symscale.validation.published import memory_rows, run_sets

    sets, memory = run_sets(), memory_rows()
    if plot is not None:
        groups = [(f"{s.name}, class {s.cluster.name}", s.rows) for s in sets if s.counted]
        write_by(plot, lambda p: parity_plot(groups, p), "--plot")
    emit(
        form, lambda: published_document(sets, memory), lambda: published_data(sets, memory),
        output, force,
    )


def _own(file: str, hardware: str | None, name: str | None) -> "OwnRuns":
    if hardware is not None and name is not None:
        raise InputError("--hardware and --class both name rates; give one of them")
    from symscale.render.validation import OwnRuns
    from symscale.validation.classes import DEFAULT, class_of_hardware, load_class
    from symscale.validation.comparison import compare_each
    from symscale.validation.runs import VOCABULARY, read_runs

    found = read_runs(file)
    cluster = None
    if hardware is not None:
        cluster = class_of_hardware(hardware)
    elif name is not None:
        cluster = load_class(name)
    rows = compare_each(found, cluster)
    notes = []
    if any(run.vocabulary_assumed for run in found):
        notes.append(f"a vocabulary of {VOCABULARY}, where the file has no column vocab")
    if cluster is None and not all(run.device for run in found):
        notes.append(f"class {DEFAULT}, where the file has no column device")
    used = [cluster] if cluster else [load_class(n) for n in dict.fromkeys(r.cluster for r in rows)]
    return OwnRuns(file, tuple(rows), tuple(used), tuple(notes))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(validate)
