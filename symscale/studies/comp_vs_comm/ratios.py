"""Computation against communication: edge, slack, share, and what may be compared.

All amounts are of one device and its blocks, in one step; a pipeline takes the same
part of all of them and cancels.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import sympy as sp

from symscale.costs.cost import Cost, cost, total
from symscale.costs.memory import RECIPES
from symscale.costs.times import rate
from symscale.costs.transformer.communication import PHASES, Communication, communications
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.errors import InputError
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import symbol

ONE = sp.Integer(1)


@dataclass(frozen=True)
class CompVsComm:
    """A Transformer's computation against its communication, per device and step.

    Attributes:
        model: The Transformer with its plan. Its pipeline is left out.

    Example:
        >>> from symscale.costs.transformer.architecture import transformer
        >>> from symscale.language.symbols import symbols
        >>> b, n_ctx, N_TP = symbols("b n_ctx N_TP")
        >>> study = CompVsComm(Transformer(transformer(), b, n_ctx, Plan(N_TP=N_TP)))
        >>> study.edge.expr
        3*(6*d_model + n_ctx)/(N_TP*w)
    """

    model: Transformer

    @cached_property
    def _flat(self) -> Transformer:
        plan = replace(self.model.plan, N_PP=ONE, v=ONE)
        return replace(self.model, plan=plan)

    @cached_property
    def _entries(self) -> tuple[Communication, ...]:
        return tuple(e for e in communications(self._flat) if e.place == "blocks")

    @cached_property
    def compute(self) -> Cost:
        """FLOP of the blocks, forward and backward, with what is computed again."""
        return _tidy(self._flat.layer_flop_per_device)

    @cached_property
    def serialized(self) -> Cost:
        """Payload of the communication that all else waits for, bytes.

        The payload of an all-reduce counts once, that of a collective which is one half
        of it by half.
        """
        return _tidy(self._payload(serialized=True))

    @cached_property
    def serialized_words(self) -> Cost:
        """Words over the links of the communication that all else waits for."""
        return _tidy(total([e.words for e in self._entries if e.serialized], "word"))

    @cached_property
    def overlapped(self) -> Cost:
        """Payload of the gradients that data parallelism reduces behind the products, bytes."""
        words = [
            e.payload * sp.Rational(PHASES[e.collective], 2)
            for e in self._entries if e.parallelism == "data"
        ]
        return _tidy(_bytes(total(words, "word")))

    @cached_property
    def overlapped_words(self) -> Cost:
        """Words over the links of data parallelism."""
        data = [e.words for e in self._entries if e.parallelism == "data"]
        return _tidy(total(data, "word"))

    def _payload(self, *, serialized: bool) -> Cost:
        entries = [e for e in self._entries if e.serialized is serialized]
        return _bytes(
            total([e.payload * sp.Rational(PHASES[e.collective], 2) for e in entries], "word")
        )

    @cached_property
    def edge(self) -> Cost:
        """FLOP for each byte of serialized payload."""
        self._need(self.serialized, "serialized")
        return _tidy(self.compute / self.serialized)

    @cached_property
    def edge_word(self) -> Cost:
        """FLOP for each word that the serialized communication sends over a device's links."""
        self._need(self.serialized_words, "serialized")
        return _tidy(self.compute / self.serialized_words)

    @cached_property
    def slack(self) -> Cost:
        """FLOP of the backward products of weights, for each byte of their gradients.

        The products behind which a layer's gradient is reduced: the gradients of its
        input and of its weights, 4 FLOP a token and weight.
        """
        flop, words = [], []
        for component in self._flat.layered:
            for product in component.contractions:
                weights = [t for t in product.operands if t.parameters]
                for tensor in weights:
                    flop.append(product.per_device(product.forward_flop) * 2 * component.blocks)
                    words.append(product.words_per_device(tensor) * component.blocks)
        return _tidy(total(flop, "FLOP") / _bytes(total(words, "word")))

    @cached_property
    def time_ratio(self) -> Cost:
        """Time of serialized communication over time of computation, r.

        Arithmetic at the rate C, each word over the links at W_net.
        """
        wait = self.serialized_words / rate("W_net")
        return _tidy(wait / (self.compute / rate("C")))

    @cached_property
    def gradient_ratio(self) -> Cost:
        """Time of data parallelism's communication over time of computation."""
        wait = self.overlapped_words / rate("W_net")
        return _tidy(wait / (self.compute / rate("C")))

    @cached_property
    def phases(self) -> Cost:
        """Phases of the collectives that all else waits for, in a step: two of an all-reduce."""
        count = sp.Add(*(e.calls * PHASES[e.collective] for e in self._entries if e.serialized))
        return cost(sp.factor(count), "1")

    @cached_property
    def latency_ratio(self) -> Cost:
        """Time of those phases' latencies, tau_net each, over time of computation."""
        return _tidy(self.phases * rate("tau_net") / (self.compute / rate("C")))

    def share_with_latency(self, k: sp.Expr = ONE) -> Cost:
        """Share of serialized communication, each phase with its latency: k r/(1 + k r).

        Here r = (words/W_net + phases tau_net)/(FLOP/C). Latencies follow one another: they
        neither shrink with the message nor overlap, so this is the larger, the smaller the
        microbatch.
        """
        r = sp.together((self.time_ratio + self.latency_ratio).expr * k)
        return cost(sp.factor(r / (1 + r)), "1")

    def share(self, k: sp.Expr = ONE) -> Cost:
        """Share of serialized communication, arithmetic k times faster: k r/(1 + k r)."""
        r = self.time_ratio * k
        return Cost(sp.factor(r.expr / (1 + r.expr)), r.unit)

    def exposed(self, contention: sp.Expr = ONE, k: sp.Expr = ONE) -> Cost:
        """What data parallelism adds to a step, over the time of computation.

        Communication of time g (in units of computation) runs beside the backward pass,
        of time f, and slows it by the factor c meanwhile. If g <= c f the products take
        g (1 - 1/c) longer, else the communication outlasts them by g - f: together
        max(g - f, g (1 - 1/c)).
        """
        backward = total(
            [c.training_flop_per_device - c.forward_flop_per_device for c in self._flat.layered],
            "FLOP",
        )
        g = self.gradient_ratio.expr * k
        f = sp.factor(backward.expr / self.compute.expr)
        return cost(sp.Max(g - f, g * (1 - 1 / contention), evaluate=True), "1")

    def crossing(self, share: sp.Expr) -> Cost:
        """The k at which serialized communication takes a share of the step.

        k r/(1 + k r) = s gives k = s/((1 - s) r).
        """
        self._need(self.serialized_words, "serialized")
        return cost(sp.factor(share / ((1 - share) * self.time_ratio.expr)), "1")

    def _need(self, amount: Cost, kind: str) -> None:
        if amount.expr == 0:
            raise InputError(
                f"{self.model.architecture.name} has no {kind} communication under this plan; "
                "give --tp (or --ep) a degree above 1"
            )


