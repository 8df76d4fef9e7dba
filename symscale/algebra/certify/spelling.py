"""The parts of format 3: products, sums, conditions, proofs, and what abbreviates sums."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.certify.positive import Oriented
from symscale.algebra.certify.statements import (
    Contradiction,
    Cut,
    Hypothesis,
    Least,
    Powers,
    Proof,
    Reason,
    Shares,
    Split,
    Tree,
)
from symscale.algebra.certify.texts import exponent_text, is_name, line
from symscale.algebra.exact.combinations import Terms
from symscale.algebra.exact.monomial import Monomial
from symscale.errors import FormulaError

Data = dict[str, Any]
Values = Mapping[sp.Symbol, sp.Rational]
Multiplier = sp.Expr | tuple[Terms, Proof]
Numbers = Mapping[sp.Symbol, sp.Rational | Monomial]

_MOST_DIGITS = 60


class Spelling:
    """Writes parts of a file; sums that stand as factors become abbreviations.

    Args:
        taken: Names that no abbreviation may have.
        constraints: How the file spells the names of constraints.
    """

    def __init__(self, taken: set[str], constraints: Mapping[str, str]) -> None:
        """Start without abbreviations."""
        self._taken, self._constraints = taken, constraints
        self._abbreviations: dict[Oriented, str] = {}
        self._signs: dict[sp.Expr, Oriented] = {}  # of the theorem that is being written
        self._witness: Values = {}
        self._added: dict[str, list[Hypothesis]] = {}  # to the regions of theorems, by name

    def _orient_all(self, monomials: Iterable[Monomial], witness: Values) -> None:
        """Fix which sums are abbreviated, and with which sign: positive at the witness."""
        self._signs, self._witness = {}, witness
        for atom in dict.fromkeys(a for m in monomials for a in m.atoms if not a.is_Symbol):
            self._orient(atom)

    def _orient(self, atom: sp.Expr) -> None:
        if atom in self._signs:
            return
        oriented = Oriented.of(atom, self._witness)
        for inner in oriented.atoms:
            self._orient(inner)
        self._signs[atom] = oriented = oriented.with_inner(self._signs)
        if oriented not in self._abbreviations:
            number = 1 + len(self._abbreviations)
            while f"D{number}" in self._taken:
                number += 1
            self._taken.add(f"D{number}")
            self._abbreviations[oriented] = f"D{number}"

    def name(self, symbol: sp.Symbol) -> str:
        """A symbol's name.

        Raises:
            FormulaError: If the format has no such name.
        """
        if not is_name(str(symbol)):
            raise FormulaError(f"certificates have no name such as {str(symbol)[:80]!r}")
        return str(symbol)

    def product(self, monomial: Monomial) -> Data:
        """A monomial as the powers of numbers, names and abbreviations."""
        found: dict[str, sp.Expr] = {}
        for atom, exponent in monomial.powers:
            if isinstance(atom, sp.Symbol):
                key = self.name(atom)
            elif atom.is_Integer:
                key = str(atom)
                if len(key) > _MOST_DIGITS:
                    raise FormulaError(f"a number has more than {_MOST_DIGITS} digits")
            else:
                self._orient(atom)
                key = self._abbreviations[self._signs[atom]]
            found[key] = found.get(key, sp.Integer(0)) + exponent
        return {key: exponent_text(e) for key, e in found.items() if e != 0}

    def terms(self, terms: Terms, signs: Mapping[sp.Expr, Oriented] | None = None) -> list[Data]:
        """A sum; `signs` tells which abbreviations stand for its compound factors."""
        before, self._signs = self._signs, dict(self._signs if signs is None else signs)
        try:
            rows = []
            for coefficient, monomial in terms:
                row: Data = {}
                if coefficient != 1:
                    row["coefficient"] = exponent_text(coefficient)
                if not monomial.is_one:
                    row["product"] = self.product(monomial)
                rows.append(row)
            return rows
        finally:
            self._signs = before

    def _condition(self, given: Hypothesis) -> Data:
        return {
            "name": line(given.name), "relation": given.relation,
            "terms": self.terms(given.terms),
        }

    def _point(self, point: Mapping[sp.Symbol, Monomial]) -> Data:
        return {self.name(x): self.product(m) for x, m in point.items()}

    def _exponents_of(self, direction: Mapping[sp.Symbol, sp.Expr]) -> Data:
        return {self.name(x): exponent_text(e) for x, e in direction.items() if e != 0}

    def _powers(self, powers: Powers) -> Data:
        return {line(name): exponent_text(e) for name, e in powers.items() if e != 0}

    def _proof(self, proof: Proof) -> list[Data]:
        rows = []
        for s in proof:
            row: Data = {}
            if s.coefficient != 1:
                row["coefficient"] = exponent_text(s.coefficient)
            if not s.product.is_one:
                row["product"] = self.product(s.product)
            if s.times:
                row["times"] = {line(n): k for n, k in s.times.items()}
            if s.gap:
                row["gap"] = self._powers(s.gap)
            if s.square:
                row["square"] = self.terms(s.square)
            rows.append(row)
        return rows

    def _reason(self, reason: Reason) -> Any:
        return self._proof(reason) if isinstance(reason, tuple) else self._powers(reason)

    def _tree(self, tree: Tree) -> Data:
        if isinstance(tree, Split):
            return {
                "split": {"name": line(tree.name), "terms": self.terms(tree.terms)},
                "yes": self._tree(tree.yes), "no": self._tree(tree.no),
            }
        if isinstance(tree, Least):
            return {
                "least": [
                    {"name": line(n), "product": self.product(m)}
                    for n, m in tree.products.items()
                ],
                "cases": [self._tree(t) for t in tree.cases],
            }
        if isinstance(tree, Contradiction):
            return {"contradiction": self._reason(tree.reason)}
        proofs = {line(n): self._reason(r) for n, r in tree.proofs.items()}
        for given in self._added.get(tree.theorem, ()):  # which the cover's region has as well
            proofs.setdefault(line(given.name), [{"times": {line(given.name): 1}}])
        return {"theorem": line(tree.theorem), "proofs": proofs}

    def _certified(
        self, value: Monomial | None, multipliers: Mapping[str, Multiplier],
        weights: Mapping[str, Sequence[Monomial | None]] | None,
        at: Mapping[sp.Symbol, Monomial] | None,
    ) -> Data:
        found: Data = {} if value is None else {"value": self.product(value)}
        found["multipliers"] = {}
        for name, given in multipliers.items():
            terms, proof = given if isinstance(given, tuple) else (((given, Monomial(())),), ())
            row: Data = {"value": self.terms(terms)}
            if proof:
                row["proof"] = self._proof(proof)
            found["multipliers"][self._constraints[name]] = row
        if weights:
            found["weights"] = {
                self._constraints.get(n, n): [None if w is None else self.product(w) for w in ws]
                for n, ws in weights.items()
            }
        if at is not None:
            found["at"] = self._point(at)
        return found

    def _tangent(self, value: Monomial, shares: Shares) -> Data:
        rows = {self._constraints.get(n, n): [str(s) for s in row] for n, row in shares.items()}
        return {"shares": rows, "value": self.product(value)}

    def _numbers(self, point: Numbers) -> Data:
        return {
            self.name(x): self.product(v) if isinstance(v, Monomial) else str(v)
            for x, v in point.items()
        }

    def _at_point(
        self, point: Mapping[sp.Symbol, Monomial], slacks: Mapping[str, Reason]
    ) -> Data:
        return {
            "point": self._point(point),
            "slacks": {self._constraints[n]: self._reason(r) for n, r in slacks.items()},
        }

    def _cuts(self, tree: Cut | str) -> Data:
        if isinstance(tree, str):
            return {"tangent": line(tree)}
        return {
            "number": line(tree.scale), "at": str(tree.at), "below": self._cuts(tree.below),
            "above": self._cuts(tree.above),
        }


def monomials_of(tree: Tree) -> list[Monomial]:
    """The monomials in a tree's cases."""
    if isinstance(tree, Split):
        return [m for _, m in tree.terms] + monomials_of(tree.yes) + monomials_of(tree.no)
    if isinstance(tree, Least):
        return [*tree.products.values(), *(m for t in tree.cases for m in monomials_of(t))]
    return []
