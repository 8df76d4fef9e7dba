"""A problem of one's own as a page: its closed forms, sliders, plots.

The script evaluates the functions that `solve --format javascript` writes, with the regions
in them; words of the problem stand in text and data, never in the script.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import sympy as sp

from symscale.errors import NoAnswerError, TooLargeError
from symscale.pages.formats.code import Function, javascript
from symscale.pages.formats.html import asset, embedded, equation, page
from symscale.pages.formats.json import Json
from symscale.pages.formulas.mathml import math
from symscale.pages.formulas.names import typeset_as
from symscale.pages.formulas.programs import RESERVED
from symscale.pages.of.explore import (
    END_OF_CONTROLS,
    MOST_BYTES,
    regions_section,
    slider_control,
    slider_data,
    value_of,
)
from symscale.pages.of.functions import declared, limit_region, piece_region, renamed
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece
from symscale.problems.problem import ProblemSymbol
from symscale.studies.explorers.explorer import Slider

_SPAN = 10  # a parameter runs from its number over this to its number times it
_COLOURS = 4  # in explorer.css


def own_explorer_page(found: ProblemAnswer) -> str:
    """Return a problem's closed forms as a page that evaluates and draws them.

    Raises:
        InfeasibleError: If the constraints contradict each other.
        UnboundedError: If the objective has no bound.
        NoAnswerError: If there is neither a closed form nor a bound, or nothing to move.
        TooLargeError: If it is longer than 500 KB.
    """
    problem = found.problem
    functions = _functions(found)
    used = {s for f in functions for s in f.arguments}
    moved = [q for q in problem.parameters if q.symbol in used]
    if not moved:
        raise NoAnswerError("the answer has no parameter to move; give it without numbers")
    sliders = [_slider(q, found.values.get(q.symbol)) for q in moved]
    entries = [replace(q.entry, name=_safe(q, problem.parameters)) for q in moved]
    code = _script(functions, {q.symbol: e.symbol for q, e in zip(moved, entries, strict=True)})
    axes = [e.name for s, e in zip(sliders, entries, strict=True) if s.log]
    with typeset_as(problem.own_names):
        parts = [
            f"<h1>{escape(problem.title)}</h1>",
            "<noscript><p>Sliders and plots need JavaScript; the formulas do not.</p></noscript>",
            '<div class="explorer"><form class="controls" id="controls" aria-label="Parameters">',
            "<h2>Parameters</h2>",
            *(slider_control(s, e) for s, e in zip(sliders, entries, strict=True)),
            END_OF_CONTROLS,
            '<div class="results">',
            _optimum(found),
            _results(found, functions),
            _curve(axes, found),
            regions_section(axes, "Each colour is where its piece rules; where none does is white.")
            if len(axes) > 1 and found.pieces else "",
            "</div></div>",
            embedded("explorer", {
                "sliders": [slider_data(s, e) for s, e in zip(sliders, entries, strict=True)],
                "presets": [], "choices": [_choice_data(found)],
                "results": [f.name for f in functions if f.name.startswith("result_")],
                "colours": {_label(found, k): k % _COLOURS for k in range(len(found.pieces))},
                "x": axes[0] if axes else None, "own": True, "marks": [],
                "plane": list(axes[:2]) if len(axes) > 1 and found.pieces else [],
                "axes": list(axes),
            }),
        ]
        text = page(
            problem.title, "\n".join(parts), style=asset("explorer.css"),
            script=code + asset("explorer.js"),
            symbols={q.entry.name: q.entry for q in (*problem.variables, *problem.parameters)},
        )
    if len(text.encode()) > MOST_BYTES:
        raise TooLargeError(f"the page would have more than {MOST_BYTES // 1000} KB")
    return text


def _functions(found: ProblemAnswer) -> list[Function]:
    """The optimum, which piece rules, each piece, the variables there, and the bounds."""
    maximum = found.problem.sense == "maximize"
    pieces, functions = found.pieces, []
    if found.limit is not None:
        found.limit.check()
    feasible = limit_region(found.limit) if found.limit else ()
    if pieces:
        optimum = Function(
            "optimum", "", "", tuple(p.expr for p in pieces), least=maximum, requires=feasible,
            cases=() if found.limit else tuple(map(piece_region, pieces)),
        )
        functions += [
            optimum,
            replace(optimum, name="rules", names=tuple(map(str, range(len(pieces))))),
            *(replace(optimum, name=f"optimum_{k}", values=(p.expr,), cases=(),
                      requires=(*feasible, *(() if found.limit else piece_region(p))))
              for k, p in enumerate(pieces)),
        ]
    for k, q in enumerate(found.problem.variables):
        there = [
            (expr, (*piece_region(p), *region)) for p in pieces for region, expr in _at(p, q.symbol)
        ]
        if there:
            values, cases = zip(*there, strict=True)
            functions.append(Function(
                f"result_{k}", "", "", tuple(values), requires=feasible, cases=tuple(cases)
            ))
    if found.bounds is not None and not (found.complete and pieces):
        found.bounds.loose.check()
        sides = (("least", found.bounds.loose), ("most", found.bounds.tight))
        for name, limit in ((n, b) for n, b in sides if b.pieces):
            functions.append(Function(
                f"result_{name}", "", "", tuple(p.expr for p in limit.pieces), least=maximum,
                requires=limit_region(limit),
            ))
    if not functions:
        raise NoAnswerError("no closed form was found")
    return [
        replace(f, requires=tuple(dict.fromkeys((*f.requires, *declared(found, f)))))
        for f in functions
    ]


def _at(piece: AnswerPiece, variable: sp.Symbol) -> list[tuple[tuple[Any, ...], sp.Expr]]:
    """The formulas of a variable where a piece rules, each with where it holds."""
    places = [(p.region, p.point[variable]) for p in piece.places if variable in p.point]
    if places or variable not in piece.point or piece.point[variable].is_Float:
        return places
    return [((), piece.point[variable])]


def _script(functions: Sequence[Function], names: dict[Any, sp.Symbol]) -> str:
    """The functions as JavaScript, without any word of the problem."""
    code = javascript("", [renamed(f, names) for f in functions], {}, {})
    plain = [line for line in code.splitlines() if not line.startswith("//")]
    listed = ", ".join(f.name for f in functions)
    return "\n".join([*plain, f"const formulas = {{ {listed} }};", ""])


def _safe(q: ProblemSymbol, parameters: Sequence[ProblemSymbol]) -> str:
    """A parameter's name as an argument that JavaScript takes."""
    taken = RESERVED | {p.entry.name for p in parameters if p is not q}
    name = q.entry.name if not q.entry.name.startswith("_") else f"p{q.entry.name}"
    return next(n for n in (name + "_" * k for k in range(99)) if n not in taken)


