"""Closed forms of an answer, all in one shape, whether or not sums are involved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import mpmath as mp
import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.curves.curve import Curve, curve_in
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.attained import optimal_point
from symscale.algebra.products.limit import Condition, Limit, Piece
from symscale.algebra.products.points import points_in
from symscale.algebra.products.ranges import fixed_products, open_variables, ranges
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError, NoAnswerError, SymscaleError

Values = Mapping[sp.Symbol, sp.Rational]
_ROUNDING = mp.mpf("1e-20")


@dataclass(frozen=True)
class FreeVariable:
    """Between what a variable lies that the optimum leaves free.

    Attributes:
        lower: It is at least each of these.
        upper: It is at most each of these.
        bounded: Whether constraints hold it that bound it in another form.
    """

    lower: tuple[sp.Expr, ...] = ()
    upper: tuple[sp.Expr, ...] = ()
    bounded: bool = False

    @classmethod
    def of(
        cls, lower: Iterable[Monomial], upper: Iterable[Monomial], bounded: bool = False
    ) -> "FreeVariable":
        """From monomials."""
        return cls(tuple(m.expr for m in lower), tuple(m.expr for m in upper), bounded)


@dataclass(frozen=True)
class AnswerPlace:
    """Optimal variables, where some conditions hold within a piece's region."""

    region: tuple[Relational, ...]
    point: Mapping[sp.Symbol, sp.Expr]

    def holds(self, values: Values) -> bool:
        """Whether it does at given parameters; on the edge between places each of them does."""
        for relation in self.region:
            left, right = (number_of(side, values) for side in (relation.lhs, relation.rhs))
            if left is None or right is None or left > right * (1 + _ROUNDING):
                return False
            if isinstance(relation, sp.Eq) and right > left * (1 + _ROUNDING):
                return False
        return True


@dataclass(frozen=True)
class AnswerPiece:
    """One closed form of the optimum.

    Attributes:
        name: Its name.
        expr: The optimum.
        binding: The constraints that bind.
        multipliers: The power of each constraint in the product that proves it; None
            where sums are involved.
        conditions: Pairs (left, right): it rules where left <= right, each with the
            piece that takes over where it fails, or ""; see `region`.
        point: Optimal variables, in all of the region, or else at the numbers that were
            given; of an infimum those that it does not send away.
        holds: Tells whether it rules at given parameters.
        relations: For each condition how its sides compare: "<=", "<" or "==".
        status: "infimum" where the value is approached, and no point attains it.
        direction: By which powers the variables change together as it is approached.
        free: Variables that the optimum leaves free, and between what they lie.
        fixed: Products of those that it does not leave free, with their values.
        places: Where one point does not do in all of the region: several, each where
            conditions of its own hold, of which some always do.
        source: What it was made of, where sums are involved.
    """

    name: str
    expr: sp.Expr
    binding: tuple[str, ...]
    multipliers: Mapping[str, sp.Expr] | None
    conditions: tuple[tuple[sp.Expr, sp.Expr, str], ...]
    point: Mapping[sp.Symbol, sp.Expr]
    holds: Callable[[Values], bool]
    relations: tuple[str, ...] = ()
    status: Literal["optimal", "infimum"] = "optimal"
    direction: Mapping[sp.Symbol, sp.Rational] = field(default_factory=dict)
    free: Mapping[sp.Symbol, FreeVariable] = field(default_factory=dict)
    fixed: tuple[tuple[sp.Expr, sp.Expr], ...] = ()
    places: tuple[AnswerPlace, ...] = ()
    source: SumPiece | None = None

    @cached_property
    def region(self) -> tuple[Relational, ...]:
        """Where it rules, as relations: `left <= right`, `left < right`, `left == right`."""
        relations = self.relations or ("<=",) * len(self.conditions)
        kinds: dict[str, Any] = {"<=": sp.Le, "<": sp.Lt, "==": sp.Eq}
        return tuple(
            kinds[relation](left, right, evaluate=False)
            for relation, (left, right, _) in zip(relations, self.conditions, strict=True)
        )

    @property
    def curve(self) -> Curve | None:
        """The law of the share on which the formulas depend, if they do."""
        return curve_in(self.source)

    def value(self, values: Values) -> mp.mpf | None:
        """Its value, where all its parameters have numbers."""
        return self.number(self.expr, values)

    def number(self, expr: sp.Expr, values: Values) -> mp.mpf | None:
        """The value of one of its formulas, in the share too; None where a symbol has none."""
        return number_of(expr, values) if self.curve is None else self.curve.evaluate(expr, values)

    def elasticities(self, values: Values) -> dict[sp.Symbol, sp.Expr]:
        """The power by which it changes with each parameter.

        Exact where it is a monomial; else at the given parameters, as a decimal, where
        these suffice, and as an expression where they do not.
        """
        table = dict(self.slopes)
        for s, slope in table.items():
            if slope.free_symbols:
                at = self.number(slope, values)
                table[s] = slope if at is None else sp.Float(at, 15)
        return table

    @cached_property
    def slopes(self) -> Mapping[sp.Symbol, sp.Expr]:
        """The power by which it changes with each parameter, as expressions."""
        symbols: Any = self.expr.free_symbols
        curve = self.curve
        if curve is not None:
            symbols = (symbols | curve.parameters) - {curve.symbol, *curve.domain.exponents}
            return {s: curve.slope(self.expr, s) for s in sorted(symbols, key=str)}
        symbols = sorted(symbols, key=str)
        table = _powers(self.expr)
        return {
            s: table[s] if s in table else sp.simplify(s * sp.diff(self.expr, s) / self.expr)
            for s in symbols
        }


