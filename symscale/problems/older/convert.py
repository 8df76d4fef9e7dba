"""Certificates of versions 1 and 2 as files of version 3, one for each.

A certificate says: these constraints to these powers multiply to this bound, and this point
satisfies them all and attains it wherever these conditions hold. That is a theorem `bound`
in the region that its multipliers' signs need, and a theorem `attained` in the region of
its conditions. Where an atom such as `p - 1` must be positive, that follows from what
the file states, or is a condition of both theorems, or the certificate is refused.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symscale.kernel.check import FORMAT, VERSION
from symscale.kernel.limits import MOST_WORK, Refused, budget, shown
from symscale.kernel.problem import MOST, OBJECTIVE, Declarations, SignCondition
from symscale.kernel.read import (
    as_dict,
    as_line,
    as_list,
    as_name,
    as_object,
    as_rational,
    read_json,
)
from symscale.kernel.terms import ONE, Product, Term, Terms, of_number, power, put, same, times
from symscale.problems.older.atoms import AtomReader, collected, read_name, used_abbreviations
from symscale.problems.older.search import (
    Proof,
    ProofSearch,
    names_in_proof,
    product_data,
    terms_data,
)

MOST_CERTIFICATES = 100
_UNIT = Fraction(1)
_RENAMED = "the objective"
_KEYS = (
    "piece", "variables", "sense", "objective", "constraints", "at_least_one", "exponents",
    "bound", "multipliers", "point", "conditions", "witness",
)  # fmt: skip


class NotShownError(Refused):
    """A certificate that is well formed, and claims what does not follow from its file."""


@dataclass(frozen=True)
class ConvertedCertificate:
    """A certificate as a file of version 3.

    Attributes:
        piece: Its name.
        text: The file; "" where none was found.
        reason: Why none was found.
    """

    piece: str
    text: str
    reason: str = ""


def converted(data: Mapping[str, Any]) -> tuple[str, list[ConvertedCertificate]]:
    """Write the certificates of a file of version 1 or 2 as files of version 3.

    Args:
        data: What `symscale.kernel.read.read_json` read.

    Returns:
        The file's title, and a file for each certificate.

    Raises:
        Refused: If it is no such file; the text says where it goes wrong.
    """
    row = as_object(
        data, "the file", ("format", "version", "certificates"), ("symscale_version", "title")
    )
    rows = as_list(row["certificates"], "the certificates", MOST_CERTIFICATES)
    if not rows:
        raise Refused("the file has no certificate")
    found = []
    with budget(MOST_WORK // 4):
        for place, entry in enumerate(rows, 1):
            try:
                found.append(_converted(entry, sums_allowed=row["version"] > 1))
            except NotShownError as error:
                found.append(ConvertedCertificate(as_line(entry["piece"]), "", str(error)))
            except RecursionError:
                raise Refused(f"certificate {place}: it is nested too deeply") from None
            except Refused as error:
                raise Refused(f"certificate {place}: {error}") from None
    return as_line(row.get("title") or "untitled"), found


def _converted(data: object, *, sums_allowed: bool) -> ConvertedCertificate:
    kind = as_dict(data, "a certificate").get("kind", "monomials")
    if kind != "monomials" and not (sums_allowed and kind == "sums"):
        raise Refused(f"its kind is monomials or sums, not {shown(kind)}")
    row = as_object(data, "a certificate", _KEYS, ("kind", "weights"))
    certificate = _OldCertificate(row, sums=kind == "sums")
    text = json.dumps(certificate.file(), indent=1)
    read_json(text)  # of a size that the kernel reads
    return ConvertedCertificate(certificate.piece, text)


@dataclass
class _OldConstraint:
    """A constraint, and its weights where it stands for a sum in fixed proportions."""

    relation: str
    terms: list[Product]
    weights: list[Product] = field(default_factory=list)


class _OldCertificate:
    """A certificate of version 1 or 2 while it is written anew."""

    def __init__(self, row: dict[str, Any], *, sums: bool) -> None:
        self.row, self.sums = row, sums
        self.piece = as_line(row["piece"])
        if len(self.piece) > 180:
            raise Refused("its piece has a name of more than 180 characters")
        taken = set(re.findall(r"[A-Za-z_]\w*", json.dumps(row), re.ASCII))
        variables = tuple(
            read_name(x, taken) for x in as_list(row["variables"], "the variables", MOST)
        )
        self.exponents = as_dict(row["exponents"], "the exponents")
        box = {as_name(s): self._interval(ends) for s, ends in self.exponents.items()}
        if set(box) & set(variables):
            raise Refused(f"{min(set(box) & set(variables))} is a variable, and in exponents")
        self.scope = Declarations(box, variables)
        self.reader = AtomReader(self.scope, taken)
        self.product = self.reader.product
        self.search = ProofSearch(self.scope)
        if row["sense"] not in ("maximize", "minimize"):
            raise Refused(f"a sense is maximize or minimize, not {shown(row['sense'])}")

    @staticmethod
    def _interval(data: object) -> tuple[Fraction | None, Fraction | None]:
        ends = as_list(data, "an interval", 2)
        if len(ends) != 2:
            raise Refused("an interval has not two ends")
        return (
            None if ends[0] is None else as_rational(ends[0]),
            None if ends[1] is None else as_rational(ends[1]),
        )

    def file(self) -> dict[str, Any]:
        """The file of version 3."""
        row = self.row
        objective = self._sum(row["objective"]) if self.sums else [self.product(row["objective"])]
        constraints = self._constraints()
        domain = [
            self._at_least(f"domain {k}", [(_UNIT, self.product(m)), (-_UNIT, ONE)])
            for k, m in enumerate(as_list(row["at_least_one"], "the domain", MOST), 1)
        ]
        self.scope.domain = tuple(domain)
        bound = self.product(row["bound"])
        point = {
            self._variable(x): self.product(p) for x, p in as_dict(row["point"], "a point").items()
        }
        weights = self._weights(constraints)
        multipliers = {
            self._named(n): self._multiplier(m)
            for n, m in as_dict(row["multipliers"], "multipliers").items()
        }
        conditions = self._conditions()
        self.search.given = {c.name: c for c in domain}
        regions = _Regions(self.search, self.reader, conditions)
        steps = self._bound(constraints, multipliers, weights)
        if self.sums:
            steps["at"] = {x: product_data(p) for x, p in point.items()}
        slacks = {
            name: proof for name, c in constraints.items()
            if (proof := self.search.slack([(_UNIT, put(t, point)) for t in c.terms])) is not None
        }  # fmt: skip
        inside = [*objective, *(t for c in constraints.values() for t in c.terms), bound]
        proving = [*inside, *point.values(), *(w for ws in weights.values() for w in ws)]
        proving += [p for terms in multipliers.values() for _, p in terms]
        needed = set().union(
            *(names_in_proof(m.get("proof")) for m in steps["multipliers"].values())
        )
        witness = {
            read_name(n, self.reader.taken): str(as_rational(v))
            for n, v in as_dict(row["witness"], "a witness").items()
        }
        value = product_data(bound)
        return {
            "format": FORMAT, "version": VERSION, "title": self.piece,
            "exponents": self.exponents,
            "domain": [_condition_data(c) for c in domain],
            "abbreviations": [
                {"name": a, "terms": terms_data(t)} for a, t in self.scope.abbreviations.items()
            ],
            "problem": {
                "sense": "maximize-inverse" if self.sums and row["sense"] == "maximize"
                else row["sense"],
                "variables": list(self.scope.variables),
                "objective": [product_data(t) for t in objective],
                "constraints": [
                    {"name": n, "relation": c.relation,
                     "terms": [product_data(t) for t in c.terms]}
                    for n, c in constraints.items()
                ],
            },
            "theorems": [
                {"theorem": "bound", "name": f"{self.piece} (bound)",
                 "region": regions.written(needed, proving), "value": value, **steps,
                 "witness": witness},
                {"theorem": "attained", "name": f"{self.piece} (point)",
                 "region": regions.written(set(conditions), [*inside, *point.values()]),
                 "value": value,
                 "point": {x: product_data(p) for x, p in point.items()}, "slacks": slacks,
                 "witness": witness},
            ],
        }  # fmt: skip

    def _named(self, data: object) -> str:
        """A constraint's name; of products one may be named as version 3 names the objective."""
        name = as_line(data)
        return _RENAMED if name == OBJECTIVE and not self.sums else name

    def _variable(self, data: object) -> str:
        name = read_name(data, self.reader.taken)
        if name not in self.scope.variables:
            raise Refused(f"the point gives a value to {name}, which is no variable")
        return name

    def _sum(self, data: object) -> list[Product]:
        return [self.product(p) for p in as_list(data, "a sum", MOST)]

    def _constraints(self) -> dict[str, _OldConstraint]:
        found: dict[str, _OldConstraint] = {}
        for part in as_list(self.row["constraints"], "the constraints", MOST):
            one = ("terms",) if self.sums else ("ratio",)
            optional = () if self.sums else ("condensed",)
            c = as_object(part, "a constraint", ("name", "relation", *one), optional)
            name = self._named(c["name"])
            if name in found:
                raise Refused(f"two constraints are named {name!r}")
            if c["relation"] not in ("<=", "=="):
                raise Refused(f"a relation is <= or ==, not {shown(c['relation'])}")
            if self.sums:
                found[name] = _OldConstraint(c["relation"], self._sum(c["terms"]))
                continue
            ratio = self.product(c["ratio"])
            found[name] = _OldConstraint(c["relation"], [ratio])
            if "condensed" in c:
                found[name] = self._condensed(name, c["condensed"], ratio)
        return found

    def _condensed(self, name: str, data: object, ratio: Product) -> _OldConstraint:
        """The sum for which a product stands by the inequality of the weighted means."""
        found, total = _OldConstraint("<=", []), ONE
        for part in as_list(data, "a condensed sum", MOST):
            row = as_object(part, "a condensed term", ("term", "weight"))
            term, weight = self.product(row["term"]), as_rational(row["weight"])
            if weight <= 0:
                raise Refused(f"a weight of {name!r} is not positive")
            found.terms.append(term)
            found.weights.append(of_number(weight))
            total = times(total, power(times(term, of_number(1 / weight)), weight))
        if not same(total, ratio):
            raise NotShownError(f"the ratio of {name!r} is not its sum condensed")
        return found

    def _weights(self, constraints: Mapping[str, _OldConstraint]) -> dict[str, list[Product]]:
        if self.sums:
            return {
                self._named(n): self._sum(ws)
                for n, ws in as_dict(self.row.get("weights"), "weights").items()
            }
        if self.row.get("weights", {}) != {}:
            raise Refused("a certificate of products has no weights of its own")
        return {n: c.weights for n, c in constraints.items() if len(c.weights) > 1}

    def _multiplier(self, data: object) -> Terms:
        if not self.sums:
            e = self.reader.exponent(data)
            return [(e, ONE)] if e else []
        found = []
        for part in as_list(data, "a multiplier", MOST):
            row = as_object(part, "a term", ("coefficient", "monomial"))
            c = self.reader.exponent(row["coefficient"])
            found.append((c, self.product(row["monomial"])))
        return collected(found)

    def _conditions(self) -> dict[str, SignCondition]:
        found = {}
        for k, data in enumerate(as_list(self.row["conditions"], "the conditions", MOST), 1):
            if self.sums:
                row = as_object(data, "a condition", ("left", "right"))
                terms: list[Term] = [(_UNIT, p) for p in self._sum(row["right"])]
                terms += [(-_UNIT, p) for p in self._sum(row["left"])]
            else:
                terms = [(_UNIT, ONE), (-_UNIT, self.product(data))]
            found[f"condition {k}"] = self._at_least(f"condition {k}", terms)
        return {n: SignCondition(n, ">=", self.search.folded(c.terms)) for n, c in found.items()}

    def _at_least(self, name: str, terms: list[Term]) -> SignCondition:
        variables = {b for _, p in terms for b in p} & set(self.scope.variables)
        if variables:
            raise Refused(f"{name} contains the variable {min(map(str, variables))}")
        return SignCondition(name, ">=", terms)

    def _bound(
        self, constraints: Mapping[str, _OldConstraint], multipliers: Mapping[str, Terms],
        weights: Mapping[str, list[Product]],
    ) -> dict[str, Any]:
        """The multipliers and weights, a proof with each multiplier that needs one."""
        written: dict[str, Any] = {}
        for name, terms in multipliers.items():
            written[name] = {"value": terms_data(terms)}
            if self.sums and name in constraints and constraints[name].relation == "<=":
                found = self.search.prove(terms)
                if found is not None:
                    written[name]["proof"] = found[0]
        if not self.sums:
            weights = {n: ws for n, ws in weights.items() if n in multipliers}
        shares = {n: [product_data(w) for w in ws] for n, ws in weights.items()}
        return {"multipliers": written, "weights": shares}


