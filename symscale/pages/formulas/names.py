"""How symbols are typeset: the notation's LaTeX, and what a problem says of its own names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import sympy as sp

from symscale.language.letters import latex_of_name
from symscale.language.symbols import latex_names

OwnNames = tuple[tuple[str, str], ...]
"""Names with the LaTeX that a problem gives for them, as `letters.parse_latex` reads it."""

_own: ContextVar[OwnNames] = ContextVar("own_names", default=())


def own_names() -> OwnNames:
    """The names that are typeset in a way of their own at present."""
    return _own.get()


@contextmanager
def typeset_as(names: Mapping[str, str]) -> Iterator[None]:
    """Typeset some names in a way of their own within a block.

    Example:
        >>> from symscale.language.symbols import symbol
        >>> with typeset_as({"tau": "T"}):
        ...     symbol_latex([symbol("tau")])
        {tau: 'T'}
    """
    token = _own.set(tuple(sorted(names.items())))
    try:
        yield
    finally:
        _own.reset(token)


class Named(Protocol):
    """What has names that are typeset in a way of their own."""

    @property
    def names(self) -> Mapping[str, str]:
        """LaTeX by name."""


D = TypeVar("D", bound=Named)
P = ParamSpec("P")
R = TypeVar("R")


def in_its_names(function: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
    """Let a function typeset names as its first argument says."""

    @wraps(function)
    def inside(named: D, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with typeset_as(named.names):
            return function(named, *args, **kwargs)

    return inside


def symbol_latex(symbols: Iterable[Any]) -> dict[sp.Symbol, str]:
    """The LaTeX of symbols, for SymPy's `symbol_names`."""
    known, own = latex_names(), dict(own_names())
    return {
        s: own.get(str(s)) or known.get(s) or latex_of_name(str(s)) for s in symbols
    }
