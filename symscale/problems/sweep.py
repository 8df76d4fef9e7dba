"""Sweeps: which piece rules as one or two parameters run over a range."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.curves.arrays import shares_over
from symscale.algebra.exact.monomial import Monomial
from symscale.answers import Answer
from symscale.errors import FormulaError, InputError, SymscaleError
from symscale.problems.answer import ProblemAnswer
from symscale.problems.pieces import AnswerPiece, number_of
from symscale.problems.problem import Problem, ProblemSymbol

if TYPE_CHECKING:
    import numpy as np

POINTS = 401
NOTHING = "no optimum"
UNKNOWN = "no closed form"
INFEASIBLE = "infeasible"
UNBOUNDED = "unbounded"
MAP_POINTS = 241
_COARSE = 10  # of the map's points every tenth is searched where no closed form rules
_PROBES = 9
_HALVINGS = 60
_ROUNDING = 1e-12
_NEAR = 1e-9


@dataclass(frozen=True)
class Axis:
    """The range of a parameter.

    Attributes:
        quantity: The parameter.
        low: Least value.
        high: Greatest value.
    """

    quantity: ProblemSymbol
    low: sp.Rational
    high: sp.Rational

    @property
    def symbol(self) -> sp.Symbol:
        """The parameter's symbol."""
        return self.quantity.symbol

    def grid(self, count: int) -> "np.ndarray":
        """Values from low to high, evenly on a logarithmic scale."""
        import numpy as np

        return np.geomspace(float(self.low), float(self.high), count)


@dataclass(frozen=True)
class Segment:
    """A part of a range in which one piece rules.

    Attributes:
        name: The piece, or NOTHING, or UNKNOWN.
        low: Where it begins.
        high: Where it ends.
        boundary: The parameter at its upper end in closed form, where there is one.
    """

    name: str
    low: sp.Rational
    high: sp.Rational
    boundary: sp.Expr | None = None


def read_axis(text: str, problem: Problem) -> Axis:
    """Read `name=low..high`, both numbers with optional unit.

    Raises:
        InputError: If it is anything else.
    """
    name, equals, span = text.partition("=")
    low, dots, high = span.partition("..")
    shown = text[:60]
    if not equals or not dots or not low.strip() or not high.strip():
        raise InputError(f"--sweep {shown}: write name=low..high, such as W_net=1e9..1e13")
    q = problem.quantity(name.strip())
    if q is None or q not in problem.parameters:
        known = ", ".join(p.entry.name for p in problem.parameters)
        raise InputError(f"--sweep {shown}: {name.strip()[:40]} is no parameter; known: {known}")
    if q.symbol in problem.exponents:
        raise InputError(f"--sweep {shown}: {q.entry.name} stands in exponents; use --set")
    ends = []
    for part in (low, high):
        try:
            ends.append(q.read(part.strip()))
        except SymscaleError as error:
            raise error.with_context(f"--sweep {shown}") from None
    if not 0 < ends[0] < ends[1]:
        raise InputError(f"--sweep {shown}: the range must be positive and rising")
    for wrong, limit, word in (
        (q.lower is not None and ends[0] < q.lower, q.lower, "least"),
        (q.upper is not None and ends[1] > q.upper, q.upper, "most"),
    ):
        if wrong:
            raise InputError(f"--sweep {shown}: {q.entry.name} must be at {word} {limit}")
    return Axis(q, ends[0], ends[1])


class Regions:
    """Which piece rules over arrays of parameters: the pieces' conditions, compiled to NumPy.

    Attributes:
        names: The pieces, in order of preference where two rule alike; then NOTHING,
            or UNKNOWN where the closed forms do not cover all parameters.
    """

    def __init__(self, found: ProblemAnswer, axes: Sequence[Axis]) -> None:
        """Compile the conditions with all parameters but those of the axes put in."""
        self.names = [*(p.name for p in found.pieces), NOTHING if found.complete else UNKNOWN]
        symbols = [a.symbol for a in axes]
        fixed = {s: v for s, v in found.values.items() if s not in symbols}
        feasible = [] if found.limit is None else [
            _test(c.relational.lhs, c.relational.rhs, symbols, fixed)
            for c in found.limit.feasibility
        ]
        self._tests = [
            [*feasible, *_tests_of(p, symbols, fixed)] for p in found.pieces
        ]

    def index(self, *values: "np.ndarray") -> "np.ndarray":
        """The position of the ruling piece in `names`, for each entry of the arrays."""
        import numpy as np

        shape = np.broadcast(*values).shape
        ruling = np.full(shape, len(self._tests), dtype=int)
        with np.errstate(all="ignore"):  # at the edge of the domain, where nothing holds
            for position in reversed(range(len(self._tests))):
                holds = np.ones(shape, dtype=bool)
                for test in self._tests[position]:
                    holds &= test(*values)
                ruling[holds] = position
        return ruling

    def name(self, *values: float) -> str:
        """The name of the piece that rules at one point."""
        import numpy as np

        return self.names[int(self.index(*(np.array([v]) for v in values))[0])]


