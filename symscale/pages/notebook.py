"""What values look like in a notebook: LaTeX, HTML, Markdown and text of each kind."""

from html import escape

from symscale.answers import Answer, Shown
from symscale.costs.cost import Cost
from symscale.derivation.checks import checked
from symscale.derivation.steps import Derivation
from symscale.pages.formats import html, latex, markdown, text
from symscale.pages.formats.document import Document

WIDTH = 100


def bundle(value: Shown) -> dict[str, str]:
    """Return all forms of a value by their MIME type.

    Example:
        >>> from symscale.costs.cost import cost
        >>> sorted(bundle(cost(3, "FLOP")))
        ['text/html', 'text/latex', 'text/markdown', 'text/plain']
    """
    if isinstance(value, Cost):
        return _of_cost(value)
    if isinstance(value, Derivation):
        return _of_document(checked(value).document())
    if isinstance(value, Answer):
        return _of_document(value.document())
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
