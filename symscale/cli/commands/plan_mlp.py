"""Command `plan-mlp`."""

from typing import Annotated

import typer

from symscale.cli.options.scaling import (
    BatchRuleOption,
    OneHardwareOption,
    PublishedOption,
    RuleOption,
    RunDurationOption,
    RunnersUpOption,
    SparseOption,
    WideOption,
)
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError


def plan_mlp(
    output: Annotated[Output, Writes()],
    d_model: Annotated[
        int | None, typer.Option("--d-model", metavar="N", help="Width of the residual stream.")
    ] = None,
    hardware: OneHardwareOption = None,
    devices: Annotated[
        int | None, typer.Option("--devices", metavar="N", help="Devices of the cluster.")
    ] = None,
    sparse: SparseOption = False,
    batch_rule: BatchRuleOption = "default",
    rules: RuleOption = None,
    as_published: PublishedOption = False,
    wide: WideOption = False,
    duration: RunDurationOption = None,
    runners_up: RunnersUpOption = 5,
) -> None:
    """The best plan of a sparse MLP on a cluster: its splits, its time by component, what binds."""
    from symscale.simulator.tables.requests import (
        read_machine,
        read_rules,
        read_seconds,
        read_shape,
    )

    machine = read_machine(hardware)
    if devices is None or not 1 <= devices <= 2**60:
        raise InputError("--devices: give the number of devices, from 1 to 2^60")
    scaling = read_rules(sparse, batch_rule, rules)
    shape = read_shape(d_model, scaling)
    seconds = read_seconds(duration)
    from symscale.simulator.sparse_mlp.planning import best_plans
    from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, WIDE_SPACE
    from symscale.simulator.sparse_mlp.step import Schedule
    from symscale.simulator.tables.runs import Assumptions, MLPPlans

    with progress_text("searching") as show:
        show("plans")
        points = best_plans(
            machine, shape, devices, count=1 + runners_up,
            schedule=Schedule(as_published=as_published), duration_s=seconds,
            space=WIDE_SPACE if wide else PUBLISHED_SPACE,
        )
    emit(MLPPlans(machine, points, Assumptions(scaling, seconds, as_published, wide)), output)
