"""LaTeX of names: what is accepted compiles and draws, all else is refused."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest
from matplotlib.mathtext import MathTextParser

from latex import compile_latex
from sampling import sample
from symscale.errors import ParseError
from symscale.language.letters import ACCENTS, FONTS, GREEK, SIGNS, latex_of_name, parse_latex
from symscale.language.symbols import symbols
from symscale.pages.formats import latex
from symscale.pages.formats.document import Document, Formula, paragraph
from symscale.pages.formulas.mathml import math
from symscale.pages.formulas.names import typeset_as

WRITTEN = [
    *(f"\\{name}" for name in SIGNS),
    *(f"\\{command} x" for command in (*ACCENTS, *FONTS)),
    *(rf"\{a}{{\{f}{{AB}}_1}}" for a, f in product(("hat", "vec"), ("mathrm", "mathbf"))),
    "x", "N_0", "N_{i,j}", r"N^\star", "N'", "N'_0", r"\tau_{\max}", "{ab}_c^d", "x y", "7",
    r"\alpha x", r"{a^b}^c", r"N_{\mathrm{TP, ff}}", r"\bar{\hat x}", r"x_{y_{z}}",
]  # fmt: skip
REFUSED = [
    r"\input{/etc/passwd}", r"\write18{id}", "$x$", "x_a_b", "x^a^b", "x''", "x'^2", "{x", "x}", "",
    " ", r"\def\x{y}", "#1", "x%", r"a\\b", r"\hat", r"\hat_x", "x_", "_x", "^2", "x" * 61,
    "{" * 31 + "x" + "}" * 31, r"\alphax", "é", r"\n", "{}", "x_{}", r"\text{a}", "~", "a&b",
    "\n\n$", r"\end{document}", r"\catcode`\%=12", "^^41", r"\frac{a}{b}", r"\left(", "(x)",
]  # fmt: skip
N, b = symbols("N b")


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"is no LaTeX of a name: write letters") as caught:
        parse_latex(text)
    assert str(caught.value).isprintable()


def test_what_is_accepted_draws_and_reads_back() -> None:
    parser = MathTextParser("path")
    for text in WRITTEN:
        tex = parse_latex(text).tex
        assert parse_latex(tex, len(tex)).tex == tex
        parser.parse(f"${tex}^{{2}} + {tex}_0$" if "_" not in tex else f"${tex}^{{2}}$")


def test_what_is_accepted_compiles(need_program: Callable[[str], str], tmp_path: Path) -> None:
    formulas = []
    for text in WRITTEN:
        shown = Document("", (paragraph(Formula(N**3 / b)),), {"N": parse_latex(text).tex})
        formulas.append(latex.body(shown))
        assert parse_latex(text).tex in formulas[-1]
    body = "\n\n".join(formulas)
    whole = f"{latex.PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    compile_latex(need_program("pdflatex"), whole, tmp_path)


@pytest.mark.parametrize("seed", sample(30).seeds)
def test_any_text_is_read_or_refused(seed: int) -> None:
    """What is read is printed from its parts, and these are nothing but known commands."""
    rng = Random(seed)
    pieces = ["\\hat", "\\alpha", "\\mathrm", "\\input", "{", "}", "_", "^", "'", "x", "12", " ",
              "$", "\\", "%", ",", "\\ell", "{x}", "\\\\"]  # fmt: skip
    for _ in range(200):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
        try:
            tex = parse_latex(text).tex
        except ParseError:
            continue
        assert parse_latex(tex, len(tex)).tex == tex
        assert set(tex) <= set("{}_^\\ ,") | set("abcdefghijklmnopqrstuvwxyz12")
        assert tex.count("{") == tex.count("}")


def test_greek_names_are_greek() -> None:
    assert latex_of_name("tau") == r"\tau"
    assert latex_of_name("tau_1") == r"\tau_{1}"
    assert latex_of_name("Delta_max") == r"\Delta_{\mathrm{max}}"
    assert latex_of_name("x_tau_max") == r"x_{\tau,\mathrm{max}}"
    assert latex_of_name("tau_TP_ff") == r"\tau_{\mathrm{TP,ff}}"
    assert latex_of_name("taut") == r"\mathrm{taut}"
    assert len(GREEK) == 34


def test_names_in_mathml() -> None:
    with typeset_as({"N": parse_latex(r"\hat{\mathbf{N}}_{i}^\star").tex}):
        assert math(N) == (
            '<math><msubsup data-s="N"><mover><mrow><mi mathvariant="bold">N</mi></mrow>'
            "<mo>^</mo></mover><mrow><mi>i</mi></mrow><mrow><mi>⋆</mi></mrow></msubsup></math>"
        )
    assert math(N) == '<math><mi data-s="N">N</mi></math>'
