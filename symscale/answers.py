"""Answers: what every question brings, and how values show themselves in notebooks.

An answer knows nothing of how it is printed. Its class names the command that prints it;
the page of that command is looked up when something is to be shown, so that costs and
studies do not depend on `symscale.pages`.
"""

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

PAGES = "symscale.pages.page"
NOTEBOOK = "symscale.pages.notebook"


class Shown:
    r"""A value that a notebook shows as formulas and tables.

    Example:
        >>> from symscale.costs.cost import cost
        >>> print(cost(12, "word")._repr_latex_())
        $12\ \mathrm{word}$
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Give all forms that a notebook may choose from."""
        bundle: dict[str, str] = import_module(NOTEBOOK).bundle(self)
        return bundle

    def _repr_latex_(self) -> str:
        """Give LaTeX."""
        return self._repr_mimebundle_()["text/latex"]

    def _repr_html_(self) -> str:
        """Give HTML with MathML."""
        return self._repr_mimebundle_()["text/html"]


class Answer(Shown):
    """What a question brings: it checks, prints, draws and proves itself.

    Attributes:
        page: The command that prints it: the module of that name in `symscale.pages.of`.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> answer = training_limits("h100-sxm")
        >>> answer
        <limits: T = 1.9241e28 FLOP, data movement rules; 2 pieces>
        >>> answer.to_dict()["hardware"], answer.to_dict()["schema"]
        ('h100-sxm', 1)
    """

    page: ClassVar[str] = ""

    def check(self) -> None:
        """Verify what the answer states.

        Raises:
            CheckFailedError: If something does not hold.
        """

    def __repr__(self) -> str:
        page = self._page()
        line = page.line(self) if page.line is not None else type(self).__name__
        return f"<{self.page}: {line}>"

    def document(self) -> Any:
        """Return the document that the command prints."""
        return self._page().checked_document(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what the command prints as JSON."""
        data: dict[str, Any] = self._page().to_dict(self)
        return data

    def latex(self) -> str:
        """Return LaTeX to be included in a document: no preamble, sources cited by key."""
        text: str = self._page().printed(self, "latex", fragment=True)
        return text

    def code(self, language: str = "python") -> str:
        """Return the closed forms as functions: in python (NumPy), c or javascript.

        Raises:
            InputError: If the answer has no closed forms, or the language is unknown.
        """
        text: str = self._page().code(self, language)
        return text

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the answer into a file, whole or not at all, in the format that its name ends in.

        Raises:
            InputError: If the file cannot be written, or exists and `force` is not given.
        """
        self._page().save(self, path, force=force)

    def plot(self, path: str | Path, *, force: bool = False) -> None:
        """Draw the answer's figure into a file: .pdf, .svg or .png.

        Raises:
            InputError: If the answer has no figure, or the file cannot be written.
        """
        self._page().plot(self, path, force=force)

    def certificates(self) -> Any:
        """Return the proofs of what the answer states, for `symscale check`.

        Raises:
            InputError: If answers of this kind have none.
        """
        return self._page().certificates(self)

    def _page(self) -> Any:
        return import_module(PAGES).page_of(self)
