"""Reports, fragments, bibliographies and PDF: what authors paste and hand on."""

import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sympy as sp

from commands import answer, refusal, run
from places import ROOT
from symscale.cli.commands.report import _draw
from symscale.cli.output.aside import aside
from symscale.derivation.checks import checked
from symscale.derivation.library import derivation_names, load_derivation
from symscale.errors import NoAnswerError, UnknownNameError
from symscale.language.sources import load_sources
from symscale.language.symbols import symbols
from symscale.pages.figures.of_report import ENDINGS, Drawing
from symscale.pages.formats import latex
from symscale.pages.formats.bibtex import bibtex
from symscale.pages.formats.combine import Chapter, combine
from symscale.pages.formats.document import Bibliography, Document, Equation, Heading, paragraph
from symscale.pages.formats.fragment import PACKAGES, cited_keys, fragment
from symscale.pages.formats.pdf import make_pdf
from symscale.pages.formats.references import References
from symscale.pages.formulas.breaking import width
from symscale.pages.formulas.lines import LINE, latex_lines
from symscale.pages.of.derive import derivation_document


def document_of(name: str) -> Document:
    return derivation_document(checked(load_derivation(name)))


# Fragments

CLASSES = {
    "article": r"\documentclass{article}",
    "IEEEtran": r"\documentclass[conference]{IEEEtran}",
    "beamer": r"\documentclass{beamer}",
}


def around(class_line: str, body: str) -> str:
    packages = "".join(rf"\usepackage{{{p}}}" for p in PACKAGES)
    if "beamer" in class_line:
        body = rf"\begin{{frame}}[allowframebreaks]{body}\end{{frame}}"
    return f"{class_line}\n{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


