"""Commands `ratio`, `sweep` and `models`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symscale.cli.options.plan import (
    BatchOption,
    ContextOption,
    DataOption,
    ExpertOption,
    MaskOption,
    ModelArgument,
    RateSetOption,
    RecomputeOption,
    ReplicateOption,
    SequenceOption,
    SequenceParallelOption,
    TensorOption,
    request_of,
)
from symscale.cli.options.shared import (
    CodeFormatOption,
    ForceOption,
    FormatOption,
    FragmentOption,
    HardwareOption,
    OutputOption,
)
from symscale.cli.output.emit import check_emitted, check_writable, emit, write_by, write_whole
from symscale.errors import InputError

if TYPE_CHECKING:
    import sympy as sp

MOST_VALUES = 20
MOST_NUMBER = 10**15  # of a numerator or denominator
EvolutionOption = Annotated[
    str,
    typer.Option(
        "--flop-vs-bw", metavar="K,K,...",
        help="How many times faster than the network arithmetic has become.",
    ),
]
AtShareOption = Annotated[
    str,
    typer.Option(
        "--at-share", metavar="S,S,...", help="Shares, between 0 and 1, whose k is wanted."
    ),
]
ContentionOption = Annotated[
    str,
    typer.Option(
        "--contention", metavar="C", help="Factor by which collectives slow products that run "
        "beside them.",
    ),
]
LatencyOption = Annotated[
    bool,
    typer.Option(
        "--latency", help="Give the share with the latency of every phase of a collective too, "
        "tau_net: of --hardware, or by --set tau_net=2us.",
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link", metavar="TIER", help="The tier whose link counts. Default: the outermost "
        "that the group spans which waits: of tensor and expert parallelism; for gradients, of "
        "replicas.",
    ),
]


def numbers(option: str, text: str) -> "tuple[sp.Expr, ...]":
    """Read a list of numbers, separated by commas, exactly."""
    import sympy as sp

    from symscale.errors import SymscaleError
    from symscale.language.units import parse_number

    parts = text.split(",")
    if len(parts) > MOST_VALUES:
        raise InputError(f"{option}: {len(parts)} values are too many; at most {MOST_VALUES}")
    found = []
    for part in parts:
        try:
            number = sp.Rational(parse_number(part.strip()))
        except SymscaleError as error:
            raise error.with_context(option) from None
        if max(abs(number.p), number.q) > MOST_NUMBER:
            raise InputError(
                f"{option}: {part.strip()[:20]} is beyond what is exact here; "
                "at most 15 digits, from 1e-15 to 1e15"
            )
        found.append(number)
    return tuple(found)


def ratio(
    model: ModelArgument,
    tp: TensorOption = None,
    dp: DataOption = None,
    cp: ContextOption = None,
    ep: ExpertOption = None,
    seq: SequenceOption = None,
    batch: BatchOption = None,
    sequence_parallel: SequenceParallelOption = False,
    recompute: RecomputeOption = "none",
    replicate_kv: ReplicateOption = False,
    mask: MaskOption = "full",
    flop_vs_bw: EvolutionOption = "1",
    at_share: AtShareOption = "0.5",
    contention: ContentionOption = "1",
    latency: LatencyOption = False,
    hardware: HardwareOption = None,
    link: LinkOption = None,
    sets: RateSetOption = None,
    form: CodeFormatOption = None,
    output: OutputOption = None,
    fragment: FragmentOption = False,
    force: ForceOption = False,
) -> None:
    """Computation against communication: edge, slack, share, and how each grows."""
    from symscale.pages.of.functions import ratio_code
    from symscale.pages.of.ratio import ratios_data, ratios_document
    from symscale.studies.comp_vs_comm.answer import ratio_answer
    from symscale.studies.requests.transformer import PlanOptions

    plan: dict[str, Any] = {
        "tp": tp, "dp": dp, "cp": 1 if cp is None else cp,
        "ep": ep, "seq": seq, "batch": batch, "sequence_parallel": sequence_parallel,
        "recompute": recompute, "replicate_kv": replicate_kv, "mask": mask,
    }
    answer = ratio_answer(
        request_of(model, PlanOptions(**plan), sets, rates=True),
        ks=numbers("--flop-vs-bw", flop_vs_bw),
        targets=numbers("--at-share", at_share),
        contention=_one("--contention", contention),
        latency=latency,
        hardware=hardware,
        link=link,
    )
    emit(
        form, lambda: ratios_document(answer), lambda: ratios_data(answer), output, force,
        others=ratio_code(answer), fragment="ratio" if fragment else None,
    )


def _one(option: str, text: str) -> "sp.Expr":
    found = numbers(option, text)
    if len(found) != 1:
        raise InputError(f"{option} takes one number")
    return found[0]


def sweep(
    grid: Annotated[str, typer.Argument(metavar="future", help="The grid: future.")],
    hardware: Annotated[
        str | None,
        typer.Option(
            "--hardware", metavar="NAME|FILE.toml",
            help="A preset (list: symscale hardware) or a TOML file. Default: the node of the "
            "study, mi210-node-two-cs.",
        ),
    ] = None,
    flop_vs_bw: EvolutionOption = "1,2,4",
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write every case.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the shares; .pdf, .svg or .png."),
    ] = None,
    form: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Share of serialized communication over a grid of models and hardware.

    The grid `future`: d_model 1K to 64K, sequences of 1K to 8K, tensor parallelism 4 to
    256, batches of 1 and 4.
    """
    from symscale.errors import unknown_name

    if grid != "future":
        raise unknown_name("grid", grid, ("future",))
    ks = numbers("--flop-vs-bw", flop_vs_bw)
    check_emitted(form, output)
    for path, option in ((csv, "--csv"), (plot, "--plot")):
        if path is not None:
            check_writable(path, force, option)
    if csv is not None and plot is not None and csv == plot:
        raise InputError("--csv and --plot name the same file; name two")
    from symscale.facts.machines.lumped import load_machine
    from symscale.language.units import parse_number
    from symscale.pages.of.ratio import sweep_csv, sweep_data, sweep_document
    from symscale.studies.comp_vs_comm.future import DEFAULT_MACHINE, future_cases

    if plot is not None:
        from symscale.pages.figures.drawing import check_format

        check_format(plot)
    if any(not k.is_positive for k in ks):
        raise InputError(f"--flop-vs-bw {flop_vs_bw}: arithmetic grows by factors above 0")
    machine = load_machine(hardware or DEFAULT_MACHINE)
    cases = future_cases(machine, [parse_number(str(k)) for k in ks])
    if csv is not None:
        write_whole(csv, sweep_csv(cases, ks), "--csv")
    if plot is not None:
        from symscale.pages.figures.shares import share_plot

        wanted = plot
        write_by(wanted, lambda path: share_plot(cases, ks, machine.title, path), "--plot")
    emit(
        form,
        lambda: sweep_document(cases, ks, machine.title),
        lambda: sweep_data(cases, ks, machine.name),
        output,
        force,
    )


def models(
    form: FormatOption = None, output: OutputOption = None, force: ForceOption = False
) -> None:
    """List the models that ship with symscale."""
    from symscale.pages.of.models import models_data, models_document

    emit(form, models_document, models_data, output, force)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(ratio)
    app.command()(sweep)
    app.command()(models)
