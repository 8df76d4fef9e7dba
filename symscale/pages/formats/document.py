"""Documents: what a command has to say, whatever the format it prints in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.language.symbols import NOTATION, Notation
from symscale.pages.formulas.formula import Compared

DIGITS = 5


@dataclass(frozen=True)
class Formula:
    """A formula within a text or a table."""

    value: sp.Basic | Monomial | Compared


@dataclass(frozen=True)
class Number:
    """A number with its unit, to some digits.

    Attributes:
        value: The number.
        unit: Its unit, or "" for none.
        digits: Significant digits shown.
    """

    value: mp.mpf | float | sp.Rational
    unit: str = ""
    digits: int = DIGITS

    @property
    def parts(self) -> tuple[str, int]:
        """Mantissa and decimal exponent; the exponent is 0 for numbers of everyday size.

        Example:
            >>> Number(1.92406572e28).parts
            ('1.9241', 28)
            >>> Number(7889400.0, digits=8).parts
            ('7889400', 0)
        """
        value = sp.Rational(self.value) if isinstance(self.value, sp.Rational) else None
        number = mp.mpf(int(value.p)) / int(value.q) if value is not None else mp.mpf(self.value)
        if number == 0:
            return "0", 0
        text = mp.nstr(number, self.digits, min_fixed=-mp.inf, max_fixed=-mp.inf)
        mantissa, _, exponent = text.partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        power = int(exponent or 0)
        if -4 <= power < max(self.digits, 5) + 2:
            plain = mp.nstr(number, self.digits, min_fixed=-mp.inf, max_fixed=mp.inf)
            if "." in plain:
                plain = plain.rstrip("0").rstrip(".")
            return plain, 0
        return mantissa, power


@dataclass(frozen=True)
class Code:
    """What somebody types, letter for letter."""

    text: str


Inline: TypeAlias = str | Formula | Number | Code
Cell: TypeAlias = Inline | Sequence[Inline]


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 (the title), 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Running text with formulas and numbers in it."""

    content: tuple[Inline, ...]


@dataclass(frozen=True)
class Equation:
    """A formula on lines of its own.

    Attributes:
        value: The formula; several are lines of one display.
        label: Its label, or "".
    """

    value: sp.Basic | Monomial | Compared
    label: str = ""


@dataclass(frozen=True)
class Cases:
    """A quantity that is the least or greatest of several formulas.

    Attributes:
        left: The quantity.
        function: "min" or "max".
        pieces: The formulas.
    """

    left: sp.Basic
    function: Literal["min", "max"]
    pieces: Sequence[sp.Basic | Monomial]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        wrap: Whether its text may be broken over lines.
        right: Whether it is set flush right.
        share: In LaTeX, its share of the line where it wraps.
    """

    title: str
    wrap: bool = False
    right: bool = False
    share: float = 0.3


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        columns: Its columns.
        rows: Its cells.
        caption: What it shows, or "".
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Bibliography(Table):
    """The table of what a document cites, each row with its number in brackets first.

    Attributes:
        keys: For each row the key of its source; "" for a user's own words.
    """

    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class FigureBlock:
    """A drawing in a file beside the document.

    Attributes:
        file: Its name without an ending; it exists as .pdf and as .svg.
        caption: What it shows.
    """

    file: str
    caption: str


Block: TypeAlias = Heading | Paragraph | Equation | Cases | Table | FigureBlock


@dataclass(frozen=True)
class Document:
    """A title and blocks.

    Attributes:
        title: Its title.
        blocks: What stands in it.
        names: LaTeX of names that are typeset in a way of their own.
        symbols: Unit and meaning of its symbols by name, of a problem of one's own say.
    """

    title: str
    blocks: tuple[Block, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, Notation] = field(default_factory=lambda: NOTATION)


def between(lower: Sequence[mp.mpf], upper: Sequence[mp.mpf], unit: str) -> Cell:
    """The range of what is at least some numbers and at most others, and above 0.

    Example:
        >>> between([], [], "s"), between([], [mp.mpf(5), mp.mpf(7)], "s")[0]
        ('anything above 0', 'up to ')
    """
    if lower and upper:
        return ["from ", Number(max(lower)), " to ", Number(min(upper), unit)]
    if lower:
        return [Number(max(lower), unit), " or more"]
    return ["up to ", Number(min(upper), unit)] if upper else "anything above 0"


def paragraph(*content: Inline) -> Paragraph:
    """Return a paragraph of strings, formulas and numbers."""
    return Paragraph(tuple(content))
