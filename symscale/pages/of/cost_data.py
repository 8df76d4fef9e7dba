"""The costs of a Transformer as JSON: stable keys."""

from typing import Any

import sympy as sp

import symscale
from symscale.pages.formats.json import Json, formula_data, number
from symscale.studies.cost.answer import CostAnswer, tidy


def value(expr: sp.Expr) -> Json:
    """A number where an amount is one (whole ones exact), else its formula as SymPy's text.

    Example:
        >>> value(sp.Integer(7)), value(sp.Rational(1, 2))
        (7, 0.5)
    """
    tidied = tidy(expr)
    if tidied.is_Integer:
        return int(tidied)
    return number(sp.Rational(tidied)) if tidied.is_Rational else str(tidied)


def costs_data(answer: CostAnswer) -> dict[str, Any]:
    """The costs of a model under a plan."""
    model, plan, tokens = answer.model, answer.model.plan, answer.per_token
    architecture = model.architecture
    formulas = {
        "parameters": model.parameters,
        "forward_flop_per_token": model.forward_flop.expr / tokens,
        "training_flop_per_token": model.training_flop.expr / tokens,
        "memory_bytes": answer.request.number(answer.memory.total.expr),
    }
    return {
        "model": architecture.name,
        "title": architecture.title,
        "source": architecture.source,
        "batch": {
            "tokens": value(model.tokens),
            "sequences": value(model.tokens / model.context),
            "tokens_per_sequence": value(model.context),
        },
        "plan": {
            "dp": value(plan.N_DP), "tp": value(plan.N_TP), "pp": value(plan.N_PP),
            "cp": value(plan.N_CP), "ep": value(plan.N_EP), "microbatches": value(plan.m),
            "interleaving": value(plan.v), "devices": value(plan.devices),
            "sequence_parallel": plan.sequence_parallel, "zero": plan.zero,
            "schedule": plan.schedule, "recompute": plan.recompute,
            "fused_attention": plan.fused_attention, "stages": answer.stage,
        },
        "hardware": None if answer.machine is None else answer.machine.name,
        "parameters": value(model.parameters),
        "active_parameters": value(model.active_parameters),
        "active_parameters_without_embedding": value(model.active_without_embedding),
        "flop_per_token": {
            "forward": value(model.forward_flop.expr / tokens),
            "training": value(model.training_flop.expr / tokens),
            "components": {
                c.name: value(c.forward_flop.expr / tokens) for c in answer.components
            },
        },
        "flop_per_step": {
            "training": value(model.training_flop.expr),
            "recomputed": value(model.recomputed_flop.expr),
        },
        "components": [
            {
                "name": c.name,
                "flop_forward": value(c.forward_flop.expr),
                "flop_training": value(c.training_flop.expr),
                "parameters": value(c.parameters),
                "activation_bytes": value(
                    answer.request.number(c.kept_bytes.expr * c.blocks)
                ),
            }
            for c in answer.components
        ],
        "communication": [
            {
                "parallelism": e.parallelism,
                "collective": e.collective,
                "what": e.what,
                "phase": e.phase,
                "place": e.place,
                "participants": value(e.participants),
                "payload_words": value(answer.request.number(e.payload.expr)),
                "words": value(answer.request.number(e.words.expr)),
                "words_by_tier": {k: value(v) for k, v in answer.by_tier(e).items()},
                "calls": value(e.calls),
                "messages": value(e.messages),
                "tier": answer.tier(e),
                "serialized": e.serialized,
                "hidden_behind": e.hidden_behind,
            }
            for e in answer.communications
        ],
        "memory_bytes": {
            **{
                name: value(answer.request.number(amount.expr))
                for name, amount in answer.memory.buckets.items()
            },
            "total": value(answer.request.number(answer.memory.total.expr)),
            "stage": answer.memory.stage,
            "recipe": answer.recipe.name,
        },
        "formulas": {name: formula_data(tidy(expr)) for name, expr in formulas.items()},
        "conventions": answer.conventions,
        "assumed": list(answer.request.notes),
        "symscale_version": symscale.__version__,
    }
