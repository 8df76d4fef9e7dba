"""Machines: their list, the figures of one."""

from dataclasses import dataclass

from symscale.answers import Answer
from symscale.facts.machines.lumped import Machine, figures_of
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json
from symscale.pages.formats.references import References
from symscale.pages.page import Page


@dataclass(frozen=True, repr=False)
class Machines(Answer):
    """Machines, to be listed.

    Attributes:
        machines: The machines.
    """

    page = "hardware"
    machines: tuple[Machine, ...]


def machines_document(found: Machines) -> Document:
    """The list of machines."""
    rows = tuple((m.name, m.title, ", ".join(m.levels())) for m in found.machines)
    columns = (Column("name"), Column("machine", wrap=True, share=0.4), Column("levels"))
    return Document(
        "Hardware",
        (
            Table(columns, rows),
            paragraph("Figures of one: symscale hardware NAME. Your own: a TOML file."),
        ),
    )


def machines_data(found: Machines) -> dict[str, Json]:
    """The list of machines as JSON data."""
    return {
        "hardware": [
            {"name": m.name, "title": m.title, "base": m.base, "levels": list(m.levels())}
            for m in found.machines
        ]
    }


def machine_document(machine: Machine) -> Document:
    """Every figure of a machine."""
    references = References()
    rows = tuple(
        (
            row.name + (" (derived)" if row.derived else ""),
            f"{row.text} {row.unit}" if row.unit != "1" else row.text,
            "; ".join(t for t in (_direction(row.direction), row.condition, row.note) if t),
            references.number(row.source),
        )
        for row in figures_of(machine)
    )
    columns = (
        Column("figure"), Column("value"), Column("condition", wrap=True, share=0.3),
        Column("source"),
    )
    blocks: list[Block] = []
    if machine.base is not None:
        blocks.append(paragraph(f"What-if on {machine.base}: {machine.reason}"))
    blocks += [Table(columns, rows), *_missing_blocks(machine), *references.blocks()]
    return Document(f"{machine.title} ({machine.name})", tuple(blocks))


def _missing_blocks(machine: Machine) -> list[Block]:
    missing = machine.missing()
    if not missing:
        return []
    text = f"Not stated: {', '.join(missing)}. A simulation needs all of them."
    of_tau = [name for name in missing if name in machine.latencies()]
    if of_tau:
        text += (
            f" tau needs {', '.join(of_tau)}: limits and cliffs ask for these figures, or for "
            "--set tau."
        )
    return [paragraph(text)]


def _direction(direction: str | None) -> str:
    if direction is None:
        return ""
    return "both directions together" if direction == "both" else "one direction"


def machine_data(machine: Machine) -> dict[str, Json]:
    """Every figure of a machine as JSON data."""
    figures: list[Json] = []
    for row in figures_of(machine):
        value: Json = None
        if isinstance(row.value, bool):
            value = row.value
        elif row.value is not None:
            value = float(row.value) if row.value.denominator != 1 else int(row.value)
        figures.append(
            {
                "name": row.name,
                "value": value,
                "unlimited": row.value is None,
                "unit": row.unit,
                "direction": row.direction,
                "condition": row.condition,
                "source": row.source,
                "note": row.note,
                "derived": row.derived,
            }
        )
    return {
        "name": machine.name,
        "title": machine.title,
        "base": machine.base,
        "reason": machine.reason,
        "vendor": machine.vendor,
        "levels": list(machine.levels()),
        "figures": figures,
        "missing": list(machine.missing()),
    }


PAGES = (
    Page(Machines, machines_document, machines_data),
    Page(Machine, machine_document, machine_data, lambda machine: machine.name),
)
