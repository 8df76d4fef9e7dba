"""The Typer application: its commands, and the one place where errors become exit codes."""

import io
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from symscale.cli.commands.asymptotics import asymptotics
from symscale.cli.commands.check import check
from symscale.cli.commands.cliffs import cliffs
from symscale.cli.commands.compare import compare
from symscale.cli.commands.cost import cost
from symscale.cli.commands.derivations import derivations
from symscale.cli.commands.derive import derive
from symscale.cli.commands.evaluate import evaluate
from symscale.cli.commands.explore import explore
from symscale.cli.commands.fit import fit
from symscale.cli.commands.hardware import hardware
from symscale.cli.commands.limits import limits
from symscale.cli.commands.models import models
from symscale.cli.commands.plan import plan
from symscale.cli.commands.plan_mlp import plan_mlp
from symscale.cli.commands.profile import profile
from symscale.cli.commands.project import project
from symscale.cli.commands.ratio import ratio
from symscale.cli.commands.report import report
from symscale.cli.commands.simulate import simulate
from symscale.cli.commands.solve import solve
from symscale.cli.commands.sweep import sweep
from symscale.cli.commands.symbols import symbols
from symscale.cli.commands.validate import validate
from symscale.cli.options.expand import expanded
from symscale.cli.options.renamed import renamed
from symscale.cli.output.output import leave_output
from symscale.errors import InputError, SymscaleError, in_one_line
from symscale.version import __version__

_LONGEST_LINE = 1000
_UsageError: Any = typer.BadParameter.__base__  # Typer does not export it


class OneOfEach(TyperCommand):
    """A command that refuses an option given twice, unless it may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments.

        Raises:
            InputError: If an option is given twice.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in given:
            single = isinstance(option, TyperOption) and not (option.is_flag or option.multiple)
            if single and given.count(option) > 1:
                raise InputError(f"{option.opts[-1]} is given twice; give it once")
        return super().parse_args(ctx, args)


class _Group(TyperGroup):
    """Turns errors into one line on stderr and their exit code."""

    old = ""

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
            said = error.format_message().rstrip(".?").replace(": Value error, ", ": ")
            _say(f"{said}; see {command} --help")
            code = error.exit_code
        if self.old and not code:
            _say(f"warning: {self.old}")
        sys.exit(code or 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, by an old name too."""
        args, self.old = renamed(args)
        return super().resolve_command(ctx, args)

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
    line = in_one_line(" ".join(text.split()))
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
        typer.echo(f"symscale {__version__}")
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


COMMANDS = (
    limits, cliffs, derive, derivations, explore, hardware, symbols, solve, check, cost, ratio,
    sweep, models, asymptotics, simulate, evaluate, validate, plan, plan_mlp, report, compare, fit,
    profile, project,
)
"""The commands, in the order of the help."""

for function in COMMANDS:
    app.command(cls=OneOfEach)(expanded(function))

program = typer.main.get_command(app)  # a call of `app` would build it anew
