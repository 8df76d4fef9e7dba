"""Certificates as JSON files; docs/certificates.md describes the format.

A file is data from anybody: it is parsed by the whitelist of expressions, bounded
in size, and trusted in nothing that `symscale.kernel.checker.check` has not
verified.
"""

import json
from collections.abc import Sequence
from typing import Any

import sympy as sp

from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.signs import positive_monomial
from symscale.algebra.products.program import Constraint, Program
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.errors import (
    FormulaError,
    InputError,
    ParseError,
    SymscaleError,
    printable,
    refusal,
)
from symscale.kernel.certificate import Certificate
from symscale.kernel.checker import AnyCertificate
from symscale.kernel.sum_certificate import SumCertificate
from symscale.language.parsing import parse_expression
from symscale.language.symbols import NOTATION, Notation, latex_of_name
from symscale.language.tables import read_file_bytes

FORMAT = "symscale-certificate"
VERSION = 2
READABLE = (1, 2)
LARGEST_FILE_BYTES = 2_000_000
MOST_CONSTRAINTS = 400  # of a certificate of sums, and as many conditions


def certificates_data(
    title: str, certificates: Sequence[AnyCertificate], version: str
) -> dict[str, Any]:
    """Return certificates as JSON data, with the version of the program that made them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "symscale_version": version,
        "title": title,
        "certificates": [_certificate_data(c) for c in certificates],
    }


def _certificate_data(certificate: AnyCertificate) -> dict[str, Any]:
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


def _sums_data(certificate: SumCertificate) -> dict[str, Any]:
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


def _constraint_data(constraint: Constraint, certificate: Certificate) -> dict[str, Any]:
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


def _powers(monomial: Monomial) -> dict[str, str]:
    return {str(atom): str(exponent) for atom, exponent in monomial.powers}


def load_certificates(path: str) -> tuple[str, list[AnyCertificate]]:
    """Read a certificate file: its title, and its certificates.

    Raises:
        InputError: If it is no such file; the text says where it goes wrong.
    """
    data = _load(path)
    where = path[:160]
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{where}: it is no certificate file; write one by solve --certificate")
    if data.get("version") not in READABLE:
        known = " or ".join(map(str, READABLE))
        raise InputError(f"{where}: its version is {data.get('version')!r:.40}, not {known}")
    rows = data.get("certificates")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{where}: it holds no certificate")
    found: list[AnyCertificate] = []
    for index, row in enumerate(rows, 1):
        try:
            reader = _CertificateReader(row)
            sums = data["version"] > 1 and row.get("kind", "monomials") != "monomials"
            found.append(reader.sums() if sums else reader.certificate())
        except SymscaleError as error:
            raise InputError(f"{where}, certificate {index}: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            name = str(error)[:80]
            raise InputError(
                f"{where}, certificate {index}: {name} is missing or malformed; "
                "see docs/certificates.md"
            ) from None
    title = data.get("title", "")
    return title if isinstance(title, str) else "", found


def _load(path: str) -> Any:
    content = read_file_bytes(path, "a certificate", LARGEST_FILE_BYTES, "split it")
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (RecursionError, ValueError) as error:
        raise refusal(
            printable(path, 160), f"is no readable JSON ({str(error)[:80]})",
            "write one by --certificate",
        ) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


class _CertificateReader:
    """One certificate's JSON, and the symbols that its names stand for."""

    def __init__(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ParseError("it is no object")
        self.row = row
        exponents = set(row["exponents"])
        # Within an open interval from zero or more an exponent may be a base as well.
        positive = {n for n, ends in row["exponents"].items() if _is_lower_end(ends[0])}
        names = {str(x) for x in row["variables"]} | set(row["witness"]) | set(row["point"])
        names |= exponents
        for name in names:
            if not (name.isidentifier() and name.isascii() and len(name) <= 60):
                raise ParseError(f"{name[:40]!r} is no name")
        self.names: dict[str, sp.Symbol] = {
            n: Notation(n, "1", latex_of_name(n), n, exponent=n in exponents - positive).symbol
            if n not in NOTATION
            else NOTATION[n].symbol
            for n in sorted(names)
        }

    def monomial(self, table: Any) -> Monomial:
        if not isinstance(table, dict):
            raise ParseError("a monomial is no object of atoms and exponents")
        powers = Monomial(())
        for atom, exponent in table.items():
            base = parse_expression(atom, self.names)
            if base.is_number and not base.is_positive:
                raise FormulaError(f"{atom[:40]} is not positive")
            read = positive_monomial(base)
            if sp.expand(read.expr - base) != 0:  # a sign was lost: the atom is negative
                raise FormulaError(f"{atom[:40]} is not a product of positive quantities")
            powers = powers * read ** self.number(exponent)
        return powers

    def number(self, text: Any) -> sp.Expr:
        if not isinstance(text, str):
            raise ParseError("an exponent is no text")
        return parse_expression(text, self.names)

    def certificate(self) -> Certificate:
        row, names = self.row, self.names
        self._check_sense()
        constraints = []
        condensed: dict[str, tuple[tuple[Monomial, sp.Expr], ...]] = {}
        for entry in row["constraints"]:
            if "condensed" in entry:
                condensed[str(entry["name"])] = tuple(
                    (self.monomial(part["term"]), self._rational(part["weight"]))
                    for part in entry["condensed"]
                )
            if entry["relation"] not in ("<=", "=="):
                raise ParseError("a relation is neither <= nor ==")
            constraints.append(
                Constraint(
                    str(entry["name"]), self.monomial(entry["ratio"]), entry["relation"],
                    Monomial(()), "",
                )
            )
        program = Program(
            "certificate", "", row["sense"], self.monomial(row["objective"]),
            tuple(names[x] for x in row["variables"]), tuple(constraints), self._domain(),
        )
        return Certificate(
            program,
            str(row["piece"]),
            self.monomial(row["bound"]),
            {str(n): self.number(w) for n, w in row["multipliers"].items()},
            {names[x]: self.monomial(m) for x, m in row["point"].items()},
            tuple(self.monomial(m) for m in row["conditions"]),
            {names[n]: self._rational(v) for n, v in row["witness"].items()},
            condensed,
        )

    def sums(self) -> SumCertificate:
        row, names = self.row, self.names
        if row["kind"] != "sums":
            raise ParseError("its kind is neither monomials nor sums")
        self._check_sense()
        if max(len(row["constraints"]), len(row["conditions"])) > MOST_CONSTRAINTS:
            raise ParseError(f"it has more than {MOST_CONSTRAINTS} constraints or conditions")
        for entry in row["constraints"]:
            if entry["relation"] not in ("<=", "=="):
                raise ParseError("a relation is neither <= nor ==")
        program = GeometricProgram(
            tuple(names[x] for x in row["variables"]),
            self._sum(row["objective"]),
            tuple(
                SumConstraint(str(c["name"]), self._sum(c["terms"]), c["relation"], "")
                for c in row["constraints"]
            ),
            self._domain(),
            row["sense"] == "maximize",
        )
        return SumCertificate(
            program,
            str(row["piece"]),
            self.monomial(row["bound"]),
            {str(n): self._sum(shares) for n, shares in row["weights"].items()},
            {str(n): self._terms(parts) for n, parts in row["multipliers"].items()},
            {names[x]: self.monomial(m) for x, m in row["point"].items()},
            tuple(self._condition(c) for c in row["conditions"]),
            {names[n]: self._rational(v) for n, v in row["witness"].items()},
        )

    def _check_sense(self) -> None:
        if self.row["sense"] not in ("maximize", "minimize"):
            raise ParseError("sense is neither maximize nor minimize")

    def _domain(self) -> Domain:
        return Domain(
            tuple(self.monomial(m) for m in self.row["at_least_one"]),
            {
                self.names[n]: Interval(*map(self._end, ends))
                for n, ends in self.row["exponents"].items()
            },
        )

    def _sum(self, parts: Any) -> tuple[Monomial, ...]:
        if not isinstance(parts, list):
            raise ParseError("a sum is no list of monomials")
        return tuple(self.monomial(m) for m in parts)

    def _terms(self, parts: Any) -> Terms:
        return tuple(
            (self.number(part["coefficient"]), self.monomial(part["monomial"])) for part in parts
        )

    def _condition(self, pair: Any) -> Terms:
        one = sp.Integer(1)
        left, right = (self._sum(pair[side]) for side in ("left", "right"))
        return (*((one, m) for m in right), *((-one, m) for m in left))

    def _end(self, text: Any) -> sp.Rational | None:
        return None if text is None else self._rational(text)

    def _rational(self, text: Any) -> sp.Rational:
        value: Any = self.number(text)
        if not value.is_Rational:
            raise ParseError(f"{str(text)[:40]} is no rational number")
        return value


def _is_lower_end(text: Any) -> bool:
    """Whether a lower end is a plain number that is not negative."""
    return isinstance(text, str) and text.replace("/", "").isdigit()
