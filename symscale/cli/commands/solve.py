"""Commands `solve` and `check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import symscale
from symscale.cli.options.shared import ForceOption, FormatOption, OutputOption, SetOption
from symscale.cli.output.emit import (
    Format,
    check_writable,
    chosen,
    emit,
    progress_line,
    write_by,
    write_whole,
)
from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.problems.answer import ProblemAnswer
    from symscale.problems.sweep import Axis

SweepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep", metavar="NAME=LOW..HIGH",
        help="Let a parameter run over a range: which piece rules where. Twice for two.",
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw the sweep: one parameter a curve, two a map of "
        "regions. FILE ends in .pdf, .svg or .png.",
    ),
]
CertificateOption = Annotated[
    Path | None,
    typer.Option(
        "--certificate", metavar="FILE.json",
        help="Write the proof, for `symscale check`.",
    ),
]


def solve(
    file: Annotated[str, typer.Argument(metavar="PROBLEM.toml", help="The problem.")],
    sets: SetOption = None,
    sweeps: SweepOption = None,
    plot: PlotOption = None,
    certificate: CertificateOption = None,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Solve a problem of your own, written as TOML: see docs/problems.md."""
    from symscale.problems.answer import answer
    from symscale.problems.file import load_problem, read_problem_settings

    _check_paths(sweeps, plot, certificate, output, force)
    problem = load_problem(file)
    settings = read_problem_settings(problem, sets or [])
    with progress_line("solving") as progress:
        found = answer(problem, settings, progress)
    from symscale.pages.of.solve import problem_document
    from symscale.pages.of.solve_data import problem_data

    axes = _axes(found, sweeps or [])
    if axes:
        found = found.without_numbers(a.symbol for a in axes)
    else:
        found.check()
    segments = _segments(found, axes)
    if certificate is not None:
        _write_proofs(found, certificate)
    if plot is not None:
        _plot(found, axes, segments, plot)
    emit(
        form,
        lambda: problem_document(found, segments),
        lambda: problem_data(found, segments),
        output,
        force,
    )


def _write_proofs(found: "ProblemAnswer", path: Path) -> None:
    """Write the certificates, and say what they do not prove."""
    from symscale.pages.formats.json import dump
    from symscale.problems.certificate_file import certificates_data
    from symscale.problems.proofs import prove

    proofs = prove(found)
    write_whole(
        path,
        dump(certificates_data(found.problem.title, proofs.certificates, symscale.__version__)),
        "--certificate",
    )
    if proofs.missing:
        typer.echo(
            f"symscale: no certificate of these closed forms: {', '.join(proofs.missing)}",
            err=True,
        )
    if proofs.loose:
        typer.echo(
            "symscale: where no closed form is certified, the certificates prove the loose "
            "bound, in which sums are replaced by their largest terms",
            err=True,
        )


def _check_paths(
    sweeps: list[str] | None, plot: Path | None, certificate: Path | None, output: Path | None,
    force: bool,
) -> None:
    """Refuse what cannot be written before any work is done."""
    given: dict[Path, str] = {}
    for option, path in (("--plot", plot), ("--certificate", certificate), ("-o", output)):
        if path is not None:
            check_writable(path, force, option)
            other = given.setdefault(path.absolute(), option)
            if other != option:
                raise InputError(f"{option} {path}: {other} names the same file; name another")
    if plot is not None:
        if not sweeps:
            raise InputError("--plot needs a range; give one by --sweep NAME=LOW..HIGH")
        from symscale.pages.figures.drawing import check_format

        check_format(plot)
    elif len(sweeps or []) > 1:
        raise InputError("two --sweep ranges make a map; say where to draw it by --plot FILE.pdf")


def _axes(found: "ProblemAnswer", sweeps: list[str]) -> "list[Axis]":
    from symscale.problems.sweep import read_axis, require_numbers

    if len(sweeps) > 2:
        raise InputError("--sweep: give two ranges at most")
    axes = [read_axis(text, found.problem) for text in sweeps]
    if len({a.symbol for a in axes}) < len(axes):
        raise InputError("--sweep: give two different parameters")
    if axes:
        require_numbers(found, axes)
    return axes


def _segments(found: "ProblemAnswer", axes: "list[Axis]") -> dict[Any, Any]:
    """The segments of a single sweep; a map of two is drawn, not listed."""
    from symscale.problems.sweep import sweep

    return {axes[0]: sweep(found, axes[0])} if len(axes) == 1 else {}


def _plot(
    found: "ProblemAnswer", axes: "list[Axis]", segments: dict[Any, Any], path: Path
) -> None:
    from symscale.pages.figures.drawing import line_plot, region_plot

    if len(axes) == 1:
        write_by(path, lambda p: line_plot(found, axes[0], segments[axes[0]], p), "--plot")
    else:
        write_by(path, lambda p: region_plot(found, axes[0], axes[1], p), "--plot")


def check(
    file: Annotated[str, typer.Argument(metavar="CERTIFICATE.json", help="The certificate.")],
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Verify certificates with exact arithmetic; exit code 1 if one does not hold."""
    from symscale.pages.of.check import (
        require_all,
        verdict_data,
        verdict_document,
        verdict_lines,
        verdicts,
    )
    from symscale.problems.certificate_file import load_certificates

    title, certificates = load_certificates(file)
    found = verdicts(certificates)
    if chosen(form, output) is Format.text:
        require_all(found)  # in text a failure is the one line on stderr
    emit(
        form,
        lambda: verdict_document(title, found),
        lambda: verdict_data(title, found),
        output,
        force,
        lambda: verdict_lines(found),
    )
    require_all(found)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(solve)
    app.command()(check)
