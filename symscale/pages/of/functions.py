"""Which closed forms an answer or a derivation has, as functions for code, and where they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.domain import Domain
from symscale.algebra.products.limit import Condition, Limit, Piece
from symscale.derivation.steps import Derivation, Step
from symscale.errors import NoAnswerError, SymscaleError
from symscale.language.dimensions import unit_of
from symscale.language.symbols import NOTATION, notation, symbol
from symscale.language.units import parse_unit
from symscale.pages.formats.code import ClosedForms, Function, identifier
from symscale.pages.formats.document import Number
from symscale.pages.formats.text import inline
from symscale.pages.formulas import formula
from symscale.pages.formulas.programs import RESERVED
from symscale.pages.of.solve_curves import with_own_shares
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece
from symscale.studies.comp_vs_comm.answer import RatioAnswer
from symscale.studies.training.answer import CliffsAnswer, LimitsAnswer
from symscale.studies.training.cliffs import END, Cliff

_WORDS = {sp.Eq: "equals it", sp.Le: "is at most this", sp.Ge: "is at least this"}


def derivation_functions(derivation: Derivation) -> ClosedForms:
    """The results of a derivation: what its steps derive, and the limit that it ends in.

    Example:
        >>> from symscale.derivation.library import load_derivation
        >>> found = derivation_functions(load_derivation("edge-and-slack"))
        >>> [f.name for f in found.functions]
        ['edge_and_slack_edge', 'edge_and_slack_slack']
    """
    found: dict[str, Function] = {}
    limit = derivation.limit
    if limit is not None:
        for function in limit_functions(derivation.name, limit):
            found[function.name] = function
    for step in derivation.steps:
        function_of_step = _of_step(derivation, step)
        if function_of_step is None:
            continue
        same = [f for f in found.values() if f.values == function_of_step.values]
        if not same or (function_of_step.requires != same[0].requires and step.kind != "optimum"):
            found.setdefault(function_of_step.name, function_of_step)
    return ClosedForms(derivation.title, list(found.values()))


def _of_step(derivation: Derivation, step: Step) -> Function | None:
    """A derived relation's closed form: what stands on the right of it."""
    left, right = step.statement.lhs, step.statement.rhs
    if step.is_given or step.kind == "replacement":
        return None
    if right.is_Symbol and isinstance(step.statement, sp.Eq):
        left, right = right, left
    if not right.free_symbols or right.is_Symbol:
        return None
    words = _WORDS[type(step.statement)]
    meaning = notation(left).meaning if str(left) in NOTATION else ""
    shown = f"{formula.text(left)}{f' ({meaning})' if meaning else ''}"
    used = right.free_symbols
    return Function(
        identifier(derivation.name, step.key),
        f"{step.key}: {step.reason}. {shown} {words}",
        _unit(left) or _unit(right),
        (right,),
        requires=tuple(dict.fromkeys((
            *step.conditions, *_exponents(derivation.domain, used),
            *defined(right, _lower(derivation)),
        ))),
    )


def _lower(derivation: Derivation) -> dict[Any, sp.Rational]:
    """The least values of symbols on which a minimum in the derivation rests."""
    least: dict[Any, sp.Rational] = {}
    for step in derivation.steps:
        if step.rewrite is not None and step.rewrite.minimum is not None:
            least.update(step.rewrite.minimum.lower)
    return least


def defined(expr: sp.Expr, lower: Mapping[Any, sp.Rational] | None = None) -> list[Relational]:
    """Where a formula in the notation makes sense.

    Its symbols are at least what the notation, or `lower`, says, and what it divides by
    is positive, and what it takes a root of is not negative, where that does not follow.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> C, N_TP = symbols("C N_TP")
        >>> defined(C/(N_TP - 1))
        [N_TP >= 1, N_TP - 1 > 0]
    """
    least: dict[Any, Any] = {
        s: NOTATION[str(s)].lower for s in expr.free_symbols if str(s) in NOTATION
    }
    least = {s: sp.Rational(v) for s, v in {**least, **(lower or {})}.items() if v}
    shown = sorted(least.keys() & expr.free_symbols, key=str)
    found: list[Relational] = [sp.Ge(s, least[s], evaluate=False) for s in shown]
    for power in _powers(expr):
        base = _over(power.base, least)
        if power.exp.could_extract_minus_sign() and not base.is_positive:
            found.append(sp.Gt(power.base, 0, evaluate=False))
        elif not power.exp.is_integer and not base.is_nonnegative:
            found.append(sp.Ge(power.base, 0, evaluate=False))
    return found


