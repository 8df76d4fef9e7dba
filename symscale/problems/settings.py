"""Numbers and expressions that a user sets for a problem's parameters."""

from collections.abc import Iterable, Mapping

import sympy as sp

from symscale.algebra.exact.signs import sign_over
from symscale.errors import (
    FormulaError,
    InputError,
    SymscaleError,
    UnitError,
    printable,
    unknown_name,
)
from symscale.language.dimensions import unit_of
from symscale.language.parsing import parse_assignment, parse_expression
from symscale.language.units import is_quantity_text, parse_unit
from symscale.problems.problem import Problem, ProblemSymbol


def read_problem_settings(problem: Problem, texts: Iterable[str]) -> dict[sp.Symbol, sp.Expr]:
    """Read `name=value` texts for a problem's parameters.

    A value is a number with an optional unit, or an expression in other parameters
    whose bounds fix its sign.

    Raises:
        InputError: If a text is malformed, a name unknown, a unit wrong, a value out
            of its bounds, or a name is set twice to different values.
    """
    names: dict[str, sp.Expr] = {q.entry.name: q.symbol for q in problem.parameters}
    settings: dict[sp.Symbol, sp.Expr] = {}
    given: dict[str, str] = {}
    for text in texts:
        name, value = parse_assignment(text)
        q = problem.quantity(name)
        where = f"--set {printable(text, 60)}"
        if q is None or name not in names:
            raise unknown_name("parameter", name, names).with_context(where)
        if given.setdefault(name, value) != value:
            raise InputError(f"{where}: {name} is set twice")
        try:
            settings[q.symbol] = _setting(problem, q, value, names)
        except FormulaError as error:
            raise InputError(f"{where}: {error}") from None
        except SymscaleError as error:
            raise error.with_context(where) from None
    return _spelled_out(settings)


def _spelled_out(settings: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """Settings with one another put in, where one is a product of others."""
    formulas = {s: v for s, v in settings.items() if v.free_symbols}
    resolved = dict(settings)
    for _ in formulas:
        resolved |= {s: resolved[s].xreplace(formulas) for s in formulas}
    circular = [s for s in formulas if resolved[s].free_symbols & formulas.keys()]
    if circular:
        names = ", ".join(sorted(map(str, circular)))
        raise InputError(f"--set: {names} are set to one another; give one of them a number")
    return resolved


def _require_known_sign(value: sp.Expr, problem: Problem) -> None:
    """Raise unless an expression is positive for all parameters within their bounds."""
    if value.has(sp.Max, sp.Min):
        raise InputError("a maximum or minimum is no value; write one of its arguments")
    lower = {q.symbol: q.lower for q in problem.parameters if q.lower is not None}
    upper = {q.symbol: q.upper for q in problem.parameters if q.upper is not None}
    if sign_over(value, lower, upper) <= 0:
        raise InputError(f"{value} is not positive")


def _setting(
    problem: Problem, q: ProblemSymbol, text: str, names: Mapping[str, sp.Expr]
) -> sp.Expr:
    if is_quantity_text(text):
        value: sp.Expr = q.read(text)
    else:
        wanted = parse_unit(q.entry.unit)
        value = parse_expression(text, names)
        unit = unit_of(value, problem.units)
        if problem.check_units and not unit.is_dimensionless and not unit.fits(wanted):
            raise UnitError(f"{q.entry.name} is in {wanted}, the expression in {unit}")
        if value.free_symbols:
            if value.free_symbols & ({q.symbol} | problem.exponents) or q.symbol in (
                problem.exponents
            ):
                raise InputError("it stands in an exponent, or in its own value; write a number")
            _require_known_sign(value, problem)
            return value
        value = q.read(str(value)) if value.is_Rational else value
    if not value.is_Rational or not value.is_positive:
        raise InputError(f"{q.entry.name} must be a positive number")
    for limit, wrong, word in (
        (q.lower, q.lower is not None and value < q.lower, "least"),
        (q.upper, q.upper is not None and value > q.upper, "most"),
    ):
        if wrong:
            raise InputError(f"{q.entry.name} must be at {word} {limit}")
    return value
