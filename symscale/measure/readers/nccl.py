"""Reads what nccl-tests and rccl-tests print.

A table has the size of the message in bytes, and out of place and in place a time, the
algbw (size over time) and the busbw (algbw times what a device sends for each byte). All
three are printed, so that the collective, the number of devices and the units are checked
against each other in every line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from symscale.errors import InputError, printable, refusal, unknown_name
from symscale.measure.operators.collectives import COLLECTIVES, Collective
from symscale.measure.operators.measurement import Measurement
from symscale.measure.readers.reading import (
    BYTE,
    BYTE_RATE,
    SECOND,
    Facts,
    Options,
    Reading,
    line_of,
    read_number,
    read_whole,
    unit_named,
)

_PROGRAMS = {collective.nccl.replace("_", ""): collective for collective in COLLECTIVES}
_OTHERS = ("broadcast", "reduce", "gather", "scatter", "hypercube", "alltoallv")
# Who starts the ranks may put who says it before each line.
_LABEL = re.compile(r"^\s*(?:\[\d+,\d+\]\s*<std\w+>:\s?|\d+:\s+(?=[#\d]))")
_RANK = re.compile(
    r"#?\s*Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\S+\s+"
    r"\[[^\]]*\]\s*(.*)"
)
_NAME = re.compile(r"\b([a-z_]+?)_perf\b")
_FILE_NAME = re.compile(
    "|".join(collective.nccl.replace("_", "[-_ ]?") for collective in COLLECTIVES), re.IGNORECASE
)
# Times have four digits at least, bandwidths two places behind the point.
_RELATIVE, _PLACES = 0.01, 0.011


@dataclass
class _Table:
    """What is known of the run whose lines are being read."""

    collective: str = ""
    ranks: dict[int, tuple[str, str]] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    start: int = 0
    ended: bool = False


def is_nccl(lines: Sequence[str]) -> bool:
    """Whether lines look like those of nccl-tests, if only their beginning.

    Example:
        >>> is_nccl(["# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor)"])
        True
    """
    for raw in lines:
        line = _LABEL.sub("", raw).strip()
        if line.startswith("#") and ("nThread" in line or "nGpus" in line):
            return True
        if "algbw" in line and "busbw" in line and not set(",;") & set(line):
            return True
    return False


def read_nccl(where: str, lines: Sequence[str], options: Options) -> Reading:
    """Read a log, of one run or several.

    Args:
        where: What to call the file.
        lines: Its lines.
        options: What the user states.

    Raises:
        InputError: If a line is cut, contradicts itself, or lacks what it needs; the text
            names the line.
    """
    tables = _tables(where, lines)
    measurements: list[Measurement] = []
    hosts: list[int] = []
    devices: set[str] = set()
    for table in tables:
        found = _measurements(where, table, options)
        measurements += found
        hosts += [len({host for host, _ in table.ranks.values()})] * len(found)
        devices |= {device for _, device in table.ranks.values() if device}
    if not measurements:
        raise refusal(
            line_of(where, len(lines)), "the log ends before its first result",
            "it is cut, or the run failed: run it again",
        )
    name = sorted(devices)[0] if len(devices) == 1 else ""
    return Reading(
        where, "nccl-tests log", tuple(measurements), Facts(name, max(hosts)), tuple(hosts)
    )


def _tables(where: str, lines: Sequence[str]) -> list[_Table]:
    tables: list[_Table] = []
    table = _Table()
    last = 0
    for number, raw in enumerate(lines, start=1):
        line = _LABEL.sub("", raw).strip()
        if not line:
            continue
        last = number
        concluded = "concluded" in line  # that of the table before
        name = None if concluded else _NAME.search(line)
        if name and (name[1].replace("_", "") in _PROGRAMS or name[1] in _OTHERS):
            table.collective = table.collective or name[1]
        if line.startswith("#"):
            _header(where, number, line, table)
            if "Avg bus bandwidth" in line:
                table.ended = True
                tables.append(table)
                table = _Table()
        elif rank := _RANK.match(line):
            table.ranks[int(rank[1])] = (rank[2], rank[3].strip())
        elif re.fullmatch(r"\d+", line.split()[0]) and table.columns:
            table.rows.append((number, line.split()))
    if table.columns or (table.ranks and not tables):
        where = line_of(where, last)
        raise refusal(
            where, "the log ends before its line 'Avg bus bandwidth'",
            "it is cut: take the whole output, or run the benchmark again",
        )
    return tables


def _header(where: str, number: int, line: str, table: _Table) -> None:
    if rank := _RANK.match(line):
        table.ranks[int(rank[1])] = (rank[2], rank[3].strip())
        return
    if "Out of bounds values" in line and "FAILED" in line:
        raise refusal(line_of(where, number), "the run computed wrong values", "run it again")
    words = line.lstrip("#").split()
    if "algbw" in words and "busbw" in words:
        table.columns, table.start = words, number
    elif any(word in ("out-of-place", "in-place") for word in words):
        table.places = [word for word in words if word in ("out-of-place", "in-place")]
    elif table.columns and not table.units:
        table.units = re.findall(r"\(([^()]*)\)", line)


def _collective(where: str, table: _Table, options: Options) -> Collective:
    place = line_of(where, table.start)
    given = options.operator
    named = table.collective
    if named in _OTHERS:
        raise refusal(
            place, f"{named} has no operator model here",
            f"known: {', '.join(map(str, COLLECTIVES))}",
        )
    found = _PROGRAMS.get(named.replace("_", ""))
    if not found and (text := _FILE_NAME.search(where)):
        found = _PROGRAMS[re.sub("[-_ ]", "", text[0].lower())]
    if found and given and given is not found:
        raise refusal(place, f"the log says {found}, --operator says {given}", "check the file")
    chosen = found or given
    if chosen is None:
        raise refusal(
            place, "neither the log nor the file's name says which collective it is",
            "give --operator all-reduce, say",
        )
    if not isinstance(chosen, Collective):
        raise unknown_name("collective", chosen.name, [one.name for one in COLLECTIVES])
    return chosen


def _units(where: str, table: _Table) -> tuple[float, float]:
    """Seconds of a unit of time, and bytes per second of one of bandwidth."""
    place = line_of(where, table.start + 1)
    groups = table.columns.count("algbw")
    if len(table.units) < 2 + 3 * groups:
        raise refusal(
            place, "the line with the units (B), (us), (GB/s) is missing",
            "take the whole output of the benchmark",
        )
    size, timing = table.units[0], table.units[2 : 2 + 3 * groups]
    if unit_named(size, BYTE, place) != BYTE:
        raise refusal(place, f"sizes in {printable(size, 20)}", "nccl-tests prints bytes")
    times = {unit_named(text, SECOND, place) for text in timing[0::3]}
    rates = {unit_named(t, BYTE_RATE, place) for i, t in enumerate(timing) if i % 3}
    if len(times) != 1 or len(rates) != 1:
        raise refusal(place, "units are mixed", "take the output as the benchmark prints it")
    return float(times.pop().factor_to(SECOND)), float(rates.pop().factor_to(BYTE_RATE))


def _group(where: str, table: _Table, options: Options) -> tuple[int, str]:
    """Index of the column with the wanted time, and which place it is."""
    starts = [i for i, name in enumerate(table.columns) if name == "time"]
    place = line_of(where, table.start)
    if not starts or len(starts) != table.columns.count("algbw"):
        raise refusal(place, "has no column time for each algbw", "take the whole line")
    wanted = "in-place" if options.in_place else "out-of-place"
    if len(table.places) != len(starts):
        if len(starts) == 1 and not table.places:
            return starts[0], ""
        raise refusal(place, "does not say which times are in place", "take the line above too")
    if wanted not in table.places:
        raise refusal(place, f"has no times {wanted}", "measure them, or choose the other")
    return starts[table.places.index(wanted)], wanted


def _measurements(where: str, table: _Table, options: Options) -> list[Measurement]:
    if not table.columns:
        return []
    collective = _collective(where, table, options)
    second, rate = _units(where, table)
    column, place = _group(where, table, options)
    devices = len(table.ranks) or options.devices or 0
    head = line_of(where, table.start)
    if not devices:
        raise refusal(
            head, "no line '# Rank' says how many devices took part", "give --devices 8, say"
        )
    if table.ranks and sorted(table.ranks) != list(range(len(table.ranks))):
        raise refusal(head, "lines '# Rank' are missing", "take the whole output")
    if options.devices is not None and options.devices != devices:
        raise refusal(head, f"has {devices} ranks, --devices says {options.devices}", "check it")
    try:
        factor = float(collective.bus_factor(devices))
    except InputError as error:
        raise error.with_context(head) from None
    found = []
    for number, fields in table.rows:
        at = line_of(where, number)
        if len(fields) != len(table.columns):
            raise refusal(
                at, f"has {len(fields)} of {len(table.columns)} columns",
                "it is cut, or something else printed into it: remove or repair it",
            )
        if fields[0] == "0":  # too small to be divided among the ranks: nothing is sent
            continue
        size = read_whole(fields[0], at)
        values = [read_number(text, at) for text in fields[column : column + 3]]
        _check_wrong(fields, column, at)
        seconds = values[0] * second
        sizes = {"size_bytes": size, "devices": devices}
        one = Measurement(collective, sizes, 0, seconds, at, place=place)
        _check_bandwidths(one, values[1] * rate, values[2] * rate, factor, rate)
        found.append(one)
    if not found:
        raise refusal(head, "no line with a result follows", "the log is cut: run it again")
    return found


def _check_wrong(fields: Sequence[str], column: int, where: str) -> None:
    if column + 3 < len(fields):
        wrong = fields[column + 3]
        if re.fullmatch(r"[0-9]+", wrong) and int(wrong) > 0:
            raise refusal(where, f"{wrong} values came out wrong", "repair the machine first")


def _check_bandwidths(
    one: Measurement, algbw: float, busbw: float, factor: float, unit: float
) -> None:
    """Refuse a line whose size, time, algbw and busbw do not belong together."""
    true = one.sizes["size_bytes"] / one.seconds
    if abs(algbw - true) > _RELATIVE * true + _PLACES * unit:
        raise refusal(
            one.where,
            f"algbw {algbw / unit:.2f} is not size over time, which is {true / unit:.2f}",
            "units are mixed, or the line is damaged",
        )
    if abs(busbw - factor * true) > _RELATIVE * factor * true + 2 * _PLACES * unit:
        raise refusal(
            one.where,
            f"busbw {busbw / unit:.2f} is not that of {one.operator} over "
            f"{one.sizes['devices']} devices, {factor * true / unit:.2f}",
            "the collective or the number of devices is another",
        )

