"""What values look like in a notebook: LaTeX, HTML, Markdown and text of each kind."""

from collections.abc import Callable, Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from symscale.answers import Shown
from symscale.costs.cost import Cost
from symscale.derivation.checks import check_derivation
from symscale.derivation.steps import Derivation
from symscale.pages.formats import html, latex, markdown, text
from symscale.pages.formats.document import Document
from symscale.pages.of.cost import costs_document
from symscale.pages.of.derive import derivation_document
from symscale.pages.of.limits import cliffs_document, limits_document
from symscale.pages.of.ratio import ratios_document
from symscale.pages.of.solve import problem_document
from symscale.problems.answer import ProblemAnswer
from symscale.studies.comp_vs_comm.answer import RatioAnswer
from symscale.studies.cost.answer import CostAnswer
from symscale.studies.training.answer import Answer, CliffsAnswer

WIDTH = 100

DOCUMENTS: Mapping[type, Callable[[Any], Document]] = MappingProxyType(
    {
        CliffsAnswer: cliffs_document,
        Answer: limits_document,
        CostAnswer: costs_document,
        RatioAnswer: ratios_document,
        ProblemAnswer: lambda found: problem_document(found, {}),
        Derivation: lambda d: derivation_document(d, check_derivation(d)),
    }
)
"""What makes a document of each kind of value; the first kind that fits is taken."""


def bundle(value: Shown) -> dict[str, str]:
    """Return all forms of a value by their MIME type.

    Example:
        >>> from symscale.costs.cost import cost
        >>> sorted(bundle(cost(3, "FLOP")))
        ['text/html', 'text/latex', 'text/markdown', 'text/plain']
    """
    if isinstance(value, Cost):
        return _of_cost(value)
    for kind, make in DOCUMENTS.items():
        if isinstance(value, kind):
            return _of_document(make(value))
    raise TypeError(f"{type(value).__name__} has no form for notebooks")


def _of_cost(value: Cost) -> dict[str, str]:
    from symscale.pages.formulas import formula

    unit = str(value.unit)
    suffix = "" if unit == "1" else rf"\ \mathrm{{{unit.replace('^', '')}}}"
    shown = formula.latex(value.expr)
    plain = f"{formula.text(value.expr)} {'' if unit == '1' else unit}".rstrip()
    page = html.equation(value.expr, "")
    return {
        "text/plain": plain,
        "text/latex": f"${shown}{suffix}$",
        "text/markdown": f"${shown}{suffix}$",
        "text/html": f"{page}<p>{escape(unit) if unit != '1' else ''}</p>",
    }


def _of_document(document: Document) -> dict[str, str]:
    return {
        "text/plain": text.render(document, WIDTH),
        "text/latex": latex.body(document),
        "text/markdown": markdown.render(document),
        "text/html": html.body(document),
    }
