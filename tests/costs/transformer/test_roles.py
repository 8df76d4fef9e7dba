"""Roles: what a component costs follows from what it is for, not from what it is called."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from symscale.costs.contraction import Contraction, einsum
from symscale.costs.memory import RECIPES
from symscale.costs.switches import Switches
from symscale.costs.transformer import assembly, attention, communication, mlp
from symscale.costs.transformer.communication import Communication, communications
from symscale.costs.transformer.component import Component, Role
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.costs.transformer.tiers import split_over_tiers, tiers_of, words_by_tier
from symscale.facts.models.zoo import load_model, model_names
from symscale.simulator.transformer.work import TransformerWork
from symscale.studies.comp_vs_comm.ratios import CompVsComm

I = sp.Integer  # noqa: E741
CONTEXT, SEQUENCES = 512, 64
TIERS = [8, None]


def amounts(name: str, switches: dict[str, Any]) -> list[object]:
    """All that is counted of a model under a plan, without the names."""
    transformer = Transformer(
        load_model(name), I(CONTEXT * SEQUENCES), I(CONTEXT),
        Plan(I(16), I(4), I(2), I(2), I(2), I(4), kv_split=I(1), **switches),
    )
    splits = split_over_tiers(transformer.plan, TIERS)
    study = CompVsComm(transformer)
    held = transformer.memory(RECIPES["mixed"])
    work = TransformerWork(load_model(name), CONTEXT, Switches(**switches))
    plans = Plan(*(np.array([x]) for x in (16, 4, 2, 2, 2, 4, 1)))
    return [
        transformer.parameters, transformer.active_parameters, transformer.training_flop,
        transformer.hardware_flop, transformer.layer_flop_per_device,
        [(c.parameters, c.training_flop, c.kept_bytes) for c in transformer.components],
        [
            (e.parallelism, e.collective, e.phase, e.place, e.words, e.calls, e.serialized,
             words_by_tier(e, tiers_of(e, splits)))
            for e in communications(transformer)
        ],
        held.buckets, held.stage,
        study.edge, study.slack, study.time_ratio, study.gradient_ratio,
        {k: x.tolist() for k, x in vars(work.of(plans, np.array([SEQUENCES]), TIERS)).items()},
    ]


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        ("gpt-3", {"recompute": "selective"}),
        ("palm", {"zero": 1}),
        ("t5-11b", {"recompute": "selective", "zero": 3}),
        ("bert-large", {"recompute": "full"}),
        ("mixtral-8x7b", {"sequence_parallel": True, "zero": 2}),
        ("deepseek-v3", {"fused_attention": True, "sequence_parallel": True, "zero": 1}),
    ],
    ids=str,
)
def test_other_names_cost_the_same(
    name: str, switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of components, their products and tensors, and of what is communicated."""
    before = amounts(name, switches)
    called: set[str] = set()

    def renamed(text: str) -> str:
        called.add(text)
        return f"x{len(text)} {text[::-1]}"

    def other_einsum(name: str, *rest: Any, names: tuple[str, ...], **more: Any) -> Contraction:
        first, second, third = map(renamed, names)
        return einsum(renamed(name), *rest, names=(first, second, third), **more)

    def other_communication(parallelism: Any, collective: Any, what: str, *rest: Any, **more: Any
                            ) -> Communication:  # fmt: skip
        return Communication(parallelism, collective, renamed(what), *rest, **more)

    for module in (assembly, attention, mlp):
        monkeypatch.setattr(module, "einsum", other_einsum)
    monkeypatch.setattr(communication, "Communication", other_communication)
    monkeypatch.setattr(Component, "name", property(lambda c: renamed(f"{c.stack} {c.role}")))
    assert amounts(name, switches) == before
    assert {"scores", "gradients"} < called


@pytest.mark.parametrize("name", model_names())
def test_each_role_once_in_a_stack(name: str) -> None:
    components = Transformer(load_model(name), I(CONTEXT), I(CONTEXT)).components
    roles = [(c.stack, c.role) for c in components]
    assert len(set(roles)) == len(roles)
    assert roles[0] == ("", Role.EMBEDDING)
    assert len({c.name for c in components}) == len(roles)
    assert all(c.layered or (not c.stack and c.blocks == 1) for c in components)


def of_role(components: tuple[Component, ...], *roles: Role) -> list[Component]:
    return [c for c in components if c.role in roles]


def test_the_core_is_the_products_without_parameters() -> None:
    """Of attention without keys of positions: scores and context, n_ctx wide."""
    components = Transformer(load_model("t5-11b"), I(CONTEXT), I(CONTEXT)).components
    attentions = of_role(components, Role.ATTENTION, Role.CROSS_ATTENTION)
    assert len(attentions) == 3
    for part in attentions:
        assert part.core == tuple(c for c in part.contractions if not c.parameter_words.expr)
        assert len(part.core) == 2
    assert not any(c.core for c in components if c not in attentions)
