"""What the checks of a certificate find: an entry for each, held or not."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from symscale.errors import CheckFailedError, SymscaleError


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        name: What was checked, in a word.
        holds: Whether it holds.
        detail: What that means, or what is wrong.
    """

    name: str
    holds: bool
    detail: str


def run(checks: Iterable[tuple[str, str, Callable[[], None]]]) -> tuple[Finding, ...]:
    """Run checks, each with its name and what it shows, up to the first that fails.

    Example:
        >>> run([("sum", "the weights add up", lambda: None)])
        (Finding(name='sum', holds=True, detail='the weights add up'),)
    """
    found = []
    for name, shows, test in checks:
        try:
            test()
        except (SymscaleError, TypeError, ZeroDivisionError) as error:
            found.append(Finding(name, False, str(error)))
            break
        found.append(Finding(name, True, shows))
    return tuple(found)


def require(piece: str, findings: Iterable[Finding]) -> None:
    """Raise what the first failed check found.

    Raises:
        CheckFailedError: If one failed; the text begins with the piece's name.
    """
    for finding in findings:
        if not finding.holds:
            raise CheckFailedError(f"{piece}: {finding.detail}")
