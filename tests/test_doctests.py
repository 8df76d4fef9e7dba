"""Every example in the documentation runs: docstrings, README.md and docs/."""

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from places import ROOT

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^ *```")
PYTHON_FENCE = re.compile(r"^ *```python\b")


def module_names() -> list[str]:
    """Name every module of the package but `__main__`, which acts when imported."""
    names = {"symscale", "symscale.worked"}
    for package in ("symscale", "symscale.worked"):
        path = importlib.import_module(package).__path__
        found = pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)
        names.update(module.name for module in found)
    return sorted(name for name in names if not name.endswith("__main__"))


def documents() -> list[Path]:
    """List the Markdown files with runnable examples."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if path.is_file() and ">>>" in python_blocks(path)]


def python_blocks(path: Path) -> str:
    """Return the text with every line outside of ```python blocks blanked.

    Line numbers stay, so that a failure names the line of the file, and the
    blocks of one file share their names as a reader expects.
    """
    lines: list[str] = []
    inside = python = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
            python = inside and PYTHON_FENCE.match(line) is not None
            lines.append("")
        else:
            lines.append(line if python else "")
    return "\n".join(lines) + "\n"


def examples_of_module(name: str) -> Iterator[doctest.DocTest]:
    """Find the examples in the docstrings of a module."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    yield from finder.find(importlib.import_module(name), name)


def examples_of_document(path: Path) -> doctest.DocTest:
    """Make one test of all the examples in a Markdown file."""
    name = path.relative_to(ROOT).as_posix()
    return doctest.DocTestParser().get_doctest(python_blocks(path), {}, name, name, 0)


def run(test: doctest.DocTest) -> None:
    """Run the examples and fail with doctest's own report."""
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=report.append)
    if report:
        pytest.fail("".join(report), pytrace=False)


@pytest.mark.parametrize("name", module_names())
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for test in examples_of_module(name):
        run(test)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_documents(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(examples_of_document(path))


def test_there_are_examples() -> None:
    in_modules = [test for name in module_names() for test in examples_of_module(name)]
    assert sum(len(test.examples) for test in in_modules) > 0
