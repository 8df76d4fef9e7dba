"""The answers of studies as documents."""

from collections.abc import Mapping, Sequence

import sympy as sp

from symscale.algebra.exact.monomial import canonical_exponent, common_factor
from symscale.algebra.products.limit import Condition, Piece
from symscale.language.symbols import notation, symbol
from symscale.pages.formats.document import (
    Block,
    Cases,
    Cell,
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Number,
    Paragraph,
    Table,
    paragraph,
)
from symscale.pages.formats.references import References
from symscale.pages.formulas.formula import condition as condition_of
from symscale.pages.formulas.formula import tidy_exponent
from symscale.studies.requests.parameters import Parameter
from symscale.studies.training.answer import Answer, CliffsAnswer, FullAnswer
from symscale.studies.training.cliffs import END


def limits_document(answer: Answer) -> Document:
    """The largest training run: pieces, elasticities, the run itself, assumptions."""
    blocks: list[Block] = [_subject(answer)]
    blocks += _headline(answer, symbol("T"))
    if isinstance(answer, FullAnswer):
        blocks.append(_full_note(answer))
    blocks += _pieces(answer, symbol("T"))
    blocks += _elasticities(answer)
    blocks += _point(answer)
    blocks += _assumptions(answer)
    return Document(answer.program.title, tuple(blocks))


def cliffs_document(answer: CliffsAnswer) -> Document:
    """Utilization against compute: pieces, cliffs, elasticities, assumptions."""
    U, T = symbol("U"), symbol("T")
    blocks: list[Block] = [
        _subject(answer),
        paragraph(
            "A run of compute ", Formula(T), " gets as few devices as finish it in time; ",
            Formula(U), " = ", Formula(T / (symbol("N") * symbol("C") * symbol("t_d"))),
            " is the share of their peak rate that they achieve.",
        ),
    ]
    blocks += _headline(answer, U)
    blocks += _cliffs(answer)
    blocks += _pieces(answer, U)
    blocks += _elasticities(answer)
    blocks += _point(answer)
    blocks += _assumptions(answer)
    return Document(answer.program.title, tuple(blocks))


def _subject(answer: Answer) -> Paragraph:
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


def _headline(answer: Answer, objective: sp.Symbol) -> list[Block]:
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


def _full_note(answer: FullAnswer) -> Paragraph:
    if answer.ruling is None or answer.reduced.ruling is None:
        return paragraph(
            "Every degree is a variable of its own within its natural bounds; the limit never "
            "exceeds the one of the reduced study." + _REGION_UNITS
        )
    value = answer.reduced.value(answer.reduced.ruling)
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


def _pieces(answer: Answer, objective: sp.Symbol) -> list[Block]:
    ruling = answer.ruling
    blocks: list[Block] = [Heading("Pieces")]
    for piece in answer.limit.pieces:
        mark = " (rules here)" if ruling is not None and piece.name == ruling.name else ""
        blocks.append(Heading(f"{piece.name}{mark}", 3))
        value = answer.value(piece)
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
        cell += ["; " if cell else "", Formula(condition_of(condition.ratio))]
    return cell


def _elasticities(answer: Answer) -> list[Block]:
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


def _point(answer: Answer) -> list[Block]:
    point, values = answer.point, answer.values
    if point is None or values is None:
        return []
    rows: list[tuple[Cell, ...]] = []
    for x in answer.program.variables:
        if x in point.free:
            continue
        value = Number(point.values[x].evaluate(values), notation(x).unit)
        rows.append((Formula(x), _meaning(x, answer), value))
    free = [x for x in answer.program.variables if x in point.free]
    note = ""
    if free:
        note = f"Not fixed by what binds, or only in products: {', '.join(map(str, free))}. "
    return [
        Heading("The run at the limit"),
        Table(
            (Column("symbol"), Column("meaning", wrap=True, share=0.5), Column("value")),
            tuple(rows),
            note + "Degrees are not rounded to whole numbers.",
        ),
    ]


def _meaning(x: sp.Symbol, answer: Answer) -> str:
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


def _assumptions(answer: Answer) -> list[Block]:
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
    parameter: Parameter, answer: Answer, references: References
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


def _cliffs(answer: CliffsAnswer) -> list[Block]:
    blocks: list[Block] = [Heading("Cliffs")]
    if not answer.cliffs:
        return [*blocks, paragraph("Utilization has no cliff: one piece rules everywhere.")]
    for cliff in answer.cliffs:
        below, above = cliff.between
        if above == END:
            text = f"{below} ends; beyond, no run fits ({', '.join(cliff.constraints)})"
        else:
            text = f"{below} below, {above} above"
        value = answer.compute_at(cliff)
        content: list[str | Formula | Number] = [text]
        if value is not None:
            content += [": ", Formula(symbol("T")), " = ", Number(value, "FLOP")]
        blocks.append(Paragraph(tuple(content)))
        blocks.append(Equation(sp.Eq(symbol("T"), cliff.compute.expr, evaluate=False)))
    return blocks
