"""Command `project`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.commands.fit import PRECISIONS
from symscale.cli.commands.ratio import numbers
from symscale.cli.options.shared import ForceOption, FormatOption, OutputOption
from symscale.cli.output.emit import check_emitted, check_writable, emit, write_by, write_whole
from symscale.errors import InputError


def project(
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline", metavar="FILE", help="Operators of one training iteration, measured: a "
            "table as CSV or JSON.",
        ),
    ],
    sweep: Annotated[
        str, typer.Option("--sweep", metavar="future", help="The grid of cases: future.")
    ] = "future",
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml", help="Whose memory decides which cases fit. "
            "Default: that of the study.",
        ),
    ] = None,
    flop_vs_bw: Annotated[
        str,
        typer.Option(
            "--flop-vs-bw", metavar="K,K,...",
            help="How many times faster than the network arithmetic has become.",
        ),
    ] = "1,2,4",
    dp: Annotated[
        int, typer.Option("--dp", metavar="N", help="Degree of data parallelism.")
    ] = 8,
    blocks: Annotated[
        int,
        typer.Option(
            "--blocks", metavar="N", help="Blocks of an iteration, of the baseline as of the cases."
        ),
    ] = 24,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision", metavar="64|32|16|8", help="Bits of a word, if the file does not say."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write every case.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the shares; .pdf, .svg or .png."),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Iterations never run, from operators of one baseline: times, shares, their errors."""
    from symscale.errors import unknown_name

    if sweep != "future":
        raise unknown_name("grid", sweep, ("future",))
    for option, value, most in (("--dp", dp, 10**6), ("--blocks", blocks, 10**4)):
        if not 1 <= value <= most:
            raise InputError(f"{option} {value}: give 1 to {most}")
    if precision is not None and precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise InputError(f"--precision {precision[:20]}: give the bits of a word: {known}")
    ks = numbers("--flop-vs-bw", flop_vs_bw)
    if any(not k.is_positive for k in ks):
        raise InputError(f"--flop-vs-bw {flop_vs_bw}: arithmetic grows by factors above 0")
    check_emitted(form, output)
    for path, option in ((csv, "--csv"), (plot, "--plot")):
        if path is not None:
            check_writable(path, force, option)
    if csv is not None and csv == plot:
        raise InputError("--csv and --plot name the same file; name two")
    if plot is not None:
        from symscale.pages.figures.drawing import check_format

        check_format(plot)
    from symscale.facts.machines.lumped import load_machine
    from symscale.measure.iterations.projection import baseline_of
    from symscale.measure.iterations.projection import project as projected
    from symscale.measure.iterations.regions import BlockSizes
    from symscale.measure.readers.files import read_measurements
    from symscale.measure.readers.reading import Options
    from symscale.pages.of.project import projection_csv, projection_data, projection_document
    from symscale.studies.comp_vs_comm.future import DEFAULT_MACHINE, future_cases

    options = Options(None if precision is None else PRECISIONS[precision])
    start = baseline_of(read_measurements(baseline, options))
    machine = load_machine(hardware or DEFAULT_MACHINE)
    grid = future_cases(machine)
    cases = [
        (BlockSizes(c.d_model, c.sequences, c.n_ctx, c.N_TP, dp, start.word_bytes), c.fits)
        for c in grid
    ]
    found = projected(start, cases, [float(k) for k in ks], blocks)
    names = [str(k) for k in ks]
    if csv is not None:
        write_whole(csv, projection_csv(found, names), "--csv")
    if plot is not None:
        from symscale.pages.figures.shares import projected_share_plot

        name = Path(baseline).name
        write_by(
            plot, lambda path: projected_share_plot(found, grid, names, name, path), "--plot"
        )
    emit(
        form,
        lambda: projection_document(found, names, machine.title),
        lambda: projection_data(found),
        output,
        force,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(project)