def _powers(expr: sp.Expr) -> Mapping[sp.Expr, sp.Expr]:
    """The rational powers of symbols that occur nowhere else in a product."""
    try:
        powers = Monomial.of(expr).powers
    except FormulaError:
        return {}
    elsewhere = set().union(*(e.free_symbols for _, e in powers), *(
        a.free_symbols for a, _ in powers if not a.is_Symbol
    ))
    return {a: e for a, e in powers if a.is_Symbol and e.is_Rational and a not in elsewhere}


def number_of(expr: sp.Expr, values: Values) -> mp.mpf | None:
    """The value of an expression to 25 digits, or None where a symbol has none."""
    if not expr.free_symbols <= set(values):
        return None
    with mp.workdps(25):
        return mp.mpf(str(sp.N(expr.xreplace(dict(values)), 25)))


def monomial_pieces(limit: Limit, numbers: Values | None) -> tuple[AnswerPiece, ...]:
    """The pieces of a limit; with numbers a point of the one that rules is one at these."""
    pieces = []
    ruling = None
    if numbers is not None:
        try:
            ruling = limit.ruling(numbers)
        except NoAnswerError:
            ruling = None
    for piece in limit.pieces:
        conditions = tuple(
            (c.relational.lhs, c.relational.rhs, c.against) for c in piece.region
        )
        places = tuple(
            AnswerPlace(
                tuple(Condition(m).relational for m in p.conditions),
                {x: m.expr for x, m in p.values.items()},
            )
            for p in points_in(limit.points[piece.name])
        )
        at = numbers if ruling is piece else None
        free = _free(limit, piece)
        products = fixed_products(limit, piece) if free else ()
        pieces.append(
            AnswerPiece(
                piece.name, piece.expr, piece.binding, piece.multipliers, conditions,
                _point(limit, places, at),
                lambda values, piece=piece: limit.ruling(values) is piece,  # type: ignore[misc]
                tuple("==" if c.equal else "<=" for c in piece.region), free=free,
                fixed=tuple((p.product.expr, p.value.expr) for p in products), places=places,
            )
        )
    return tuple(pieces)


def _point(
    limit: Limit, places: Sequence[AnswerPlace], at: Values | None
) -> Mapping[sp.Symbol, sp.Expr]:
    """A point that attains a piece: in all of its region, or at numbers, or none."""
    if len(places) == 1 and not places[0].region:
        return places[0].point
    if at is None:
        return {}
    here = [place.point for place in places if place.holds(at)]
    if here:
        return here[0]
    try:
        point = optimal_point(limit.program, at).values
    except SymscaleError:
        return {}
    return {x: sp.Float(m.evaluate(at), 15) for x, m in point.items()}


def _free(limit: Limit, piece: Piece) -> dict[sp.Symbol, FreeVariable]:
    """The variables that are not unique where a piece rules."""
    try:
        return {x: FreeVariable.of(r.least, r.most) for x, r in ranges(limit, piece).items()}
    except SymscaleError:  # a range changes its form within the exponents' domain
        return {x: FreeVariable(bounded=True) for x in open_variables(limit, piece)}


def sum_pieces(
    sums: tuple[SumPiece, ...], program: GeometricProgram
) -> tuple[AnswerPiece, ...]:
    """Closed forms, named by what binds beside a sum that says what the objective is."""
    told = _objective_sum(program)
    names = [" + ".join(n for n in p.binding if n != told) or "interior" for p in sums]
    return tuple(_sum_piece(piece, name, names) for piece, name in zip(sums, names, strict=True))


def _objective_sum(program: GeometricProgram) -> str | None:
    """The only sum, if it says what an objective that is a variable is: `t >= a/x + b*x`."""
    several = [c for c in program.constraints if len(c.terms) > 1]
    if len(several) != 1 or len(program.objective) != 1:
        return None
    powers, _ = program.objective[0].split(program.variables)
    if len(powers.powers) != 1:
        return None
    same = {t.exponent(powers.atoms[0]) for t in several[0].terms}
    return several[0].name if len(same) == 1 and 0 not in same else None


def _sum_piece(piece: SumPiece, name: str, names: list[str]) -> AnswerPiece:
    if names.count(name) > 1:
        name = f"{name} ({', '.join(piece.binding)})"
    away = set(piece.direction)
    places = tuple(
        AnswerPlace(
            tuple(r.relational for r in place.requirements),
            {x: m.expr for x, m in place.values.items() if x not in away},
        )
        for place in piece.places
    )
    return AnswerPiece(
        name, piece.expr, piece.binding, None,
        tuple((*r.pair, "") for r in piece.requirements), places[0].point, piece.holds,
        tuple(r.relation for r in piece.requirements), piece.status, piece.direction,
        {
            x: FreeVariable.of(r.lower, r.upper, r.bounded)
            for x, r in piece.free.items() if x not in away
        },
        places=places, source=piece,
    )
