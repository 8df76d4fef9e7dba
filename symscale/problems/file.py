"""Problems written as TOML files; docs/problems.md explains the grammar."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import sympy as sp

from symscale.algebra.products.program import Sense
from symscale.errors import (
    InputError,
    NoAnswerError,
    SymscaleError,
    UnitError,
    printable,
    refusal,
)
from symscale.language.letters import latex_of_name, parse_latex
from symscale.language.parsing import parse_expression, parse_relation
from symscale.language.symbols import NOTATION, Notation
from symscale.language.tables import (
    LARGEST_FILE_BYTES,
    TypedNumber,
    check_keys,
    parse_toml,
    read_file_bytes,
    read_table,
    read_text,
)
from symscale.language.units import BASE_UNITS, parse_number, parse_quantity, parse_unit
from symscale.problems.enclosed import require_readable
from symscale.problems.problem import Definition, Problem, ProblemSymbol, WrittenRelation
from symscale.problems.vocabulary import built_in_names

MAX_CONSTRAINTS = 200
MAX_SYMBOLS = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_FUNCTIONS = ("max", "min", "sqrt")
_TOO_LARGE = "split the problem"
_TOP = ("title", "minimize", "maximize", "units", "parameters", "variables", "constraints")
_PARAMETER = ("unit", "meaning", "latex", "default", "lower", "upper", "source")
_VARIABLE = ("unit", "meaning", "latex", "lower", "upper", "integer")
_CONSTRAINT = ("name", "expression", "because", "source")


class _File:
    """A problem file: its tables, and the lines on which keys stand."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = printable(name, 160)
        self.data = parse_toml(content, self.name)
        self.stem = Path(name).stem
        self._lines = content.decode("utf-8-sig").splitlines()

    def where(self, section: str, key: str, index: int | None = None) -> str:
        """File, line and key, for an error."""
        line = self._line(section, key, index)
        place = f"{self.name}, line {line}" if line else self.name
        table = f"[[{section}]] {index + 1}" if index is not None else f"[{section}]"
        shown = printable(key)
        inside = ", ".join(part for part in (table if section else "", shown) if part)
        return f"{place}, {inside}" if inside else place

    def _line(self, section: str, key: str, index: int | None) -> int | None:
        current, count, start = "", -1, None
        for number, line in enumerate(self._lines, 1):
            header = re.match(r"\s*\[+\s*([\w.-]+)\s*\]+", line)
            if header:
                current = header.group(1)
                count += current == section
                if current == f"{section}.{key}":
                    return number
            here = current == section and (index is None or count == index)
            if here and header and start is None:
                start = number
            if here and key and re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line):
                return number
        return self._line("", section, None) if start is None and section else start


@dataclass(frozen=True)
class _Known:
    """What names and, behind a number, base units stand for."""

    names: Mapping[str, sp.Expr]
    units: Mapping[str, sp.Expr]


def load_problem(path: str) -> Problem:
    """Read a problem file.

    Raises:
        InputError: If anything in it cannot be used; the text names file, line, key
            and remedy.
    """
    return _read(_File(path, read_file_bytes(path, "a TOML file", LARGEST_FILE_BYTES, _TOO_LARGE)))


def problem_of_text(text: str) -> Problem:
    """Read a problem from the text of a problem file.

    Raises:
        InputError: If anything in it cannot be used; the text names line, key and remedy.
    """
    content = text.encode()
    if len(content) > LARGEST_FILE_BYTES:
        raise InputError(f"the problem has {len(content)} bytes; {_TOO_LARGE}")
    return _read(_File("problem", content))


