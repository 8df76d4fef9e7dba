"""The models that ship with symscale, as a document and as JSON."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symscale.answers import Answer
from symscale.costs.transformer.architecture import Architecture, Experts, FeedForward, Stack
from symscale.costs.transformer.model import Transformer
from symscale.facts.models.zoo import SYMBOLIC, load_model
from symscale.language.symbols import symbol
from symscale.pages.formats.document import Block, Cell, Column, Document, Heading, Table, paragraph
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
            _size(parameters),
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
    return {"models": [_entry(load_model(name)) for name in found.names]}


def _entry(architecture: Architecture) -> dict[str, Any]:
    model = _model(architecture)
    return {
        "name": architecture.name, "title": architecture.title,
        "symbolic": architecture.name in SYMBOLIC,
        "blocks": value(architecture.layers), "d_model": value(architecture.d_model),
        "parameters": value(model.parameters),
        "active_parameters": value(model.active_parameters),
        "tokens_per_sequence": value(architecture.context), "source": architecture.source,
        "note": architecture.note,
    }


def _size(size: sp.Expr) -> Cell:
    """A size to its last digit, or its formula."""
    return f"{int(size):,}" if size.is_Integer else shown(size)


def model_document(architecture: Architecture) -> Document:
    """The sizes of a model: in all, and of each kind of block."""
    references, model = References(), _model(architecture)
    sizes: list[tuple[Cell, ...]] = [
        ("parameters", _size(model.parameters)),
        ("active parameters", _size(model.active_parameters)),
        ("blocks", _size(architecture.layers)),
        ("d_model", _size(architecture.d_model)),
        ("vocabulary", _size(architecture.vocabulary)),
        ("tokens of a sequence", _size(architecture.context)),
        ("norm", {"layer": "layer norm", "rms": "root mean square"}[architecture.norm]),
        ("positions", architecture.positions),
        ("embedding and unembedding", "one table" if architecture.tied else "two tables"),
        ("source", references.cite(architecture.source)),
    ]
    if architecture.note:
        sizes.append(("note", architecture.note))
    columns = (Column("size"), Column("value", wrap=True, share=0.6))
    blocks: list[Block] = [Table(columns, tuple(sizes))]
    for stack in architecture.stacks:
        title = f"Blocks of {stack.name}" if stack.name else "Blocks"
        blocks += [Heading(title), Table(columns, tuple(_stack(stack)))]
    blocks.append(
        paragraph(f"What it costs under a plan: symscale cost {architecture.name} --tp 8, say.")
    )
    title = f"{architecture.title} ({architecture.name})"
    return Document(title, (*blocks, *references.blocks()))


def _stack(stack: Stack) -> list[tuple[Cell, ...]]:
    attention, mlp = stack.block.attention, stack.block.mlp
    found: list[tuple[Cell, ...]] = [
        ("blocks", _size(stack.blocks)),
        ("attention", attention.kind),
        ("heads", _size(attention.heads)),
        ("key and value heads", _size(attention.kv_heads)),
        ("width of a head", _size(attention.head_width)),
    ]
    if attention.window is not None:
        found.append(("window", _size(attention.window)))
    dense = mlp if isinstance(mlp, FeedForward) else mlp.expert
    found += [
        ("MLP", "gated" if dense.gated else "plain"),
        ("d_ff" if dense is mlp else "d_ff of an expert", _size(dense.width)),
    ]
    if isinstance(mlp, Experts):
        found += [
            ("experts", _size(mlp.experts)), ("experts of a token", _size(mlp.active)),
        ]
        if mlp.shared is not None:
            found.append(("d_ff of shared experts", _size(mlp.shared.width)))
    return found


PAGES = (
    Page(Models, models_document, models_data, lambda found: f"{len(found.names)} models"),
    Page(Architecture, model_document, _entry, lambda architecture: architecture.name),
)
