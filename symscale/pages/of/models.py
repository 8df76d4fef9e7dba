"""The models that ship with symscale, as a document and as JSON."""

from typing import Any

import symscale
from symscale.costs.transformer.architecture import Architecture
from symscale.costs.transformer.model import Transformer
from symscale.facts.models.zoo import SYMBOLIC, load_model, model_names
from symscale.language.symbols import symbol
from symscale.pages.formats.document import Cell, Column, Document, Table, paragraph
from symscale.pages.formats.references import References
from symscale.pages.of.cost import shown
from symscale.pages.of.cost_data import value


def _model(architecture: Architecture) -> Transformer:
    return Transformer(architecture, symbol("b"), architecture.context)


def models_document() -> Document:
    """The models with their sizes and sources."""
    references = References()
    rows: list[tuple[Cell, ...]] = []
    for name in model_names():
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


def models_data() -> dict[str, Any]:
    """The models with stable keys."""
    found = []
    for name in model_names():
        architecture = load_model(name)
        model = _model(architecture)
        found.append({
            "name": name, "title": architecture.title, "symbolic": name in SYMBOLIC,
            "blocks": value(architecture.layers), "d_model": value(architecture.d_model),
            "parameters": value(model.parameters),
            "active_parameters": value(model.active_parameters),
            "tokens_per_sequence": value(architecture.context), "source": architecture.source,
            "note": architecture.note,
        })
    return {"models": found, "symscale_version": symscale.__version__}
