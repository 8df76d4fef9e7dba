"""Answers to problems of one's own: pieces, bounds, the numerical optimum, all in one shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import mpmath as mp
import sympy as sp

from symscale.algebra.bounds import Bounds, enclose, monomial_program
from symscale.algebra.certificate import Certificate
from symscale.algebra.geometric import GeometricProgram, SumPiece, closed_forms
from symscale.algebra.limit import Limit
from symscale.algebra.loglinear import solve
from symscale.algebra.monomial import Monomial
from symscale.algebra.numeric import NumericalOptimum, minimize
from symscale.algebra.points import certify, optimal_point
from symscale.algebra.posynomial import all_monomial
from symscale.errors import FormulaError, NoAnswerError, SymscaleError
from symscale.studies.problem import Problem

Values = Mapping[sp.Symbol, sp.Rational]


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
            piece that takes over where it fails, or "".
        point: The optimal variables.
        holds: Tells whether it rules at given parameters.
    """

    name: str
    expr: sp.Expr
    binding: tuple[str, ...]
    multipliers: Mapping[str, sp.Expr] | None
    conditions: tuple[tuple[sp.Expr, sp.Expr, str], ...]
    point: Mapping[sp.Symbol, sp.Expr]
    holds: Callable[[Values], bool]

    def value(self, values: Values) -> mp.mpf | None:
        """Its value, where all its parameters have numbers."""
        return number_of(self.expr, values)

    def elasticities(self, values: Values) -> dict[sp.Symbol, sp.Expr]:
        """The power by which it changes with each parameter.

        Exact where it is a monomial; else at the given parameters, as a decimal, where
        these suffice, and as an expression where they do not.
        """
        table: dict[sp.Symbol, sp.Expr] = {}
        for s in sorted(self.expr.free_symbols, key=str):
            slope = sp.simplify(s * sp.diff(self.expr, s) / self.expr)
            if slope.free_symbols:
                at = number_of(slope, values)
                slope = slope if at is None else sp.Float(at, 15)
            table[s] = slope
        return table


def number_of(expr: sp.Expr, values: Values) -> mp.mpf | None:
    """The value of an expression to 25 digits, or None where a symbol has none."""
    if not expr.free_symbols <= set(values):
        return None
    with mp.workdps(25):
        return mp.mpf(sp.N(expr.xreplace(dict(values)), 25)._mpf_)


@dataclass(frozen=True)
class ProblemAnswer:
    """The answer to a problem.

    Attributes:
        problem: The problem.
        values: Numbers of parameters, defaults included.
        program: The problem in canonical form, exponents put in.
        pieces: Closed forms.
        complete: Whether these cover all parameters.
        limit: The limit behind the pieces, where there are no sums.
        bounds: Where there are sums: the two problems that enclose it.
    """

    problem: Problem
    values: Values
    program: GeometricProgram
    pieces: tuple[AnswerPiece, ...]
    complete: bool
    limit: Limit | None
    bounds: Bounds | None

    @cached_property
    def has_numbers(self) -> bool:
        """Whether every parameter that matters has a number."""
        return all(s in self.values for s in self.program.parameters)

    @cached_property
    def ruling(self) -> AnswerPiece | None:
        """The piece that rules, where all parameters have numbers and one does."""
        if not self.has_numbers:
            return None
        for piece in self.pieces:
            if piece.holds(self.values):
                return piece
        return None

    @property
    def exact(self) -> bool:
        """Whether the answer is a closed form: here, or for all parameters."""
        return self.ruling is not None if self.has_numbers else self.complete

    @property
    def factor(self) -> sp.Expr | None:
        """By which factor the bounds enclose the optimum, where it is not exact."""
        return None if self.exact or self.bounds is None else self.bounds.factor

    @cached_property
    def numerical(self) -> NumericalOptimum | None:
        """The numerical optimum, where all parameters have numbers.

        Raises:
            NoAnswerError: If the problem has none there.
        """
        return minimize(self.program, self.values) if self.has_numbers else None

    def check(self) -> None:
        """Raise where there is no answer.

        Raises:
            InfeasibleError: If nothing satisfies the constraints.
            UnboundedError: If the objective has no bound.
        """
        limit = self.limit if self.limit is not None else self.bounds and self.bounds.loose
        if limit:
            limit.check()
            if self.has_numbers:
                limit.ruling(self.values)
        if self.has_numbers and self.ruling is None:
            _ = self.numerical

    def certificates(self) -> list[Certificate]:
        """Certificates of all pieces, or, where there are sums, of the loose bound's.

        Raises:
            FormulaError: If no parameters are known at which a piece rules.
        """
        limit = self.limit if self.limit is not None else self.bounds and self.bounds.loose
        if not limit:
            raise FormulaError("there is nothing to certify")
        found = []
        for piece in limit.pieces:
            at = self.values if self.has_numbers and limit.ruling(self.values) == piece else None
            found.append(certify(limit, piece, _only(at, limit) if at else None))
        return found


def _only(values: Values, limit: Limit) -> dict[sp.Symbol, sp.Rational]:
    return {s: values[s] for s in limit.program.parameters}