def _read(file: _File) -> Problem:
    for key in file.data:
        check_keys({key: None}, _TOP, file.where("", key))
    parameters, variables = _declared(file)
    names: dict[str, sp.Expr] = {q.entry.name: q.symbol for q in (*parameters, *variables)}
    built_in = {
        name: Definition(Notation(name, str(c.unit), rf"\mathrm{{{name}}}", name), c.expr)
        for name, c in built_in_names().items()
    }
    names |= {name: d.entry.symbol for name, d in built_in.items()}
    units = {u: Definition(Notation(u if u not in names else f"{u}_unit", u, rf"\mathrm{{{u}}}", u),
                           sp.Integer(1)) for u in BASE_UNITS}
    known = _Known(names, {u: d.entry.symbol for u, d in units.items()})
    sense, objective = _objective(file, known)
    relations = _relations(file, known)
    used = objective.free_symbols.union(
        *(e.free_symbols for r in relations for e in (r.left, r.right))
    )
    defined = (*built_in.values(), *units.values())
    definitions = tuple(d for d in defined if d.entry.symbol in used)
    used = used.union(*(d.expr.free_symbols for d in definitions))
    used -= {q.symbol for q in (*parameters, *variables)}
    imported = [ProblemSymbol(e) for e in NOTATION.values() if e.symbol in used]
    checked = file.data.get("units", "on")
    if checked not in ("on", "off"):
        raise refusal(file.where("", "units"), f"is {checked!r}", 'write units = "on" or "off"')
    title = read_text(file.data, "title", file.where("", "title")) or file.stem
    whole = (*parameters, *imported)

    def build(chosen: tuple[WrittenRelation, ...]) -> Problem:
        problem = Problem(
            title, sense, objective, tuple(variables), whole, chosen, checked == "on", definitions
        )
        with suppress(NoAnswerError):  # whoever asks for the answer is told
            require_readable(problem, {
                q.symbol: q.default for q in whole
                if q.default is not None and q.symbol in problem.exponents
            })
        return problem

    try:
        return build(tuple(relations))
    except SymscaleError as error:
        raise _located(file, sense, relations, build, error) from None


def _located(
    file: _File, sense: str, relations: Sequence[WrittenRelation],
    build: Callable[[tuple[WrittenRelation, ...]], Problem], error: SymscaleError,
) -> InputError:
    """The error of the objective, or of the first constraint that cannot be added."""
    fine, refused = -1, len(relations)  # how many constraints are and are not accepted
    while refused - fine > 1:
        middle = (fine + refused) // 2
        try:
            build(tuple(relations[:middle]))
            fine = middle
        except SymscaleError as problem:
            refused, error = middle, problem
    place = (
        file.where("constraints", "expression", refused - 1) if refused else file.where("", sense)
    )
    remedy = '; correct it, or set units = "off"' if isinstance(error, UnitError) else ""
    return InputError(f"{place}: {error}{remedy}")


def _declared(file: _File) -> tuple[list[ProblemSymbol], list[ProblemSymbol]]:
    """The parameters and the variables."""
    parameters = _quantities(file, "parameters", _PARAMETER)
    variables = _quantities(file, "variables", _VARIABLE)
    if not variables:
        raise refusal(file.name, "has no variables", "add [variables] with a table for each")
    both = sorted({q.entry.name for q in parameters} & {q.entry.name for q in variables})
    if both:
        raise refusal(
            file.where("variables", both[0]), "is a parameter as well", "declare it once"
        )
    return parameters, variables


def _quantities(file: _File, section: str, keys: tuple[str, ...]) -> list[ProblemSymbol]:
    table = read_table(file.data.get(section, {}), file.where("", section), f"[{section}]")
    if len(table) > MAX_SYMBOLS:
        raise refusal(file.where(section, ""), f"has more than {MAX_SYMBOLS} names", "use fewer")
    found = []
    for name, value in table.items():
        where = file.where(section, name)
        if name in _FUNCTIONS:
            raise refusal(
                where, f"{name} is a function", f"use a name other than {', '.join(_FUNCTIONS)}"
            )
        if not _NAME.fullmatch(name) or "__" in name:
            raise refusal(
                where, f"{printable(name)!r} is no name",
                "begin with a letter, then letters, digits and single _, 40 at most",
            )
        entry = read_table(value, where, f'{name} = {{ unit = "s", meaning = "..." }}')
        check_keys(entry, keys, where)
        try:
            found.append(_quantity(name, entry, where, section == "parameters"))
        except InputError as error:
            message = str(error)
            raise (error if message.startswith(where) else error.with_context(where)) from None
    return found


