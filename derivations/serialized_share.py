"""Share of serialized communication: how long devices wait for tensor parallelism."""

import sympy as sp

from symscale.algebra.rewrites.rewrite import compose, rearrange, substitute
from symscale.costs.cost import Cost
from symscale.costs.times import rate
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.facts.machines.lumped import load_machine
from symscale.language.symbols import TWO_CS, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.comp_vs_comm.ratios import CompVsComm, asymptotic_model
from symscale.studies.training.constraints import quantity

CASES = (
    (4096, 1024, 16), (8192, 2048, 32), (16384, 2048, 64), (32768, 2048, 128),
    (65536, 4096, 128), (65536, 4096, 256),
)
"""Width, tokens of a sequence and degree of the study's examples."""


def derive() -> Derivation:
    """Derive the share of serialized communication from words and FLOP."""
    d, n, C, W_net, N_TP = symbols("d_model n_ctx C W_net N_TP")
    t_comp, t_comm, r_comm = symbols("t_comp t_comm r_comm")
    study = CompVsComm(asymptotic_model())
    build = DerivationBuilder(
        "serialized-share",
        "Share of serialized communication",
        "Devices that share a layer all-reduce its activations in a ring of links W_net while "
        "nothing else can go on. Which share of arithmetic and communication together is that?",
    )
    arithmetic = study.compute / rate("C")
    waiting = study.serialized_words / rate("W_net")
    build.define(
        "arithmetic", quantity("t_comp"), arithmetic,
        "the blocks' FLOP of a step (derivation layer-flop), shared by the devices, at the rate "
        "that products sustain",
    )
    build.define(
        "communication", quantity("t_comm"), waiting,
        "of an all-reduce of q words over N_TP devices each sends 2 (N_TP - 1)/N_TP q: four of "
        "b d_model/N_DP words a block, at the links' bandwidth in one direction; latencies are "
        "left out", TWO_CS,
    )
    times = {t_comp: arithmetic.expr, t_comm: waiting.expr}
    put = substitute(t_comm / t_comp, times, "the two times")
    ratio = 2 * C * (N_TP - 1) / (3 * W_net * (6 * d + n))
    build.rewrite(
        "ratio", compose(put, rearrange(put.after, ratio, "cancelled")),
        "batch, depth and replicas cancel", ["arithmetic", "communication"],
    )
    build.define("r", quantity("r_comm"), Cost(ratio, quantity("r_comm").unit),
                 "the ratio of the two times, as just found")
    put = substitute(r_comm / (1 + r_comm), {r_comm: ratio}, "the ratio")
    share = 2 * C * (N_TP - 1) / (2 * C * (N_TP - 1) + 3 * W_net * (6 * d + n))
    build.rewrite(
        "share", compose(put, rearrange(put.after, share, "one fraction")),
        "communication over communication and arithmetic", ["r"],
    )
    leading = C * N_TP / (9 * W_net * d) * ((1 - 1 / N_TP) / (1 + n / (6 * d)))
    build.rewrite(
        "leading term", rearrange(ratio, leading, "the largest factor in front"),
        "of models much wider than their sequences are long, at a high degree, the ratio depends "
        "on little but N_TP/d_model",
    )
    machine = load_machine("mi210-node-two-cs")
    at = {C: sp.Rational(machine.sustained_flop_rate),
          W_net: sp.Rational(machine.tiers[0].bandwidth.one_way) / 2}
    rows = []
    for width, length, degree in CASES:
        values = {**at, d: sp.Integer(width), n: sp.Integer(length), N_TP: sp.Integer(degree)}
        shares = [study.share(sp.Integer(k)).expr.xreplace(values) for k in (1, 2, 4)]
        rows.append((str(width), str(length), str(degree), *(Number(s, "", 2) for s in shares)))
    caption = (
        "Shares at a sustained 0.7 x 181e12 FLOP/s and links of 150e9 byte/s, words of 2 bytes; k: "
        "arithmetic faster by that factor"
    )
    return build.finish(
        "The share is r/(1 + r). Its leading term, C N_TP/(9 W_net d_model), is off by the factor "
        "(1 - 1/N_TP)/(1 + n_ctx/(6 d_model)): less than 1, and near it for N_TP well above 1 and "
        "n_ctx well below 6 d_model. Hardware whose arithmetic grows k times faster than its "
        "network multiplies r by k.",
        (
            NumbersTable(caption, ("d_model", "n_ctx", "N_TP", "k = 1", "2", "4"), tuple(rows)),
        ),
    )


if __name__ == "__main__":
    show(derive())
