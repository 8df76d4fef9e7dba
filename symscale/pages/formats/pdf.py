"""Documents as PDF, through a LaTeX engine that is installed.

The engine runs in a temporary folder, without shell escape, and within a time limit.
The bytes depend on the document alone: dates are those of SOURCE_DATE_EPOCH, or none.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symscale.errors import InputError, NoAnswerError

LIMIT_S = 120
PASSES = 2  # so that references to later equations are right


@dataclass(frozen=True)
class Engine:
    """A program that makes a PDF of a LaTeX file.

    Attributes:
        name: Its name on PATH.
        options: Its options.
        passes: How often it has to run.
    """

    name: str
    options: tuple[str, ...]
    passes: int = 1


ENGINES = (
    Engine("latexmk", ("-pdf", "-halt-on-error", "-interaction=nonstopmode",
                       "-latexoption=-no-shell-escape", "-norc")),
    Engine("pdflatex", ("-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape"), PASSES),
    Engine("tectonic", ("--untrusted",)),
)
"""Engines, the first of which is taken that is installed."""

FIXED_ID = r"\ifdefined\pdftrailerid\pdftrailerid{}\fi" + "\n"


def find_engine() -> tuple[Engine, str]:
    """Return the first engine that is installed, and its path.

    Raises:
        InputError: If none is; the text names the package to install.
    """
    for engine in ENGINES:
        path = shutil.which(engine.name)
        if path is not None:
            return engine, path
    names = ", ".join(engine.name for engine in ENGINES)
    raise InputError(
        f"PDF needs a LaTeX engine, and none of {names} is on PATH; on Debian install "
        "texlive-latex-recommended, or print --format latex"
    )


def make_pdf(tex: str, files: Sequence[Path] = ()) -> bytes:
    """Return the PDF of a standalone LaTeX document.

    Args:
        tex: The document.
        files: Figures that it includes, by their names.

    Raises:
        InputError: If no engine is installed.
        NoAnswerError: If the engine fails or takes too long.
    """
    engine, path = find_engine()
    with tempfile.TemporaryDirectory(prefix="symscale-") as name:
        folder = Path(name)
        for file in files:
            shutil.copyfile(file, folder / file.name)
        (folder / "document.tex").write_text(FIXED_ID + tex, encoding="utf-8")
        for _ in range(engine.passes):
            _run([path, *engine.options, "document.tex"], folder)
        result = folder / "document.pdf"
        if not result.exists():
            raise NoAnswerError(f"{engine.name} made no PDF and did not say why")
        return result.read_bytes()


def _run(command: list[str], folder: Path) -> None:
    environment = {
        **os.environ, "FORCE_SOURCE_DATE": "1", "max_print_line": "1000",
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0"),
    }
    try:
        done = subprocess.run(  # noqa: S603  # a fixed list of options, no shell
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=LIMIT_S, check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{Path(command[0]).name} took more than {LIMIT_S} s") from None
    except OSError as error:
        raise InputError(f"{Path(command[0]).name} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise NoAnswerError(f"{Path(command[0]).name} failed: {_reason(done.stdout)}")


def _reason(output: bytes) -> str:
    """The first line in which the engine complains."""
    lines = output.decode("utf-8", "replace").splitlines()
    return next((line for line in lines if line.startswith("!")), "see its log with --format latex")
