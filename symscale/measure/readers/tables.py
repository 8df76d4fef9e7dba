"""Finds the table in a CSV file or in a benchmark's log, and gives its rows with their lines."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from symscale.errors import InputError, printable, refusal
from symscale.language.units import Unit
from symscale.measure.readers.reading import line_of, unit_named

_PREFIX = re.compile(r"^\s*\[\d+\]:?\s*")
_UNIT = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]\s*$")
_ENDING = re.compile(r"(.*)_(s|ms|us|ns|bytes|byte|B|kB|MB|GB|KiB|MiB|GiB)$")
_RATES = {"gflops", "tflops", "mflops", "flops", "gflop/s", "tflop/s"}
_TIMES = {"us", "ms", "s", "ns", "usec", "msec", "seconds"}
_SIZES = {"bytes": "size"}
_MEASURED = (
    "time", "rate", "algbw", "busbw", "median", "mean", "bandwidth", "latency", "duration",
    "elapsed",
)
MOST_COLUMNS = 200
_KNOWN = {"m", "n", "k", "operator", "name", "sub_label", "sublabel", "size", "tokens"}


@dataclass(frozen=True)
class CsvHeading:
    """A column: its name in lower case, and the unit that it states.

    Attributes:
        name: The name, without its unit, such as "time".
        unit: The unit as written, or "".
        index: Which column it is.
    """

    name: str
    unit: str
    index: int


@dataclass(frozen=True)
class CsvRow:
    """A row of a table, by the names of its columns, and the line it stands in."""

    cells: dict[str, str]
    where: str


@dataclass(frozen=True)
class CsvTable:
    """A table.

    Attributes:
        headings: Its columns, by name.
        rows: Its rows.
        where: The line of its header.
    """

    headings: dict[str, CsvHeading]
    rows: tuple[CsvRow, ...]
    where: str


def heading(text: str, index: int) -> CsvHeading:
    """Read a column's name and the unit in it.

    Example:
        >>> heading("time [us]", 0).unit, heading("hipblaslt-Gflops", 1).name
        ('us', 'rate')
        >>> heading("time_ms", 0).unit, heading("busbw (GB/s)", 1).name
        ('ms', 'busbw')
        >>> heading("throughput (TFLOPS)", 0).name
        'rate'
    """
    text = text.strip().strip('"').strip()
    name, unit = text, ""
    if match := _UNIT.fullmatch(text) or _ENDING.fullmatch(text):
        name, unit = match[1], match[2]
    plain = name.strip().lower()
    last = re.split(r"[-_ ]", plain)[-1]
    if last in _RATES:
        return CsvHeading("rate", last, index)
    if unit.lower() in _RATES:  # throughput (TFLOPS)
        return CsvHeading("rate", unit, index)
    if plain in _TIMES and not unit:
        return CsvHeading("time", plain, index)
    if last in ("gb/s", "mb/s") and not unit and plain not in ("gb/s", "mb/s"):
        return CsvHeading(plain[: -len(last)].strip("-_ ") + " traffic", last, index)
    return CsvHeading(_SIZES.get(plain, plain), unit, index)


def find_table(where: str, lines: Sequence[str]) -> CsvTable:
    """Find the header of a table, and read the rows below it.

    Lines before the header, and lines of a log between rows that have no commas, are
    passed over; a row with fewer or more columns than the header is refused.

    Args:
        where: What to call the file.
        lines: Its lines.

    Raises:
        InputError: If there is no header, no row, or a row that does not fit.
    """
    start, mark = _header(where, lines)
    names = _fields(lines[start], mark)
    if len(names) > MOST_COLUMNS:
        raise refusal(line_of(where, start + 1), "has too many columns", f"{MOST_COLUMNS} suffice")
    headings: dict[str, CsvHeading] = {}
    for index, name in enumerate(names):
        found = heading(name, index)
        if name.strip().lower().startswith("cpu-"):  # what follows is a check on the host
            break
        if found.name and found.name in headings:
            first = names[headings[found.name].index].strip()
            raise refusal(
                line_of(where, start + 1),
                f"columns {printable(first)!r} and {printable(name.strip())!r} say the "
                "same", "keep one",
            )
        headings[found.name] = found
    rows = [
        CsvRow({h.name: fields[h.index].strip() for h in headings.values()}, at)
        for at, fields in _rows(where, lines, start, mark, names)
    ]
    if not rows:
        raise refusal(
            line_of(where, len(lines)), "no result follows the header", "the file is cut"
        )
    return CsvTable(headings, tuple(rows), line_of(where, start + 1))


def _header(where: str, lines: Sequence[str]) -> tuple[int, str]:
    for index, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            continue
        for mark in (",", ";", "\t", "  "):
            if (mark in line.strip()) and len(_fields(line, mark)) > 2:
                found = [heading(name, 0) for name in _fields(line, mark)]
                names = {h.name for h in found}
                measured = any(word in name for name in names for word in _MEASURED)
                if names & _KNOWN and measured:
                    return index, mark
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    raise refusal(
        line_of(where, first + 1),
        "no header of a table of measurements, nor a log of nccl-tests",
        "name columns such as m, n, k, dtype, time_us; or operator, tokens, width, time_us",
    )


def _fields(line: str, mark: str) -> list[str]:
    line = _PREFIX.sub("", line)
    if mark == "  ":
        return re.split(r"\s{2,}|\t", line.strip())
    return next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])


def _rows(
    where: str, lines: Sequence[str], start: int, mark: str, names: Sequence[str]
) -> list[tuple[str, list[str]]]:
    found = []
    # A log tells its table from its talk by the number of columns only.
    log = any(line.strip() and not line.lstrip().startswith("#") for line in lines[:start])
    log = log or any("gflops" in name.lower() for name in names)
    for index in range(start + 1, len(lines)):
        line, at = lines[index], line_of(where, index + 1)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.count('"') % 2:
            raise refusal(at, "a quotation mark is not closed", "the line is cut, or spans two")
        fields = _fields(line, mark)
        if fields == list(names):  # printed again above every result
            continue
        if len(fields) != len(names):
            if log and len(fields) < max(3, len(names) // 2) and index + 1 < len(lines):
                continue
            raise _misfit(at, fields, names, mark)
        found.append((at, fields))
    return found


def _misfit(where: str, fields: Sequence[str], names: Sequence[str], mark: str) -> InputError:
    problem = f"has {len(fields)} columns, the header {len(names)}"
    if mark == "," and len(fields) > len(names):
        return refusal(where, problem, "if 12,5 is meant as a decimal, write 12.5")
    return refusal(where, problem, "the line is cut, or has too much")


def unit_of(table: CsvTable, name: str, wanted: Unit) -> Unit | None:
    """The unit that a column states, or None.

    Raises:
        InputError: If it is no unit of that kind.
    """
    unit = table.headings[name].unit
    return unit_named(unit, wanted, table.where) if unit else None
