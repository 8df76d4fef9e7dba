"""Commands `limits` and `cliffs`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.shared import (
    CodeFormatOption,
    DurationOption,
    ForceOption,
    FragmentOption,
    HardwareOption,
    LevelOption,
    OutputOption,
    SetOption,
    settings_of,
)
from symscale.cli.output.certificates import check_certificate_path, write_certificates
from symscale.cli.output.emit import CODES, check_emitted, check_writable, emit, write_by

CertificateOption = Annotated[
    Path | None,
    typer.Option(
        "--certificate", metavar="FILE.json", help="Write the proof of every piece, for "
        "`symscale check`.",
    ),
]
FullOption = Annotated[
    bool,
    typer.Option("--full", help="Let every parallel degree be a variable within natural bounds."),
]


def limits(
    hardware: HardwareOption = None,
    level: LevelOption = None,
    sets: SetOption = None,
    duration: DurationOption = None,
    full: FullOption = False,
    form: CodeFormatOption = None,
    output: OutputOption = None,
    certificate: CertificateOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the limits against alpha; .pdf, .svg "
                     "or .png."),
    ] = None,
    fragment: FragmentOption = False,
    force: ForceOption = False,
) -> None:
    """Largest training run at full utilization: pieces, regions, elasticities, proofs."""
    check_certificate_path(certificate, force)
    check_emitted(form, output, CODES)
    settings = settings_of(sets, duration)
    from symscale.pages.of.functions import answer_code
    from symscale.pages.of.limits import limits_document
    from symscale.pages.of.limits_data import limits_data
    from symscale.studies.training.answer import full_training_limits, training_limits

    ask = full_training_limits if full else training_limits
    answer = ask(hardware, level=level, settings=settings)
    answer.check()
    write_certificates(certificate, answer.program.title, answer.certificates, force)
    if plot is not None:
        from symscale.pages.figures.alpha import alpha_plot

        _draw(plot, force, lambda path: alpha_plot([answer], path))
    emit(
        form, lambda: limits_document(answer), lambda: limits_data(answer), output, force,
        others=answer_code(answer), fragment="limits" if fragment else None,
    )


def cliffs(
    hardware: HardwareOption = None,
    level: LevelOption = None,
    sets: SetOption = None,
    duration: DurationOption = None,
    form: CodeFormatOption = None,
    output: OutputOption = None,
    certificate: CertificateOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw utilization against compute, cliffs "
                     "marked; .pdf, .svg or .png."),
    ] = None,
    fragment: FragmentOption = False,
    force: ForceOption = False,
) -> None:
    """Utilization as a function of training compute: its pieces, and where they meet.

    Set T (--set T=1e29) for the utilization of one run.
    """
    check_certificate_path(certificate, force)
    check_emitted(form, output, CODES)
    settings = settings_of(sets, duration)
    from symscale.pages.of.functions import answer_code
    from symscale.pages.of.limits import cliffs_document
    from symscale.pages.of.limits_data import cliffs_data
    from symscale.studies.training.answer import cliffs as ask

    answer = ask(hardware, level=level, settings=settings)
    answer.check()
    write_certificates(certificate, answer.program.title, answer.certificates, force)
    if plot is not None:
        from symscale.pages.figures.cliffs import cliffs_plot

        _draw(plot, force, lambda path: cliffs_plot([answer], path))
    emit(
        form, lambda: cliffs_document(answer), lambda: cliffs_data(answer), output, force,
        others=answer_code(answer), fragment="cliffs" if fragment else None,
    )


def _draw(plot: Path, force: bool, draw: Callable[[Path], None]) -> None:
    from symscale.pages.figures.drawing import check_format

    check_writable(plot, force, "--plot")
    check_format(plot)
    write_by(plot, draw, "--plot")


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(limits)
    app.command()(cliffs)
