"""Command `fit`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symscale.cli.options.shared import ForceOption, FormatOption
from symscale.cli.output.emit import check_writable, emit, write_whole
from symscale.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

PRECISIONS = {"64": 8, "32": 4, "16": 2, "8": 1}


def fit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...", help="Measurements: logs of nccl-tests or rccl-tests, tables as "
            "CSV, or what symscale profile wrote.",
        ),
    ],
    output: Annotated[
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
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision", metavar="64|32|16|8", help="Bits of a word in files that do not say."
        ),
    ] = None,
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
    form: FormatOption = None,
    force: ForceOption = False,
) -> None:
    """Fit operator models to measurements, and write a hardware file that --hardware takes."""
    if output is not None:
        if output.suffix.lower() != ".toml":
            raise InputError(f"-o {output}: a hardware file ends in .toml")
        check_writable(output, force)
    if precision is not None and precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise InputError(f"--precision {precision[:20]}: give the bits of a word: {known}")
    if devices is not None and devices < 2:
        raise InputError(f"--devices {devices}: a collective needs two at least")
    from symscale.measure.machines.calibration import Given, calibrate
    from symscale.measure.machines.preset_file import preset_text
    from symscale.measure.operators.operators import operator as named
    from symscale.measure.readers.files import read_all
    from symscale.measure.readers.reading import Options
    from symscale.pages.of.fit import calibration_data, calibration_document

    options = Options(
        None if precision is None else PRECISIONS[precision], devices, in_place,
        named(operator).name if operator else "",
    )
    given = Given(
        base,
        _amount("--memory", memory, "byte"),
        _amount("--memory-bandwidth", memory_bandwidth, "byte/s"),
        tier,
        float(_amount("--limit", limit, "1") or 0),
    )
    found = calibrate(read_all(files, options), given)
    if output is not None:
        write_whole(output, preset_text(found))
    emit(form, lambda: calibration_document(found), lambda: calibration_data(found))
    for warning in found.warnings:
        typer.echo(f"symscale: warning: {warning}", err=True)


def _amount(option: str, text: str | None, unit: str) -> "Fraction | None":
    """Read a quantity with its unit."""
    if text is None:
        return None
    from symscale.errors import SymscaleError
    from symscale.language.units import parse_quantity, parse_unit

    try:
        quantity = parse_quantity(text)
        if quantity.unit is None and unit != "1":
            example = "80GB" if unit == "byte" else "2TB/s"
            raise InputError(f"it has no unit; write {example}, say")
        value = quantity.to(parse_unit(unit))
    except SymscaleError as error:
        raise error.with_context(f"{option} {text[:40]}") from None
    if value <= 0:
        raise InputError(f"{option} {text[:40]}: it is not above zero")
    return value


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(fit)
