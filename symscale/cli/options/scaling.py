"""Options about machines and scaling rules; `symscale.simulator.tables.requests` reads them."""

from typing import Annotated

import typer

HardwareListOption = Annotated[
    str | None,
    typer.Option(
        "--hardware", metavar="NAME|FILE.toml[,..]",
        help="Presets (list: symscale hardware) or TOML files, separated by commas.",
    ),
]
OneHardwareOption = Annotated[
    str | None,
    typer.Option(
        "--hardware", metavar="NAME|FILE.toml",
        help="A preset (list: symscale hardware) or a TOML file.",
    ),
]
SparseOption = Annotated[
    bool, typer.Option("--sparse", help="Let the number of experts grow with the width.")
]
BatchRuleOption = Annotated[
    str,
    typer.Option(
        "--batch-rule", metavar="default|none|deepseek|EXPRESSION",
        help="Batch size in tokens: with compute to the power 1/6, constant, as DeepSeek fitted "
        "it, or an expression in d_model, d_ff, L, E, P, D and T.",
    ),
]
BatchRulesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--batch-rule", metavar="default|none|deepseek|EXPRESSION",
        help="Batch size in tokens: with compute to the power 1/6, constant, as DeepSeek fitted "
        "it, or an expression in d_model, d_ff, L, E, P, D and T. Repeatable, to see how much "
        "depends on it.",
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", metavar="NAME=EXPRESSION",
        help="A scaling rule of your own: depth (from d_model, d_ff), experts (and L) or data "
        "(tokens of the run; also from E, P). Repeatable.",
    ),
]
RunDurationOption = Annotated[
    str | None,
    typer.Option(
        "--duration", metavar="TIME",
        help="Wall-clock time allowed: 90d, 3mo, 1y. Default of curves: 0.25 x 3.154e7 s.",
    ),
]
WidthsOption = Annotated[
    str | None,
    typer.Option(
        "--widths", metavar="LOW..HIGH|N,N,..",
        help="Which d_model: those of the study in a range, or a list. Default: all of the "
        "study's, 12288 to 1572864.",
    ),
]
WideOption = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Search every split, microbatch count, interleaving and schedule, on clusters of any "
        "size, with the memory of activations, not the published space.",
    ),
]
PublishedOption = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Leave latency out of zero-bubble schedules, as the published program does.",
    ),
]
RunnersUpOption = Annotated[
    int, typer.Option("--runners-up", metavar="N", min=0, max=100, help="How many to show.")
]
