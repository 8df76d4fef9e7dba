"""Commands `derive` and `derivations`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.shared import (
    DeriveFormatOption,
    ForceOption,
    FormatOption,
    FragmentOption,
    OutputOption,
)
from symscale.cli.output.emit import (
    CODES,
    check_emitted,
    check_paths,
    emit,
    waiting_line,
    write_whole,
)


def derive(
    name: Annotated[str, typer.Argument(help="A derivation (list: symscale derivations).")],
    form: DeriveFormatOption = None,
    output: OutputOption = None,
    fragment: FragmentOption = False,
    bibliography: Annotated[
        Path | None,
        typer.Option("--bibliography", metavar="FILE.bib", help="Write BibTeX entries of the "
                     "sources that it cites."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Print a worked derivation, each of its steps checked on the way."""
    from symscale.derivation.checks import check_derivation
    from symscale.derivation.library import load_derivation
    from symscale.pages.formats import html
    from symscale.pages.of.derive import derivation_data, derivation_document
    from symscale.pages.of.functions import code_formats, derivation_functions

    check_paths({"-o": output, "--bibliography": bibliography}, force)
    check_emitted(form, output, ("html", *CODES))
    with waiting_line(f"deriving {name[:30]} and checking each step"):
        derivation = load_derivation(name)
        checks = check_derivation(derivation)
    if bibliography is not None:
        from symscale.pages.formats.bibtex import bibtex
        from symscale.pages.formats.fragment import cited_keys

        keys = [key for key in cited_keys(derivation_document(derivation, checks)) if key]
        write_whole(bibliography, bibtex(keys), "--bibliography")
    emit(
        form,
        lambda: derivation_document(derivation, checks),
        lambda: derivation_data(derivation, checks),
        output,
        force,
        others={
            "html": lambda: html.render(derivation_document(derivation, checks)),
            **code_formats(derivation.title, lambda: derivation_functions(derivation)),
        },
        fragment=name if fragment else None,
    )


def derivations(
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """List the worked derivations."""
    from symscale.derivation.library import derivation_titles
    from symscale.pages.of.derive import titles_data, titles_document

    titles = derivation_titles()
    emit(form, lambda: titles_document(titles), lambda: titles_data(titles), output, force)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(derive)
    app.command()(derivations)
