"""Command `plan`."""

from typing import Annotated

import typer

from symscale.cli.options.plan import PlanOf
from symscale.cli.options.scaling import OneHardwareOption, RunnersUpOption
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
    hardware: OneHardwareOption = None,
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
    from symscale.simulator.tables.requests import read_machine

    if model is None:
        raise InputError("--model: name a Transformer (list: symscale models), or use plan-mlp")
    machine = read_machine(hardware)
    if plan.devices is None:
        raise InputError("--devices: give the number of devices of the cluster")
    if plan.batch is None or plan.batch > MOST_SEQUENCES:
        raise InputError("--batch: give the sequences of a batch, from 1 to 1e9")
    from symscale.questions.transformers import planned

    with progress_text("searching") as show:
        show("plans")
        found = planned(model, machine, plan, tokens, runners_up)
    emit(found, output)