def _over(expr: sp.Expr, least: Mapping[Any, sp.Rational]) -> sp.Expr:
    """A formula in what its symbols exceed their least values by, so that its sign shows."""
    return sp.expand(expr.xreplace({s: sp.Dummy(nonnegative=True) + v for s, v in least.items()}))


def _powers(expr: sp.Basic) -> list[sp.Pow]:
    """The powers of sums in a formula, but in exponents."""
    parts = [expr.base] if isinstance(expr, sp.Pow) else expr.args
    own = [expr] if isinstance(expr, sp.Pow) and expr.base.is_Add else []
    return list(dict.fromkeys([*own, *(p for part in parts for p in _powers(part))]))


def _unit(expr: sp.Expr) -> str:
    if str(expr) in NOTATION:
        return notation(expr).unit
    try:
        return str(unit_of(expr, {e.symbol: parse_unit(e.unit) for e in NOTATION.values()}))
    except (SymscaleError, KeyError):
        return ""


def _exponents(domain: Domain, used: Iterable[sp.Basic]) -> list[Relational]:
    """The intervals of the exponent symbols that are used, as relations."""
    found: list[Relational] = []
    at: Any
    for at in sorted(set(used) & set(domain.exponents), key=str):
        interval = domain.exponents[at]
        if interval.lower is not None:
            found.append(sp.Gt(at, interval.lower, evaluate=False))
        if interval.upper is not None:
            found.append(sp.Lt(at, interval.upper, evaluate=False))
    return found


def piece_region(piece: Piece | AnswerPiece) -> tuple[Relational, ...]:
    """Where a piece rules: the one place in which code reads that.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> piece_region(training_limits().limit.pieces[0])
        (3*W_mem*W_net**2*tau <= 4*C**2,)
    """
    if isinstance(piece, AnswerPiece):
        return piece.region
    return tuple(r for c in piece.region for r in _relation(c))


def limit_region(limit: Limit) -> tuple[Relational, ...]:
    """Where a limit holds: the domain of its parameters, and where some point is feasible."""
    feasible = [r for c in limit.feasibility for r in _relation(c)]
    parts = [p.bound for p in limit.pieces] + [c.ratio for c in limit.feasibility]
    used = {s for m in parts for s in m.free_symbols}
    domain = limit.program.domain
    least = [sp.Ge(m.expr, 1, evaluate=False) for m in domain.at_least_one
             if m.free_symbols <= used]
    return tuple(dict.fromkeys((*_exponents(domain, used), *least, *feasible)))


def _relation(condition: Condition, *, strict: bool = False) -> tuple[Relational, ...]:
    """A condition, or that its ratio is below 1; nothing where that is plain."""
    if not condition.ratio.free_symbols and condition.holds({}):
        return ()
    if strict and not condition.equal:
        return (formula.condition(condition.ratio, sp.Lt).relational,)
    return (formula.condition_of(condition).relational,)


def limit_functions(name: str, limit: Limit) -> list[Function]:
    """A limit: the optimum, which piece rules, and each piece.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> [f.name for f in limit_functions("limits", training_limits().limit)][:2]
        ['limits', 'limits_piece']
    """
    (objective,) = limit.program.objective.atoms
    entry = NOTATION.get(str(objective))
    what = f"{objective}{f', {entry.meaning}' if entry else ''}"
    optimum = Function(
        identifier(name), what, entry.unit if entry else "", tuple(p.expr for p in limit.pieces),
        least=limit.program.sense == "maximize", requires=limit_region(limit),
    )
    return _piecewise(optimum, limit.pieces)


