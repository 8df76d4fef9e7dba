"""Options of studies: a machine, and values of parameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    pass

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
