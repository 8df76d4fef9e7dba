"""Options from dataclasses: a command takes one value, its user many options."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are dataclasses are spread over options.

    A dataclass gives the options that its fields are annotated with, in their order. One
    that is annotated with a builder (`options()` types and defaults by name, `build(**given)`
    the value) gives what the builder says, after all else.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Size:
        ...     width: int = 2
        ...     depth: int = 3
        >>> def area(name: str, size: Size) -> None:
        ...     print(name, size.width * size.depth)
        >>> str(inspect.signature(expanded(area)))
        '(*, name: str, width: int = 2, depth: int = 3)'
        >>> expanded(area)(name="a", width=5, depth=3)
        a 15
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    last: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        parts: tuple[Any, ...] = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        extras = parts[1:]
        if not is_dataclass(parts[0]):
            keyword = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hint, kind=keyword))
            continue
        build: Any = extras[0].build if extras else parts[0]
        options = extras[0].options() if extras else _options_of(parts[0])
        groups[parameter.name] = (build, tuple(options))
        (last if extras else parameters).extend(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for name, (annotation, default) in options.items()
        )
    parameters += last

    def command(**given: Any) -> None:
        for name, (build, options) in groups.items():
            given[name] = build(**{option: given.pop(option) for option in options})
        function(**given)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _options_of(kind: Any) -> dict[str, tuple[Any, Any]]:
    """The annotation and default of each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: (
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(kind)
    }
