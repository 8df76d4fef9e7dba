"""Options that describe a Transformer's plan, shared by several commands."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from symscale.studies.requests.transformer import PlanOptions, Request

ModelArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model (list: symscale models), a TOML file, or a Hugging Face "
        "config.json.",
    ),
]


def _degree(option: str, text: str) -> typer.models.OptionInfo:
    return typer.Option(option, metavar="N", help=text)


TensorOption: TypeAlias = Annotated[int | None, _degree("--tp", "Degree of tensor parallelism.")]
PipelineOption: TypeAlias = Annotated[
    int | None, _degree("--pp", "Degree of pipeline parallelism.")
]
DataOption: TypeAlias = Annotated[int | None, _degree("--dp", "Degree of data parallelism.")]
ContextOption: TypeAlias = Annotated[
    int | None, _degree("--cp", "Degree of context parallelism (ring attention).")
]
ExpertOption: TypeAlias = Annotated[
    int | None, _degree("--ep", "Degree of expert parallelism; it divides --dp.")
]
DevicesOption: TypeAlias = Annotated[
    int | None, _degree("--devices", "Devices in all: checks the plan, or gives --dp.")
]
SequenceOption: TypeAlias = Annotated[
    int | None, _degree("--seq", "Tokens of a sequence. Default: the model's.")
]
BatchOption: TypeAlias = Annotated[int | None, _degree("--batch", "Sequences in a batch.")]
MicrobatchesOption: TypeAlias = Annotated[
    int | None,
    _degree(
        "--microbatches", "Microbatches of a replica in a step. Default: one sequence each; plan "
        "tries 1 to 32 sequences.",
    ),
]
InterleavingOption: TypeAlias = Annotated[
    int | None, _degree("--interleaving", "Model chunks on each pipeline stage.")
]
SequenceParallelOption: TypeAlias = Annotated[
    bool, typer.Option("--sequence-parallel", help="Split norms and dropout over tokens too.")
]
ZeroOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--zero", metavar="0|1|2|3", min=0, max=3, help="What replicas share: 1 optimizer states, "
        "2 gradients too, 3 weights too (fully sharded).",
    ),
]
ScheduleOption: TypeAlias = Annotated[
    str, typer.Option("--schedule", metavar="1f1b|zero-bubble", help="Schedule of the pipeline.")
]
RecomputeOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--recompute", metavar="none|selective|full",
        help="What the backward pass computes again.",
    ),
]
FusedOption: TypeAlias = Annotated[
    bool, typer.Option("--fused-attention", help="Attention's scores never reach memory.")
]
ReplicateOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--replicate-kv", help="Repeat key and value heads where --tp exceeds their number."
    ),
]
MaskOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--mask", metavar="full|causal",
        help="Which pairs of tokens count in causal attention: all, or the unmasked half.",
    ),
]


SizeSetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Give a symbol that is open a value: a number (b=4e6, L=96) or a product of powers "
        "of symbols (d_ff=4*d_model); w=4 for words of 4 bytes. Repeatable.",
    ),
]
RateSetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Give a symbol that is open a value: a number (b=4e6) or a product of powers of "
        "symbols (d_ff=4*d_model), or the rates of one device: C=1e15, W_net=400GB/s in one "
        "direction, tau_net=2us with --latency. Repeatable.",
    ),
]


def one_of(option: str, value: str, choices: tuple[str, ...]) -> str:
    """Return a value if it is one of several.

    Raises:
        UnknownNameError: If it is none; the text offers the nearest.
    """
    from symscale.errors import unknown_name

    if value not in choices:
        raise unknown_name(option, value, choices)
    return value


def request_of(
    model: str, options: "PlanOptions", sets: list[str] | None, *, rates: bool
) -> "Request":
    """Read a model, its plan and --set together."""
    from symscale.studies.requests.parameters import read_settings
    from symscale.studies.requests.transformer import transformer_request

    one_of("--schedule", options.schedule, ("1f1b", "zero-bubble"))
    one_of("--recompute", options.recompute, ("none", "selective", "full"))
    one_of("--mask", options.mask, ("full", "causal"))
    return transformer_request(model, options, read_settings(sets or []), rates=rates)
