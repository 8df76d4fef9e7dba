"""What a Transformer costs, waits for, and is best split by."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from symscale.questions.facts import machine as load
from symscale.questions.reading import (
    Settings,
    listed,
    question,
    read_options,
    request,
    text,
    texts,
)

if TYPE_CHECKING:
    from symscale.facts.machines.machine import Machine
    from symscale.simulator.transformer.answer import TransformerPlans
    from symscale.studies.comp_vs_comm.answer import RatioAnswer
    from symscale.studies.comp_vs_comm.growth import RatioAsymptotics
    from symscale.studies.cost.answer import CostAnswer
    from symscale.studies.requests.plan_options import PlanOptions


@question
def cost(
    model: str, *, hardware: str | None = None, set: Settings = (), **plan: Any
) -> "CostAnswer":
    """Costs of a Transformer by component: FLOP, parameters, communication, memory.

    Args:
        model: A name, a TOML file or a Hugging Face config.json.
        hardware: A machine whose tiers carry the communication.
        set: Values of symbols that the plan leaves open.
        **plan: The plan, by the names of the options of `symscale cost`: tp, pp, dp, cp, ep,
            devices, seq, batch, microbatches, interleaving, sequence_parallel, zero, schedule,
            recompute, fused_attention, replicate_kv, mask, recipe. What is not given stays
            symbolic.

    Raises:
        InputError: If something given cannot be used.

    Example:
        >>> import symscale as ss
        >>> ss.cost("llama-3.1-405b", tp=8, pp=16, dp=128).model.parameters
        405853388800
    """
    from symscale.studies.cost.answer import cost_answer

    return cost_answer(request("cost", model, set, plan, rates=False), hardware)


@question
def ratio(
    model: str,
    *,
    k: object = 1,
    at_share: object = 0.5,
    contention: object = 1,
    latency: bool = False,
    hardware: str | None = None,
    link: str | None = None,
    set: Settings = (),
    **plan: Any,
) -> "RatioAnswer":
    """Computation against communication: edge, slack, share, and how each grows.

    Args:
        model: A name, a TOML file or a Hugging Face config.json.
        k: How many times faster than the network arithmetic has become: a number or several.
        at_share: Shares, between 0 and 1, whose k is wanted: a number or several.
        contention: Factor by which collectives slow products that run beside them.
        latency: Whether to give the share with the latency of every phase of a collective too.
        hardware: The machine.
        link: The tier whose link counts.
        set: Values of symbols that are open, or the rates of one device.
        **plan: The plan, by the names of the options of `symscale ratio`: tp, dp, cp, ep, seq,
            batch, sequence_parallel, recompute, replicate_kv, mask.

    Raises:
        InputError: If something given cannot be used.

    Example:
        >>> import symscale as ss
        >>> answer = ss.ratio("gpt-3", tp=32, hardware="h100-sxm", k=[1, 4])
        >>> [f"{float(r.value):.3f}" for r in answer.ratios if r.name == "share"]
        ['0.883', '0.968']
    """
    from symscale.language.amounts import numbers, one_number
    from symscale.studies.comp_vs_comm.answer import ratio_answer

    return ratio_answer(
        request("ratio", model, set, plan, rates=True),
        ks=numbers("--flop-vs-bw", listed("k", k)),
        targets=numbers("--at-share", listed("at_share", at_share)),
        contention=one_number("--contention", text("contention", contention)),
        latency=latency,
        hardware=hardware,
        link=link,
    )


@question
def asymptotics(
    ratio: str,
    *,
    model: str | None = None,
    along: Mapping[str, str] | Iterable[str] = (),
    assume: Iterable[str] = (),
    growing: str | None = None,
    expect: str | None = None,
) -> "RatioAsymptotics":
    """How a ratio of costs grows along a path: leading term, class, limit, all exact.

    Args:
        ratio: A ratio by name, or a quotient of named costs such as compute/serialized.
        model: Whose costs. Default: transformer.
        along: How symbols follow from others: N_TP is L*d_model^2, say.
        assume: How symbols that are not constant compare: n_ctx=O(d_model).
        growing: The symbols that go to infinity, separated by commas.
        expect: The class that it should have, such as Omega(1).

    Raises:
        InputError: If something given cannot be used.
        CheckFailedError: If it does not have the class that is expected.

    Example:
        >>> import symscale as ss
        >>> found = ss.asymptotics("edge", along={"N_TP": "d_model"}, growing="d_model")
        >>> found.asymptotics.pieces[0].theta
        1
    """
    from symscale.studies.comp_vs_comm.growth import ratio_asymptotics
    from symscale.studies.comp_vs_comm.ratios import named_costs

    found = ratio_asymptotics(
        ratio, named_costs(model), along=texts("along", along), assume=texts("assume", assume),
        growing=growing, expect=expect,
    )
    found.require_expected()
    return found


@question
def plan(
    model: str,
    hardware: str,
    *,
    devices: int,
    batch: int,
    tokens: object = None,
    runners_up: int = 5,
    **plan: Any,
) -> "TransformerPlans":
    """The best plan of a Transformer on a cluster: its splits, its time, what binds.

    Args:
        model: A name, a TOML file or a Hugging Face config.json.
        hardware: A preset or a TOML file.
        devices: Devices of the cluster.
        batch: Sequences of a batch.
        tokens: Tokens of the run, for its duration.
        runners_up: How many plans to give besides the best.
        **plan: Degrees and switches that are fixed, by the names of the options of
            `symscale plan`: seq, tp, pp, dp, cp, ep, microbatches, interleaving,
            sequence_parallel, zero, schedule, recompute, fused_attention, mask, recipe.

    Raises:
        InputError: If something given cannot be used.
        InfeasibleError: If no plan fits.

    Example:
        >>> import symscale as ss
        >>> found = ss.plan("llama-3.1-8b", "h100-sxm", devices=8, batch=64, seq=4096, tp=2)
        >>> found.best.plan.N_DP
        4
    """
    options = read_options("plan", {**plan, "devices": devices, "batch": batch})
    run = None if tokens is None else text("tokens", tokens)
    return planned(model, load(hardware), options, run, runners_up)


def planned(
    model: str, machine: "Machine", options: "PlanOptions", tokens: str | None, runners_up: int
) -> "TransformerPlans":
    """Search the plans of a Transformer: what `plan` does once its options are read."""
    from symscale.costs.memory import recipe_called
    from symscale.errors import InputError
    from symscale.facts.models.zoo import load_model
    from symscale.language.units import parse_number
    from symscale.simulator.transformer.answer import TransformerPlans
    from symscale.simulator.transformer.checks import check_fixed, check_sizes
    from symscale.simulator.transformer.planning import (
        Question,
        best_transformer_plans,
        check_devices,
        context_of,
        searched,
    )
    from symscale.simulator.transformer.step import class_of_machine

    if options.devices is None or options.batch is None:
        raise InputError("a plan needs --devices and --batch")
    check_devices(options.devices)
    recipe_called(options.switches.recipe)
    architecture = load_model(model)
    check_sizes(architecture)
    question = Question(
        architecture, context_of(architecture, options.seq), options.batch, options.devices,
        searched(options.switches, **options.degrees), options.recompute,
        tuple(name for name in options.defaults if name != "recompute"),
    )
    check_fixed(question)
    try:
        run = None if tokens is None else float(parse_number(tokens))
    except InputError as error:
        raise error.with_context("--tokens") from None
    if not 0 <= runners_up <= 100:
        raise InputError(f"--runners-up {runners_up}: give a number from 0 to 100")
    if run is not None and run <= 0:
        raise InputError("--tokens: a run has more than 0 tokens")
    cluster = class_of_machine(machine)
    plans = best_transformer_plans(question, machine, cluster, 1 + runners_up)
    return TransformerPlans(question, machine, cluster, plans, run)