def _tests_of(
    piece: AnswerPiece, symbols: Sequence[sp.Symbol], fixed: Mapping[sp.Symbol, sp.Rational]
) -> list[Callable[..., "np.ndarray"]]:
    """The conditions of a piece as functions of arrays; of a curve, with its share put in."""
    import numpy as np

    curve = piece.curve
    if curve is None:
        return [_test(low, high, symbols, fixed) for r in piece.region for low, high in _sides(r)]
    inner = [
        _test(low, high, [*symbols, curve.symbol], fixed)
        for r in piece.region for low, high in _sides(r)
    ]
    shares = shares_over(curve, symbols, fixed)

    def holds(*values: "np.ndarray") -> "np.ndarray":
        share = shares(*values)
        found = np.isfinite(share)
        for test in inner:
            found &= test(*values, share)
        return found

    return [holds]


def _test(
    left: sp.Expr,
    right: sp.Expr,
    symbols: Sequence[sp.Symbol],
    fixed: Mapping[sp.Symbol, sp.Rational],
) -> Callable[..., "np.ndarray"]:
    """`left <= right` as a function of arrays: in logarithms where both are monomials."""
    import numpy as np

    try:
        ratio = (Monomial.of(left) / Monomial.of(right)).substitute(fixed)
    except FormulaError:
        low, high = (
            sp.lambdify(list(symbols), e.xreplace(dict(fixed)).evalf(17), "numpy", cse=True)
            for e in (left, right)
        )
        return lambda *v: np.asarray(low(*v) <= high(*v) * (1 + _ROUNDING))
    swept, rest = ratio.split(symbols)
    if any(a.free_symbols for a in rest.atoms):  # a sum with a swept parameter in it
        expr = sp.lambdify(list(symbols), ratio.expr.evalf(17), "numpy", cse=True)
        return lambda *v: np.asarray(expr(*v) <= 1 + _ROUNDING)
    offset = float(rest.logarithm({}))
    powers = [float(swept.exponent(s)) for s in symbols]

    def below(*values: "np.ndarray") -> "np.ndarray":
        total = offset
        for power, value in zip(powers, values, strict=True):
            total = total + power * np.log(value)
        return np.asarray(np.broadcast_to(total <= _ROUNDING, np.broadcast(*values).shape))

    return below


def sweep(found: ProblemAnswer, axis: Axis) -> tuple[Segment, ...]:
    """Divide the range of a parameter into the parts in which one piece rules.

    Raises:
        InputError: If another parameter has no number.
    """
    import numpy as np

    require_numbers(found, [axis])
    regions = Regions(found, [axis])
    grid = axis.grid(POINTS)
    ruling = regions.index(grid)
    segments: list[Segment] = []
    start = axis.low
    for k in np.nonzero(np.diff(ruling))[0]:
        first, second = regions.names[ruling[k]], regions.names[ruling[k + 1]]
        low, high = float(grid[k]), float(grid[k + 1])
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if regions.name(middle) == first else (low, middle)
        closed = boundary(found, first, second, axis.symbol, high)
        exact = None if closed is None else number_of(closed, found.values)
        end = _decimal(high if exact is None else float(exact))
        segments.append(Segment(first, start, end, closed))
        start = end
    segments.append(Segment(regions.names[ruling[-1]], start, axis.high))
    return tuple(segments)


def _decimal(value: float) -> sp.Rational:
    return sp.Rational(repr(float(value)))


def require_numbers(found: ProblemAnswer, axes: Sequence[Axis]) -> None:
    """Raise unless every parameter outside the axes has a number.

    Raises:
        InputError: Naming the ones that have none.
    """
    swept = {a.symbol for a in axes}
    missing = [s for s in found.program.parameters if s not in found.values and s not in swept]
    if missing:
        names = ", ".join(map(str, missing))
        raise InputError(f"--sweep needs numbers for {names}; give them by --set")


def _sides(relation: Relational) -> list[tuple[sp.Expr, sp.Expr]]:
    """What a relation says to be at most what; an equality says it both ways."""
    left, right = relation.lhs, relation.rhs
    return [(left, right), (right, left)] if isinstance(relation, sp.Eq) else [(left, right)]


def boundary(
    found: ProblemAnswer, first: str, second: str, s: sp.Symbol, near: float
) -> sp.Expr | None:
    """Where two pieces meet, solved for a parameter: a monomial condition that turns there."""
    for piece in found.pieces:
        if piece.name not in (first, second) or piece.curve is not None:
            continue  # where a share stands in conditions, no formula in the parameters solves them
        for left, right, _ in piece.conditions:
            try:
                ratio = Monomial.of(left) / Monomial.of(right)
            except FormulaError:
                continue
            power = ratio.exponent(s)
            if power == 0 or any(s in a.free_symbols for a in ratio.atoms if a != s):
                continue
            closed = Monomial.of(s) / ratio ** (1 / power)
            if abs(float(closed.evaluate(found.values)) / near - 1) < _NEAR:
                return closed.expr
    return None


