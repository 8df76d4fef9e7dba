"""Certificate files of format 3, written by hand: short ways to say theorems."""

import json
from typing import Any

from symscale.kernel.check import FileVerdict, check

Data = dict[str, Any]
HALF = {"2": "-1"}


def term(product: Data | None = None, coefficient: str = "1") -> Data:
    """A term of a sum."""
    return {"coefficient": coefficient, "product": product or {}}


def at_least(left: str, right: str, relation: str = ">=", name: str = "") -> Data:
    """The condition that one parameter is at least (or above, or equal to) another."""
    terms = [term({left: "1"}), term({right: "1"}, "-1")]
    return {"name": name or f"{left} {relation} {right}", "relation": relation, "terms": terms}


def constraint(name: str, *terms: Data, relation: str = "<=") -> Data:
    """A sum that is at most 1."""
    return {"name": name, "relation": relation, "terms": list(terms)}


def problem(sense: str, variables: str, objective: list[Data], *constraints: Data) -> Data:
    """A problem."""
    return {
        "sense": sense,
        "variables": variables.split(),
        "objective": objective,
        "constraints": list(constraints),
    }


def theorem(kind: str, witness: str, name: str = "it", region: Any = (), **data: Any) -> Data:
    """A theorem; its witness is written as "A=1 B=2"."""
    values = dict(pair.split("=") for pair in witness.split())
    return {"theorem": kind, "name": name, "region": list(region), "witness": values, **data}


def multipliers(**values: str) -> Data:
    """Multipliers that are exponents."""
    return {name: {"value": [{"coefficient": value}]} for name, value in values.items()}


def file(*theorems: Data, about: Data | None = None, **declared: Any) -> Data:
    """A file of theorems."""
    data: Data = {
        "format": "symscale-certificate",
        "version": 3,
        "title": "a file",
        "exponents": {},
        "domain": [],
        "abbreviations": [],
        "theorems": list(theorems),
        **declared,
    }
    return {**data, "problem": about} if about is not None else data


def checked(*theorems: Data, about: Data | None = None, **declared: Any) -> FileVerdict:
    """What the kernel says of a file."""
    return check(json.dumps(file(*theorems, about=about, **declared)))


def reason(*theorems: Data, about: Data | None = None, **declared: Any) -> str:
    """Why the kernel refuses the last theorem of a file, those before it being right."""
    *before, last = checked(*theorems, about=about, **declared).findings
    assert all(f.holds for f in before), before
    assert not last.holds, last.text
    return last.text


def sentence(*theorems: Data, about: Data | None = None, **declared: Any) -> str:
    """What the last theorem of a file says, all of them being right."""
    found = checked(*theorems, about=about, **declared).findings
    assert all(f.holds for f in found), found
    return found[-1].text
