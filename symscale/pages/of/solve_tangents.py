"""What decides an optimum, its local law, and covers within a share, as documents and JSON."""

import math

import sympy as sp

from symscale.algebra.tangents.rounding import TangentBound
from symscale.pages.formats.document import (
    Block,
    Cell,
    Column,
    Formula,
    Heading,
    Inline,
    Number,
    Table,
    paragraph,
)
from symscale.pages.formats.json import Json, formula_data, number, powers
from symscale.problems.answer import ProblemAnswer
from symscale.problems.proofs import number_symbols

_SHARE_DIGITS = 2


def scaling_blocks(found: ProblemAnswer) -> list[Block]:
    """Which dimensionless numbers decide the optimum."""
    scaling = found.scaling
    if scaling is None or not found.program.parameters:
        return []
    symbols = number_symbols(found.program, len(scaling.numbers))
    blocks: list[Block] = [Heading("What decides it")]
    objective = found.problem.objective
    if not symbols:
        front = Formula(scaling.front)
        return [*blocks, paragraph("No dimensionless number: the optimum is a number times ",
                                   front, ", whatever the parameters are.")]
    function = sp.Function("F")(*symbols)
    best = f"{'greatest' if found.problem.sense == 'maximize' else 'least'} value of "
    words: list[Inline] = [f"The {best}", Formula(objective), " is "]
    words += [] if scaling.front.is_one else [Formula(scaling.front), " times "]
    count, own = len(symbols), len(found.program.parameters)
    many = f"{count} dimensionless numbers" if count > 1 else "one dimensionless number"
    words += [Formula(function), f", a function of {many}"]
    words += [f" (there are {own} parameters)" if own > count else "", ": "]
    for k, (s, value) in enumerate(zip(symbols, scaling.numbers, strict=True)):
        words += [", " if k else "", Formula(sp.Eq(s, value.expr, evaluate=False))]
    return [*blocks, paragraph(*words, ".")]


def scaling_data(found: ProblemAnswer) -> Json:
    """The same as JSON: how many numbers, which, and the product in front."""
    scaling = found.scaling
    if scaling is None:
        return None
    symbols = number_symbols(found.program, len(scaling.numbers))
    return {
        "count": len(symbols),
        "front": formula_data(scaling.front.expr),
        "numbers": [
            {"name": str(s), **formula_data(k.expr)}
            for s, k in zip(symbols, scaling.numbers, strict=True)
        ],
    }


def law_blocks(found: ProblemAnswer) -> list[Block]:
    """The local law: one product of powers, and how near it is."""
    from symscale.algebra.tangents.law import MOST_DIGITS, SPREAD_FACTOR, SPREAD_SHARE

    law = found.law
    if law is None:
        if found.digits is not None and found.limit is not None:
            return [paragraph("The closed forms are products of powers themselves: there is no "
                              "local law beside them.")]
        return []
    unit, maximum = found.problem.unit, found.problem.sense == "maximize"
    words: list[Inline] = ["For all positive parameters the optimum is at "]
    words += ["most " if maximum else "least ", *_product(law.bound)]
    words += [
        f". At these numbers that is {_percent(law.gap, up=True)} ",
        "above" if maximum else "below", " it",
    ]
    if not law.is_near:
        more = f" (more: --digits {law.digits + 1})" if law.digits < MOST_DIGITS else ""
        words += [f", the nearest with such powers{more}"]
    words += [
        "; its powers are, but for rounding, those by which the optimum changes with each "
        "parameter there."
    ]
    spread = law.spread
    near = (
        f"With each parameter anywhere between 1/{SPREAD_FACTOR} and {SPREAD_FACTOR} times its "
        f"number it stays within {_percent(SPREAD_SHARE)} of the optimum at about "
        f"{_percent(spread.share)} of {spread.points} random points: an estimate."
    )
    value = _number_of(law.bound, found)
    rows: list[tuple[Cell, ...]] = [
        ("numerical optimum", Number(law.optimum, unit)), ("local law", Number(value, unit)),
    ]
    return [
        Heading("Local law"), paragraph(*words),
        Table((Column("at these numbers"), Column("value")), tuple(rows)), paragraph(near),
    ]


def law_data(found: ProblemAnswer) -> Json:
    """The local law as JSON."""
    from symscale.algebra.tangents.law import SPREAD_FACTOR, SPREAD_SHARE

    law = found.law
    if law is None:
        return None
    return {
        **_bound_data(law.bound),
        "relation": "<=" if found.problem.sense == "maximize" else ">=",
        "value": number(_number_of(law.bound, found)),
        "gap": law.gap,
        "spread": {
            "factor": SPREAD_FACTOR, "within": SPREAD_SHARE, "share": law.spread.share,
            "points": law.spread.points,
        },
    }


