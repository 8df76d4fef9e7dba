"""Share of serialized communication: how long devices wait for tensor parallelism."""

import sympy as sp

from symscale.algebra.rewrites.rewrite import compose, rearrange, substitute
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
        "nothing else can go on. Which share of arithmetic and communication together is that? The "
        "Transformer is that of derivation layer-flop, N_TP above 1; what overlaps is left out.",
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
    build.define(
        "r", quantity("r_comm"), quantity("t_comm") / quantity("t_comp"),
        "the ratio of the two times",
    )
    times = {t_comp: arithmetic.expr, t_comm: waiting.expr}
    put = substitute(t_comm / t_comp, times, "the two times")
    ratio = 2 * C * (N_TP - 1) / (3 * W_net * (6 * d + n))
    build.rewrite(
        "ratio", compose(put, rearrange(put.after, ratio, "cancelled")),
        "what it is by sizes, degree and rates: batch, depth and replicas cancel",
        ["arithmetic", "communication"],
    )
    both = t_comm / (t_comm + t_comp)
    put = substitute(both, {t_comm: r_comm * t_comp}, "the ratio")
    build.rewrite(
        "share of r", compose(put, rearrange(put.after, r_comm / (1 + r_comm), "t_comp cancels")),
        "communication over communication and arithmetic", ["r"],
    )
    put = substitute(both, times, "the two times")
    share = 2 * C * (N_TP - 1) / (2 * C * (N_TP - 1) + 3 * W_net * (6 * d + n))
    build.rewrite(
        "share", compose(put, rearrange(put.after, share, "one fraction")),
        "the same by sizes, degree and rates", ["arithmetic", "communication"],
    )
    leading = C * N_TP / (9 * W_net * d) * ((1 - 1 / N_TP) / (1 + n / (6 * d)))
    build.rewrite(
        "leading term", rearrange(ratio, leading, "the largest factor in front"),
        "of models much wider than their sequences are long, at a high degree, the ratio depends "
        "on little but N_TP/d_model",
    )
    machine = load_machine("mi210-node-two-cs")
    sustained, link = machine.sustained_flop_rate, machine.tiers[0].bandwidth.one_way
    at = {C: sp.Rational(sustained), W_net: sp.Rational(link) / 2}
    rows = []
    for width, length, degree in CASES:
        values = {**at, d: sp.Integer(width), n: sp.Integer(length), N_TP: sp.Integer(degree)}
        shares = [study.share(sp.Integer(k)).expr.xreplace(values) for k in (1, 2, 4)]
        rows.append((str(width), str(length), str(degree), *(Number(s, "", 2) for s in shares)))
    caption = (
        f"Shares at a sustained {float(sustained) / 1e12:.4g}e12 FLOP/s and links of "
        f"{float(link) / 1e9:.4g}e9 byte/s, words of 2 bytes; k: arithmetic faster by that factor"
    )
    return build.finish(
        "The share is r/(1 + r). The leading term of r, C N_TP/(9 W_net d_model), is to be "
        "multiplied by (1 - 1/N_TP)/(1 + n_ctx/(6 d_model)): less than 1, and near it for N_TP "
        "well above 1 and n_ctx well below 6 d_model. Arithmetic that becomes k times faster than "
        "the network multiplies r by k.",
        (
            NumbersTable(caption, ("d_model", "n_ctx", "N_TP", "k = 1", "2", "4"), tuple(rows)),
        ),
    )


if __name__ == "__main__":
    show(derive())
