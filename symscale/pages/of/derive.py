"""Derivations as documents and as JSON."""

import sys
from collections.abc import Sequence
from typing import Literal

import sympy as sp

from symscale.algebra.exact.monomial import canonical_exponent, common_factor
from symscale.algebra.rewrites.rewrite import Rewrite
from symscale.derivation.checks import CheckedDerivation, StepCheck, checked
from symscale.derivation.steps import Derivation, Step
from symscale.language.sources import cite
from symscale.language.symbols import NOTATION
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
    paragraph,
)
from symscale.pages.formats.json import Json, condition_data, formula_data, powers
from symscale.pages.formats.references import References
from symscale.pages.formulas import formula
from symscale.pages.formulas.exponents import tidy_exponent
from symscale.pages.of.symbols import notation_table
from symscale.pages.page import Certificates, Page, page_of

_HEADINGS = {"definition": "Definition", "assumption": "Assumption"}


def derivation_document(found: CheckedDerivation) -> Document:
    """A derivation: question, notation, steps with reasons, result, numbers, sources."""
    derivation, checks = found.derivation, found.checks
    blocks: list[Block] = [paragraph(derivation.question)]
    given = [s for s in derivation.steps if s.is_given]
    derived = [s for s in derivation.steps if not s.is_given]
    by_key = {c.key: c for c in checks}
    references = References()
    if given:
        blocks.append(Heading("Given"))
        for step in given:
            blocks += _step(step, by_key.get(step.key), references)
    blocks.append(Heading("Derivation"))
    for step in derived:
        blocks += _step(step, by_key.get(step.key), references)
    blocks += _limit(derivation)
    if derivation.conclusion:
        blocks += [Heading("Result"), paragraph(derivation.conclusion)]
    for table in derivation.tables:
        columns = tuple(Column(t) for t in table.header)
        rows = tuple(tuple(_cell(c) for c in row) for row in table.rows)
        blocks.append(Table(columns, rows, table.caption))
    blocks += [Heading("Notation"), _notation(derivation, references), *references.blocks()]
    return Document(derivation.title, tuple(blocks))


def _cell(value: object) -> Cell:
    if isinstance(value, sp.Basic):
        return Formula(value)
    if isinstance(value, Number):
        return value
    return str(value)


def _step(step: Step, check: StepCheck | None, references: References) -> list[Block]:
    lead: list[Inline] = []
    if step.is_given:
        lead.append(f"{_HEADINGS[step.kind]} ({step.key}): {step.reason}")
        lead.append(f" {references.cite(step.source)}." if step.source else ".")
    else:
        lead.append(f"Step ({step.key}): {step.reason}.")
        lead += _premises(step)
        lead += _bounds(step)
        lead += _logic(step)
        lead.append(_checked(check))
    return [Paragraph(tuple(lead)), Equation(step.statement, step.key)]


def _premises(step: Step) -> list[Inline]:
    if not step.premises:
        return []
    if all(power == 1 for power in step.premises.values()):
        return [f" From {' and '.join(f'({key})' for key in step.premises)}."]
    common = common_factor(step.premises.values())
    words: list[Inline] = [" Powers: "]
    for index, (key, power) in enumerate(step.premises.items()):
        shown = Formula(tidy_exponent(canonical_exponent(power / common)))
        words += [", " if index else "", f"({key}) ", shown]
    if common != 1:
        words += ["; all times ", Formula(common)]
    return [*words, "."]


def _bounds(step: Step) -> list[Inline]:
    """Where a rewrite holds, by how much it is off, and where it is exact."""
    rewrite = step.rewrite
    words: list[Inline] = []
    if rewrite is None or step.kind == "choice":
        return words
    sides = "Old and new left side" if step.kind == "replacement" else "The two sides"
    if rewrite.factor is not None:
        words += [f" {sides} differ by at most a factor ", Formula(rewrite.factor)]
        if rewrite.conditions:
            words += [" where ", *_list(rewrite.conditions)]
        words.append(".")
    elif rewrite.conditions:
        words += [" It holds where ", *_list(rewrite.conditions), "."]
    if rewrite.equality:
        words += [f" {sides} are equal where ", *_list(rewrite.equality), "."]
    return words + _convexity(rewrite)


def _convexity(rewrite: Rewrite) -> list[Inline]:
    """Why a stationary point is the minimum, in words."""
    if rewrite.minimum is None:
        return []
    names: list[Inline] = []
    for x in rewrite.minimum.point:
        names += [", " if names else "", "ln ", Formula(x)]
    words: list[Inline] = [
        " Every term is a positive multiple of powers, so the sum is convex in ", *names,
        ", and that point, where its first derivative vanishes, is its minimum",
    ]
    if rewrite.minimum.curvature is not None:
        words += ["; the second derivative there is ", Formula(rewrite.minimum.curvature), " > 0"]
    return [*words, "."]


def _logic(step: Step) -> list[Inline]:
    """How the step stands to what was given, where it does not simply follow."""
    limited = step.kind in ("choice", "optimum")
    conditions = step.conditions if limited else step.region
    words: list[Inline] = [" This is so where ", *_list(conditions), "."] if conditions else []
    if step.logic == "follows":
        return words
    (first, *_) = step.premises
    if step.logic == "suffices":
        choice = step.rewrite is not None and step.rewrite.relation == ">="
        return [*words, f" {'For that choice this' if choice else 'This'} suffices for ({first})."]
    enough = step.rewrite is not None and bool(step.rewrite.equality)
    also = ", and for that choice sufficient" * enough
    return [*words, f" This is necessary for ({first}){also}."]


