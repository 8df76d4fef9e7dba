"""Options of studies: a machine, and values of parameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from symscale.errors import InputError, printable

if TYPE_CHECKING:
    import sympy as sp

HardwareOption = Annotated[
    str | None,
    typer.Option(
        "--hardware", metavar="NAME|FILE.toml",
        help="A preset (list: symscale hardware) or a TOML file; "
        "without it the answer is symbolic.",
    ),
]
LevelOption = Annotated[
    str | None,
    typer.Option(
        "--level", metavar="LEVEL",
        help="What acts as one device: device, node, or another tier of the machine. "
        "Default: node, if the machine has nodes.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Set a parameter: a number with an optional unit (b_0=8e6, t_d=90d) or a product of "
        "powers of symbols (b_0=4e6*sqrt(E)). C, W_net and W_mem are those of the level: by "
        "default of the devices of a node together, bandwidths in one direction. Repeatable.",
    ),
]
DurationOption = Annotated[
    str | None,
    typer.Option(
        "--duration", metavar="TIME", help="Wall-clock time allowed, t_d: 90d, 3mo, 1y. "
        "Default: 3mo.",
    ),
]


@dataclass(frozen=True)
class StudyOptions:
    """A machine at a level, and what is set.

    Attributes:
        hardware: The machine, or None for a symbolic answer.
        level: What acts as one device.
        sets: Parameters that are set, each NAME=VALUE.
        duration: The time of the run.
    """

    hardware: HardwareOption = None
    level: LevelOption = None
    sets: SetOption = None
    duration: DurationOption = None

    def settings(self) -> "dict[str, sp.Expr]":
        """Read --set and --duration together.

        Raises:
            InputError: If one cannot be used, or they contradict each other.
        """
        from symscale.language.units import parse_quantity
        from symscale.studies.requests.parameters import read_settings, read_value

        settings = read_settings(self.sets or [])
        if self.duration is not None:
            if "t_d" in settings:
                raise InputError("--duration and --set t_d say the same thing; give one of them")
            try:
                if parse_quantity(self.duration).unit is None:  # a time, no expression
                    raise InputError("it has no unit; write such as 90d, 3mo or 1y")
                settings["t_d"] = read_value("t_d", self.duration)
            except InputError as error:
                raise error.with_context(f"--duration {printable(self.duration, 60)}") from None
        return settings
