"""A second judge of theorems: at sampled parameters, by numbers and numerical optima.

It reads certificate files by itself, in floating point, and shares nothing with the kernel.
It finds what is false at some sampled parameters; it shows nothing to be true.
"""

import ast
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from convex import Optimum, Program, least

Data = dict[str, Any]

_MARGIN = 1e-5  # of a condition's largest term; what is nearer to the edge is left to exactness
_CLOSE = 1e-9
_OPTIMAL = 2e-6  # of the numerical optimum's logarithm


class UndefinedError(Exception):
    """An abbreviation is not positive, or an exponent divides by zero."""


@lru_cache(maxsize=100_000)
def _tree(text: str) -> ast.expr:
    return ast.parse(text.strip().replace("^", "**"), mode="eval").body


def exponent(text: str, symbols: Mapping[str, float]) -> float:
    """The value of an exponent."""
    return _value(_tree(text), symbols)


def _value(node: ast.expr, symbols: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant):
        return node.value  # type: ignore[return-value]  # a whole number
    if isinstance(node, ast.Name):
        return symbols[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, symbols)
    assert isinstance(node, ast.BinOp)
    left, right = _value(node.left, symbols), _value(node.right, symbols)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Pow):
        return left**right
    if right == 0:
        raise UndefinedError
    return left / right


@dataclass
class Place:
    """Logarithms of the parameters, numbers for the exponent symbols."""

    file: Data
    logs: dict[str, float]
    symbols: dict[str, float]

    def __post_init__(self) -> None:
        self._sums = {a["name"]: a["terms"] for a in self.file["abbreviations"]}
        self._known: dict[str, float] = {}

    def log(self, base: str) -> float:
        """The logarithm of a base."""
        if base in self._sums:
            if base not in self._known:
                share, scale = self.sum(self._sums[base])
                if share < _CLOSE:
                    raise UndefinedError
                self._known[base] = math.log(share) + scale
            return self._known[base]
        if base in self.symbols:
            if self.symbols[base] <= 0:
                raise UndefinedError
            return math.log(self.symbols[base])
        return math.log(int(base)) if base.isdigit() else self.logs[base]

    def product(self, product: Data) -> float:
        """The logarithm of a product."""
        return sum(exponent(e, self.symbols) * self.log(b) for b, e in product.items())

    def value(self, data: Data | str) -> float:
        """The logarithm of a product or a number."""
        return math.log(_rational(data)) if isinstance(data, str) else self.product(data)

    def sum(self, terms: list[Data]) -> tuple[float, float]:
        """A sum's share of its largest term, and the logarithm of that term."""
        parts = []
        for t in terms:
            c = exponent(t.get("coefficient", "1"), self.symbols)
            if c:
                parts.append((c, math.log(abs(c)) + self.product(t.get("product", {}))))
        if not parts:
            return 0.0, 0.0
        scale = max(size for _, size in parts)
        return sum(math.copysign(math.exp(s - scale), c) for c, s in parts), scale

    def margin(self, conditions: list[Data]) -> float:
        """By how much all conditions hold, below 0 if one fails; equalities apart."""
        found = 1.0
        for row in conditions:
            if "positive" in row:
                self.log(row["positive"])
            elif row["relation"] != "==":
                found = min(found, self.sum(row["terms"])[0])
        return found

    def equal(self, conditions: list[Data]) -> list[float]:
        """By how much the equalities fail."""
        rows = [r for r in conditions if r.get("relation") == "=="]
        return [self.sum(r["terms"])[0] for r in rows]

    def inside(self, conditions: list[Data], margin: float) -> bool:
        """Whether all conditions hold."""
        try:
            if any(abs(v) > _CLOSE for v in self.equal(conditions)):
                return False
            return self.margin(conditions) >= margin
        except (UndefinedError, OverflowError):
            return False


def names_in(data: Any, names: set[str]) -> None:
    """Collect the bases of all products."""
    if isinstance(data, list):
        for row in data:
            names_in(row, names)
    elif isinstance(data, dict):
        for key, row in data.items():
            if isinstance(row, str) and key.isidentifier():
                names.add(key)
            else:
                names_in(row, names)


_KEYS = {
    "name", "relation", "coefficient", "theorem", "sense", "format", "title", "positive", "within",
    "from", "to", "number", "at", "tangent",
}  # fmt: skip
_PROOF = {
    "multipliers", "weights", "at", "slacks", "gap", "proof", "proofs", "witness", "excess",
    "contradiction", "title", "shares", "corners", "gauge",
}  # fmt: skip


