"""Checkpoint interval: how long to compute between two checkpoints.

Checkpoints too often cost time to write; too rarely, a failure destroys more work.
"""

import sympy as sp

from symscale.algebra.rewrites.least import least
from symscale.costs.cost import cost
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import YOUNG, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import quantity

EXCESS, LEAST_RATIO = sp.Rational(2, 100), 8
"""What is said of the exact loss; a test computes it."""


def derive() -> Derivation:
    """Derive the interval of Young, and the share of time that is lost with it."""
    t_ckpt, t_save, t_fail = symbols("t_ckpt t_save t_fail")
    build = DerivationBuilder(
        "checkpoint-interval", "Checkpoint interval: Young's and Daly's square root",
        "A run writes a checkpoint, in t_save, after every t_ckpt of computation. A failure, one "
        "in t_fail, throws it back to the last checkpoint. Which t_ckpt loses least? Where others "
        "write x for the interval, t_c and M, these are t_ckpt, t_save and t_fail.",
    )
    lost = cost(t_save / t_ckpt, "1") + cost((t_ckpt / 2) / t_fail, "1")
    build.define(
        "loss", quantity("f_lost"), lost,
        "each interval writes one checkpoint, and a failure destroys half an interval of work on "
        "average; to first order in t_ckpt/t_fail and t_save/t_ckpt, so that failures while "
        "writing, and in work done again, do not count", YOUNG,
    )
    lowest = build.rewrite(
        "least loss",
        least(
            lost.expr, [t_ckpt], "choose t_ckpt so that the sum is least",
            bounds=[t_ckpt / t_fail],
        ),
    ).statement.rhs
    best = build.choose(
        "best interval", "least loss", t_ckpt,
        "shorter than the time between failures, as the first order asks for; then it is also "
        "longer than its checkpoint, at least twice as long",
    ).statement.rhs
    rows = []
    for hours in (3, 24):
        at = {t_save: sp.Integer(60), t_fail: sp.Integer(3600 * hours)}
        rows.append((
            f"{hours} h", Number(sp.Float(sp.N(best.xreplace(at), 25), 25), "s"),
            Number(sp.Float(sp.N(lowest.xreplace(at), 25), 25)),
        ))
    return build.finish(
        "The best interval is the root of 2 t_save t_fail; writing and repeated work cost equally "
        "much there. The loss is the root of 2 t_save/t_fail: it counts as a share of the "
        "computation, and it is flat, so that an interval twice as long or half as long loses only "
        "a quarter more. The formula is a first order. Against failures at random with a constant "
        "rate, where the exact loss is (t_fail/t_ckpt) (exp((t_ckpt + t_save)/t_fail) - 1) - 1 "
        "without time to restart (Daly 2006), the best interval of the formula loses at most "
        f"{100 * EXCESS} % more than the best there is, where t_fail is at least {LEAST_RATIO} "
        "t_save, and there the formula understates the loss by less than the factor 1 + f_lost: "
        "seen in numbers at 200 ratios of t_fail to t_save up to a million, not derived.",
        (
            NumbersTable(
                "At t_save = 60 s, by the time between failures",
                ("t_fail", "t_ckpt", "f_lost"), tuple(rows),
            ),
        ),
    )


if __name__ == "__main__":
    show(derive())
