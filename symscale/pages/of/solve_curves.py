"""Curves in the answers of `solve`: what decides the optimum, and between which limits it lies."""

from dataclasses import replace
from pathlib import Path

import mpmath as mp
import sympy as sp

from symscale.algebra.curves.curve import Curve
from symscale.algebra.curves.shape import CurveShape, terms_with_shares
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.errors import InputError
from symscale.language.symbols import Notation
from symscale.pages.formats.code import ShareLaw
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Equation,
    Formula,
    Inline,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number
from symscale.pages.formulas.formula import Compared
from symscale.pages.formulas.programs import RESERVED
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece, Values

_ROWS = (-3, -2, -1, 0, 1, 2, 3)
_NUMBERS = ("K", "kappa", "Kappa", "number")


def number_symbol(found: ProblemAnswer) -> sp.Symbol:
    """The symbol of the dimensionless number, one that the problem does not use."""
    problem = found.problem
    taken = {q.entry.name for q in (*problem.variables, *problem.parameters)}
    names = (*_NUMBERS, *(f"K_{k}" for k in range(1, len(taken) + 2)))
    name = next(n for n in names if n not in taken)
    latex = {"kappa": r"\kappa"}.get(name, name)
    return Notation(name, "1", latex, "what decides the optimum").symbol


def curve_blocks(found: ProblemAnswer, piece: AnswerPiece) -> list[Block]:
    """What decides the share in a piece's formulas, and how the optimum goes with it."""
    curve = piece.curve
    if curve is None:
        return []
    blocks = [_law(found, curve)]
    if curve.varies:
        k = Monomial.of(number_symbol(found))
        blocks.append(Equation(Compared(k, curve.number, sp.Eq)))
        blocks.append(Equation(Compared(k, curve.law, sp.Eq)))
    else:
        blocks.append(Equation(Compared(curve.law, curve.number, sp.Eq)))
    blocks += share_here(found, piece, curve)
    blocks += _limits(found, piece, curve)
    blocks += _shares(found, piece, curve)
    blocks += _table(found, piece, curve)
    return blocks


def _law(found: ProblemAnswer, curve: Curve) -> Block:
    r = Formula(curve.symbol)
    ends: list[Inline] = [" between ", Number(curve.segment.low), " and ",
                          Number(curve.segment.high)]
    if not curve.varies:
        return paragraph("There ", r, " is the one number", *ends, " with")
    words: list[Inline] = ["There ", r, " is the one number", *ends,
                           " that the dimensionless number ", Formula(number_symbol(found)),
                           " decides; the right side rises with it"]
    low, high = curve.limits
    if low is None and high is None:
        return paragraph(*words, " from 0 beyond all bounds:")
    words += [" from ", *([Formula(low)] if low is not None else ["0"])]
    words += [" to ", Formula(high)] if high is not None else [" beyond all bounds"]
    return paragraph(*words, ":")


def share_here(found: ProblemAnswer, piece: AnswerPiece, curve: Curve) -> list[Block]:
    """The share at the numbers given, where the piece rules there."""
    share = curve.share(found.values) if found.ruling is piece else None
    if share is None:
        return []
    words: list[Inline] = ["Here ", Formula(curve.symbol), " = ", Number(share)]
    level = curve.evaluate(curve.number.expr, found.values)
    if curve.varies and level is not None:
        words += [" at ", Formula(number_symbol(found)), " = ", Number(level)]
    return [paragraph(*words, ".")]


def _limits(found: ProblemAnswer, piece: AnswerPiece, curve: Curve) -> list[Block]:
    if not curve.varies:
        return []
    k = Formula(number_symbol(found))
    words: list[Inline] = []
    for end, level, text in zip(
        _asymptotes(found, curve), curve.limits, (" falls", " grows"), strict=True
    ):
        if end is None:
            continue
        words += ["; as " if words else "As ", k, text]
        words += [" to ", Formula(level)] if level is not None else (
            [" to 0"] if text == " falls" else [" beyond all bounds"]
        )
        words += [" the optimum goes as ", Formula(end)]
    return [paragraph(*words, ".")] if words else []


def _asymptotes(
    found: ProblemAnswer, curve: Curve
) -> tuple[Monomial | None, Monomial | None]:
    """The limits of the optimum asked for."""
    low, high = (
        end and (end**-1 if found.program.inverse else end) for end in curve.asymptotes
    )
    return low, high


def _shares(found: ProblemAnswer, piece: AnswerPiece, curve: Curve) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    for name, terms in _sums(found, piece).items():
        for term, share in terms:
            value = piece.number(share.expr, found.values) if found.ruling is piece else None
            shown: Cell = "" if value is None else Number(value)
            rows.append((name, Formula(term), Formula(share), shown))
    if not rows:
        return []
    columns = (Column("of", wrap=True, share=0.25), Column("term", wrap=True, share=0.3),
               Column("share", wrap=True, share=0.25), Column("here"))
    return [Table(columns, tuple(rows), "What of its sum each term is at the optimum.")]


def _sums(
    found: ProblemAnswer, piece: AnswerPiece
) -> dict[str, list[tuple[sp.Expr, Monomial]]]:
    """The sums in which the optimum is one, with their terms and these terms' shares."""
    source, curve, program = piece.source, piece.curve, found.program
    if source is None or curve is None:
        return {}
    least = source.value**-1 if program.inverse else source.value
    sums = {"the objective": (program.objective, least)}
    sums |= {c.name: (c.terms, ONE) for c in program.constraints if c.name in piece.binding}
    return {
        name: terms_with_shares(terms, source, curve, whole)
        for name, (terms, whole) in sums.items() if len(terms) > 1
    }


