"""What the checks of certificates found, as lines, documents and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from symscale.answers import Answer
from symscale.errors import CheckFailedError
from symscale.kernel.checker import AnyCertificate, Finding, examine
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
from symscale.pages.page import Page


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


@dataclass(frozen=True, repr=False)
class CheckedCertificates(Answer):
    """Certificates of a file, and what the checks found.

    Attributes:
        title: What they prove.
        verdicts: One for each certificate.
    """

    page = "check"
    title: str
    verdicts: tuple[CertificateVerdict, ...]

    @property
    def holds(self) -> bool:
        """Whether all hold."""
        return all(v.holds for v in self.verdicts)

    def require_all(self) -> None:
        """Raise what the first failed check found.

        Raises:
            CheckFailedError: If a certificate does not hold.
        """
        for verdict in self.verdicts:
            if not verdict.holds:
                detail = verdict.findings[-1].detail
                raise CheckFailedError(f"{verdict.certificate.piece}: {detail}")


def checked_certificates(
    title: str, certificates: Sequence[AnyCertificate]
) -> CheckedCertificates:
    """Check certificates."""
    verdicts = tuple(CertificateVerdict(c, examine(c)) for c in certificates)
    return CheckedCertificates(title, verdicts)


def verdict_lines(found: CheckedCertificates) -> str:
    """A line for each certificate."""
    lines = (
        f"{'holds' if v.holds else 'does not hold'}: {v.certificate.piece}: "
        f"{formula.text(v.objective)} {v.relation} {formula.text(v.certificate.bound)}\n"
        for v in found.verdicts
    )
    return "".join(lines)


def verdict_document(found: CheckedCertificates) -> Document:
    """Every check of every certificate."""
    failed = sum(not v.holds for v in found.verdicts)
    blocks: list[Block] = [
        paragraph(f"{failed} of {len(found.verdicts)} certificates do not hold." if failed
                  else f"All of {len(found.verdicts)} certificates hold.")
    ]
    for v in found.verdicts:
        blocks += [
            Heading(v.certificate.piece, 3),
            paragraph("It claims: ", Formula(v.objective), f" {v.relation} ",
                      Formula(v.certificate.bound), ", and equality at its point."),
            Table(
                (Column("check"), Column("holds"), Column("what was found", wrap=True, share=0.7)),
                tuple((f.name, "yes" if f.holds else "no", f.detail) for f in v.findings),
            ),
        ]
    return Document(f"Check of {found.title}" if found.title else "Check", tuple(blocks))


def verdict_data(found: CheckedCertificates) -> dict[str, Json]:
    """Every check of every certificate as JSON data."""
    return {
        "problem": found.title,
        "holds": found.holds,
        "certificates": [
            {
                "piece": v.certificate.piece,
                "holds": v.holds,
                "objective": formula_data(v.objective),
                "relation": v.relation,
                "bound": formula_data(v.certificate.bound),
                "checks": [_finding(f) for f in v.findings],
            }
            for v in found.verdicts
        ],
        "checks": [
            {**_finding(f), "name": f"{v.certificate.piece}: {f.name}"}
            for v in found.verdicts
            for f in v.findings
        ],
    }


def _finding(finding: Finding) -> dict[str, Json]:
    return {"name": finding.name, "holds": finding.holds, "detail": finding.detail}


def _line(found: CheckedCertificates) -> str:
    held = sum(v.holds for v in found.verdicts)
    return f"{held} of {len(found.verdicts)} certificates hold"


PAGES = (Page(CheckedCertificates, verdict_document, verdict_data, _line, text=verdict_lines),)
