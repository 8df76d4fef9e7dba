"""Certificate files with one or two things changed."""

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any

from second_judge import leaves

Data = dict[str, Any]
Change = Callable[["Altered"], bool]

_NUMBERS = ("2", "3", "5", str(10**30), str(10**30 + 1))
_TEXTS = (
    "-({0})", "2*({0})", "({0})/2", "({0}) + 1", "({0}) - 1", "0", "1", "-1", "1/2",
    f"({{0}}) + 1/{10**30}", "1 - ({0})", "({0})*({1})", "({0}) - ({1})", "{1}",
)  # fmt: skip
_SENSES = ("minimize", "maximize", "maximize-inverse")
_RELATIONS = {"<=": ("==",), "==": ("<=", ">=", ">"), ">=": (">", "=="), ">": (">=", "==")}
_PARTS = (
    "region", "value", "multipliers", "weights", "at", "point", "slacks", "gap", "direction",
    "shrink", "excess", "tree", "left", "right", "proof", "witness", "relation", "shares",
    "within", "given", "share",
    "numbers", "gauge", "tangents", "corners",
)  # fmt: skip
_KEYS = {
    "bound": ("value", "multipliers", "weights", "at"),
    "attained": ("value", "point", "slacks"),
    "feasible": ("value", "point", "slacks", "gap"),
    "infimum": (
        "value", "multipliers", "weights", "at", "direction", "shrink", "point", "slacks"
    ),
    "infeasible": ("multipliers", "weights", "excess"),
    "unbounded": ("direction", "point", "slacks"),
    "tangent": ("shares", "value", "point", "within"),
    "box": ("numbers", "gauge", "tangents", "corners", "tree", "within"),
    "curve": ("share", "given", "value", "multipliers", "weights", "point", "slacks"),
}  # fmt: skip


class Altered:
    """A file of one theorem, and those that a cover names, while it is changed."""

    def __init__(self, file: Data, place: int, random: Random) -> None:
        self.random, self.original = random, file
        theorem = file["theorems"][place]
        named = set(leaves(theorem["tree"])) if "tree" in theorem else set()
        kept = [t for t in file["theorems"] if t["name"] in named]
        others = [t for t in file["theorems"] if t["theorem"] == "bound"]
        if theorem["theorem"] == "attained":  # for which a bound makes it an optimum
            kept = [t for t in others if t["value"] == theorem["value"]]
        self.file: Data = copy.deepcopy({**file, "theorems": [*kept, theorem]})
        self.theorem: Data = self.file["theorems"][-1]
        self.others = [t for t in file["theorems"] if t is not theorem]
        self.made: list[str] = []

    def alter(self) -> None:
        """Change one thing, or two."""
        wanted = self.random.choice((1, 1, 1, 2))
        for _ in range(60):
            if len(self.made) == wanted:
                return
            change = self.random.choice(CHANGES)
            with suppress(TypeError, KeyError, AttributeError):  # where nothing is as it was
                if change(self):
                    self.made.append(change.__name__.lstrip("_"))

    def text(self) -> str:
        """The file as text."""
        return json.dumps(self.file)

    # Where things are.

    def section(self) -> Any:
        """A part of the file: of the theorem, mostly."""
        keys = [k for k in _PARTS if k in self.theorem]
        where = self.random.random()
        if where < 0.6:
            return self.theorem[self.random.choice(keys)]
        if where < 0.85 and "problem" in self.file:
            key = self.random.choice(("objective", "constraints", "constraints"))
            return self.file["problem"][key]
        if where < 0.9:
            return self.file["abbreviations"]
        if where < 0.93:
            return self.file["domain"]
        return self.random.choice(self.file["theorems"])["region"]

    def one(self, kind: Callable[[Any], bool]) -> Any:
        """Something of a kind in a part of the file, or None."""
        found = [part for part in _within(self.section()) if kind(part)]
        return self.random.choice(found) if found else None

    def names(self) -> list[str]:
        """All names that may stand in a product."""
        found = {b for part in _within(self.file) if _is_product(part) for b in part}
        return sorted({*found, *(a["name"] for a in self.file["abbreviations"]), "2", "NEW"})


def _within(part: Any) -> Iterator[Any]:
    yield part
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for row in inner:
        yield from _within(row)


def _is_product(part: Any) -> bool:
    texts = isinstance(part, dict) and all(isinstance(e, str) for e in part.values())
    apart = {"name", "relation", "theorem", "positive", "coefficient", "tangent"}
    return texts and not apart & set(part)


def _is_term(part: Any) -> bool:
    return isinstance(part, dict) and ("coefficient" in part or "product" in part)


def _is_condition(part: Any) -> bool:
    return isinstance(part, dict) and "relation" in part and "terms" in part


def _is_list(part: Any) -> bool:
    return isinstance(part, list) and bool(part)


# Changes. Each says whether it found something to change.


