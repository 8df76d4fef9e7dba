"""Command `project`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.grid import GridOption, check_grid
from symscale.cli.options.numbers import EvolutionOption, PrecisionOption, word_bytes
from symscale.cli.output.output import Output, Writes, emit
from symscale.errors import InputError
from symscale.language.amounts import growths


def project(
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline", metavar="FILE", help="Operators of one training iteration, measured: a "
            "table as CSV or JSON.",
        ),
    ],
    output: Annotated[
        Output,
        Writes(csv="Write every case.", plot="Draw the shares; .pdf, .svg or .png."),
    ],
    sweep: GridOption = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml", help="Whose memory decides which cases fit. "
            "Default: that of the study.",
        ),
    ] = None,
    flop_vs_bw: EvolutionOption = "1,2,4",
    dp: Annotated[
        int, typer.Option("--dp", metavar="N", help="Degree of data parallelism.")
    ] = 8,
    blocks: Annotated[
        int,
        typer.Option(
            "--blocks", metavar="N", help="Blocks of an iteration, of the baseline as of the cases."
        ),
    ] = 24,
    precision: PrecisionOption = None,
) -> None:
    """Iterations never run, from operators of one baseline: times, shares, their errors."""
    check_grid(sweep)
    for option, value, most in (("--dp", dp, 10**6), ("--blocks", blocks, 10**4)):
        if not 1 <= value <= most:
            raise InputError(f"{option} {value}: give 1 to {most}")
    word, ks = word_bytes(precision), growths(flop_vs_bw)
    from symscale.facts.machines.lumped import load_machine
    from symscale.measure.iterations.projection import baseline_of
    from symscale.measure.iterations.projection import project as projected
    from symscale.measure.iterations.regions import BlockSizes
    from symscale.measure.readers.files import read_measurements
    from symscale.measure.readers.reading import Options
    from symscale.pages.of.project import ProjectedGrid
    from symscale.studies.comp_vs_comm.future import DEFAULT_MACHINE, future_cases

    start = baseline_of(read_measurements(baseline, Options(word)))
    machine = load_machine(hardware or DEFAULT_MACHINE)
    grid = future_cases(machine)
    cases = [
        (BlockSizes(c.d_model, c.sequences, c.n_ctx, c.N_TP, dp, start.word_bytes), c.fits)
        for c in grid
    ]
    found = projected(start, cases, [float(k) for k in ks], blocks)
    names = tuple(str(k) for k in ks)
    emit(ProjectedGrid(found, grid, names, machine, Path(baseline).name), output)
