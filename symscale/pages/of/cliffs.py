"""Utilization and its cliffs as a document and as JSON."""

from pathlib import Path

import sympy as sp

from symscale.language.symbols import symbol
from symscale.pages.formats.document import (
    Block,
    Document,
    Equation,
    Formula,
    Heading,
    Number,
    Paragraph,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number, powers
from symscale.pages.of.limits import (
    assumption_blocks,
    certificates,
    elasticity_blocks,
    functions,
    headline,
    line,
    piece_blocks,
    point_blocks,
    subject,
)
from symscale.pages.of.limits_data import common_data
from symscale.pages.page import Page
from symscale.studies.training.answer import CliffsAnswer
from symscale.studies.training.cliffs import END


def cliffs_document(answer: CliffsAnswer) -> Document:
    """Utilization against compute: pieces, cliffs, elasticities, assumptions."""
    U, T = symbol("U"), symbol("T")
    blocks: list[Block] = [
        subject(answer),
        paragraph(
            "A run of compute ", Formula(T), " gets as few devices as finish it in time; ",
            Formula(U), " = ", Formula(T / (symbol("N") * symbol("C") * symbol("t_d"))),
            " is the share of their peak rate that they achieve.",
        ),
    ]
    blocks += headline(answer, U)
    blocks += _cliffs(answer)
    blocks += piece_blocks(answer, U)
    blocks += elasticity_blocks(answer)
    blocks += point_blocks(answer)
    blocks += assumption_blocks(answer)
    return Document(answer.program.title, tuple(blocks))


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


def cliffs_data(answer: CliffsAnswer) -> dict[str, Json]:
    """Utilization and its cliffs as JSON data."""
    data = common_data(answer)
    cliffs: list[Json] = []
    for cliff in answer.cliffs:
        value = answer.compute_at(cliff)
        cliffs.append(
            {
                "value": None if value is None else number(value),
                "unit": "FLOP",
                **formula_data(cliff.compute),
                "between": list(cliff.between),
                "constraints": list(cliff.constraints),
                "elasticities": powers({a: cliff.compute.exponent(a) for a in cliff.compute.atoms}),
            }
        )
    data["cliffs"] = cliffs
    return data


def _draw(answer: CliffsAnswer, path: Path) -> None:
    from symscale.pages.figures.cliffs import cliffs_plot

    cliffs_plot([answer], path)


PAGES = (
    Page(
        CliffsAnswer, cliffs_document, cliffs_data, line, figure=_draw, functions=functions,
        certificates_of=certificates,
    ),
)
