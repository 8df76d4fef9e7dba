"""Command `ratio`."""

from typing import Annotated

import typer

from symscale.cli.options.numbers import EvolutionOption
from symscale.cli.options.plan import ModelArgument, PlanOf, RateSetOption, request_of
from symscale.cli.options.study import HardwareOption
from symscale.cli.output.output import WITH_CODE, Output, Writes, emit
from symscale.language.amounts import numbers, one_number
from symscale.studies.requests.plan_options import PlanOptions

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


def ratio(
    model: ModelArgument,
    plan: Annotated[PlanOptions, PlanOf("ratio")],
    output: Annotated[Output, Writes(WITH_CODE, fragment=True)],
    flop_vs_bw: EvolutionOption = "1",
    at_share: AtShareOption = "0.5",
    contention: ContentionOption = "1",
    latency: LatencyOption = False,
    hardware: HardwareOption = None,
    link: LinkOption = None,
    sets: RateSetOption = None,
) -> None:
    """Computation against communication: edge, slack, share, and how each grows."""
    from symscale.studies.comp_vs_comm.answer import ratio_answer

    answer = ratio_answer(
        request_of(model, plan, sets, rates=True),
        ks=numbers("--flop-vs-bw", flop_vs_bw),
        targets=numbers("--at-share", at_share),
        contention=one_number("--contention", contention),
        latency=latency,
        hardware=hardware,
        link=link,
    )
    emit(answer, output)