class Region:
    """The parameters of which a theorem speaks, sampled around its witness."""

    def __init__(self, file: Data, theorem: Data, random: Random) -> None:
        self.file, self.random = file, random
        self.conditions = [*file["domain"], *theorem["region"], *_interval(theorem)]
        names: set[str] = set()
        names_in(file, names)
        self.symbols = set(file["exponents"])
        apart = {a["name"] for a in file["abbreviations"]} | self.symbols | _KEYS
        apart |= set(file.get("problem", {}).get("variables", ()))
        self.names = sorted(names - apart)
        witness = {n: _rational(v) for n, v in theorem["witness"].items()}
        self.start = np.array([math.log(witness.get(n, 1.0)) for n in self.names])
        self.witness = witness

    def _place(self, logs: np.ndarray, symbols: dict[str, float]) -> Place:
        return Place(self.file, dict(zip(self.names, logs.tolist(), strict=True)), symbols)

    def places(self, count: int) -> Iterator[Place]:
        """The witness, then places within and near the edge."""
        given = {s: self.witness[s] for s in self.symbols}
        yield self._place(self.start, given)
        for k in range(count):
            yield from self._ray(given if k % 2 else self._symbols())

    def _symbols(self) -> dict[str, float]:
        found = {}
        for s, (low, high) in self.file["exponents"].items():
            start = self.witness[s]
            a = start - self.random.expovariate(0.3) if low is None else _rational(low)
            b = start + self.random.expovariate(0.3) if high is None else _rational(high)
            share = self.random.choice((self.random.random(), 0.02, 0.98))
            found[s] = a + (b - a) * share
        return found

    def _ray(self, symbols: dict[str, float]) -> Iterator[Place]:
        """Go from the witness along a ray; stop somewhere within, and before the edge."""
        start = self._projected(self.start, symbols)
        if start is None:
            return
        share = self.random.choice((0.15, 0.4, 1.0))
        ray = np.array([
            self.random.gauss(0, 1) if self.random.random() < share else 0.0 for _ in self.names
        ])  # fmt: skip
        ray *= self.random.choice((0.1, 1.0, 5.0))
        last, edge = 0.0, None
        for step in (0.25, 0.5, 1.0, 2.0, 4.0):
            if self._at(start, ray, step, symbols) is None:
                edge = step
                break
            last = step
        if found := self._at(start, ray, last * self.random.random(), symbols):
            yield found
        if edge is not None:
            for _ in range(20):
                middle = (last + edge) / 2
                if self._at(start, ray, middle, symbols) is None:
                    edge = middle
                else:
                    last = middle
            if last and (found := self._at(start, ray, last, symbols)):
                yield found

    def _at(
        self, start: np.ndarray, ray: np.ndarray, step: float, symbols: dict[str, float]
    ) -> Place | None:
        logs = self._projected(start + step * ray, symbols)
        if logs is None:
            return None
        place = self._place(logs, symbols)
        return place if place.inside(self.conditions, _MARGIN) else None

    def _projected(self, logs: np.ndarray, symbols: dict[str, float]) -> np.ndarray | None:
        """The nearest place at which the equalities hold."""
        if not any(c.get("relation") == "==" for c in self.conditions):
            return logs
        try:
            for _ in range(30):
                off = np.array(self._place(logs, symbols).equal(self.conditions))
                if np.abs(off).max() < 1e-13:
                    return logs
                slopes = np.array([
                    np.array(self._place(logs + 1e-6 * unit, symbols).equal(self.conditions)) - off
                    for unit in np.eye(len(logs))
                ]).T / 1e-6  # fmt: skip
                logs = logs - np.linalg.pinv(slopes, rcond=1e-8) @ off
        except (UndefinedError, OverflowError, np.linalg.LinAlgError):
            return None
        off = np.array(self._place(logs, symbols).equal(self.conditions))
        return logs if np.abs(off).max() < _CLOSE else None


def _interval(theorem: Data) -> list[Data]:
    """The conditions that a curve's share lies within its interval."""
    if "share" not in theorem:
        return []
    share = {"product": {theorem["share"]["name"]: "1"}}
    low, high = theorem["share"]["from"], theorem["share"]["to"]
    return [
        {"relation": ">", "terms": [share, {"coefficient": f"-({low})"}]},
        {"relation": ">", "terms": [{"coefficient": high}, {**share, "coefficient": "-1"}]},
    ]


