"""Command `cliffs`."""

from typing import Annotated

from symscale.cli.options.study import StudyOptions
from symscale.cli.output.output import WITH_CODE, Output, Writes, emit


def cliffs(
    study: StudyOptions,
    output: Annotated[
        Output,
        Writes(
            WITH_CODE, certificate=True, unchecked=True, fragment=True,
            plot="Draw utilization against compute, cliffs marked; .pdf, .svg or .png.",
        ),
    ],
) -> None:
    """Utilization as a function of training compute: its pieces, and where they meet.

    Set T (--set T=1e29) for the utilization of one run.
    """
    from symscale.questions import training

    found = training.cliffs(
        study.hardware, set=study.sets or (), level=study.level, duration=study.duration
    )
    emit(found, output)
