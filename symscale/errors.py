"""The errors of symscale: one base, and the exit code each one stands for.

Inner code raises the fact. The boundary (a command, a file loader) adds the
user's own input and what to do next, by `with_context`.
"""

import difflib
from collections.abc import Iterable
from typing import Self


class SymscaleError(Exception):
    """Base of every error that symscale raises on purpose.

    Attributes:
        exit_code: What a command exits with: 2 for wrong usage or bad input,
            1 for a question without an answer or a check that did not hold.

    Example:
        >>> import symscale as ss
        >>> try:
        ...     ss.machine("h100-sx")
        ... except ss.SymscaleError as error:
        ...     print(str(error)[:26], error.exit_code)
        unknown hardware 'h100-sx' 2
    """

    exit_code = 2

    def __str__(self) -> str:
        return in_one_line(super().__str__())

    def with_context(self, context: str) -> Self:
        """Return the same error with `context` and a colon before its text.

        Example:
            >>> str(InputError("no such unit").with_context("--set W_net=1parsec"))
            '--set W_net=1parsec: no such unit'
        """
        error = type(self)(f"{context}: {self}")
        error.__dict__.update(self.__dict__)
        return error


class InputError(SymscaleError):
    """Something the user gave cannot be used: a value, a name, a file."""


class UnitError(InputError):
    """Two units do not fit each other, or a text names no unit."""


class ParseError(InputError):
    """A text is not an expression or number of the allowed kind."""


class UnknownNameError(InputError):
    """A name that does not exist; the text offers the nearest ones."""


class FormulaError(SymscaleError):
    """An expression is not of the form that an operation needs (a monomial, say)."""


class RegionError(SymscaleError):
    """A formula was asked for outside the region where it holds."""


class NoAnswerError(SymscaleError):
    """The question is well formed and has no answer."""

    exit_code = 1


class InfeasibleError(NoAnswerError):
    """No point satisfies the constraints; the text names the ones in conflict."""


class UnboundedError(NoAnswerError):
    """The objective has no limit; the text names the free direction."""


class TooLargeError(NoAnswerError):
    """An exact answer needs more time or memory than the stated limit."""


class CheckFailedError(NoAnswerError):
    """A claim was checked and does not hold."""


def in_one_line(text: str) -> str:
    r"""Return a text that says what a terminal would obey, such as the end of a line.

    Example:
        >>> in_one_line("a\nb")
        'a\\nb'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable(text: str, longest: int = 40) -> str:
    r"""Return a user's text such that it stays on one line and can be printed.

    Example:
        >>> printable("a\\nb")
        'a\\nb'
    """
    shown = text if len(text) <= longest else text[: longest - 3] + "..."
    return shown if shown.isprintable() else ascii(shown)[1:-1]


def refusal(where: str, problem: str, remedy: str) -> InputError:
    """Make the error for a file that cannot be used."""
    return InputError(f"{where}: {problem}; {remedy}")


def unknown_name(kind: str, name: str, known: Iterable[str], see: str = "") -> UnknownNameError:
    """Make the error for a name that does not exist, with the nearest that do.

    Args:
        kind: What the name stands for, such as "hardware".
        name: What the user wrote.
        known: The names that exist.
        see: A command that lists them.

    Example:
        >>> str(unknown_name("hardware", "h100", ["a100-sxm", "h100-sxm"]))
        "unknown hardware 'h100'; did you mean h100-sxm, a100-sxm?"
    """
    names = sorted(known)
    shown = name if len(name) <= 60 else name[:57] + "..."
    lowered = {n.lower(): n for n in reversed(names)}
    close = difflib.get_close_matches(name[:100].lower(), list(lowered), n=3, cutoff=0.5)
    prefixed = [n for n in lowered if n.startswith(name.lower()) and n not in close][:3]
    nearest = [lowered[n] for n in [*close, *prefixed]][:3]
    text = f"unknown {kind} {shown!r}"
    if nearest:
        text += f"; did you mean {', '.join(nearest)}?"
    elif names and len(names) <= 12:
        text += f"; known: {', '.join(names)}"
    if see:
        text += f" (list: {see})"
    return UnknownNameError(text)
