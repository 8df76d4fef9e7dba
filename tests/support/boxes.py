"""Boxes that tangents cover, made by numbers: costs c_1/x_1 + .. + c_n/x_n, x_1 + .. <= m.

The least is (sqrt c_1 + .. + sqrt c_n)^2/m at x_i/m = sqrt c_i/(sqrt c_1 + ..), which are the
shares of the costs too. The numbers are c_1/c_n, .., c_(n-1)/c_n.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

from theorems import constraint, file, problem, theorem

Data = dict[str, Any]
Corner = tuple[Fraction, ...]


def powers(number: Fraction, e: Fraction = Fraction(1)) -> Data:
    """A power of a rational number as a product."""
    found = {str(number.numerator): str(e), str(number.denominator): str(-e)}
    return {b: p for b, p in found.items() if b != "1"}


def shares_at(corner: Corner, reach: int) -> list[float]:
    """The shares at the numbers reach^(2 u - 1)."""
    roots = [reach ** (float(u) - 0.5) for u in corner] + [1.0]
    return [r / sum(roots) for r in roots]


def rounded(parts: list[float], scale: int) -> list[Fraction]:
    """Fractions that add up to 1 at most."""
    return [Fraction(math.floor(p * scale), scale) for p in parts]


class Box:
    """A box in which every number is between 1/reach and reach, while it is covered."""

    def __init__(self, count: int, reach: int, within: Fraction) -> None:
        self.reach, self.within = reach, within
        self.costs = [f"c{k}" for k in range(count)]
        self.corners: dict[Corner, Data] = {}
        self.tangents: list[Data] = []

    def file(self) -> Data:
        """The whole file."""
        names = [f"x{k}" for k in range(len(self.costs))]
        about = problem(
            "minimize", " ".join(names),
            [{c: "1", x: "-1"} for c, x in zip(self.costs, names, strict=True)],
            constraint("in all", *({x: "1", "m": "-1"} for x in names)),
        )  # fmt: skip
        ends = (Fraction(0),) * (len(names) - 1), (Fraction(1),) * (len(names) - 1)
        tree = self._covered(*ends)
        return file(theorem(
            "box", " ".join(f"{c}=1" for c in (*self.costs, "m")), "covered",
            numbers=[
                {"name": f"K{k}", "product": {c: "1", self.costs[-1]: "-1"},
                 "from": f"1/{self.reach}", "to": str(self.reach)}
                for k, c in enumerate(self.costs[:-1])
            ],
            gauge={x: {"m": "1"} for x in names}, tangents=self.tangents, tree=tree,
            corners=[
                {"at": [str(u) for u in at], "point": point} for at, point in self.corners.items()
            ],
            within=str(self.within),
        ), about=about)  # fmt: skip

    def _covered(self, lows: Corner, highs: Corner) -> Data:
        """Halve a rectangle along its longest side until one tangent is near at all corners."""
        middle = tuple((a + b) / 2 for a, b in zip(lows, highs, strict=True))
        shares = rounded(shares_at(middle, self.reach), 60)
        shares[-1] += 1 - sum(shares)
        corners = list(product(*zip(lows, highs, strict=True)))
        if all(self._excess(c, shares) < float(self.within) * 0.99 for c in corners):
            for c in corners:
                point = rounded(shares_at(c, self.reach), 10**5)
                self.corners[c] = {f"x{k}": str(x) for k, x in enumerate(point)}
            return {"tangent": self._tangent(shares)}
        sides = [b - a for a, b in zip(lows, highs, strict=True)]
        k = sides.index(max(sides))
        return {
            "number": f"K{k}", "at": str(middle[k]),
            "below": self._covered(lows, (*highs[:k], middle[k], *highs[k + 1 :])),
            "above": self._covered((*lows[:k], middle[k], *lows[k + 1 :]), highs),
        }  # fmt: skip

    def _excess(self, corner: Corner, shares: list[Fraction]) -> float:
        """How much the least is above a tangent at a corner."""
        if min(shares) == 0:
            return math.inf
        costs = [self.reach ** (2 * float(u) - 1) for u in corner] + [1.0]
        least = sum(math.sqrt(c) for c in costs) ** 2
        logs = (float(s) * math.log(c / float(s) ** 2) for c, s in zip(costs, shares, strict=True))
        return least / math.exp(sum(logs)) - 1

    def _tangent(self, shares: list[Fraction]) -> str:
        texts = [str(s) for s in shares]
        logs = sum(-2 * float(s) * math.log(float(s)) for s in shares)
        constant = Fraction(math.floor(math.exp(logs) * 10**5), 10**5)
        value = dict(zip(self.costs, texts, strict=True))
        name = " ".join(texts)
        if all(t["name"] != name for t in self.tangents):
            self.tangents.append({
                "name": name, "shares": {"objective": texts, "in all": texts},
                "value": {**powers(constant), **value, "m": "-1"},
            })  # fmt: skip
        return name
