"""The structure of the source: who imports whom, and what nobody may do.

The source is read, not run, so that imports inside functions count as well.
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import symscale
from places import ROOT
from quick import LEFT_OUT, is_slow

MAX_LINES = 400
HEAVY = ("sympy", "numpy", "matplotlib", "scipy")

# Rooms in the order of the house: a module imports from its own room and from what
# its room lists, by prefix. Of the two trunks, `algebra` knows no Transformer and
# `costs` does no optimisation; they meet in `studies`.
_SAID = {"language"}
_FACTS = {*_SAID, "answers", "costs", "facts"}
_SIMULATED = {*_FACTS, "simulator"}
_ANSWERED = {*_SIMULATED, "algebra", "kernel", "studies", "problems", "compare", "derivation",
             "measure"}  # fmt: skip
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "running": set(),
    "answers": set(),
    "version": set(),
    "language": set(),
    "algebra.exact": set(),
    "algebra.products": {"algebra.exact"},
    "algebra.sums": {*_SAID, "algebra.exact", "algebra.products"},
    "algebra.reading": {"algebra.exact", "algebra.sums"},
    "algebra.optimum": {"algebra.exact", "algebra.sums"},
    "algebra.curves": {*_SAID, "algebra.exact", "algebra.sums"},
    "kernel": set(),
    "algebra.certify": {"algebra.exact", "algebra.products", "algebra.sums", "algebra.curves",
                        "kernel"},
    "algebra.tangents": {
        *_SAID, "algebra.exact", "algebra.products", "algebra.sums", "algebra.certify",
    },
    "algebra.rewrites": {*_SAID, "algebra.exact", "algebra.products", "algebra.reading",
                         "algebra.sums"},
    "algebra.growth": {"algebra.exact"},
    "costs": {*_SAID, "answers"},
    "costs.sparse_mlp": {*_SAID, "costs"},
    "costs.transformer": {*_SAID, "answers", "costs"},
    "facts.machines": {*_SAID, "answers"},
    "facts.models": {*_SAID, "costs"},
    "derivation": {*_SAID, "answers", "algebra", "kernel", "costs", "worked"},
    "studies": {*_FACTS, "algebra", "kernel", "studies.requests"},  # of each study
    "studies.requests": {*_FACTS, "algebra.exact"},
    "studies.explorers": {*_FACTS, "algebra", "studies"},
    "problems": {*_FACTS, "algebra", "kernel", "studies.training"},
    "problems.older": {"kernel"},
    "simulator": set(),
    "simulator.sparse_mlp": _SIMULATED,
    "simulator.tables": _SIMULATED,
    "simulator.transformer": _SIMULATED,
    "measure.operators": {*_SAID, "answers", "running"},
    "measure.readers": {*_SAID, "measure.operators"},
    "measure.machines": {*_SAID, "answers", "facts", "measure.operators", "measure.readers"},
    "measure.iterations": {*_SAID, "measure.operators", "measure.readers"},
    "measure.runs": _SIMULATED,
    "compare": {*_SIMULATED, "algebra.products", "measure.runs", "studies.training"},
    "worked": _ANSWERED | {"pages"},
    "pages.formulas": {*_SAID, "algebra.exact", "algebra.products"},
    "pages.formats": {*_SAID, "algebra.exact", "algebra.products", "pages.formulas"},
    "pages.figures": _ANSWERED | {"pages.formats", "pages.formulas"},
    "pages.of": _ANSWERED | {"pages"},
    "pages": _ANSWERED | {"pages"},
    "cli.output": {"answers", "running", "pages"},
    "cli.options": {*_SIMULATED, "studies.requests", "cli.output"},
    "cli": {"cli"},
    "questions": _ANSWERED | {"answers", "pages"},
    "cli.commands": _ANSWERED | {"pages", "cli.options", "cli.output", "questions"},
    "symscale": {"answers", "questions"},
    "__main__": {"cli"},
}
MAX_MODULES = 12
UNLIMITED = {"pages.of", "cli.commands", "worked"}
"""Rooms with one module a command or derivation."""


@dataclass(frozen=True)
class Import:
    """One imported name.

    Attributes:
        name: The module, and with `from` the name in it: `sympy.Symbol`.
        line: Where.
    """

    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """One file of the package, as it lies in the checkout."""

    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def where(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def room(self) -> str:
        """The folder that it is in, with dots; a module at the top is a room of its own."""
        inside = self.name.removeprefix("symscale").removeprefix(".")
        if self.path.name == "__init__.py":
            return inside or "symscale"
        return inside.rpartition(".")[0] or inside


@cache
def modules() -> dict[str, Module]:
    """Read every module under symscale/ and derivations/, by its installed name."""
    found = {}
    for folder, package in (("symscale", "symscale"), ("derivations", "symscale.worked")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join([package, *(part for part in parts if part != "__init__")])
            found[name] = Module(name, path, ast.parse(text), len(text.splitlines()))
    return found


@cache
def nodes(module: Module) -> list[ast.AST]:
    """List all nodes of a module's tree."""
    return list(ast.walk(module.tree))


