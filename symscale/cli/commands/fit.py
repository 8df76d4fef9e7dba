"""Command `fit`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.numbers import PrecisionOption, word_bytes
from symscale.cli.output.output import Output, Writes, emit
from symscale.errors import InputError
from symscale.language.amounts import amount
from symscale.pages.files import check_writable, write_whole


def fit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...", help="Measurements: logs of nccl-tests or rccl-tests, tables as "
            "CSV, or what symscale profile wrote.",
        ),
    ],
    output: Annotated[Output, Writes(path=False)],
    path: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.toml", help="Write the hardware file."),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base", metavar="NAME", help="The preset that has what was not measured. Default: "
            "the one of the device that a log names.",
        ),
    ] = "",
    precision: PrecisionOption = None,
    devices: Annotated[
        int | None,
        typer.Option("--devices", metavar="N", help="How many took part in logs that do not say."),
    ] = None,
    operator: Annotated[
        str,
        typer.Option(
            "--operator", metavar="NAME", help="What a file measures that does not say it."
        ),
    ] = "",
    tier: Annotated[
        str,
        typer.Option(
            "--tier", metavar="NAME", help="Over which tier collectives ran whose file does not "
            "say it.",
        ),
    ] = "",
    in_place: Annotated[
        bool,
        typer.Option("--in-place", help="Take the times of collectives in place, not out of it."),
    ] = False,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory of a device: 80GB.")
    ] = None,
    memory_bandwidth: Annotated[
        str | None,
        typer.Option(
            "--memory-bandwidth", metavar="RATE",
            help="Its bandwidth, reads and writes together: 2TB/s.",
        ),
    ] = None,
    limit: Annotated[
        str,
        typer.Option(
            "--limit", metavar="ERROR", help="Median error on sizes left out that is warned of."
        ),
    ] = "15%",
) -> None:
    """Fit operator models to measurements, and write a hardware file that --hardware takes."""
    if path is not None:
        if path.suffix.lower() != ".toml":
            raise InputError(f"-o {path}: a hardware file ends in .toml")
        check_writable(path, output.force)
    word = word_bytes(precision)
    if devices is not None and devices < 2:
        raise InputError(f"--devices {devices}: a collective needs two at least")
    from symscale.measure.machines.calibration import Given, calibrate
    from symscale.measure.machines.preset_file import preset_text
    from symscale.measure.operators.operators import named_operator
    from symscale.measure.readers.files import read_all
    from symscale.measure.readers.reading import Options

    options = Options(
        word, devices, in_place, named_operator(operator) if operator else None
    )
    given = Given(
        base,
        None if memory is None else amount("--memory", memory, "byte", "80GB"),
        None if memory_bandwidth is None
        else amount("--memory-bandwidth", memory_bandwidth, "byte/s", "2TB/s"),
        tier,
        float(amount("--limit", limit, "1")),
    )
    found = calibrate(read_all(files, options), given)
    if path is not None:
        write_whole(path, preset_text(found))
    emit(found, output)
    for warning in found.warnings:
        typer.echo(f"symscale: warning: {warning}", err=True)
