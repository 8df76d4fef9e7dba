"""Our own file of measurements: what `symscale profile` writes and `symscale fit` reads.

    {"format": "symscale measurements 1",
     "machine": {"device": "...", "memory_bytes": 64000000000, "processes": true},
     "measurements": [{"operator": "matrix product", "m": 64, "n": 64, "k": 64,
                       "word_bytes": 4, "seconds": 1e-05, "spread": 0.02}]}

Times are in seconds and sizes in bytes: the keys say so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from symscale.errors import SymscaleError, printable, refusal
from symscale.language.json_text import parse_json
from symscale.language.tables import TypedNumber, check_keys
from symscale.measure.operators.collectives import Collective
from symscale.measure.operators.measurement import MOST_MEASUREMENTS, Measurement
from symscale.measure.operators.operators import SIZES, named_operator
from symscale.measure.readers.reading import Facts, Reading, read_number, with_line

FORMAT = "symscale measurements 1"
_KEYS = ("operator", *SIZES, "word_bytes", "seconds", "spread", "repetitions", "count", "region")
_FILE = ("format", "machine", "measurements", "interrupted", "symscale_version", "schema")
_MACHINE = (
    "device", "memory_bytes", "cores", "threads", "library", "word", "clock", "processes",
    "processes_note", "collectives", "accelerators", "load", "note",
)


def measurements_data(found: Sequence[Measurement], machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return measurements and what is known of the machine, as the file holds them.

    Example:
        >>> from symscale.measure.operators.memory_bound import LAYER_NORM
        >>> one = Measurement(LAYER_NORM, {"tokens": 8, "width": 4, "inputs": 1}, 4, 1e-6, "x")
        >>> measurements_data([one], {})["measurements"][0]["seconds"]
        1e-06
    """
    rows = []
    for one in found:
        row: dict[str, Any] = {"operator": one.operator.name, **one.sizes}
        if one.word_bytes:
            row["word_bytes"] = one.word_bytes
        row["seconds"] = float(f"{one.seconds:.6g}")
        if one.spread is not None:
            row["spread"] = float(f"{one.spread:.4g}")
        row["repetitions"] = one.repetitions
        rows.append(row)
    return {"format": FORMAT, "machine": dict(machine), "measurements": rows}


def read_json(where: str, data: bytes) -> Reading:
    """Read our file of measurements.

    Args:
        where: What to call the file.
        data: Its bytes.

    Raises:
        InputError: If it is none, or an entry of it cannot be used; entries are counted from 1.
    """
    table = parse_json(data, where)
    check_keys(table, _FILE, where)
    if table.get("format") != FORMAT:
        raise refusal(where, f"is not of the format {FORMAT!r}", "symscale profile writes it")
    entries = table.get("measurements")
    if not isinstance(entries, list) or not entries:
        raise refusal(where, "has no measurements", "measure again")
    if len(entries) > MOST_MEASUREMENTS:
        raise refusal(where, "has too many measurements", f"{MOST_MEASUREMENTS} at most")
    found = tuple(
        _measurement(entry, f"{where}: measurement {place}")
        for place, entry in enumerate(entries, start=1)
    )
    facts = _facts(table.get("machine", {}), where)
    return Reading(where, "symscale measurements", found, facts, (1,) * len(found))


def _facts(table: object, where: str) -> Facts:
    where = f"{where}: machine"
    if not isinstance(table, dict):
        raise refusal(where, "is not a table", 'write {"device": "..."}')
    check_keys(table, _MACHINE, where)
    device = table.get("device", "")
    memory = table.get("memory_bytes", 0)
    if not isinstance(device, str) or len(device) > 120:
        raise refusal(where, "device is no name", 'write "device": "..."')
    if isinstance(memory, bool) or not isinstance(memory, int) or not 0 <= memory < 2**60:
        raise refusal(where, "memory_bytes is no number of bytes", "write a whole number")
    said = [f"{key}: {printable(str(table[key]), 100)}" for key in ("library", "clock", "threads")
            if key in table]
    return Facts(
        printable(device, 120), 1, memory, table.get("processes") is True, tuple(said)
    )


def _measurement(entry: object, where: str) -> Measurement:
    if not isinstance(entry, dict):
        raise refusal(where, "is not a table", 'write {"operator": "...", ...}')
    check_keys(entry, _KEYS, where)
    name = entry.get("operator")
    if not isinstance(name, str):
        raise refusal(where, "has no operator", 'write "operator": "matrix product", say')
    try:
        operator = named_operator(name)
        sizes = {key: _whole(entry[key], where, key) for key in SIZES if key in entry}
        whole = operator.complete(sizes)
    except SymscaleError as error:
        raise with_line(error, where) from None
    unsaid = 0 if isinstance(operator, Collective) else None
    word = _whole(entry.get("word_bytes", unsaid), where, "word_bytes", 0)
    if "seconds" not in entry:
        raise refusal(where, "has no seconds", 'write "seconds": 0.0125, say')
    spread = entry.get("spread")
    return Measurement(
        operator, whole, word, _float(entry["seconds"], where), where,
        spread=None if spread is None else _float(spread, where),
        repetitions=_whole(entry.get("repetitions", 1), where, "repetitions"),
        count=_whole(entry.get("count", 1), where, "count"),
    )


def _whole(value: object, where: str, key: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 2**63:
        raise refusal(where, f"{key} is no count", f'write "{key}": 4096, say')
    return value


def _float(value: object, where: str) -> float:
    if isinstance(value, TypedNumber):
        return read_number(value.text, where)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 10**12:
        raise refusal(where, f"{printable(str(value))!r} is not a number", "write 0.0125, say")
    return float(value)
