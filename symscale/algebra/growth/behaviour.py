"""How a quotient behaves: its leading term, its class, its limit, and what was expected of it.

Example:
    >>> from symscale.language.symbols import symbols
    >>> d, w = symbols("d_model w")
    >>> found = behaviour(18*d/w, Growth((d,)), ("Omega", sp.Integer(1)))
    >>> found.theta, found.limit.kind, found.verdict.holds
    (d_model, 'infinity', True)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sympy as sp

from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.growth.crossing import Range
from symscale.algebra.growth.leading import Dropped, Reader
from symscale.algebra.growth.orders import Comparison, Order, compare, direction_text, order_of
from symscale.algebra.growth.paths import Cone, Growth, Relation, Vector, cone_of
from symscale.algebra.growth.quotient import Quotient, Sum, quotient_of
from symscale.errors import FormulaError, InputError, TooLargeError

Expectation: TypeAlias = tuple[Relation, sp.Expr]
LimitKind: TypeAlias = Literal["zero", "constant", "infinity", "undetermined"]
_UNIT = Quotient(sp.Integer(1), ONE, ())


class ConflictError(InputError):
    """No growth satisfies the assumptions; the text says which contradict each other."""


@dataclass(frozen=True)
class LimitValue:
    """A limit.

    Attributes:
        kind: "zero", "constant", "infinity" or "undetermined".
        value: 0, the constant, or plus or minus infinity; None where undetermined.
        reason: Why it is undetermined, or "".
        bounded: Whether the ratio is O(1).
        bounded_below: Whether it is Omega(1).
    """

    kind: LimitKind
    value: sp.Expr | None
    reason: str = ""
    bounded: bool = False
    bounded_below: bool = False


@dataclass(frozen=True)
class Verdict:
    """Whether an expectation holds.

    Attributes:
        holds: True, False along every growth, or None: it depends on the growth.
        reason: Why, in one line.
    """

    holds: bool | None
    reason: str


@dataclass(frozen=True)
class Behaviour:
    """How a quotient behaves, for a range of the path's exponent where it has one.

    Attributes:
        where: The range, or None where no exponent is open.
        leading: The leading term: its quotient with the whole tends to 1. None where
            terms in it may cancel; the limit says why.
        theta: The class, in the symbols that are not constant; None likewise.
        limit: The limit.
        conditions: What must hold of constants, such as N_TP > 1.
        dropped: Terms that vanish, with certificates.
        verdict: Whether the expectation holds, where there is one.
    """

    where: Range | None
    leading: sp.Expr | None
    theta: sp.Expr | None
    limit: LimitValue
    conditions: tuple[sp.Basic, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    verdict: Verdict | None = None


def behaviour(
    expr: sp.Expr, growth: Growth, expected: Expectation | None = None,
    exponent: tuple[sp.Symbol, sp.Rational] | None = None,
) -> Behaviour:
    """Return the behaviour of a quotient in which the path has been put.

    Args:
        expr: The quotient.
        growth: What grows, and what is known about it.
        expected: A relation and a class to compare with.
        exponent: The path's exponent and a value at which exponents are compared, or None.

    Raises:
        ConflictError: If no growth satisfies the assumptions.
        FormulaError: If leading terms may cancel, or a sign is open.
        TooLargeError: If it has too many terms.
    """
    cone = cone_of(growth, exponent)
    conflict = cone.conflict()
    if conflict:
        raise ConflictError(f"this cannot hold together: {'; '.join(conflict)}")
    reader = Reader(cone, growth.lower)
    leading = reader.leading(quotient_of(expr))
    order = order_of(leading, cone)
    verdict = None if expected is None else _verdict(order, expected, cone, growth.lower)
    return Behaviour(
        None, leading.expr, order.expr, _limit(leading, order, cone),
        tuple(dict.fromkeys(reader.conditions)), tuple(dict.fromkeys(reader.dropped)), verdict,
    )


def _limit(leading: Quotient, order: Order, cone: Cone) -> LimitValue:
    if order.zero:
        return LimitValue("zero", sp.Integer(0), bounded=True)
    found = compare(order, order_of(_UNIT, cone))
    kind, value, reason = _kind(leading, found, cone)
    return LimitValue(kind, value, reason, found.bounded, found.bounds)


def _kind(
    leading: Quotient, found: Comparison, cone: Cone
) -> tuple[LimitKind, sp.Expr | None, str]:
    """Kind, value and reason of a limit, by the comparison of the class with 1."""
    if found.vanishes:
        return "zero", sp.Integer(0), ""
    if found.outgrows:
        # All terms of a leading sum have the sign of its first, which is 1.
        return "infinity", sp.oo if leading.coefficient > 0 else -sp.oo, ""
    varying = leading.expr.free_symbols & set(cone.symbols)
    constant = _proportion(leading, cone) if varying else leading.expr
    if constant is not None:
        return "constant", constant, ""
    if found.relation("Theta"):
        names = ", ".join(sorted(map(str, varying)))
        reason = f"it stays between two constants, and depends on how {names} grow"
        return "undetermined", None, reason
    return "undetermined", None, _ways(
        found, cone, "it grows", "it vanishes", "it stays bounded"
    )  # fmt: skip


def _ways(found: Comparison, cone: Cone, above: str, below: str, level: str) -> str:
    """What a quotient does along different growths."""
    cases = ((above, found.above), (below, found.below), (level, found.level))
    text = ", ".join(f"{verb} with {direction_text(cone, way)}" for verb, way in cases if way)
    return f"{text}, at {cone.exponent[0]} = {cone.exponent[1]}" if cone.exponent else text


def _proportion(leading: Quotient, cone: Cone) -> sp.Expr | None:
    """The constant that a quotient is where its two sums are proportional."""
    try:
        sides = _sides(leading, cone)
    except TooLargeError:
        return None
    if sides[0].keys() != sides[1].keys():
        return None
    ratios = [quotient_of(sides[0][v]) / quotient_of(sides[1][v]) for v in sides[0]]
    first = ratios[0].expr
    same = (not quotient_of(sp.Add(ratio.expr, -first)).coefficient for ratio in ratios[1:])
    return first if all(same) else None


def _sides(leading: Quotient, cone: Cone) -> list[dict[Vector, sp.Expr]]:
    """Coefficients of the numerator and the denominator, multiplied out."""
    above = Quotient(leading.coefficient, leading.head, _powers(leading, 1)).numerator()
    below = Quotient(sp.Integer(1), ONE, _powers(leading, -1)).numerator()
    return [_coefficients(side.items(), cone) for side in (above, below)]


def _powers(quotient: Quotient, sign: int) -> tuple[tuple[Sum, int], ...]:
    return tuple((total, abs(p)) for total, p in quotient.factors if p * sign > 0)


def _coefficients(
    terms: Iterable[tuple[Monomial, sp.Rational]], cone: Cone
) -> dict[Vector, sp.Expr]:
    found: dict[Vector, sp.Expr] = {}
    for monomial, coefficient in terms:
        vector = cone.vector(monomial)
        rest = coefficient * monomial.split(cone.symbols)[1].expr
        found[vector] = found.get(vector, sp.Integer(0)) + rest
    return found


def _verdict(
    order: Order, expected: Expectation, cone: Cone,
    lower: Mapping[sp.Symbol, sp.Rational],
) -> Verdict:
    relation, expr = expected
    reader = Reader(cone, lower)
    against = reader.leading(quotient_of(expr))
    if not against.coefficient > 0:
        raise FormulaError(f"a class is positive, and {expr} is not")
    second = order_of(against, cone)
    found = compare(order, second)
    holds = found.relation(relation)
    shown = "0" if order.zero else f"Theta({order.expr})".replace("**", "^").replace("*", " ")
    if found.vanishes:
        fact = "vanishes against it"
    elif found.outgrows:
        fact = "outgrows it"
    elif found.bounded and found.bounds:
        fact = "is of the same order"
    else:
        fact = _ways(found, cone, "outgrows it", "vanishes against it", "keeps up with it")
    return Verdict(holds, f"it is {shown}, which {fact}")
