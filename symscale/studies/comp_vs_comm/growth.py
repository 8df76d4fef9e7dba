"""How a ratio of costs behaves along a path, from the texts that a user gives.

Example:
    >>> from symscale.studies.comp_vs_comm.ratios import named_costs
    >>> found = ratio_asymptotics("edge", named_costs(), along=["N_TP=L*d_model^2"],
    ...     assume=["n_ctx=O(d_model)"], growing="d_model,L", expect="Theta(1/(L*d_model))")
    >>> found.asymptotics.pieces[0].theta, found.asymptotics.verdict.holds
    (1/(L*d_model), True)
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.asymptotics import Asymptotics, asymptotics
from symscale.algebra.growth.paths import RELATIONS, Assumption, Growth, Relation
from symscale.answers import Answer
from symscale.costs.cost import Cost
from symscale.errors import (
    CheckFailedError,
    FormulaError,
    InputError,
    ParseError,
    SymscaleError,
    UnknownNameError,
    printable,
    unknown_name,
)
from symscale.language.dimensions import unit_of
from symscale.language.parsing import parse_expression
from symscale.language.symbols import NOTATION, PATH_EXPONENT, Notation, notation
from symscale.language.units import parse_unit

MAX_TEXTS = 50  # of paths, and of assumptions
MAX_LENGTH = 2000  # of each
MAX_POWER = 1000  # of a symbol or number, once paths are put into one another

_GREEK = {"Θ": "Theta", "Ω": "Omega", "ω": "omega", "Ο": "O", "ο": "o"}
_CLASS = re.compile(r"\s*([^\s()]*)\s*\((.*)\)\s*", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w.-]*")
_UNBOUNDED_SIZES = ("P", "b", "D", "T")


@dataclass(frozen=True)
class Expectation:
    """A class that a ratio is expected to have.

    Attributes:
        text: How the user wrote it.
        relation: One of "Theta", "O", "Omega", "o" and "omega".
        expr: The class.
    """

    text: str
    relation: Relation
    expr: sp.Expr


@dataclass(frozen=True, repr=False)
class RatioAsymptotics(Answer):
    """The asymptotic behaviour of a named ratio.

    Attributes:
        ratio: How the user named it.
        cost: The ratio, with its unit.
        path: Symbols that follow from others along the path, each as the user gave it.
        growth: What grows, and the assumptions.
        asymptotics: The behaviour.
        expectation: What was expected, or None.
        notes: Remarks, such as a symbol of the path that does not occur.
    """

    page = "asymptotics"
    ratio: str
    cost: Cost
    path: Mapping[sp.Symbol, sp.Expr]
    growth: Growth
    asymptotics: Asymptotics
    expectation: Expectation | None
    notes: tuple[str, ...]

    def require_expected(self) -> None:
        """Raise unless it has the class that was expected, if any was.

        Raises:
            CheckFailedError: If it has another, or that is undetermined.
        """
        verdict = self.asymptotics.verdict
        if verdict is not None and not verdict.holds and self.expectation is not None:
            word = "is undetermined" if verdict.holds is None else "does not hold"
            raise CheckFailedError(f"--expect {self.expectation.text} {word}: {verdict.reason}")

    @property
    def constants(self) -> tuple[sp.Symbol, ...]:
        """The symbols of the ratio along the path that neither grow nor are compared."""
        others = {*self.growth.varying, self.asymptotics.exponent}
        free = (s for s in self.asymptotics.expr.free_symbols if isinstance(s, sp.Symbol))
        return tuple(sorted((s for s in free if s not in others), key=str))


def ratio_asymptotics(
    ratio: str,
    costs: Mapping[str, Cost],
    *,
    along: Iterable[str] = (),
    assume: Iterable[str] = (),
    growing: str | None = None,
    expect: str | None = None,
) -> RatioAsymptotics:
    """Find how a ratio behaves, with all that is given as text.

    Args:
        ratio: A name, or an expression in names, such as compute/serialized.
        costs: The named costs.
        along: Texts such as N_TP=L*d_model^2.
        assume: Texts such as n_ctx=O(d_model).
        growing: Names of symbols that go to infinity, separated by commas; by default
            all sizes of the ratio that the path leaves free.
        expect: A text such as Theta(1/(L*d_model)).

    Raises:
        InputError: If a text cannot be used; the message names it and what to write.
        FormulaError: If the ratio has no such form, or its leading terms may cancel.
        TooLargeError: If an exact answer needs too many terms.
    """
    cost = read_ratio(ratio, costs)
    given = read_path(along)
    path = _resolved(given)
    assumptions = read_assumptions(assume)
    expectation = None if expect is None else read_expectation(expect)
    if growing is None:
        symbols = _sizes(cost.expr.xreplace({s: m.expr for s, m in path.items()}))
    else:
        symbols = read_growing(growing)
    for symbol in symbols:
        if symbol in path:
            raise InputError(
                f"--in {printable(growing or '', 60)}: {symbol} follows from --along; leave it out"
            )
    lower = {e.symbol: sp.Integer(e.lower) for e in NOTATION.values() if e.lower is not None}
    growth = Growth(symbols, assumptions, path, lower)
    expected = None if expectation is None else (expectation.relation, expectation.expr)
    try:
        found = asymptotics(cost.expr, growth, expected)
    except SymscaleError as error:
        raise error.with_context(printable(ratio, 60)) from None
    return RatioAsymptotics(
        ratio.strip(), cost, {s: m.expr for s, m in given.items()}, growth, found, expectation,
        _notes(cost, path, growing, symbols, assumptions, ratio),
    )


def _notes(
    cost: Cost, path: Mapping[sp.Symbol, Monomial], growing: str | None,
    symbols: tuple[sp.Symbol, ...], assumptions: tuple[Assumption, ...], ratio: str,
) -> tuple[str, ...]:
    used = set(cost.expr.free_symbols)
    for symbol, value in path.items():
        if symbol in used:
            used |= value.free_symbols
    compared = {s for a in assumptions for s in a.left.free_symbols | a.right.free_symbols}
    idle = [s for s in path if s not in used | compared]
    if growing is not None:
        idle += [s for s in symbols if s not in used | compared]
    return tuple(f"{symbol} does not occur in {printable(ratio, 60)}" for symbol in idle)


def read_ratio(text: str, costs: Mapping[str, Cost]) -> Cost:
    """Read a ratio: the name of a cost, or an expression in names of costs and symbols.

    Raises:
        InputError: If it cannot be read, a name is unknown, or units do not fit.

    Example:
        >>> from symscale.studies.comp_vs_comm.ratios import named_costs
        >>> str(read_ratio("compute/serialized", named_costs()).unit)
        'FLOP/byte'
    """
    _require_short(text, "the ratio")
    if _NAME.fullmatch(text.strip()) and text.strip() not in {*costs, *NOTATION}:
        raise unknown_name("cost or ratio", text.strip(), costs, see="symscale asymptotics")
    # A name may have hyphens, which the parser reads as minus.
    plain = {name: name.replace("-", "_") for name in costs}
    code = re.sub(r"[^\W\d][\w-]*", lambda match: plain.get(match[0], match[0]), text)
    stand_in = {name: Notation(p, "1", p, p).symbol for name, p in plain.items()}
    every = {**{name: e.symbol for name, e in NOTATION.items()},
             **{p: stand_in[name] for name, p in plain.items()}}  # fmt: skip
    try:
        expr = parse_expression(code, every)
        used = {name: costs[name] for name in costs if stand_in[name] in expr.free_symbols}
        units = {e.symbol: parse_unit(e.unit) for e in NOTATION.values()}
        units.update({stand_in[name]: cost.unit for name, cost in used.items()})
        unit = unit_of(expr, units)
    except InputError as error:
        raise error.with_context(printable(text, 60)) from None
    return Cost(expr.xreplace({stand_in[name]: cost.expr for name, cost in used.items()}), unit)


def read_path(texts: Iterable[str]) -> dict[sp.Symbol, Monomial]:
    """Read `symbol=monomial` texts.

    Raises:
        InputError: If one cannot be read, or gives a symbol that another also gives.

    Example:
        >>> read_path(["N_TP=L*d_model^2"])[notation("N_TP").symbol].expr
        L*d_model**2
    """
    path: dict[sp.Symbol, Monomial] = {}
    for text in _few(texts, "--along"):
        try:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not value:
                raise ParseError("write NAME=MONOMIAL, such as N_TP=L*d_model^2")
            entry = _size(name)
            if entry.symbol in path:
                raise InputError(f"{name} is given twice; give it once")
            path[entry.symbol] = _monomial(value)
            number = path[entry.symbol].expr
            if number.is_Rational and entry.lower is not None and number < entry.lower:
                raise InputError(f"{name} must be at least {entry.lower}")
        except SymscaleError as error:
            raise _about("--along", text, error) from None
    return path


def _resolved(path: Mapping[sp.Symbol, Monomial]) -> dict[sp.Symbol, Monomial]:
    """Put paths into one another, until only symbols are left that none of them gives."""
    done: dict[sp.Symbol, Monomial] = {}
    way: list[sp.Symbol] = []

    def visit(symbol: sp.Symbol) -> Monomial:
        if symbol in done:
            return done[symbol]
        if symbol in way:
            circle = " <- ".join(map(str, [*way[way.index(symbol) :], symbol]))
            raise InputError(f"--along: a circle, {circle}; leave one of them free")
        way.append(symbol)
        values: dict[sp.Symbol, sp.Expr | Monomial] = {
            s: visit(s) for s in path if s in path[symbol].free_symbols
        }
        way.pop()
        done[symbol] = path[symbol].substitute(values)
        for _, power in done[symbol].powers:
            numbers = [power] if power.is_Rational else sp.Poly(power).coeffs()
            if any(abs(x) > MAX_POWER for x in numbers):
                raise InputError(
                    f"--along: put into one another, {symbol} has powers beyond {MAX_POWER}"
                )
        return done[symbol]

    for symbol in path:
        visit(symbol)
    return done


def read_assumptions(texts: Iterable[str]) -> tuple[Assumption, ...]:
    """Read `monomial=class(monomial)` texts.

    Raises:
        InputError: If one cannot be read.

    Example:
        >>> read_assumptions(["n_ctx=O(d_model)"])[0].name
        'n_ctx=O(d_model)'
    """
    found = []
    for text in _few(texts, "--assume"):
        try:
            left, equals, right = text.partition("=")
            if not equals or not left.strip() or not _CLASS.fullmatch(right):
                raise ParseError("write such as n_ctx=O(d_model); equations belong to --along")
            relation, inner = _class(right)
            found.append(Assumption(_monomial(left), relation, _monomial(inner), text.strip()))
        except SymscaleError as error:
            raise _about("--assume", text, error) from None
    return tuple(dict.fromkeys(found))


def read_expectation(text: str) -> Expectation:
    """Read `class(expression)`.

    Raises:
        InputError: If it cannot be read.

    Example:
        >>> read_expectation("Omega(1)").relation
        'Omega'
    """
    try:
        _require_short(text, "it")
        relation, inner = _class(text)
        return Expectation(text.strip(), relation, parse_expression(inner, _names()))
    except SymscaleError as error:
        raise _about("--expect", text, error) from None


def read_growing(text: str) -> tuple[sp.Symbol, ...]:
    """Read names of symbols, separated by commas.

    Raises:
        InputError: If a name is unknown, or stands for an exponent.

    Example:
        >>> read_growing("d_model, L")
        (d_model, L)
    """
    try:
        _require_short(text, "it")
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise ParseError("write names separated by commas, such as d_model,L")
        return tuple(dict.fromkeys(_size(name).symbol for name in names))
    except SymscaleError as error:
        raise _about("--in", text, error) from None


def _class(text: str) -> tuple[Relation, str]:
    """The class of a text, and what stands in its brackets."""
    match = _CLASS.fullmatch(text)
    if match is None:
        raise ParseError("write a class such as Theta(1/(L*d_model)) or Omega(1)")
    name = _GREEK.get(match[1], match[1])
    for relation in RELATIONS:
        if relation == name:
            return relation, match[2]
    close = difflib.get_close_matches(name[:100], RELATIONS, n=2, cutoff=0.5)
    near = f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(RELATIONS)}"
    raise UnknownNameError(f"unknown class {printable(name, 60)!r}; {near}")


def _size(name: str) -> Notation:
    """The entry of a symbol that may grow."""
    entry = notation(name)
    if entry.exponent:
        raise InputError(f"{name} stands in exponents and does not grow")
    return entry


def _names() -> dict[str, sp.Expr]:
    return {name: e.symbol for name, e in [*NOTATION.items(), ("p", PATH_EXPONENT)]}


def _monomial(text: str) -> Monomial:
    value = parse_expression(text, _names())
    try:
        monomial = Monomial.of(value)
    except FormulaError as error:
        raise InputError(f"{error}; write a product of powers") from None
    if not all(atom.is_Symbol for atom in monomial.atoms):
        raise InputError(f"{value} is a sum; write a product of powers")
    for _, power in monomial.powers:
        for s in power.free_symbols:
            if not power.is_polynomial(s) or sp.degree(power, s) > 1 or len(power.free_symbols) > 1:
                raise InputError(f"the exponent {power} is not a number times {s} plus a number")
    return monomial


def _sizes(expr: sp.Expr) -> tuple[sp.Symbol, ...]:
    """The sizes of models, runs and parallel plans in an expression: what grows by default."""
    return tuple(
        e.symbol
        for e in NOTATION.values()
        if e.symbol in expr.free_symbols
        and e.group in ("model", "training", "parallelism")
        and (e.lower is not None or e.name in _UNBOUNDED_SIZES)
    )


def _few(texts: Iterable[str], option: str) -> list[str]:
    found = list(dict.fromkeys(texts))
    if len(found) > MAX_TEXTS:
        raise InputError(f"{option}: give at most {MAX_TEXTS}")
    for text in found:
        try:
            _require_short(text, "it")
        except InputError as error:
            raise _about(option, text, error) from None
    return found


def _require_short(text: str, what: str) -> None:
    if len(text) > MAX_LENGTH:
        raise ParseError(f"{what} has more than {MAX_LENGTH} characters")


def _about(option: str, text: str, error: SymscaleError) -> SymscaleError:
    return error.with_context(f"{option} {printable(text, 60)}")
