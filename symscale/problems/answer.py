"""Answers to problems of one's own: pieces, bounds, the numerical optimum, all in one shape."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import mpmath as mp
import sympy as sp

from symscale.algebra.certify.theorems import Theorems, of_limit
from symscale.algebra.curves.solve import beyond
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.products.limit import Limit
from symscale.algebra.products.solve import solve
from symscale.algebra.sums.bounds import Bounds, enclose, monomial_program
from symscale.algebra.sums.program import GeometricProgram, all_monomial
from symscale.algebra.sums.recession import RecessionReduction, reduce
from symscale.algebra.sums.sift import closed_forms
from symscale.algebra.tangents.numbers import Scaling, scaling_of
from symscale.answers import Answer
from symscale.errors import InfeasibleError, NoAnswerError, UnboundedError
from symscale.problems.pieces import (
    AnswerPiece,
    Values,
    monomial_pieces,
    sum_pieces,
)
from symscale.problems.problem import Problem
from symscale.problems.proofs import theorems_of_sums

if TYPE_CHECKING:
    from symscale.algebra.optimum.integers import IntegerOptimum
    from symscale.algebra.optimum.sensitivity import Sensitivities
    from symscale.algebra.sums.numeric import NumericalOptimum
    from symscale.algebra.tangents.cover import PieceCover
    from symscale.algebra.tangents.law import LocalLaw

Status = Literal["optimal", "infimum", "infeasible", "unbounded"]
_LOSS = 1e-5  # by which share constraints are tightened to see whether that costs anything
_COST = 1e-8


@dataclass(frozen=True, repr=False)
class ProblemAnswer(Answer):
    """The answer to a problem.

    Attributes:
        problem: The problem.
        values: Numbers of parameters, defaults included.
        program: The problem in canonical form, exponents put in.
        pieces: Closed forms.
        complete: Whether these cover all parameters.
        limit: The limit behind the pieces, where there are no sums.
        bounds: Where there are sums: the two problems that enclose it.
        reduction: Where there are sums: which terms can vanish for ever, and how.
        digits: Of the local law's shares, where it was asked for.
        share: How near pieces are to be in a box of the parameters, where that was asked for.
        cover: These pieces, where the closed forms are not products of powers anyway.
    """

    page = "solve"
    problem: Problem
    values: Values
    program: GeometricProgram
    pieces: tuple[AnswerPiece, ...]
    complete: bool
    limit: Limit | None
    bounds: Bounds | None
    reduction: RecessionReduction | None = None
    digits: int | None = None
    share: sp.Rational | None = None
    cover: "PieceCover | None" = None

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
    def expr(self) -> sp.Expr | None:
        """The closed form: of the piece that rules, or of the only one.

        None where there is none, or which one rules depends on parameters that have no number.
        """
        if self.has_numbers:
            return None if self.ruling is None else self.ruling.expr
        return self.pieces[0].expr if self.complete and len(self.pieces) == 1 else None

    @property
    def value(self) -> mp.mpf | None:
        """The optimum, where all parameters have numbers and a closed form rules."""
        return None if self.ruling is None else self.ruling.value(self.values)

    @property
    def exact(self) -> bool:
        """Whether the answer is a closed form: here, or for all parameters."""
        if self.has_numbers:
            return self.ruling is not None
        return self.complete and bool(self.pieces)

    @cached_property
    def status(self) -> Status | None:
        """What kind of answer there is: at the numbers given, or whatever the parameters are.

        "infimum": a value is approached and nothing attains it. None where that depends on
        parameters that have no number, or could not be found out.
        """
        if self.reduction is not None and not self.has_numbers:
            if not self.reduction.program.objective:
                return "unbounded"
            kinds = {p.status for p in self.pieces}
            kinds |= {"infimum"} if self.reduction.loses_objective else set()
            known = self.complete or self.reduction.loses_objective
            return kinds.pop() if known and len(kinds) == 1 else None
        try:
            if self.has_numbers and self.ruling is not None:
                return self.ruling.status
            self.check()
        except InfeasibleError:
            return "infeasible"
        except UnboundedError:
            return "unbounded"
        except NoAnswerError:
            return None
        return self._numerical_status if self.has_numbers else "optimal"

    @property
    def _numerical_status(self) -> Status | None:
        """Whether the numerical optimum is attained: not if terms vanish that cost something."""
        reduction = self.reduction
        if reduction is None or not reduction.direction:
            return "optimal"
        if reduction.loses_objective:
            return "infimum"
        from symscale.algebra.sums.numeric import minimize

        more = Monomial.of(1 + sp.Rational(str(_LOSS)))
        tighter = tuple(
            replace(c, terms=tuple(t * more for t in c.terms)) if c.name in reduction.lossy else c
            for c in reduction.program.constraints
        )
        try:
            least, less = (
                minimize(replace(reduction.program, constraints=kept, inverse=False), self.values)
                for kept in (reduction.program.constraints, tighter)
            )
        except NoAnswerError:
            return None
        return "infimum" if less.value > least.value * (1 + _COST) else "optimal"

    @property
    def attained(self) -> bool:
        """Whether some point may be optimal: false where variables run away for ever.

        An objective such as x + 1/x + y has a greatest lower bound and no least value.
        """
        return self.status != "infimum"

    @property
    def factor(self) -> sp.Expr | None:
        """By which factor the bounds enclose the optimum, where it is not exact."""
        return None if self.exact or self.bounds is None else self.bounds.factor

    @cached_property
    def numerical(self) -> "NumericalOptimum | None":
        """The numerical optimum, where all parameters have numbers.

        None as well where a closed form rules and the search does not get there, as
        beyond the range of floating point.

        Raises:
            NoAnswerError: If the problem has none there.
        """
        if not self.has_numbers:
            return None
        from symscale.algebra.sums.numeric import minimize

        try:
            return minimize(self.program, self.values)
        except NoAnswerError:
            if self.ruling is None:
                raise
            return None

    @cached_property
    def sensitivities(self) -> "Sensitivities | None":
        """Multipliers, elasticities, slack at the numerical optimum, of an infimum its limit.

        None where there is no such optimum, or floating point does not tell them.
        """
        if self.numerical is None:
            return None
        from symscale.algebra.optimum.sensitivity import sensitivities
        from symscale.algebra.sums.numeric import minimize

        program, numerical = self.program, self.numerical
        try:
            if self.status == "infimum":
                if self.reduction is None or self.reduction.loses_objective:
                    return None
                program = self.reduction.program
                numerical = minimize(program, self.values)
            return sensitivities(program, self.values, numerical)
        except NoAnswerError:
            return None

    @cached_property
    def scaling(self) -> Scaling | None:
        """What decides the optimum: a product of powers times F of dimensionless numbers.

        None where nothing bounds the objective.
        """
        return scaling_of(self.program)

    @cached_property
    def law(self) -> "LocalLaw | None":
        """The local law, where sums leave no closed form at these numbers, or on request."""
        if not self.has_numbers or self.limit is not None or (
            self.ruling is not None and self.digits is None
        ):
            return None
        from symscale.algebra.tangents.law import local_law, readable_law

        numbers = {s: self.values[s] for s in self.program.parameters}
        try:
            if self.digits is None:
                return readable_law(self.program, numbers)
            return local_law(self.program, numbers, self.digits)
        except NoAnswerError:
            return None

    @cached_property
    def integers(self) -> "IntegerOptimum | None":
        """The best whole numbers of the variables marked integer, at the numbers given."""
        marked = [q.symbol for q in self.problem.variables if q.integer]
        if not marked or self.numerical is None or self.status != "optimal":
            return None
        from symscale.algebra.optimum.integers import best_integers

        return best_integers(self.program, self.values, marked)

    @cached_property
    def enclosure(self) -> tuple[mp.mpf | None, mp.mpf | None]:
        """The numbers between which the optimum lies, where sums are only bounded.

        One is None without numbers for all parameters, or where the problem that gives
        it has no answer: k times the largest term may be too much where the sum is not.
        """
        if self.bounds is None or not self.has_numbers:
            return None, None
        found = []
        for limit in (self.bounds.loose, self.bounds.tight):
            try:
                found.append(limit.at(self.values))
            except NoAnswerError:
                found.append(None)
        loose, tight = found
        return (tight, loose) if self.problem.sense == "maximize" else (loose, tight)

    @cached_property
    def theorems(self) -> Theorems:
        """What the kernel shows of it."""
        if self.limit is not None:
            return of_limit(self.limit, self.problem.title)
        return theorems_of_sums(
            self.program, self.pieces, self.problem.title, complete=self.complete,
            bounds=self.bounds, values=self.values if self.has_numbers else None,
            law=self.law, cover=self.cover,
        )

    def check(self) -> None:
        """Raise where there is no answer.

        Raises:
            InfeasibleError: If nothing satisfies the constraints.
            UnboundedError: If the objective has no bound.
        """
        limit = self.limit if self.limit is not None else self.bounds and self.bounds.loose
        if limit and self.ruling is None:
            given = self.values if self.has_numbers else None
            if given is not None and self.reduction is not None:
                from symscale.algebra.sums.numeric import minimize

                minimize(replace(self.program, objective=(ONE,)), given)  # feasibility first
            limit.check(given)
        if self.has_numbers and self.ruling is None:
            _ = self.numerical

    def without_numbers(self, symbols: Iterable[sp.Symbol]) -> "ProblemAnswer":
        """The same answer with some parameters left open."""
        left = set(symbols)
        values = {s: v for s, v in self.values.items() if s not in left}
        return replace(self, values=values)


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
        InfeasibleError: If a constraint never holds.
        TooLargeError: If the exact answer needs too many rays.

    Example:
        >>> from symscale.problems.problem import ProblemSymbol
        >>> from symscale.language.symbols import Notation
        >>> x, M, t_c = (ProblemSymbol(Notation(n, "s", n, n)) for n in ("x", "M", "t_c"))
        >>> young = Problem("Checkpoints", "minimize",
        ...     t_c.symbol/x.symbol + x.symbol/(2*M.symbol), (x,), (M, t_c), ())
        >>> [(p.expr, p.point[x.symbol]) for p in answer(young).pieces]
        [(sqrt(2)*sqrt(t_c)/sqrt(M), sqrt(2)*sqrt(M)*sqrt(t_c))]
    """
    given: dict[sp.Symbol, Any] = {
        q.symbol: q.default for q in problem.parameters if q.default is not None
    }
    given |= settings or {}
    folded = {
        s: v for s, v in given.items() if s in problem.exponents or not v.is_Rational
    }
    values = {s: v for s, v in given.items() if v.is_Rational}
    program = problem.program(folded)
    vanishing = _vanishing(program, values)
    if vanishing:
        program = problem.program({**folded, **{s: values[s] for s in vanishing}})
    plain = all_monomial(program.constraints) and len(program.objective) == 1
    if plain and not problem.rests_on_conditions(program):
        target = monomial_program(program, sense=problem.sense, title=problem.title)
        limit = solve(target, progress=progress)
        numbers = {s: values[s] for s in target.parameters if s in values}
        complete = len(numbers) == len(target.parameters)
        pieces = monomial_pieces(limit, numbers if complete else None)
        return ProblemAnswer(problem, values, program, pieces, True, limit, None)
    sums, complete = closed_forms(program, beyond)
    bounds = enclose(program, sense=problem.sense, title=problem.title)
    return ProblemAnswer(
        problem, values, program, sum_pieces(sums, program), complete, None, bounds,
        reduce(program),
    )


def _vanishing(program: GeometricProgram, values: Values) -> set[sp.Symbol]:
    """Parameters whose numbers make a coefficient zero, such as p - 1 at p = 1."""
    terms = [*program.objective, *(t for c in program.constraints for t in c.terms)]
    found: set[Any] = set()
    for atom in {a for t in terms for a in t.atoms if not a.is_Symbol}:
        if atom.free_symbols and atom.xreplace(dict(values)) == 0:
            found |= atom.free_symbols
    return found