def _an_exponent(a: Altered) -> bool:
    product = a.one(lambda p: _is_product(p) and bool(p))
    if product is None:
        return False
    base = a.random.choice(sorted(product))
    other = a.random.choice([*a.file["exponents"], *product.values()])
    product[base] = a.random.choice(_TEXTS).format(product[base], other)
    return True


def _a_coefficient(a: Altered) -> bool:
    term = a.one(_is_term)
    if term is None:
        return False
    other = a.random.choice([*a.file["exponents"], "2"])
    term["coefficient"] = a.random.choice(_TEXTS).format(term.get("coefficient", "1"), other)
    return True


def _a_name(a: Altered) -> bool:
    product = a.one(lambda p: _is_product(p) and bool(p))
    if product is None:
        return False
    base = a.random.choice(sorted(product))
    product[a.random.choice(a.names())] = product.pop(base)
    return True


def _a_number(a: Altered) -> bool:
    """Scale a product by a number: a constraint or a condition, made looser or tighter."""
    product = a.one(_is_product)
    if product is None:
        return False
    product[a.random.choice(_NUMBERS)] = a.random.choice(("1", "-1", "1/2", f"1/{10**12}"))
    return True


def _a_factor(a: Altered) -> bool:
    product = a.one(_is_product)
    if product is None:
        return False
    if product and a.random.random() < 0.5:
        del product[a.random.choice(sorted(product))]
    else:
        product[a.random.choice(a.names())] = a.random.choice(("1", "-1", "1/2"))
    return True


def _less(a: Altered) -> bool:
    """Drop a term, a weight, a condition, a constraint, a summand."""
    rows = a.one(_is_list)
    if rows is None:
        return False
    del rows[a.random.randrange(len(rows))]
    return True


def _more(a: Altered) -> bool:
    rows = a.one(_is_list)
    if rows is None:
        return False
    row = copy.deepcopy(a.random.choice(rows))
    if isinstance(row, dict) and "name" in row:
        row["name"] += "'"
    rows.insert(a.random.randrange(len(rows) + 1), row)
    return True


def _order(a: Altered) -> bool:
    rows = a.one(lambda p: isinstance(p, list) and len(p) > 1)
    if rows is None:
        return False
    j, k = a.random.sample(range(len(rows)), 2)
    if _is_condition(rows[j]) and _is_condition(rows[k]):
        rows[j]["terms"], rows[k]["terms"] = rows[k]["terms"], rows[j]["terms"]
    else:
        rows[j], rows[k] = rows[k], rows[j]
    return True


def _a_weight(a: Altered) -> bool:
    rows = a.one(lambda p: isinstance(p, list) and bool(p) and all(map(_is_weight, p)))
    if rows is None:
        return False
    k = a.random.randrange(len(rows))
    rows[k] = None if a.random.random() < 0.5 else {"2": "-1"}
    return True


def _is_weight(part: Any) -> bool:
    return part is None or _is_product(part)


def _a_share(a: Altered) -> bool:
    """Other shares, or what is within less or more."""
    if "within" not in a.theorem:
        return False
    lists = [p for p in _within(a.theorem) if _is_list(p) and all(isinstance(s, str) for s in p)]
    if not lists or a.random.random() < 0.2:
        a.theorem["within"] = a.random.choice(("0", "1/1000", "1/10", f"1/{10**12}"))
        return True
    rows = a.random.choice(lists)
    j, k = (a.random.randrange(len(rows)) for _ in range(2))
    if a.random.random() < 0.5:
        rows[j], rows[k] = rows[k], rows[j]
    else:
        rows[j] = a.random.choice(("0", "1", "-1", "1/2", "1/3", "7/12", f"1/{10**12}"))
    return True


def _a_relation(a: Altered) -> bool:
    row = a.one(lambda p: isinstance(p, dict) and p.get("relation") in _RELATIONS)
    if row is None:
        return False
    row["relation"] = a.random.choice(_RELATIONS[row["relation"]])
    return True


def _a_sense(a: Altered) -> bool:
    if "problem" in a.file:
        a.file["problem"]["sense"] = a.random.choice(_SENSES)
    return "problem" in a.file


def _a_kind(a: Altered) -> bool:
    """Another kind of theorem from what two of them show."""
    kind = a.random.choice(sorted(_KEYS))
    other = a.random.choice(a.others) if a.others else {}
    given: Data = {
        "multipliers": {}, "slacks": {}, "excess": {}, "gap": [], "direction": {}, "point": {},
        "shares": {}, "within": "1/10",
    }  # fmt: skip
    kept = {k: v for k, v in a.theorem.items() if k in ("name", "region", "witness")}
    for key in _KEYS[kind]:
        for source in (a.theorem, other, given):
            if key in source:
                kept[key] = copy.deepcopy(source[key])
                break
    a.theorem.clear()
    a.theorem.update(kept, theorem=kind)
    return True


def _from_another(a: Altered) -> bool:
    """A part as another theorem has it."""
    if not a.others:
        return False
    other = a.random.choice(a.others)
    keys = [k for k in _PARTS if k in other and k in a.theorem]
    key = a.random.choice(keys)
    a.theorem[key] = copy.deepcopy(other[key])
    return True