def answer(
    problem: Problem,
    settings: Mapping[sp.Symbol, sp.Expr] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ProblemAnswer:
    """Solve a problem.

    Args:
        problem: The problem.
        settings: Values of parameters, numbers or products of powers of others; they
            take the place of defaults.
        progress: Called as the exact solver goes on.

    Raises:
        FormulaError: If the problem is no geometric program; the text names the term.
        TooLargeError: If the exact answer needs too many rays.

    Example:
        >>> from symscale.studies.problem import Quantity
        >>> from symscale.symbols import Notation
        >>> x, M, t_c = (Quantity(Notation(n, "s", n, n)) for n in ("x", "M", "t_c"))
        >>> young = Problem("Checkpoints", "minimize",
        ...     t_c.symbol/x.symbol + x.symbol/(2*M.symbol), (x,), (M, t_c), ())
        >>> [(p.expr, p.point[x.symbol]) for p in answer(young).pieces]
        [(sqrt(2)*sqrt(t_c)/sqrt(M), sqrt(2)*sqrt(M)*sqrt(t_c))]
    """
    given = {q.symbol: q.default for q in problem.parameters if q.default is not None}
    given |= settings or {}
    folded = {
        s: v for s, v in given.items() if s in problem.exponents or not v.is_Rational
    }
    values = {s: v for s, v in given.items() if v.is_Rational}
    program = problem.program(folded)
    sense = "maximize" if problem.sense == "maximize" else "minimize"
    if all_monomial(program.constraints) and len(program.objective) == 1:
        target = monomial_program(program, sense=sense, title=problem.title)  # type: ignore[arg-type]
        limit = solve(target, progress=progress)
        numbers = {s: values[s] for s in target.parameters if s in values}
        complete = len(numbers) == len(target.parameters)
        pieces = _monomial_pieces(limit, numbers if complete else None)
        return ProblemAnswer(problem, values, program, pieces, True, limit, None)
    sums, complete = closed_forms(program)
    bounds = enclose(program, sense=sense, title=problem.title)  # type: ignore[arg-type]
    return ProblemAnswer(
        problem, values, program, _sum_pieces(sums, problem), complete, None, bounds
    )


def _monomial_pieces(limit: Limit, numbers: Values | None) -> tuple[AnswerPiece, ...]:
    pieces = []
    ruling = None
    if numbers is not None:
        try:
            ruling = limit.ruling(numbers)
        except NoAnswerError:
            ruling = None
    for piece in limit.pieces:
        at = numbers if ruling is piece else piece.witness
        try:
            point = optimal_point(limit.program, at).values if at is not None else {}
        except SymscaleError:
            point = {}
        conditions = tuple(
            (c.relational.lhs, c.relational.rhs, c.against) for c in piece.region
        )
        pieces.append(
            AnswerPiece(
                piece.name, piece.expr, piece.binding, piece.multipliers, conditions,
                {x: m.expr for x, m in point.items()},
                lambda values, piece=piece: limit.ruling(values) is piece,  # type: ignore[misc]
            )
        )
    return tuple(pieces)


def _sum_pieces(sums: tuple[SumPiece, ...], problem: Problem) -> tuple[AnswerPiece, ...]:
    pieces = []
    relations = {r.name for r in problem.relations}
    for piece in sums:
        bounds = [b for b in piece.binding if b not in relations]
        name = " + ".join(bounds) or "interior"
        if name in {p.name for p in pieces}:
            name = " + ".join(piece.binding)
        conditions = tuple((left, right, "") for left, right in piece.conditions)
        pieces.append(
            AnswerPiece(
                name, piece.expr, piece.binding, None, conditions, piece.point, piece.holds
            )
        )
    return tuple(pieces)


def rounded_neighbours(
    found: ProblemAnswer, piece: AnswerPiece
) -> dict[sp.Symbol, list[tuple[int, mp.mpf]]]:
    """For each variable marked integer, the whole numbers beside its optimum.

    Each comes with the optimum of the problem with the variable fixed to it; a number
    at which no point is feasible is left out.
    """
    table: dict[sp.Symbol, list[tuple[int, mp.mpf]]] = {}
    for q in found.problem.variables:
        at = number_of(piece.point[q.symbol], found.values) if q.symbol in piece.point else None
        if not q.integer or at is None:
            continue
        entries = []
        for whole in sorted({int(mp.floor(at)), int(mp.ceil(at))}):
            if whole < 1:
                continue
            fixed = GeometricProgram(
                found.program.variables,
                found.program.objective,
                (*found.program.constraints, _fixed(q.symbol, whole)),
                found.program.domain,
                found.program.inverse,
            )
            try:
                entries.append((whole, mp.mpf(minimize(fixed, found.values).value)))
            except NoAnswerError:
                continue
        table[q.symbol] = entries
    return table


def _fixed(x: sp.Symbol, whole: int):  # type: ignore[no-untyped-def]
    from symscale.algebra.posynomial import SumConstraint

    return SumConstraint("fixed", (Monomial.of(x / whole),), "==", "rounded")
