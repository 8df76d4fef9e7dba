"""The exact asymptotic behaviour of a quotient of sums along a path of monomials.

Everything is decided by dominant terms. A term is dropped only where it vanishes
against the rest of its sum however the symbols grow, and the multipliers that
prove it are kept. What stays is the leading term; with coefficients and bounded
terms left out, the class Theta; and from that, the limit.

Example:
    >>> from symscale.language.symbols import symbols
    >>> d, n, N, L, w = symbols("d_model n_ctx N_TP L w")
    >>> known = Growth((d, L), (Assumption(Monomial.of(n), "O", Monomial.of(d)),),
    ...     {N: Monomial.of(L*d**2)})
    >>> (piece,) = asymptotics((18*d + 3*n)/(w*N), known).pieces
    >>> piece.theta, piece.limit.kind
    (1/(L*d_model), 'zero')
"""

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.growth.behaviour import (
    Behaviour,
    ConflictError,
    Expectation,
    LimitValue,
    Verdict,
    behaviour,
)
from symscale.algebra.growth.crossing import Range, cells, crossings
from symscale.algebra.growth.leading import Dropped
from symscale.algebra.growth.paths import Assumption, Growth, Vector, cone_of
from symscale.algebra.growth.quotient import MAX_TERMS, quotient_of
from symscale.errors import FormulaError, TooLargeError

__all__ = ["Assumption", "Asymptotics", "Growth", "Monomial", "asymptotics"]

_GENERIC = sp.Rational(1_000_003, 999_983)  # where no two exponents are expected to cross