def _an_interval(a: Altered) -> bool:
    exponents = a.file["exponents"]
    if "share" in a.theorem:
        key = a.random.choice(("from", "to"))
        a.theorem["share"][key] = a.random.choice(("0", "1/3", "1/2", "3/4", "1", "2", "9/10"))
        return True
    if not exponents:
        return False
    name = a.random.choice(sorted(exponents))
    ends = a.random.choice(("0", "1", "1/2", "2", "-1", None, "1/3"))
    exponents[name][a.random.randrange(2)] = ends
    return True


def _domain(a: Altered) -> bool:
    """Assume more in the domain."""
    name, other = a.random.sample(a.names(), 2)
    terms = [{"product": {name: "1"}}, {"coefficient": "-1", "product": {other: "1"}}]
    relation = a.random.choice((">=", ">", "=="))
    a.file["domain"].append({"name": "more", "relation": relation, "terms": terms})
    return True


def _a_witness(a: Altered) -> bool:
    witness = a.theorem["witness"]
    if not witness:
        return False
    name = a.random.choice(sorted(witness))
    witness[name] = a.random.choice(("1", "2", "1/3", "0", "-1", "7/5", str(10**20)))
    return True


def _everywhere(a: Altered) -> bool:
    """A name in place of another, wherever it stands."""
    names = [n for n in a.names() if not n.isdigit()]
    old, new = a.random.sample(names, 2)
    for part in _within(a.file):
        if _is_product(part) and old in part:
            part[new] = part.pop(old)
    return True


def _looser(a: Altered) -> bool:
    """A constraint scaled, and the value with it."""
    if "problem" not in a.file or "value" not in a.theorem or not a.file["problem"]["constraints"]:
        return False
    constraint = a.random.choice(a.file["problem"]["constraints"])
    e = a.random.choice(("1", "-1"))
    for t in constraint["terms"]:
        t["7"] = e
    a.theorem["value"]["7"] = a.random.choice(("1", "-1", "1/2", "2", "-2", "-1/2"))
    return True


def _times(a: Altered) -> bool:
    """Other conditions, or powers of them, in a proof."""
    rows = a.one(lambda p: isinstance(p, dict) and isinstance(p.get("times"), dict))
    if rows is None:
        return False
    names = [c["name"] for c in (*a.theorem["region"], *a.file["domain"]) if "name" in c]
    if rows["times"] and a.random.random() < 0.6:
        del rows["times"][a.random.choice(sorted(rows["times"]))]
    if names and a.random.random() < 0.8:
        rows["times"][a.random.choice(names)] = a.random.choice((1, 1, 2))
    return True


def _a_power(a: Altered) -> bool:
    """Other conditions in the powers that show a slack."""
    names = [c["name"] for c in (*a.theorem["region"], *a.file["domain"]) if "name" in c]
    keys = [k for k in ("slacks", "excess", "multipliers") if a.theorem.get(k)]
    if not keys:
        return False
    rows = a.theorem[a.random.choice(keys)]
    key = a.random.choice(sorted(rows))
    if isinstance(rows[key], dict) and "value" not in rows[key] and names:
        rows[key][a.random.choice(names)] = a.random.choice(("1", "-1", "1/2", "2"))
    elif a.random.random() < 0.5:
        del rows[key]
    return True


def _tree(a: Altered) -> bool:
    """Leaves swapped, splits changed, proofs of other conditions."""
    rows = [p for p in _within(a.theorem.get("tree", {})) if isinstance(p, dict)]
    keys = {"yes", "theorem", "cases", "contradiction", "below", "tangent"}
    inner = [r for r in rows if keys & set(r)]
    if not inner:
        return False
    row = a.random.choice(inner)
    if "yes" in row:
        row["yes"], row["no"] = row["no"], row["yes"]
    elif "below" in row:
        if a.random.random() < 0.5:
            row["below"], row["above"] = row["above"], row["below"]
        else:
            row["at"] = a.random.choice(("1/2", "1/3", "2/3", "1/4", "0", "1"))
    elif "tangent" in row:
        row["tangent"] = a.random.choice(a.theorem["tangents"])["name"]
    elif "cases" in row:
        a.random.shuffle(row["cases"])
    elif "theorem" in row:
        names = [t["name"] for t in a.file["theorems"]]
        if a.random.random() < 0.5:
            row["theorem"] = a.random.choice(names)
        else:
            row["proofs"] = {}
    else:
        row["contradiction"] = a.random.choice(({}, []))
    return True


CHANGES: tuple[Change, ...] = (
    _an_exponent, _an_exponent, _a_coefficient, _a_name, _a_number, _a_number, _a_factor, _less,
    _less, _more, _order, _a_weight, _a_share, _a_relation, _a_sense, _a_kind, _from_another,
    _an_interval, _domain, _a_witness, _everywhere, _looser, _times, _a_power, _tree,
)  # fmt: skip
