"""LaTeX documents, compiled; and the names of the worked derivations."""

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from symscale.derivation.library import derivation_names
from symscale.pages.formats import latex

NAMES = derivation_names()


def compile_latex(program: str, text: str, folder: Path) -> None:
    """Compile a document; nothing in it may be wider than the page by more than 20 pt.

    All but the PDF is made, which tests of `make_pdf` look at.
    """
    path = folder / "document.tex"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [program, "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape",
         path.name],
        cwd=folder,
        env={**os.environ, "max_print_line": "1000"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    output = done.stdout.decode("latin-1")
    assert done.returncode == 0, output[-1500:]
    wide = [line for line in output.splitlines() if line.startswith("Overfull \\hbox")]
    assert not [w for w in wide if float(re.findall(r"\(([0-9.]+)pt", w)[0]) > 20], wide
    assert "Missing character" not in output
    assert "undefined" not in output


def joined(texts: Iterable[str]) -> str:
    """Several documents as one, to start the program once."""
    bodies = []
    for text in texts:
        head, _, rest = text.partition("\\begin{document}\n")
        assert head.startswith(latex.PREAMBLE)
        body, _, end = rest.rpartition("\\end{document}\n")
        assert end == ""
        assert "\\begin{document}" not in body
        # Labels of different documents may be the same.
        body = re.sub(r"\\label\{[^}]*\}", "", body)
        bodies.append(head.removeprefix(latex.PREAMBLE) + body)
    whole = "\\clearpage\n".join(bodies)
    return f"{latex.PREAMBLE}\\begin{{document}}\n{whole}\\end{{document}}\n"
