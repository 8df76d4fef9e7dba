"""The ratios of computation to communication of a model, as formulas and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from symscale.algebra.growth.asymptotics import Growth, asymptotics
from symscale.algebra.growth.behaviour import Behaviour
from symscale.answers import Answer
from symscale.costs.cost import Cost
from symscale.costs.transformer.plan import Plan
from symscale.costs.transformer.tiers import split_over_tiers
from symscale.errors import FormulaError, InputError, unknown_name
from symscale.facts.machines.lumped import Machine, Tier, load_machine
from symscale.language.symbols import notation, symbol
from symscale.studies.comp_vs_comm.ratios import CompVsComm
from symscale.studies.requests.transformer import Request

GROWING_GROUPS = ("model", "training", "parallelism")
ONE = sp.Integer(1)
HALF = sp.Rational(1, 2)


@dataclass(frozen=True)
class Ratio:
    """One ratio.

    Attributes:
        name: Its name, such as "edge".
        meaning: What it is, in a few words.
        cost: Its formula and unit.
        value: Its number; None where a symbol is left.
        k: For a share, how many times faster than the network arithmetic has become.
        target: For a crossing, the share that is reached.
    """

    name: str
    meaning: str
    cost: Cost
    value: sp.Expr | None
    k: sp.Expr | None = None
    target: sp.Expr | None = None

    @cached_property
    def growth(self) -> Behaviour | None:
        """How it grows with the sizes, batch and degrees that it still has; None for a maximum."""
        return growth_of(self.cost.expr)


def growth_of(expr: sp.Expr) -> Behaviour | None:
    """Return how a ratio behaves as all sizes, degrees and the batch in it grow.

    None where it is no quotient of sums, or where terms may cancel.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> d, n, N_TP, w = symbols("d_model n_ctx N_TP w")
        >>> growth_of((18*d + 3*n)/(w*N_TP)).theta
        (d_model + n_ctx)/N_TP
    """
    entries = [notation(str(s)) for s in sorted(expr.free_symbols, key=str)]
    growing = [e.symbol for e in entries if e.group in GROWING_GROUPS]
    lower = {e.symbol: sp.Rational(e.lower) for e in entries if e.lower}
    try:
        return asymptotics(expr, Growth(tuple(growing), lower=lower)).pieces[0]
    except FormulaError:
        return None


@dataclass(frozen=True, repr=False)
class RatioAnswer(Answer):
    """The ratios of a model under a plan.

    Attributes:
        request: What was asked.
        ks: For which k the share is given.
        targets: Which shares are to be crossed.
        contention: By which factor collectives slow the products beside them.
        latency: Whether shares are given with latencies too.
        machine: The machine, or None.
        tier: The tier whose link carries the serialized communication.
        values: Numbers of symbols.
        notes: Where rates come from.
        data_values: The same for the gradients, whose replicas may lie further apart.
    """

    page = "ratio"
    request: Request
    ks: tuple[sp.Expr, ...]
    targets: tuple[sp.Expr, ...]
    contention: sp.Expr
    latency: bool
    machine: Machine | None
    tier: Tier | None
    values: Mapping[sp.Symbol, sp.Expr]
    notes: tuple[str, ...]
    data_values: Mapping[sp.Symbol, sp.Expr]

    @cached_property
    def study(self) -> CompVsComm:
        """The model's computation against its communication."""
        return CompVsComm(self.request.model)

    @cached_property
    def nothing_waits(self) -> bool:
        """Whether no communication is serialized: neither tensor nor expert parallelism."""
        return bool(self.study.serialized_words.expr == 0)

    @cached_property
    def ratios(self) -> tuple[Ratio, ...]:
        """All of them: edge, slack, shares, exposed part, crossings."""
        study = self.study
        found = [] if self.nothing_waits else [
            self._ratio("edge", "FLOP for each byte of serialized payload", study.edge),
            self._ratio("edge-word", "FLOP for each serialized word over the links",
                        study.edge_word),
        ]
        found.append(self._ratio("slack", "backward FLOP for each byte of gradient", study.slack))
        for k in self.ks:
            text = "serialized communication as a share of computation and itself"
            found.append(self._ratio("share", text, study.share(k), k=k))
        for k in self.ks if self.latency else ():
            text = "the same, each phase of a collective with its latency"
            share = study.share_with_latency(k)
            found.append(self._ratio("share with latency", text, share, k=k))
        found.append(
            self._ratio("exposed", "gradients that products do not hide, over computation",
                        study.exposed(self.contention), values=self.data_values)
        )
        for target in () if self.nothing_waits else self.targets:
            text = "how many times faster arithmetic makes it that share"
            found.append(self._ratio("crossing", text, study.crossing(target), target=target))
        return tuple(found)

    def _ratio(
        self, name: str, meaning: str, amount: Cost, k: sp.Expr | None = None,
        target: sp.Expr | None = None, values: Mapping[sp.Symbol, sp.Expr] | None = None,
    ) -> Ratio:
        number = amount.expr.xreplace(dict(self.values if values is None else values))
        value = number if not number.free_symbols and number.is_number else None
        return Ratio(name, meaning, amount, value, k, target)


