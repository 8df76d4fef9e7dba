"""The grid of future cases, which once had to be named."""

from typing import Annotated

import typer

from symscale.errors import unknown_name

_FUTURE = "future"

GridArgument = Annotated[str | None, typer.Argument(metavar="[future]", hidden=True)]
GridOption = Annotated[str | None, typer.Option("--sweep", metavar="future", hidden=True)]


def check_grid(name: str | None) -> None:
    """Accept the grid's name, which says nothing, with a warning, and no other.

    Raises:
        UnknownNameError: If it is another name.
    """
    if name is None:
        return
    if name != _FUTURE:
        raise unknown_name("grid", name, (_FUTURE,))
    typer.echo("symscale: warning: there is one grid; leave out future", err=True)
