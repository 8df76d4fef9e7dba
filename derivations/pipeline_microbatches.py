"""Pipeline microbatches: how many take the least time.

More of them leave a smaller bubble, and each costs an overhead of its own.
"""

import sympy as sp

from symscale.algebra.rewrites.least import least
from symscale.algebra.rewrites.rewrite import compose, rearrange, substitute
from symscale.costs.pipeline import bubble_fraction
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import MEGATRON, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity


def derive() -> Derivation:
    """Derive the best number of microbatches, and the time it takes."""
    m, N_PP, t_o, t_math, t_pass = symbols("m N_PP t_o t_math t_pass")
    build = DerivationBuilder(
        "pipeline-microbatches", "Pipeline microbatches: bubble against overhead",
        "The batch passes N_PP stages in m microbatches. Each stage computes for t_math on the "
        "whole batch, and loses an overhead t_o on each microbatch. Which m takes the least time? "
        "Where others write p stages and t_c, these are N_PP and t_math.",
    )
    busy = quantity("m") * quantity("t_o") + quantity("t_math")
    bubble = bubble_fraction(N_PP, m, sp.Integer(1))
    build.define(
        "pass", quantity("t_pass"), busy / (1 - bubble),
        "a stage is busy for m t_o + t_math; with the bubble of a schedule without interleaving, "
        "a share (N_PP - 1)/(N_PP - 1 + m) of the time, it takes longer", MEGATRON,
    )
    taken = busy.expr / (1 - bubble)
    terms = t_math + (N_PP - 1) * t_o + m * t_o + (N_PP - 1) * t_math / m
    build.rewrite(
        "terms",
        compose(
            substitute(t_pass, {t_pass: taken}, "the time of a pass"),
            rearrange(taken, terms, "multiplied out"),
        ),
        "multiply out: the bubble adds (N_PP - 1)/m of the busy time", premises=["pass"],
    )
    lowest = build.rewrite(
        "least time",
        least(
            terms, [m],
            "choose m, as a real number, so that the sum is least, for N_PP above 1",
            bounds=[1 / m], lower={N_PP: sp.Integer(1)},
        ),
    ).statement.rhs
    best = build.choose(
        "best m", "least time", m, "at least one microbatch; there is a bubble where N_PP > 1"
    ).statement.rhs
    square = (sp.sqrt(t_math) + sp.sqrt((N_PP - 1) * t_o)) ** 2
    build.rewrite(
        "value", rearrange(lowest, square, "the least time is a square"),
    )
    at = {N_PP: sp.Integer(9), t_o: sp.Rational(1, 1000), t_math: sp.Rational(1, 2)}
    sample = {m: best.xreplace(at)}
    rows = (
        ("best m", Number(sp.Float(sp.N(best.xreplace(at), 25), 25))),
        ("least time", Number(sp.Float(sp.N(lowest.xreplace(at), 25), 25), "s", 7)),
        ("time at half of the best m", Number(_time(terms, at, sample[m] / 2), "s", 7)),
        ("time at twice the best m", Number(_time(terms, at, sample[m] * 2), "s", 7)),
    )
    return build.finish(
        "The best m is the root of (N_PP - 1) t_math/t_o, where overheads m t_o and bubble "
        "(N_PP - 1) t_math/m take equally long. The time is then the square of the sum of the "
        "roots of t_math and (N_PP - 1) t_o. It is a minimum, and the only one: the time is convex "
        "in ln m, and its second derivative is positive. Where (N_PP - 1) t_math is below t_o, or "
        "with a single stage, one microbatch is best. As a whole number m is one of the two beside "
        "the root: by the same convexity time only grows away from it. The bubble formula holds "
        "for any m >= 1 without interleaving.",
        (
            NumbersTable(
                "An example: N_PP = 9, t_o = 1 ms, t_math = 0.5 s", ("quantity", "value"), rows
            ),
        ),
    )


def _time(formula: sp.Expr, at: dict[sp.Symbol, sp.Rational], m: sp.Expr) -> sp.Float:
    (free,) = formula.xreplace(at).free_symbols
    return sp.Float(sp.N(formula.xreplace(at).xreplace({free: m}), 25), 25)


if __name__ == "__main__":
    show(derive())
