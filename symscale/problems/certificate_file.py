"""Certificate files, judged by the kernel; docs/certificates.md describes them.

A file is data from anybody: it is bounded in size, and trusted in nothing.
"""

from typing import Any

from symscale.errors import InputError, printable, refusal
from symscale.kernel.check import FileVerdict, TheoremVerdict, check
from symscale.kernel.limits import MOST_WORK, Refused
from symscale.kernel.read import LARGEST_TEXT, read_json
from symscale.language.tables import read_file_bytes
from symscale.problems.older.convert import converted

FORMAT = "symscale-certificate"
OLDER = (1, 2)


def judge_file(path: str) -> tuple[str, tuple[FileVerdict, ...]]:
    """Let the kernel judge a certificate file: its title, and the verdicts.

    Raises:
        InputError: If it is no such file; the text says where it goes wrong.
    """
    content = read_file_bytes(path, "a certificate", LARGEST_TEXT, "split it")
    where = printable(path, 160)
    try:
        return judge(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise refusal(where, "is no text", "write one by --certificate") from None
    except InputError as error:
        raise error.with_context(where) from None


def judge(text: str) -> tuple[str, tuple[FileVerdict, ...]]:
    """Let the kernel judge the text of a certificate file: its title, and the verdicts.

    A file of version 3 is one whole, and the kernel reads it as it stands. Of an older one
    each certificate is written anew, and has a verdict of its own.

    Raises:
        InputError: If it is no such file; the text says where it goes wrong.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> from symscale.pages.formats.json import dump
        >>> _, verdicts = judge(dump(training_limits().certificates().to_dict()))
        >>> all(v.holds for v in verdicts)
        True
    """
    try:
        data = read_json(text)
        version = data.get("version") if isinstance(data, dict) else None
        if type(version) is int and version in OLDER and data.get("format") == FORMAT:
            return _judge_older(data)
        found = check(text)
    except Refused as reason:
        raise InputError(f"it is no certificate: {reason}; see docs/certificates.md") from None
    return found.title, (found,)


def _judge_older(data: dict[str, Any]) -> tuple[str, tuple[FileVerdict, ...]]:
    title, certificates = converted(data)
    found: list[FileVerdict] = []
    for c in certificates:
        if sum(v.work for v in found) > MOST_WORK // 2:
            raise Refused("it takes more work than a certificate may")
        if c.reason:
            verdict = TheoremVerdict(c.piece, "bound", False, c.reason)
            found.append(FileVerdict(c.piece, "", (verdict,), 0))
        else:
            found.append(check(c.text))
    return title, tuple(found)
