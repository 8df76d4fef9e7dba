"""The costs of a Transformer as a document."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.costs.switches import Switches
from symscale.costs.transformer.communication import Communication
from symscale.language.sources import load_sources
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Document,
    Formula,
    Heading,
    Number,
    Paragraph,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number
from symscale.pages.formats.references import References
from symscale.pages.formulas.formula import text
from symscale.pages.page import Page
from symscale.studies.cost.answer import CostAnswer, tidy

DEGREES = ("N_DP", "N_TP", "N_PP", "N_CP", "N_EP")


def costs_document(answer: CostAnswer) -> Document:
    """The costs of a model: components, communication, memory, conventions."""
    references = References()
    blocks: list[Block] = [_subject(answer, references), _plan(answer)]
    blocks += taken(answer.request.defaults("cost"))
    blocks.append(_sizes(answer))
    blocks += _components(answer)
    blocks += _communication(answer)
    blocks += _memory(answer)
    blocks.append(Heading("Conventions"))
    blocks += [paragraph(f"{name}: {text}.") for name, text in answer.conventions.items()]
    blocks += [paragraph(f"Assumed: {note}.") for note in answer.request.notes]
    blocks += references.blocks()
    return Document(f"Costs of {answer.model.architecture.title}", tuple(blocks))


def shown(expr: sp.Expr, unit: str = "") -> Cell:
    """A cell for an amount: a number with its unit, or a formula."""
    if expr.is_Rational:
        return Number(sp.Rational(expr), unit)
    return Formula(expr)


def _subject(answer: CostAnswer, references: References) -> Paragraph:
    architecture = answer.model.architecture
    source = architecture.source
    mark = f" {references.cite(source)}" if source in load_sources() else ""
    note = f": {architecture.note}" if architecture.note else ""
    return paragraph(f"{architecture.title} ({architecture.name}){note}{mark}.")


def _plan(answer: CostAnswer) -> Paragraph:
    model, plan = answer.model, answer.model.plan
    sequences = tidy(model.tokens / model.context)
    parts: list[str | Formula | Number] = [
        "A step of ", *_inline(model.tokens, "token"), ": ", *_inline(sequences),
        " sequences of ", *_inline(model.context, "token"), ". Plan: ",
    ]
    for name in DEGREES:
        degree = getattr(plan, name)
        if name == "N_EP" and degree == 1:
            continue
        parts += [f"{name[2:].lower()} ", *_inline(degree), ", "]
    parts += ["together ", *_inline(plan.devices), " devices; microbatches ", *_inline(plan.m)]
    if plan.v != 1:
        parts += [", interleaving ", *_inline(plan.v)]
    if answer.stage:
        parts.append(f"; {answer.stage}")
    plain = Switches().words
    switches = [
        text for name, text in plan.words.items()
        if text != plain[name] and name not in ("mask", "recipe")
    ]
    if switches:
        parts.append("; with " + ", ".join(switches))
    return paragraph(*parts, ".")


def taken(defaults: Mapping[str, str]) -> list[Block]:
    """The sentence that names the switches which nobody set."""
    return [paragraph(f"By default: {', '.join(defaults.values())}.")] if defaults else []


def _inline(expr: sp.Expr, unit: str = "") -> list[str | Formula | Number]:
    if expr.is_Integer:
        plural = f" {unit}s" if unit and expr != 1 else f" {unit}" if unit else ""
        return [str(expr) + plural]
    return [Formula(expr)] if not unit else [Formula(expr), f" {unit}s"]


def _sizes(answer: CostAnswer) -> Table:
    model = answer.model
    rows: list[tuple[Cell, ...]] = [("parameters", _count(model.parameters))]
    if tidy(model.active_parameters - model.parameters) != 0:
        rows.append(("active for a token", _count(model.active_parameters)))
        rows.append(
            ("active, without the input embedding", _count(model.active_without_embedding))
        )
    per_token = tidy(model.forward_flop.expr / answer.per_token)
    training = tidy(model.training_flop.expr / answer.per_token)
    rows.append(("forward FLOP of a token", shown(per_token, "FLOP")))
    rows.append(("training FLOP of a token", shown(training, "FLOP")))
    rows.append(("training FLOP of a step", shown(tidy(model.training_flop.expr), "FLOP")))
    if model.plan.recompute != "none":
        again = tidy(model.recomputed_flop.expr)
        rows.append(("FLOP computed again in a step", shown(again, "FLOP")))
    return Table((Column(""), Column("", wrap=True, share=0.58)), tuple(rows))


def _count(expr: sp.Expr) -> Cell:
    value = tidy(expr)
    return f"{int(value):,}" if value.is_Integer else shown(value)


def _components(answer: CostAnswer) -> list[Block]:
    flop = answer.model.forward_flop.expr
    numbers = flop.is_Rational or all(
        (c.forward_flop.expr / flop).is_Rational for c in answer.components
    )
    tokens = answer.per_token
    columns = [
        Column("component"),
        Column("parameters", wrap=not numbers, right=numbers, share=0.27),
        Column("forward FLOP of a token", wrap=not numbers, right=numbers, share=0.27),
    ]
    if numbers:
        columns.append(Column("share", right=True))
    columns.append(
        Column("bytes kept of a token", wrap=not numbers, right=numbers, share=0.27)
    )
    rows: list[tuple[Cell, ...]] = []
    for component in answer.components:
        row: list[Cell] = [component.name, _count(component.parameters)]
        row.append(shown(tidy(component.forward_flop.expr / tokens)))
        if numbers:
            share = component.forward_flop.expr / flop if flop != 0 else sp.Integer(0)
            row.append(f"{float(share) * 100:.1f} %")
        kept = component.kept_bytes.expr * component.blocks / tokens
        row.append(shown(tidy(answer.request.number(kept))))
        rows.append(tuple(row))
    caption = (
        "All blocks, all devices. Bytes kept: for the backward pass, nothing computed again."
    )
    return [Heading("Components"), Table(tuple(columns), tuple(rows), caption)]


def _communication(answer: CostAnswer) -> list[Block]:
    entries = answer.communications
    if not entries:
        return [Heading("Communication"), paragraph("None: a single device.")]
    waiting = [e for e in entries if e.serialized]
    hidden = [e for e in entries if not e.serialized]
    blocks: list[Block] = [
        Heading("Communication"),
        paragraph(
            "Words of one device of the heaviest stage, in one step: the payload that it takes "
            "part with, and what it sends over its links."
        ),
    ]
    if waiting:
        blocks.append(_exchanged(answer, waiting, "Serialized: all else waits."))
    if hidden:
        blocks.append(_exchanged(answer, hidden, "Overlapped: behind what is named."))
    return blocks


def _exchanged(
    answer: CostAnswer, entries: Sequence[Communication], caption: str
) -> Table:
    numbers = all(_payload(answer, e).is_Rational for e in entries)
    columns = [
        Column("over"), Column("what", wrap=True, share=0.33),
        Column("payload", wrap=not numbers, right=numbers, share=0.24),
        Column("sent", wrap=not numbers, right=numbers, share=0.24),
    ]
    if answer.machine is not None:
        columns += [Column(tier.name, right=True) for tier in answer.machine.tiers]
    rows: list[tuple[Cell, ...]] = []
    for entry in entries:
        row: list[Cell] = [
            entry.parallelism, _what(entry), _short(_payload(answer, entry)),
            _short(answer.amount(entry.words)),
        ]
        row += [_short(words) for words in answer.by_tier(entry).values()]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), caption)


def _short(expr: sp.Expr) -> Cell:
    """An amount to four digits, which suffice beside each other in a table."""
    return Number(sp.Rational(expr), digits=4) if expr.is_Rational else Formula(expr)


def _payload(answer: CostAnswer, entry: Communication) -> sp.Expr:
    return answer.amount(entry.payload)


def _what(entry: Communication) -> str:
    when = f", {entry.phase}" if entry.phase != "step" else ""
    place = f", {entry.place}" if entry.place != "blocks" else ""
    behind = f"; behind {entry.hidden_behind}" if entry.hidden_behind else ""
    return f"{entry.collective} of {entry.what}{when}{place}{behind}"


def _memory(answer: CostAnswer) -> list[Block]:
    held = answer.memory
    rows: list[tuple[Cell, ...]] = [
        (name, shown(answer.amount(amount), "byte"))
        for name, amount in held.buckets.items() if amount.expr != 0
    ]
    together = answer.amount(held.total)
    if together.is_Rational:
        rows.append(("together", shown(together, "byte")))
    if answer.machine is not None and together.is_Rational:
        capacity = sp.Rational(answer.machine.memory_capacity_bytes)
        fits = "fits" if together <= capacity else "does not fit"
        cell: Cell = [Number(capacity, "byte"), f": {fits}"]
        rows.append((f"capacity of {answer.machine.title}", cell))
    stage = {"only": "a device", "first": "a device of the first stage",
             "last": "a device of the last stage"}[held.stage]
    caption = f"What {stage} holds, {answer.recipe.bytes} bytes a parameter."
    columns = (Column("bucket"), Column("bytes", wrap=True, share=0.7))
    return [Heading("Memory"), Table(columns, tuple(rows), caption)]


def value(expr: sp.Expr) -> Json:
    """A number where an amount is one (whole ones exact), else its formula as SymPy's text.

    Example:
        >>> value(sp.Integer(7)), value(sp.Rational(1, 2))
        (7, 0.5)
    """
    tidied = tidy(expr)
    if tidied.is_Integer:
        return int(tidied)
    return number(sp.Rational(tidied)) if tidied.is_Rational else str(tidied)


def costs_data(answer: CostAnswer) -> dict[str, Any]:
    """The costs of a model under a plan."""
    model, plan, tokens = answer.model, answer.model.plan, answer.per_token
    architecture = model.architecture
    formulas = {
        "parameters": model.parameters,
        "forward_flop_per_token": model.forward_flop.expr / tokens,
        "training_flop_per_token": model.training_flop.expr / tokens,
        "memory_bytes": answer.request.number(answer.memory.total.expr),
    }
    return {
        "model": architecture.name,
        "title": architecture.title,
        "source": architecture.source,
        "batch": {
            "tokens": value(model.tokens),
            "sequences": value(model.tokens / model.context),
            "tokens_per_sequence": value(model.context),
        },
        "plan": {
            "dp": value(plan.N_DP), "tp": value(plan.N_TP), "pp": value(plan.N_PP),
            "cp": value(plan.N_CP), "ep": value(plan.N_EP), "microbatches": value(plan.m),
            "interleaving": value(plan.v), "devices": value(plan.devices),
            "sequence_parallel": plan.sequence_parallel, "zero": plan.zero,
            "schedule": plan.schedule, "recompute": plan.recompute,
            "fused_attention": plan.fused_attention, "mask": plan.mask, "recipe": plan.recipe,
            "defaults": list(answer.request.defaults("cost")), "stages": answer.stage,
        },
        "hardware": None if answer.machine is None else answer.machine.name,
        "parameters": value(model.parameters),
        "active_parameters": value(model.active_parameters),
        "active_parameters_without_embedding": value(model.active_without_embedding),
        "flop_per_token": {
            "forward": value(model.forward_flop.expr / tokens),
            "training": value(model.training_flop.expr / tokens),
            "components": {
                c.name: value(c.forward_flop.expr / tokens) for c in answer.components
            },
        },
        "flop_per_step": {
            "training": value(model.training_flop.expr),
            "recomputed": value(model.recomputed_flop.expr),
        },
        "components": [
            {
                "name": c.name,
                "flop_forward": value(c.forward_flop.expr),
                "flop_training": value(c.training_flop.expr),
                "parameters": value(c.parameters),
                "activation_bytes": value(
                    answer.request.number(c.kept_bytes.expr * c.blocks)
                ),
            }
            for c in answer.components
        ],
        "communication": [
            {
                "parallelism": e.parallelism,
                "collective": e.collective,
                "what": e.what,
                "phase": e.phase,
                "place": e.place,
                "participants": value(e.participants),
                "payload_words": value(answer.request.number(e.payload.expr)),
                "words": value(answer.request.number(e.words.expr)),
                "words_by_tier": {k: value(v) for k, v in answer.by_tier(e).items()},
                "calls": value(e.calls),
                "messages": value(e.messages),
                "tier": answer.tier(e),
                "serialized": e.serialized,
                "hidden_behind": e.hidden_behind,
            }
            for e in answer.communications
        ],
        "memory_bytes": {
            **{
                name: value(answer.request.number(amount.expr))
                for name, amount in answer.memory.buckets.items()
            },
            "total": value(answer.request.number(answer.memory.total.expr)),
            "stage": answer.memory.stage,
            "recipe": answer.recipe.name,
        },
        "formulas": {name: formula_data(tidy(expr)) for name, expr in formulas.items()},
        "conventions": answer.conventions,
        "assumed": list(answer.request.notes),
    }


def line(answer: CostAnswer) -> str:
    """Say the answer in a line."""
    model = answer.model
    return f"{model.architecture.name}, {text(model.parameters)} parameters"


PAGES = (Page(CostAnswer, costs_document, costs_data, line),)
