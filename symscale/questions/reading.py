"""Values that a caller gives, read as the command line reads them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symscale.studies.requests.plan_options import PlanOptions
    from symscale.studies.requests.transformer import Request

Settings = Mapping[str, object] | Iterable[str]
"""Values of symbols by name, or texts such as `t_d=90d`."""


def texts(given: Settings) -> list[str]:
    """Values by name as a command line would give them."""
    if isinstance(given, Mapping):
        return [f"{name}={value}" for name, value in given.items()]
    return [given] if isinstance(given, str) else list(given)


def listed(values: object) -> str:
    """One number or several, as a command line would give them."""
    several = values if isinstance(values, list | tuple) else [values]
    return ",".join(map(str, several))


def read_options(command: str, given: Mapping[str, Any]) -> "PlanOptions":
    """The options of a plan that a command can honour."""
    from symscale.errors import unknown_name
    from symscale.studies.requests.plan_options import PlanOptions, plan_options

    known = [name for name, (_, o) in plan_options().items() if command in o.commands]
    for name in given:
        if name not in known:
            raise unknown_name("option", name, known)
    options = PlanOptions(**given)
    options.check()
    return options


def request(
    command: str, model: str, settings: Settings, plan: Mapping[str, Any], *, rates: bool
) -> "Request":
    """Read a model, its plan and what is set together."""
    from symscale.studies.requests.parameters import read_settings
    from symscale.studies.requests.transformer import transformer_request

    options = read_options(command, plan)
    return transformer_request(model, options, read_settings(texts(settings)), rates=rates)
