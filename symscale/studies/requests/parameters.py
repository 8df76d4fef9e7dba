"""The parameters of a study: defaults, a machine's figures, and what a user sets."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from symscale.algebra.exact.domain import Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import (
    FormulaError,
    InputError,
    SymscaleError,
    UnitError,
    printable,
    unknown_name,
)
from symscale.facts.machines.lumped import LumpedDevice, parameters_of
from symscale.language.dimensions import unit_of
from symscale.language.parsing import parse_assignment, parse_expression
from symscale.language.sources import cite
from symscale.language.symbols import (
    CHINCHILLA,
    DATA_MOVEMENT,
    NOTATION,
    Notation,
    notation,
    symbol,
)
from symscale.language.units import is_quantity_text, parse_quantity, parse_unit

GIVEN = "given by the user"
QUARTER_YEAR_S = sp.Rational(36525 * 86400, 400)
WORD_BYTES = sp.Integer(2)

FOLDED = ("alpha", "alpha_L", "r_D", "r_ff")
"""Parameters that are numbers before a program is solved: exponents, and constants of rules."""

MAX_POWER = 1000  # of a symbol, once settings are put into one another
MAX_BITS = 4096  # of a number, likewise
MAX_DENOMINATOR = 10**6  # of an exponent that is set

EXPONENTS = {
    symbol("alpha"): Interval(None, sp.Rational(1, 2)),
    symbol("alpha_L"): Interval(None, None),
}
"""Where the exponents may lie. Beyond alpha = 1/2 data movement sets no upper limit."""


@dataclass(frozen=True)
class Parameter:
    """A parameter with its value.

    Attributes:
        name: Its name in the notation.
        value: Its value in the notation's unit: a number, or a monomial in others; None
            where it stays a symbol.
        source: Where the value comes from, in words.
        unlimited: Whether there is no such limit at all (an infinite bandwidth).
    """

    name: str
    value: sp.Expr | None
    source: str
    unlimited: bool = False

    @property
    def unit(self) -> str:
        """Its unit."""
        return notation(self.name).unit

    @property
    def symbol(self) -> sp.Symbol:
        """Its symbol."""
        return symbol(self.name)

    @property
    def number(self) -> sp.Rational | None:
        """Its value, where that is a number."""
        return self.value if isinstance(self.value, sp.Rational) else None


def defaults() -> dict[str, Parameter]:
    """The standard assumptions of the data-movement study, and those of the notation."""
    study, chinchilla = cite(DATA_MOVEMENT), cite(CHINCHILLA)
    table: list[tuple[str, sp.Expr, str]] = [
        ("alpha", sp.Integer(0), f"batch and depth grow alike; {study}"),
        ("alpha_L", sp.Integer(0), f"constant depth; {study}"),
        ("E", sp.Integer(1), "dense model"),
        ("b_0", sp.Integer(4_000_000), study),
        ("L_0", sp.Integer(100), study),
        ("T_0", sp.Integer(6) * 10**23, f"3e23 multiply-accumulates; {study}"),
        ("t_d", QUARTER_YEAR_S, f"three months of 365.25/4 days; {study}"),
        ("tau", sp.Rational(9, 10**6), f"4.5 us of a product + 4.5 us of its all-reduce; {study}"),
        ("r_D", sp.Integer(20), chinchilla),
        ("r_ff", sp.Integer(4), "usual shape of a Transformer's MLP"),
        ("w", WORD_BYTES, "16-bit words"),
    ]
    return {name: Parameter(name, value, source) for name, value, source in table}


def rules() -> dict[sp.Symbol, sp.Expr | Monomial]:
    """The standard values of the constants of rules, r_D and r_ff.

    Example:
        >>> rules()
        {r_D: 20, r_ff: 4}
    """
    standard = defaults()
    return {
        p.symbol: p.value
        for p in (standard["r_D"], standard["r_ff"])
        if p.value is not None
    }


def read_settings(texts: Iterable[str]) -> dict[str, sp.Expr]:
    """Read `name=value` texts; values are in the units of the notation.

    A value is a number with an optional unit, or an expression in symbols of the
    notation. Bytes are turned into words later, when the size of a word is known.

    Raises:
        InputError: If a text is malformed, a name unknown, a unit wrong, a value out
            of its domain, or a name is set twice to different values.

    Example:
        >>> read_settings(["tau=9us", "b_0=8e6"])
        {'tau': 9/1000000, 'b_0': 8000000}
    """
    settings: dict[str, sp.Expr] = {}
    pending: dict[str, tuple[str, str]] = {}
    for text in texts:
        name, value = parse_assignment(text)
        if name not in NOTATION:
            raise unknown_name("symbol", name, NOTATION, see="symscale symbols")
        if name in pending and pending[name][1] != value:
            raise InputError(
                f"{name} is set twice, to {printable(pending[name][1], 60)} and to "
                f"{printable(value, 60)}"
            )
        pending[name] = (text, value)
    for name in sorted(pending, key=lambda n: n != "w"):  # the others may count in words
        text, value = pending[name]
        try:
            settings[name] = read_value(name, value, settings.get("w", WORD_BYTES))
        except SymscaleError as error:
            raise error.with_context(f"--set {printable(text, 60)}") from None
    return settings


def read_study_settings(
    texts: Iterable[str], duration: str | None = None
) -> dict[str, sp.Expr]:
    """Read `name=value` texts together with the time that a run may take.

    Raises:
        InputError: If one cannot be used, or they contradict each other.

    Example:
        >>> read_study_settings(["b_0=8e6"], "90d")
        {'b_0': 8000000, 't_d': 7776000}
    """
    settings = read_settings(texts)
    if duration is not None:
        if "t_d" in settings:
            raise InputError("--duration and --set t_d say the same thing; give one of them")
        try:
            if parse_quantity(duration).unit is None:  # a time, no expression
                raise InputError("it has no unit; write such as 90d, 3mo or 1y")
            settings["t_d"] = read_value("t_d", duration)
        except InputError as error:
            raise error.with_context(f"--duration {printable(duration, 60)}") from None
    return settings


def read_value(name: str, text: str, word: sp.Expr = WORD_BYTES) -> sp.Expr:
    """Read the value of a symbol, in the unit of the notation.

    Args:
        name: The symbol.
        text: A number with an optional unit, or an expression.
        word: Bytes of a word.

    Raises:
        InputError: If the text is malformed, its unit wrong, or its value out of the domain.

    Example:
        >>> read_value("W_net", "100GB/s")
        50000000000
    """
    entry = notation(name)
    if is_quantity_text(text):
        value = _read_quantity(entry, text, word)
    else:
        value = parse_expression(text, {n: symbol(n) for n in NOTATION})
    _check_domain(entry, value)
    _check_unit(entry, value)
    return value


def _read_quantity(entry: Notation, value: str, word: sp.Expr) -> sp.Expr:
    quantity, wanted = parse_quantity(value), parse_unit(entry.unit)
    if quantity.unit is None:
        return _rational(quantity.value)
    if quantity.unit.fits(wanted):
        return _rational(quantity.to(wanted))
    in_bytes = wanted * parse_unit("byte/word")
    if quantity.unit.fits(in_bytes):
        return _rational(quantity.to(in_bytes)) / word
    raise UnitError(f"{entry.name} is in {entry.unit}, not in {quantity.unit}")


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _check_unit(entry: Notation, value: sp.Expr) -> None:
    """An expression must be a pure number (then in the symbol's unit), or have that unit."""
    if not value.free_symbols:
        return
    unit = unit_of(value, {e.symbol: parse_unit(e.unit) for e in NOTATION.values()})
    if not unit.is_dimensionless and not unit.fits(parse_unit(entry.unit)):
        raise UnitError(f"{entry.name} is in {entry.unit}, the expression in {unit}")


def _check_domain(entry: Notation, value: sp.Expr) -> None:
    if value.free_symbols:
        if entry.exponent:
            raise InputError(f"{entry.name} stands in exponents and must be a number")
        own = {entry.name} & {str(s) for s in value.free_symbols}
        if own:
            raise InputError(f"{entry.name} is set to an expression in itself")
        try:
            monomial = Monomial.of(value)
        except FormulaError as error:
            raise InputError(f"{error}; write a number or a product of powers") from None
        if any(not a.is_Symbol for a in monomial.atoms):
            raise InputError(f"{value} is a sum; write a number or a product of powers")
        return
    if entry.exponent:
        _check_exponent(entry, value)
        return
    if not value.is_positive:
        raise InputError(f"{entry.name} must be positive, it is {value}")
    if entry.lower is not None and value < entry.lower:
        raise InputError(f"{entry.name} must be at least {entry.lower}, it is {value}")


def _check_exponent(entry: Notation, value: sp.Expr) -> None:
    """An exponent must be a plain fraction, and leave the powers of the limit finite."""
    if not isinstance(value, sp.Rational) or value.q > MAX_DENOMINATOR or abs(value) > MAX_POWER:
        raise InputError(
            f"{entry.name} must be a decimal or fraction of at most six digits between "
            f"-{MAX_POWER} and {MAX_POWER}"
        )
    interval = EXPONENTS[entry.symbol]
    if value not in interval:
        raise InputError(
            f"{entry.name} must be below {interval.upper}: from there on the critical batch "
            "outgrows what data movement costs, and there is no limit"
        )
    if interval.upper is not None and interval.upper - value < sp.Rational(1, 2 * MAX_POWER):
        raise InputError(
            f"{entry.name} is so near to {interval.upper} that the limit has powers beyond "
            f"{MAX_POWER}; set it at least {sp.Rational(1, 2 * MAX_POWER)} below"
        )


def machine_parameters(
    lumped: LumpedDevice, word: sp.Expr, without: Collection[str] = ()
) -> dict[str, Parameter]:
    """The parameters that a machine gives: C, W_mem, W_net, tau, but for some.

    Raises:
        InputError: If the bytes of a word are no number, or the machine's file lacks a figure.
    """
    if not isinstance(word, sp.Rational):
        raise InputError(f"w, the bytes of a word, must be a number, not {word}")
    found = parameters_of(lumped, Fraction(int(word.p), int(word.q)), without)
    return {
        p.name: Parameter(
            p.name, None if p.value is None else _rational(p.value), p.source, p.value is None
        )
        for p in found
    }


def assemble(
    wanted: Iterable[str],
    lumped: LumpedDevice | None,
    settings: Mapping[str, sp.Expr],
) -> dict[str, Parameter]:
    """Return the parameters of a study in order, from settings, machine and defaults.

    Without a machine, and unless its figures C, W_mem and W_net are set, nothing is a
    number but the constants of rules and what the user set.

    Args:
        wanted: The names of the program's parameters.
        lumped: The machine at the chosen level, or None.
        settings: What the user set.

    Raises:
        InputError: If a setting names what is no parameter of the study, or settings
            are defined by each other in a circle, or the machine lacks a figure.
    """
    names = [n for n in NOTATION if n in set(wanted)]
    _check_settings(settings, names)
    standard = defaults()
    word = settings.get("w", WORD_BYTES)
    # Latencies are what machines' files lack, and a setting stands in for their sum.
    without = () if "tau" in names and "tau" not in settings else ("tau",)
    machine = machine_parameters(lumped, word, without) if lumped is not None else {}
    numeric = lumped is not None or all(
        n in settings for n in ("C", "W_mem", "W_net") if n in names
    )
    table: dict[str, Parameter] = {}
    for name in names:
        if name in settings:
            together = lumped is not None and name in machine and name != "tau"
            table[name] = Parameter(name, settings[name], _given(lumped if together else None))
        elif name in machine:
            table[name] = machine[name]
        elif name in standard and (numeric or name in ("r_D", "r_ff")):
            table[name] = standard[name]
        else:
            table[name] = Parameter(name, None, "")
    _check_circles(table)
    if lumped is not None:
        table["w"] = Parameter("w", word, GIVEN if "w" in settings else standard["w"].source)
    return table


def _check_settings(settings: Mapping[str, sp.Expr], names: list[str]) -> None:
    for name, value in settings.items():
        for used in sorted({name} | {str(s) for s in value.free_symbols}):
            if used not in names and used != "w":
                raise InputError(
                    f"--set {name}: {used} is no parameter of this study, but an unknown of it or "
                    f"foreign to it; its parameters are {', '.join(names)}"
                )


def _given(lumped: LumpedDevice | None) -> str:
    """Where a setting is from; of a figure that several devices have together, whose it is."""
    if lumped is None or lumped.devices == 1:
        return GIVEN
    return f"{GIVEN}, for the {lumped.devices} devices of a {lumped.level} together"


def _check_circles(table: Mapping[str, Parameter]) -> None:
    for start in table:
        seen, pending = set(), [start]
        while pending:
            value = table[pending.pop()].value
            for name in map(str, value.free_symbols if value is not None else ()):
                if name == start:
                    raise InputError(f"--set {start}: {start} is defined by itself in a circle")
                if name in table and name not in seen:
                    seen.add(name)
                    pending.append(name)


def substitutions(table: Mapping[str, Parameter]) -> dict[sp.Symbol, sp.Expr]:
    """What is put into a program before it is solved: folded numbers, and expressions."""
    folded: dict[sp.Symbol, sp.Expr] = {}
    products: dict[sp.Symbol, Monomial] = {}
    for parameter in table.values():
        value = parameter.value
        if value is None:
            continue
        if not value.is_Rational:
            products[parameter.symbol] = Monomial.of(value)
        elif parameter.name in FOLDED:
            folded[parameter.symbol] = value
    for _ in products:  # expressions may name symbols that are themselves expressions
        known: dict[sp.Symbol, sp.Expr | Monomial] = {**folded, **products}
        products = {s: _within_limits(s, m.substitute(known)) for s, m in products.items()}
    return folded | {s: m.expr for s, m in products.items()}


def _within_limits(s: sp.Symbol, value: Monomial) -> Monomial:
    """Refuse a product whose powers or numbers have grown too large to work with."""
    powers = [(a, abs(e)) for a, e in value.powers if e.is_Rational]
    bits = sum(int(a).bit_length() * e for a, e in powers if a.is_Integer)
    if bits > MAX_BITS or any(e > MAX_POWER for a, e in powers if not a.is_Integer):
        raise InputError(
            f"--set {s}: with the other settings put in, it has a power beyond {MAX_POWER} or a "
            f"number of more than {MAX_BITS} bits"
        )
    return value


def numbers(table: Mapping[str, Parameter]) -> dict[sp.Symbol, sp.Rational]:
    """The parameters that have numbers."""
    return {p.symbol: p.number for p in table.values() if p.number is not None}