def cover_blocks(found: ProblemAnswer) -> list[Block]:
    """Pieces that cover a box."""
    cover = found.cover
    if found.share is None:
        return []
    if cover is None:
        return [paragraph("The closed forms are exact for all parameters: no pieces within a "
                          "share are needed.")]
    maximum = found.problem.sense == "maximize"
    share = _percent(float(cover.share))
    symbols = number_symbols(found.program, len(cover.numbers))
    count = len(cover.pieces)
    best = "least" if maximum else "greatest"
    words: list[Inline] = [
        f"{count} products of powers" if count > 1 else "One product of powers",
        f"; each bounds the optimum from {'above' if maximum else 'below'}, whatever the "
        "parameters are" if count > 1 else
        f" bounds the optimum from {'above' if maximum else 'below'}, whatever the parameters are",
        f", and the {best} of them is within {share} of it " if count > 1 else
        f", and is within {share} of it ",
    ]
    blocks: list[Block] = [Heading(f"Within {share}")]
    if cover.proof is not None:
        words += ["for all parameters with "]
        for k, (low, high) in enumerate(cover.proof.ends):
            words += [", " if k else "", Formula(symbols[k]), " = ", Formula(cover.numbers[k]),
                      " from ", Number(low), " to ", Number(high)]
        words += [": all of the box among them. The kernel shows it."]
    elif cover.seen is not None:
        seen = cover.seen
        words += [
            f"as far as was seen, not proved: at {seen.near} of {seen.points} random points of "
            f"the box that it was not made with, at worst {_percent(seen.worst, up=True)} off",
            f" (at {seen.without} others no point satisfies the constraints)"
            if seen.without else "",
            f". No proof: {cover.unproved}.",
        ]
    blocks.append(paragraph(*words))
    rows: list[tuple[Cell, ...]] = []
    for k, piece in enumerate(cover.pieces, 1):
        at: list[Inline] = []
        if piece.span is not None:
            at = [Number(piece.span[0]), " to ", Number(piece.span[1])]
        else:
            for value in piece.touch:
                at += [", " if at else "", Number(value, "", 3)]
        rows.append((str(k), _product(piece.bound), at))
    names: list[str] = [str(s) for s in symbols]
    where = f"{best} for {names[0]}" if len(names) == 1 else f"best near {', '.join(names)} ="
    columns = (Column("piece"), Column(
        "at most" if maximum else "at least", wrap=True, share=0.55
    ), Column(where, wrap=True, share=0.25))
    return [*blocks, Table(columns, tuple(rows))]


def cover_data(found: ProblemAnswer) -> Json:
    """Pieces that cover a box, as JSON."""
    cover = found.cover
    if cover is None:
        return None
    symbols = number_symbols(found.program, len(cover.numbers))
    proof, seen = cover.proof, cover.seen
    return {
        "share": number(cover.share),
        "relation": "<=" if found.problem.sense == "maximize" else ">=",
        "box": {str(s): [number(low), number(high)] for s, (low, high) in cover.box.ranges.items()},
        "numbers": [
            {
                "name": str(s), **formula_data(k.expr),
                "from": None if proof is None else number(proof.ends[i][0]),
                "to": None if proof is None else number(proof.ends[i][1]),
            }
            for i, (s, k) in enumerate(zip(symbols, cover.numbers, strict=True))
        ],
        "proved": proof is not None,
        "unproved_because": cover.unproved or None,
        "seen": None if seen is None else {
            "points": seen.points, "within": seen.near, "worst": seen.worst,
            "infeasible": seen.without,
        },
        "pieces": [
            {
                **_bound_data(p.bound), "touches": list(p.touch),
                "from": None if p.span is None else p.span[0],
                "to": None if p.span is None else p.span[1],
            }
            for p in cover.pieces
        ],
    }


def _product(bound: TangentBound) -> list[Inline]:
    """A product with its number as a decimal."""
    if bound.powers.is_one:
        return [Number(bound.constant, "", 12)]
    if bound.constant == 1:
        return [Formula(bound.powers)]
    return [Number(bound.constant, "", 12), " ", Formula(bound.powers)]


def _bound_data(bound: TangentBound) -> dict[str, Json]:
    return {
        **formula_data(bound.value.expr),
        "constant": number(bound.constant),
        "powers": powers({a: bound.powers.exponent(a) for a in bound.powers.atoms}),
        "shares": {name: [str(d) for d in row] for name, row in bound.shares.items()},
    }


def _number_of(bound: TangentBound, found: ProblemAnswer) -> sp.Expr:
    return bound.value.evaluate(found.values)


def _percent(share: float, *, up: bool = False) -> str:
    """A share in percent, to two digits; rounded up where it must not seem less."""
    percent = 100 * share
    if percent < 1e-3:
        return "less than 0.001 %"
    places = max(0, _SHARE_DIGITS - 1 - math.floor(math.log10(percent)))
    scaled = percent * 10**places
    whole = math.ceil(scaled - 1e-9) if up else round(scaled)
    return f"{whole / 10**places:g} %"
