"""Reads files of measurements, whatever wrote them."""

from collections.abc import Sequence

from symscale.errors import InputError, printable
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.operator import Operator
from symscale.measure.readers.csv_files import read_csv
from symscale.measure.readers.json_files import read_json
from symscale.measure.readers.nccl import is_nccl, read_nccl
from symscale.measure.readers.reading import Options, Reading, read_lines

MOST_FILES = 64


def read_measurements(path: str, options: Options | None = None) -> Reading:
    """Read a file: our JSON, a log of nccl-tests or rccl-tests, or a table as CSV.

    Args:
        path: Where it is.
        options: What the user states about files that do not say it themselves.

    Raises:
        InputError: If it is none of these, or a line of it cannot be used.
    """
    where, lines = read_lines(path)
    options = options or Options()
    first = next(line for line in lines if line.strip())
    if first.lstrip().startswith("{"):
        return read_json(where, "\n".join(lines).encode())
    if is_nccl(lines):
        return read_nccl(where, lines, options)
    return read_csv(where, lines, options)


def read_all(paths: Sequence[str], options: Options | None = None) -> list[Reading]:
    """Read several files.

    Raises:
        InputError: If there are too many, one is named twice, or one cannot be used.
    """
    if len(paths) > MOST_FILES:
        raise InputError(f"{len(paths)} files are too many; at most {MOST_FILES}")
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"{printable(path, 160)}: the file is named twice; name it once")
    return [read_measurements(path, options) for path in paths]


def grouped(readings: Sequence[Reading]) -> dict[tuple[Operator, int, int, int], list[Measurement]]:
    """Group measurements by what one formula can describe.

    The key is operator, bytes of a word, devices and hosts; the last two are 0 for what
    is no collective.
    """
    groups: dict[tuple[Operator, int, int, int], list[Measurement]] = {}
    for reading in readings:
        for one, hosts in zip(reading.measurements, reading.hosts, strict=True):
            devices = one.sizes.get("devices", 0)
            key = (one.operator, one.word_bytes, devices, hosts if devices else 0)
            groups.setdefault(key, []).append(one)
    return groups
