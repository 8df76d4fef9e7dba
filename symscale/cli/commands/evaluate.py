"""Command `evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from symscale.cli.options.scaling import PublishedOption
from symscale.cli.output.output import say
from symscale.errors import InputError
from symscale.pages.files import check_writable, write_whole

MOST_BYTES = 512_000_000  # of a table of plans


def evaluate(
    file: Annotated[str, typer.Argument(metavar="PLANS.csv", help="One plan a row.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write into this file instead of printing."
        ),
    ] = None,
    as_published: PublishedOption = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
) -> None:
    """Time, utilization, traffic and memory of plans, one a row: see docs/simulator.md."""
    if output is not None:
        check_writable(output, force)
    text = _read(file)
    from symscale.simulator.tables.curves import csv_text, read_csv
    from symscale.simulator.tables.plans import PLAN_COLUMNS, RESULT_COLUMNS, evaluate_rows

    rows = read_csv(text, file, PLAN_COLUMNS)
    found = evaluate_rows(rows, file, as_published=as_published)
    columns = [*rows[0], *(name for name in RESULT_COLUMNS if name not in rows[0])]
    answer = csv_text(found, columns)
    if output is not None:
        write_whole(output, answer)
    else:
        say(answer)


def _read(file: str) -> str:
    from symscale.language.tables import read_file_bytes

    try:
        return read_file_bytes(file, "a CSV file", MOST_BYTES, "split it").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8 text; save it as UTF-8") from None
