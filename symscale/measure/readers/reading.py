"""Lines and numbers of users' measurement files, within limits; nothing is guessed.

Example:
    >>> read_number("12,5", "gemm.csv: line 3")
    Traceback (most recent call last):
        ...
    symscale.errors.InputError: gemm.csv: line 3: '12,5' has a decimal comma; write 12.5
"""

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import PurePath

from symscale.errors import InputError, SymscaleError, printable, refusal
from symscale.language.tables import read_file_bytes
from symscale.language.units import Unit, parse_unit
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.operator import Operator

LARGEST_FILE_BYTES = 20_000_000
MOST_LINES = 200_000
LONGEST_LINE = 20_000
SECOND, BYTE, FLOP_RATE, BYTE_RATE = (parse_unit(u) for u in ("s", "byte", "FLOP/s", "byte/s"))
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_WITH_UNIT = re.compile(rf"({_NUMBER.pattern})\s*([^\W\d_][\w/]*)")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]{1,3})?")

# What benchmarks write where the notation of units has another spelling.
_SPELLED = {
    "usec": "us", "usecs": "us", "msec": "ms", "sec": "s", "seconds": "s", "microseconds": "us",
    "milliseconds": "ms", "bytes": "byte", "b": "byte", "gflops": "GFLOP/s", "tflops": "TFLOP/s",
    "gflop/s": "GFLOP/s", "tflop/s": "TFLOP/s", "flops": "FLOP/s", "mflops": "MFLOP/s",
    "kb": "kB", "mb": "MB", "gb": "GB", "gbps": "", "gb/s": "GB/s", "mb/s": "MB/s", "ns": "ns",
    "us": "us", "ms": "ms", "s": "s", "byte": "byte",
}
_TYPES = {
    "float64": 8, "double": 8, "fp64": 8, "f64_r": 8, "d": 8, "f64": 8,
    "float32": 4, "float": 4, "fp32": 4, "f32_r": 4, "s": 4, "f32": 4, "tf32": 4, "xf32": 4,
    "float16": 2, "half": 2, "fp16": 2, "f16_r": 2, "fp16_r": 2, "h": 2, "f16": 2,
    "bfloat16": 2, "bf16": 2, "bf16_r": 2, "mixed": 2,
    "float8": 1, "fp8": 1, "fp8_e4m3": 1, "f8_r": 1, "int8": 1, "i8_r": 1, "int8_t": 1,
}


@dataclass(frozen=True)
class Options:
    """What a user states about files that do not say it themselves.

    Attributes:
        word_bytes: Bytes of a word, or None.
        devices: How many devices took part, or None.
        in_place: Whether the times of collectives in place are wanted, not out of place.
        operator: Which operator a file measures, or None.
    """

    word_bytes: int | None = None
    devices: int | None = None
    in_place: bool = False
    operator: Operator | None = None

    def word(self, where: str) -> int:
        """Bytes of a word where a line does not say them; refused if the user does not either."""
        if self.word_bytes is None:
            raise refusal(
                where, "nothing says how many bytes a word has",
                "add a column dtype, or give --precision 16, say",
            )
        return self.word_bytes


