"""Command `limits`."""

from typing import Annotated

import typer

from symscale.cli.options.study import StudyOptions
from symscale.cli.output.output import WITH_CODE, Output, Writes, emit


def limits(
    study: StudyOptions,
    output: Annotated[
        Output,
        Writes(
            WITH_CODE, certificate=True, unchecked=True, fragment=True,
            plot="Draw the limits against alpha; .pdf, .svg or .png.",
        ),
    ],
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Let every parallel degree be a variable within natural bounds."
        ),
    ] = False,
) -> None:
    """Largest training run at full utilization: pieces, regions, elasticities, proofs."""
    from symscale.questions import training

    found = training.limits(
        study.hardware, set=study.sets or (), level=study.level, duration=study.duration, full=full
    )
    emit(found, output)
