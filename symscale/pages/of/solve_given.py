"""What a problem of one's own gives, as it was written: symbols, constraints, sources."""

from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Formula,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.references import References
from symscale.pages.of.solve_data import spelled
from symscale.problems.answer import ProblemAnswer
from symscale.problems.problem import Problem, ProblemSymbol


def own_words(problem: Problem) -> str:
    """All that a problem's author wrote that a document prints as it is."""
    entries = [q.entry for q in (*problem.variables, *problem.parameters)]
    relations = problem.all_relations
    return "\n".join([
        problem.title, *(text for e in entries for text in (e.meaning, e.source)),
        *(text for r in relations for text in (r.name, r.reason, r.source)),
    ])


def given(found: ProblemAnswer, references: References) -> list[Block]:
    """The symbols and constraints as they were given."""
    problem = found.problem
    blocks: list[Block] = [Heading("Given")]
    rows: list[tuple[Cell, ...]] = []
    for q in (*problem.variables, *problem.parameters):
        value: Cell = "variable" if q in problem.variables else "symbolic"
        if q.symbol in found.values:
            value = Number(found.values[q.symbol], q.entry.unit, 7)
        rows.append((Formula(q.symbol), value, _meaning(q, references)))
    blocks.append(
        Table((Column("symbol"), Column("value"), Column("meaning", wrap=True, share=0.6)),
              tuple(rows))
    )
    columns = (
        Column("constraint", wrap=True, share=0.2), Column("relation", wrap=True, share=0.45),
        Column("because", wrap=True, share=0.27),
    )
    relations = tuple(
        (r.name, Formula(spelled(problem, r)),
         "; ".join(t for t in (r.reason, references.words(r.source)) if t))
        for r in problem.all_relations
    )
    blocks.append(Table(columns, relations))
    for divisor in problem.divisors:
        blocks.append(paragraph("Something is divided by ", Formula(divisor),
                                ", which is taken to be positive."))
    for name, counted in problem.counted_literals.items():
        for literal in counted:
            blocks.append(paragraph(f"In {name} the number {literal.number} of ",
                                    Formula(literal.term), f" stands for {literal}."))
    return blocks


def _meaning(q: ProblemSymbol, references: References) -> str:
    unit = "" if q.entry.unit == "1" else f" [{q.entry.unit}]"
    words = references.words(q.entry.source)
    source = f" {words if words.startswith('[') else f'({words})'}" if words else ""
    return f"{q.entry.meaning}{unit}{source}"