class _Regions:
    """Shows that abbreviations are positive, and writes the regions of theorems."""

    def __init__(
        self, search: ProofSearch, reader: AtomReader, conditions: Mapping[str, SignCondition]
    ) -> None:
        self.search, self.scope, self.reader = search, reader.scope, reader
        self.conditions = dict(conditions)
        self.entries: dict[str, list[dict[str, Any]]] = {}
        self.proofs: dict[str, Proof] = {}
        self._use(())
        for name, terms in self.scope.abbreviations.items():
            self._show(name, terms)
            self._use(self.proofs)

    def _use(self, positive: Iterable[str]) -> None:
        """Let the search use the conditions whose abbreviations are positive."""
        for name, c in self.conditions.items():
            if self._abbreviations(name) <= set(positive):
                self.search.given[name] = c

    def _abbreviations(self, condition: str) -> set[str]:
        return used_abbreviations([p for _, p in self.conditions[condition].terms], self.scope)

    def _show(self, name: str, terms: Terms) -> None:
        found = self.search.prove(terms)
        if found is None:
            raise NotShownError(
                f"{shown(self.reader.texts[name])} stands where only what is positive may, which "
                "follows neither from its terms nor from the file's domain and conditions"
            )
        self.proofs[name], strict = found
        if not strict:  # the file grants only that it is not negative
            extra = f"{name} > 0"
            self.conditions[extra] = SignCondition(extra, ">", terms)
            self.proofs[name] = [{"times": {extra: 1}}]

    def written(self, conditions: set[str], products: list[Product]) -> list[dict[str, Any]]:
        """A region of these conditions, and of all that makes abbreviations positive."""
        needed = used_abbreviations(products, self.scope)
        wanted = {n for n in self.conditions if n in conditions}
        while True:
            more = {n for a in needed for n in names_in_proof(self.proofs[a])}
            more &= set(self.conditions)
            inner = set().union(*(self._abbreviations(n) for n in wanted | more))
            if more <= wanted and inner <= needed:
                break
            wanted, needed = wanted | more, needed | inner
        rows: list[dict[str, Any]] = []
        left = [n for n in self.conditions if n in wanted]
        positive: set[str] = set()
        for a in [None, *(a for a in self.scope.abbreviations if a in needed)]:
            if a is not None:
                rows.append({"positive": a, "proof": self.proofs[a]})
                positive.add(a)
            ready = [n for n in left if self._abbreviations(n) <= positive]
            rows += [_condition_data(self.conditions[n]) for n in ready]
            left = [n for n in left if n not in ready]
        return rows


def _condition_data(c: SignCondition) -> dict[str, Any]:
    return {"name": c.name, "relation": c.relation, "terms": terms_data(c.terms)}
