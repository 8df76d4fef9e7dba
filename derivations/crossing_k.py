"""Crossing k: how much faster arithmetic makes communication take a given share."""

import sympy as sp

from symscale.algebra.rewrites.rewrite import compose, rearrange, substitute
from symscale.costs.cost import cost
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.facts.machines.lumped import load_machine
from symscale.language.symbols import TWO_CS, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.comp_vs_comm.answer import ratio_answer
from symscale.studies.requests.plan_options import PlanOptions
from symscale.studies.requests.transformer import transformer_request
from symscale.studies.training.constraints import quantity

DEGREE = 8
DEVICES = ("v100-sxm", "a100-sxm", "h100-sxm", "b200-sxm")


def derive() -> Derivation:
    """Derive the k at which serialized communication passes a share of the step."""
    k, r, s = symbols("k r_comm s_comm")
    build = DerivationBuilder(
        "crossing-k",
        "Crossing k: when communication passes a share of the step",
        "Serialized communication takes r_comm times as long as arithmetic (derivation "
        "serialized-share). Arithmetic becomes k times faster than the network. At which k does "
        "communication take the share s_comm of both together?",
    )
    build.define(
        "share", quantity("s_comm"), cost(k * r / (1 + k * r), "1"),
        "k times faster arithmetic makes the ratio k r_comm", TWO_CS,
    )
    odds = s / (1 - s)
    put = substitute(odds, {s: k * r / (1 + k * r)}, "the share")
    build.rewrite(
        "odds", compose(put, rearrange(put.after, k * r, "1 + k r_comm cancels")),
        "communication over what is not communication is the ratio of the two times", ["share"],
    )
    put = substitute(odds / r, {s: k * r / (1 + k * r)}, "the share")
    build.rewrite(
        "crossing", compose(put, rearrange(put.after, k, "r_comm cancels")),
        "divide by r_comm: what stands on the left is k", ["share"],
    )
    rows = []
    request = transformer_request("gpt-3", PlanOptions(tp=DEGREE, sequence_parallel=False))
    targets = (sp.Rational(1, 4), sp.Rational(1, 2), sp.Rational(3, 4))
    for name in DEVICES:
        answer = ratio_answer(request, targets=targets, hardware=name)
        (share,) = [x for x in answer.ratios if x.name == "share"]
        crossings = [x for x in answer.ratios if x.name == "crossing"]
        rows.append((
            load_machine(name).title,
            *(Number(sp.Rational(x.value or 0), "", 3) for x in (share, *crossings)),
        ))
    header = ("device", "share at k = 1", "k for 1/4", "k for 1/2", "k for 3/4")
    return build.finish(
        "The crossing is at k = s_comm/((1 - s_comm) r_comm), for shares between 0 and 1 and "
        "r_comm above 0: half of the time at k = 1/r_comm, three quarters at three times that. A "
        "k below 1 says that the share is passed already.",
        (
            NumbersTable(
                f"GPT-3 with tensor parallelism over {DEGREE} devices in a node, at the sustained "
                "rate where one is stated, else at the peak", header, tuple(rows),
            ),
        ),
    )


if __name__ == "__main__":
    show(derive())
