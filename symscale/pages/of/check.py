"""What the checks of certificates found, as lines, documents and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

import symscale
from symscale.errors import CheckFailedError
from symscale.kernel.checker import AnyCertificate, examine
from symscale.kernel.findings import Finding
from symscale.kernel.sum_certificate import SumCertificate
from symscale.pages.formats.document import (
    Block,
    Column,
    Document,
    Formula,
    Heading,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data
from symscale.pages.formulas import formula


@dataclass(frozen=True)
class CertificateVerdict:
    """A certificate and what its checks found.

    Attributes:
        certificate: The certificate.
        findings: What each check found; the last one failed, or all hold.
    """

    certificate: AnyCertificate
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(f.holds for f in self.findings)

    @property
    def objective(self) -> sp.Expr:
        """What is bounded."""
        if isinstance(self.certificate, SumCertificate):
            total = sp.Add(*(t.expr for t in self.certificate.program.objective))
            return 1 / total if self.certificate.program.inverse else total
        return self.certificate.program.objective.expr

    @property
    def relation(self) -> str:
        """How it compares with the bound: "<=" or ">="."""
        if isinstance(self.certificate, SumCertificate):
            return "<=" if self.certificate.program.inverse else ">="
        return "<=" if self.certificate.program.sense == "maximize" else ">="


def verdicts(certificates: Sequence[AnyCertificate]) -> tuple[CertificateVerdict, ...]:
    """Check certificates."""
    return tuple(CertificateVerdict(c, examine(c)) for c in certificates)


def require_all(found: Sequence[CertificateVerdict]) -> None:
    """Raise what the first failed check found.

    Raises:
        CheckFailedError: If a certificate does not hold.
    """
    for verdict in found:
        if not verdict.holds:
            raise CheckFailedError(f"{verdict.certificate.piece}: {verdict.findings[-1].detail}")


def verdict_lines(found: Sequence[CertificateVerdict]) -> str:
    """A line for each certificate."""
    lines = (
        f"{'holds' if v.holds else 'does not hold'}: {v.certificate.piece}: "
        f"{formula.text(v.objective)} {v.relation} {formula.text(v.certificate.bound)}\n"
        for v in found
    )
    return "".join(lines)


def verdict_document(title: str, found: Sequence[CertificateVerdict]) -> Document:
    """Every check of every certificate."""
    failed = sum(not v.holds for v in found)
    blocks: list[Block] = [
        paragraph(f"{failed} of {len(found)} certificates do not hold." if failed
                  else f"All of {len(found)} certificates hold.")
    ]
    for v in found:
        blocks += [
            Heading(v.certificate.piece, 3),
            paragraph("It claims: ", Formula(v.objective), f" {v.relation} ",
                      Formula(v.certificate.bound), ", and equality at its point."),
            Table(
                (Column("check"), Column("holds"), Column("what was found", wrap=True, share=0.7)),
                tuple((f.name, "yes" if f.holds else "no", f.detail) for f in v.findings),
            ),
        ]
    return Document(f"Check of {title}" if title else "Check", tuple(blocks))


def verdict_data(title: str, found: Sequence[CertificateVerdict]) -> dict[str, Json]:
    """Every check of every certificate as JSON data."""
    return {
        "problem": title,
        "holds": all(v.holds for v in found),
        "certificates": [
            {
                "piece": v.certificate.piece,
                "holds": v.holds,
                "objective": formula_data(v.objective),
                "relation": v.relation,
                "bound": formula_data(v.certificate.bound),
                "checks": [_finding(f) for f in v.findings],
            }
            for v in found
        ],
        "checks": [
            {**_finding(f), "name": f"{v.certificate.piece}: {f.name}"}
            for v in found
            for f in v.findings
        ],
        "symscale_version": symscale.__version__,
    }


def _finding(finding: Finding) -> dict[str, Json]:
    return {"name": finding.name, "holds": finding.holds, "detail": finding.detail}
