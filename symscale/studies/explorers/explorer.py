"""What a study shows to a reader who moves its parameters: formulas, presets, a plot.

An explorer holds formulas, no numbers but its defaults and presets. Whoever shows it
evaluates the formulas where the reader puts the parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import sympy as sp


@dataclass(frozen=True)
class Slider:
    """A parameter that can be moved.

    Attributes:
        symbol: The parameter.
        low: Its least value.
        high: Its greatest value.
        value: Where it starts.
        group: Under which heading it stands.
        log: Whether the scale is logarithmic.
        whole: Whether it is a whole number.
    """

    symbol: sp.Symbol
    low: sp.Rational
    high: sp.Rational
    value: sp.Rational
    group: str
    log: bool = True
    whole: bool = False


@dataclass(frozen=True)
class Preset:
    """Values that go together, such as those of a machine."""

    name: str
    title: str
    values: Mapping[sp.Symbol, sp.Rational]


@dataclass(frozen=True)
class Choice:
    """A quantity that is the least or greatest of some pieces.

    Attributes:
        key: Its name, an identifier.
        title: Its heading.
        left: The quantity, as a symbol; None where it has none.
        function: "min" or "max".
        pieces: The pieces by name.
        unit: Their unit.
        note: What else to know.
        end: A parameter, and the value of it beyond which no piece holds.
    """

    key: str
    title: str
    left: sp.Symbol | None
    function: Literal["min", "max"]
    pieces: Mapping[str, sp.Expr]
    unit: str
    note: str = ""
    end: tuple[sp.Symbol, sp.Expr] | None = None


@dataclass(frozen=True)
class Result:
    """A formula with its value.

    Attributes:
        key: Its name, an identifier.
        title: Its heading.
        left: What it is a value of, where that has a symbol.
        expr: The formula.
        unit: Its unit.
        note: What it says.
    """

    key: str
    title: str
    left: sp.Expr | None
    expr: sp.Expr
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Mark:
    """A cliff: where along a curve another piece takes over.

    Attributes:
        key: Its name, an identifier.
        title: What happens there.
        expr: Where it is.
        end: Whether the curve ends there.
    """

    key: str
    title: str
    expr: sp.Expr
    end: bool = False


@dataclass(frozen=True)
class Curves:
    """What is drawn against a parameter: shares between 0 and 1, with cliffs.

    Attributes:
        x: The parameter.
        title: What is drawn.
        lines: The curves by name.
        marks: The cliffs.
    """

    x: sp.Symbol
    title: str
    lines: Mapping[str, sp.Expr]
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Explorer:
    """A study to explore.

    Attributes:
        name: Its name.
        title: Its title.
        lead: What it is, in a few sentences.
        sliders: The parameters.
        presets: Lists of presets, by their label.
        choices: Quantities of several pieces; the regions are those of the first.
        results: Other formulas.
        curves: What is drawn.
        plane: The two parameters over which regions are drawn at first.
        derivation: The derivation that it rests on.
        chosen: The preset of each list at which it starts.
    """

    name: str
    title: str
    lead: str
    sliders: tuple[Slider, ...]
    presets: Mapping[str, tuple[Preset, ...]]
    choices: tuple[Choice, ...]
    results: tuple[Result, ...]
    curves: Curves
    plane: tuple[sp.Symbol, sp.Symbol]
    derivation: str
    chosen: Mapping[str, str]

    @property
    def formulas(self) -> dict[str, sp.Expr]:
        """Every formula by a name of its own."""
        found: dict[str, sp.Expr] = {}
        for choice in self.choices:
            for k, piece in enumerate(choice.pieces.values()):
                found[f"{choice.key}_{k}"] = piece
            if choice.end is not None:
                found[f"{choice.key}_end"] = choice.end[1]
        found |= {result.key: result.expr for result in self.results}
        found |= {f"line_{k}": line for k, line in enumerate(self.curves.lines.values())}
        return found | {mark.key: mark.expr for mark in self.curves.marks}
