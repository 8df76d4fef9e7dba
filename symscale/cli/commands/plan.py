"""Command `plan`: the best plan of a sparse MLP or of a Transformer on a cluster."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symscale.cli.options.plan import (
    BatchOption,
    ContextOption,
    DataOption,
    ExpertOption,
    InterleavingOption,
    MaskOption,
    MicrobatchesOption,
    PipelineOption,
    ScheduleOption,
    SequenceOption,
    TensorOption,
    one_of,
)
from symscale.cli.options.scaling import (
    BatchRuleOption,
    HardwareListOption,
    PublishedOption,
    RuleOption,
    RunDurationOption,
    SparseOption,
    WideOption,
    read_machines,
    read_rules,
    read_seconds,
    read_shape,
)
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError

if TYPE_CHECKING:
    from symscale.facts.machines.lumped import Machine

SPARSE_MLP = "sparse-mlp"
MOST_SEQUENCES = 10**9


def plan(
    output: Annotated[Output, Writes()],
    hardware: HardwareListOption = None,
    devices: Annotated[
        int | None, typer.Option("--devices", metavar="N", help="Devices of the cluster.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="MODEL",
            help="sparse-mlp, or a Transformer: a name (symscale models) or a file.",
        ),
    ] = SPARSE_MLP,
    d_model: Annotated[
        int | None,
        typer.Option("--d-model", metavar="N", help="Width of the residual stream; sparse-mlp."),
    ] = None,
    sparse: SparseOption = False,
    batch_rule: BatchRuleOption = "default",
    rules: RuleOption = None,
    as_published: PublishedOption = False,
    wide: WideOption = False,
    batch: BatchOption = None,
    seq: SequenceOption = None,
    tokens: Annotated[
        str | None,
        typer.Option("--tokens", metavar="N", help="Tokens of the run, for its duration: 15e12."),
    ] = None,
    tp: TensorOption = None,
    pp: PipelineOption = None,
    dp: DataOption = None,
    cp: ContextOption = None,
    ep: ExpertOption = None,
    microbatches: MicrobatchesOption = None,
    interleaving: InterleavingOption = None,
    schedule: ScheduleOption = "1f1b",
    mask: MaskOption = "full",
    zero: Annotated[
        int,
        typer.Option("--zero", metavar="0|1|2|3", min=0, max=3,
                     help="What replicas share: 1 optimizer states, 2 gradients, 3 weights."),
    ] = 1,
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help="Bytes of a parameter; see cost.")
    ] = "mixed",
    unfused_attention: Annotated[
        bool,
        typer.Option("--unfused-attention", help="Attention writes its scores to memory."),
    ] = False,
    no_sequence_parallel: Annotated[
        bool,
        typer.Option("--no-sequence-parallel", help="Norms and dropout are not split."),
    ] = False,
    duration: RunDurationOption = None,
    runners_up: Annotated[
        int, typer.Option("--runners-up", metavar="N", min=0, max=100, help="How many to show.")
    ] = 5,
) -> None:
    """The best plan of a model on a cluster: its splits, its time by component, what binds.

    A Transformer takes --batch (sequences) and may have degrees fixed; rates are those of
    the machine's data sheet. A sparse MLP takes --d-model and the scaling rules.
    """
    transformer: dict[str, Any] = {
        "--batch": batch, "--seq": seq, "--tokens": tokens, "--tp": tp, "--pp": pp, "--dp": dp,
        "--cp": cp, "--ep": ep, "--microbatches": microbatches, "--interleaving": interleaving,
    }
    mlp: dict[str, Any] = {
        "--d-model": d_model, "--sparse": sparse or None, "--rule": rules, "--wide": wide or None,
        "--as-published": as_published or None,
        "--batch-rule": None if batch_rule == "default" else batch_rule, "--duration": duration,
    }
    transformer |= {
        "--schedule": None if schedule == "1f1b" else schedule,
        "--mask": None if mask == "full" else mask, "--zero": None if zero == 1 else zero,
        "--recipe": None if recipe == "mixed" else recipe,
        "--unfused-attention": unfused_attention or None,
        "--no-sequence-parallel": no_sequence_parallel or None,
    }
    _refuse_others(model, mlp if model != SPARSE_MLP else transformer)
    machines = read_machines(hardware)
    if len(machines) > 1:
        raise InputError("--hardware: a plan is for one machine; name one")
    if devices is None or not 1 <= devices <= 2**60:
        raise InputError("--devices: give the number of devices, from 1 to 2^60")
    if model == SPARSE_MLP:
        _sparse_mlp(machines[0], devices, mlp, runners_up, output)
        return
    switches = {
        "sequence_parallel": not no_sequence_parallel, "zero": zero,
        "schedule": one_of("--schedule", schedule, ("1f1b", "zero-bubble")),
        "fused_attention": not unfused_attention,
        "mask": one_of("--mask", mask, ("full", "causal")), "recipe": recipe,
    }
    fixed = {
        "N_TP": tp, "N_PP": pp, "N_DP": dp, "N_CP": cp, "N_EP": ep, "m": microbatches,
        "v": interleaving,
    }
    _transformer(
        model, machines[0], devices, transformer, switches,
        {name: value for name, value in fixed.items() if value is not None}, runners_up,
        output,
    )


def _refuse_others(model: str, options: Mapping[str, Any]) -> None:
    for option, value in options.items():
        if value is not None:
            kind = "a Transformer" if model != SPARSE_MLP else SPARSE_MLP
            raise InputError(f"{option} means nothing for {kind}; leave it out")


def _sparse_mlp(
    machine: "Machine", devices: int, options: Mapping[str, Any], runners_up: int,
    output: Output,
) -> None:
    scaling = read_rules(
        bool(options["--sparse"]), options["--batch-rule"] or "default", options["--rule"]
    )
    shape = read_shape(options["--d-model"], scaling)
    seconds = read_seconds(options["--duration"])
    from symscale.simulator.sparse_mlp.planning import best_plans
    from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, WIDE_SPACE
    from symscale.simulator.sparse_mlp.step import Schedule
    from symscale.simulator.tables.runs import Assumptions, MLPPlans

    wide, as_published = bool(options["--wide"]), bool(options["--as-published"])
    with progress_text("searching") as show:
        show("plans")
        points = best_plans(
            machine, shape, devices, count=1 + runners_up,
            schedule=Schedule(as_published=as_published), duration_s=seconds,
            space=WIDE_SPACE if wide else PUBLISHED_SPACE,
        )
    assumptions = Assumptions(scaling, seconds, as_published, wide)
    emit(MLPPlans(machine, points, assumptions), output)


def _transformer(
    model: str, machine: "Machine", devices: int, options: Mapping[str, Any],
    switches: dict[str, Any], fixed: dict[str, int], runners_up: int,
    output: Output,
) -> None:
    sequences, context = options["--batch"], options["--seq"]
    if sequences is None or not 1 <= sequences <= MOST_SEQUENCES:
        raise InputError("--batch: give the sequences of a batch, from 1 to 1e9")
    from symscale.costs.memory import recipe_called
    from symscale.facts.models.zoo import load_model
    from symscale.language.units import parse_number
    from symscale.simulator.transformer.checks import check_fixed, check_sizes
    from symscale.simulator.transformer.planning import (
        Question,
        TransformerPlans,
        best_transformer_plans,
        check_devices,
        context_of,
    )
    from symscale.simulator.transformer.step import class_of_machine
    from symscale.simulator.transformer.work import Switches

    check_devices(devices)
    recipe_called(switches["recipe"])
    architecture = load_model(model)
    check_sizes(architecture)
    question = Question(
        architecture, context_of(architecture, context), sequences, devices,
        Switches(**switches), fixed,
    )
    check_fixed(question)
    run = None if options["--tokens"] is None else float(parse_number(options["--tokens"]))
    if run is not None and run <= 0:
        raise InputError("--tokens: a run has more than 0 tokens")
    cluster = class_of_machine(machine)
    with progress_text("searching") as show:
        show("plans")
        plans = best_transformer_plans(question, machine, cluster, 1 + runners_up)
    emit(TransformerPlans(question, machine, cluster, plans, run), output)