def _list(relations: Sequence[sp.Basic | formula.Compared]) -> list[Inline]:
    words: list[Inline] = []
    for index, relation in enumerate(relations):
        words += [" and " if index else "", Formula(relation)]
    return words


def _checked(check: StepCheck | None) -> str:
    if check is None:
        return " Not checked."
    if check.kernel:
        return " The kernel shows it."
    how = "exactly and " if check.exact else ""
    return f" Checked {how}at {check.points} random points."


def _limit(derivation: Derivation) -> list[Block]:
    limit = derivation.limit
    if limit is None:
        return []
    (objective,) = limit.program.objective.atoms
    function: Literal["min", "max"] = "min" if limit.program.sense == "maximize" else "max"
    blocks: list[Block] = [Heading("Pieces and regions")]
    if len(limit.pieces) > 1:
        blocks.append(Cases(objective, function, [p.bound for p in limit.pieces]))
    for piece in limit.pieces:
        words: list[Inline] = [f"The piece '{piece.name}' rules where "]
        conditions = [formula.condition_of(c) for c in piece.region]
        words += _list(conditions) if conditions else ["any parameters are"]
        if piece.exponent_conditions:
            words.append("; its exponents hold for ")
            for index, polynomial in enumerate(piece.exponent_conditions):
                words += [", " if index else "", Formula(polynomial), " > 0"]
        words.append(".")
        blocks.append(Paragraph(tuple(words)))
    names = sorted({a for p in limit.pieces for a in p.bound.atoms}, key=str)
    rows = tuple(
        (Formula(a), *(Formula(tidy_exponent(p.bound.exponent(a))) for p in limit.pieces))
        for a in names
    )
    columns = (Column("parameter"), *(Column(p.name, right=True) for p in limit.pieces))
    blocks.append(Table(columns, rows, "Elasticities: the power of each parameter in each piece."))
    return blocks


def _notation(derivation: Derivation, references: References) -> Table:
    names = {s.name for s in derivation.free_symbols}
    return notation_table([e for e in NOTATION.values() if e.name in names], references)


def derivation_data(found: CheckedDerivation) -> dict[str, Json]:
    """A derivation as JSON data."""
    derivation, checks = found.derivation, found.checks
    steps: list[Json] = []
    by_key = {c.key: c for c in checks}
    for step in derivation.steps:
        check = by_key.get(step.key, StepCheck(step.key, None, 0))
        entry: dict[str, Json] = {
            "key": step.key,
            "kind": step.kind,
            **formula_data(step.statement),
            "reason": step.reason,
            "source": step.source,
            "premises": powers(step.premises),
            "exact": check.exact,
            "random_points": check.points,
            "kernel": check.kernel,
            "checked": bool(checks),
            "logic": step.logic,
            "conditions": [str(c) for c in step.conditions],
        }
        if step.rewrite is not None and step.kind != "choice":
            entry["equal_where"] = [str(c) for c in step.rewrite.equality]
            factor = step.rewrite.factor
            entry["factor"] = None if factor is None else str(factor)
        steps.append(entry)
    data: dict[str, Json] = {
        "name": derivation.name,
        "title": derivation.title,
        "question": derivation.question,
        "steps": steps,
        "conclusion": derivation.conclusion,
        "result": formula_data(derivation.result),
    }
    if derivation.limit is not None:
        data["pieces"] = [
            {
                "name": p.name,
                **formula_data(p.bound),
                "multipliers": powers(p.multipliers),
                "elasticities": powers(p.elasticities),
                "region": [condition_data(c) for c in p.region],
            }
            for p in derivation.limit.pieces
        ]
    data["symbols"] = {
        e.name: {"latex": formula.latex(e.symbol), "unit": e.unit, "meaning": e.meaning}
        for e in NOTATION.values()
        if e.name in {s.name for s in derivation.free_symbols}
    }
    data["sources"] = {key: cite(key) for key in derivation.sources}
    return data


def show(derivation: Derivation) -> None:
    """Check a derivation and print it as text: what running its file does."""
    found = checked(derivation)
    sys.stdout.write(page_of(found).printed(found, "text"))


def line(found: CheckedDerivation) -> str:
    """Say the answer in a line."""
    how = "each checked" if found.checks else "not checked"
    return f"{found.derivation.name}, {len(found.derivation.steps)} steps, {how}"


def certificates(found: CheckedDerivation) -> Certificates | None:
    """What the kernel shows of the limit that a derivation ends in."""
    return None if found.theorems is None else Certificates(found.theorems)


def _functions(found: CheckedDerivation) -> ClosedForms:
    from symscale.pages.of.functions import derivation_functions

    return derivation_functions(found.derivation)


PAGES = (
    Page(
        CheckedDerivation, derivation_document, derivation_data, line, functions=_functions,
        label=lambda found: found.derivation.name, certificates_of=certificates,
    ),
)
