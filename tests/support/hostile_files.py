"""Certificate files that ask for more work or depth than a checker should give."""

import json
from collections.abc import Callable
from typing import Any


def product_of(**changes: Any) -> dict[str, Any]:
    """The greatest T <= C, as a file of version 2."""
    certificate = {
        "piece": "p", "sense": "maximize", "objective": {"T": "1"}, "variables": ["T"],
        "constraints": [{"name": "a", "relation": "<=", "ratio": {"T": "1", "C": "-1"}}],
        "at_least_one": [], "exponents": {}, "bound": {"C": "1"}, "multipliers": {"a": "1"},
        "point": {"T": {"C": "1"}}, "conditions": [], "witness": {"C": "1"},
    }  # fmt: skip
    return {
        "format": "symscale-certificate", "version": 2, "title": "x",
        "certificates": [{**certificate, **changes}],
    }


def sums_of(**changes: Any) -> dict[str, Any]:
    """The least T >= C, as a file of version 2 of the kind sums."""
    return product_of(**{
        "kind": "sums", "sense": "minimize", "objective": [{"T": "1"}], "weights": {},
        "constraints": [{"name": "a", "relation": "<=", "terms": [{"C": "1", "T": "-1"}]}],
        "multipliers": {"a": [{"coefficient": "1", "monomial": {}}]}, **changes,
    })  # fmt: skip


