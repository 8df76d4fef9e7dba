"""The worked derivations: found, loaded, listed.

They are the files of the top-level folder `derivations/`, installed as
`symscale.worked`. Each defines `derive()`, which returns a Derivation.
"""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from symscale.derivation.steps import Derivation
from symscale.errors import unknown_name


@cache
def _folder() -> Path:
    """The folder of the derivations: of a checkout beside the package, or installed."""
    beside = Path(__file__).resolve().parent.parent / "derivations"
    if (beside / "training_limits.py").is_file():
        return beside
    spec = importlib.util.find_spec("symscale.worked")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the worked derivations are not installed")  # pragma: no cover
    return Path(next(iter(spec.submodule_search_locations)))


def derivation_names() -> tuple[str, ...]:
    """The slugs of all derivations.

    Example:
        >>> "training-limits" in derivation_names()
        True
    """
    files = sorted(_folder().glob("*.py"))
    return tuple(f.stem.replace("_", "-") for f in files if not f.stem.startswith("_"))


def derivation_titles() -> dict[str, str]:
    """The title of each derivation, read from its file's first line without running it."""
    titles = {}
    for name in derivation_names():
        source = (_folder() / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(source)) or name
        titles[name] = docstring.splitlines()[0].rstrip(".")
    return titles


@cache
def load_derivation(name: str) -> Derivation:
    """Run the derivation called `name`.

    Raises:
        UnknownNameError: If there is none.
    """
    if name not in derivation_names():
        raise unknown_name("derivation", name, derivation_names(), see="symscale derivations")
    derive: Callable[[], Derivation] = _load(name.replace("-", "_")).derive
    return derive()


def _load(stem: str) -> ModuleType:
    full_name = f"symscale.worked.{stem}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    spec = importlib.util.spec_from_file_location(full_name, _folder() / f"{stem}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{stem} cannot be loaded")  # pragma: no cover
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module