@cache
def imports(module: Module) -> list[Import]:
    """List what a module imports, at its start and within functions.

    `import_module("name")` counts too.
    """
    found = []
    for node in nodes(module):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.where}:{node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names = [first.value]
        line = getattr(node, "lineno", 0)
        found += [Import(name, line) for name in names]
    return found


def called(node: ast.Call) -> str:
    """Return the last name of what is called: `f` of `f(x)` and of `a.f(x)`."""
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def target(name: str) -> str | None:
    """Return the module of the package that an imported name is, or is in."""
    if name.split(".")[0] != "symscale":
        return None
    while name not in modules() and "." in name:
        name = name.rpartition(".")[0]
    return name


def targets(module: Module) -> dict[str, int]:
    """Return the modules of the package that a module imports, each with a line."""
    return {
        to: item.line
        for item in imports(module)
        if (to := target(item.name)) and to != module.name
    }


def may_import(room: str, name: str) -> bool:
    """Whether a module of a room may import a module of the package.

    A room without a rule of its own has that of the room around it.
    """
    inside = name.removeprefix("symscale.")
    rule = ALLOWED[room if room in ALLOWED else room.rpartition(".")[0]]
    return inside in ("errors", "version") or any(
        inside == allowed or inside.startswith(f"{allowed}.")
        for allowed in {room, *rule}
    )


def test_the_package_is_read() -> None:
    names = ("errors", "language.symbols", "kernel.check", "worked")
    assert {f"symscale.{name}" for name in names} <= set(modules())


def test_every_room_has_a_rule() -> None:
    rooms = {module.room for module in modules().values()}
    assert not {r for r in rooms if r not in ALLOWED and r.rpartition(".")[0] not in ALLOWED} - {
        "algebra", "facts", "measure",  # nothing but rooms
    }  # fmt: skip


def test_imports_point_one_way() -> None:
    wrong = [
        f"{module.where}:{line}: {module.room} may not import {to}"
        for module in modules().values()
        for to, line in targets(module).items()
        if not may_import(module.room, to)
    ]
    assert not wrong


def test_the_kernel_stands_alone() -> None:
    """It imports the standard library and itself: who trusts it need read nothing else."""
    kernel = [m for m in modules().values() if m.room == "kernel"]
    assert len(kernel) > 5
    wrong = [
        f"{module.where}:{item.line}: the kernel may not import {item.name}"
        for module in kernel
        for item in imports(module)
        if not item.name.startswith("symscale.kernel.")
        and item.name.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert not wrong


def test_the_simulator_never_reaches_the_solver() -> None:
    reached = {name for name in modules() if name.startswith("symscale.simulator")}
    todo = list(reached)
    while todo:
        new = set(targets(modules()[todo.pop()])) & set(modules()) - reached
        reached |= new
        todo += new
    forbidden = ("symscale.algebra", "symscale.kernel", "symscale.studies", "symscale.problems")
    assert not [name for name in sorted(reached) if name.startswith(forbidden)]


@cache
def edges() -> dict[str, list[str]]:
    """What each module imports, within functions included: a late import hides a circle."""
    found = {name: list(targets(module)) for name, module in modules().items()}
    del found["symscale.derivation.library"]  # finds the worked derivations by name
    return found


def circle(of: dict[str, list[str]]) -> str:
    """Return the first circle of arrows that is met, as text; "" if there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> str:
        if name in path:
            return " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for to in of.get(name, []):
                if found := visit(to, [*path, name]):
                    return found
            done.add(name)
        return ""

    return next((found for name in of if (found := visit(name, []))), "")


def test_modules_form_no_circle() -> None:
    assert not circle(edges())


def test_rooms_form_no_circle() -> None:
    rooms: dict[str, list[str]] = {}
    for name, imported in edges().items():
        room = modules()[name].room
        rooms.setdefault(room, []).extend({modules()[to].room for to in imported} - {room})
    assert not circle(rooms)
    assert circle({"a": ["b"], "b": ["c"], "c": ["b"]}) == "b -> c -> b"


def test_rooms_are_small() -> None:
    """Who opens a folder chooses among at most twelve names."""
    sizes = Counter(m.room for m in modules().values() if m.path.name != "__init__.py")
    assert not {r: n for r, n in sizes.items() if n > MAX_MODULES and r not in UNLIMITED}


@pytest.mark.parametrize(
    ("library", "allowed"),
    [("typer", "symscale/cli/"), ("click", "symscale/cli/"),
     ("matplotlib", "symscale/pages/figures/drawing.py")],
)  # fmt: skip
def test_a_library_has_one_place(library: str, allowed: str) -> None:
    wrong = [
        f"{module.where}:{item.line}: only {allowed} may import {library}"
        for module in modules().values()
        for item in imports(module)
        if item.name.split(".")[0] == library and not module.where.startswith(allowed)
    ]
    assert not wrong


def test_no_text_is_executed() -> None:
    forbidden = {"sympify", "parse_expr", "eval", "exec"}
    wrong = [
        f"{module.where}:{node.lineno}: {called(node)}() executes text"
        for module in modules().values()
        for node in nodes(module)
        if isinstance(node, ast.Call) and called(node) in forbidden
    ]
    assert not wrong


def test_symbols_are_made_in_one_file() -> None:
    """Calls only: as a type, `sp.Symbol` may stand anywhere."""
    makers = {"sp.Symbol", "sp.symbols", "sympy.Symbol", "sympy.symbols", "Symbol"}
    wrong = [
        f"{module.where}:{node.lineno}: only symscale/language/symbols.py makes symbols"
        for module in modules().values()
        for node in nodes(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in makers
        if module.name != "symscale.language.symbols"
    ]
    assert not wrong


def test_no_class_is_named_twice() -> None:
    """One word, one thing: who reads a name need not ask of which room it is."""
    names = Counter(
        node.name
        for module in modules().values()
        for node in nodes(module)
        if isinstance(node, ast.ClassDef)
    )
    assert not {name for name, count in names.items() if count > 1}


def test_modules_are_short() -> None:
    long = {m.where: m.lines for m in modules().values() if m.lines > MAX_LINES}
    assert not long


def test_public_things_have_docstrings() -> None:
    wrong = [
        f"{module.where}:{line}: {name}"
        for module in modules().values()
        for name, line in undocumented(module.tree)
    ]
    assert not wrong


def undocumented(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, int]]:
    """Find public functions, classes, and methods of those without a docstring."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        decorators = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
        if node.name.startswith("_") or decorators & {"overload", "override", "setter"}:
            continue
        if ast.get_docstring(node) is None:
            yield node.name, node.lineno
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", line) for name, line in undocumented(node))


def test_every_folder_is_installed() -> None:
    """The packages are listed by hand; a folder left out would miss in an install."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    folders = {
        name if module.path.name == "__init__.py" else name.rpartition(".")[0]
        for name, module in modules().items()
    }
    assert sorted(listed) == sorted(folders)


def test_worked_derivations_hide_no_standard_module() -> None:
    """Run as a script, a derivation has its own folder first on the path."""
    names = {path.stem for path in (ROOT / "derivations").glob("*.py")}
    assert not names & sys.stdlib_module_names


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code with the package that the tests use."""
    folder = Path(symscale.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("statement", ["import symscale", "import symscale.cli"])
def test_importing_is_light(statement: str) -> None:
    code = f"import sys\n{statement}\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_help_is_light() -> None:
    code = f"""
import runpy, sys
sys.argv = ["symscale", "--help"]
try:
    runpy.run_module("symscale", run_name="__main__", alter_sys=True)
except SystemExit as exit:
    code = exit.code or 0
    print("exit", code, [m for m in {HEAVY} if m in sys.modules], file=sys.stderr)
"""
    done = run_python(code)
    assert done.stderr == "exit 0 []\n"
    assert "Usage" in done.stdout


def test_no_symbol_is_named_twice() -> None:
    """Of two entries with one name the second would replace the first without a word."""
    source = (ROOT / "symscale/language/symbols.py").read_text(encoding="utf-8")
    names = [
        str(node.args[0].value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        and node.func.id == "Notation" and isinstance(node.args[0], ast.Constant)
    ]
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))


def test_quick_tests_are_of_every_room() -> None:
    """What they leave out exists, and no folder of tests is left out as a whole."""
    tests = ROOT / "tests"
    for module, names in LEFT_OUT.items():
        source = (tests / f"{module}.py").read_text(encoding="utf-8")
        assert [n for n in names if f"def {n.partition('[')[0]}(" not in source] == [], module
    for folder in {path.parent for path in tests.rglob("test_*.py")} - {tests / "cli/commands"}:
        modules = [p.relative_to(tests).with_suffix("") for p in folder.rglob("test_*.py")]
        assert not all(is_slow(module.as_posix()) for module in modules), folder
