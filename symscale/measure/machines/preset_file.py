"""A hardware file as measurements make it: its figures, the fits behind them, and its text."""

from collections.abc import Mapping
from dataclasses import dataclass

from symscale.answers import Answer
from symscale.facts.machines.machine import Machine
from symscale.language.toml_text import figure_text, quoted
from symscale.measure.operators.fitting import Judged
from symscale.measure.operators.operator import Operator

WORDS = {8: "64 bit", 4: "32 bit", 2: "16 bit", 1: "8 bit"}


@dataclass(frozen=True)
class Fit:
    """A formula fitted to one group of measurements.

    Attributes:
        operator: The operator.
        word_bytes: Bytes of a word, 0 for collectives.
        devices: How many took part, 0 for what is no collective.
        hosts: Over how many hosts, 0 where nothing is said.
        judged: The formula max(work/rate, bytes/bandwidth) + latency, with its errors.
        proportional: The simple model of the study, with its errors.
    """

    operator: Operator
    word_bytes: int
    devices: int
    hosts: int
    judged: Judged
    proportional: Judged

    @property
    def title(self) -> str:
        """What was measured, in words."""
        more = f" over {self.devices} devices" if self.devices else ""
        more += f" of {self.hosts} hosts" if self.hosts > 1 else ""
        word = f", {WORDS.get(self.word_bytes, '')}" if self.word_bytes else ""
        return f"{self.operator}{more}{word}"


@dataclass(frozen=True)
class Stated:
    """One figure of the hardware file.

    Attributes:
        key: Its key, such as "flop_rate".
        tier: The tier that it belongs to, or "".
        value: Its value.
        unit: Its unit.
        source: Where it comes from.
        direction: Of a bandwidth.
        condition: Of an arithmetic rate.
        note: What else to know: errors.
    """

    key: str
    tier: str
    value: float
    unit: str
    source: str
    direction: str = ""
    condition: str = ""
    note: str = ""


@dataclass(frozen=True, repr=False)
class Calibration(Answer):
    """What measurements say about a machine.

    Attributes:
        title: How reports call the machine.
        base: The preset that has what was not measured, or None.
        figures: What was measured or stated.
        sizes: For each tier that the file lists its size; None for the outermost.
        fits: The fitted formulas.
        warnings: Fits that are worse than the limit, each with its sizes.
        notes: What else to know.
    """

    page = "fit"
    title: str
    base: Machine | None
    figures: tuple[Stated, ...]
    sizes: Mapping[str, int | None]
    fits: tuple[Fit, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def preset_text(found: Calibration) -> str:
    """Return the hardware file as TOML."""
    lines = [f"title = {quoted(found.title)}"]
    if found.base is not None:
        lines.append(f"base = {quoted(found.base.name)}")
        lines.append(f"reason = {quoted(found.notes[0][:300])}")
    lines.append("")
    lines += [_figure_text(f) for f in found.figures if not f.tier]
    for name, size in found.sizes.items():
        own = [f for f in found.figures if f.tier == name]
        lines += ["", "[[tier]]", f"name = {quoted(name)}"]
        if found.base is None and size is not None:
            lines += [f"size = {size}", f"source = {quoted(own[0].source)}"]
        lines += [_figure_text(f) for f in own]
    return "\n".join(lines) + "\n"


def _figure_text(figure: Stated) -> str:
    return figure_text(
        figure.key, figure.value, figure.unit, figure.source, direction=figure.direction,
        condition=figure.condition, note=figure.note,
    )
