"""Covers of the closed forms of sums: that one of the theorems of a file applies everywhere.

The conditions of all regions are taken as signs of finitely many sums. A case after the
other fixes one of them, until a theorem's conditions all hold, by a search that gives up
after some steps. What it finds is for the kernel to judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple, TypeAlias

from symscale.kernel.numbers import factored
from symscale.kernel.theorems import ENDS

Data: TypeAlias = dict[str, Any]
Powers: TypeAlias = tuple[tuple[str, Fraction], ...]
"""A product, by its sorted bases: names and primes."""

COVER = "cover"
_MOST_CASES = 400


class _Literal(NamedTuple):
    """A condition: that a sum in its one form, times `scale`, is at least 0, or at most 0."""

    name: str
    atom: tuple[tuple[int, Powers], ...]
    positive: bool
    scale: Powers
    power: Fraction  # of a ratio, where the sum has two terms


def cover_of(data: Data) -> Data | None:
    """Find a cover of a file's closed forms, as a theorem; None where none was found.

    Args:
        data: The file, with theorems that are attained or approached.
    """
    ends = [t for t in data["theorems"] if t["theorem"] in ENDS]
    ends += [t for t in map(_without_share, data["theorems"]) if t is not None]
    if not ends:
        return None
    positive: dict[str, Data] = {}
    theorems: dict[str, list[_Literal]] = {}
    try:
        for t in ends:
            for row in t["region"]:
                if "positive" in row:
                    if any("times" in s or "gap" in s for s in row["proof"]):
                        return None  # it is positive only where conditions hold
                    positive[row["positive"]] = row
            rows = [row for row in t["region"] if "positive" not in row]
            if any(row["relation"] == "==" for row in rows):
                return None
            theorems[t["name"]] = [_literal(row) for row in rows]
    except ValueError:
        return None  # an exponent with symbols
    search = _CoverSearch(theorems)
    tree = search.tree({})
    if tree is None:
        return None
    order = [a["name"] for a in data["abbreviations"]]
    region = [positive[name] for name in sorted(positive, key=order.index)]
    witness = ends[0]["witness"]
    return {"theorem": "cover", "name": COVER, "region": region, "witness": witness, "tree": tree}


def _without_share(theorem: Data) -> Data | None:
    """A curve as a theorem about the parameters alone; None where its region has the share."""
    if theorem["theorem"] != "curve":
        return None
    share = theorem["share"]["name"]
    inside = {share}
    rows = []
    for row in theorem["region"]:
        if "positive" in row:
            if any({"from", "to"} & {*s.get("times", {})} for s in row["proof"]):
                inside.add(row["positive"])  # a sum in the share
                continue
        elif any(inside & {*term.get("product", {})} for term in row["terms"]):
            return None
        rows.append(row)
    # What the share replaces may be anything: the kernel shows that some share gives it.
    witness = {n: v for n, v in theorem["witness"].items() if n != share}
    return {**theorem, "region": rows, "witness": witness | dict.fromkeys(theorem["given"], "1")}


@dataclass
class _CoverSearch:
    """The search of a cover.

    Attributes:
        theorems: The conditions of each theorem.
        cases: How many cases were looked at.
    """

    theorems: Mapping[str, Sequence[_Literal]]
    cases: int = 0
    names: dict[Any, str] = field(default_factory=dict)

    def tree(self, known: Mapping[Any, bool]) -> Data | None:
        """A cover of what is left, where the signs of some sums are known."""
        self.cases += 1
        if self.cases > _MOST_CASES:
            return None
        best: Sequence[_Literal] | None = None
        for name, literals in self.theorems.items():
            open_ones = [c for c in literals if known.get(c.atom) != c.positive]
            if not open_ones:
                return {"theorem": name, "proofs": {c.name: self._proof(c) for c in literals}}
            if any(c.atom in known for c in open_ones):
                continue
            if best is None or len(open_ones) < len(best):
                best = open_ones
        if best is None:
            return None
        atom = best[0].atom
        label = self.names.setdefault(atom, f"case {len(self.names) + 1}")
        sides = {}
        for key, sign in (("yes", True), ("no", False)):
            sides[key] = self.tree({**known, atom: sign})
            if sides[key] is None:
                return None
        terms = [_term(c, p) for c, p in atom]
        return {"split": {"name": label, "terms": terms}, **sides}

    def _proof(self, c: _Literal) -> Any:
        name = self.names[c.atom] if c.positive else f"not {self.names[c.atom]}"
        if len(c.atom) == 2:
            return {name: str(c.power)}
        return [{**_term(1, c.scale), "times": {name: 1}}]


def _term(sign: int, powers: Powers) -> Data:
    term: Data = {"product": {base: str(e) for base, e in powers}}
    return term if sign > 0 else {"coefficient": "-1", **term}


def _literal(row: Data) -> _Literal:
    """A condition in its one form."""
    terms = [_powers(t) for t in row["terms"]]
    if len(terms) == 2 and {c for c, _ in terms} == {1, -1}:
        (above,) = (p for c, p in terms if c > 0)
        (below,) = (p for c, p in terms if c < 0)
        ratio = _divided(above, below)
        content = _content([e for _, e in ratio])
        ratio = tuple((b, e / content) for b, e in ratio)
        positive = bool(ratio) and ratio[0][1] > 0
        shown = ratio if positive else tuple((b, -e) for b, e in ratio)
        return _Literal(row["name"], ((1, shown), (-1, ())), positive, (), content)
    forms = []
    for _, reference in terms:
        for sign in (1, -1):
            form = tuple(sorted((sign * c, _divided(p, reference)) for c, p in terms))
            forms.append((form, sign > 0, reference))
    form, positive, scale = min(forms)
    return _Literal(row["name"], form, positive, scale, Fraction(1))


def _powers(term: Data) -> tuple[int, Powers]:
    """The sign of a term, and its size as a product, numbers by their primes."""
    coefficient = Fraction(term.get("coefficient", "1"))
    found: dict[str, Fraction] = {}
    factors = [(b, Fraction(e)) for b, e in term.get("product", {}).items()]
    factors.append((str(abs(coefficient.numerator)), Fraction(1)))
    factors.append((str(coefficient.denominator), Fraction(-1)))
    for base, e in factors:
        parts = factored(int(base)) if base.isdigit() else {base: 1}
        for part, k in parts.items():
            found[str(part)] = found.get(str(part), Fraction(0)) + e * k
    powers = tuple(sorted((b, e) for b, e in found.items() if e))
    return (1 if coefficient > 0 else -1), powers


def _divided(first: Powers, second: Powers) -> Powers:
    total = dict(first)
    for base, e in second:
        total[base] = total.get(base, Fraction(0)) - e
    return tuple(sorted((b, e) for b, e in total.items() if e))


def _content(exponents: Sequence[Fraction]) -> Fraction:
    """The positive number that divides all exponents and leaves whole ones without divisor."""
    if not exponents:
        return Fraction(1)
    above, below = [e.numerator for e in exponents], [e.denominator for e in exponents]
    return Fraction(gcd(*above), lcm(*below))
