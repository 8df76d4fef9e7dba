"""Symbolic expressions compiled to NumPy.

An expression becomes a list of operations on arrays: equal parts are computed once,
parts in which no array occurs are computed once as numbers, and the rest runs through
blocks of rows that stay in the processor's cache. No source text is made or executed.

Ceilings are exact: the argument of a ceiling is one quotient of two products, so that
with integers 6/3 is 2 and never a hair more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from symscale.errors import FormulaError

BLOCK = 16384
"""Rows that are computed together: their temporary arrays fit a cache."""

_Key = tuple[Any, ...]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power,
    "max": np.maximum, "min": np.minimum, "sqrt": np.sqrt, "ceil": np.ceil, "floor": np.floor,
    ">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal,
    "==": np.equal, "!=": np.not_equal, "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip
_TRUTHS = frozenset((">", ">=", "<", "<=", "==", "!=", "and", "or"))
_NESTED: dict[type[sp.Basic], str] = {sp.Max: "max", sp.Min: "min", sp.And: "and", sp.Or: "or"}
_ROUNDED: dict[type[sp.Basic], str] = {sp.ceiling: "ceil", sp.floor: "floor"}
_COMPARED: dict[type[sp.Basic], str] = {
    sp.StrictGreaterThan: ">", sp.GreaterThan: ">=", sp.StrictLessThan: "<", sp.LessThan: "<=",
    sp.Eq: "==", sp.Ne: "!=",
}  # fmt: skip


class _Numbering:
    """Gives every distinct operation a number, in an order in which they can run."""

    def __init__(self) -> None:
        self.keys: list[_Key] = []
        self._numbers: dict[_Key, int] = {}
        self._done: dict[sp.Basic, int] = {}

    def number(self, expr: sp.Basic) -> int:
        """The number of the operation whose result an expression is."""
        if expr not in self._done:
            self._done[expr] = self._of(expr)
        return self._done[expr]

    def _add(self, *key: Any) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return self._numbers[key]

    def _of(self, expr: sp.Basic) -> int:
        if isinstance(expr, sp.Symbol):
            return self._add("argument", expr.name)
        if expr is sp.true or expr is sp.false:
            return self._add("constant", expr is sp.true)
        if isinstance(expr, sp.Number | sp.NumberSymbol):
            return self._add("constant", float(expr))
        if isinstance(expr, sp.Add):
            return self._sum(expr)
        if isinstance(expr, sp.Mul):
            return self._quotient(expr.args)
        if isinstance(expr, sp.Pow):
            return self._power(expr.base, expr.exp)
        if isinstance(expr, sp.Piecewise):
            return self._cases(expr)
        if type(expr) in _NESTED:
            return self._chain(_NESTED[type(expr)], [self.number(a) for a in expr.args])
        if type(expr) in _ROUNDED:
            return self._add(_ROUNDED[type(expr)], self.number(expr.args[0]))
        if type(expr) in _COMPARED:
            return self._add(_COMPARED[type(expr)], *(self.number(a) for a in expr.args))
        raise FormulaError(f"{type(expr).__name__} cannot be compiled")

    def _chain(self, operation: str, operands: list[int]) -> int:
        """Combine operands two by two, in one order everywhere so that parts are shared."""
        first, *rest = sorted(operands)
        for other in rest:
            first = self._add(operation, first, other)
        return first

    def _sum(self, expr: sp.Expr) -> int:
        plus: list[int] = []
        minus: list[int] = []
        for term in sp.Add.make_args(expr):
            negative = term.as_coeff_Mul()[0].is_negative
            (minus if negative else plus).append(self.number(-term if negative else term))
        if not plus:
            return self._add("-", self._add("constant", 0.0), self._chain("+", minus))
        total = self._chain("+", plus)
        for number in sorted(minus):
            total = self._add("-", total, number)
        return total

    def _quotient(self, factors: tuple[sp.Expr, ...]) -> int:
        """A product as one division: of what stands above by what stands below."""
        above, below = [], []
        for factor in factors:
            if isinstance(factor, sp.Rational) and not isinstance(factor, sp.Integer):
                above.append(self.number(sp.Integer(factor.p)))
                below.append(self.number(sp.Integer(factor.q)))
            elif isinstance(factor, sp.Pow) and factor.exp.could_extract_minus_sign():
                below.append(self._power(factor.base, -factor.exp))
            else:
                above.append(self.number(factor))
        one = self._add("constant", 1.0)
        above = [n for n in above if n != one] or [one]
        product = self._chain("*", above)
        return self._add("/", product, self._chain("*", below)) if below else product

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> int:
        if exponent.could_extract_minus_sign():
            return self._quotient((base**exponent,))
        if exponent == sp.Rational(1, 2):
            return self._add("sqrt", self.number(base))
        if isinstance(exponent, sp.Integer) and int(exponent) <= 4:
            return self._chain("*", [self.number(base)] * int(exponent))
        return self._add("**", self.number(base), self.number(exponent))

    def _cases(self, expr: sp.Piecewise) -> int:
        branches = [(branch.args[0], branch.args[1]) for branch in expr.args]
        last, always = branches.pop()
        if always is not sp.true:
            raise FormulaError(f"{expr} has no value outside its branches")
        result = self.number(last)
        for value, condition in reversed(branches):
            result = self._add("where", self.number(condition), self.number(value), result)
        return result


@dataclass(frozen=True)
class _Schedule:
    """Which operations run once, which run for each block, and on which buffers.

    Attributes:
        once: Numbers of operations on numbers.
        blocks: Numbers of operations on arrays, with the buffer of each result.
        buffers: How many buffers there are.
    """

    once: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    buffers: int


class Compiled:
    """Expressions compiled to one function of arrays.

    Attributes:
        arguments: The names of its arguments.
        outputs: The names of its results.

    Raises:
        FormulaError: If an expression has an operation that is not known here.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> d_out, n = symbols("d_out n")
        >>> compiled = Compiled({"tiles": sp.ceiling(d_out*n/12)})
        >>> compiled({"d_out": np.array([3.0, 4.0, 4.1]), "n": 6.0})["tiles"].tolist()
        [2.0, 2.0, 3.0]
    """

    def __init__(self, expressions: Mapping[str, sp.Expr]) -> None:
        numbering = _Numbering()
        self.outputs = tuple(expressions)
        self._results = [numbering.number(e) for e in expressions.values()]
        self._keys = numbering.keys
        self.arguments = tuple(sorted(k[1] for k in self._keys if k[0] == "argument"))
        self._schedules: dict[frozenset[str], _Schedule] = {}

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Compute every output.

        Args:
            values: A number, or an array of one dimension, for each argument; the arrays
                are of one length. Further values are passed over.

        Returns:
            For each output an array, or a number where no array enters.

        Raises:
            FormulaError: If an argument has no value, or two arrays differ in length.
        """
        given: dict[str, Any] = {}
        lengths: dict[str, int] = {}
        for name in self.arguments:
            if name not in values:
                raise FormulaError(f"no value for {name}")
            given[name] = value = values[name]
            if isinstance(value, np.ndarray) and value.ndim:
                lengths[name] = len(value)
        if len(set(lengths.values())) > 1:
            raise FormulaError(f"arrays of different lengths: {lengths}")
        arrays = frozenset(lengths)
        if arrays not in self._schedules:
            self._schedules[arrays] = self._schedule(arrays)
        length = next(iter(lengths.values()), 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._run(self._schedules[arrays], given, arrays, length)

    def _schedule(self, arrays: frozenset[str]) -> _Schedule:
        """Say where each result lies; a buffer is used again once nothing needs it."""
        is_array: list[bool] = []
        last_use: dict[int, int] = {}
        for number, (operation, *operands) in enumerate(self._keys):
            if operation == "argument":
                is_array.append(operands[0] in arrays)
            else:
                inner = [] if operation == "constant" else operands
                is_array.append(any(is_array[o] for o in inner))
                last_use.update((o, number) for o in inner)
        last_use.update((r, len(self._keys)) for r in self._results)
        blocks: list[tuple[int, int]] = []
        once: list[int] = []
        place: dict[int, int] = {}
        free: list[int] = []
        buffers = 0
        for number, (operation, *operands) in enumerate(self._keys):
            if not is_array[number]:
                once.append(number)
                continue
            if operation == "argument":
                continue
            ended = {o for o in operands if last_use[o] == number and o in place}
            # `where` writes its result before it has read all operands; others may overwrite.
            if operation != "where":
                free.extend(place.pop(o) for o in ended)
                ended = set()
            if operation in _TRUTHS:
                blocks.append((number, -1))
                continue
            if not free:
                free.append(buffers)
                buffers += 1
            place[number] = free.pop()
            blocks.append((number, place[number]))
            free.extend(place.pop(o) for o in ended)
        return _Schedule(tuple(once), tuple(blocks), buffers)

    def _run(
        self, schedule: _Schedule, given: Mapping[str, Any], arrays: frozenset[str], length: int
    ) -> dict[str, Any]:
        values: list[Any] = [None] * len(self._keys)
        for number in schedule.once:
            values[number] = _compute(self._keys[number], values, given)
        results: dict[str, Any] = {}
        whole = dict(zip(self.outputs, self._results, strict=True))
        computed = {number for number, _ in schedule.blocks}
        for name, number in whole.items():
            if number in computed:
                results[name] = np.empty(length)
            else:
                key = self._keys[number]
                results[name] = given[key[1]] if key[0] == "argument" else values[number]
        inputs = [(n, k[1]) for n, k in enumerate(self._keys) if k[0] == "argument"]
        buffers = np.empty((schedule.buffers, min(BLOCK, length)))
        for start in range(0, length, BLOCK):
            stop = min(start + BLOCK, length)
            rows = list(buffers[:, : stop - start])
            for number, name in inputs:
                if name in arrays:
                    values[number] = given[name][start:stop]
            for number, buffer in schedule.blocks:
                self._step(number, buffer, rows, values)
            for name, number in whole.items():
                if number in computed:
                    results[name][start:stop] = values[number]
        return results

    def _step(self, number: int, buffer: int, rows: list[Any], values: list[Any]) -> None:
        operation, *operands = self._keys[number]
        if operation == "where":
            condition, value, other = (values[o] for o in operands)
            out = rows[buffer]
            np.copyto(out, other)
            np.copyto(out, value, where=condition)
            values[number] = out
            return
        inputs = [values[o] for o in operands]
        if buffer < 0:
            values[number] = _FUNCTIONS[operation](*inputs)
        else:
            values[number] = _FUNCTIONS[operation](*inputs, out=rows[buffer])


def _compute(key: _Key, values: list[Any], given: Mapping[str, Any]) -> Any:
    operation, *operands = key
    if operation == "constant":
        return operands[0]
    if operation == "argument":
        return given[operands[0]]
    inputs = [values[o] for o in operands]
    if operation == "where":
        condition, value, other = inputs
        return value if condition else other
    return _FUNCTIONS[operation](*inputs)
