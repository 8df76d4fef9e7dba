"""Certificates of every kind, and the check of each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from symscale.errors import CheckFailedError, SymscaleError
from symscale.kernel import certificate as products
from symscale.kernel import sum_checker as sums
from symscale.kernel.certificate import Certificate
from symscale.kernel.sum_certificate import SumCertificate

AnyCertificate: TypeAlias = Certificate | SumCertificate
_Claim = TypeVar("_Claim", Certificate, SumCertificate)


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


def check(certificate: AnyCertificate) -> None:
    """Verify a certificate exactly.

    Raises:
        CheckFailedError: If any part of the claim does not hold; the text says which.
    """
    for finding in examine(certificate):
        if not finding.holds:
            raise CheckFailedError(f"{certificate.piece}: {finding.detail}")


def examine(certificate: AnyCertificate) -> tuple[Finding, ...]:
    """What each check of a certificate finds, up to the first that fails."""
    if isinstance(certificate, SumCertificate):
        return _run(certificate, sums.CHECKS)
    return _run(certificate, products.CHECKS)


def _run(
    certificate: _Claim, checks: Iterable[tuple[str, str, Callable[[_Claim], None]]]
) -> tuple[Finding, ...]:
    found = []
    for name, shows, test in checks:
        try:
            test(certificate)
        except (SymscaleError, TypeError, ZeroDivisionError) as error:
            found.append(Finding(name, False, str(error)))
            break
        found.append(Finding(name, True, shows))
    return tuple(found)