def _piecewise(optimum: Function, pieces: Sequence[Piece | AnswerPiece]) -> list[Function]:
    """An optimum, the name of the piece that rules, and each piece where it does."""
    if not pieces[1:]:
        return [replace(optimum, cases=(), requires=(*optimum.requires, *sum(optimum.cases, ())),
                        meaning=optimum.meaning + _approached(pieces[0]))]
    extreme = "least" if optimum.least else "greatest"
    whole, rule = f"the {extreme} of its pieces", f"; the {extreme} does"
    if optimum.cases:
        whole, rule = "by the piece that rules", ""
    functions = [
        replace(optimum, meaning=f"{optimum.meaning}: {whole}"),
        replace(
            optimum, name=identifier(optimum.name, "piece"), unit="",
            meaning=f"the name of the piece that rules{rule}",
            names=tuple(p.name for p in pieces),
        ),
    ]
    for piece in pieces:
        binding = f": binding {', '.join(piece.binding)}" if piece.binding else ""
        region = dict.fromkeys((*optimum.requires, *piece_region(piece)))
        functions.append(replace(
            optimum, name=identifier(optimum.name, piece.name), values=(piece.expr,), cases=(),
            meaning=f"{optimum.meaning.partition(',')[0]} where the piece '{piece.name}' rules"
            f"{binding}{_approached(piece)}",
            requires=tuple(region),
        ))
    return functions


def _approached(piece: Piece | AnswerPiece) -> str:
    infimum = isinstance(piece, AnswerPiece) and piece.status == "infimum"
    return "; it is approached, and no point attains it" if infimum else ""


def answer_functions(answer: LimitsAnswer) -> ClosedForms:
    """The closed forms of `limits` or `cliffs`."""
    functions = limit_functions(answer.program.name, answer.limit)
    if isinstance(answer, CliffsAnswer):
        for cliff in answer.cliffs:
            ends = cliff.between[1] == END
            for piece in answer.limit.pieces if ends else [answer.limit.piece(cliff.between[0])]:
                functions.append(_cliff(answer, cliff, piece))
    values = {p.symbol: p.number for p in answer.parameters.values() if p.number is not None}
    return ClosedForms(answer.program.title, _distinct(functions), value_notes(values))


def _cliff(answer: CliffsAnswer, cliff: Cliff, below: Piece) -> Function:
    """Where a piece ceases to rule: if it rules there at all, and some run still fits."""
    T, above = symbol("T"), cliff.between[1]
    at = {T: cliff.compute}
    requires: dict[Relational, None] = {}
    for m in answer.program.domain.at_least_one:
        requires[sp.Ge(m.expr, 1, evaluate=False)] = None
    for other in answer.limit.pieces:
        if other.name not in (below.name, above):
            less = Condition((below.bound / other.bound).substitute(at))
            requires |= dict.fromkeys(_relation(less))
    for condition in answer.limit.feasibility:
        strict = above != END and condition.ratio.exponent(T) != 0
        there = replace(condition, ratio=condition.ratio.substitute(at))
        requires |= dict.fromkeys(_relation(there, strict=strict))
    used = {s for e in (cliff.compute.expr, *requires) for s in e.free_symbols}
    return Function(
        identifier(answer.program.name, below.name, "to", above),
        f"T at the cliff from '{below.name}' to '{above}'", notation("T").unit,
        (cliff.compute.expr,),
        requires=(*_exponents(answer.program.domain, used), *requires),
    )


def _distinct(functions: Iterable[Function]) -> list[Function]:
    """Functions with names of their own: of those with one name all but the first get a number."""
    found: dict[str, Function] = {}
    for function in functions:
        names = [function.name, *(f"{function.name}_{k}" for k in range(2, len(found) + 3))]
        name = next(n for n in names if n not in found)
        found[name] = replace(function, name=name)
    return list(found.values())


