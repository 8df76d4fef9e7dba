"""Tables of `torch.profiler` and of `torch.utils.benchmark`, saved as CSV.

Of the profiler, `key_averages(group_by_input_shape=True)`: columns Name, Input Shapes and
an average time, on the device where there is one. Only operators that do the work
themselves are taken (aten::mm, not the aten::linear that calls it). Of the benchmark, a
row for each Measurement: label, sub_label, median (seconds), and what else it has.
"""

import re

from symscale.errors import SymscaleError, printable, refusal
from symscale.language.units import parse_unit
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.operator import DeviceOperator
from symscale.measure.operators.operators import DEVICE_OPERATORS, named_operator
from symscale.measure.readers.reading import (
    SECOND,
    Facts,
    Options,
    Reading,
    read_amount,
    read_whole,
    with_line,
    word_bytes_of,
)
from symscale.measure.readers.tables import CsvRow, CsvTable, unit_of

_PROFILED = {name: operator for operator in DEVICE_OPERATORS for name in operator.profiled}
_LABELS = {label: operator for operator in DEVICE_OPERATORS for label in operator.labels}
_TIMES = (
    "device time avg", "cuda time avg", "self cuda time avg", "cuda_time_avg", "device_time_avg",
    "cpu time avg", "cpu_time_avg", "avg time",
)
_SHAPE = re.compile(r"\[((?:\s*[0-9]+\s*,)*\s*[0-9]+\s*)\]")
_PAIR = re.compile(r"\b([a-z]+)\s*=\s*([0-9]+)\b")
_TYPE = re.compile(r"\b(?:torch\.)?(bfloat16|float16|half|float32|float64|bf16|fp16|fp32)\b")


def is_torch(table: CsvTable) -> bool:
    """Whether a table is one of torch's, by its columns."""
    names = set(table.headings)
    return bool({"input shapes", "input_shapes"} & names) or {"label", "sub_label"} <= names


def read_torch(where: str, table: CsvTable, options: Options) -> Reading:
    """Read a table of torch.

    Raises:
        InputError: If a line cannot be used, or no operator is one that has a model.
    """
    profiler = "label" not in table.headings
    read = _profiled if profiler else _benchmarked
    found = tuple(one for row in table.rows if (one := read(table, row, options)) is not None)
    if not found:
        raise refusal(
            table.where, "no row is an operator that has a model",
            f"known: {', '.join(_PROFILED if profiler else _LABELS)}",
        )
    kind = "torch.profiler table" if profiler else "torch.utils.benchmark table"
    passed = len(table.rows) - len(found)
    notes = (f"{where}: {passed} rows of other operators passed over",) if passed else ()
    return Reading(where, kind, found, Facts(notes=notes), (0,) * len(found))


def _word(row: CsvRow, text: str, options: Options) -> int:
    for name in ("dtype", "input type", "input dtypes", "description", "env"):
        if name in row.cells and (match := _TYPE.search(row.cells[name].lower())):
            return word_bytes_of(match[1], row.where)
    if match := _TYPE.search(text.lower()):
        return word_bytes_of(match[1], row.where)
    return options.word(row.where)


def _profiled(table: CsvTable, row: CsvRow, options: Options) -> Measurement | None:
    operator = _PROFILED.get(row.cells.get("name", row.cells.get("key", "")).strip())
    if operator is None:
        return None
    text = row.cells.get("input shapes") or row.cells.get("input_shapes") or ""
    shapes = [[int(n) for n in s.split(",")] for s in _SHAPE.findall(text[:2000])
              if len(s) < 100]
    sizes = operator.sizes_of(shapes)
    if sizes is None:
        raise refusal(
            row.where, f"shapes {printable(text, 60)!r} are not those of {operator}",
            "record_shapes=True and group_by_input_shape=True give them",
        )
    column = next((c for c in _TIMES if row.cells.get(c, "").strip()), None)
    if column is None:
        raise refusal(row.where, "has no average time", "keep the column 'CUDA time avg'")
    seconds = read_amount(row.cells[column], unit_of(table, column, SECOND), SECOND, row.where)
    return Measurement(operator, sizes, _word(row, text, options), seconds, row.where)


def _benchmarked(table: CsvTable, row: CsvRow, options: Options) -> Measurement | None:
    label = row.cells["label"].strip()
    operator = _LABELS.get(label.lower().replace(" ", "_").removeprefix("torch."))
    try:
        named = operator or named_operator(label)
    except SymscaleError:
        return None
    if not isinstance(named, DeviceOperator):
        return None
    text = row.cells["sub_label"]
    sizes = {key: read_whole(value, row.where) for key, value in _PAIR.findall(text.lower())}
    if not sizes and (match := re.fullmatch(r"\s*(\d+)\s*x\s*(\d+)\s*x\s*(\d+)\s*", text)):
        sizes = dict(zip("mkn", map(int, match.groups()), strict=True))
    sizes = {key: value for key, value in sizes.items() if key in named.sizes}
    try:
        whole = named.complete(sizes)
    except SymscaleError as error:
        raise with_line(error, row.where) from None
    if not row.cells.get("median"):
        raise refusal(row.where, "has no median", "write Measurement.median into that column")
    unit = unit_of(table, "median", SECOND) or parse_unit("s")  # as torch defines it
    seconds = read_amount(row.cells["median"], unit, SECOND, row.where)
    return Measurement(named, whole, _word(row, text, options), seconds, row.where)
