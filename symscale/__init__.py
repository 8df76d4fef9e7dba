"""symscale: closed-form limits of training at scale, derived, proved and printed.

    import symscale as ss

    ss.limits("h100-sxm")

Each question is a function: `limits`, `cliffs`, `solve`, `derive`, `cost`, `ratio`,
`asymptotics`, `plan`, `simulate`, `check`; `machine`, `model`, `symbols` and `expression` give
what they are made of. Nothing heavy is imported until one is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symscale.errors import SymscaleError
from symscale.version import __version__

if TYPE_CHECKING:
    from symscale.answers import Answer
    from symscale.questions.facts import expression, machine, model, symbols
    from symscale.questions.own import check, derive, solve
    from symscale.questions.simulation import simulate
    from symscale.questions.training import cliffs, limits
    from symscale.questions.transformers import asymptotics, cost, plan, ratio

__all__ = [
    "Answer",
    "SymscaleError",
    "__version__",
    "asymptotics",
    "check",
    "cliffs",
    "cost",
    "derive",
    "expression",
    "limits",
    "machine",
    "model",
    "plan",
    "ratio",
    "simulate",
    "solve",
    "symbols",
]


_PLACES = {
    "answers": ("Answer",),
    "questions.facts": ("expression", "machine", "model", "symbols"),
    "questions.own": ("check", "derive", "solve"),
    "questions.simulation": ("simulate",),
    "questions.training": ("cliffs", "limits"),
    "questions.transformers": ("asymptotics", "cost", "plan", "ratio"),
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"symscale.{place}"), name)
    raise AttributeError(f"module 'symscale' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
