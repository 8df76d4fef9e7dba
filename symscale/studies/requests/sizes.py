"""Values that a user gives to the sizes of a Transformer: resolved and checked."""

from collections.abc import Iterable, Mapping

import sympy as sp

from symscale.errors import InputError, unknown_name
from symscale.language.symbols import symbol, symbols

MOST = 10**12  # of a degree, a size or a length
MOST_TOKENS = 10**24  # of a batch
MOST_DIGITS = 40  # of a machine's figure


def settled(
    model: str, values: Mapping[sp.Symbol, sp.Expr], known: Iterable[sp.Symbol],
    machine: Iterable[str],
) -> dict[sp.Symbol, sp.Expr]:
    """Return values that name no symbol which has a value itself.

    Args:
        model: The model's name, for messages.
        values: Values of symbols.
        known: The symbols that the model and its plan leave open.
        machine: Names of a machine's figures that may be set as well.

    Raises:
        InputError: If a symbol is not open, symbols are defined by each other in a circle,
            or a size is no whole number or too large.

    Example:
        >>> d, ff = symbols("d_model d_ff")
        >>> settled("mine", {ff: 4*d, d: sp.Integer(8)}, (d, ff), ())[ff]
        32
    """
    sizes, figures = set(known), set(symbols(" ".join(machine))) if machine else set()
    for key in values:
        if key not in sizes | figures:
            raise InputError(f"--set {key}: {_closed(model, str(key), sizes | figures)}")
    found = dict(values)
    for _ in values:
        found = {key: value.xreplace(found) for key, value in found.items()}
    for key, value in found.items():
        for inner in sorted(value.free_symbols & set(values), key=str):
            raise InputError(f"--set {key}: {inner} is defined by itself in a circle")
        if value.is_number:
            _check(key, value, whole=key in sizes)
    return found


def _closed(model: str, name: str, allowed: set[sp.Symbol]) -> str:
    names = sorted(str(s) for s in allowed)
    offer = str(unknown_name("symbol", name, names)).partition("; did you mean ")[2]
    offer = f"; did you mean {offer}" if offer else ""
    return f"{model} has no {name} left open{offer}; open are {', '.join(names)}"


def _check(key: sp.Symbol, value: sp.Expr, *, whole: bool) -> None:
    if not value.is_Rational or value <= 0:
        raise InputError(f"--set {key}: it would be {value}; it is a rational number above 0")
    if not whole:
        exact = sp.Rational(value)
        if max(exact.p, exact.q) >= 10**MOST_DIGITS:
            raise InputError(f"--set {key}: the number is beyond what is exact; round it")
        return
    if not value.is_Integer:
        raise InputError(f"--set {key}: it would be {value}, but it counts; give a whole number")
    most = MOST_TOKENS if key == symbol("b") else MOST
    if value > most:
        raise InputError(f"--set {key}: it would be more than {most:.0e}; check it")
