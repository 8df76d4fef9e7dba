"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperOption

from symscale.cli.output.emit import CodeFormat, DeriveFormat, Format
from symscale.errors import InputError, printable

if TYPE_CHECKING:
    import sympy as sp

HardwareOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--hardware", metavar="NAME|FILE.toml",
        help="A preset (list: symscale hardware) or a TOML file; "
        "without it the answer is symbolic.",
    ),
]
LevelOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--level", metavar="LEVEL",
        help="What acts as one device: device, node, or another tier of the machine. "
        "Default: node, if the machine has nodes.",
    ),
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Set a parameter: a number with an optional unit (b_0=8e6, t_d=90d) or a product of "
        "powers of symbols (b_0=4e6*sqrt(E)). C, W_net and W_mem are those of the level: by "
        "default of the devices of a node together, bandwidths in one direction. Repeatable.",
    ),
]
DurationOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--duration", metavar="TIME", help="Wall-clock time allowed, t_d: 90d, 3mo, 1y. "
        "Default: 3mo.",
    ),
]
FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option(
        "--format", help="How to print the answer. Default: what the ending of -o FILE says "
        "(.json, .tex, .md), else text.",
    ),
]
CodeFormatOption: TypeAlias = Annotated[
    CodeFormat | None,
    typer.Option("--format", help="How to print the answer; as code: its formulas."),
]
DeriveFormatOption: TypeAlias = Annotated[
    DeriveFormat | None,
    typer.Option("--format", help="How to print the derivation; as code: its results."),
]
OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write into this file instead of printing.",
    ),
]
FragmentOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--fragment", help="LaTeX to be included: no preamble, sources cited by key.",
    ),
]
ForceOption: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace the output file if it exists.")
]


def settings_of(sets: list[str] | None, duration: str | None) -> "dict[str, sp.Expr]":
    """Read --set and --duration together.

    Raises:
        InputError: If one cannot be used, or they contradict each other.
    """
    from symscale.language.units import parse_quantity
    from symscale.studies.requests.parameters import read_settings, read_value

    settings = read_settings(sets or [])
    if duration is not None:
        if "t_d" in settings:
            raise InputError("--duration and --set t_d say the same thing; give one of them")
        try:
            if parse_quantity(duration).unit is None:  # a time, no expression
                raise InputError("it has no unit; write such as 90d, 3mo or 1y")
            settings["t_d"] = read_value("t_d", duration)
        except InputError as error:
            raise error.with_context(f"--duration {printable(duration, 60)}") from None
    return settings


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
