"""Problems with `1 - (1 - u)^n`, n unknown: between two that have `min(1, n*u)` in its place.

For 0 < u <= 1 and n >= 1 that is at most min(1, n*u), by Bernoulli, and at least 1 - exp(-n*u),
so at least (1 - 1/e)*min(1, n*u). A problem is enclosed by the two in which each of its
expressions has the bound that loosens it, or that tightens it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.signs import sign_over
from symscale.answers import Answer
from symscale.errors import FormulaError, NoAnswerError
from symscale.problems.answer import ProblemAnswer
from symscale.problems.cases import CasesAnswer, Values, cases_of, solved
from symscale.problems.problem import Problem, WrittenRelation

SHARE = sp.Rational(79, 125)
"""A decimal below 1 - 1/e: at least this share of min(1, n*u)."""

Numbers = Mapping[sp.Symbol, sp.Rational]
Solved = ProblemAnswer | CasesAnswer


@dataclass(frozen=True)
class Enclosure:
    """The two problems between which one with exponentials is.

    Attributes:
        loose: The one whose optimum is no worse.
        tight: The one whose optimum is no better.
        powers: The powers, each with the minimum at most which 1 less it is.
        conditions: Where that is so; constraints of both.
    """

    loose: Problem
    tight: Problem
    powers: Mapping[sp.Expr, sp.Expr]
    conditions: tuple[WrittenRelation, ...]


def enclosure_of(problem: Problem) -> Enclosure | None:
    r"""The enclosure of a problem with unknowns in exponents; None where it has none of that form.

    Example:
        >>> from symscale.problems.file import problem_of_text
        >>> found = enclosure_of(problem_of_text(
        ...     'minimize = "x + E*(1 - (1 - 1/E)^x)/x"\n[parameters]\nE = { lower = 2 }\n'
        ...     '[variables]\nx = { lower = 1 }\n'))
        >>> found.tight.objective
        E*Min(1, x/E)/x + x
    """
    unknowns = {q.symbol for q in problem.variables}
    sides = (problem.objective, *(e for r in problem.relations for e in (r.left, r.right)))
    powers = {p for side in sides for p in side.atoms(sp.Pow) if p.exp.free_symbols & unknowns}
    lower = {q.symbol: q.lower for q in problem.parameters if q.lower}
    upper = {q.symbol: q.upper for q in problem.parameters if q.upper is not None}
    bounds: dict[sp.Expr, sp.Expr] = {}
    conditions: list[WrittenRelation] = []
    for power in sorted(powers, key=str):
        share, many = 1 - power.base, power.exp
        try:
            if sign_over(share, lower, upper) <= 0 or sign_over(many, lower, upper) <= 0:
                return None
        except FormulaError:
            return None
        bounds[power] = sp.Min(1, many * share, evaluate=False)
        for left, right in ((sp.Integer(1), many), (share, sp.Integer(1))):
            relation = WrittenRelation(
                f"{left} <= {right}", left, "<=", right, "for the bounds of the exponential"
            )
            if relation.name not in {c.name for c in conditions} and not _always(
                right - left, lower, upper
            ):
                conditions.append(relation)
    if not bounds:
        return None
    try:
        loose, tight = (_bounded(problem, bounds, loose, lower, upper) for loose in (True, False))
    except FormulaError:
        return None
    relations = tuple(conditions)
    return Enclosure(
        replace(loose, relations=(*loose.relations, *relations)),
        replace(tight, relations=(*tight.relations, *relations)), bounds, relations,
    )


def _always(gap: sp.Expr, lower: Numbers, upper: Numbers) -> bool:
    try:
        return sign_over(gap, lower, upper) >= 0
    except FormulaError:
        return False


def _bounded(
    problem: Problem, bounds: Mapping[sp.Expr, sp.Expr], loose: bool, lower: Numbers,
    upper: Numbers,
) -> Problem:
    """A problem with a bound in place of each exponential, which loosens it, or tightens it."""
    places: dict[Any, Any] = {power: sp.Dummy(positive=True) for power in bounds}

    def put(gap: sp.Expr, *sides: sp.Expr) -> list[sp.Expr]:
        """Sides with the bounds for which the gap is least, or greatest."""
        spelled = gap.xreplace({power: 1 - place for power, place in places.items()})
        chosen = {}
        for power, place in places.items():
            slope = sp.diff(spelled, place)
            if slope != 0:
                rises = sign_over(slope, lower, upper) > 0
                chosen[power] = 1 - bounds[power] * (SHARE if rises is loose else 1)
        return [side.xreplace(chosen) for side in sides]

    goal = problem.objective if problem.sense == "minimize" else -problem.objective
    (objective,) = put(goal, problem.objective)
    relations = []
    for r in problem.relations:
        if r.operator == "==" and (r.left - r.right).has(*bounds):
            raise FormulaError("an equality has no bounds")
        gap = r.left - r.right if r.operator == "<=" else r.right - r.left
        left, right = put(gap, r.left, r.right)
        relations.append(replace(r, left=left, right=right))
    return replace(problem, objective=objective, relations=tuple(relations))


def require_readable(problem: Problem, values: Values) -> None:
    """Raise unless a problem can be brought to geometric programs.

    Raises:
        FormulaError: If it cannot; the text names the term.
    """
    enclosure = enclosure_of(problem)
    if enclosure is None:
        cases_of(problem, values)
        return
    try:
        for part in (enclosure.loose, enclosure.tight):
            cases_of(part, values)
    except FormulaError:
        problem.program(values)  # which says what is wrong with an unknown in an exponent


@dataclass(frozen=True, repr=False)
class EnclosedAnswer(Answer):
    """The answer to a problem with exponentials: between those of two problems.

    Attributes:
        problem: The problem as it was written.
        enclosure: The two problems.
        loose: The answer of the one whose optimum is no worse.
        tight: The answer of the one whose optimum is no better.
    """

    page = "solve_cases"
    problem: Problem
    enclosure: Enclosure
    loose: Solved
    tight: Solved

    @property
    def ends(self) -> tuple[mp.mpf | None, mp.mpf | None]:
        """The numbers between which the optimum lies, the lesser first, where there are some."""
        ends = [_number(found) for found in (self.loose, self.tight)]
        return (ends[0], ends[1]) if self.problem.sense == "minimize" else (ends[1], ends[0])

    def check(self) -> None:
        """Raise where there is no answer.

        Raises:
            NoAnswerError: If even the looser problem has none.
        """
        self.loose.check()


def _number(found: Solved) -> mp.mpf | None:
    one = found.best if isinstance(found, CasesAnswer) else found
    if one is None:
        return None
    if one.value is not None:
        return one.value
    try:
        return None if one.numerical is None else mp.mpf(one.numerical.value)
    except NoAnswerError:
        return None


def solved_or_enclosed(
    problem: Problem, settings: Values | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Solved | EnclosedAnswer:
    """Solve a problem, or enclose it where unknowns stand in exponents.

    Raises:
        FormulaError: If it is no geometric program, nor between two.
    """
    enclosure = enclosure_of(problem)
    if enclosure is None:
        return solved(problem, settings, progress)
    loose, tight = (solved(p, settings, progress) for p in (enclosure.loose, enclosure.tight))
    return EnclosedAnswer(problem, enclosure, loose, tight)
