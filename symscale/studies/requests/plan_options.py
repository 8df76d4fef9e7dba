"""The options of a plan: what each is called, what it means, and which commands have it."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, get_args, get_type_hints

from symscale.costs.switches import USUAL, Mask, Recomputation, Schedule, Switches
from symscale.errors import InputError, unknown_name

WITH_STAGES = ("cost", "plan")
"""The commands that count a pipeline and what devices hold; a ratio compares blocks."""


@dataclass(frozen=True)
class Option:
    """How a user names a field, in plain words from which a command line makes its option.

    Attributes:
        name: The option; two with a slash for a switch that may be turned off.
        metavar: What stands for its value in the help; its choices where it has any.
        help: What it means.
        commands: The commands that can honour it.
    """

    name: str
    metavar: str
    help: str
    commands: tuple[str, ...] = ("cost", "ratio", "plan")


@dataclass(frozen=True)
class PlanOptions:
    """What a user says of a plan; None where nothing is said.

    Example:
        >>> options = PlanOptions(tp=8, zero=3)
        >>> options.degrees, options.switches.zero, options.defaults[:2]
        ({'N_TP': 8}, 3, ('sequence_parallel', 'schedule'))
    """

    tp: Annotated[int | None, Option("--tp", "N", "Degree of tensor parallelism.")] = None
    pp: Annotated[
        int | None, Option("--pp", "N", "Degree of pipeline parallelism.", WITH_STAGES)
    ] = None
    dp: Annotated[int | None, Option("--dp", "N", "Degree of data parallelism.")] = None
    cp: Annotated[
        int | None, Option("--cp", "N", "Degree of context parallelism (ring attention).")
    ] = None
    ep: Annotated[
        int | None, Option("--ep", "N", "Degree of expert parallelism; it divides --dp.")
    ] = None
    devices: Annotated[
        int | None,
        Option("--devices", "N", "Devices in all: of the cluster of plan; cost checks its "
               "plan by them, or fills them by --dp.", WITH_STAGES),
    ] = None
    seq: Annotated[
        int | None, Option("--seq", "N", "Tokens of a sequence. Default: the model's.")
    ] = None
    batch: Annotated[int | None, Option("--batch", "N", "Sequences in a batch.")] = None
    microbatches: Annotated[
        int | None,
        Option("--microbatches", "N", "Microbatches of a replica in a step. Default: one "
               "sequence each; plan tries 1 to 32 sequences.", WITH_STAGES),
    ] = None
    interleaving: Annotated[
        int | None,
        Option("--interleaving", "N", "Model chunks on each pipeline stage.", WITH_STAGES),
    ] = None
    sequence_parallel: Annotated[
        bool | None,
        Option("--sequence-parallel/--no-sequence-parallel", "", "Split norms and dropout over "
               "tokens too. Default: where --tp is above 1."),
    ] = None
    zero: Annotated[
        int | None,
        Option("--zero", "0|1|2|3", "What replicas share: 1 optimizer states, 2 gradients too, 3 "
               "weights too (fully sharded). Default: 1.", WITH_STAGES),
    ] = None
    schedule: Annotated[
        Schedule | None,
        Option("--schedule", "1f1b|zero-bubble", "Schedule of the pipeline. Default: 1f1b.",
               WITH_STAGES),
    ] = None
    recompute: Annotated[
        Recomputation | None,
        Option("--recompute", "none|selective|full", "What the backward pass computes again. "
               "Default: none; plan tries all."),
    ] = None
    fused_attention: Annotated[
        bool | None,
        Option("--fused-attention/--no-fused-attention", "", "Attention's scores never reach "
               "memory. Default: fused.", WITH_STAGES),
    ] = None
    replicate_kv: Annotated[
        bool,
        Option("--replicate-kv", "", "Repeat key and value heads where --tp exceeds their "
               "number.", ("cost", "ratio")),
    ] = False
    mask: Annotated[
        Mask | None,
        Option("--mask", "full|causal", "Which pairs of tokens count in causal attention: all, "
               "or the unmasked half. Default: all."),
    ] = None
    recipe: Annotated[
        str | None,
        Option("--recipe", "NAME", "Bytes of a parameter: mixed (18), mixed-16 (16), full (16), "
               "deepseek (13). Default: mixed.", WITH_STAGES),
    ] = None

    @property
    def degrees(self) -> dict[str, int]:
        """The degrees that are given, by the names of a plan."""
        given = {name: getattr(self, option) for option, name in DEGREES.items()}
        return {name: n for name, n in given.items() if n is not None}

    @property
    def defaults(self) -> tuple[str, ...]:
        """The switches that are not given, by name."""
        return tuple(f.name for f in fields(Switches) if getattr(self, f.name) is None)

    @property
    def switches(self) -> Switches:
        """The switches: those given, and else what people run today."""
        given = {f.name: getattr(self, f.name) for f in fields(Switches)}
        return replace(USUAL, **{name: x for name, x in given.items() if x is not None})

    def check(self) -> None:
        """Raise unless every count is one, and every choice among those that there are.

        Raises:
            InputError: Naming the option and what to write instead.
        """
        from symscale.studies.requests.sizes import MOST

        for name, (_, option) in plan_options().items():
            value = getattr(self, name)
            if value is None or isinstance(value, bool):
                continue
            if "|" in option.metavar:
                choices = option.metavar.split("|")
                if str(value) not in choices:
                    raise unknown_name(option.name, str(value), choices)
            elif isinstance(value, int) and value < 1:
                raise InputError(f"{option.name} {value} is no count; it is at least 1")
            elif isinstance(value, int) and value > MOST:
                raise InputError(f"{option.name} {value} is more than {MOST:.0e}; check it")


DEGREES = {
    "tp": "N_TP", "cp": "N_CP", "dp": "N_DP", "pp": "N_PP", "ep": "N_EP", "microbatches": "m",
    "interleaving": "v",
}
"""How a plan names the degrees that an option gives."""


def plan_options() -> dict[str, tuple[Any, Option]]:
    """The type and the option of every field of `PlanOptions`.

    Example:
        >>> plan_options()["tp"][1].name
        '--tp'
    """
    hints = get_type_hints(PlanOptions, include_extras=True)
    return {name: (get_args(hint)[0], get_args(hint)[1]) for name, hint in hints.items()}
