"""Command `models`."""

from typing import Annotated

from symscale.cli.output.output import Output, Writes, emit


def models(output: Annotated[Output, Writes()]) -> None:
    """List the models that ship with symscale."""
    from symscale.facts.models.zoo import model_names
    from symscale.pages.of.models import Models

    emit(Models(model_names()), output)
