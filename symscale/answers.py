"""How values show themselves in notebooks.

Values know nothing of how they are printed: what prints them is looked up when a
notebook asks, so that costs and studies do not depend on `symscale.pages`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

PRINTER = "symscale.pages.notebook"


class Shown:
    r"""A value that a notebook shows as formulas and tables.

    Example:
        >>> from symscale.costs.cost import cost
        >>> print(cost(12, "word")._repr_latex_())
        $12\ \mathrm{word}$
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Give all forms that a notebook may choose from."""
        return _bundle(self)

    def _repr_latex_(self) -> str:
        """Give LaTeX."""
        return _bundle(self)["text/latex"]

    def _repr_html_(self) -> str:
        """Give HTML with MathML."""
        return _bundle(self)["text/html"]


def _bundle(value: Shown) -> dict[str, str]:
    printer: Callable[[Any], dict[str, str]] = import_module(PRINTER).bundle
    return printer(value)
