"""Certificates of every kind, and the check of each."""

from typing import TypeAlias

from symscale.kernel import certificate as monomials
from symscale.kernel.certificate import Certificate
from symscale.kernel.findings import Finding, require
from symscale.kernel.sum_certificate import SumCertificate
from symscale.kernel.sum_checker import examine_sums

AnyCertificate: TypeAlias = Certificate | SumCertificate


def examine(certificate: AnyCertificate) -> tuple[Finding, ...]:
    """What each check of a certificate finds, up to the first that fails."""
    if isinstance(certificate, SumCertificate):
        return examine_sums(certificate)
    return monomials.examine(certificate)


def check(certificate: AnyCertificate) -> None:
    """Verify a certificate exactly.

    Raises:
        CheckFailedError: If any part of the claim does not hold; the text says which.
    """
    require(certificate.piece, examine(certificate))
