"""Certificates as JSON files; docs/certificates.md describes the format.

A file is data from anybody: it is parsed by the whitelist of expressions, bounded
in size, and trusted in nothing that `symscale.algebra.certificate.check` has not
verified.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sympy as sp

from symscale.algebra.certificate import Certificate
from symscale.algebra.domain import Domain, Interval
from symscale.algebra.monomial import Monomial
from symscale.algebra.program import Constraint, Program
from symscale.algebra.signs import positive_monomial
from symscale.errors import FormulaError, InputError, ParseError, SymscaleError
from symscale.parsing import parse_expression
from symscale.symbols import NOTATION, Notation, latex_of_name

FORMAT = "symscale-certificate"
VERSION = 1
LARGEST_FILE_BYTES = 2_000_000


def certificates_data(
    title: str, certificates: Sequence[Certificate], version: str
) -> dict[str, Any]:
    """Return certificates as JSON data, with the version of the program that made them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "symscale_version": version,
        "title": title,
        "certificates": [_certificate_data(c) for c in certificates],
    }


def _certificate_data(certificate: Certificate) -> dict[str, Any]:
    program = certificate.program
    return {
        "piece": certificate.piece,
        "sense": program.sense,
        "objective": _powers(program.objective),
        "variables": [str(x) for x in program.variables],
        "constraints": [
            _constraint_data(c, certificate) for c in program.constraints
        ],
        "at_least_one": [_powers(m) for m in program.domain.at_least_one],
        "exponents": {
            str(s): [None if e is None else str(e) for e in (i.lower, i.upper)]
            for s, i in program.domain.exponents.items()
        },
        "bound": _powers(certificate.bound),
        "multipliers": {n: str(w) for n, w in certificate.multipliers.items()},
        "point": {str(x): _powers(m) for x, m in certificate.point.items()},
        "conditions": [_powers(m) for m in certificate.conditions],
        "witness": {str(s): str(v) for s, v in certificate.witness.items()},
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


def read_certificates(path: str) -> list[Certificate]:
    """Read a certificate file.

    Raises:
        InputError: If it is no such file; the text says where it goes wrong.
    """
    data = _load(path)
    where = path[:160]
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{where}: it is no certificate file; write one by solve --certificate")
    if data.get("version") != VERSION:
        raise InputError(f"{where}: its version is {data.get('version')!r:.40}, not {VERSION}")
    rows = data.get("certificates")
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{where}: it holds no certificate")
    found = []
    for index, row in enumerate(rows, 1):
        try:
            found.append(_Reader(row).certificate())
        except SymscaleError as error:
            raise InputError(f"{where}, certificate {index}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            name = str(error)[:80]
            raise InputError(
                f"{where}, certificate {index}: {name} is missing or malformed; "
                "see docs/certificates.md"
            ) from None
    return found


def _load(path: str) -> Any:
    shown = path[:160]
    try:
        file = Path(path)
        if not file.is_file():
            raise InputError(f"{shown}: no such file")
        with file.open("rb") as stream:
            content = stream.read(LARGEST_FILE_BYTES + 1)
        if len(content) > LARGEST_FILE_BYTES:
            raise InputError(f"{shown}: it is larger than {LARGEST_FILE_BYTES} bytes")
        return json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except (OSError, RecursionError, ValueError) as error:
        raise InputError(f"{shown}: it is no readable JSON ({str(error)[:80]})") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


class _Reader:
    """One certificate's JSON, and the symbols that its names stand for."""

    def __init__(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ParseError("it is no object")
        self.row = row
        exponents = set(row["exponents"])
        names = {str(x) for x in row["variables"]} | set(row["witness"]) | set(row["point"])
        names |= exponents
        for name in names:
            if not (name.isidentifier() and name.isascii() and len(name) <= 60):
                raise ParseError(f"{name[:40]!r} is no name")
        self.names: dict[str, sp.Symbol] = {
            n: Notation(n, "1", latex_of_name(n), n, exponent=n in exponents).symbol
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
        if row["sense"] not in ("maximize", "minimize"):
            raise ParseError("sense is neither maximize nor minimize")
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
        domain = Domain(
            tuple(self.monomial(m) for m in row["at_least_one"]),
            {names[n]: Interval(*map(self._end, ends)) for n, ends in row["exponents"].items()},
        )
        program = Program(
            "certificate", "", row["sense"], self.monomial(row["objective"]),
            tuple(names[x] for x in row["variables"]), tuple(constraints), domain,
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

    def _end(self, text: Any) -> sp.Rational | None:
        return None if text is None else self._rational(text)

    def _rational(self, text: Any) -> sp.Rational:
        value: Any = self.number(text)
        if not value.is_Rational:
            raise ParseError(f"{str(text)[:40]} is no rational number")
        return value


