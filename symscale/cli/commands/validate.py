"""Command `validate`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import waiting_line
from symscale.errors import InputError, printable
from symscale.pages.files import check_writable, write_whole

if TYPE_CHECKING:
    from symscale.pages.of.validate import OwnRuns

_DEVICE = "a100-sxm"


def validate(
    output: Annotated[
        Output,
        Writes(plot="Draw computed against published: FILE ends in .pdf, .svg or .png."),
    ],
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
            "--class", metavar="NAME|FILE.toml",
            help="A calibrated cluster class: a100, a100-jean-zay, a100-selene, h100, or a file "
            "that --calibrate wrote. Default: that of the column device, else a100.",
        ),
    ] = None,
    calibrate: Annotated[
        Path | None,
        typer.Option(
            "--calibrate", metavar="FILE.toml",
            help="Fit a class to your runs on --hardware (a100-sxm if not given), judge it on "
            "every second one, and write it.",
        ),
    ] = None,
) -> None:
    """Measured runs against computed ones: difference of each, mean, worst, bias, ranks."""
    if calibrate is not None:
        _check_calibrate(calibrate, output)
    if runs is None:
        if (hardware, name, calibrate) != (None, None, None):
            raise InputError(
                "--hardware, --class and --calibrate are for runs of your own; name their file, "
                "RUNS.csv"
            )
        from symscale.compare.published import memory_rows, run_sets
        from symscale.pages.of.validate import PublishedRuns

        emit(PublishedRuns(run_sets(), memory_rows()), output)
        return
    if calibrate is None:
        with waiting_line("validate"):
            own = _own(runs, hardware, name)
        _emit(own, output)
        return
    if name is not None:
        raise InputError("--calibrate fits a class and --class names one; give one of them")
    if calibrate.suffix.lower() != ".toml":
        raise InputError(f"--calibrate {calibrate}: name a file that ends in .toml")
    for option, given in (("RUNS.csv", runs), ("--hardware", hardware)):
        if given is not None and os.path.realpath(given) == os.path.realpath(calibrate):
            raise InputError(f"--calibrate {calibrate}: {option} is that file; name another")
    with waiting_line("validate: fitting"):
        own, text = _calibrated(runs, hardware, calibrate)
    _emit(own, output)
    write_whole(calibrate, text, "--calibrate")


def _emit(own: "OwnRuns", output: Output) -> None:
    emit(own, output)
    from symscale.measure.runs.runs import RENAMED

    old = [f"{name} is {RENAMED[name]}" for name in own.rows[0].run.old_columns]
    if old:
        typer.echo(f"symscale: warning: the column {', '.join(old)} now", err=True)


def _check_calibrate(path: Path, output: Output) -> None:
    check_writable(path, output.force, "--calibrate")
    for option, other in (("--plot", output.plot), ("-o", output.path)):
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            raise InputError(f"--calibrate {path}: {option} names the same file; name another")


def _own(file: str, hardware: str | None, name: str | None) -> "OwnRuns":


    if hardware is not None and name is not None:
        raise InputError("--hardware and --class both name rates; give one of them")
    from symscale.compare.measured import compare_each
    from symscale.measure.runs.classes import DEFAULT, class_of_hardware, load_class
    from symscale.measure.runs.runs import VOCABULARY, read_runs
    from symscale.pages.of.validate import OwnRuns

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
    return OwnRuns(printable(file, 160), tuple(rows), tuple(used), tuple(notes))


def _calibrated(file: str, hardware: str | None, target: Path) -> "tuple[OwnRuns, str]":
    """Fit a class; return the runs computed on it, and the text of its file."""
    from symscale.compare.measured import compare
    from symscale.facts.machines.lumped import load_machine
    from symscale.measure.runs.own_class import class_text, device_of, own_class, read_again
    from symscale.measure.runs.runs import VOCABULARY, read_runs
    from symscale.pages.of.validate import OwnRuns

    found = read_runs(file)
    machine = load_machine(hardware or _DEVICE)
    device = device_of(hardware or _DEVICE, machine, target)
    fitted = own_class(found, machine, printable(target.stem, 60), Path(file).name)
    text = class_text(fitted.cluster, device)
    read_again(text, target)
    rows = compare(found, fitted.cluster, fitted.seen)
    notes = []
    if any(run.vocabulary_assumed for run in found):
        notes.append(f"a vocabulary of {VOCABULARY}, where the file has no column vocab")
    if hardware is None:
        notes.append(f"{machine.title}, as --hardware is not given")
    own = OwnRuns(
        printable(file, 160), tuple(rows), (fitted.cluster,), tuple(notes), fitted.at_bound
    )
    return own, text