def problem_functions(answer: ProblemAnswer) -> ClosedForms:
    """The closed forms of `solve`: the optimum with its pieces, or bounds where it has none.

    Raises:
        InfeasibleError: If the constraints contradict each other.
        UnboundedError: If the objective has no bound.
    """
    problem = answer.problem
    maximum = problem.sense == "maximize"
    what, unit = formula.text(problem.objective), problem.unit
    functions: list[Function] = []
    if answer.limit is not None:
        answer.limit.check()
    if answer.pieces:
        pieces, shares = with_own_shares(answer)
        cases = () if answer.limit else tuple(piece_region(p) for p in pieces)
        optimum = Function(
            "optimum", what, unit, tuple(p.expr for p in pieces), least=maximum,
            requires=limit_region(answer.limit) if answer.limit else (), cases=cases,
            shares=shares,
        )
        functions = _piecewise(optimum, pieces)
    if answer.bounds is not None and not (answer.complete and answer.pieces):
        answer.bounds.loose.check()
        for limit, relation in ((answer.bounds.loose, "at most" if maximum else "at least"),
                                (answer.bounds.tight, "at least" if maximum else "at most")):
            if limit.pieces:
                functions.append(Function(
                    identifier(relation), f"{what} is {relation} this", unit,
                    tuple(p.expr for p in limit.pieces), least=maximum,
                    requires=limit_region(limit),
                ))
    if not functions:
        raise NoAnswerError("no closed form was found")
    names: dict[Any, sp.Symbol] = {}
    entries, notes = {}, {}
    for q in (*problem.variables, *problem.parameters):
        taken = RESERVED | {p.entry.name for p in problem.parameters if p is not q}
        name = next(n for n in (q.entry.name + "_" * k for k in range(99)) if n not in taken)
        names[q.symbol] = replace(q.entry, name=name).symbol
        entries[name] = q.entry
        if q.symbol in answer.values:
            notes[name] = f" (here {inline(Number(answer.values[q.symbol], q.entry.unit, 8))})"
    given = (
        replace(f, requires=tuple(dict.fromkeys((*f.requires, *declared(answer, f)))))
        for f in functions
    )
    return ClosedForms(
        problem.title, _distinct(renamed(f, names) for f in given), notes, entries
    )


def renamed(function: Function, names: Mapping[Any, sp.Symbol]) -> Function:
    """A function with arguments that no language takes otherwise."""
    def relation(r: Any) -> Any:
        return type(r)(r.lhs.xreplace(names), r.rhs.xreplace(names), evaluate=False)

    return replace(
        function, values=tuple(v.xreplace(names) for v in function.values),
        requires=tuple(map(relation, function.requires)),
        cases=tuple(tuple(map(relation, case)) for case in function.cases),
        shares=tuple(
            replace(s, number=s.number.xreplace(names), law=s.law.xreplace(names))
            for s in function.shares
        ),
    )


def declared(answer: ProblemAnswer, function: Function) -> list[Relational]:
    """What a problem says of the parameters of a function, and the signs that it was solved by."""
    found: list[Relational] = []
    used = set(function.arguments)
    least = {q.symbol: q.lower for q in answer.problem.parameters if q.lower is not None}
    for q in answer.problem.parameters:
        if q.symbol not in used:
            continue
        exponent = q.symbol in answer.problem.exponents
        if q.lower is not None:
            found.append((sp.Gt if exponent else sp.Ge)(q.symbol, q.lower, evaluate=False))
        if q.upper is not None:
            found.append((sp.Lt if exponent else sp.Le)(q.symbol, q.upper, evaluate=False))
    program = answer.program
    terms = [*program.objective, *(t for c in program.constraints for t in c.terms)]
    sums = {a for t in terms for a in t.atoms if not a.is_Symbol and a.free_symbols <= used}
    return found + [
        sp.Gt(a, 0, evaluate=False) for a in sorted(sums, key=str)
        if not _over(a, least).is_positive
    ]


def ratio_functions(answer: RatioAnswer) -> ClosedForms:
    """The closed forms of `ratio`."""
    found = []
    for ratio in answer.ratios:
        words = [ratio.name]
        words += [] if ratio.k is None else ["k", str(ratio.k)]
        words += [] if ratio.target is None else ["at", str(ratio.target)]
        found.append(
            Function(identifier(*words), f"{' '.join(words)}: {ratio.meaning}",
                     str(ratio.cost.unit), (ratio.cost.expr,),
                     requires=tuple(defined(ratio.cost.expr)))
        )
    title = f"Computation against communication: {answer.request.model.architecture.title}"
    return ClosedForms(title, found, value_notes(answer.values))


def value_notes(values: Mapping[Any, sp.Expr]) -> dict[str, str]:
    """The numbers that arguments have in an answer, as notes.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> value_notes({symbol("C"): sp.Integer(10)**15})
        {'C': ' (here 1e15 FLOP/s)'}
    """
    return {
        str(s): f" (here {inline(Number(v, notation(s).unit, 8))})"
        for s, v in values.items() if isinstance(v, sp.Rational) and str(s) in NOTATION
    }