def _bytes(words: Cost) -> Cost:
    return words * cost(symbol("w"), "byte/word")


def _tidy(amount: Cost) -> Cost:
    return amount.with_expr(sp.factor(amount.expr))


NAMES: Mapping[str, tuple[str, Callable[[CompVsComm], Cost]]] = MappingProxyType(
    {
        "edge": ("FLOP for each byte of serialized payload", lambda s: s.edge),
        "edge-word": ("FLOP for each serialized word over the links", lambda s: s.edge_word),
        "slack": ("backward FLOP for each byte of gradient", lambda s: s.slack),
        "share": ("share of serialized communication in a step", lambda s: s.share()),
        "time-ratio": ("serialized communication over computation, in time",
                       lambda s: s.time_ratio),
        "gradient-ratio": ("data parallelism over computation, in time",
                           lambda s: s.gradient_ratio),
        "compute": ("FLOP of a device's blocks", lambda s: s.compute),
        "serialized": ("payload that all else waits for", lambda s: s.serialized),
        "serialized-words": ("words over the links that all else waits for",
                             lambda s: s.serialized_words),
        "overlapped": ("payload of gradients", lambda s: s.overlapped),
        "overlapped-words": ("words of gradients over the links", lambda s: s.overlapped_words),
        "parameters": ("parameters of the model", lambda s: cost(s.model.parameters, "1")),
        "memory": ("memory of a device", lambda s: s.model.memory(RECIPES["mixed"]).total),
        "activations": ("activations of a device",
                        lambda s: s.model.memory(RECIPES["mixed"]).activations),
    }
)
"""What may be named in a ratio: its meaning, and how it follows from a model."""


def asymptotic_model(name: str | None = None) -> Transformer:
    """Return a model with N_TP and N_DP open, for statements about its growth.

    Args:
        name: A model; the study's Transformer by default.
    """
    architecture = load_model(name or "transformer")
    plan = Plan(N_DP=symbol("N_DP"), N_TP=symbol("N_TP"))
    return Transformer(architecture, symbol("b"), architecture.context, plan)


def named_costs(name: str | None = None) -> Mapping[str, Cost]:
    """Return the costs and ratios of a model by name, one at a time when they are asked for.

    Example:
        >>> named_costs()["slack"].expr
        4*b/(N_DP*w)
    """
    return _Named(CompVsComm(asymptotic_model(name)))


class _Named(Mapping[str, Cost]):
    """The costs of a study, each computed when it is looked up."""

    def __init__(self, study: CompVsComm) -> None:
        self._study = study

    def __getitem__(self, name: str) -> Cost:
        return NAMES[name][1](self._study)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)
