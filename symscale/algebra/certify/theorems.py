"""Theorems that the kernel was asked about: what it shows, and what is missing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from symscale.algebra.certify.limits import hypotheses, parts_of, theorems_of
from symscale.algebra.certify.writer import CertificateWriter, Values
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Condition, Limit
from symscale.algebra.products.program import Program
from symscale.algebra.products.witness import witness_of
from symscale.errors import CheckFailedError
from symscale.kernel.check import FileVerdict, check
from symscale.kernel.limits import Refused


@dataclass(frozen=True)
class Theorems:
    """Theorems of one file that the kernel shows, and what is missing.

    Attributes:
        data: What `symscale check` reads; None where no theorem was shown.
        verdict: What the kernel says of them.
        missing: The names of the theorems that could not be written or were refused.
    """

    data: Mapping[str, Any] | None
    verdict: FileVerdict | None
    missing: tuple[str, ...] = ()

    @cached_property
    def shown(self) -> Mapping[str, str]:
        """The sentence of each theorem that was shown, by its name."""
        return {f.name: f.text for f in self.verdict.findings} if self.verdict else {}

    def require(self, *names: str) -> None:
        """Raise unless theorems of these names were shown.

        Raises:
            CheckFailedError: If one was not.
        """
        for name in names:
            if name not in self.shown:
                raise CheckFailedError(f"the kernel does not show {name!r}")


def judged(data: Mapping[str, Any], missing: Sequence[str] = ()) -> Theorems:
    """Ask the kernel about a file's theorems, and keep those that it shows.

    Args:
        data: The file.
        missing: Names of theorems that could not be written.
    """
    if not data["theorems"]:
        return Theorems(None, None, tuple(missing))
    try:
        verdict = check(json.dumps(data))
    except Refused as refused:
        raise CheckFailedError(f"the kernel refuses the file: {refused}") from None
    if not verdict.holds:
        refused_names = [f.name for f in verdict.findings if not f.holds]
        kept = [t for t in data["theorems"] if t["name"] not in refused_names]
        return judged({**data, "theorems": kept}, [*missing, *refused_names])
    return Theorems(data, verdict, tuple(missing))


def of_limit(limit: Limit, title: str) -> Theorems:
    """What the kernel shows of a limit.

    Example:
        >>> from symscale.algebra.products.program import at_most
        >>> from symscale.algebra.products.solve import solve
        >>> from symscale.language.symbols import symbols
        >>> N, J, K = symbols("N J K")
        >>> limit = solve(Program("demo", "", "maximize", Monomial.of(N), (N,), (
        ...     at_most("first", N, J, ""), at_most("second", N, K, ""))))
        >>> print(of_limit(limit, "demo").shown["first"][:65])
        for all positive parameters with K >= J: the point N = J is feasi
    """
    written = theorems_of(limit)
    return judged(written.writer.data(title), written.missing)


@dataclass(frozen=True)
class PieceProof:
    """That a piece of a limit bounds the objective, and is attained in all of a region.

    Attributes:
        name: The piece's name.
        program: The program.
        bound: The piece's value.
        multipliers: The power of each constraint in the product that is the bound.
        point: A point that attains it.
        region: Where.
        slacks: Why each constraint that is not tight holds there.
        witness: Parameters within.
    """

    name: str
    program: Program
    bound: Monomial
    multipliers: Mapping[str, sp.Expr]
    point: Mapping[sp.Symbol, Monomial]
    region: tuple[Condition, ...]
    slacks: Mapping[str, Mapping[str, sp.Expr]]
    witness: Values

    @property
    def conditions(self) -> tuple[Monomial, ...]:
        """Monomials that are at most 1 in the region."""
        return tuple(c.ratio for c in self.region)

    def check(self) -> None:
        """Raise unless the kernel shows it.

        Raises:
            CheckFailedError: If it does not.
        """
        writer, bounded = CertificateWriter(self.program), f"{self.name}: bound"
        writer.bound(bounded, self.bound, self.multipliers, (), self.witness)
        writer.attained(
            self.name, self.bound, self.point, self.slacks, hypotheses(self.region), self.witness
        )
        judged(writer.data(self.program.title)).require(bounded, self.name)


def certify(limit: Limit) -> dict[str, PieceProof]:
    """The proof of each piece of a limit that one point attains in all of its region."""
    found = {}
    for piece in limit.pieces:
        parts = parts_of(piece.name, limit.points[piece.name], piece.region, limit.program)
        witness = witness_of(limit, piece)
        if len(parts) == 1 and witness is not None:
            (part,) = parts
            found[piece.name] = PieceProof(
                piece.name, limit.program, piece.bound, piece.multipliers, part.point.values,
                part.region, part.slacks, witness,
            )
    return found