@dataclass(frozen=True)
class Facts:
    """What files say about the machine that they were measured on.

    Attributes:
        device: The device's name, or "".
        hosts: Over how many hosts the collectives ran; 0 where nothing is said.
        memory_bytes: Memory of a device; 0 where nothing is said.
        processes: Whether the collectives ran over processes of one host.
        notes: What else to know.
    """

    device: str = ""
    hosts: int = 0
    memory_bytes: int = 0
    processes: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What a file holds.

    Attributes:
        path: Its name.
        kind: Which format it is in, such as "nccl-tests log".
        measurements: The measurements.
        facts: What it says about the machine, one entry for each run in it.
        hosts: For each measurement, over how many hosts it ran; 0 where nothing is said.
    """

    path: str
    kind: str
    measurements: tuple[Measurement, ...]
    facts: Facts
    hosts: tuple[int, ...] = field(default=())


def read_lines(path: str) -> tuple[str, list[str]]:
    """Return what to call a file in errors, and its lines.

    Raises:
        InputError: If it is no readable UTF-8 text within the limits.
    """
    where = printable(PurePath(path).name, 80)
    data = read_file_bytes(path, "a log or table", LARGEST_FILE_BYTES, "split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise refusal(f"{where}: line {line}", "is not UTF-8 text", "save it as UTF-8") from None
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(lines) > MOST_LINES:
        raise refusal(where, f"has more than {MOST_LINES} lines", "split it")
    longest = max(range(len(lines)), key=lambda i: len(lines[i]))
    if len(lines[longest]) > LONGEST_LINE:
        problem = f"has more than {LONGEST_LINE} characters"
        raise refusal(f"{where}: line {longest + 1}", problem, "break it")
    if not any(line.strip() for line in lines):
        raise refusal(where, "is empty", "measure, and write what the benchmark prints into it")
    return where, lines


def read_number(text: str, where: str) -> float:
    """Read a plain decimal number.

    Raises:
        InputError: If it is anything else, a decimal comma say.
    """
    text = text.strip()
    if _COMMA.fullmatch(text):
        raise refusal(
            where, f"{printable(text)!r} has a decimal comma",
            f"write {printable(text.replace(',', '.'))}",
        )
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        problem = f"{printable(text)!r} is not a number" if text else "a number is missing"
        raise refusal(where, problem, "write such as 12.5")
    value = float(text)
    if not math.isfinite(value):
        raise refusal(where, f"{printable(text)!r} is beyond all numbers", "check the unit")
    return value


def read_whole(text: str, where: str) -> int:
    """Read a whole number above zero.

    Raises:
        InputError: If it is anything else.
    """
    value = read_number(text, where)
    if value != int(value) or not 1 <= value <= 2**63:
        raise refusal(where, f"{printable(text.strip())} is no count", "write 4096, say")
    return int(value)


def unit_named(text: str, wanted: Unit, where: str) -> Unit:
    """Return the unit that a header names, which must fit what is wanted.

    Raises:
        InputError: If it is no such unit.

    Example:
        >>> str(unit_named("usec", SECOND, "line 1"))
        'us'
    """
    spelled = _SPELLED.get(text.strip().lower(), text.strip())
    try:
        unit = parse_unit(spelled)
        fits = unit.fits(wanted)
    except SymscaleError:
        fits = False
    if not fits:
        raise refusal(
            where, f"{printable(text)!r} is no unit of {_kind(wanted)}", f"write {wanted}, say"
        )
    return unit


def _kind(unit: Unit) -> str:
    names = {SECOND: "time", BYTE: "size", FLOP_RATE: "an arithmetic rate", BYTE_RATE: "bandwidth"}
    return names.get(unit, str(unit))


def read_amount(text: str, unit: Unit | None, wanted: Unit, where: str) -> float:
    """Read a number in the unit of its column, or with its own, in base units.

    Raises:
        InputError: If neither names a unit, or the two differ.

    Example:
        >>> read_amount("12.5us", None, SECOND, "line 2") == 12.5e-6
        True
    """
    text = text.strip()
    own = _WITH_UNIT.fullmatch(text)
    if own and not _NUMBER.fullmatch(text):
        named = unit_named(own[2], wanted, where)
        if unit is not None and named != unit:
            raise refusal(
                where, f"{printable(text)!r} is in {named} in a column of {unit}",
                "use one unit",
            )
        unit, text = named, own[1]
    value = read_number(text, where)
    if unit is None:
        raise refusal(
            where, f"{printable(text)!r} has no unit",
            f"name it in the header, such as time ({wanted}), or behind every number",
        )
    return float(Fraction(repr(value)) * unit.factor_to(wanted))  # 12.5 us are 1.25e-05 s


def line_of(where: str, number: int) -> str:
    """Name a line of a file.

    Example:
        >>> line_of("a.csv", 3)
        'a.csv: line 3'
    """
    return f"{where}: line {number}"


def with_line(error: SymscaleError, where: str) -> InputError:
    """Return an error with the line it is about before it, unless it names one already."""
    text = str(error)
    return InputError(text if text.startswith(where) else f"{where}: {text}")


def word_bytes_of(text: str, where: str) -> int:
    """Bytes of a word of a type, as frameworks and benchmarks call it.

    Raises:
        InputError: If the type is unknown.

    Example:
        >>> word_bytes_of("torch.bfloat16", "line 2"), word_bytes_of("f32_r", "line 2")
        (2, 4)
    """
    name = text.strip().lower().removeprefix("torch.")
    if name not in _TYPES:
        raise refusal(
            where, f"the type {printable(text)!r} is unknown", "write float32 or bfloat16, say"
        )
    return _TYPES[name]