@dataclass(frozen=True)
class Asymptotics:
    """An answer.

    Attributes:
        expr: The quotient along the path.
        exponent: The path's open exponent, or None.
        pieces: The behaviour; several where it depends on the exponent.
        outside: Ranges of the exponent that the assumptions exclude, and why.
    """

    expr: sp.Expr
    exponent: sp.Symbol | None
    pieces: tuple[Behaviour, ...]
    outside: tuple[tuple[Range, str], ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """Whether the expectation holds for all values of the exponent."""
        found: list[tuple[Range | None, Verdict]] = []
        for piece in self.pieces:
            if piece.verdict is None:
                return None
            last, where = (found[-1] if found else None), piece.where
            if last and where and last[0] and last[1].holds is piece.verdict.holds:
                found[-1] = (last[0].joined(where), piece.verdict)
            else:
                found.append((where, piece.verdict))
        if len(found) == 1:
            return found[0][1]
        words = {True: "holds", False: "fails", None: "is undetermined"}
        parts = (
            f"{words[verdict.holds]} for {where.text(str(self.exponent)) if where else ''}"
            for where, verdict in found
        )
        return Verdict(None, f"it {', '.join(parts)}")


def asymptotics(
    expr: sp.Expr, growth: Growth, expected: Expectation | None = None
) -> Asymptotics:
    """Return the behaviour of a quotient of sums of products of powers.

    Args:
        expr: The quotient.
        growth: What grows, and what is known about it.
        expected: A relation and a class to compare with.

    Raises:
        FormulaError: If leading terms may cancel, a sign is open, or the expression
            has another form.
        InputError: If the assumptions contradict each other.
        TooLargeError: If it has too many terms.

    Example:
        >>> from symscale.language.symbols import PATH_EXPONENT, symbols
        >>> d, N, w = symbols("d_model N_TP w")
        >>> known = Growth((d,), path={N: Monomial.of(d**PATH_EXPONENT.symbol)})
        >>> answer = asymptotics(18*d/(w*N), known)
        >>> [(piece.where.text("p"), piece.limit.kind) for piece in answer.pieces]
        [('p < 1', 'infinity'), ('p = 1', 'constant'), ('p > 1', 'zero')]
    """
    path: Any = {symbol: value.expr for symbol, value in growth.path.items()}
    along = expr.xreplace(path)
    if expected is not None:
        expected = (expected[0], expected[1].xreplace(path))
    parts = [along, *([expected[1]] if expected else [])]
    growth = _relevant(growth, {s for e in parts for s in e.free_symbols})
    parts += [m.expr for m, _, _ in growth.rows]
    exponents: set[Any] = {s for e in parts for s in e.free_symbols if not s.is_positive}
    if len(exponents) > 1:
        names = ", ".join(sorted(map(str, exponents)))
        raise FormulaError(f"several exponents are open ({names}); give all but one a number")
    if not exponents:
        return Asymptotics(along, None, (behaviour(along, growth, expected),))
    exponent = exponents.pop()
    outside: list[tuple[Range, str]] = []
    pieces: list[Behaviour] = []
    for where in cells(_points(along, growth, expected, exponent)):
        try:
            pieces.append(_cell(along, growth, expected, exponent, where))
        except ConflictError as error:
            last = outside[-1] if outside else None
            if last and last[0].upper == where.lower:
                outside[-1] = (last[0].joined(where), last[1])
            else:
                outside.append((where, str(error)))
    if not pieces:
        raise ConflictError(outside[0][1])
    merged = _merged(pieces, exponent)
    if all(piece.leading is None for piece in merged):
        raise FormulaError(merged[0].limit.reason)
    return Asymptotics(along, exponent, merged, tuple(outside))


def _relevant(growth: Growth, used: set[Any]) -> Growth:
    """Forget symbols that grow but occur nowhere: nothing depends on them."""
    tied = {s for _, left, right in growth.compared for s in (*left.atoms, *right.atoms)}
    tied |= {atom for value in growth.path.values() for atom in value.atoms}
    return replace(growth, growing=tuple(s for s in growth.growing if s in used | tied))


def _cell(
    expr: sp.Expr, growth: Growth, expected: Expectation | None, exponent: sp.Symbol, where: Range
) -> Behaviour:
    """The behaviour at one point, or within one interval, of the exponent."""
    value = where.sample()
    try:
        if not where.is_point:
            found = behaviour(expr, growth, expected, (exponent, value))
        else:
            at: Any = {exponent: value}
            if expected is not None:
                expected = (expected[0], expected[1].xreplace(at))
            found = behaviour(expr.xreplace(at), growth.at(exponent, value), expected)
    except FormulaError as error:
        verdict = Verdict(None, str(error)) if expected else None
        unknown = LimitValue("undetermined", None, str(error))
        return Behaviour(where, None, None, unknown, verdict=verdict)
    dropped = tuple(replace(one, where=where) for one in found.dropped)
    return replace(found, where=where, dropped=dropped)


def _points(
    expr: sp.Expr, growth: Growth, expected: Expectation | None, exponent: sp.Symbol
) -> set[sp.Rational]:
    """Values of the exponent at which anything may change."""
    cone = cone_of(growth, (exponent, _GENERIC))
    zero = tuple(sp.Integer(0) for _ in cone.symbols)
    quotients = [quotient_of(expr), *([quotient_of(expected[1])] if expected else [])]
    groups: list[list[Vector]] = [[zero]]
    sides: tuple[list[Vector], list[Vector]] = ([zero], [zero])
    for sign, quotient in zip((1, -1), quotients, strict=False):
        head = cone.vector(quotient.head)
        sides[sign < 0][:] = _plus(sides[sign < 0], [head], 1)
        for total, power in quotient.factors:
            groups.append(list(dict.fromkeys(cone.vector(m) for m, _ in total.terms)))
            side = (power < 0) != (sign < 0)
            sides[side][:] = _plus(sides[side], groups[-1], abs(power))
        groups.append([*sides[0], *sides[1]])
    return crossings(groups, [row.exact for row in cone.rows], exponent)


def _plus(left: list[Vector], right: list[Vector], power: int) -> list[Vector]:
    if len(left) * len(right) > MAX_TERMS:
        raise TooLargeError(f"a product of sums has more than {MAX_TERMS} terms")
    return list(
        dict.fromkeys(
            tuple(sp.expand(x + power * y) for x, y in zip(a, b, strict=True))
            for a in left
            for b in right
        )
    )


def _merged(pieces: list[Behaviour], exponent: sp.Symbol) -> tuple[Behaviour, ...]:
    """Join neighbours that say the same."""
    result = pieces[:1]
    for piece in pieces[1:]:
        joined = _joined(result[-1], piece, exponent)
        if joined is None:
            result.append(piece)
        else:
            result[-1] = joined
    return tuple(result)


def _joined(left: Behaviour, right: Behaviour, exponent: sp.Symbol) -> Behaviour | None:
    """One behaviour for two neighbouring ranges, or None where they differ."""
    a, b = left.where, right.where
    if a is None or b is None or a.upper != b.lower:
        return None
    point = a if a.is_point else b if b.is_point else None
    at: Any = {exponent: point.lower} if point else {}
    general = right if a.is_point else left
    if not _agree(left, right, at):
        return None
    where = a.joined(b)
    proofs = [{replace(_put(d, at), where=None) for d in one.dropped} for one in (left, right)]
    if proofs[0] == proofs[1]:
        dropped = tuple(replace(one, where=where) for one in general.dropped)
    else:
        dropped = (*left.dropped, *right.dropped)
    return replace(general, where=where, dropped=dropped)


def _agree(left: Behaviour, right: Behaviour, at: Any) -> bool:
    """Whether two behaviours say the same at a value of the exponent."""
    pairs = [
        (left.leading, right.leading), (left.theta, right.theta),
        (left.limit.value, right.limit.value),
    ]  # fmt: skip
    facts = [(x.kind, x.bounded, x.bounded_below) for x in (left.limit, right.limit)]
    verdicts = {one.verdict.holds for one in (left, right) if one.verdict}
    return (
        all(_same(x, y, at) for x, y in pairs)
        and left.conditions == right.conditions
        and (left.leading is not None or left.limit.reason == right.limit.reason)
        and facts[0] == facts[1]
        and len(verdicts) < 2
    )


def _put(one: Dropped, at: Any) -> Dropped:
    """A certificate at a value of the exponent."""
    return Dropped(
        one.full.xreplace(at),
        one.term.xreplace(at),
        tuple((term.xreplace(at), weight.xreplace(at)) for term, weight in one.against),
        tuple((reason, weight.xreplace(at)) for reason, weight in one.because),
    )


def _same(left: sp.Expr | None, right: sp.Expr | None, at: Any) -> bool:
    if left is None or right is None:
        return left is right
    left, right = left.xreplace(at), right.xreplace(at)
    if left == right:
        return True
    if any(e == 0 or e.is_infinite for e in (left, right)):
        return False
    return (quotient_of(left) / quotient_of(right)).is_one
