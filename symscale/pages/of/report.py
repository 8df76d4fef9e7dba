"""One document on machines and models: notation, limits, costs, derivations, figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symscale.derivation.checks import checked
from symscale.derivation.library import load_derivation
from symscale.errors import InputError
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.pages.figures.of_report import KS, Drawing, limit_figures, share_figures
from symscale.pages.formats.bibtex import bibtex
from symscale.pages.formats.combine import Chapter, combine
from symscale.pages.formats.document import Bibliography, Document, Heading, paragraph
from symscale.pages.of.symbols import Symbols
from symscale.simulator.transformer.planning import tensor_degrees
from symscale.studies.comp_vs_comm.answer import ratio_answer
from symscale.studies.cost.answer import cost_answer
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request
from symscale.studies.training.answer import LimitsAnswer, cliffs, training_limits

DERIVATIONS = ("training-limits", "utilization-cliffs", "tensor-shard", "nanobatch",
               "batch-slicing", "latency-wall")
MODEL_DERIVATIONS = ("layer-flop", "edge-and-slack", "serialized-share", "required-tp",
                     "activation-memory")


@dataclass(frozen=True)
class Report:
    """A report: a document, what it draws, and its data.

    Attributes:
        document: The document.
        figures: Its figures; the document names their files.
        data: The data behind it, by file name.
    """

    document: Document
    figures: tuple[Drawing, ...]
    data: dict[str, dict[str, Any]]

    @property
    def bibliography(self) -> str:
        """BibTeX entries of exactly the sources that it cites."""
        for block in self.document.blocks:
            if isinstance(block, Bibliography):
                return bibtex(key for key in block.keys if key)
        return ""


def make_report(
    hardware: Sequence[str], models: Sequence[str],
    progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Make the report on machines and models.

    Args:
        hardware: Names or files of machines.
        models: Names or files of models; none for a report on machines alone.
        progress: Told what is being worked on.

    Raises:
        InputError: If a machine or model is unknown.
    """
    machines = [load_machine(name) for name in hardware]
    names = [machine.name for machine in machines]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two machines are called {name}; give one another name")
    chapters: list[Chapter] = []
    data: dict[str, dict[str, Any]] = {}
    limits: list[LimitsAnswer] = []
    for name, machine in zip(hardware, machines, strict=True):
        progress(machine.name)
        limit, utilization = training_limits(name), cliffs(name)
        limits.append(limit)
        data[f"limits-{machine.name}.json"] = limit.to_dict()
        data[f"cliffs-{machine.name}.json"] = utilization.to_dict()
        chapters.append(_titled(f"limits-{machine.name}", limit.document(), machine))
        chapters.append(_titled(f"cliffs-{machine.name}", utilization.document(), machine))
    drawn = limit_figures(hardware, limits)
    chapters[-1] = replace(chapters[-1], extra=tuple(d.block for d in drawn))
    for name in models:
        progress(name)
        chapters += _model(name, hardware, machines, data)
    if models:
        shares = share_figures(hardware)
        chapters[-1] = replace(chapters[-1], extra=tuple(d.block for d in shares))
        drawn += shares
    for name in (*DERIVATIONS, *(MODEL_DERIVATIONS if models else ())):
        progress(name)
        document = checked(load_derivation(name)).document()
        chapters.append(Chapter(name, _without_notation(document)))
    chapters.append(Chapter("notation", Symbols().document()))
    named = ", ".join([m.title for m in machines] + list(models))
    lead = paragraph(
        "Closed forms with the constraints that bind in them, the regions where they rule and "
        "their elasticities; costs by component; and the derivations, each step of which was "
        "checked when this report was made."
    )
    document = combine(f"How far training scales: {named}", (lead,), chapters)
    return Report(document, drawn, data)


def _titled(name: str, document: Document, machine: Machine) -> Chapter:
    return Chapter(name, Document(f"{document.title}: {machine.title}", document.blocks))


def _model(
    name: str, hardware: Sequence[str], machines: Sequence[Machine],
    data: dict[str, dict[str, Any]],
) -> list[Chapter]:
    answer = cost_answer(transformer_request(name))
    slug = answer.model.architecture.name
    data[f"costs-{slug}.json"] = answer.to_dict()
    chapters = [Chapter(f"costs-{slug}", answer.document())]
    for file, machine in zip(hardware, machines, strict=True):
        options = PlanOptions(tp=_largest_in_node(name, machine))
        ratio = ratio_answer(
            transformer_request(name, options), ks=[sp.Integer(k) for k in KS], hardware=file
        )
        data[f"ratios-{slug}-{machine.name}.json"] = ratio.to_dict()
        document = ratio.document()
        title = f"{document.title} on {machine.title}"
        chapters.append(
            Chapter(f"ratios-{slug}-{machine.name}", Document(title, document.blocks))
        )
    return chapters


def _largest_in_node(name: str, machine: Machine) -> int:
    """The largest degree of tensor parallelism that a model has within a node, at least 2."""
    degrees = tensor_degrees(transformer_request(name).model.architecture)
    size = machine.tiers[0].size or degrees[-1]
    kv = transformer_request(name).model.architecture.stacks[0].block.attention.kv_heads
    fitting = [d for d in degrees if d <= size and int(kv) % d == 0]
    return max([*fitting, 2] if len(fitting) == 1 else fitting)


def _without_notation(document: Document) -> Document:
    """A derivation without its own table of symbols, which the report has once."""
    blocks, skipping = [], False
    for block in document.blocks:
        if isinstance(block, Heading):
            skipping = block.text == "Notation"
        if not skipping:
            blocks.append(block)
    return Document(document.title, tuple(blocks))
