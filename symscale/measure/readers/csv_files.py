"""Measurements from CSV: our own columns, matrix-product benchmarks, tables of torch.

Matrix products: columns m, n, k (and batch or batch_count), a type (dtype, precision,
a_type), and a time or a rate with its unit: time_us, us, time (usec), rocblas-Gflops,
TFLOPS. Anything else: a column operator, its sizes, and a time. Collectives may give
algbw or busbw instead of a time; a bandwidth that does not say which of the two it is, is
refused. Tables of `torch.profiler` name the operators and their shapes.
"""

import re
from collections.abc import Sequence

from symscale.errors import InputError, SymscaleError, printable, refusal
from symscale.measure.operators.collectives import Collective
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.operator import Operator
from symscale.measure.operators.operators import named_operator
from symscale.measure.operators.products import BATCHED_PRODUCT, MATRIX_PRODUCT
from symscale.measure.readers.reading import (
    BYTE,
    BYTE_RATE,
    FLOP_RATE,
    SECOND,
    Facts,
    Options,
    Reading,
    read_amount,
    read_number,
    read_whole,
    with_line,
    word_bytes_of,
)
from symscale.measure.readers.tables import CsvRow, CsvTable, find_table, unit_of
from symscale.measure.readers.torch_tables import is_torch, read_torch

_ALIASES = {
    "batch_count": "batch", "hidden": "width", "rows": "tokens", "ranks": "devices",
    "gpus": "devices", "nranks": "devices", "d_model": "width",
}
_TYPE_COLUMNS = ("dtype", "precision", "a_type", "type", "datatype")
_AGREE = 0.02
_DEVICE = re.compile(r"\s*Device ID \d+ : (.{1,200}?)(?:\s+gfx\S*)?\s*$")


def read_csv(where: str, lines: Sequence[str], options: Options) -> Reading:
    """Read a table of measurements.

    Args:
        where: What to call the file.
        lines: Its lines.
        options: What the user states.

    Raises:
        InputError: If a line cannot be used; the text names it.

    Example:
        >>> found = read_csv("a.csv", ["m,n,k,dtype,us", "64,64,64,bf16,12.5"], Options())
        >>> found.measurements[0].operator.name, found.measurements[0].seconds
        ('matrix product', 1.25e-05)
    """
    table = find_table(where, lines)
    if is_torch(table):
        return read_torch(where, table, options)
    found = tuple(_measurement(table, row, options) for row in table.rows)
    kind = "CSV" if "operator" in table.headings else "table of matrix products"
    named = {m[1].strip() for line in lines if (m := _DEVICE.match(line))}
    device = printable(named.pop(), 120) if len(named) == 1 else ""
    return Reading(where, kind, found, Facts(device), (0,) * len(found))


def _word(table: CsvTable, row: CsvRow, options: Options) -> int:
    if "word_bytes" in row.cells:
        return read_whole(row.cells["word_bytes"], row.where)
    if "word" in row.cells and table.headings["word"].unit.startswith("b"):  # word_bytes
        return read_whole(row.cells["word"], row.where)
    for name in _TYPE_COLUMNS:
        if name in row.cells:
            return word_bytes_of(row.cells[name], row.where)
    return options.word(row.where)


def _operator(row: CsvRow, options: Options) -> Operator:
    text = row.cells.get("operator", "") or row.cells.get("collective", "")
    if text:
        try:
            return named_operator(text)
        except SymscaleError as error:
            raise with_line(error, row.where) from None
    if options.operator:
        return options.operator
    if {"m", "n", "k"} <= set(row.cells):
        batch = row.cells.get("batch_count") or row.cells.get("batch") or "1"
        return MATRIX_PRODUCT if batch == "1" else BATCHED_PRODUCT
    raise refusal(row.where, "does not say which operator it is", "add a column operator")


