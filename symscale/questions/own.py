"""Problems of one's own, worked derivations, and the check of proofs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from symscale.errors import InputError
from symscale.questions.reading import Settings, question, texts

if TYPE_CHECKING:
    from symscale.derivation.checks import CheckedDerivation
    from symscale.pages.of.check import CheckedCertificates
    from symscale.pages.page import Certificates
    from symscale.problems.answer import ProblemAnswer
    from symscale.problems.cases import CasesAnswer
    from symscale.problems.enclosed import EnclosedAnswer
    from symscale.problems.sweep import SweptAnswer


@question
def solve(
    problem: str | Path,
    *,
    set: Settings = (),
    sweep: Mapping[str, str] | Iterable[str] = (),
    within: str | float | None = None,
    box: str | float | None = None,
    digits: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    covering: Callable[[str], None] | None = None,
) -> "ProblemAnswer | CasesAnswer | EnclosedAnswer | SweptAnswer":
    """Solve a problem of one's own: the optimum in closed form, and what binds it.

    Args:
        problem: A TOML file, or the text of one (of several lines).
        set: Parameters of the problem.
        sweep: One or two parameters with the range over which each runs, LOW..HIGH.
        within: A share such as "5%": products of powers are found that cover a box of the
            parameters within it.
        box: That box: each parameter between its number over this factor and times it.
            Without it between its own lower and upper.
        digits: Shows the local law, its shares with denominators up to 10**digits.
        progress: Told how far the exact solver is.
        covering: Told how far the cover is.

    Raises:
        InputError: If something given cannot be used.
        NoAnswerError: If there is no optimum.

    Example:
        >>> import symscale as ss
        >>> answer = ss.solve('''
        ... maximize = "N*C"
        ... [parameters]
        ... C = {}
        ... b = {}
        ... [variables]
        ... N = {}
        ... [[constraints]]
        ... name = "batch"
        ... expression = "2*N <= b"
        ... ''')
        >>> answer.pieces[0].expr
        C*b/2
    """
    from symscale.problems.answer import ProblemAnswer
    from symscale.problems.covered import covered, read_digits, read_factor, read_share
    from symscale.problems.enclosed import solved_or_enclosed
    from symscale.problems.file import load_problem, problem_of_text
    from symscale.problems.settings import read_problem_settings
    from symscale.problems.sweep import read_axes, swept

    share = None if within is None else read_share(str(within))
    factor = None if box is None else read_factor(str(box))
    if factor is not None and share is None:
        raise InputError("--box needs --within SHARE, such as --within 5%")
    given = str(problem)
    asked = problem_of_text(given) if "\n" in given else load_problem(given)
    found = solved_or_enclosed(asked, read_problem_settings(asked, texts("set", set)), progress)
    if digits is not None or share is not None:
        if not isinstance(found, ProblemAnswer):
            raise InputError(
                f"--{'digits' if share is None else 'within'}: this problem is several geometric "
                "programs; give the numbers by --set that tell which, or write one of them"
            )
        found = replace(found, digits=None if digits is None else read_digits(digits))
        if share is not None:
            found.check()
            found = covered(found, share, factor, covering or (lambda text: None))
    ranges = texts("sweep", sweep)
    if ranges:
        if not isinstance(found, ProblemAnswer):
            raise InputError(
                "--sweep: this problem is several geometric programs; give the numbers by --set "
                "that tell which, or write one of them"
            )
        return swept(found, read_axes(ranges, asked))
    found.check()
    return found


@question
def derive(name: str) -> "CheckedDerivation":
    """A worked derivation, each of its steps checked.

    Args:
        name: The derivation; `symscale derivations` lists them.

    Raises:
        UnknownNameError: If there is none of that name.
        CheckFailedError: If a step does not hold.

    Example:
        >>> import symscale as ss
        >>> ss.derive("latency-wall").derivation.title
        'Latency wall'
    """
    from symscale.derivation.checks import checked
    from symscale.derivation.library import load_derivation

    return checked(load_derivation(name))


def check(proof: "str | Path | Certificates") -> "CheckedCertificates":
    """Verify certificates with exact arithmetic.

    Args:
        proof: A certificate file, or what `certificates()` of an answer returns.

    Raises:
        InputError: If it is no such file.
        CheckFailedError: If a theorem does not hold.

    Example:
        >>> import symscale as ss
        >>> ss.check(ss.limits("h100-sxm").certificates()).holds
        True
    """
    from symscale.pages.formats.json import dump
    from symscale.pages.of.check import CheckedCertificates
    from symscale.pages.page import Certificates
    from symscale.problems.certificate_file import judge, judge_file

    if isinstance(proof, Certificates):
        found = CheckedCertificates(*judge(dump(proof.to_dict())))
    elif isinstance(proof, str | Path):
        found = CheckedCertificates(*judge_file(str(proof)))
    else:
        raise InputError(
            "proof: give a certificate file or what certificates() of an answer returns, not "
            f"{type(proof).__name__}"
        )
    found.require_all()
    return found
