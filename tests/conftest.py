"""What all tests share: options, external programs, and reference data."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sampling
from places import ROOT
from quick import is_quick, is_slow

# pytest rewrites test modules and Hypothesis, which takes each worker ten seconds; keep what
# it writes, even where Python is told to keep nothing.
sys.dont_write_bytecode = False


def _find_package() -> None:
    """Let the tests run in a checkout that was never installed.

    An installed package wins. Without one, `symscale` is the folder of the
    checkout, and the worked derivations get the name that installing gives them.
    """
    if importlib.util.find_spec("symscale") is None:
        sys.path.insert(0, str(ROOT))
    if importlib.util.find_spec("symscale.worked") is None:
        folder = ROOT / "derivations"
        spec = importlib.util.spec_from_file_location(
            "symscale.worked", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            raise pytest.UsageError(f"{folder} is not a package")
        module = importlib.util.module_from_spec(spec)
        sys.modules["symscale.worked"] = module
        spec.loader.exec_module(module)


_find_package()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that rewrite golden files, and that try other random cases."""
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write what the tests compute into the golden files, instead of comparing",
    )
    parser.addoption(
        "--campaign",
        metavar="SEED:COUNT",
        help="try COUNT random cases from SEED on, in place of the few of each time",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the random cases before a test module asks for them."""
    if campaign := config.getoption("--campaign"):
        first, count = map(int, campaign.split(":"))
        sampling.chosen = first, count


def _module(path: Path) -> str:
    return path.relative_to(ROOT / "tests").with_suffix("").as_posix()


def _only_quick(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == "quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load no module of which no test is wanted."""
    return (_only_quick(config) and is_slow(_module(collection_path))) or None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a module's quick tests in one process: what they share takes longer than they do."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log) if _only_quick(config) else None


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests."""
    for item in items:
        if is_quick(_module(item.path), item.name):
            item.add_marker("quick")


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--rewrite-golden"))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no progress on the streams that tests read, however slow the machine is."""
    monkeypatch.setattr("symscale.cli.output.progress._PATIENCE_S", 1e6)


@pytest.fixture
def drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `report` draw within this process what another is to draw: half the work in all."""

    @contextmanager
    def at_once(work: Callable[..., None], *given: object) -> Iterator[Callable[[], None]]:
        yield lambda: work(*given)

    monkeypatch.setattr("symscale.cli.commands.report.aside", at_once)


@pytest.fixture
def need_program() -> Callable[[str], str]:
    """A function from the name of an external program to its path.

    Without the program the test is skipped, but fails where `CI` is set: there,
    a check that silently does not happen is an error.
    """

    def path_of(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            reason = f"{name} is not installed"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return path_of


@pytest.fixture(scope="session")
def shared_reference() -> Path | None:
    """The folder of reference data beside the checkout, or None without one."""
    folder = ROOT.parent / "shared" / "reference"
    return folder if folder.is_dir() else None
