"""Command `sweep`."""

from typing import Annotated

import typer

from symscale.cli.options.grid import GridArgument, check_grid
from symscale.cli.options.numbers import EvolutionOption
from symscale.cli.output.output import Output, Writes, emit
from symscale.language.amounts import growths


def sweep(
    output: Annotated[
        Output,
        Writes(csv="Write every case.", plot="Draw the shares; .pdf, .svg or .png."),
    ],
    grid: GridArgument = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml",
            help="A preset (list: symscale hardware) or a TOML file. Default: the node of the "
            "study, mi210-node-two-cs.",
        ),
    ] = None,
    flop_vs_bw: EvolutionOption = "1,2,4",
) -> None:
    """Share of serialized communication over a grid of models and hardware.

    The grid: d_model 1K to 64K, sequences of 1K to 8K, tensor parallelism 4 to 256, batches
    of 1 and 4.
    """
    check_grid(grid)
    ks = growths(flop_vs_bw)
    from symscale.facts.machines.lumped import load_machine
    from symscale.studies.comp_vs_comm.future import DEFAULT_MACHINE, future_shares

    emit(future_shares(load_machine(hardware or DEFAULT_MACHINE), ks), output)
