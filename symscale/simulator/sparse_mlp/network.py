r"""The network of a cluster: any number of tiers, and what crosses each of them.

A parallel degree is a product over tiers: N_DP = N_DP^(1) N_DP^(2) ..., tier 1 the lowest. An
all-reduce goes tier by tier: what is summed within each unit of a tier is then summed
between units, by one replica for all. The words of an all-reduce at a tier are
therefore those among the N^(l) units there, once for every unit of the tiers above, and
over all tiers they add up to those of one all-reduce among all.

Example:
    >>> N1, N2 = tier_symbol("N_DP", 1), tier_symbol("N_DP", 2)
    >>> words = sum(data_words(tier, 2).expr for tier in (1, 2))
    >>> sp.expand(words - sparse_mlp().exchange_words("data").expr.subs(symbol("N_DP"), N1*N2))
    0
"""

import sympy as sp

from symscale.costs.contraction import Reduction
from symscale.costs.cost import Cost, cost, total
from symscale.costs.pipeline import PASSES
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.sparse_mlp.plan import DEGREES
from symscale.language.symbols import symbol, symbols, tier_symbol
from symscale.simulator.extremes import greatest

PHASES = 2
"""An all-reduce is a reduce-scatter and an all-gather, each with the latency of its tier."""


def above(name: str, tier: int, tiers: int) -> sp.Expr:
    """The product of a degree over the tiers above one; tier 0 gives the whole degree.

    Example:
        >>> above("N_PP", 1, 3)
        N_PP_2*N_PP_3
    """
    return sp.Mul(*(tier_symbol(name, t) for t in range(tier + 1, tiers + 1)))


def _at_tier(reduction: Reduction, tier: int, tiers: int) -> tuple[sp.Expr, sp.Expr]:
    """Participants of a reduction at a tier, and how many such groups the tiers above have."""
    names = [n for n in DEGREES if symbol(n) in reduction.participants.free_symbols]
    here = {symbol(n): tier_symbol(n, tier) for n in names}
    higher = {symbol(n): above(n, tier, tiers) for n in names}
    return reduction.participants.xreplace(here), reduction.participants.xreplace(higher)


def reduction_words(reduction: Reduction, tier: int, tiers: int) -> Cost:
    """Words of an all-reduce that cross one tier, summed over devices."""
    participants, groups = _at_tier(reduction, tier, tiers)
    split = Reduction(
        reduction.tensor, reduction.of_gradient, reduction.payload, participants,
        reduction.parameters,
    )  # fmt: skip
    return split.words * groups


def _tier_time(words: Cost, tier: int) -> Cost:
    """Seconds of words over a tier, spread evenly over the links of all N devices."""
    return words / (cost(tier_symbol("W_net", tier), "word/s") * symbol("N"))


def _reductions(parameters: bool) -> list[Reduction]:
    return [r for r in sparse_mlp().reductions if r.parameters is parameters]


def data_words(tier: int, tiers: int) -> Cost:
    """Words of data parallelism's gradient reduction across a tier."""
    return total([reduction_words(r, tier, tiers) for r in _reductions(True)], "word")


def tensor_words(tier: int, tiers: int) -> Cost:
    """Words of tensor parallelism's reductions across a tier."""
    return total([reduction_words(r, tier, tiers) for r in _reductions(False)], "word")


def data_time(tiers: int) -> Cost:
    """Seconds of data parallelism's traffic in a step: the slowest tier, since all overlap.

    Example:
        >>> data_time(1).expr
        4*E*L*d_ff*d_model*(N_DP_1 - 1)/(N*W_net_1)
    """
    times = [_tier_time(data_words(t, tiers), t) for t in range(1, tiers + 1)]
    return times[0].with_expr(greatest(*(t.expr for t in times)))


def tensor_time(tiers: int) -> Cost:
    """Seconds of tensor parallelism's traffic in a step: the slowest tier."""
    times = [_tier_time(tensor_words(t, tiers), t) for t in range(1, tiers + 1)]
    return times[0].with_expr(greatest(*(t.expr for t in times)))


def _latency(participants: sp.Expr, tier: int) -> sp.Expr:
    waits = PHASES * tier_symbol("tau_net", tier)
    return sp.Piecewise((waits, participants > 1), (0, True))


def data_latency(tiers: int) -> Cost:
    """Seconds of latency of the gradient reduction: one all-reduce, all tiers in turn.

    Example:
        >>> data_latency(1).expr
        Piecewise((2*tau_net_1, N_DP_1 > 1), (0, True))
    """
    waits = [_latency(tier_symbol("N_DP", t), t) for t in range(1, tiers + 1)]
    return cost(sp.Add(*waits), "s")


def tensor_latency(tiers: int) -> Cost:
    """Seconds of latency of tensor parallelism: each reduction of a block, L times in turn."""
    waits = [
        _latency(_at_tier(r, t, tiers)[0], t)
        for r in _reductions(False)
        for t in range(1, tiers + 1)
    ]
    return cost(symbol("L") * sp.Add(*waits), "s")


def _interfaces_within(tier: int, tiers: int) -> sp.Expr:
    """Of the L - 1 interfaces between blocks, how many the pipeline keeps in one unit.

    Of tier 0, a device, v N_PP - 1 are left; of a higher tier, v - 1 and more for every
    boundary between units of the tiers above. Without a boundary, none is.
    """
    units = above("N_PP", tier, tiers)
    if units == 1:
        return symbol("L") - 1
    return sp.Piecewise((symbol("L") - symbol("v") * units, units > 1), (symbol("L") - 1, True))


def transfer_words(tier: int, tiers: int) -> Cost:
    """Words between blocks whose way goes over one tier, summed over devices.

    A token moves to the next stage of the pipeline and to the device of its next
    expert, one independent of the other; the transfer goes over the higher of the two
    tiers. It stays within a unit of a tier if both do.

    Example:
        >>> transfer_words(1, 1).expr.subs({tier_symbol("N_PP", 1): 1, tier_symbol("N_EP", 1): 1})
        0
    """
    within = [
        _interfaces_within(t, tiers) / above("N_EP", t, tiers) for t in (tier, tier - 1)
    ]
    tokens, d_model = symbols("b d_model")
    return cost(PASSES * tokens * d_model * (within[0] - within[1]), "word")


def transfer_time(tiers: int) -> Cost:
    """Seconds of transfers between blocks in a step, tier after tier."""
    return total([_tier_time(transfer_words(t, tiers), t) for t in range(1, tiers + 1)], "s")


def transfer_latency(tiers: int) -> Cost:
    """Seconds of latency of transfers between blocks in a step.

    Of many tokens one goes to an expert as far away as experts are, and all wait for it.
    """
    waits: sp.Expr = sp.Integer(0)
    for tier in range(1, tiers + 1):
        within = [
            _interfaces_within(t, tiers) * _unless_split("N_EP", t, tiers)
            for t in (tier, tier - 1)
        ]
        waits += tier_symbol("tau_net", tier) * (within[0] - within[1])
    return cost(PASSES * waits, "s")


def _unless_split(name: str, tier: int, tiers: int) -> sp.Expr:
    units = above(name, tier, tiers)
    if units == 1:
        return sp.Integer(1)
    return sp.Piecewise((0, units > 1), (1, True))