def _quantity(
    name: str, table: Mapping[str, object], where: str, parameter: bool
) -> ProblemSymbol:
    unit = read_text(table, "unit", where) or "1"
    wanted = parse_unit(unit)
    base = str(replace(wanted, scale=Fraction(1)))  # formulas hold in base units
    meaning = read_text(table, "meaning", where) or name
    source = read_text(table, "source", where) or ""
    numbers = {
        key: _number(table[key], unit, f"{where}, {key}")
        for key in ("default", "lower", "upper")
        if key in table
    }
    default, lower, upper = (numbers.get(k) for k in ("default", "lower", "upper"))
    _check_bounds(default, lower, upper, where)
    integer = table.get("integer", False)
    if not isinstance(integer, bool):
        raise refusal(f"{where}, integer", "is no truth value", "write true or false")
    latex = read_text(table, "latex", where)
    shown = latex_of_name(name) if latex is None else _own_latex(latex, f"{where}, latex")
    entry = Notation(name, base, shown, meaning, source if parameter else "", "problem")
    return ProblemSymbol(entry, default, lower, upper, integer, unit)


def _own_latex(text: str, where: str) -> str:
    try:
        return parse_latex(text).tex
    except InputError as error:
        raise error.with_context(where) from None


def _check_bounds(
    default: sp.Rational | None, lower: sp.Rational | None, upper: sp.Rational | None, where: str
) -> None:
    if lower is not None and upper is not None and lower > upper:
        raise refusal(where, "the lower bound exceeds the upper", "swap them")
    if default is not None:
        if default <= 0:
            raise refusal(where, f"default is {default}", "quantities are positive")
        if (lower is not None and default < lower) or (upper is not None and default > upper):
            raise refusal(where, "default is outside its bounds", "change one of them")
    if (upper is not None and upper <= 0) or (lower is not None and lower < 0):
        raise refusal(where, "a bound is negative or zero", "quantities are positive")


def _number(value: object, unit: str, where: str) -> sp.Rational:
    try:
        if isinstance(value, bool):
            raise refusal(where, "is a truth value", "write a number")
        if isinstance(value, TypedNumber | int):
            text = value.text if isinstance(value, TypedNumber) else str(value)
            number = parse_number(text) * parse_unit(unit).scale
        elif isinstance(value, str):
            quantity = parse_quantity(value)
            wanted = parse_unit(unit)
            if quantity.unit is not None and not quantity.unit.fits(wanted):
                raise UnitError(f"{quantity.unit} does not fit {wanted}; write it in {wanted}")
            number = quantity.to(wanted) * wanted.scale
        else:
            raise refusal(where, "is no number", 'write a number, or "100 GB/s"')
    except SymscaleError as error:
        message = str(error)
        raise (error if message.startswith(where) else error.with_context(where)) from None
    return sp.Rational(number.numerator, number.denominator)


def _objective(file: _File, known: _Known) -> tuple[Sense, sp.Expr]:
    senses: tuple[Sense, ...] = ("minimize", "maximize")
    given = [key for key in senses if key in file.data]
    if len(given) != 1:
        raise refusal(
            file.where("", given[-1] if given else ""), "needs one objective",
            'write minimize = "..." or maximize = "...", not both',
        )
    (key,) = given
    where = file.where("", key)
    text = _expression_text(file.data, key, where)
    try:
        return key, parse_expression(text, known.names, known.units)
    except SymscaleError as error:
        raise error.with_context(where) from None


def _expression_text(table: Mapping[str, object], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise refusal(where, f"{key} is no text", f'write {key} = "..."')
    return value


def _relations(file: _File, known: _Known) -> list[WrittenRelation]:
    rows = file.data.get("constraints", [])
    if not isinstance(rows, list):
        raise refusal(file.where("", "constraints"), "is no list", "write [[constraints]]")
    if len(rows) > MAX_CONSTRAINTS:
        raise refusal(
            file.name, f"has {len(rows)} constraints", f"use {MAX_CONSTRAINTS} at most"
        )
    relations: list[WrittenRelation] = []
    for index, row in enumerate(rows):
        where = file.where("constraints", "", index)
        table = read_table(row, where, '[[constraints]] with expression = "..."')
        check_keys(table, _CONSTRAINT, where)
        name = read_text(table, "name", where) or f"constraint {index + 1}"
        if name in {r.name for r in relations}:
            raise refusal(where, f"the name {name!r} is used twice", "rename one")
        place = file.where("constraints", "expression", index)
        text = _expression_text(table, "expression", place)
        try:
            parsed = parse_relation(text, known.names, known.units)
        except SymscaleError as error:
            raise error.with_context(place) from None
        relations.append(
            WrittenRelation(
                name, parsed.lhs, parsed.operator, parsed.rhs,
                read_text(table, "because", where) or "", read_text(table, "source", where) or "",
            )
        )
    return relations
