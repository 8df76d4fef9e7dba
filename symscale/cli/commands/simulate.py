"""Command `simulate`."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
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
)
from symscale.cli.output.output import Output, Writes, emit
from symscale.cli.output.part_file import PartFile
from symscale.cli.output.progress import progress_text
from symscale.errors import InputError, NoAnswerError, unknown_name

if TYPE_CHECKING:
    from symscale.facts.machines.lumped import Machine
    from symscale.simulator.sparse_mlp.shapes import Shape
    from symscale.simulator.tables.curves import Row
    from symscale.simulator.tables.runs import Assumptions


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
    from symscale.simulator.sparse_mlp.curve import QUARTER_S
    from symscale.simulator.tables.curves import CURVE_COLUMNS, csv_text
    from symscale.simulator.tables.requests import (
        read_machines,
        read_rules,
        read_seconds,
        read_shapes,
    )
    from symscale.simulator.tables.runs import Assumptions, curves_of, simulated_run

    machines = read_machines(hardware)
    batches = batch_rules or ["default"]
    if len(set(batches)) < len(batches):
        raise InputError("--batch-rule: a rule is given twice; give it once")
    scaling = [read_rules(sparse, batch, rules) for batch in batches]
    shapes = [read_shapes(widths, s) for s in scaling]
    seconds = read_seconds(duration) or QUARTER_S
    assumptions = [Assumptions(s, seconds, as_published, wide) for s in scaling]
    part = None
    if output.csv is not None:
        part = PartFile(output.csv, _run_key(machines, shapes, assumptions))
        part.start(csv_text([], CURVE_COLUMNS))
    def keep(row: "Row") -> None:
        if part is not None:
            part.add(csv_text([row], CURVE_COLUMNS, header=False))

    runs = []
    with progress_text("simulating") as show, _runner(scheduler) as elsewhere:
        for machine in machines:
            for models, assumed in zip(shapes, assumptions, strict=True):
                held = _held(part, machine, assumed)
                of = f"of {len(models)} models"
                runs.append(
                    simulated_run(
                        machine, models, assumed, held=held, keep=keep, **elsewhere,
                        progress=partial(_show, show, machine.name, len(held), of),
                    )
                )
    try:
        found = curves_of(runs, shapes[0][0].d_model)
    except NoAnswerError:
        if part is not None:
            part.remove()
        raise
    emit(found, output)
    if part is not None:
        part.remove()


def _show(
    show: Callable[[str], None], machine: str, begun: int, of: str, done: int
) -> None:
    show(f"{machine}: {begun + done} {of}")


@contextmanager
def _runner(scheduler: str) -> Iterator[dict[str, Any]]:
    """What simulates points elsewhere, as an option; none for this process."""
    if scheduler == "here":
        yield {}
        return
    from symscale.simulator.sparse_mlp.distributed import LOCAL, curve_in_chunks, dask_runner

    if scheduler != LOCAL and "://" not in scheduler:
        raise unknown_name(
            "scheduler", scheduler, ("here", LOCAL), see="an address looks like tcp://host:8786"
        )
    with dask_runner(scheduler) as runner:
        yield {"simulate": partial(curve_in_chunks, run=runner)}


def _held(part: PartFile | None, machine: "Machine", assumptions: "Assumptions") -> "list[Row]":
    """The rows of a curve that an interrupted run left."""
    from symscale.simulator.tables.curves import CURVE_COLUMNS, read_csv, read_curve_rows

    if part is None or part.text.count("\n") <= 1:
        return []
    where = str(part.path)
    held = read_curve_rows(read_csv(part.text, where, CURVE_COLUMNS), where)
    own = (machine.name, assumptions.rules.batch)
    return [row for row in held if (row["hardware"], row["batch_rule"]) == own]


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
