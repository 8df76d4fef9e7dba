"""Relations without maxima, minima and powers of sums.

Maxima on the smaller side and minima on the greater one are split exactly, by an auxiliary
variable where they stand within a sum. A power of a sum is taken to the root where it is a
factor of its side, and gets an auxiliary variable otherwise: `sqrt(S + y) + x <= c` holds where
`s + x <= c` and `S + y <= s**2` for some s. So does one over a difference, as of a queue's delay
`1/(m - l)`: that it is at most s says that `1/s + l <= m`.
"""

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import sympy as sp

from symscale.algebra.reading.scope import Scope
from symscale.algebra.reading.terms import require_positive
from symscale.errors import FormulaError

Pair: TypeAlias = tuple[sp.Expr, sp.Expr]
"""A smaller side and a greater one."""


class AlternativeError(FormulaError):
    """A minimum or maximum is an alternative: it is enough that one of its arguments fits.

    Attributes:
        node: The minimum or maximum.
        place: The constraint in which it stands; "" for the objective.
    """

    node: sp.Expr = sp.Integer(0)
    place: str = ""

    @classmethod
    def of(cls, node: sp.Expr, side: str) -> "AlternativeError":
        """The error about a minimum or maximum."""
        error = cls(
            f"{node} on the {side} side is an alternative, not a bound; "
            "solve one problem for each of its arguments"
        )
        error.node = node
        return error


@dataclass
class Splitter:
    """Takes maxima, minima and powers of sums out of what belongs to one relation.

    Attributes:
        scope: What it is read with.
        made: For each of them, and the side that it bounds, the variable in its place.
        open: Pairs that bound the variables, still to be split.
    """

    scope: Scope
    made: dict[tuple[sp.Expr, bool], sp.Symbol] = field(default_factory=dict)
    open: list[Pair] = field(default_factory=list)

    def pairs(self, small: sp.Expr, large: sp.Expr) -> list[Pair]:
        """Pairs small <= large without any of them that replace one; its own come first."""
        self.open.insert(0, (small, large))
        return self.rest()

    def rest(self) -> list[Pair]:
        """The pairs that are still to be split, split."""
        found: list[Pair] = []
        while self.open:
            low, high = self.open.pop(0)
            lows, highs = _alternatives(low, sp.Max), _alternatives(high, sp.Min)
            if len(lows) * len(highs) > 1:
                self.open = [(a, b) for a in lows for b in highs] + self.open
                continue
            rooted = _rooted(low, high, self.scope)
            if rooted is not None:
                self.open.insert(0, rooted)
            else:
                found.append((self.without(low, below=True), self.without(high, below=False)))
        return found

    def without(self, expr: sp.Expr, *, below: bool) -> sp.Expr:
        """An expression with a variable in place of each of them.

        Args:
            expr: The expression.
            below: Whether it is the smaller side of a relation, or what is minimised.
        """
        for _ in range(1000):
            nodes = special_nodes(expr, self.scope)
            outer = [n for n in nodes if not any(m is not n and m.has(n) for m in nodes)]
            if not outer:
                return expr
            expr = self._replaced(expr, min(outer, key=str), below)
        raise FormulaError("it has too many maxima, minima and powers of sums")

    def variable(self) -> sp.Symbol:
        """A new variable."""
        z = self.scope.fresh()
        self.scope = replace(self.scope, variables=self.scope.variables | {z})
        return z

    def _replaced(self, expr: sp.Expr, node: sp.Expr, below: bool) -> sp.Expr:
        slot = sp.Dummy(positive=True)
        slope = sp.diff(expr.xreplace({node: slot}), slot)
        above = (self.scope.sign(slope) > 0) is below  # whether the variable bounds from above
        if isinstance(node, sp.Max | sp.Min) and isinstance(node, sp.Max) is not above:
            raise AlternativeError.of(node, "smaller" if below else "greater")
        if (node, above) not in self.made:
            z = self.made[node, above] = self.variable()
            low, high = (node, z) if above else (z, node)
            if isinstance(node, sp.Pow) and _rooted(low, high, self.scope) is None:
                raise FormulaError(
                    f"{node} is a power of what is not known to be positive; put a variable in "
                    f"place of {node.base}, with a constraint of its own"
                )
            self.open.append((low, high))
        return expr.xreplace({node: self.made[node, above]})


def special_nodes(expr: sp.Expr, scope: Scope) -> list[sp.Expr]:
    """The maxima and minima, and the powers of sums of unknowns that have to be replaced.

    These are the ones that are no whole powers, and those by which something is divided that
    may be below zero.
    """
    return [
        node for node in expr.atoms(sp.Max, sp.Min, sp.Pow)
        if isinstance(node, sp.Max | sp.Min)
        or (node.base.is_Add and scope.varies(node.base)
            and (not node.exp.is_Integer
                 or (node.exp.is_negative and _may_be_negative(node.base, scope))))
    ]


def _may_be_negative(base: sp.Expr, scope: Scope) -> bool:
    try:
        require_positive(base, scope)
    except FormulaError:
        return True
    return False


def _alternatives(expr: sp.Expr, kind: type[sp.Expr]) -> list[sp.Expr]:
    """The expressions that all must satisfy the relation, where an extreme is a whole factor."""
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        wanted = kind if exponent.is_positive else (sp.Min if kind is sp.Max else sp.Max)
        if isinstance(base, wanted):
            rest = expr / factor
            return [
                each
                for argument in sorted(base.args, key=str)
                for each in _alternatives(rest * argument**exponent, kind)
            ]
    return [expr]


def _rooted(low: sp.Expr, high: sp.Expr, scope: Scope) -> Pair | None:
    """`base**e <= rest` as `base <= rest**(1/e)`, where one factor is such a power; else None."""
    powers = [
        (base, exponent if side > 0 else -exponent, side)
        for side, whole in ((1, low), (-1, high))
        for base, exponent in (f.as_base_exp() for f in sp.Mul.make_args(whole))
        if base.is_Add and scope.varies(base)
    ]
    if len(powers) != 1:
        return None
    ((base, exponent, side),) = powers
    divides = exponent == -1 and side > 0 and _may_be_negative(base, scope)
    if (abs(exponent) == 1 and not divides) or not (exponent.is_positive or exponent.is_negative):
        return None
    above = low / base**exponent if side > 0 else low
    beneath = high if side > 0 else high / base**-exponent
    try:
        rest = (scope.product(above) / scope.product(beneath)) ** (-1 / exponent)
        # That a sum is at least something positive says that it is positive. Else it must be
        # known: below zero an even power rises again, and there are no roots.
        # What something is divided by is taken to be positive, and the answer says so.
        says = divides or (exponent.is_negative and (
            not exponent.is_Integer or (side < 0 and exponent.is_odd)
        ))
        if not says and scope.sign(base) <= 0:
            return None
    except FormulaError:
        return None
    return (base, rest.expr) if exponent.is_positive else (rest.expr, base)
