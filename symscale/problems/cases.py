"""Problems that are several: one for each sign that is open, each alternative, each range.

`a + b*n <= c*n + d` is a geometric program where b <= c, and another where b >= c; what
`x*min(1, y) <= c` allows is what `x <= c` or `x*y <= c` does. The optimum is the best of theirs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import mpmath as mp
import sympy as sp

from symscale.algebra.exact.domain import ChangesFormError
from symscale.algebra.exact.signs import OpenSignError
from symscale.algebra.reading.nodes import AlternativeError
from symscale.answers import Answer
from symscale.errors import FormulaError, InfeasibleError, NoAnswerError, UnboundedError
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.problem import Problem, WrittenRelation

if TYPE_CHECKING:
    from symscale.problems.pieces import AnswerPiece

MOST_CASES = 16
_OBJECTIVE = "objective"
Values = Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class ProblemCase:
    """One of the problems that a problem is.

    Attributes:
        problem: The problem.
        words: What makes it this one, each in words: a condition, or what was chosen.
        conditions: Of the words those that are conditions on parameters.
        at: Numbers that parameters in exponents have in it.
        never: Why nothing is feasible in it, or "".
        opened: Which sign was open, so that it is one of several; or "".
    """

    problem: Problem
    words: tuple[str, ...] = ()
    conditions: tuple[WrittenRelation, ...] = ()
    at: Mapping[sp.Symbol, sp.Rational] | None = None
    never: str = ""
    opened: str = ""

    def excluded(self, values: Values) -> bool:
        """Whether its conditions do not hold at the numbers that are known."""
        return any(c.relational.xreplace(dict(values)) == False  # noqa: E712
                   for c in self.conditions)


def cases_of(problem: Problem, values: Values) -> tuple[ProblemCase, ...]:
    r"""Split a problem until each part is a geometric program.

    Args:
        problem: The problem.
        values: Numbers that are put in before anything else.

    Raises:
        FormulaError: If a part is no geometric program, or there are too many of them.

    Example:
        >>> from symscale.problems.file import problem_of_text
        >>> text = 'maximize = "n"\n[variables]\nn = {}\n[parameters]\na = {}\nb = {}\n'
        >>> found = cases_of(problem_of_text(
        ...     text + '[[constraints]]\nexpression = "1 + a*n <= b*n + 2"'), {})
        >>> [case.words for case in found]
        [('a <= b',), ('b <= a',)]
    """
    todo, done = [ProblemCase(problem)], []
    while todo:
        case = todo.pop(0)
        try:
            case.problem.program(values)
            done.append(case)
        except OpenSignError as error:
            todo = [*_by_sign(case, error), *todo]
        except AlternativeError as error:
            todo = [*_by_alternative(case, error, values), *todo]
        except InfeasibleError as error:
            done.append(replace(case, never=str(error)))
        except FormulaError as error:
            if not case.words:
                raise
            opened = f"{case.opened}: " if case.opened else ""
            raise error.with_context(f"{opened}where {'; '.join(case.words)}") from None
        if len(todo) + len(done) > MOST_CASES:
            raise FormulaError(
                f"it is more than {MOST_CASES} problems, one for each sign that is open and each "
                "argument of a min or max; give bounds or numbers, or solve them one by one"
            )
    return tuple(done)


def _by_sign(case: ProblemCase, error: OpenSignError) -> list[ProblemCase]:
    """A case for each sign of a sum of parameters."""
    terms = sp.Add.make_args(sp.expand(sp.numer(sp.together(error.expr))))
    above = sp.Add(*(t for t in terms if not t.could_extract_minus_sign()))
    below = sp.Add(*(-t for t in terms if t.could_extract_minus_sign()))
    found = []
    for left, right in ((above, below), (below, above)):
        words = f"{left} <= {right}"
        relation = WrittenRelation(words, left, "<=", right, "where this case is")
        if any(r.name == words for r in case.problem.relations) or not left or not right:
            raise error  # it was split by this already
        found.append(replace(
            case, problem=replace(case.problem, relations=(*case.problem.relations, relation)),
            words=(*case.words, words), conditions=(*case.conditions, relation),
            opened=case.opened or str(OpenSignError.of(error.expr)),
        ))
    return found


def _by_alternative(
    case: ProblemCase, error: AlternativeError, values: Values
) -> list[ProblemCase]:
    """A case for each argument of a minimum or maximum where one of them is enough."""
    problem, node, found = case.problem, error.node, []
    place = next((r for r in problem.relations if error.place == r.name), None)
    sides = (problem.objective,) if place is None else (place.left, place.right)
    shown = [problem.spelled_out(side).xreplace(dict(values)) for side in sides]
    if not any(side.has(node) for side in shown):
        raise error
    for argument in sorted(node.args, key=str):
        chosen: Any = [side.xreplace({node: argument}) for side in shown]
        if place is None:
            part = replace(problem, objective=chosen[0], check_units=False)
        else:
            left, right = chosen
            relations = (replace(place, left=left, right=right) if r is place else r
                         for r in problem.relations)
            part = replace(problem, relations=tuple(relations))
        where = _OBJECTIVE if place is None else place.name
        words = f"{argument} in place of {_shown(node)} in {where}"
        found.append(replace(case, problem=part, words=(*case.words, words)))
    return found


def _shown(node: sp.Expr) -> str:
    kind = "min" if isinstance(node, sp.Min) else "max"
    return f"{kind}({', '.join(sorted(map(str, node.args)))})"


def _by_range(case: ProblemCase, error: ChangesFormError) -> list[ProblemCase]:
    """A case for each range of an exponent, and for each end between two."""
    (s,) = {s for s, _ in error.breaks}
    (q,) = (q for q in case.problem.parameters if q.symbol == s)
    roots = sorted({root for _, root in error.breaks})
    found = []
    for low, high in pairwise([q.lower, *roots, q.upper]):
        part = tuple(replace(p, lower=low, upper=high) if p is q else p
                     for p in case.problem.parameters)
        words = " < ".join(str(x) for x in (low, s, high) if x is not None)
        found.append(replace(
            case, problem=replace(case.problem, parameters=part), words=(*case.words, words)
        ))
    found += [replace(case, words=(*case.words, f"{s} = {r}"), at={s: r}) for r in roots]
    return found


@dataclass(frozen=True, repr=False)
class CasesAnswer(Answer):
    """The answer to a problem that is several: the best of theirs.

    Attributes:
        problem: The problem as it was written.
        cases: The cases.
        answers: For each of them its answer; None where nothing is feasible in it.
        values: Numbers of parameters, defaults included.
    """

    page = "solve_cases"
    problem: Problem
    cases: tuple[ProblemCase, ...]
    answers: tuple[ProblemAnswer | None, ...]
    values: Values

    @cached_property
    def best(self) -> ProblemAnswer | None:
        """The answer of the case that has the optimum, where numbers tell."""
        found: list[tuple[mp.mpf, ProblemAnswer]] = []
        for case, one in zip(self.cases, self.answers, strict=True):
            if one is None or case.excluded(self.values):
                continue
            if not one.has_numbers:
                return None
            try:
                one.check()
            except InfeasibleError:
                continue
            value = one.value
            if value is None and one.numerical is not None:
                value = mp.mpf(one.numerical.value)
            if value is None:
                return None
            found.append((value, one))
        pick = max if self.problem.sense == "maximize" else min
        return pick(found, key=lambda pair: pair[0])[1] if found else None

    @property
    def pieces(self) -> tuple["AnswerPiece", ...]:
        """The closed forms of all cases."""
        return tuple(p for one in self.answers if one is not None for p in one.pieces)

    @property
    def value(self) -> mp.mpf | None:
        """The optimum, where all parameters have numbers and a closed form rules."""
        return None if self.best is None else self.best.value

    @property
    def exact(self) -> bool:
        """Whether the answer is a closed form: here, or in every case for all parameters."""
        if self.best is not None:
            return self.best.exact
        return all(one is None or one.exact for one in self.answers)

    @property
    def status(self) -> str | None:
        """What kind of answer there is at the numbers given; None without numbers."""
        return None if self.best is None else self.best.status

    def check(self) -> None:
        """Raise where there is no answer at the numbers given.

        Raises:
            InfeasibleError: If nothing satisfies the constraints, in any case.
            UnboundedError: If the objective has no bound.
        """
        if self.best is not None:
            return
        if all(
            one is None or case.excluded(self.values) or _infeasible(one)
            for case, one in zip(self.cases, self.answers, strict=True)
        ):
            raise InfeasibleError("no point satisfies the constraints, in any of the cases")


def _infeasible(found: ProblemAnswer) -> bool:
    if not found.has_numbers:
        return False
    try:
        found.check()
    except InfeasibleError:
        return True
    except (UnboundedError, NoAnswerError):
        return False
    return False


def solved(
    problem: Problem, settings: Values | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ProblemAnswer | CasesAnswer:
    """Solve a problem, as one or, where it has to be, as several.

    Where numbers tell which case there is, the answer is that of this case.

    Raises:
        FormulaError: If it is no geometric program, or too many of them.
    """
    given = {q.symbol: q.default for q in problem.parameters if q.default is not None}
    values: dict[sp.Symbol, sp.Expr] = {**given, **(settings or {})}
    folded = {s: v for s, v in values.items() if s in problem.exponents or not v.is_Rational}
    numbers = {s: v for s, v in values.items() if v.is_Rational}
    cases = [c for c in cases_of(problem, folded) if not c.excluded(numbers)]
    found: list[tuple[ProblemCase, ProblemAnswer | None]] = []
    while cases:
        case = cases.pop(0)
        try:
            chosen = {**(settings or {}), **(case.at or {})}
            found.append((case, None if case.never else answer(case.problem, chosen, progress)))
        except ChangesFormError as error:
            if len({s for s, _ in error.breaks}) != 1:
                raise
            cases = [*_by_range(case, error), *cases]
        if len(found) + len(cases) > MOST_CASES:
            raise FormulaError(f"it is more than {MOST_CASES} problems; give numbers")
    if len(found) == 1:
        case, one = found[0]
        if one is None:
            raise InfeasibleError(case.never)
        return one
    return CasesAnswer(
        problem, tuple(case for case, _ in found), tuple(one for _, one in found), numbers
    )