def _rational(text: str) -> float:
    above, _, below = text.partition("/")
    return int(above) / int(below or "1")


def statement(file: Data, theorem: Data, text: str) -> str:
    """What a theorem says, without what proves it: one text for the same statement."""
    about = {k: v for k, v in file.items() if k != "theorems"}
    named = file["theorems"] if theorem["theorem"] == "cover" else []
    at = theorem["witness"].items() if theorem["theorem"] == "tangent" else ()
    return json.dumps(_bare([about, theorem, named, [*at], "which is the optimum" in text]))


def _bare(data: Any) -> Any:
    if isinstance(data, list):
        return [_bare(row) for row in data]
    if isinstance(data, dict):
        return {k: _bare(row) for k, row in sorted(data.items()) if k not in _PROOF}
    return data


# What is true at a place.


def program_at(problem: Data, place: Place) -> Program:
    """The problem at a place, in logarithms of its variables."""
    variables = problem["variables"]

    def rows(terms: list[Data], side: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        powers, constants = [], []
        for t in terms:
            e = {b: exponent(x, place.symbols) for b, x in t.items()}
            powers.append([side * e.get(x, 0.0) for x in variables])
            constants.append(side * sum(
                f * place.log(b) for b, f in e.items() if b not in variables
            ))  # fmt: skip
        return np.array(powers, dtype=float), np.array(constants, dtype=float)

    cost = rows(problem["objective"], -1.0 if problem["sense"] == "maximize" else 1.0)
    constraints = problem["constraints"]
    return Program(
        cost,
        [rows(c["terms"]) for c in constraints if c["relation"] == "<="],
        [rows(c["terms"]) for c in constraints if c["relation"] == "=="],
    )


class Judge:
    """What is false about a theorem, "" if nothing was found."""

    def __init__(self, file: Data, theorem: Data, text: str, seed: int = 0) -> None:
        self.file, self.theorem, self.text = file, theorem, text
        self.random = Random(seed)
        self.region = Region(file, theorem, self.random)
        self.abbreviations = [r["positive"] for r in theorem["region"] if "positive" in r]
        self.places = 0

    def fault(self, count: int = 4) -> str:
        """What is false at one of the sampled places."""
        test = getattr(self, "_" + self.theorem["theorem"])
        for place in self.region.places(count):
            self.places += 1
            try:
                found = test(place)
            except UndefinedError:
                found = "an abbreviation is not positive, or an exponent is undefined"
            if found:
                where = {n: math.exp(v) for n, v in place.logs.items()} | place.symbols
                return f"{found} at {json.dumps(where)}"
        return ""

    def _optimum(self, place: Place, reach: float = 60.0, at: Any = None) -> Optimum:
        return least(program_at(self.file["problem"], place), reach, at)

    def _cost(self, place: Place) -> float:
        value = place.product(self.theorem["value"])
        return value if self.file["problem"]["sense"] == "minimize" else -value

    def _bound(self, place: Place) -> str:
        found = self._optimum(place)
        if found.feasible and found.cost < self._cost(place) - _OPTIMAL - found.error:
            return f"a point is better by {self._cost(place) - found.cost:.3g}"
        return ""

    def _moved(self, place: Place, *directions: tuple[str, float]) -> np.ndarray:
        variables = self.file["problem"]["variables"]
        point = np.array([place.value(self.theorem["point"][x]) for x in variables])
        for key, size in directions:
            given = self.theorem.get(key, {})
            ray = [exponent(given.get(x, "0"), place.symbols) for x in variables]
            point = point + size * np.array(ray, dtype=float)
        return point

    def _feasible_point(self, place: Place) -> str:
        program = program_at(self.file["problem"], place)
        point = self._moved(place)
        off = program.violation(point) - 1e-14 * (1 + float(np.abs(point).max()))
        if off > _CLOSE:
            return f"the point violates a constraint by {off:.3g}"
        return ""

    def _attained(self, place: Place) -> str:
        if found := self._feasible_point(place):
            return found
        program = program_at(self.file["problem"], place)
        off = program.cost_at(self._moved(place)) - self._cost(place)
        if abs(off) > 1e-8:
            return f"the point's value is another, by {off:.3g}"
        return self._bound(place) if "which is the optimum" in self.text else ""

    def _feasible(self, place: Place) -> str:
        if found := self._feasible_point(place):
            return found
        off = program_at(self.file["problem"], place).cost_at(self._moved(place))
        if off > self._cost(place) + 1e-8:
            return f"the point is worse than the value, by {off - self._cost(place):.3g}"
        return ""

    def _tangent(self, place: Place) -> str:
        if self.places == 1:  # the witness
            if found := self._feasible_point(place):
                return found
            off = program_at(self.file["problem"], place).cost_at(self._moved(place))
            off -= self._cost(place) + math.log1p(_rational(self.theorem["within"]))
            if off > 1e-8:
                return f"the point is farther from the value, by {off:.3g}"
        return self._bound(place)

    def _curve(self, place: Place) -> str:
        ((parameter, given),) = self.theorem["given"].items()
        place.logs[parameter] = place.product(given)
        if found := self._attained(place) or self._bound(place):
            return found
        return self._reached(place, parameter) if " for every " in self.text else ""

    def _reached(self, place: Place, parameter: str) -> str:
        """Whether the parameter takes values that are said to be taken."""
        share, given = self.theorem["share"], self.theorem["given"][parameter]
        low, high = (_rational(share[key]) for key in ("from", "to"))
        values = []
        for part in (1e-8, 1e-5, 0.5, 1 - 1e-5, 1 - 1e-8):
            logs = {**place.logs, share["name"]: math.log(low + (high - low) * part)}
            values.append(Place(self.file, logs, place.symbols).product(given))
        ends = [values[0], values[-1]]
        for k, inner in ((0, values[1]), (1, values[3])):
            if abs(ends[k] - inner) > 1e-3:  # it does not end there
                ends[k] = math.copysign(math.inf, ends[k] - inner)
        said = self.text.split(" for every ")[1].split(" there is ")[0].split(", ")
        for wanted in (values[2] + self.random.gauss(0, 2) for _ in range(8)):
            known = {n: math.exp(v) for n, v in place.logs.items()} | place.symbols
            known |= {a: math.exp(place.log(a)) for a in self.abbreviations}
            known[parameter] = math.exp(wanted)
            sides = [[exponent(side, known) for side in s.split(" > ")] for s in said]
            if all(left > right * (1 + 1e-6) for left, right in sides) and not (
                min(ends) < wanted < max(ends)
            ):
                return f"{parameter} does not become {known[parameter]:.6g}"
        return ""

    def _box(self, place: Place) -> str:
        numbers = self.theorem["numbers"]
        found = self._over_tangents(place)
        if found or any(b in self.abbreviations for n in numbers for b in n["product"]):
            return found
        names = list(place.logs)
        powers = np.array([
            [exponent(n["product"].get(name, "0"), place.symbols) for name in names]
            for n in numbers
        ])  # fmt: skip
        ranges = [[math.log(_rational(n[key])) for key in ("from", "to")] for n in numbers]
        wanted = [self.random.uniform(*ends) for ends in ranges]
        off = [w - place.product(n["product"]) for w, n in zip(wanted, numbers, strict=True)]
        step = np.linalg.lstsq(powers, np.array(off), rcond=None)[0]
        moved = {n: place.logs[n] + s for n, s in zip(names, step.tolist(), strict=True)}
        within = Place(self.file, moved, place.symbols)
        return self._over_tangents(within) if within.inside(self.region.conditions, 0.0) else ""

    def _over_tangents(self, place: Place) -> str:
        """Compare the optimum with the tangents, and within the box with the nearest of them."""
        side = 1 if self.file["problem"]["sense"] == "minimize" else -1
        values = [side * place.product(t["value"]) for t in self.theorem["tangents"]]
        found = self._optimum(place)
        if found.feasible and found.cost < max(values) - _OPTIMAL - found.error:
            return f"a point is better by {max(values) - found.cost:.3g}"
        for n in self.theorem["numbers"]:
            low, high = (math.log(_rational(n[key])) for key in ("from", "to"))
            if not low - _CLOSE <= place.product(n["product"]) <= high + _CLOSE:
                return ""
        most = max(values) + math.log1p(_rational(self.theorem["within"]))
        program, point = program_at(self.file["problem"], place), self._mean_point(place)
        if program.violation(point) < _CLOSE and program.cost_at(point) < most + _CLOSE:
            return ""
        if not found.feasible:
            return "no point is feasible"
        off = found.cost - most
        return f"no point is as near, by {off:.3g}" if off > _OPTIMAL + found.error else ""

    def _mean_point(self, place: Place) -> np.ndarray:
        """The mean of the points at the corners around a place in a box, in logarithms."""
        numbers, tree = self.theorem["numbers"], self.theorem["tree"]
        at, ends = {}, {n["name"]: ["0", "1"] for n in numbers}
        for n in numbers:
            low, high = (math.log(_rational(n[key])) for key in ("from", "to"))
            at[n["name"]] = (place.product(n["product"]) - low) / (high - low)
        while "number" in tree:
            above = at[tree["number"]] > _rational(tree["at"])
            ends[tree["number"]][1 - above] = tree["at"]
            tree = tree["above" if above else "below"]
        point = np.zeros(len(self.file["problem"]["variables"]))
        for corner in self.theorem["corners"]:
            weight = 1.0
            for (start, end), u, here in zip(ends.values(), at.values(), corner["at"], strict=True):
                share = (u - _rational(start)) / (_rational(end) - _rational(start))
                weight *= {start: 1 - share, end: share}.get(here, 0.0)
            point += weight * np.array([
                place.value(corner["point"][x]) + place.product(self.theorem["gauge"][x])
                for x in self.file["problem"]["variables"]
            ])  # fmt: skip
        return point

    def _infimum(self, place: Place) -> str:
        if found := self._bound(place):
            return found
        program, wanted = program_at(self.file["problem"], place), self._cost(place)
        near = math.inf
        for far in (3.0, 30.0, 300.0, 3000.0, 3e4, 3e5):
            for back in (0.0, -1e-2, -1e-4, -1e-6):
                point = self._moved(place, ("direction", far), ("shrink", back))
                if program.violation(point) <= 1e-13 * (1e4 + float(np.abs(point).max())):
                    near = min(near, program.cost_at(point) - wanted)
        if near > 1e-3:
            return f"along the direction it comes no closer than {near:.3g}"
        point = self._moved(place)
        sizes = [point, program.cost[1], *(c for _, c in program.constraints)]
        if max(float(np.abs(size).max()) for size in sizes) > 5:
            return ""  # what falls to 0 may be less than numbers tell
        close = self._optimum(place, 1.0, point)
        if close.feasible and close.cost < wanted + _CLOSE:
            return f"it is attained, or nearly: {close.cost - wanted:.3g}"
        return ""

    def _infeasible(self, place: Place) -> str:
        found = self._optimum(place)
        if found.feasible and found.violation < 1e-8:
            return "a point is feasible"
        return ""

    def _unbounded(self, place: Place) -> str:
        program, last = program_at(self.file["problem"], place), math.inf
        for far in (0.0, 1.0, 30.0, 1e3, 1e5):
            point = self._moved(place, ("direction", far))
            off = program.violation(point) - 1e-13 * (1 + float(np.abs(point).max()))
            if off > _CLOSE:
                return f"the constraints fail along the direction by {off:.3g}"
            cost = program.cost_at(point)
            if cost >= last:
                return "the objective does not go on"
            last = cost
        return ""

    def _cover(self, place: Place) -> str:
        known = {t["name"]: t for t in self.file["theorems"]}
        for name in leaves(self.theorem["tree"]):
            if place.inside(known[name]["region"], -_CLOSE):
                return ""
        return "none of the theorems applies"

    def _identity(self, place: Place) -> str:
        off = place.sum(self._difference())[0]
        return f"the sides differ by {off:.3g}" if abs(off) > 1e-8 else ""

    def _inequality(self, place: Place) -> str:
        off = place.sum(self._difference())[0]
        return f"it fails by {off:.3g}" if off < -_CLOSE else ""

    def _difference(self) -> list[Data]:
        minus = [
            {**t, "coefficient": f"-({t.get('coefficient', '1')})"} for t in self.theorem["right"]
        ]
        return [*self.theorem["left"], *minus]


def leaves(tree: Data) -> Iterator[str]:
    """The theorems in the leaves of a cover."""
    if "theorem" in tree:
        yield tree["theorem"]
    for inner in (tree.get("yes"), tree.get("no"), *tree.get("cases", ())):
        if inner:
            yield from leaves(inner)
