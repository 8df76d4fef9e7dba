"""Command `simulate`."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symscale.cli.options.scaling import (
    BatchRulesOption,
    HardwareListOption,
    PublishedOption,
    RuleOption,
    RunDurationOption,
    SparseOption,
    WideOption,
    WidthsOption,
    read_machines,
    read_rules,
    read_seconds,
    read_shapes,
)
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.part_file import PartFile
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError, NoAnswerError, unknown_name

if TYPE_CHECKING:
    from symscale.facts.machines.lumped import Machine
    from symscale.simulator.sparse_mlp.shapes import Shape
    from symscale.simulator.tables.runs import Assumptions, SimulatedRun


def simulate(
    output: Annotated[
        Output,
        Writes(
            csv="Write a row for each model; an interrupted run goes on from FILE.csv.part.",
            plot="Draw it: FILE ends in .pdf, .svg or .png.",
        ),
    ],
    hardware: HardwareListOption = None,
    sparse: SparseOption = False,
    batch_rules: BatchRulesOption = None,
    rules: RuleOption = None,
    widths: WidthsOption = None,
    duration: RunDurationOption = None,
    as_published: PublishedOption = False,
    wide: WideOption = False,
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler", metavar="here|local|ADDRESS", help="Where models are simulated: in "
            "this process, by Dask workers started here, or by a Dask scheduler's.",
        ),
    ] = "here",
) -> None:
    """Utilization against training compute: for each model the best plan that is in time."""
    machines = read_machines(hardware)
    batches = batch_rules or ["default"]
    if len(set(batches)) < len(batches):
        raise InputError("--batch-rule: a rule is given twice; give it once")
    scaling = [read_rules(sparse, batch, rules) for batch in batches]
    shapes = [read_shapes(widths, s) for s in scaling]
    seconds = read_seconds(duration)
    from symscale.simulator.sparse_mlp.curve import QUARTER_S
    from symscale.simulator.tables.curves import CURVE_COLUMNS, csv_text
    from symscale.simulator.tables.runs import Assumptions, SimulatedCurves

    assumptions = [Assumptions(s, seconds or QUARTER_S, as_published, wide) for s in scaling]
    part = None
    if output.csv is not None:
        part = PartFile(output.csv, _run_key(machines, shapes, assumptions))
        part.start(csv_text([], CURVE_COLUMNS))
    with progress_text("simulating") as show, _runner(scheduler) as runner:
        runs = [
            _run(machine, models, a, part, show, runner)
            for machine in machines for models, a in zip(shapes, assumptions, strict=True)
        ]
    if not any(run.rows for run in runs):
        if part is not None:
            part.remove()
        names = ", ".join(m.name for m in machines)
        raise NoAnswerError(
            f"no cluster of {names} finishes d_model = {shapes[0][0].d_model} in "
            f"{(seconds or QUARTER_S) / 86400:.4g} days; allow more by --duration"
        )
    emit(SimulatedCurves(tuple(runs)), output)
    if part is not None:
        part.remove()


def _runner(scheduler: str) -> AbstractContextManager[Any]:
    """What simulates chunks elsewhere; None for this process."""
    if scheduler == "here":
        return nullcontext()
    from symscale.simulator.sparse_mlp.distributed import LOCAL, dask_runner

    if scheduler != LOCAL and "://" not in scheduler:
        raise unknown_name(
            "scheduler", scheduler, ("here", LOCAL), see="an address looks like tcp://host:8786"
        )
    return dask_runner(scheduler)


def _run(
    machine: "Machine", shapes: "Sequence[Shape]", assumptions: "Assumptions",
    part: PartFile | None, show: Any, runner: Any,
) -> "SimulatedRun":
    """Simulate a curve, from where an interrupted run left it."""
    from symscale.simulator.sparse_mlp.curve import QUARTER_S, curve
    from symscale.simulator.sparse_mlp.space import PUBLISHED_SPACE, WIDE_SPACE
    from symscale.simulator.sparse_mlp.step import Schedule
    from symscale.simulator.tables.curves import (
        CURVE_COLUMNS,
        csv_text,
        curve_row,
        marked,
        read_csv,
        read_curve_rows,
    )
    from symscale.simulator.tables.runs import SimulatedRun

    rows = []
    if part is not None and part.text.count("\n") > 1:
        where = str(part.path)
        held = read_curve_rows(read_csv(part.text, where, CURVE_COLUMNS), where)
        own = (machine.name, assumptions.rules.batch)
        rows = [row for row in held if (row["hardware"], row["batch_rule"]) == own]
    begun = len(rows)
    options: dict[str, Any] = {
        "duration_s": assumptions.duration_s or QUARTER_S,
        "schedule": Schedule(as_published=assumptions.as_published),
        "space": WIDE_SPACE if assumptions.wide else PUBLISHED_SPACE,
        "progress": lambda done: show(f"{machine.name}: {begun + done} of {len(shapes)} models"),
    }
    if runner is None:
        points = curve(machine, shapes[begun:], **options)
    else:
        from symscale.simulator.sparse_mlp.distributed import curve_in_chunks

        points = curve_in_chunks(machine, shapes[begun:], runner, **options)
    for point in points:
        rows.append(curve_row(point, machine.name, assumptions.rules.batch))
        if part is not None:
            part.add(csv_text(rows[-1:], CURVE_COLUMNS, header=False))
    ended = len(rows) < len(shapes)
    return SimulatedRun(machine, assumptions, marked(rows, machine, ended))


def _run_key(
    machines: "Sequence[Machine]", shapes: "Sequence[Sequence[Shape]]",
    assumptions: "Sequence[Assumptions]",
) -> str:
    """What a run depends on, in one line."""
    from symscale.simulator.sparse_mlp.parameters import device_values, network_values

    what = {
        "hardware": [m.name for m in machines],
        "figures": [dict(device_values(m)) | dict(network_values(m)) for m in machines],
        "tiers": [[t.size for t in m.tiers] for m in machines],
        "shapes": [repr(s) for s in shapes],
        "assumptions": [repr(a) for a in assumptions],
    }
    digest = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    return f"symscale simulate, run {digest}: {', '.join(m.name for m in machines)}"