@pytest.mark.parametrize("kind", CLASSES)
def test_fragments_compile_where_authors_put_them(
    kind: str, need_program: Callable[[str], str], tmp_path: Path
) -> None:
    program = need_program("pdflatex")
    if not all(map(installed, NEEDED[kind])):
        if os.environ.get("CI"):
            pytest.fail(f"the LaTeX class {kind} is not installed")
        pytest.skip(f"the LaTeX class {kind} is not installed")
    bodies = "\n".join(
        fragment(document_of(name), name) for name in ("layer-flop", "edge-and-slack")
    )
    (tmp_path / "main.tex").write_text(around(CLASSES[kind], bodies), encoding="utf-8")
    done = subprocess.run(
        [program, "-halt-on-error", "-interaction=nonstopmode", "main.tex"], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "multiply defined" not in done.stdout


NEEDED = {
    "article": (),
    "IEEEtran": ("IEEEtran.cls", "ptmr7t.tfm"),
    "beamer": ("beamer.cls", "pgfmath.sty"),
}


def installed(file: str) -> bool:
    found = subprocess.run(["kpsewhich", file], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.parametrize("name", derivation_names())
def test_a_fragment_cites_by_key_and_labels_by_name(name: str) -> None:
    document = document_of(name)
    text = fragment(document, name)
    keys = {key for key in cited_keys(document) if key}
    assert set(re.findall(r"\\cite\{([^}]+)\}", text)) == keys
    assert not re.search(r"\{\[\}\d+\]", text)
    labels = re.findall(r"\\label\{([^}]+)\}", text)
    assert labels
    assert all(label.startswith(f"eq:{name}:") for label in labels)
    assert len(set(labels)) == len(labels)
    assert r"\section" not in text
    assert "longtable" not in text
    entries = re.findall(r"^@misc\{([^,]+),", bibtex(keys), re.M)
    assert set(entries) == keys


def test_every_source_makes_an_entry() -> None:
    text = bibtex(load_sources())
    assert text.count("@misc{") == len(load_sources())
    assert text.count("{") == text.count("}")
    for key in load_sources():
        assert f"@misc{{{key},\n" in text


# Long lines


def test_long_sums_are_broken_between_terms() -> None:
    b, L, d, n = symbols("b L d_model n_ctx")
    long = sp.Add(*(b**i * L * d ** (i + 1) * n for i in range(1, 14)))
    statement = sp.Eq(symbols("T")[0], long, evaluate=False)
    lines = latex_lines(statement)
    assert len(lines) > 1
    assert all(width(line) <= LINE for line in lines)
    joined = " ".join(lines)
    assert joined.count("+") == 12
    printed = latex.equation(Equation(statement, "long"))
    assert r"\begin{aligned}" in printed
    assert printed.count(r"\tag") == 1


# Combining


def test_chapters_share_one_list_of_sources() -> None:
    def document(*keys: str) -> Document:
        references = References()
        blocks = [paragraph(f"As known {references.cite(key)}.") for key in keys]
        return Document(keys[0], (*blocks, *references.blocks()))

    joined = combine("All", (), [
        Chapter("a", document("hoffmann-2022", "pati-2023")),
        Chapter("b", document("pati-2023", "t3-2024")),
    ])
    (table,) = [b for b in joined.blocks if isinstance(b, Bibliography)]
    assert table.keys == ("hoffmann-2022", "pati-2023", "t3-2024")
    texts = [str(b.content[0]) for b in joined.blocks if not isinstance(b, Heading | Bibliography)]  # type: ignore[union-attr]
    assert [re.findall(r"\d", text) for text in texts] == [["1"], ["2"], ["2"], ["3"]]


# PDF


def test_a_pdf_is_the_same_each_time(need_program: Callable[[str], str]) -> None:
    need_program("pdflatex")
    tex = latex.render(document_of("crossing-k"))
    first = make_pdf(tex)
    assert first.startswith(b"%PDF")
    assert make_pdf(tex) == first


def test_a_pdf_cannot_read_files(need_program: Callable[[str], str]) -> None:
    """A user's text is escaped; what it says is printed, not done."""
    need_program("pdftotext")
    need_program("pdflatex")
    nasty = r"\input{/etc/passwd} \write18{id} % $ _ & # ~ ^ \ { } <script>"
    pdf = make_pdf(latex.render(Document(nasty, (Heading(nasty), paragraph(nasty)))))
    done = subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True)
    text = done.stdout.decode()
    assert "/etc/passwd" in text
    assert "root:" not in text


# The command


def test_report_writes_everything(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = tmp_path / "new" / "report"
    done = run("report", "--hardware", "h100-sxm", "--no-pdf", "-o", str(folder))
    assert (done.code, done.out, done.err) == (0, "", "")
    names = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert names == {
        "report.tex", "report.html", "report.md", "references.bib", "utilization.pdf",
        "utilization.svg", "alpha.pdf", "alpha.svg", "data/limits-h100-sxm.json",
        "data/cliffs-h100-sxm.json",
    }  # fmt: skip
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert "not empty" in refusal("report", "--no-pdf", "-o", str(folder))
    request.getfixturevalue("drawn_here")
    answer("report", "--hardware", "h100-sxm", "--no-pdf", "-o", str(folder), "--force")
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert sorted(p.name for p in folder.parent.iterdir()) == ["report"]


def test_report_refuses_before_it_works(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    assert "it is a file" in refusal("report", "-o", str(file))
    assert "h100-sxm" in refusal("report", "--hardware", "h100", "-o", str(tmp_path / "a"))
    twice = ("report", "--hardware", "h100-sxm,h100-sxm", "-o", str(tmp_path / "a"))
    assert "named twice" in refusal(*twice)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("most", [2_000, 40_000, 100_000])
def test_a_report_that_does_not_fit_leaves_nothing(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files may grow to so many bytes only: a figure or the document fails half-way."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # nor may what Python keeps be cut
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    folder = tmp_path / "new" / "report"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        done = run("report", "--no-pdf", "-o", str(folder))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    line = f"symscale: -o {folder}: File too large; name another folder\n"
    assert (done.code, done.out, done.err) == (2, "", line)
    assert list(tmp_path.iterdir()) == []


def test_a_report_where_nobody_may_write(tmp_path: Path) -> None:
    refusal("report", "--hardware", "nothing", "-o", str(tmp_path / "x"))  # loads all modules
    tmp_path.chmod(0o500)
    root = os.geteuid() == 0
    if root:  # who may write everywhere; nobody may not
        os.seteuid(65534)
    try:
        assert "ermission" in refusal("report", "--no-pdf", "-o", str(tmp_path / "x"))
    finally:
        if root:
            os.seteuid(0)
        tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("drawn_here")
def test_a_machine_without_numbers_has_no_figures_but_a_chapter(tmp_path: Path) -> None:
    endless = "h100-sxm-infinite-network-and-ll"
    for place, (hardware, figures) in enumerate(
        ((endless, set()), (f"h100-sxm,{endless}", {"alpha", "utilization"}))
    ):
        folder = tmp_path / str(place)
        answer("report", "--no-pdf", "--hardware", hardware, "-o", str(folder))
        assert {p.stem for p in folder.glob("*.svg")} == figures
        assert (folder / f"data/limits-{endless}.json").exists()


@pytest.mark.usefixtures("drawn_here")
def test_titles_are_drawn_whatever_they_are(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    title = "\U0001f600 \u6f22\u5b57 $ \\\\input{/etc/passwd} <b> " + "on and " * 30
    file.write_text(f'base = "h100-sxm"\nreason = "x"\ntitle = "{title}"\n', encoding="utf-8")
    answer("report", "--no-pdf", "--hardware", str(file), "-o", str(tmp_path / "r"))
    assert (tmp_path / "r" / "alpha.pdf").stat().st_size > 5000


def test_two_machines_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "h100-sxm.toml"
    text = 'base = "h100-sxm"\ntitle = "mine"\nreason = "a trial"\n'
    file.write_text(text, encoding="utf-8")
    line = refusal("report", "--hardware", f"h100-sxm,{file}", "-o", str(tmp_path / "a"))
    assert "two machines are called h100-sxm" in line


# What a second process does


def test_work_aside_hands_back_what_it_raised() -> None:
    nowhere = Path("/nowhere/at/all")
    with aside(_draw, ["h100-sxm"], False, nowhere) as drawn, pytest.raises(FileNotFoundError):
        drawn()
    with aside(_draw, ["nothing"], False, nowhere) as drawn, \
            pytest.raises(UnknownNameError, match="nothing"):
        drawn()


def test_work_aside_that_dies_is_told() -> None:
    with aside(os._exit, 3) as drawn, pytest.raises(NoAnswerError, match="ended early"):
        drawn()


def test_work_aside_is_ended_when_nobody_waits(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), aside(_draw, ["h100-sxm"], False, tmp_path):
        raise KeyboardInterrupt
    assert not multiprocessing.active_children()


def test_limits_and_cliffs_draw(tmp_path: Path) -> None:
    for command in ("limits", "cliffs"):
        drawn = tmp_path / f"{command}.svg"
        answer(command, "--hardware", "h100-sxm", "--plot", str(drawn))
        text = drawn.read_text(encoding="utf-8")
        assert "<svg" in text
        answer(command, "--hardware", "h100-sxm", "--plot", str(drawn), "--force")
        assert drawn.read_text(encoding="utf-8") == text
        assert "exists" in refusal(command, "--hardware", "h100-sxm", "--plot", str(drawn))
    assert "name a machine" in refusal("cliffs", "--plot", str(tmp_path / "x.svg"))


# The end of the program, whoever asks for it


def report_begun(folder: Path, heard: signal.Handlers = signal.SIG_DFL) -> subprocess.Popen[str]:
    """Start a report, with SIGINT as given and not as inherited: what runs in the background
    of a shell ignores it. Return when the first file is there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "symscale", "report", "--no-pdf", "-o", str(folder / "r")],
        text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, heard),
    )
    deadline = time.monotonic() + 60
    while not list(folder.iterdir()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("wait", [0.0, 0.3, 1.5])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_report_that_is_ended_leaves_nothing(
    wait: float, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    process = report_begun(tmp_path)
    time.sleep(wait)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    said = "symscale: interrupted\n" if number == signal.SIGINT else ""
    assert (process.returncode, out, err) == (code, "", said)
    assert list(tmp_path.iterdir()) == []


def test_a_report_in_the_background_hears_no_interrupt_but_ends(tmp_path: Path) -> None:
    process = report_begun(tmp_path, signal.SIG_IGN)
    os.killpg(process.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.3)
    os.killpg(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "")
    assert list(tmp_path.iterdir()) == []


DROPS = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.{})
    time.sleep(0.01)
except:
    pass
"""


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_module_that_drops_exceptions_drops_no_end(
    number: str, code: int, tmp_path: Path
) -> None:
    """As one of those that SymPy loads does: it ends when the module is there."""
    (tmp_path / "drops.py").write_text(DROPS.format(number), encoding="utf-8")
    main = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from symscale import cli; import symscale.cli.app as app\n"
        "app.program = lambda: (__import__('drops'), __import__('time').sleep(9), print('late'))\n"
        "cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", main], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
    )
    said = "symscale: interrupted\n" if number == "SIGINT" else ""
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_a_worker_that_was_stopped_is_ended_too() -> None:
    with aside(time.sleep, 600):
        (child,) = multiprocessing.active_children()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
    assert not multiprocessing.active_children()


@pytest.mark.usefixtures("drawn_here")
def test_a_folder_with_something_in_the_way_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blank(figures: Sequence[Drawing], folder: Path) -> None:
        for figure in figures:
            for ending in ENDINGS:
                (folder / f"{figure.name}{ending}").write_text("<svg/>", encoding="utf-8")

    monkeypatch.setattr("symscale.pages.figures.of_report.draw_figures", blank)
    (tmp_path / "report.md").mkdir()
    line = refusal("report", "--no-pdf", "-o", str(tmp_path), "--force")
    assert "report.md in it is a folder" in line
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]
