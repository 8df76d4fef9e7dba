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
            WITH_CODE, certificate=True, fragment=True,
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
    settings = study.settings()
    from symscale.studies.training.answer import full_training_limits, training_limits

    ask = full_training_limits if full else training_limits
    emit(ask(study.hardware, level=study.level, settings=settings), output)
