"""Command `compare`."""

import typer

from symscale.cli.options.scaling import (
    BatchRuleOption,
    HardwareListOption,
    PlotOption,
    RuleOption,
    RunDurationOption,
    SparseOption,
    WidthsOption,
    read_machines,
    read_rules,
    read_seconds,
    read_shapes,
)
from symscale.cli.options.shared import ForceOption, FormatOption, OutputOption
from symscale.cli.output.emit import check_paths, emit, progress_text, write_by
from symscale.errors import NoAnswerError


def compare(
    hardware: HardwareListOption = None,
    sparse: SparseOption = False,
    batch_rule: BatchRuleOption = "default",
    rules: RuleOption = None,
    widths: WidthsOption = None,
    duration: RunDurationOption = None,
    plot: PlotOption = None,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Closed form and simulation side by side: utilization against training compute."""
    check_paths({"--plot": plot, "-o": output}, force)
    machines = read_machines(hardware)
    shapes = read_shapes(widths, read_rules(sparse, batch_rule, rules))
    seconds = read_seconds(duration)
    from symscale.compare.simulated import compare as compare_points
    from symscale.pages.of.compare import comparison_data, comparison_document
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
            compared.append((machine, compare_points(machine, points)))
    if plot is not None:
        from symscale.pages.of.compare import comparison_plot

        write_by(plot, lambda p: comparison_plot(compared, p), "--plot")
    emit(
        form,
        lambda: comparison_document(compared),
        lambda: comparison_data(compared),
        output,
        force,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(compare)
