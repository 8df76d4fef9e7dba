"""The largest training run as a document, as JSON and as code; `cliffs` shares its parts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import sympy as sp

from symscale.algebra.exact.monomial import canonical_exponent, common_factor
from symscale.algebra.products.limit import Condition, Piece, Values
from symscale.algebra.products.ranges import OptimalRange
from symscale.language.symbols import notation, symbol
from symscale.pages.formats.code import ClosedForms
from symscale.pages.formats.document import (
    Block,
    Cases,
    Cell,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Inline,
    Number,
    Paragraph,
    Table,
    between,
    paragraph,
)
from symscale.pages.formats.references import References
from symscale.pages.formats.text import inline
from symscale.pages.formulas.exponents import tidy_exponent
from symscale.pages.formulas.formula import condition_of
from symscale.pages.of.limits_data import limits_data
from symscale.pages.page import Certificates, Page
from symscale.studies.requests.parameters import Parameter
from symscale.studies.training.answer import FullLimitsAnswer, LimitsAnswer


def limits_document(answer: LimitsAnswer) -> Document:
    """The largest training run: pieces, elasticities, the run itself, assumptions."""
    blocks: list[Block] = [subject(answer)]
    blocks += headline(answer, symbol("T"))
    if isinstance(answer, FullLimitsAnswer):
        blocks.append(_full_note(answer))
    blocks += piece_blocks(answer, symbol("T"))
    blocks += elasticity_blocks(answer)
    blocks += point_blocks(answer)
    blocks += assumption_blocks(answer)
    return Document(answer.program.title, tuple(blocks))


def subject(answer: LimitsAnswer) -> Paragraph:
    """Which hardware the answer is for."""
    if answer.machine is None or answer.lumped is None:
        return paragraph("No hardware named: everything stays symbolic but what is set.")
    lumped = answer.lumped
    acting = (
        "each device by itself"
        if lumped.devices == 1
        else f"the {lumped.devices} devices of a {lumped.level} act as one"
    )
    return paragraph(
        f"Hardware: {answer.machine.title} ({answer.machine.name}), {lumped.level} level: {acting}."
    )


def headline(answer: LimitsAnswer, objective: sp.Symbol) -> list[Block]:
    """The closed form, and its value here."""
    pieces = answer.limit.pieces
    blocks: list[Block] = []
    if len(pieces) == 1:
        blocks.append(Equation(sp.Eq(objective, pieces[0].expr, evaluate=False)))
    else:
        blocks.append(Cases(objective, "min", tuple(p.bound for p in pieces)))
    ruling = answer.ruling
    if ruling is not None and answer.values is not None:
        value = Number(ruling.at(answer.values), answer.unit)
        blocks.append(
            paragraph(
                "Here ", Formula(objective), " = ", value, f": {ruling.name} rules; it binds ",
                ", ".join(ruling.binding), ".",
            )
        )
    unlimited = [p.name for p in answer.parameters.values() if p.unlimited]
    if unlimited:
        blocks.append(
            paragraph(f"{', '.join(unlimited)} is unlimited, so the constraint on it is left out.")
        )
    return blocks


_REGION_UNITS = (
    " Numbers in regions come from the constraints and carry units, words for each FLOP say."
)


def _full_note(answer: FullLimitsAnswer) -> Paragraph:
    if answer.ruling is None or answer.reduced.ruling is None:
        return paragraph(
            "Every degree is a variable of its own within its natural bounds; the limit never "
            "exceeds the one of the reduced study." + _REGION_UNITS
        )
    value = answer.reduced.value
    assert value is not None  # noqa: S101  # the ruling piece has all its numbers
    if answer.responsible:
        end = f"Bounds that make the difference: {', '.join(answer.responsible)}."
    else:
        end = "No natural bound makes a difference here."
    return paragraph(
        "With degrees free of their natural bounds the limit would be ",
        Number(value, answer.unit), f" ({answer.reduced.ruling.name}). ", end + _REGION_UNITS,
    )


def _powers_cell(table: Mapping[str, sp.Expr]) -> Cell:
    common = common_factor(table.values())
    parts: list[str | Formula] = []
    for name, power in table.items():
        shown = Formula(tidy_exponent(canonical_exponent(power / common)))
        parts += [", " if parts else "", f"{name}: ", shown]
    return parts if common == 1 else [*parts, "; all times ", Formula(common)]


def piece_blocks(answer: LimitsAnswer, objective: sp.Symbol) -> list[Block]:
    """Each piece with its value, region, binding constraints and multipliers."""
    ruling = answer.ruling
    blocks: list[Block] = [Heading("Pieces")]
    for piece in answer.limit.pieces:
        mark = " (rules here)" if ruling is not None and piece.name == ruling.name else ""
        blocks.append(Heading(f"{piece.name}{mark}", 3))
        value = answer.value_of(piece)
        blocks.append(Equation(sp.Eq(objective, piece.expr, evaluate=False)))
        rows: list[tuple[Cell, ...]] = []
        if value is not None:
            rows.append(("value", Number(value, answer.unit)))
        rows.append(("binding", ", ".join(piece.binding)))
        rows.append(("multipliers", _powers_cell(piece.multipliers)))
        conditions = [c for c in piece.region if c.against]
        if conditions:
            rows.append(("rules where", _conditions(conditions)))
        feasible = [c for c in piece.region if not c.against]
        if 0 < len(feasible) <= 3:
            rows.append(("feasible where", _conditions(feasible)))
        if piece.exponent_conditions:
            cell: list[str | Formula] = []
            for polynomial in piece.exponent_conditions:
                cell += [", " if cell else "", Formula(polynomial), " > 0"]
            rows.append(("exponents", cell))
        blocks.append(Table((Column(""), Column("", wrap=True, share=0.75)), tuple(rows)))
    return blocks


def _conditions(conditions: Sequence[Condition]) -> Cell:
    cell: list[str | Formula] = []
    for condition in conditions:
        cell += ["; " if cell else "", Formula(condition_of(condition))]
    return cell


def elasticity_blocks(answer: LimitsAnswer) -> list[Block]:
    """By which power each piece changes with each parameter."""
    pieces = answer.limit.pieces
    names = [n for n in answer.parameters if any(symbol(n) in p.bound.atoms for p in pieces)]
    names += [
        n for n in _atoms(pieces) if n not in names
    ]
    if not names:
        return []
    rows = tuple(
        (
            Formula(symbol(n)),
            *(Formula(tidy_exponent(p.bound.exponent(symbol(n)))) for p in pieces),
        )
        for n in names
    )
    many, share = len(pieces) > 3, 0.75 / len(pieces)
    columns = (
        Column("parameter"),
        *(Column(p.name, wrap=many, right=True, share=share) for p in pieces),
    )
    return [
        Heading("Elasticities"),
        Table(columns, rows, "The power by which each piece changes with a parameter."),
    ]


def _atoms(pieces: Sequence[Piece]) -> list[str]:
    return sorted({str(a) for p in pieces for a in p.bound.atoms if a.is_Symbol})


def point_blocks(answer: LimitsAnswer) -> list[Block]:
    """The run that attains the limit."""
    point, values = answer.point, answer.values
    if point is None or values is None:
        return []
    rows: list[tuple[Cell, ...]] = []
    for x in answer.program.variables:
        value: Cell = Number(point.values[x].evaluate(values), notation(x).unit)
        if x in answer.free:
            value = _range(answer.free[x], values, notation(x).unit)
        rows.append((Formula(x), _meaning(x, answer), value))
    note = "Degrees are not rounded to whole numbers."
    blocks: list[Block] = [
        Heading("The run at the limit"),
        Table(
            (Column("symbol"), Column("meaning", wrap=True, share=0.45), Column("value")),
            tuple(rows), note,
        ),
    ]
    return [*blocks, *_free_note(answer, values)]


def _range(found: OptimalRange, values: Values, unit: str) -> Cell:
    """Between what numbers a variable lies that the limit leaves free."""
    return between(
        [m.evaluate(values) for m in found.least], [m.evaluate(values) for m in found.most], unit
    )


def _free_note(answer: LimitsAnswer, values: Values) -> list[Block]:
    """That the run is not unique: what may vary, and which products may not."""
    if not answer.free:
        return []
    names: list[Inline] = []
    for x in answer.free:
        names += [", " if names else "", Formula(x)]
    blocks = [paragraph(
        "This is not the only run that attains the limit: what binds does not fix ", *names,
        ". Each can be anywhere in its range if the others go along.",
    )]
    products: list[Inline] = []
    for fixed in answer.fixed:
        value = Number(fixed.value.evaluate(values))
        products += ["; " if products else "", Formula(fixed.product), " = ", value]
    if products:
        blocks.append(paragraph("These of their products are fixed: ", *products, "."))
    return list(blocks)


def _meaning(x: sp.Symbol, answer: LimitsAnswer) -> str:
    """What a symbol stands for where several devices act as one."""
    meaning = notation(x).meaning
    if answer.lumped is None or answer.lumped.devices == 1:
        return meaning
    level = answer.lumped.level
    if x == symbol("N"):
        return f"number of {level}s, of {answer.lumped.devices} devices each"
    if meaning.startswith("degree of "):
        return f"{meaning}, in {level}s"
    return meaning.replace(" of a device", f" of a {level}")


def assumption_blocks(answer: LimitsAnswer) -> list[Block]:
    """Parameters and constraints, each with its source or reason."""
    references = References()
    blocks: list[Block] = [Heading("Parameters")]
    rows = tuple(_parameter_row(p, answer, references) for p in answer.parameters.values())
    blocks.append(
        Table(
            (
                Column("symbol"), Column("value"), Column("meaning", wrap=True, share=0.28),
                Column("source", wrap=True, share=0.3),
            ),
            rows,
        )
    )
    blocks.append(Heading("Constraints"))
    blocks.append(
        Table(
            (
                Column("name", wrap=True, share=0.16),
                Column("relation", wrap=True, share=0.46),
                Column("because", wrap=True, share=0.3),
            ),
            tuple(
                (c.name, Formula(c.relational), f"{c.reason} {references.cite(c.source)}".rstrip())
                for c in answer.program.constraints
            ),
        )
    )
    return [*blocks, *references.blocks()]


def _parameter_row(
    parameter: Parameter, answer: LimitsAnswer, references: References
) -> tuple[Cell, ...]:
    entry = notation(parameter.name)
    value: Cell = "symbolic"
    if parameter.unlimited:
        value = "unlimited"
    elif parameter.number is not None:
        value = Number(parameter.number, entry.unit, 7)
    elif parameter.value is not None:
        value = Formula(parameter.value)
    source = references.shorten(parameter.source) or "not given"
    return (Formula(entry.symbol), value, _meaning(entry.symbol, answer), source)


def line(answer: LimitsAnswer) -> str:
    """Say the answer in a line."""
    (objective,) = answer.program.objective.atoms
    count = len(answer.pieces)
    several = "1 piece" if count == 1 else f"{count} pieces"
    if answer.value is None or answer.ruling is None:
        return f"{objective} in closed form, {several}"
    value = inline(Number(answer.value, answer.unit))
    return f"{objective} = {value}, {answer.ruling.name} rules; {several}"


def functions(answer: LimitsAnswer) -> ClosedForms:
    """The closed forms of `limits` or `cliffs`."""
    from symscale.pages.of.functions import answer_functions

    return answer_functions(answer)


def certificates(answer: LimitsAnswer) -> Certificates:
    """What the kernel shows of each piece."""
    return Certificates(answer.theorems)


def _draw(answer: LimitsAnswer, path: Path) -> None:
    from symscale.pages.figures.alpha import alpha_plot

    alpha_plot([answer], path)


PAGES = (
    Page(
        LimitsAnswer, limits_document, limits_data, line, figure=_draw, functions=functions,
        certificates_of=certificates,
    ),
)
