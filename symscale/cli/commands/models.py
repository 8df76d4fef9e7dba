"""Command `models`."""

from typing import Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit


def models(
    output: Annotated[Output, Writes()],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]", help="A model, a TOML file, or a Hugging Face config.json."
        ),
    ] = None,
) -> None:
    """List the models that ship with symscale, or the sizes of one."""
    from symscale.facts.models.zoo import load_model, model_names
    from symscale.pages.of.models import Models

    emit(Models(model_names()) if name is None else load_model(name), output)
