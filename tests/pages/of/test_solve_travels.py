"""Answers to problems of one's own in papers and on pages: fragments, BibTeX, HTML."""

from pathlib import Path

from commands import run
from pages import parsed

TEXT = r"""
title = "Hostile [1] </title><script>alert(1)</script> $x_1$ % \\input{/etc/passwd}"
minimize = "C*new/x + x/(2*M)"
[parameters]
new = { unit = "s", meaning = "time of <b>one</b> [2] 50 % & _more_", source = "hoffmann-2022" }
C = { meaning = "copies", source = "Hoffmann and others 2022, arXiv 2203.15556; our own runs" }
M = { unit = "s", meaning = "mean time between failures" }
[variables]
x = { unit = "s", meaning = "time between checkpoints" }
[[constraints]]
name = "a </script> cap"
expression = "x <= 100*M"
because = "so [3] it is"
source = "nvidia-h100-datasheet"
"""


def problem(folder: Path) -> str:
    path = folder / "own.toml"
    path.write_text(TEXT)
    return str(path)


def test_fragments_cite_known_sources_by_key_and_leave_own_words(tmp_path: Path) -> None:
    entries = tmp_path / "own.bib"
    made = run("solve", problem(tmp_path), "--format", "latex", "--fragment", "--no-check",
               "--bibliography", str(entries))
    assert made.code == 0
    assert "documentclass" not in made.out
    assert made.out.count(r"\cite{hoffmann-2022}") == 2
    assert made.out.count(r"\cite{nvidia-h100-datasheet}") == 1
    assert "our own runs" in made.out
    for bracket in ("1", "2", "3"):  # in brackets in the author's words: no references of ours
        assert f"[{bracket}]" in made.out.replace("{[}", "[")
    body = [line for line in made.out.splitlines() if not line.startswith("%")]
    assert not any(r"\input{" in line for line in body)
    text = entries.read_text()
    assert text.count("@misc") == 2
    assert "@misc{hoffmann-2022," in text


def test_the_page_explains_the_problems_own_symbols(tmp_path: Path) -> None:
    made = run("solve", problem(tmp_path), "--format", "html", "--no-check")
    assert made.code == 0
    tree = parsed(made.out)
    assert "alert(1)" not in made.out.replace("&lt;script&gt;alert(1)", "")
    assert '"C":["1","copies"]' in made.out  # not the arithmetic rate of the notation
    assert not [a for _, attrs in tree.seen for a in attrs if a == "src"]


def test_the_answer_comes_first(tmp_path: Path) -> None:
    made = run("solve", problem(tmp_path), "--format", "markdown", "--no-check")
    headings = [line for line in made.out.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Answer"
    assert headings[-2:] == ["## Sources", "## Proof"]
