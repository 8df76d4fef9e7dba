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
from symscale.measure.operators.operators import COLLECTIVE, OPERATORS, complete
from symscale.measure.operators.operators import operator as named_operator
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

_PROFILED = {
    "aten::mm": "matrix product", "aten::addmm": "matrix product", "aten::bmm": "batched product",
    "aten::baddbmm": "batched product", "aten::native_layer_norm": "layer norm",
    "aten::gelu": "elementwise", "aten::add": "elementwise", "aten::mul": "elementwise",
    "aten::relu": "elementwise",
}
_LABELS = {
    "mm": "matrix product", "matmul": "matrix product", "gemm": "matrix product",
    "bmm": "batched product", "layer_norm": "layer norm", "layernorm": "layer norm",
    "gelu": "elementwise", "add": "elementwise",
}
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
    if options.word_bytes is None:
        raise refusal(
            row.where, "nothing says how many bytes a word has",
            "add a column dtype, or give --precision 16, say",
        )
    return options.word_bytes


def _profiled(table: CsvTable, row: CsvRow, options: Options) -> Measurement | None:
    name = _PROFILED.get(row.cells.get("name", row.cells.get("key", "")).strip())
    if name is None:
        return None
    text = row.cells.get("input shapes") or row.cells.get("input_shapes") or ""
    shapes = [[int(n) for n in s.split(",")] for s in _SHAPE.findall(text[:2000])
              if len(s) < 100]
    sizes = _of_shapes(name, shapes)
    if sizes is None:
        raise refusal(
            row.where, f"shapes {printable(text, 60)!r} are not those of {name}",
            "record_shapes=True and group_by_input_shape=True give them",
        )
    column = next((c for c in _TIMES if row.cells.get(c, "").strip()), None)
    if column is None:
        raise refusal(row.where, "has no average time", "keep the column 'CUDA time avg'")
    seconds = read_amount(row.cells[column], unit_of(table, column, SECOND), SECOND, row.where)
    return Measurement(name, sizes, _word(row, text, options), seconds, row.where)


def _of_shapes(name: str, shapes: list[list[int]]) -> dict[str, int] | None:
    """Sizes of an operator from the shapes of its inputs."""
    if name.endswith("product"):
        ranks = 2 if name.startswith("matrix") else 3
        factors = [s for s in shapes if len(s) == ranks][-2:]
        if len(factors) < 2 or factors[0][-1] != factors[1][-2]:
            return None
        batch = factors[0][0] if ranks == 3 else 1
        (*_, m, k), (*_, n) = factors
        return {"m": m, "n": n, "k": k, "batch": batch}
    if not shapes or not shapes[0]:
        return None
    tokens = 1
    for length in shapes[0][:-1]:
        tokens *= length
    inputs = 1
    if name == "elementwise":  # what is broadcast is small
        inputs = sum(shape == shapes[0] for shape in shapes)
    return {"tokens": tokens, "width": shapes[0][-1], "inputs": inputs}


def _benchmarked(table: CsvTable, row: CsvRow, options: Options) -> Measurement | None:
    label = row.cells["label"].strip()
    name = _LABELS.get(label.lower().replace(" ", "_").removeprefix("torch."))
    if name is None:
        try:
            name = named_operator(label).name
        except SymscaleError:
            return None
    if OPERATORS[name].kind == COLLECTIVE:
        return None
    text = row.cells["sub_label"]
    sizes = {key: read_whole(value, row.where) for key, value in _PAIR.findall(text.lower())}
    if not sizes and (match := re.fullmatch(r"\s*(\d+)\s*x\s*(\d+)\s*x\s*(\d+)\s*", text)):
        sizes = dict(zip("mkn", map(int, match.groups()), strict=True))
    wanted = OPERATORS[name].sizes
    sizes = {key: value for key, value in sizes.items() if key in wanted}
    try:
        whole = complete(name, sizes)
    except SymscaleError as error:
        raise with_line(error, row.where) from None
    if not row.cells.get("median"):
        raise refusal(row.where, "has no median", "write Measurement.median into that column")
    unit = unit_of(table, "median", SECOND) or parse_unit("s")  # as torch defines it
    seconds = read_amount(row.cells["median"], unit, SECOND, row.where)
    return Measurement(name, whole, _word(row, text, options), seconds, row.where)
