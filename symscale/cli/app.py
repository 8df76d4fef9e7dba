"""The Typer application: its commands, and the one place where errors become exit codes."""

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

import symscale
from symscale.errors import SymscaleError


class _Group(TyperGroup):
    """Turns errors into one line on stderr and their exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SymscaleError as error:
            line = " ".join(str(error).split())
            typer.echo(f"symscale: {line}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("symscale: interrupted", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader went away (`| head`): nothing is left to say, nor anyone to hear it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


app = typer.Typer(
    cls=_Group,
    name="symscale",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"symscale {symscale.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def symscale_command(
    ctx: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Closed-form limits of training at scale: derived, proved, and printed as LaTeX."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(2)


from symscale.cli import derive, hardware, limits, notation  # noqa: E402  # they need `app`

limits.register(app)
derive.register(app)
hardware.register(app)
notation.register(app)
