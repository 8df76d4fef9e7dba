"""Values that a caller gives, read as the command line reads them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from inspect import signature
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, get_args, get_origin

from symscale.errors import InputError, printable, unknown_name

if TYPE_CHECKING:
    from symscale.studies.requests.plan_options import PlanOptions
    from symscale.studies.requests.transformer import Request

P = ParamSpec("P")
R = TypeVar("R")
Settings = Mapping[str, object] | Iterable[str]
"""Values of symbols by name, or texts such as `t_d=90d`."""


def question(ask: Callable[P, R]) -> Callable[P, R]:
    """Let a question read texts, switches and counts by the types that it states for them.

    Numbers and paths are read where it takes a text, as the command line reads them.

    Raises:
        InputError: Of the question, naming an argument of another type.
    """
    stated = signature(ask)

    @wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        given = stated.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            given.arguments[name] = _read(name, value, stated.parameters[name].annotation)
        return ask(*given.args, **given.kwargs)

    return asked


def _read(name: str, value: object, stated: object) -> Any:
    """A value by the type that is stated for it, or None where that may be; others as they are."""
    kinds = get_args(stated) or (stated,)
    readers = [READERS[k] for k in (get_origin(kind) or kind for kind in kinds) if k in READERS]
    if not readers or (value is None and type(None) in kinds):
        return value
    return readers[0](name, value)


def text(name: str, value: object) -> str:
    """A value as a command line would give it.

    Raises:
        InputError: If it is no text, number or path.

    Example:
        >>> text("duration", "90d"), text("tokens", 15e12), text("hardware", Path("my.toml"))
        ('90d', '15000000000000.0', 'my.toml')
    """
    if isinstance(value, bool) or not isinstance(value, str | Path | Number):
        raise InputError(f"{name}: give a text, not {type(value).__name__}")
    return _shown(name, value)


def _shown(name: str, value: object) -> str:
    try:
        return str(value)
    except ValueError:  # Python prints no whole number of more than 4300 digits
        raise InputError(f"{name}: the number has thousands of digits; check it") from None


def switch(name: str, value: object) -> bool:
    """A switch that is on or off.

    Raises:
        InputError: If it is neither.
    """
    if isinstance(value, bool):
        return value
    raise InputError(f"{name}: give True or False, not {type(value).__name__}")


def count(name: str, value: object) -> int:
    """A whole number, or the text of one.

    Raises:
        InputError: If it is none.

    Example:
        >>> count("tp", "8"), count("tp", 8.0)
        (8, 8)
    """
    if isinstance(value, bool) or not isinstance(value, str | Number):
        raise InputError(f"{name}: give a whole number, not {type(value).__name__}")
    shown = _shown(name, value)
    with suppress(ValueError):
        return int(shown)
    with suppress(OverflowError, ValueError):  # infinity, and what is no number
        if float(shown).is_integer():
            return int(float(shown))
    raise InputError(f"{name}: {printable(shown)!r} is no whole number")


READERS: dict[object, Callable[[str, object], object]] = {
    str: text, Literal: text, bool: switch, int: count,
}  # fmt: skip


def texts(name: str, given: object) -> list[str]:
    """Values by name as a command line would give them.

    Raises:
        InputError: If they are neither values by name nor texts.

    Example:
        >>> texts("set", {"t_d": "90d", "b_0": 8e6}), texts("set", "t_d=90d")
        (['t_d=90d', 'b_0=8000000.0'], ['t_d=90d'])
    """
    if isinstance(given, Mapping):
        return [f"{key}={_shown(f'{name} {key}', value)}" for key, value in given.items()]
    found: list[str] = []
    for value in _several(given):
        if not isinstance(value, str):
            raise InputError(
                f"{name}: give values by name or texts NAME=VALUE, not {type(value).__name__}"
            )
        found.append(value)
    return found


def listed(name: str, values: object) -> str:
    """One number or several, as a command line would give them.

    Example:
        >>> listed("k", 2), listed("k", [1, 2, 4])
        ('2', '1,2,4')
    """
    return ",".join(text(name, value) for value in _several(values))


def _several(values: object) -> Iterable[object]:
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        return values
    return [values]


def read_options(command: str, given: Mapping[str, Any]) -> "PlanOptions":
    """The options of a plan that a command can honour."""
    from symscale.studies.requests.plan_options import PlanOptions, plan_options

    known = {name: kind for name, (kind, o) in plan_options().items() if command in o.commands}
    for name in given:
        if name not in known:
            raise unknown_name("option", name, known)
    options = PlanOptions(
        **{name: _read(name, value, known[name]) for name, value in given.items()}
    )
    options.check()
    return options


def request(
    command: str, model: str, settings: Settings, plan: Mapping[str, Any], *, rates: bool
) -> "Request":
    """Read a model, its plan and what is set together."""
    from symscale.studies.requests.parameters import read_settings
    from symscale.studies.requests.transformer import transformer_request

    options = read_options(command, plan)
    return transformer_request(model, options, read_settings(texts("set", settings)), rates=rates)