def ratio_answer(
    request: Request,
    *,
    ks: Sequence[sp.Expr] = (ONE,),
    targets: Sequence[sp.Expr] = (HALF,),
    contention: sp.Expr = ONE,
    latency: bool = False,
    hardware: str | None = None,
    link: str | None = None,
) -> RatioAnswer:
    """Answer how computation compares to communication.

    Args:
        request: The model and its plan.
        ks: How many times faster than the network arithmetic has become.
        targets: Shares of serialized communication, above 0 and below 1, to be crossed.
        contention: Factor, at least 1, by which collectives slow products beside them.
        latency: Whether to give shares with latencies too.
        hardware: A machine's name or file.
        link: The tier whose link counts; by default the outermost that a group spans
            which waits for its communication, and for gradients that which replicas span.

    Raises:
        InputError: If a value is out of range, or the tier cannot be told.
    """
    for k in ks:
        if not k.is_positive:
            raise InputError(f"--flop-vs-bw {k}: arithmetic grows by a factor above 0")
    for target in targets:
        if not (0 < target < 1):
            raise InputError(f"--at-share {target}: a share lies between 0 and 1, as 0.5 does")
    if contention < 1:
        raise InputError(f"--contention {contention}: a slowdown is a factor of at least 1")
    values = dict(request.settings)
    if symbol("tau_net") in values and not latency:
        raise InputError("--set tau_net counts only with --latency; give that too")
    apart: dict[sp.Symbol, sp.Expr] = {}
    notes = list(request.notes)
    machine = tier = None
    if hardware is not None:
        machine = load_machine(hardware)
        tier = _link(machine, request, link)
        if tier.bandwidth.unlimited:
            raise InputError(
                f"the link of tier {tier.name} of {machine.name} is unlimited: no share follows "
                "from it; name another machine, or none and --set W_net"
            )
        word = request.word
        for name, value, note in rates_of(machine, tier, word):
            if symbol(name) not in values:
                values[symbol(name)] = value
                notes.append(note)
        waits = CompVsComm(request.model).phases.expr != 0
        if latency and waits and symbol("tau_net") not in values:
            values[symbol("tau_net")], note = _latency(machine, tier)
            notes.append(note)
        far = _link_of_replicas(machine, request) if link is None else tier
        if far not in (tier, None) and symbol("W_net") not in request.settings:
            rate, note = _link_rate(far, word)
            apart = {symbol("W_net"): rate}
            notes.append(f"for gradients, {note}")
    elif link is not None:
        raise InputError("--link names a tier of a machine; give --hardware too")
    return RatioAnswer(
        request, tuple(ks), tuple(targets), contention, latency, machine, tier, values,
        tuple(notes), {**values, **apart},
    )


def _link(machine: Machine, request: Request, link: str | None) -> Tier:
    tiers = {tier.name: tier for tier in machine.tiers}
    if link is not None:
        if link not in tiers:
            raise unknown_name(f"tier of {machine.name}", link, tiers)
        return tiers[link]
    if len(tiers) == 1:
        return machine.tiers[0]
    plan = request.model.plan
    if not plan.N_TP.is_Integer:
        raise InputError(
            f"--hardware {machine.name}: which link counts depends on --tp; give it a number, or "
            f"--link {' or '.join(tiers)}"
        )
    # Experts are shared by replicas: the nearest N_EP of them.
    waiting = Plan(
        N_TP=plan.N_TP, N_CP=plan.N_CP, N_DP=plan.N_EP, N_EP=plan.N_EP, kv_split=plan.kv_split
    )
    split = split_over_tiers(waiting, [tier.size for tier in machine.tiers])
    return machine.tiers[max(split["N_TP"].outermost, split["N_EP"].outermost)]


def _link_of_replicas(machine: Machine, request: Request) -> Tier | None:
    """The link that carries gradients; None where the degrees are open."""
    plan = request.model.plan
    if not (plan.N_TP.is_Integer and plan.token_degree.is_Integer):
        return None
    split = split_over_tiers(replace(plan, N_PP=ONE), [tier.size for tier in machine.tiers])
    return machine.tiers[max(split["N_CP"].outermost, split["N_DP"].outermost)]


def rates_of(
    machine: Machine, tier: Tier, word: sp.Expr
) -> list[tuple[str, sp.Expr, str]]:
    """Return C and W_net of a machine's device, each with its value and where it comes from.

    C is the rate that products sustain, where the machine states one, and else the peak.
    """
    rate, sustained = machine.known_flop_rate
    kind = "sustained" if sustained else "peak (no sustained fraction is stated)"
    link, note = _link_rate(tier, word)
    return [
        ("C", sp.Rational(rate), f"C = {float(rate) / 1e12:.4g} TFLOP/s, the {kind} rate of "
         f"{machine.title}"),
        ("W_net", link, note),
    ]


def _latency(machine: Machine, tier: Tier) -> tuple[sp.Expr, str]:
    """Latency of a phase over all tiers up to one, and where that comes from.

    Raises:
        InputError: If the machine's file does not say it.
    """
    crossed = machine.tiers[: machine.tiers.index(tier) + 1]
    waits = []
    for one in crossed:
        if one.latency is None:
            raise InputError(
                f"--latency: the file of {machine.name} states no latency of tier {one.name}; "
                "give --set tau_net=2us"
            )
        waits.append(one.latency.si)
    names = " and ".join(one.name for one in crossed)
    return sp.Rational(sum(waits)), (
        f"tau_net: {float(sum(waits)) * 1e6:.4g} us, a phase over tier {names} of {machine.title}"
    )


def _link_rate(tier: Tier, word: sp.Expr) -> tuple[sp.Expr, str]:
    """Words a second over a link, and where that comes from."""
    if tier.bandwidth.unlimited:
        return sp.oo, f"W_net: the link of tier {tier.name} is unlimited"
    one_way = sp.Rational(tier.bandwidth.one_way)
    note = f"W_net: {float(one_way) / 1e9:.4g} GB/s in one direction, the link of tier {tier.name}"
    return one_way / word, note
