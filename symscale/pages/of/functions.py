"""Which closed forms an answer or a derivation has, as functions for code."""

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.exact.domain import Domain
from symscale.algebra.products.limit import Limit
from symscale.derivation.steps import Derivation, Step
from symscale.errors import SymscaleError
from symscale.language.dimensions import unit_of
from symscale.language.symbols import NOTATION, notation
from symscale.language.units import parse_unit
from symscale.pages.formats.code import ClosedForms, Function, identifier
from symscale.pages.formats.document import Number
from symscale.pages.formats.text import inline
from symscale.pages.formulas import formula
from symscale.pages.formulas.formula import AtMost
from symscale.studies.comp_vs_comm.answer import RatioAnswer
from symscale.studies.training.answer import CliffsAnswer, LimitsAnswer

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
            *step.conditions, *_exponents(derivation.domain, used), *_lower(derivation, used),
        ))),
    )


def _lower(derivation: Derivation, used: Iterable[sp.Basic]) -> list[Relational]:
    """The least values of symbols on which a minimum in the derivation rests."""
    least: dict[Any, sp.Rational] = {}
    for step in derivation.steps:
        if step.rewrite is not None and step.rewrite.minimum is not None:
            least.update(step.rewrite.minimum.lower)
    return [sp.Ge(s, least[s], evaluate=False) for s in sorted(set(used) & set(least), key=str)]


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


def limit_functions(name: str, limit: Limit) -> list[Function]:
    """A limit: the optimum, which piece rules, and each piece.

    Example:
        >>> from symscale.studies.training.answer import training_limits
        >>> [f.name for f in limit_functions("limits", training_limits().limit)][:2]
        ['limits', 'limits_piece']
    """
    (objective,) = limit.program.objective.atoms
    entry = NOTATION.get(str(objective))
    unit = entry.unit if entry else ""
    what = f"{objective}{f', {entry.meaning}' if entry else ''}"
    least = limit.program.sense == "maximize"
    values = tuple(p.expr for p in limit.pieces)
    used = {s for v in values for s in v.free_symbols}
    requires: list[Relational] = _exponents(limit.program.domain, used)
    requires += [sp.Ge(m.expr, 1, evaluate=False) for m in limit.program.domain.at_least_one
                 if m.free_symbols <= used]
    for condition in limit.feasibility:
        if condition.ratio.free_symbols:
            requires.append(_relation(formula.condition(condition.ratio)))
    optimum = (sp.Min if least else sp.Max)(*values, evaluate=False) if values[1:] else values[0]
    extreme = "least" if least else "greatest"
    functions = [
        Function(
            identifier(name), f"{what}: the {extreme} of its pieces", unit, (optimum,),
            requires=tuple(requires),
        ),
        Function(
            identifier(name, "piece"), f"the name of the piece that rules; the {extreme} does",
            "", values, tuple(p.name for p in limit.pieces), least, tuple(requires),
        ),
    ]
    for piece in limit.pieces:
        binding = f": binding {', '.join(piece.binding)}" if piece.binding else ""
        functions.append(
            Function(
                identifier(name, piece.name), f"{objective} by the piece '{piece.name}'{binding}",
                unit, (piece.expr,),
                requires=tuple(_exponents(limit.program.domain, piece.bound.free_symbols)),
            )
        )
    return functions


def _relation(condition: AtMost) -> Relational:
    return sp.Le(condition.left.expr, condition.right.expr, evaluate=False)


def answer_functions(answer: LimitsAnswer) -> ClosedForms:
    """The closed forms of `limits` or `cliffs`."""
    functions = limit_functions(answer.program.name, answer.limit)
    if isinstance(answer, CliffsAnswer):
        for cliff in answer.cliffs:
            below, above = cliff.between
            functions.append(
                Function(
                    identifier(answer.program.name, below, "to", above),
                    f"T at the cliff from '{below}' to '{above}'", notation("T").unit,
                    (cliff.compute.expr,),
                    requires=tuple(
                        _exponents(answer.program.domain, cliff.compute.free_symbols)
                    ),
                )
            )
    values = {p.symbol: p.number for p in answer.parameters.values() if p.number is not None}
    return ClosedForms(answer.program.title, functions, value_notes(values))


def ratio_functions(answer: RatioAnswer) -> ClosedForms:
    """The closed forms of `ratio`."""
    found = []
    for ratio in answer.ratios:
        words = [ratio.name]
        words += [] if ratio.k is None else ["k", str(ratio.k)]
        words += [] if ratio.target is None else ["at", str(ratio.target)]
        found.append(
            Function(identifier(*words), f"{' '.join(words)}: {ratio.meaning}",
                     str(ratio.cost.unit), (ratio.cost.expr,))
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
