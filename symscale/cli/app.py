"""The Typer application: its commands, and the one place where errors become exit codes."""

import io
import sys
from typing import Any

import typer
from typer.core import TyperGroup

import symscale
from symscale.cli.options.shared import OneOfEach
from symscale.cli.output.emit import leave_output
from symscale.errors import SymscaleError

_LONGEST_LINE = 1000
_UsageError: Any = typer.BadParameter.__base__  # Typer does not export it


class _Group(TyperGroup):
    """Turns errors into one line on stderr and their exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command that the arguments name, and exit."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # not every terminal knows every character
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except SymscaleError as error:
            _say(str(error))
            code = error.exit_code
        except _UsageError as error:
            command = error.ctx.command_path if error.ctx else self.name
            _say(f"{error.format_message().rstrip('.?')}; see {command} --help")
            code = error.exit_code
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader went away (`| head`): nothing is left to say, nor anyone to hear it.
            leave_output()
            raise typer.Exit(0) from None


def _say(text: str) -> None:
    """Print one line to stderr, whatever a user's text in it would do to a terminal."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > _LONGEST_LINE:
        line = line[: _LONGEST_LINE - 3] + "..."
    typer.echo(f"symscale: {line}", err=True)


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


from symscale.cli.commands import (  # noqa: E402  # they need `app`
    asymptotics,
    compare,
    cost,
    derive,
    explore,
    fit,
    hardware,
    limits,
    plan,
    profile,
    project,
    ratio,
    report,
    simulate,
    solve,
    symbols,
    validate,
)

limits.register(app)
derive.register(app)
explore.register(app)
hardware.register(app)
symbols.register(app)
solve.register(app)
cost.register(app)
ratio.register(app)
asymptotics.register(app)
simulate.register(app)
validate.register(app)
plan.register(app)
report.register(app)
compare.register(app)
fit.register(app)
profile.register(app)
project.register(app)

for command in app.registered_commands:
    command.cls = OneOfEach