def read_axes(texts: Sequence[str], problem: Problem) -> list[Axis]:
    """Read one or two ranges, each NAME=LOW..HIGH.

    Raises:
        InputError: If one cannot be used, or they are more, or of one parameter.
    """
    if len(texts) > 2:
        raise InputError("--sweep: give two ranges at most")
    axes = [read_axis(text, problem) for text in texts]
    if len({a.symbol for a in axes}) < len(axes):
        raise InputError("--sweep: give two different parameters")
    return axes


@dataclass(frozen=True, repr=False)
class SweptAnswer(Answer):
    """An answer as one or two parameters run over ranges.

    Attributes:
        answer: The answer, without numbers of what is swept.
        axes: The ranges.
        segments: Of one range, the parts in which one piece rules; a map of two is drawn.
    """

    page = "solve"
    answer: ProblemAnswer
    axes: tuple[Axis, ...]
    segments: tuple[Segment, ...] = ()

    @property
    def sweeps(self) -> dict[Axis, tuple[Segment, ...]]:
        """The segments by their range."""
        return {self.axes[0]: self.segments} if len(self.axes) == 1 else {}


def swept(found: ProblemAnswer, axes: Sequence[Axis]) -> SweptAnswer:
    """Let one or two parameters of an answer run over ranges.

    Raises:
        InputError: If another parameter has no number.
    """
    require_numbers(found, axes)
    found = found.without_numbers(a.symbol for a in axes)
    segments = sweep(found, axes[0]) if len(axes) == 1 else ()
    return SweptAnswer(found, tuple(axes), segments)


@dataclass(frozen=True)
class OptimumMap:
    """The optimum over two parameters, and which piece rules.

    Attributes:
        xs: Values of the first parameter.
        ys: Values of the second.
        names: The pieces, then NOTHING or UNKNOWN, INFEASIBLE, UNBOUNDED.
        ruling: For each row of ys and column of xs the position in `Regions.names`.
        shown: The position in `names`: what no piece rules told apart.
        logs: Natural logarithm of the optimum; nan where there is none, or it is not known.
    """

    xs: "np.ndarray"
    ys: "np.ndarray"
    names: tuple[str, ...]
    ruling: "np.ndarray"
    shown: "np.ndarray"
    logs: "np.ndarray"


def optimum_map(found: ProblemAnswer, regions: Regions, axes: Sequence[Axis]) -> OptimumMap:
    """Evaluate the closed forms over two parameters, and search where none rules.

    The search goes to every tenth point of each parameter; between these the logarithm of the
    optimum is interpolated, and the edge of what is feasible.
    """
    import numpy as np

    xs, ys = (a.grid(MAP_POINTS) for a in axes)
    ruling = regions.index(xs[None, :], ys[:, None])
    logs = np.full(ruling.shape, np.nan)
    symbols = [a.symbol for a in axes]
    fixed = {s: v for s, v in found.values.items() if s not in symbols}
    for k, piece in enumerate(found.pieces):
        value = sp.lambdify(symbols, piece.expr.xreplace(fixed).evalf(17), "numpy", cse=True)
        with np.errstate(all="ignore"):  # beyond its region it may not be finite
            here = np.log(np.broadcast_to(value(xs[None, :], ys[:, None]), ruling.shape))
        logs[ruling == k] = here[ruling == k]
    logs[~np.isfinite(logs)] = np.nan
    shown = ruling.copy()
    open_here = ruling == len(found.pieces)
    if open_here.any():
        from symscale.algebra.optimum.grids import KINDS, kinds_at, searched

        def at(row: int, column: int) -> dict[Any, Any]:
            x, y = (_decimal(v) for v in (xs[column], ys[row]))
            return {**found.values, symbols[0]: x, symbols[1]: y}

        if found.complete:  # nothing to find: only why there is no optimum
            some = np.argwhere(open_here)
            some = some[np.linspace(0, len(some) - 1, min(_PROBES, len(some))).astype(int)]
            kinds = set(kinds_at(found.program, (at(i, j) for i, j in some)))
            kind = kinds.pop() if len(kinds) == 1 else ""
            shown[open_here] += KINDS.index(kind) if kind in KINDS else 0
        else:
            kinds_there = searched(found.program, at, open_here, logs, _COARSE)
            shown[open_here] += kinds_there[open_here]
    return OptimumMap(xs, ys, (*regions.names, INFEASIBLE, UNBOUNDED), ruling, shown, logs)
