"""Certificate files, judged by the kernel; docs/certificates.md describes them.

A file is data from anybody: it is bounded in size, and trusted in nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symscale.errors import InputError, printable, refusal
from symscale.kernel.check import FileVerdict, TheoremVerdict, check
from symscale.kernel.limits import MOST_WORK, Refused
from symscale.kernel.read import LARGEST_TEXT, read_json
from symscale.language.tables import read_file_bytes
from symscale.problems.older.convert import converted

if TYPE_CHECKING:  # a file that is refused is refused before SymPy is loaded
    from symscale.algebra.exact.monomial import Monomial
    from symscale.algebra.products.program import Constraint
    from symscale.kernel.certificate import Certificate
    from symscale.kernel.checker import AnyCertificate
    from symscale.kernel.sum_certificate import SumCertificate

FORMAT = "symscale-certificate"
VERSION = 2
OLDER = (1, 2)


def certificates_data(
    title: str, certificates: "Sequence[AnyCertificate]", version: str
) -> dict[str, Any]:
    """Return certificates as JSON data, with the version of the program that made them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "symscale_version": version,
        "title": title,
        "certificates": [_certificate_data(c) for c in certificates],
    }


def _certificate_data(certificate: "AnyCertificate") -> dict[str, Any]:
    from symscale.kernel.sum_certificate import SumCertificate

    program = certificate.program
    data: dict[str, Any] = {
        "piece": certificate.piece,
        "variables": [str(x) for x in program.variables],
        "at_least_one": [_powers(m) for m in program.domain.at_least_one],
        "exponents": {
            str(s): [None if e is None else str(e) for e in (i.lower, i.upper)]
            for s, i in program.domain.exponents.items()
        },
        "bound": _powers(certificate.bound),
        "point": {str(x): _powers(m) for x, m in certificate.point.items()},
        "witness": {str(s): str(v) for s, v in certificate.witness.items()},
    }
    if isinstance(certificate, SumCertificate):
        return {"kind": "sums", **data, **_sums_data(certificate)}
    return {
        **data,
        "sense": certificate.program.sense,
        "objective": _powers(certificate.program.objective),
        "constraints": [
            _constraint_data(c, certificate) for c in certificate.program.constraints
        ],
        "multipliers": {n: str(w) for n, w in certificate.multipliers.items()},
        "conditions": [_powers(m) for m in certificate.conditions],
    }


def _sums_data(certificate: "SumCertificate") -> dict[str, Any]:
    from symscale.algebra.exact.monomial import Monomial

    program = certificate.program
    return {
        "sense": "maximize" if program.inverse else "minimize",
        "objective": [_powers(t) for t in program.objective],
        "constraints": [
            {"name": c.name, "relation": c.relation, "terms": [_powers(t) for t in c.terms]}
            for c in program.constraints
        ],
        "weights": {n: [_powers(w) for w in shares] for n, shares in certificate.weights.items()},
        "multipliers": {
            n: [{"coefficient": str(c), "monomial": _powers(m)} for c, m in terms]
            for n, terms in certificate.multipliers.items()
        },
        "conditions": [
            {
                "left": [_powers(m * Monomial.of(-c)) for c, m in terms if c < 0],
                "right": [_powers(m * Monomial.of(c)) for c, m in terms if c > 0],
            }
            for terms in certificate.conditions
        ],
    }


def _constraint_data(constraint: "Constraint", certificate: "Certificate") -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": constraint.name, "relation": constraint.relation,
        "ratio": _powers(constraint.ratio),
    }
    if constraint.name in certificate.condensed:
        data["condensed"] = [
            {"term": _powers(term), "weight": str(weight)}
            for term, weight in certificate.condensed[constraint.name]
        ]
    return data


def _powers(monomial: "Monomial") -> dict[str, str]:
    return {str(atom): str(exponent) for atom, exponent in monomial.powers}


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