def _slider(q: ProblemSymbol, start: sp.Rational | None) -> Slider:
    """From lower to upper; where one is missing from the number over 10, or times 10."""
    if start is None or start <= 0:
        ends = [b for b in (q.lower, q.upper) if b]
        start = sp.Integer(1) if not ends else ends[0] if len(ends) == 1 else (
            sp.Rational(str(float(ends[0] * ends[1]) ** 0.5))
        )
    low = q.lower if q.lower else start / _SPAN
    high = q.upper if q.upper is not None else start * _SPAN
    low, high = min(low, start), max(high, start)
    return Slider(q.symbol, low, high if high > low else low * _SPAN, start, "", bool(low > 0))


def _label(found: ProblemAnswer, k: int) -> str:
    """A piece's name; those of one name are told apart."""
    names = [p.name for p in found.pieces]
    return names[k] if names.count(names[k]) == 1 else f"{names[k]} ({k + 1})"


def _choice_data(found: ProblemAnswer) -> dict[str, Json]:
    problem = found.problem
    return {
        "key": "optimum", "title": "Optimum", "rules": True, "unit": problem.unit, "end": None,
        "function": "min" if problem.sense == "maximize" else "max",
        "pieces": [_label(found, k) for k in range(len(found.pieces))],
        "beyond": "no optimum here" if found.complete else "no closed form rules here",
    }


def _optimum(found: ProblemAnswer) -> str:
    problem = found.problem
    sense = "Greatest" if problem.sense == "maximize" else "Least"
    parts = [
        f"<section><h2>{sense} {math(problem.objective)}</h2>",
        f'<p class="headline">{value_of("optimum", problem.unit)}: '
        '<strong id="n-optimum"></strong></p>',
    ]
    if not found.complete:
        parts.append("<p>The closed forms do not cover all parameters; bounds stand below.</p>")
    for k, piece in enumerate(found.pieces):
        rules = "".join(equation(r) for r in piece.region)
        reached = "" if piece.status == "optimal" else "<p>Approached; no point attains it.</p>"
        parts.append(
            f'<div class="piece" id="p-optimum_{k}" style="--c: var(--c{k % _COLOURS})">'
            f"<h3>{escape(_label(found, k))} {value_of(f'optimum_{k}', problem.unit)} "
            f'<span class="badge">rules</span></h3>{equation(piece.expr)}{reached}'
            + (f"<details><summary>Where it rules</summary>{rules}</details>" if rules else "")
            + "</div>"
        )
    return "\n".join([*parts, "</section>"])


def _results(found: ProblemAnswer, functions: Sequence[Function]) -> str:
    """The variables at the optimum, and the bounds, as set."""
    names = {f.name for f in functions}
    parts = ["<section><h2>There</h2><ul>"]
    for k, q in enumerate(found.problem.variables):
        if f"result_{k}" in names:
            meaning = f" ({escape(q.entry.meaning)})" if q.entry.meaning else ""
            parts.append(
                f"<li>{math(q.symbol)}{meaning} = {value_of(f'result_{k}', q.entry.unit)}</li>"
            )
        else:
            parts.append(f"<li>{math(q.symbol)}: left free, or without formula</li>")
    maximum = found.problem.sense == "maximize"
    for name, words in (("least", "at most" if maximum else "at least"),
                        ("most", "at least" if maximum else "at most")):
        if f"result_{name}" in names:
            value = value_of(f"result_{name}", found.problem.unit)
            parts.append(f"<li>the optimum is {words} {value}</li>")
    return "\n".join([*parts, "</ul></section>"])


def _curve(axes: Sequence[str], found: ProblemAnswer) -> str:
    if not axes or not found.pieces:
        return ""
    options = "".join(f"<option>{escape(name)}</option>" for name in axes)
    return (
        '<section><h2>Optimum</h2>\n<div class="axes"><label>Against <select id="against">'
        f'{options}</select></label></div>\n<figure><svg id="curves" role="img"></svg>'
        "<figcaption>Each piece in its colour; grey is where none rules. Circle: the parameters "
        "as set.</figcaption></figure></section>"
    )
