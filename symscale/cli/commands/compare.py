"""Command `compare`."""

from typing import Annotated

from symscale.cli.options.scaling import (
    BatchRuleOption,
    HardwareListOption,
    RuleOption,
    RunDurationOption,
    SparseOption,
    WidthsOption,
)
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.progress import progress_text
from symscale.errors import NoAnswerError


def compare(
    output: Annotated[
        Output, Writes(plot="Draw it: FILE ends in .pdf, .svg or .png.")
    ],
    hardware: HardwareListOption = None,
    sparse: SparseOption = False,
    batch_rule: BatchRuleOption = "default",
    rules: RuleOption = None,
    widths: WidthsOption = None,
    duration: RunDurationOption = None,
) -> None:
    """Closed form and simulation side by side: utilization against training compute."""
    from symscale.simulator.tables.requests import (
        read_machines,
        read_rules,
        read_seconds,
        read_shapes,
    )

    machines = read_machines(hardware)
    shapes = read_shapes(widths, read_rules(sparse, batch_rule, rules))
    seconds = read_seconds(duration)
    from symscale.compare.simulated import ComparedCurves
    from symscale.compare.simulated import compare as compare_points
    from symscale.simulator.sparse_mlp.curve import QUARTER_S, curve

    compared = []
    with progress_text("comparing") as show:
        for machine in machines:
            show(machine.name)
            points = list(curve(machine, shapes, duration_s=seconds or QUARTER_S))
            if not points:
                raise NoAnswerError(
                    f"no cluster of {machine.name} finishes d_model = {shapes[0].d_model} in "
                    "time; allow more by --duration"
                )
            compared.append((machine, tuple(compare_points(machine, points))))
    emit(ComparedCurves(tuple(compared)), output)
