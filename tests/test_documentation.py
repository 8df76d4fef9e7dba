"""Pages that are generated are those that the program makes; the site has every page.

`pytest tests/test_documentation.py --rewrite-golden` writes them.
"""

import importlib.util
import re
from collections.abc import Callable
from functools import partial

import pytest
from typer.testing import CliRunner

from places import ROOT
from symscale.cli.app import app
from symscale.derivation.library import derivation_names, derivation_titles
from symscale.pages.formats import markdown
from symscale.pages.of.explore import explorer_page
from symscale.pages.of.symbols import Symbols
from symscale.studies.explorers.all import explorer_titles, load_explorer

DOCS = ROOT / "docs"
SITE = ROOT / "mkdocs.yml"


def commands() -> list[str]:
    return sorted(
        command.name or command.callback.__name__.replace("_", "-")  # type: ignore[union-attr]
        for command in app.registered_commands
    )


def cli_page() -> str:
    """Every command with its help, 80 columns wide."""
    parts = [
        "# Commands",
        "This page is what `symscale COMMAND --help` prints.",
    ]
    for name in commands():
        done = CliRunner().invoke(
            app, [name, "--help"], prog_name="symscale",
            env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"},
        )
        assert done.exit_code == 0, done.output
        parts += [f"## {name}", f"```text\n{done.output.strip()}\n```"]
    return "\n\n".join(parts) + "\n"


def gallery_page() -> str:
    """Every worked derivation with what it shows and how to print it."""
    titles = derivation_titles()
    lines = [
        "# Derivations",
        "Each is one argument from assumptions to result. Its steps are checked by the machine, "
        "exactly and at random points, whenever it is printed: as text, LaTeX, PDF, HTML, "
        "Markdown or JSON, or as code.",
        "| derivation | shows |\n| --- | --- |\n"
        + "\n".join(
            f"| `symscale derive {name}` | {titles[name]} |" for name in derivation_names()
        ),
        "An author pastes one by `symscale derive NAME --fragment -o NAME.tex --bibliography "
        "references.bib`: the fragment needs amsmath, amssymb, array and booktabs, cites by key, "
        "and its labels begin with its name.",
    ]
    return "\n\n".join(lines) + "\n"


def explorer(name: str) -> str:
    return explorer_page(load_explorer(name))


PAGES: dict[str, Callable[[], str]] = {
    **{f"explore/{name}.html": partial(explorer, name) for name in explorer_titles()},
    "cli.md": cli_page,
    "notation.md": lambda: markdown.render(Symbols().document()),
    "gallery.md": gallery_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name: str, rewrite_golden: bool) -> None:
    text = PAGES[name]()
    if rewrite_golden:
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == text


def test_formulas_of_the_site_need_no_script() -> None:
    spec = importlib.util.spec_from_file_location("formulas", DOCS / "hooks" / "formulas.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    before = (DOCS / "notation.md").read_text(encoding="utf-8")
    after = hook.on_page_markdown(before)
    assert "$" not in after
    assert after.count("<math>") == before.count("$") / 2 > 100
    assert hook.on_page_markdown("`$x$` and\n```\n$y$\n```") == "`$x$` and\n```\n$y$\n```"
    with pytest.raises(ValueError, match="no symbol of the notation"):
        hook.on_page_markdown("where $x^2$ is")


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": (\S+\.md)$", SITE.read_text(encoding="utf-8"), re.M))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert listed == pages


def test_no_two_pages_share_an_address() -> None:
    """A page is built into a folder of its name, and a README into that of its folder."""
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]
    places = [p.parent if p.stem in ("README", "index") else p.with_suffix("") for p in pages]
    assert len(set(places)) == len(places)


def test_every_example_is_in_a_table() -> None:
    for folder in ("problems", "calibration"):
        page = (DOCS / folder / "examples.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"^\| \[.*?\]\((.*?)\) \|", page, re.M))
        assert linked == {p.name for p in (DOCS / folder).iterdir() if p.suffix != ".md"}


def test_every_module_of_a_command_is_registered() -> None:
    folder = ROOT / "symscale" / "cli"
    modules = {
        path.stem for path in folder.glob("*.py")
        if "def register(" in path.read_text(encoding="utf-8")
    }
    text = (folder / "app.py").read_text(encoding="utf-8")
    assert {name for name in modules if not re.search(rf"\b{name}\b", text)} == set()


def test_every_command_is_named_in_a_page() -> None:
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")] if path.name != "cli.md"
    )
    assert [name for name in commands() if f"symscale {name}" not in text] == []


def test_every_explorer_is_linked() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [name for name in explorer_titles() if f"(explore/{name}.html)" not in text] == []