def _shape(found: ProblemAnswer, piece: AnswerPiece) -> CurveShape | None:
    if piece.source is None or piece.curve is None or not piece.curve.varies:
        return None
    return CurveShape.of(piece.source, piece.curve, inverse=found.program.inverse)


def _table(found: ProblemAnswer, piece: AnswerPiece, curve: Curve) -> list[Block]:
    shape = _shape(found, piece)
    if shape is None or (shape.over_low is None and shape.over_high is None):
        return []
    rows: list[tuple[Cell, ...]] = []
    for at in shape.at(_ROWS, found.values):
        over = [("" if v is None else Number(v)) for v in (at.over_low, at.over_high)]
        rows.append((Number(at.number), Number(at.share), *over))
    if not rows:
        return []
    k = str(number_symbol(found))
    columns = (Column(k), Column(str(curve.symbol)), Column(f"optimum over its limit at small {k}"),
               Column(f"at large {k}"))
    return [Table(columns, tuple(rows), "Whatever the parameters are.")]


def curve_data(found: ProblemAnswer, piece: AnswerPiece) -> Json:
    """What decides a piece's formulas, as JSON; null where these are closed."""
    curve = piece.curve
    if curve is None:
        return None
    share = curve.share(found.values)
    level = curve.evaluate(curve.number.expr, found.values)
    shape = _shape(found, piece)
    limits: list[Json] = [
        {"number": None if at is None else formula_data(at),
         "optimum": None if end is None else formula_data(end)}
        for at, end in zip(curve.limits, _asymptotes(found, curve), strict=True)
    ]
    return {
        "share": str(curve.symbol), "from": str(curve.segment.low), "to": str(curve.segment.high),
        "number": formula_data(curve.number), "law": formula_data(curve.law),
        "at": {"share": _float(share), "number": _float(level)},
        "lower_limit": limits[0], "upper_limit": limits[1],
        "shares": {
            name: [{"term": formula_data(term), "share": formula_data(share.expr)}
                   for term, share in terms]
            for name, terms in _sums(found, piece).items()
        },
        "table": [] if shape is None else [
            {"number": _float(p.number), "share": _float(p.share),
             "over_lower_limit": _float(p.over_low), "over_upper_limit": _float(p.over_high)}
            for p in shape.at(_ROWS, found.values)
        ],
    }


def _float(value: mp.mpf | None) -> float | None:
    return None if value is None else number(value)


def curve_piece(found: ProblemAnswer) -> AnswerPiece | None:
    """The piece whose curve is drawn: the one that rules, or else the first that is one."""
    if found.ruling is not None and found.ruling.curve is not None:
        return found.ruling
    return next((p for p in found.pieces if p.curve is not None and p.curve.varies), None)


def draw_curve(found: ProblemAnswer, path: Path) -> None:
    """Draw the optimum over its limit at small K against K, with both limits.

    Raises:
        InputError: If no formula depends on a share, or exponents have no numbers.
    """
    from symscale.pages.figures.laws import law_plot

    piece = curve_piece(found)
    shape = None if piece is None else _shape(found, piece)
    if piece is None or piece.curve is None or shape is None or shape.over_low is None:
        raise InputError("--plot: no one number decides the optimum; give --sweep NAME=LOW..HIGH")
    here = shape.here(found.values) if found.ruling is piece else None
    exponents: Values = {
        s: v for s, v in found.values.items() if s in piece.curve.domain.exponents
    }
    line = shape.line(exponents, None if here is None else here.number)
    if not line:
        names = ", ".join(map(str, piece.curve.domain.exponents))
        raise InputError(f"--plot needs numbers for {names}; give them by --set")
    law_plot(found.problem.title, number_symbol(found), piece.curve.number.expr, line, here, path)



def with_own_shares(found: ProblemAnswer) -> tuple[list[AnswerPiece], tuple[ShareLaw, ...]]:
    """The pieces, each with a share of a name of its own, and the laws of these.

    That there is such a share is one of the conditions of a piece.
    """
    problem = found.problem
    taken = {q.entry.name for q in (*problem.variables, *problem.parameters)} | RESERVED
    pieces: list[AnswerPiece] = []
    laws: list[ShareLaw] = []
    for piece in found.pieces:
        curve = piece.curve
        if curve is None:
            pieces.append(piece)
            continue
        base = str(curve.symbol)
        name = next(n for n in (base, *(f"{base}_{k}" for k in range(2, 999))) if n not in taken)
        taken |= {name, f"{name}_below", f"{name}_above", f"{name}_number", f"{name}_step"}
        own = Notation(name, "1", name, "the share that decides the optimum").symbol
        moved = {curve.symbol: own}
        law = curve.law.expr.xreplace(moved)
        low, high = curve.segment.low, curve.segment.high
        laws.append(ShareLaw(own, low, high, curve.number.expr, law))
        conditions = [(a.xreplace(moved), b.xreplace(moved), c) for a, b, c in piece.conditions]
        relations = piece.relations or ("<=",) * len(conditions)
        pieces.append(replace(
            piece, expr=piece.expr.xreplace(moved), conditions=(*conditions, (low, own, "")),
            relations=(*relations, "<"),
        ))
    return pieces, tuple(laws)
