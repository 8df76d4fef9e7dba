"""Commands `derive` and `derivations`."""

from typing import Annotated

import typer

from symscale.cli.options import ForceOption, FormatOption, OutputOption
from symscale.cli.output import emit, waiting_line


def derive(
    name: Annotated[str, typer.Argument(help="A derivation (list: symscale derivations).")],
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print a worked derivation, each of its steps checked on the way."""
    from symscale.checks import check_derivation
    from symscale.library import load_derivation
    from symscale.render.derivations import derivation_data, derivation_document

    with waiting_line(f"deriving {name[:30]} and checking each step"):
        derivation = load_derivation(name)
        checks = check_derivation(derivation)
    emit(
        form,
        lambda: derivation_document(derivation, checks),
        lambda: derivation_data(derivation, checks),
        output,
        force,
    )


def derivations(
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """List the worked derivations."""
    from symscale.library import derivation_titles
    from symscale.render.derivations import titles_data, titles_document

    titles = derivation_titles()
    emit(form, lambda: titles_document(titles), lambda: titles_data(titles), output, force)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(derive)
    app.command()(derivations)