def theorems_of(*theorems: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The greatest T <= C, as a file of version 3."""
    bound = {
        "theorem": "bound", "name": "b", "region": [], "value": {"C": "1"},
        "multipliers": {"a": {"value": [{}]}}, "witness": {"C": "1"},
    }  # fmt: skip
    problem = {
        "sense": "maximize", "variables": ["T"], "objective": [{"T": "1"}],
        "constraints": [{"name": "a", "relation": "<=", "terms": [{"T": "1", "C": "-1"}]}],
    }  # fmt: skip
    return {
        "format": "symscale-certificate", "version": 3, "title": "x", "exponents": {},
        "domain": [], "abbreviations": [], "problem": problem,
        "theorems": list(theorems) or [bound], **changes,
    }  # fmt: skip


def identity(left: Any, **witness: str) -> dict[str, Any]:
    """The claim that a sum is zero."""
    return {
        "theorem": "identity", "name": "i", "region": [], "witness": witness, "left": left,
        "right": [],
    }  # fmt: skip


_MANY = 30_000
_NAMES = [f"v{k}" for k in range(30)]
_ONES = dict.fromkeys(_NAMES, "1")
_DIGITS = "9" * 100_000
_SUM = " + ".join(_NAMES)
_NESTED = "(" * 10_000 + "C" + ")" * 10_000


def _rows(key: str, terms: Any) -> list[dict[str, Any]]:
    return [{"name": f"c{k}", "relation": "<=", key: terms} for k in range(_MANY)]


def _abbreviated(name: str, terms: Any, uses: Any, **witness: str) -> dict[str, Any]:
    claim = {
        **identity([{"product": uses}, {"coefficient": "-1"}], **witness),
        "region": [{"positive": name, "proof": terms}],
    }
    return theorems_of(claim, abbreviations=[{"name": name, "terms": terms}])


def _deep(text: str) -> str:
    return json.dumps(theorems_of(title="DEEP")).replace('"DEEP"', text)


_POWERS = [{"product": {n: "1"}} for n in _NAMES]

HOSTILE: dict[str, Callable[[], Any]] = {
    "v2 constraints": lambda: product_of(constraints=_rows("ratio", {"T": "1"})),
    "v2 sums constraints": lambda: sums_of(constraints=_rows("terms", [{"T": "1"}])),
    "v2 degree 997": lambda: product_of(
        exponents={"al": ["0", "1"]}, bound={"C": "al**997 - al + 1"},
        witness={"C": "1", "al": "1/2"},
    ),
    "v2 degree by products": lambda: product_of(
        exponents={"al": ["0", "1"]}, bound={"C": "*".join(["(al**20 + 1/3)"] * 40)},
        witness={"C": "1", "al": "1/2"},
    ),
    "v2 thirty names": lambda: sums_of(
        multipliers={"a": [{"coefficient": "1", "monomial": {f"({_SUM})**15": "1"}}]},
        witness={"C": "1", **_ONES},
    ),
    "v2 thirty names, an atom": lambda: sums_of(
        multipliers={"a": [{"coefficient": "1", "monomial": {_SUM: "15"}}]},
        witness={"C": "1", **_ONES},
    ),
    "v2 powers of powers": lambda: product_of(bound={f"((({_SUM})**4)**4)**4": "1"}),
    "v2 nested atom": lambda: product_of(bound={_NESTED: "1"}),
    "v2 nested exponent": lambda: product_of(bound={"C": _NESTED.replace("C", "1")}),
    "v2 nested roots": lambda: product_of(bound={"sqrt(1 + " * 19 + "C" + ")" * 19: "1"}),
    "v2 nested JSON": lambda: '{"format": "symscale-certificate", "version": 2, "title": '
    + "[" * 10_000 + "]" * 10_000 + "}",
    "v2 two megabytes": lambda: product_of(bound={"C" * 1_900_000: "1"}),
    "v2 too large": lambda: product_of(bound={"C" * 2_100_000: "1"}),
    "v2 two megabytes of certificates": lambda: {
        **product_of(), "certificates": product_of()["certificates"] * 5500
    },
    "v2 hundred slow certificates": lambda: {
        **product_of(), "certificates": sums_of(
            multipliers={"a": [{"coefficient": "1", "monomial": {_SUM: "15"}}]},
            witness={"C": "1", **_ONES},
        )["certificates"] * 100,
    },
    "v2 two megabytes of atoms": lambda: product_of(
        bound={f"C + {k}": "1" for k in range(60_000)}
    ),
    "v2 many sums in one product": lambda: product_of(
        bound={f"C + {k}": "1" for k in range(1, 400)}
    ),
    "v2 huge number": lambda: product_of(bound={_DIGITS: "1"}),
    "v2 huge exponent": lambda: product_of(bound={"C": _DIGITS}),
    "v2 huge witness": lambda: product_of(witness={"C": _DIGITS}),
    "v2 huge power": lambda: product_of(bound={"C": "1", "3": "9" * 50}),
    "v2 huge version": lambda: json.dumps(product_of()).replace(
        '"version": 2', f'"version": {_DIGITS}'
    ),
    "v2 tower": lambda: product_of(bound={"2**2**2**2**2**2**2": "1"}),
    "v2 conditions": lambda: sums_of(
        conditions=[{"left": [{n: "1"}], "right": [{m: "1"}]} for n in _NAMES for m in _NAMES[:6]],
        multipliers={"a": [{"coefficient": "1", "monomial": {}}, *(
            {"coefficient": "-1", "monomial": {n: "2"}} for n in _NAMES[:4]
        )]},
        witness={"C": "1", **_ONES},
    ),
    "v2 search of atoms": lambda: sums_of(
        conditions=[{"left": [{n: "1"}], "right": [{m: "1"}]} for n in _NAMES for m in _NAMES[:6]],
        bound={f"C + {a} + {b} - v3 - v4 - v5 - v6": "1" for a in _NAMES for b in _NAMES[:5]},
        witness={"C": "1", **_ONES},
    ),
    "v3 constraints": lambda: theorems_of(
        problem={**theorems_of()["problem"], "constraints": _rows("terms", [{"T": "1"}])}
    ),
    "v3 theorems": lambda: theorems_of(*[identity([])] * _MANY),
    "v3 degree 997": lambda: theorems_of(
        identity([{"coefficient": "al^997"}], al="1/2"), exponents={"al": ["0", "1"]}
    ),
    "v3 degree by products": lambda: theorems_of(
        identity([{"coefficient": "*".join(["(al^20 + 1/3)"] * 40)}], al="1/2"),
        exponents={"al": ["0", "1"]},
    ),
    "v3 thirty names": lambda: _abbreviated("S", _POWERS, {"S": "15"}, **_ONES),
    "v3 nested exponent": lambda: theorems_of(
        identity([{"coefficient": "(" * 250 + "1" + ")" * 250}])
    ),
    "v3 nested JSON": lambda: _deep("[" * 10_000 + "]" * 10_000),
    "v3 nested objects": lambda: _deep('{"a":' * 10_000 + "1" + "}" * 10_000),
    "v3 two megabytes": lambda: theorems_of(title="x" * 1_990_000),
    "v3 two megabytes of lists": lambda: _deep("[" + ",".join(["[]"] * 600_000) + "]"),
    "v3 two megabytes of objects": lambda: _deep("[" + ",".join(["{}"] * 600_000) + "]"),
    "v3 two megabytes of keys": lambda: _deep(
        "{" + ",".join(f'"k{k}":1' for k in range(130_000)) + "}"
    ),
    "v3 one key again and again": lambda: _deep(
        "{" + ",".join(f'"k{k}":1' for k in range(110_000)) + ',"k0":1}'
    ),
    "v3 a key twice at the end": lambda: _deep(
        "{" + ",".join(f'"k{k}":1' for k in range(110_000)) + ',"z":1,"z":1}'
    ),
    "v3 too large": lambda: theorems_of(title="x" * 2_100_000),
    "v3 huge number": lambda: theorems_of(identity([{"product": {_DIGITS: "1"}}])),
    "v3 huge exponent": lambda: theorems_of(identity([{"coefficient": _DIGITS}])),
    "v3 huge witness": lambda: theorems_of(identity([], C=_DIGITS)),
    "v3 huge version": lambda: json.dumps(theorems_of()).replace(
        '"version": 3', f'"version": {_DIGITS}'
    ),
}  # fmt: skip
"""Files by name: data, or text as it is."""


def text_of(name: str) -> str:
    """The text of a file."""
    data = HOSTILE[name]()
    return data if isinstance(data, str) else json.dumps(data)
