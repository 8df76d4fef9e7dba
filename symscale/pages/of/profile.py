"""What was measured on this machine, as a document."""

from typing import Any

from symscale.measure.operators.collectives import Collective
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.profiling import Profile
from symscale.measure.readers.json_files import measurements_data
from symscale.pages.formats.document import Block, Cell, Column, Document, Table, paragraph
from symscale.pages.page import Page


def profile_document(found: Profile) -> Document:
    """The measurements as a table, and what is known of the machine."""
    machine = found.machine
    columns = (
        Column("operator"), Column("size"), Column("median", right=True),
        Column("spread", right=True), Column("runs", right=True), Column("reached", right=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.operator.name, one.label, time_text(one.seconds),
            "" if one.spread is None else f"{one.spread:.0%}", str(one.repetitions), reached(one),
        )
        for one in found.measurements
    ]
    said = [f"{machine['cores']} cores, {machine['threads']} threads, clock: {machine['clock']}"]
    if "library" in machine:
        said.insert(0, str(machine["library"]))
    if "load" in machine:
        said.append(f"load when it began: {machine['load']}")
    blocks: list[Block] = [paragraph("; ".join(said) + ".")]
    if note := str(machine.get("processes_note", machine.get("collectives", ""))):
        blocks.append(paragraph(f"{note[0].upper()}{note[1:]}."))
    if float(machine.get("load", 0)) > machine["cores"] - machine["threads"] + 0.5:
        blocks.append(paragraph(
            "Others use this machine: their work is in these times. Measure again when it is "
            "quiet, or with --threads 1 --clock cpu."
        ))
    if found.interrupted:
        blocks.append(paragraph("Interrupted: what was measured until then."))
    blocks.append(Table(columns, tuple(rows), "Median of the runs, and the spread of their middle "
                        "half over it. Reached: FLOP/s of products, else bytes moved a second, of "
                        "collectives one way over a device's link."))
    return Document(f"Operators on {machine['device']}", tuple(blocks))


def time_text(seconds: float) -> str:
    """Return a time in the unit that suits it.

    Example:
        >>> time_text(0.00123), time_text(2.5e-6)
        ('1.23 ms', '2.5 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def reached(one: Measurement) -> str:
    """Rate that a measurement reached, with its unit."""
    if one.flop:
        return f"{one.flop / one.seconds / 1e9:.4g} GFLOP/s"
    suffix = " one way" if isinstance(one.operator, Collective) else ""
    return f"{one.moved / one.seconds / 1e9:.4g} GB/s{suffix}"


def profile_data(found: Profile) -> dict[str, Any]:
    """The measurements, in the format that `symscale fit` reads."""
    data = measurements_data(found.measurements, found.machine)
    return {**data, "interrupted": True} if found.interrupted else data


PAGES = (Page(Profile, profile_document, profile_data),)
