"""The models that ship with symscale, as a document and as JSON."""

from dataclasses import dataclass
from typing import Any

from symscale.answers import Answer
from symscale.costs.transformer.architecture import Architecture
from symscale.costs.transformer.model import Transformer
from symscale.facts.models.zoo import SYMBOLIC, load_model
from symscale.language.symbols import symbol
from symscale.pages.formats.document import Cell, Column, Document, Table, paragraph
from symscale.pages.formats.references import References
from symscale.pages.of.cost import shown, value
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class Models(Answer):
    """Models, to be listed.

    Attributes:
        names: Their names.
    """

    page = "models"
    names: tuple[str, ...]


def _model(architecture: Architecture) -> Transformer:
    return Transformer(architecture, symbol("b"), architecture.context)


def models_document(found: Models) -> Document:
    """The models with their sizes and sources."""
    references = References()
    rows: list[tuple[Cell, ...]] = []
    for name in found.names:
        if name in SYMBOLIC:
            continue
        architecture = load_model(name)
        parameters = _model(architecture).parameters
        rows.append((
            name, str(architecture.layers), str(architecture.d_model),
            f"{int(parameters):,}" if parameters.is_Integer else shown(parameters),
            str(architecture.context), references.cite(architecture.source),
        ))
    columns = (
        Column("model"), Column("blocks", right=True), Column("d_model", right=True),
        Column("parameters", right=True), Column("sequence", right=True), Column("source"),
    )
    symbolic = ", ".join(SYMBOLIC)
    intro = paragraph(f"Symbolic, every size open: {symbolic}. With numbers:")
    return Document("Models", (intro, Table(columns, tuple(rows)), *references.blocks()))


def models_data(found: Models) -> dict[str, Any]:
    """The models with stable keys."""
    listed = []
    for name in found.names:
        architecture = load_model(name)
        model = _model(architecture)
        listed.append({
            "name": name, "title": architecture.title, "symbolic": name in SYMBOLIC,
            "blocks": value(architecture.layers), "d_model": value(architecture.d_model),
            "parameters": value(model.parameters),
            "active_parameters": value(model.active_parameters),
            "tokens_per_sequence": value(architecture.context), "source": architecture.source,
            "note": architecture.note,
        })
    return {"models": listed}


PAGES = (Page(Models, models_document, models_data),)
