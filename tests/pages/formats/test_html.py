"""Derivations as pages of HTML: complete, escaped, and by themselves."""

import json
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp

from commands import answer, refusal
from pages import NASTY, parsed
from symscale.derivation.library import derivation_names, load_derivation
from symscale.language.symbols import NOTATION, symbols
from symscale.pages.formats.document import (
    Column,
    Document,
    Equation,
    Formula,
    Heading,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.html import asset, embedded, render, script_json
from symscale.pages.formulas.formula import latex
from symscale.pages.formulas.mathml import math, mathml


@pytest.mark.parametrize("name", derivation_names())
def test_derivations_are_complete_pages(name: str) -> None:
    page = answer("derive", name, "--format", "html")
    tree = parsed(page)
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    assert not re.search(r"https?:|@import|url\(|\bfetch\(|XMLHttp", page)
    for tag, attributes in tree.seen:
        assert not {"src", "srcset", "action", "style"} & set(attributes) or tag == "mtd", tag
        assert not any(key.startswith("on") for key in attributes), (tag, attributes)
        assert attributes.get("href") in (None, "data:,")
    ids = [a["id"] for _, a in tree.seen if "id" in a]
    assert len(ids) == len(set(ids))
    derivation = load_derivation(name)
    labels = {f"({s.key})" for s in derivation.steps}
    text = "".join(tree.text)
    assert all(label in text for label in labels)
    copied = {a["data-copy"] for _, a in tree.seen if "data-copy" in a}
    assert {latex(s.statement) for s in derivation.steps} <= copied
    # Every symbol of every formula is explained, with its unit.
    known = json.loads(re.search(r'id="symbols">(.*?)</script>', page).group(1))  # type: ignore[union-attr]
    used = {a["data-s"] for _, a in tree.seen if "data-s" in a}
    assert {s.name for s in derivation.free_symbols} <= set(known)
    assert used == set(known)
    assert all(known[n] == [NOTATION[n].unit, NOTATION[n].meaning] for n in known)


def test_formulas_are_well_formed_and_name_their_symbols() -> None:
    for name in derivation_names():
        for step in load_derivation(name).steps:
            for side in (step.statement, step.statement.lhs, step.statement.rhs):
                root = ElementTree.fromstring(math(side))  # noqa: S314  # our own text
                named = {e.attrib["data-s"] for e in root.iter() if "data-s" in e.attrib}
                assert named == {str(s) for s in side.free_symbols}


def test_formulas_by_hand() -> None:
    C, t_d, N_TP, alpha = symbols("C t_d N_TP alpha")
    td = '<msub data-s="t_d"><mi>t</mi><mi>d</mi></msub>'
    c = '<mi data-s="C">C</mi>'
    assert mathml(sp.sqrt(C)) == f"<msqrt>{c}</msqrt>"
    assert mathml(1 / C) == f"<mfrac><mn>1</mn>{c}</mfrac>"
    assert mathml(sp.Rational(-1, 3)) == (
        "<mrow><mo>−</mo><mfrac><mn>1</mn><mn>3</mn></mfrac></mrow>"
    )
    assert mathml(sp.Le(C, t_d, evaluate=False)) == f"<mrow>{c}<mo>≤</mo>{td}</mrow>"
    assert mathml(sp.Lt(C, 1, evaluate=False)) == f"<mrow>{c}<mo>&lt;</mo><mn>1</mn></mrow>"
    assert "<mi>TP</mi>" in mathml(N_TP)
    assert "α" in mathml(alpha)
    power = mathml(C ** (1 / (1 - 2 * alpha)))
    assert power.startswith(f"<msup><mrow><mo>(</mo>{c}<mo>)</mo></mrow><mrow><mn>1</mn><mo lspace")
    assert mathml(sp.Min(C, t_d, evaluate=False)).startswith("<mrow><mi>min</mi>")


@pytest.mark.parametrize("nasty", NASTY)
def test_text_is_escaped_everywhere(nasty: str) -> None:
    C = NOTATION["C"].symbol
    plain = render(Document("x", (Heading("x"), paragraph("x"), Equation(C, "x"), Table(
        (Column("x"),), (("x",), (["x", Formula(C), Number(1.5)],)), "x"))))
    page = render(Document(nasty, (Heading(nasty), paragraph(nasty), Equation(C, nasty), Table(
        (Column(nasty),), ((nasty,), ([nasty, Formula(C), Number(1.5)],)), nasty))))
    tree, wanted = parsed(page), parsed(plain)
    assert [tag for tag, _ in tree.seen] == [tag for tag, _ in wanted.seen]
    assert [sorted(a) for _, a in tree.seen] == [sorted(a) for _, a in wanted.seen]
    assert "".join(tree.text).count(nasty) == 9


@pytest.mark.parametrize("nasty", NASTY)
def test_text_is_escaped_in_scripts(nasty: str) -> None:
    element = embedded("d", [nasty])
    assert element.count("<") == 2
    assert element.isascii()
    assert json.loads(script_json({nasty: nasty})) == {nasty: nasty}
    assert json.loads(unescape(element.partition(">")[2].rpartition("<")[0])) == [nasty]


def test_scripts_and_styles_cannot_end_their_elements() -> None:
    for name in ("page.css", "page.js"):
        assert not re.search(r"</|<!--", asset(name))


def test_pages_are_files_of_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    answer("derive", "edge-and-slack", "--format", "html", "-o", str(path))
    printed = answer("derive", "edge-and-slack", "--format", "html")
    assert path.read_text(encoding="utf-8") == printed
    arguments = ("derive", "edge-and-slack", "--format", "html", "-o", str(path))
    assert "the file exists" in refusal(*arguments)
    assert answer(*arguments, "--force") == ""
