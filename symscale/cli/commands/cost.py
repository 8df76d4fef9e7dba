"""Command `cost`."""

from typing import Annotated, Any

import typer

from symscale.cli.options.plan import (
    BatchOption,
    ContextOption,
    DataOption,
    DevicesOption,
    ExpertOption,
    FusedOption,
    InterleavingOption,
    MaskOption,
    MicrobatchesOption,
    ModelArgument,
    PipelineOption,
    RecomputeOption,
    ReplicateOption,
    ScheduleOption,
    SequenceOption,
    SequenceParallelOption,
    SizeSetOption,
    TensorOption,
    ZeroOption,
    request_of,
)
from symscale.cli.options.study import HardwareOption
from symscale.cli.output.output import Output, Writes, emit

RecipeOption = Annotated[
    str,
    typer.Option(
        "--recipe", metavar="NAME",
        help="Bytes of a parameter: mixed (18), mixed-16 (16), full (16), deepseek (13).",
    ),
]


def cost(
    model: ModelArgument,
    output: Annotated[Output, Writes(fragment=True)],
    tp: TensorOption = None,
    pp: PipelineOption = None,
    dp: DataOption = None,
    cp: ContextOption = None,
    ep: ExpertOption = None,
    devices: DevicesOption = None,
    seq: SequenceOption = None,
    batch: BatchOption = None,
    microbatches: MicrobatchesOption = None,
    interleaving: InterleavingOption = None,
    sequence_parallel: SequenceParallelOption = False,
    zero: ZeroOption = 0,
    schedule: ScheduleOption = "1f1b",
    recompute: RecomputeOption = "none",
    fused_attention: FusedOption = False,
    replicate_kv: ReplicateOption = False,
    mask: MaskOption = "full",
    recipe: RecipeOption = "mixed",
    hardware: HardwareOption = None,
    sets: SizeSetOption = None,
) -> None:
    """Costs of a Transformer by component: FLOP, parameters, communication, memory.

    What is not given stays symbolic.
    """
    from symscale.studies.cost.answer import cost_answer
    from symscale.studies.requests.transformer import PlanOptions

    plan: dict[str, Any] = {
        "tp": tp, "pp": pp, "dp": dp, "cp": cp, "ep": ep, "devices": devices, "seq": seq,
        "batch": batch, "microbatches": microbatches, "interleaving": interleaving,
        "sequence_parallel": sequence_parallel, "zero": zero, "schedule": schedule,
        "recompute": recompute, "fused_attention": fused_attention,
        "replicate_kv": replicate_kv, "mask": mask,
    }
    request = request_of(model, PlanOptions(**plan), sets, rates=False)
    emit(cost_answer(request, recipe, hardware), output)
