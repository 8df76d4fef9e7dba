"""Options that are lists of numbers or bits of words, which several commands share."""

from typing import Annotated

import typer

from symscale.errors import InputError

EvolutionOption = Annotated[
    str,
    typer.Option(
        "--flop-vs-bw", metavar="K,K,...",
        help="How many times faster than the network arithmetic has become.",
    ),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision", metavar="64|32|16|8", help="Bits of a word in files that do not say."
    ),
]
_PRECISIONS = {"64": 8, "32": 4, "16": 2, "8": 1}


def word_bytes(precision: str | None) -> int | None:
    """Read --precision: the bytes of a word.

    Raises:
        InputError: If it is no number of bits that words have.
    """
    if precision is not None and precision not in _PRECISIONS:
        known = ", ".join(_PRECISIONS)
        raise InputError(f"--precision {precision[:20]}: give the bits of a word: {known}")
    return None if precision is None else _PRECISIONS[precision]
