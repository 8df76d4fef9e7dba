"""Command `plan`."""

from typing import Annotated

import typer

from symscale.cli.options.plan import PlanOf
from symscale.cli.options.scaling import HardwareListOption, RunnersUpOption, read_machine
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError
from symscale.studies.requests.plan_options import PlanOptions

MOST_SEQUENCES = 10**9


def plan(
    plan: Annotated[PlanOptions, PlanOf("plan", fused_attention="--unfused-attention")],
    output: Annotated[Output, Writes()],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", help="A Transformer: a name (list: symscale models) or a "
            "file. Sparse MLPs: symscale plan-mlp.",
        ),
    ] = None,
    hardware: HardwareListOption = None,
    tokens: Annotated[
        str | None,
        typer.Option("--tokens", metavar="N", help="Tokens of the run, for its duration: 15e12."),
    ] = None,
    runners_up: RunnersUpOption = 5,
) -> None:
    """The best plan of a Transformer on a cluster: its splits, its time by component, what binds.

    It takes --batch (sequences) and may have degrees fixed; what is computed again is searched
    over unless --recompute says it. Rates are those of the machine's data sheet.
    """
    if model is None:
        raise InputError("--model: name a Transformer (list: symscale models), or use plan-mlp")
    machine = read_machine(hardware)
    if plan.devices is None:
        raise InputError("--devices: give the number of devices of the cluster")
    if plan.batch is None or plan.batch > MOST_SEQUENCES:
        raise InputError("--batch: give the sequences of a batch, from 1 to 1e9")
    from symscale.costs.transformer.memory import recipe_called
    from symscale.facts.models.zoo import load_model
    from symscale.language.units import parse_number
    from symscale.simulator.transformer.checks import check_fixed, check_sizes
    from symscale.simulator.transformer.planning import (
        Question,
        TransformerPlans,
        best_transformer_plans,
        check_devices,
        context_of,
        searched,
    )
    from symscale.simulator.transformer.step import class_of_machine

    check_devices(plan.devices)
    recipe_called(plan.switches.recipe)
    architecture = load_model(model)
    check_sizes(architecture)
    question = Question(
        architecture, context_of(architecture, plan.seq), plan.batch, plan.devices,
        searched(plan.switches, **plan.degrees), plan.recompute,
        tuple(name for name in plan.defaults if name != "recompute"),
    )
    check_fixed(question)
    run = None if tokens is None else float(parse_number(tokens))
    if run is not None and run <= 0:
        raise InputError("--tokens: a run has more than 0 tokens")
    cluster = class_of_machine(machine)
    with progress_text("searching") as show:
        show("plans")
        plans = best_transformer_plans(question, machine, cluster, 1 + runners_up)
    emit(TransformerPlans(question, machine, cluster, plans, run), output)
