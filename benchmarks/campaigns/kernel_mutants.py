"""Break the kernel in one place at a time; its own tests must notice.

A mutant is the kernel with one comparison, operator, constant, condition or statement
changed. It is killed where a test fails, or none ends. Left alone are texts, annotations,
the counting of work, and the limits of sizes: they change what is refused, not what is
accepted.

    python benchmarks/campaigns/kernel_mutants.py --seed 0 --count 200
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import os
import random
import signal
import sys
from collections.abc import Iterator
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import mpmath  # noqa: F401  # imported once, before the mutants part
import pytest
import sympy  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "symscale" / "kernel"
TESTS = (
    "test_theorems.py", "test_forgeries.py", "test_shares.py", "test_kernel_arithmetic.py",
)  # fmt: skip
PATIENCE = 120  # seconds of a mutant that does not end
LEFT_ALONE = {"limits.py", "sentences.py", "__init__.py"}

_SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.And: ast.Or,
    ast.Or: ast.And, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


def places(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Each place that can be broken: how, the node's number in the tree, and a part of it."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        is_work = isinstance(node, ast.Call) and ast.unparse(node.func) == "spend"
        is_text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "Refused"
        )
        if is_work or is_text:
            skipped |= {id(n) for n in ast.walk(node)}
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(hint, ast.AST):
                skipped |= {id(n) for n in ast.walk(hint)}
    for statement in tree.body:  # constants and aliases of the module
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            skipped |= {id(n) for n in ast.walk(statement)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            for k, op in enumerate(node.ops):
                if type(op) in _SWAPS:
                    yield "compare", number, k
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _SWAPS:
            yield "operator", number, 0
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield "sign", number, 0
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            yield "constant", number, 0
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield "never", number, 0
        elif isinstance(node, ast.Raise | ast.AugAssign | ast.Continue | ast.Break) or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and id(node.value) not in skipped
        ):
            yield "nothing", number, 0


def broken(source: str, kind: str, number: int, part: int) -> tuple[str, str]:
    """The source with one place broken, and a line that says where and how."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    node = nodes[number]
    before = ast.unparse(node).splitlines()[0]
    where = getattr(node, "lineno", 0)
    after: ast.AST = node
    if isinstance(node, ast.Compare):
        node.ops[part] = _SWAPS[type(node.ops[part])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = _SWAPS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        after = node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            node.value = not node.value
        elif isinstance(node.value, int):
            node.value += 1
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        node.test = ast.Constant(False)
    else:
        after = ast.Pass()
    if after is not node:
        for parent in nodes:
            for field, value in ast.iter_fields(parent):
                if value is node:
                    setattr(parent, field, after)
                elif isinstance(value, list) and any(v is node for v in value):
                    setattr(parent, field, [after if v is node else v for v in value])
    shown = "pass" if isinstance(after, ast.Pass) else ast.unparse(after).splitlines()[0]
    return ast.unparse(ast.fix_missing_locations(tree)), f"{where}: {kind}: {before} -> {shown}"


class _Mutated(Loader):
    """Finds one module of the kernel as a broken source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, f"<{self.module}>", "exec"), vars(module))  # noqa: S102


def killed(module: str, source: str) -> bool:
    """Whether the kernel's tests fail with a module of this source."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        sys.meta_path.insert(0, _Mutated(module, source))
        arguments = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--import-mode=importlib"]
        code = 1
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = pytest.main([*arguments, *(str(ROOT / "tests/kernel" / t) for t in TESTS)])
        os._exit(int(code))
    _, status = os.waitpid(child, 0)
    return status != 0


def main() -> None:
    """Break the kernel, and say which mutants the tests did not notice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100, help="mutants tried; 0 for all")
    parser.add_argument("--only", default="", help="a module, such as claim.py")
    given = parser.parse_args()
    os.chdir(ROOT)
    every = []
    for path in sorted(KERNEL.glob("*.py")):
        if path.name not in LEFT_ALONE and given.only in ("", path.name):
            every += [(path, *place) for place in places(ast.parse(path.read_text()))]
    chosen = every
    if given.count:
        chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    untouched = KERNEL / "claim.py"
    if killed("symscale.kernel.claim", untouched.read_text()):
        parser.error("the kernel's tests fail without any mutant")
    survivors = []
    for path, kind, number, part in chosen:
        source, what = broken(path.read_text(), kind, number, part)
        if not killed(f"symscale.kernel.{path.stem}", source):
            survivors.append(f"{path.name}:{what}")
            print(survivors[-1], flush=True)
    dead = len(chosen) - len(survivors)
    share = 100 * dead / len(chosen)
    print(f"{dead} of {len(chosen)} mutants killed ({share:.1f} %), of {len(every)}")


if __name__ == "__main__":
    main()
