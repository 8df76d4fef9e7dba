"""Command `asymptotics`."""

from typing import Annotated

import typer

from symscale.cli.output.output import Output, Writes, emit
from symscale.errors import InputError

RatioArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RATIO",
        help="A ratio by name, or a quotient of named costs such as compute/serialized. "
        "Without it, the names are listed.",
    ),
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Whose costs. Default: transformer.")
]
AlongOption = Annotated[
    list[str] | None,
    typer.Option(
        "--along", metavar="NAME=MONOMIAL",
        help="How a symbol follows from others: N_TP=L*d_model^2, or N_TP=d_model^p with the "
        "exponent p open. Repeatable.",
    ),
]
AssumeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assume", metavar="MONOMIAL=CLASS(MONOMIAL)",
        help="How symbols that are not constant compare: n_ctx=O(d_model); classes are Theta, O, "
        "Omega, o and omega. Repeatable.",
    ),
]
InOption = Annotated[
    str | None,
    typer.Option(
        "--in", metavar="NAMES",
        help="The symbols that go to infinity, separated by commas. Default: all sizes in the "
        "ratio that --along leaves free.",
    ),
]
ExpectOption = Annotated[
    str | None,
    typer.Option(
        "--expect", metavar="CLASS(EXPRESSION)",
        help='The class that it should have, such as "Omega(1)"; exit code 1 if it does not, or '
        "if that depends on how the symbols grow.",
    ),
]


def asymptotics(
    output: Annotated[Output, Writes()],
    ratio: RatioArgument = None,
    model: ModelOption = None,
    along: AlongOption = None,
    assume: AssumeOption = None,
    growing: InOption = None,
    expect: ExpectOption = None,
) -> None:
    """How a ratio of costs grows along a path: leading term, class, limit, all exact."""
    from symscale.studies.comp_vs_comm.growth import ratio_asymptotics
    from symscale.studies.comp_vs_comm.ratios import NAMES, named_costs

    costs = named_costs(model)
    if ratio is None:
        if along or assume or growing is not None or expect is not None:
            raise InputError("name a ratio (list: symscale asymptotics)")
        meanings = {name: meaning for name, (meaning, _) in NAMES.items()}
        from symscale.pages.of.asymptotics import NamedCosts

        emit(NamedCosts(costs, meanings), output)
        return
    found = ratio_asymptotics(
        ratio, costs, along=along or (), assume=assume or (), growing=growing, expect=expect
    )
    emit(found, output)
    found.require_expected()
