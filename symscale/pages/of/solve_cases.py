"""Answers to problems that are several as documents and as JSON: a chapter a case."""

from dataclasses import replace

from symscale.errors import NoAnswerError
from symscale.pages.formats.document import (
    Block,
    Document,
    Formula,
    Heading,
    Inline,
    Number,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number
from symscale.pages.formats.references import References
from symscale.pages.formulas.names import typeset_as
from symscale.pages.of.solve import problem_document
from symscale.pages.of.solve_data import problem_data
from symscale.pages.of.solve_given import given, own_words
from symscale.pages.page import Certificates, Page
from symscale.problems.answer import ProblemAnswer
from symscale.problems.cases import CasesAnswer, ProblemCase
from symscale.problems.enclosed import SHARE, EnclosedAnswer


def _document(found: CasesAnswer) -> Document:
    blocks = (Heading("Answer"), *_cases(found), *_given(found))
    return Document(found.problem.title, blocks, found.problem.own_names)


def _cases(found: CasesAnswer) -> list[Block]:
    problem, best = found.problem, found.best
    verb, better = ("Maximize", "greatest") if problem.sense == "maximize" else (
        "Minimize", "least")
    shown: list[Inline] = [f"{verb} ", Formula(problem.objective), "."]
    blocks: list[Block] = [paragraph(*shown), paragraph(
        f"This is {len(found.cases)} problems, each a geometric program of its own; the optimum "
        f"is the {better} of theirs. Each holds where what stands in its title does."
    )]
    if best is not None:
        value = best.value if best.numerical is None else best.numerical.value
        words = next(c for c, one in zip(found.cases, found.answers, strict=True) if one is best)
        if value is not None:
            blocks.append(paragraph("Here the optimum is ", Number(value, problem.unit),
                                    f": {_title(words)}."))
    else:
        blocks.append(paragraph("Numbers for all parameters (--set) tell which case rules, and "
                                "give its proof."))
    for k, (case, one) in enumerate(zip(found.cases, found.answers, strict=True), 1):
        blocks.append(Heading(f"Case {k}: {_title(case)}"))
        if one is None:
            blocks.append(paragraph(f"Nothing is feasible: {case.never}."))
            continue
        blocks += _chapter(one)
    return blocks


def _chapter(found: ProblemAnswer) -> list[Block]:
    """The answer of a part, without what was given."""
    blocks: list[Block] = []
    if not found.pieces:
        try:
            found.check()
        except NoAnswerError as error:
            return [paragraph(f"With what stands in the title as constraints, {error}.")]
    for block in problem_document(found, {}).blocks[2:]:
        if block == Heading("Given"):
            break
        blocks.append(_lower(block))
    return blocks


def _lower(block: Block) -> Block:
    """A block of a chapter of its own, its heading a level lower."""
    return replace(block, level=min(3, block.level + 1)) if isinstance(block, Heading) else block


def _given(found: CasesAnswer | EnclosedAnswer) -> list[Block]:
    """What was given, of the problem as it was written."""
    parts = found.answers if isinstance(found, CasesAnswer) else (found.loose, found.tight)
    for one in parts:
        if isinstance(one, ProblemAnswer):
            references = References(own_words(found.problem))
            blocks = given(replace(one, problem=found.problem), references)
            return [*blocks, *references.blocks()]
    return []


def _enclosed_document(found: EnclosedAnswer) -> Document:
    problem, enclosure = found.problem, found.enclosure
    verb = "Maximize" if problem.sense == "maximize" else "Minimize"
    blocks: list[Block] = [
        Heading("Answer"), paragraph(f"{verb} ", Formula(problem.objective), ".")
    ]
    for power, bound in enclosure.powers.items():
        words: list[Inline] = [Formula(1 - power), " is at most ", Formula(bound),
                               " and at least ", Formula(SHARE), " times that"]
        for k, c in enumerate(enclosure.conditions):
            words += [" and " if k else ", where ", Formula(c.relational)]
        blocks.append(paragraph(*words, "."))
    low, high = found.ends
    if low is not None and high is not None:
        blocks.append(paragraph("Here the optimum lies between ", Number(low), " and ",
                                Number(high, problem.unit), ", a factor ", Number(high / low),
                                " apart."))
    blocks.append(paragraph("The optimum lies between those of two problems."))
    for words_of, one in (("no worse", found.loose), ("no better", found.tight)):
        blocks.append(Heading(f"The optimum that is {words_of}"))
        if isinstance(one, ProblemAnswer):
            blocks += _chapter(one)
        else:
            blocks += map(_lower, _cases(one))
    return Document(problem.title, (*blocks, *_given(found)), problem.own_names)


def _enclosed_data(found: EnclosedAnswer) -> dict[str, Json]:
    parts: dict[str, Json] = {}
    for key, one in (("loose", found.loose), ("tight", found.tight)):
        parts[key] = problem_data(one, {}) if isinstance(one, ProblemAnswer) else _data(one)
    problem, (low, high) = found.problem, found.ends
    with typeset_as(problem.own_names):
        return {
            "problem": "enclosed", "title": problem.title,
            "objective": {**formula_data(problem.objective), "sense": problem.sense,
                          "unit": problem.unit},
            "bounds": {"lower": None if low is None else number(low),
                       "upper": None if high is None else number(high)},
            "conditions": [formula_data(c.relational) for c in found.enclosure.conditions],
            "exact": False, **parts,
        }


def _enclosed_line(found: EnclosedAnswer) -> str:
    low, high = found.ends
    if low is None or high is None:
        return f"{found.problem.title[:60]}, between two problems"
    return f"{found.problem.title[:60]}, between {float(low):.5g} and {float(high):.5g}"


def _title(case: ProblemCase) -> str:
    return "; ".join(case.words)


def _data(found: CasesAnswer) -> dict[str, Json]:
    problem = found.problem
    cases: list[Json] = []
    for case, one in zip(found.cases, found.answers, strict=True):
        entry: dict[str, Json] = {"case": list(case.words), "infeasible": case.never or None}
        cases.append(entry if one is None else {**entry, **problem_data(one, {})})
    with typeset_as(problem.own_names):
        objective = {**formula_data(problem.objective), "sense": problem.sense,
                     "unit": problem.unit}
    best = found.best
    return {
        "problem": "cases", "title": problem.title, "objective": objective, "cases": cases,
        "limit": {
            "value": None if found.value is None else number(found.value), "unit": problem.unit,
            "case": next((k for k, one in enumerate(found.answers)
                          if one is not None and one is best), None),
        },
        "status": found.status, "exact": found.exact,
        "numerical": None if best is None or best.numerical is None
        else {"value": best.numerical.value},
    }


def _line(found: CasesAnswer) -> str:
    start = f"{found.problem.title[:60]}, {len(found.cases)} cases"
    if found.value is None:
        return start
    return f"{start}, {found.problem.objective} = {float(found.value):.5g}"


def _certificates(found: CasesAnswer) -> Certificates | None:
    """Of the case that rules; a file is about one problem."""
    return None if found.best is None else Certificates(found.best.theorems)


PAGES = (
    Page(CasesAnswer, _document, _data, _line, certificates_of=_certificates),
    Page(EnclosedAnswer, _enclosed_document, _enclosed_data, _enclosed_line),
)
"""How the answer to a problem that is several, or that is enclosed by two, is shown."""