def _sizes(
    table: CsvTable, row: CsvRow, operator: Operator, options: Options
) -> dict[str, int]:
    given: dict[str, int] = {}
    for column, text in row.cells.items():
        size = _ALIASES.get(column, column)
        if size in operator.sizes and size != "size_bytes" and text.strip():
            given[size] = read_whole(text, row.where)
    if isinstance(operator, Collective):
        if "size" not in row.cells:
            raise refusal(row.where, f"{operator} has no size", "add a column size_bytes")
        size_bytes = read_amount(
            row.cells["size"], unit_of(table, "size", BYTE), BYTE, row.where
        )
        given["size_bytes"] = read_whole(repr(size_bytes), row.where)
        if "devices" not in given and options.devices is not None:
            given["devices"] = options.devices
    try:
        return operator.complete(given)
    except SymscaleError as error:
        raise with_line(error, row.where) from None


def _measurement(table: CsvTable, row: CsvRow, options: Options) -> Measurement:
    operator = _operator(row, options)
    sizes = _sizes(table, row, operator, options)
    word = 0 if isinstance(operator, Collective) else _word(table, row, options)
    seconds = _seconds(table, row, operator, sizes)
    spread = row.cells.get("spread") or ""
    runs, count = row.cells.get("repetitions") or "", row.cells.get("count") or ""
    return Measurement(
        operator, sizes, word, seconds, row.where,
        spread=read_number(spread, row.where) if spread else None,
        repetitions=read_whole(runs, row.where) if runs else 1,
        count=read_whole(count, row.where) if count else 1,
    )


def _time_column(row: CsvRow) -> str | None:
    for name in ("time", "median", "mean", "avg_time", "latency", "average_time", "elapsed",
                 "duration", "runtime", "kernel_time"):
        if row.cells.get(name, "").strip():
            return name
    return None


def _seconds(
    table: CsvTable, row: CsvRow, operator: Operator, sizes: dict[str, int]
) -> float:
    """Time of a row, from its time or its rate; both must agree where both are given."""
    found: dict[str, float] = {}
    column = _time_column(row)
    if column is not None:
        unit = unit_of(table, column, SECOND)
        found[column] = read_amount(row.cells[column], unit, SECOND, row.where)
    if (flop := operator.flop(sizes)) and row.cells.get("rate"):
        rate = read_amount(
            row.cells["rate"], unit_of(table, "rate", FLOP_RATE), FLOP_RATE, row.where
        )
        found["rate"] = _over(flop, rate, row.where)
    if isinstance(operator, Collective):
        found |= _from_bandwidths(table, row, operator, sizes)
    if not found:
        raise refusal(row.where, "has neither a time nor a rate", "add a column time_us")
    first, *others = found.items()
    for other, seconds in others:
        if abs(seconds - first[1]) > _AGREE * first[1]:
            raise refusal(
                row.where, f"{first[0]} says {first[1]:.4g} s, {other} says {seconds:.4g} s",
                "units are mixed, or one of them is for something else",
            )
    return first[1]


def _from_bandwidths(
    table: CsvTable, row: CsvRow, operator: Collective, sizes: dict[str, int]
) -> dict[str, float]:
    found = {}
    for column in ("algbw", "busbw"):
        if row.cells.get(column):
            unit = unit_of(table, column, BYTE_RATE)
            rate = read_amount(row.cells[column], unit, BYTE_RATE, row.where)
            factor = 1.0 if column == "algbw" else float(operator.bus_factor(sizes["devices"]))
            found[column] = _over(sizes["size_bytes"] * factor, rate, row.where)
    for column in ("bandwidth", "bw"):
        if column in row.cells and not found and _time_column(row) is None:
            raise refusal(
                row.where, f"{column} may be size over time, or what a device sends over its link",
                "name the column algbw or busbw",
            )
    return found


def _over(amount: float, rate: float, where: str) -> float:
    if rate <= 0:
        raise InputError(f"{where}: a rate of {rate:g} is not above zero; measure it again")
    return amount / rate
