"""The options of a Transformer's plan, made from the one list that all commands share."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

import typer

from symscale.errors import InputError
from symscale.studies.requests.plan_options import PlanOptions, plan_options

if TYPE_CHECKING:
    from symscale.studies.requests.transformer import Request

ModelArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model (list: symscale models), a TOML file, or a Hugging Face "
        "config.json.",
    ),
]
SizeSetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Give a symbol that is open a value: a number (b=4e6, L=96) or a product of powers "
        "of symbols (n_ctx=d_model); w=4 for words of 4 bytes. Repeatable.",
    ),
]
RateSetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Give a symbol that is open a value: a number (b=4e6) or a product of powers of "
        "symbols (n_ctx=d_model), or the rates of one device: C=1e15, W_net=400GB/s in one "
        "direction, tau_net=2us with --latency. Repeatable.",
    ),
]


class PlanOf:
    """The options of `PlanOptions` that a command can honour.

    Args:
        command: Its name.
        old: Switches that have an old spelling, each with it; it turns them off.
    """

    def __init__(self, command: str, **old: str) -> None:
        self.command = command
        self.old = old

    def options(self) -> dict[str, tuple[Any, Any]]:
        """Return type and default of each option, by the name of its field.

        Example:
            >>> [name for name in PlanOf("ratio").options()][:4]
            ['tp', 'dp', 'cp', 'ep']
        """
        table = plan_options()
        found: dict[str, tuple[Any, Any]] = {}
        for field in fields(PlanOptions):
            kind, said = table[field.name]
            if self.command in said.commands:
                plain = kind if kind is bool or {int, bool} & {*get_args(kind)} else str | None
                option = typer.Option(said.name, metavar=said.metavar or None, help=said.help)
                found[field.name] = (Annotated[plain, option], field.default)
        for name, spelling in self.old.items():
            found[f"old_{name}"] = (Annotated[bool, typer.Option(spelling, hidden=True)], False)
        return found

    def build(self, **given: Any) -> PlanOptions:
        """Make the options, checked; an old spelling warns."""
        for name, spelling in self.old.items():
            if given.pop(f"old_{name}"):
                now = f"--no-{name.replace('_', '-')}"
                if given[name] is not None:
                    raise InputError(f"{spelling} is {now} now; give one option for it")
                typer.echo(f"symscale: warning: {spelling} is {now} now", err=True)
                given[name] = False
        options = PlanOptions(**given)
        options.check()
        return options


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
    model: str, options: PlanOptions, sets: list[str] | None, *, rates: bool
) -> "Request":
    """Read a model, its plan and --set together."""
    from symscale.studies.requests.parameters import read_settings
    from symscale.studies.requests.transformer import transformer_request

    return transformer_request(model, options, read_settings(sets or []), rates=rates)
